//! A lock that looks for its znode by the guid after a lost reply, as ZooKeeper's recipes page has it, and creates again if
//! it is not in the list: but the server that gives the list may not have applied the first create yet, and then there are
//! two (CURATOR-264).
//!
//! Caught by MX-9 (one znode an acquire) within some hundred seeds in which replies are lost and servers get behind; the
//! harm is MX-8 (progress).

use super::bend::{Bend, Bent};
use crate::lock::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "lock-no-settle",
    about: "a lock that looks for its znode where it may not have arrived yet, and creates again",
    caught_by: Some(
        Caught::by(RuleId::Mx9).within(100).harm(&[RuleId::Mx8]).seen("CURATOR-264; the recipes page"),
    ),
    faults: FAULTS,
    plan: |_| Plan { servers: 3, faults: 6, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, NoSettle<_>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ReplyLost, Fault::Disconnect, Fault::ApplyStall, Fault::LinkHeld];

/// The broken lock.
type NoSettle<Z> = Bent<Z, LooksTooSoon>;

/// The wrong step.
#[derive(Clone)]
struct LooksTooSoon;

impl Bend for LooksTooSoon {
    const SETTLES: bool = false;
}
