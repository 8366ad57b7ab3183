//! Mutants that let somebody in before all are there.

use super::copy::Mutation;
use super::{mutant, run};
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

/// A double barrier whose entrants take any wake-up for the opening: a change of the session's state since they began lets
/// them in (apache/curator, GH-1290).
///
/// Caught by DB-9 (one phase at a time) within 20 seeds with disconnects; the harm is DB-1.
pub(super) static ANY_WAKE: Target = mutant(
    "double-barrier-any-wake",
    "a double barrier that any wake-up lets in, a lost connection too",
    Caught::by(RuleId::Db9).harm(&[RuleId::Db1]).breaks(Promise::Barriers).seen("Curator#1290"),
    &[Fault::Disconnect],
    |_| Plan { clients: 3, rounds: 3, ..Plan::calm().with(&[Fault::Disconnect], 0.05) },
    |c, setting, rounds, done| {
        run(c, setting, rounds, done, &Mutation { only_ready: false, ..Mutation::RIGHT })
    },
);

/// A double barrier that opens when one participant is still missing: whoever counts takes itself for one that is not in the
/// list yet.
///
/// Caught by DB-3 (counting of participants) in the first run; the harm is DB-9 (one phase at a time).
pub(super) static ONE_SHORT: Target = mutant(
    "double-barrier-one-short",
    "a double barrier that opens when one participant is still missing",
    Caught::by(RuleId::Db3).within(1).harm(&[RuleId::Db9]).breaks(Promise::Barriers),
    &[],
    |_| Plan::calm(),
    |c, setting, rounds, done| run(c, setting, rounds, done, &Mutation { missing: 1, ..Mutation::RIGHT }),
);
