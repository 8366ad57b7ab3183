//! A lock whose znodes bear no guid: when the reply to its create is lost, it simply creates again.
//!
//! The first znode may exist: then it stands in line, and nobody deletes it while the session lives. Everybody behind it
//! waits for a process that does not know that it is first (ZOOKEEPER-1262; zk-ruby#54).
//!
//! Caught by MX-9 (one znode an acquire) within 20 seeds with lost replies; the harm is MX-8 (progress).

use super::bend::{Bend, Bent};
use crate::lock::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-no-guid",
    about: "a lock whose znodes bear no guid: after a lost reply it simply creates again",
    caught_by: Some(
        Caught::by(RuleId::Mx9)
            .or(&[(
                RuleId::Mx12,
                "the first znode outlives an acquire whose time limit is over, before there is a second",
            )])
            .harm(&[RuleId::Mx8])
            .seen("ZOOKEEPER-1262, zk-ruby#54"),
    ),
    faults: FAULTS,
    plan: |_| Plan::calm().with(FAULTS, 0.05),
    sim: |c, setting, rounds, done| client::<_, NoGuid<_>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ReplyLost];

/// The broken lock.
type NoGuid<Z> = Bent<Z, CreatesAgain>;

/// The wrong step.
#[derive(Clone)]
struct CreatesAgain;

impl Bend for CreatesAgain {
    const GUID: bool = false;
}
