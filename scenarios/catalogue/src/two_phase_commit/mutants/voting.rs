//! Mutants that vote wrongly.

use super::steps::{Ballot, Mutation};
use super::{WORKLOAD, run};
use crate::prelude::*;

/// Two-phase commit in which votes are written under no version, and written again when the reply was lost. A vote that can be
/// overwritten is none: the vote that another site has read may not be the one that stands in the end.
pub(super) static VOTES_OVERWRITTEN: Workload = WORKLOAD.mutant(
    "two-phase-commit-votes-overwritten",
    "two-phase commit with votes that are written without a version, and again after a lost reply",
    Caught::by(Tc6),
    &[Fault::ReplyLost],
    |_| Plan { rounds: 2, ..Plan::calm() }.with(&[Fault::ReplyLost], 0.05),
    |task| run(task, &Mutation { vote: Ballot::Overwritten, ..Mutation::RIGHT }),
);

/// Two-phase commit in which every site watches the votes of all others, although it obeys the record alone: n(n - 1)
/// notifications where n are enough. ZooKeeper's recipes page names it as a drawback of its first variant.
pub(super) static WATCH_ALL_VOTES: Workload = WORKLOAD.mutant(
    "two-phase-commit-watch-all-votes",
    "two-phase commit in which every site watches all votes",
    Caught::by(Tc12).within(1).breaks(Promise::NoHerd).seen("the recipes page"),
    &[],
    |_| Plan { rounds: 2, ..Plan::calm() },
    |task| run(task, &Mutation { vote: Ballot::Watching, ..Mutation::RIGHT }),
);

/// Two-phase commit in which a site that follows the votes of the others is told at once that no more are to come: whoever
/// shows them shows none.
pub(super) static TELLS_NO_VOTE: Workload = WORKLOAD.mutant(
    "two-phase-commit-tells-no-vote",
    "two-phase commit in which a site is told that no vote of another site is to come",
    Caught::by(An1),
    &[],
    |_| Plan { rounds: 8, ..Plan::calm() },
    |task| run(task, &Mutation { tells_votes: false, ..Mutation::RIGHT }),
);
