//! The promises of the recipes, the rules and tests that judge them, the workloads that exercise them and the mutants
//! that break them.
//!
//! One text file for each recipe, beside its workload: `<recipe>/promises.txt`. `zookeeper.txt` has the trait, and `guards.txt` what
//! guards and locks share.
//!
//! ```text
//! # A comment.
//! ## Registration::path, Membership::path         one entry for methods with the same docs
//! called by lock, shared-lock                    workloads; or: called by nobody
//! judged by MX-12                                the judgement of the method itself
//! shown by lock-forgets-failed-delete
//!
//! [Cancellation] A sentence of the docs, as it stands under that heading.
//! [Cancellation] Consecutive sentences share the judgement below them.
//! judged by MX-12, recipes/tests/all/cancellation.rs::name_of_the_test
//! shown by lock-leaves-its-znode
//! [Errors] Another one.
//! not judged: the reason
//! [Errors] As [`acquire`](Self::acquire).
//! as Lock::acquire
//! [Promises] Not promised: fairness.
//! no promise
//! ```
//!
//! The test `promises` of this crate compares the list with the public methods and the docs of `recipes/src` and with
//! `recipes/COST.md`, and checks that every name in the list exists.

mod entry;
mod parse;
mod table;

pub use entry::{Entry, Judgement, Promise};
pub use parse::parse;
pub use table::{Counts, counts, markdown, plain};

/// The list of each recipe, in the order of the recipes.
pub const FILES: &[(&str, &str)] = &[
    ("zookeeper", include_str!("zookeeper.txt")),
    ("guards", include_str!("guards.txt")),
    ("names", include_str!("../names/promises.txt")),
    ("config", include_str!("../config/promises.txt")),
    ("group", include_str!("../group/promises.txt")),
    ("barrier", include_str!("../barrier/promises.txt")),
    ("double-barrier", include_str!("../double_barrier/promises.txt")),
    ("queue", include_str!("../queue/promises.txt")),
    ("priority-queue", include_str!("../priority_queue/promises.txt")),
    ("lock", include_str!("../lock/promises.txt")),
    ("shared-lock", include_str!("../shared_lock/promises.txt")),
    ("revocable-lock", include_str!("../revocable_lock/promises.txt")),
    ("priority-lock", include_str!("../priority_lock/promises.txt")),
    ("two-phase-commit", include_str!("../two_phase_commit/promises.txt")),
    ("election", include_str!("../election/promises.txt")),
];

/// Every entry of every list, in the order of [`FILES`].
///
/// # Panics
///
/// If a list does not parse: a test of this module reads them all.
pub fn all() -> Vec<Entry> {
    let of = |(recipe, text): &(&'static str, &str)| {
        parse(recipe, text).unwrap_or_else(|problem| panic!("the promises of {recipe}: {problem}"))
    };
    FILES.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_can_be_read() {
        assert!(!all().is_empty());
    }

    /// `UPDATE_PROMISES=1 cargo test -p zk-catalogue promises` rewrites the page; review the diff.
    #[test]
    fn the_page_has_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/promises.md");
        let table = markdown(&all());
        if std::env::var_os("UPDATE_PROMISES").is_some() {
            std::fs::write(path, &table).expect("the page can be written");
        }
        let page = std::fs::read_to_string(path).expect("the page can be read");
        assert!(
            page == table,
            "scenarios/docs/promises.md is out of date: UPDATE_PROMISES=1 cargo test -p zk-catalogue promises"
        );
    }
}
