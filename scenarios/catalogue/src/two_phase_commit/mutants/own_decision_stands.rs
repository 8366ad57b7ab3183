//! Two-phase commit in which whoever finds a decision on record keeps to the one that it would have made itself.
//!
//! `NodeExists` says that there is another decision, and not that there is this one.
//!
//! Caught by TC-9 (one record decides) within 100 seeds with two deciders; the harm is TC-1 (agreement).

use super::{Bend, Bent, Of, connected, target, with, within};
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_recipes::two_phase_commit::{Decision, Voted};
use zk_recipes::zk::{Error, ZooKeeper};

const FAULTS: &[Fault] = &[Fault::ClientPause, Fault::Disconnect];

target!(
    Bent<_, KeepsItsOwn>,
    "two-phase-commit-own-decision-stands",
    "two-phase commit in which NodeExists on the record is taken for success: one's own decision stands",
    Caught::by(RuleId::Tc9).or(&[(RuleId::Tc4, "the abort that stands is proposed without a look at the votes, and that is told when it gets on record")]).within(100).harm(&[RuleId::Tc1]).breaks(Promise::Agreement),
    FAULTS,
    |_| Plan { faults: 6, ..with(6, FAULTS, 0.15) }
);

/// The wrong step.
struct KeepsItsOwn;

impl Bend for KeepsItsOwn {
    async fn decision_within<Z: ZooKeeper>(
        voted: &Of<Z, Voted<Z>>,
        limit: Duration,
    ) -> Result<Decision, Error> {
        // Short of patience, so that it meets a record that it has not heard of.
        if let Some(decided) = within(&voted.zk, limit / 16, voted.inner.decision()).await {
            return decided;
        }
        loop {
            connected(&voted.zk).await?;
            match voted.record(Decision::Abort).await {
                Ok(()) | Err(Error::NodeExists) => return Ok(Decision::Abort),
                Err(Error::ConnectionLoss) => {}
                Err(e) => return Err(e),
            }
        }
    }
}
