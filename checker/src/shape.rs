//! Findings with the same text apart from names: twenty lost items are twenty findings of one shape.
//!
//! The shape of a text is the text without names, numbers and times. Of the findings of one rule with the same shape,
//! reports print the first and count the others.

use crate::history::Tables;

/// The placeholder of a name or a number.
const NAME: &str = "#";

/// A text without the names, numbers and times in it.
pub fn shape(tables: Tables<'_>, text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for (at, part) in text.split('"').enumerate() {
        match at % 2 {
            // A text in quotes is a name, whatever its characters.
            1 => shape.extend([NAME, " "]),
            _ => shape.extend(part.split_whitespace().flat_map(|word| [without_name(tables, word), " "])),
        }
    }
    shape
}

fn without_name<'a>(tables: Tables<'_>, word: &'a str) -> &'a str {
    let bare = word.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '/' | '_'));
    let of_person = bare.strip_suffix("'s").unwrap_or(bare);
    let is_named = tables.names.find(of_person).is_some()
        || tables.header.clients.iter().any(|client| client == of_person)
        || of_person.chars().count() == 1
        || of_person.contains(|c: char| c.is_numeric() || matches!(c, '/' | '_' | '…'));
    if is_named && !of_person.is_empty() { NAME } else { word }
}

/// The first of all that have the same key, in their order, each with the number of further ones.
pub fn first_of_each<T, K: Ord>(all: &[T], key: impl Fn(&T) -> K) -> Vec<(&T, usize)> {
    let mut first: Vec<(&T, usize)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for one in all {
        let place = *places.entry(key(one)).or_insert_with(|| {
            first.push((one, 0));
            first.len() - 1
        });
        first[place].1 += 1;
    }
    first.into_iter().map(|(one, count)| (one, count - 1)).collect()
}

/// The line for further findings of a rule that differ only by names.
pub fn and_alike(rule: &str, more: usize) -> String {
    format!("and {more} more of {rule} that differ from this only by names and times")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;

    fn history() -> History {
        let text =
            "run sim timeout 4 settle 0.001 round_trip 0.002 clients a bob\nnames / /queue apple pear\n";
        crate::text::parse(text).expect("a head")
    }

    #[test]
    fn names_numbers_and_times_are_no_part_of_a_shape() {
        let history = history();
        let of = |text: &str| shape(history.tables(), text);
        let one = "item apple is lost: a put it, told so at e12 (0.550), and nobody got it";
        for same in [
            "item pear is lost: bob put it, told so at e7 (1.5), and nobody got it",
            "item \"two words\" is lost: a put it, told so at e12 (0.550),\n         and nobody got it",
            "item a-17 is lost: bob put it, told so at e12 (0.550), and nobody got it",
        ] {
            assert_eq!(of(one), of(same), "{same}");
        }
        for other in [
            "item apple is lost: a put it, told so at e12 (0.550), and a got it",
            "item apple is lost: a put it, told so at e12 (0.550), and nobody saw it",
        ] {
            assert_ne!(of(one), of(other), "{other}");
        }
    }

    #[test]
    fn the_first_of_each_is_kept_with_the_number_of_the_others() {
        let all = ["a1", "b1", "a2", "a3"];
        assert_eq!(first_of_each(&all, |one| one.as_bytes()[0]), [(&"a1", 2), (&"b1", 0)]);
    }
}
