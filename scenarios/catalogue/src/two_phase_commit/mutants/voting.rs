//! Mutants with wrong votes.

use super::steps::{Ballot, Mutation};
use super::{WORKLOAD, run};
use crate::prelude::*;

/// Two-phase commit in which votes are written unconditionally, and again after a lost reply. A vote that can be
/// overwritten does not bind: another site may have read a different vote than the final one.
pub(super) static VOTES_OVERWRITTEN: Workload = WORKLOAD.mutant(
    "two-phase-commit-votes-overwritten",
    "two-phase commit with votes that are written without a version, and again after a lost reply",
    Caught::by(Tc6),
    &[Fault::ReplyLost],
    |_| Plan { rounds: 2, ..Plan::calm() }.with(&[Fault::ReplyLost], 0.05),
    |task| run(task, &Mutation { vote: Ballot::Overwritten, ..Mutation::RIGHT }),
);

/// Two-phase commit in which every site watches the votes of all others, although it obeys only the record: n(n - 1)
/// notifications where n are enough. ZooKeeper's recipes page names it as a drawback of its first variant.
pub(super) static WATCH_ALL_VOTES: Workload = WORKLOAD.mutant(
    "two-phase-commit-watch-all-votes",
    "two-phase commit in which every site watches all votes",
    Caught::by(Tc12).within(1).breaks(Promise::NoHerd).seen("the recipes page"),
    &[],
    |_| Plan { rounds: 2, ..Plan::calm() },
    |task| run(task, &Mutation { vote: Ballot::Watching, ..Mutation::RIGHT }),
);

/// Two-phase commit in which a site that follows the votes of the others learns at once, wrongly, that no more will
/// come: a program that displays them displays none.
pub(super) static TELLS_NO_VOTE: Workload = WORKLOAD.mutant(
    "two-phase-commit-tells-no-vote",
    "two-phase commit in which a site is told that no vote of another site is to come",
    Caught::by(An1),
    &[],
    |_| Plan { rounds: 8, ..Plan::calm() },
    |task| run(task, &Mutation { tells_votes: false, ..Mutation::RIGHT }),
);
