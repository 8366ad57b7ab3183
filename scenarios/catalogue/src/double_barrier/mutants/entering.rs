//! Mutants that let participants in before all have arrived.

use super::copy::Mutation;
use super::{BASE, run};
use crate::prelude::*;

/// A double barrier whose entrants take any wake-up for the opening: a change of the session's state since they began
/// lets them in (apache/curator, GH-1290).
pub(super) static ANY_WAKE: Workload = BASE.mutant(
    "double-barrier-any-wake",
    "a double barrier that admits at any wake-up, also at connection loss",
    Caught::by(Db9).harm(&[Db1]).breaks(Promise::Barriers).seen("Curator#1290"),
    &[Fault::Disconnect],
    |_| Plan { clients: 3, rounds: 3, ..Plan::calm().with(&[Fault::Disconnect], 0.05) },
    |task| run(task, &Mutation { only_ready: false, ..Mutation::RIGHT }),
);

/// A double barrier that opens one participant short: each participant assumes that the list lacks itself.
pub(super) static ONE_SHORT: Workload = BASE.mutant(
    "double-barrier-one-short",
    "a double barrier that opens when one participant is still missing",
    Caught::by(Db3).within(1).harm(&[Db9]).breaks(Promise::Barriers),
    &[],
    |_| Plan::calm(),
    |task| run(task, &Mutation { missing: 1, ..Mutation::RIGHT }),
);
