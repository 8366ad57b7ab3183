//! Mutants whose readers wait for the wrong contender.

use super::copy::{RIGHT, ahead, is_writer, nearest};
use super::{mutant, run};
use crate::lock::mutants::copy::{Mutation, number};
use crate::prelude::*;

/// A shared lock whose readers wait for any writer in the list: if no writer is ahead, for one behind them, which waits
/// for the reader: a deadlock (kazoo#649).
pub(super) static LATER_WRITER: Workload = mutant(
    "shared-lock-later-writer",
    "a reader waits for a later writer, which waits for the reader",
    Caught::by(Rw4).or(&[(An2, NOBODY_AHEAD)]).within(5).harm(&[Mx8]).seen("kazoo#649"),
    |task| run(task, &Mutation { ahead: any_writer, ..RIGHT }),
);

/// The reason why another rule may report an attempt than a reader that waits.
const NOBODY_AHEAD: &str = "a reader that does not wait is told that the lock is not free";

fn any_writer<'a>(right: &Mutation, own: &str, names: &'a [String]) -> Option<&'a String> {
    let reads = !is_writer(own);
    let later = names.iter().filter(|name| reads && is_writer(name) && number(name) > number(own));
    nearest(right, own, names).or_else(|| later.min_by_key(|name| number(name)))
}

/// A shared lock whose readers watch the lowest writer ahead, one reading of the "next lowest" of ZooKeeper's recipes
/// page, which Apache Curator follows: each writer that goes wakes all readers behind all writers.
pub(super) static LOWEST_WRITER: Workload = mutant(
    "shared-lock-lowest-writer",
    "a reader watches the lowest writer ahead: every deletion of a writer wakes it",
    Caught::by(Rw5).breaks(Promise::NoHerd).seen("Curator"),
    |task| run(task, &Mutation { ahead: lowest_writer, ..RIGHT }),
);

fn lowest_writer<'a>(right: &Mutation, own: &str, names: &'a [String]) -> Option<&'a String> {
    if is_writer(own) {
        return nearest(right, own, names);
    }
    ahead(own, names).filter(|name| is_writer(name)).min_by_key(|name| number(name))
}

/// A shared lock whose readers look for names "starting with `write-`", as in ZooKeeper's recipes page, although the
/// same page puts a guid in front: a reader never sees a writer.
pub(super) static LITERAL_NAMES: Workload = mutant(
    "shared-lock-literal-names",
    "a reader looks for names that start with write-, but names start with the guid",
    Caught::by(Rw2).within(5).harm(&[Rw1, Rw3]).seen("the recipes page"),
    |task| run(task, &Mutation { ahead: literally, ..RIGHT }),
);

fn literally<'a>(_: &Mutation, own: &str, names: &'a [String]) -> Option<&'a String> {
    let others = ahead(own, names).filter(|name| is_writer(own) || name.starts_with("write-"));
    others.max_by_key(|name| number(name))
}

/// A shared lock whose readers wait for the contender just ahead, reader or not: they hold one after the other.
pub(super) static READERS_IN_LINE: Workload = mutant(
    "shared-lock-readers-in-line",
    "readers wait for the readers ahead of them",
    Caught::by(Rw4)
        .or(&[(Mx7, "where a writer stands ahead too, nothing tells it when that goes"), (An2, NOBODY_AHEAD)])
        .within(5),
    |task| run(task, &Mutation { ahead: any_contender, ..RIGHT }),
);

fn any_contender<'a>(_: &Mutation, own: &str, names: &'a [String]) -> Option<&'a String> {
    ahead(own, names).max_by_key(|name| number(name))
}
