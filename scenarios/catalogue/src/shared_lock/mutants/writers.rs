//! Mutants whose writers enter beside readers.

use super::copy::{RIGHT, ahead, is_writer};
use super::{mutant, run};
use crate::lock::mutants::copy::{Mutation, number};
use crate::prelude::*;

/// A shared lock whose writers watch the highest reader ahead and enter when it goes, although lower ones may still
/// hold (zk-ruby, before e346f31).
pub(super) static HIGHEST_READER: Workload = mutant(
    "shared-lock-highest-reader",
    "a writer watches the highest reader ahead and enters when that one is deleted",
    Caught::by(Rw2).harm(&[Rw1]).seen("zk-ruby e346f31"),
    |task| run(task, &Mutation { looks_again: false, ..RIGHT }),
);

/// A shared lock whose writers wait for writers only: they enter beside readers.
pub(super) static WRITER_PASSES_READERS: Workload = mutant(
    "shared-lock-writer-passes-readers",
    "writers wait for writers alone, and enter beside readers",
    Caught::by(Rw2)
        .or(&[(Rw5, "a writer that goes wakes it although readers still stand ahead")])
        .within(5)
        .harm(&[Rw1]),
    |task| run(task, &Mutation { ahead: nearest_writer, ..RIGHT }),
);

fn nearest_writer<'a>(_: &Mutation, own: &str, names: &'a [String]) -> Option<&'a String> {
    ahead(own, names).filter(|name| is_writer(name)).max_by_key(|name| number(name))
}
