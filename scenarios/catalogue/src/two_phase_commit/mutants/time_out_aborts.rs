//! Two-phase commit in which a site that has voted for commit aborts by itself when its time is over.
//!
//! The others may commit meanwhile: a vote is a promise, and a time limit does not take it back.
//!
//! Caught by TC-8 (no way back after yes) within 20 seeds with slow peers; the harm is TC-1 (agreement).

use super::{Bend, Bent, Of, target, with, within};
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_recipes::two_phase_commit::{Decision, Voted};
use zk_recipes::zk::{Error, ZooKeeper};

const FAULTS: &[Fault] = &[Fault::ClientPause, Fault::Disconnect];

target!(
    Bent<_, Aborts>,
    "two-phase-commit-time-out-aborts",
    "two-phase commit in which a site that has voted for commit aborts when its time is over",
    Caught::by(RuleId::Tc8).or(&[(RuleId::Tc9, "it aborts although commit is on record already, and that is seen first")]).harm(&[RuleId::Tc1]).breaks(Promise::Agreement),
    FAULTS,
    |_| with(2, FAULTS, 0.05)
);

/// The wrong step.
struct Aborts;

impl Bend for Aborts {
    async fn decision_within<Z: ZooKeeper>(
        voted: &Of<Z, Voted<Z>>,
        limit: Duration,
    ) -> Result<Decision, Error> {
        let decided = within(&voted.zk, limit, voted.inner.decision()).await;
        decided.unwrap_or(Ok(Decision::Abort))
    }
}
