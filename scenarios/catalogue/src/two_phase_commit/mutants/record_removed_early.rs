//! Two-phase commit in which the first site that has learned the decision removes the record.
//!
//! A slower one finds nothing there, and waits for ever or decides otherwise.
//!
//! Caught by TC-11 (the record stays) within 20 seeds; the harm is TC-5 (all decide in
//! the end), and now and then TC-1 (agreement).

use super::{Bend, Bent, Of, target, with};
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_recipes::two_phase_commit::Voted;
use zk_recipes::zk::{Error, ZooKeeper};

const FAULTS: &[Fault] = &[Fault::ClientPause];

target!(
    Bent<_, RemovesAtOnce>,
    "two-phase-commit-record-removed-early",
    "two-phase commit in which the first site that knows the decision removes the record",
    Caught::by(RuleId::Tc11).harm(&[RuleId::Tc5]).breaks(Promise::Agreement),
    FAULTS,
    |_| with(2, FAULTS, 0.1)
);

/// The wrong step.
struct RemovesAtOnce;

impl Bend for RemovesAtOnce {
    async fn finish<Z: ZooKeeper>(voted: Of<Z, Voted<Z>>) -> Result<(), Error> {
        let removing = voted.zk.delete(&voted.decision(), None);
        let _ = removing.await;
        voted.inner.finish().await
    }
}
