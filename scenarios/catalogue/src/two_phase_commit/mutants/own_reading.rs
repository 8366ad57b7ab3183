//! Two-phase commit whose coordinator decides on its own reading of the votes, and puts nothing on record.
//!
//! A vote may come behind the reading, or another decide otherwise: what only the coordinator knows binds nobody.
//!
//! Caught by TC-9 (one record decides) in the first run with a coordinator; the harm is TC-1 (agreement).

use super::{Bend, Bent, Of, target, with};
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_recipes::two_phase_commit::{Coordinator, Decision};
use zk_recipes::zk::{Error, ZooKeeper};

const FAULTS: &[Fault] = &[Fault::ClientPause];

target!(
    Bent<_, ReadsAndDecides>,
    "two-phase-commit-own-reading",
    "two-phase commit whose coordinator decides on its own reading of the votes, without a record",
    Caught::by(RuleId::Tc9),
    FAULTS,
    |_| with(2, FAULTS, 0.02)
);

/// The wrong step.
struct ReadsAndDecides;

impl Bend for ReadsAndDecides {
    async fn coordinate_within<Z: ZooKeeper>(
        coordinator: &Of<Z, Coordinator<Z>>,
        limit: Duration,
    ) -> Result<Decision, Error> {
        let zk = &coordinator.zk;
        zk.sleep_until(zk.now() + limit / 2).await;
        let votes: Vec<String> = coordinator.sites.iter().map(|site| coordinator.site(site)).collect();
        let votes = zk.get_many(&votes).await?;
        let yes = votes.iter().flatten().filter(|vote| vote.data == b"commit").count();
        Ok(if yes == votes.len() { Decision::Commit } else { Decision::Abort })
    }
}
