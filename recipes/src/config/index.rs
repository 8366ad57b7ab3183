//! The content of a pointer to sets of values, and its text form.

use crate::parts::watch_loop::Versioned;
use crate::zk::{Error, Op, path};

/// The prefix of a set's name.
pub(super) const PREFIX: &str = "v-";

/// A pointer: the sets that are kept, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index(pub Vec<Set>);

/// A set: the name of its directory, and its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    pub name: String,
    pub keys: Vec<String>,
}

impl Index {
    /// Parses the pointer to be replaced; a value that is none keeps nothing.
    pub(super) fn of(expected: Option<&Versioned>) -> Index {
        expected.and_then(|expected| Index::decode(&expected.data)).unwrap_or_default()
    }

    pub(super) fn newest(&self) -> &Set {
        &self.0[0]
    }

    /// Adds a set in front; returns those that are not kept any more.
    pub(super) fn push(&mut self, set: Set, keep: usize) -> Vec<Set> {
        self.0.insert(0, set);
        self.0.split_off(keep.min(self.0.len()))
    }

    /// Formats one line a set and one a key, with an empty line between sets.
    pub(super) fn encode(&self) -> Vec<u8> {
        let sets = self.0.iter().map(|set| {
            let keys = set.keys.iter().map(|key| format!("\n{key}"));
            set.name.clone() + &keys.collect::<String>()
        });
        sets.collect::<Vec<_>>().join("\n\n").into_bytes()
    }

    pub(super) fn decode(data: &[u8]) -> Option<Index> {
        let text = std::str::from_utf8(data).ok()?;
        let sets = text.split("\n\n").map(|set| {
            let mut lines = set.split('\n').map(str::to_owned);
            let name = lines.next()?;
            let keys: Vec<String> = lines.collect();
            let good = name.len() == PREFIX.len() + 32
                && name.starts_with(PREFIX)
                && keys.iter().chain([&name]).all(|part| validate_key(part).is_ok());
            good.then_some(Set { name, keys })
        });
        sets.collect::<Option<Vec<_>>>().map(Index)
    }
}

impl Set {
    pub(super) fn paths(&self, pointer: &str) -> Vec<String> {
        let directory = path::join(pointer, &self.name);
        self.keys.iter().map(|key| path::join(&directory, key)).collect()
    }

    pub(super) fn deletion(&self, pointer: &str) -> Vec<Op> {
        let directory = path::join(pointer, &self.name);
        let paths = self.paths(pointer).into_iter().chain([directory]);
        paths.map(|path| Op::Delete { path, version: None }).collect()
    }
}

pub(super) fn validate_key(key: &str) -> Result<(), Error> {
    crate::names::znode("/", key).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(digit: &str, keys: &[&str]) -> Set {
        Set {
            name: format!("{PREFIX}{}", digit.repeat(32)),
            keys: keys.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_pointer_reads_as_it_was_written() {
        for sets in [
            vec![set("a", &[])],
            vec![set("a", &["x", "a b"])],
            vec![set("a", &["x"]), set("b", &[]), set("c", &["y"])],
        ] {
            let index = Index(sets);
            assert_eq!(Index::decode(&index.encode()), Some(index));
        }
        for other in ["", "100", "v-7", "v-7\nx", "\n\n", &format!("{}/", set("a", &[]).name)] {
            assert_eq!(Index::decode(other.as_bytes()), None, "{other:?}");
        }
        assert_eq!(Index::decode(&[0xff]), None);
    }

    #[test]
    fn the_newest_sets_are_kept() {
        let mut index = Index(vec![set("b", &[]), set("a", &["x"])]);
        assert_eq!(index.push(set("c", &[]), 2), [set("a", &["x"])]);
        assert_eq!(index.0, [set("c", &[]), set("b", &[])]);
        assert_eq!(index.push(set("d", &[]), 5), []);
    }
}
