//! Two-phase commit whose coordinator presumes that who has not voted in time agrees.
//!
//! Caught by TC-9 (one record decides: commit is on record only with all votes) within some 20 seeds; the harm is TC-3 (commit needs
//! every vote).

use super::{Bend, Bent, Of, calm, target, within};
use std::time::Duration;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_recipes::two_phase_commit::{Coordinator, Decision};
use zk_recipes::zk::{Error, ZooKeeper};

target!(
    Bent<_, Presumes>,
    "two-phase-commit-presumed-commit",
    "two-phase commit whose coordinator takes silence for a vote to commit",
    Caught::by(RuleId::Tc9).harm(&[RuleId::Tc3]),
    &[],
    |_| calm(4)
);

/// The wrong step.
struct Presumes;

impl Bend for Presumes {
    async fn coordinate_within<Z: ZooKeeper>(
        coordinator: &Of<Z, Coordinator<Z>>,
        limit: Duration,
    ) -> Result<Decision, Error> {
        let decided = within(&coordinator.zk, limit / 8, coordinator.inner.decision_within(limit)).await;
        if let Some(decided) = decided {
            return decided;
        }
        match coordinator.record(Decision::Commit).await {
            Ok(()) | Err(Error::NodeExists | Error::ConnectionLoss) => {}
            Err(e) => return Err(e),
        }
        coordinator.inner.decision_within(limit).await
    }
}
