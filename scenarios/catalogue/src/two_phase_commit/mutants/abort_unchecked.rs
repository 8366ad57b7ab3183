//! Two-phase commit in which abort is proposed without a check that a vote is missing.
//!
//! All may have voted for commit by then, and only the coordinator is slow: what all sites agreed to is aborted.
//!
//! Caught by TC-4 (commit if nothing fails) within 20 seeds with a coordinator that is slower than a site's patience.

use super::{Bend, Bent, Of, connected, target, with, within};
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Voted};
use zk_recipes::zk::{Error, ZooKeeper};

const FAULTS: &[Fault] = &[Fault::ClientPause, Fault::Disconnect];

target!(
    Bent<_, DoesNotCheck>,
    "two-phase-commit-abort-unchecked",
    "two-phase commit in which abort is proposed without a check that a vote is missing",
    Caught::by(RuleId::Tc4),
    FAULTS,
    |_| Plan { faults: 2, ..with(6, FAULTS, 0.03) }
);

/// The wrong step.
struct DoesNotCheck;

impl Bend for DoesNotCheck {
    // A coordinator may be as slow as it likes: that is not what is wrong here.
    async fn coordinate_within<Z: ZooKeeper>(
        coordinator: &Of<Z, Coordinator<Z>>,
        limit: Duration,
    ) -> Result<Decision, Error> {
        coordinator.zk.sleep_until(coordinator.zk.now() + limit * 4).await;
        coordinator.inner.decision_within(limit).await
    }

    async fn decision_within<Z: ZooKeeper>(
        voted: &Of<Z, Voted<Z>>,
        limit: Duration,
    ) -> Result<Decision, Error> {
        if let Some(decided) = within(&voted.zk, limit, voted.inner.decision()).await {
            return decided;
        }
        loop {
            connected(&voted.zk).await?;
            match voted.record(Decision::Abort).await {
                Ok(()) | Err(Error::NodeExists) => return voted.inner.decision().await,
                Err(Error::ConnectionLoss) => {}
                Err(e) => return Err(e),
            }
        }
    }
}
