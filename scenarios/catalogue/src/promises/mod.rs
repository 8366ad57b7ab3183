//! The promises of the recipes, the rules and tests that judge them, the workloads that exercise them and the mutants
//! that break them.
//!
//! The sentences stand in the docs of the recipes, and nowhere else. Beside each workload, `<recipe>/promises.txt` has a row for each
//! sentence; `zookeeper.txt` has the trait, `guards.txt` what guards and locks share, and
//! `supervisor.txt` what outlasts a session.
//!
//! ```text
//! # A comment.
//! ## Registration::path, Membership::path | lock, shared-lock | MX-12 | lock-forgets-failed-delete
//! Cancellation: Dropping the future gives up 3f2a | MX-12, cancellation::an_acquire_that_waits | lock-leaves-its-znode
//! Errors: Error::is_denied 09b1 | not judged: the reason
//! Errors: As acquire 7e0c | as Lock::acquire
//! Promises: Not promised: fairness 41bc | no promise
//! ## COST.md: lock
//! cost: * | budget
//! ```
//!
//! A section is an item, or several with the same docs. Methods have the workloads that call them (or `nobody`), the judges of the
//! method itself, and the mutants that break it. A row is a heading, the first words of a sentence and its hash, judges and mutants.
//!
//! Judges are rules and tests. A test has the name that `cargo test -p zk-recipes --test all` prints; `suite::order::…` is a rule of the
//! trait's suite, and any other test has its file in front: `scenarios/tests/real/suite.rs::…`. `budget`, `herd` and `refusals` stand for
//! the tests of the tables of costs and refusals. A case of the page of costs has no hash, and `*` are all others of that table.
//!
//! The test `promises` of this crate compares the lists with the public methods and the docs of `recipes/src` and with
//! `recipes/COST.md`, and checks that every name in them exists. After a change of the docs, `UPDATE_PROMISES=1 cargo test -p
//! zk-catalogue --test promises` rewrites the keys and keeps their judges; it says which are to be read again.

pub mod docs;
mod entry;
mod parse;
mod table;

use docs::{Documented, OTHERS};
pub use entry::{Entry, Judgement, Promise};
pub use parse::parse;
pub use table::{Counts, counts, markdown};

/// The lists of what no recipe alone promises.
const SHARED: [(&str, &str); 3] = [
    ("zookeeper", include_str!("zookeeper.txt")),
    ("guards", include_str!("guards.txt")),
    ("supervisor", include_str!("supervisor.txt")),
];

/// The lists, each with the name of its recipe; those of recipes in their order.
pub fn lists() -> impl Iterator<Item = (&'static str, &'static str)> {
    let own = crate::RECIPES.iter().map(|recipe| (recipe.workload.name, recipe.promises));
    SHARED.into_iter().chain(own)
}

/// Every entry of every list, in the order of [`lists`], with the sentences of the docs.
///
/// # Panics
///
/// If a list does not parse: a test of this module reads them all.
pub fn all() -> Vec<Entry> {
    let docs = docs::docs();
    let of = |(recipe, text): (&'static str, &str)| {
        let list =
            parse(recipe, text).unwrap_or_else(|problem| panic!("the promises of {recipe}: {problem}"));
        list.into_iter().map(|entry| with_sentences(entry, &docs)).collect::<Vec<_>>()
    };
    lists().flat_map(of).collect()
}

/// Looks up the sentences of an entry. A key without a sentence, for which a test fails, stands for itself.
pub fn with_sentences(mut entry: Entry, docs: &[Documented]) -> Entry {
    let documented = docs.iter().find(|item| entry.subjects.contains(&item.subject));
    let sentences = documented.map_or(&[][..], |item| &item.sentences);
    let rows = std::mem::take(&mut entry.promises);
    let is_named =
        |key: &docs::Key| rows.iter().any(|row| row.key.heading == key.heading && row.key.words == key.words);
    for row in &rows {
        let is_meant = |key: &docs::Key| match row.key.words.as_str() {
            OTHERS => row.key.heading == key.heading && !is_named(key),
            words => row.key.heading == key.heading && words == key.words,
        };
        let meant = sentences.iter().filter(|(key, _)| is_meant(key));
        let of = |(key, says): (docs::Key, String)| Promise { key, says, judgement: row.judgement.clone() };
        let found: Vec<Promise> = meant.cloned().map(of).collect();
        match found.is_empty() {
            true => entry.promises.push(Promise { says: format!("{} …", row.key.words), ..row.clone() }),
            false => entry.promises.extend(found),
        }
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_can_be_read() {
        assert!(!all().is_empty());
    }
}
