//! A group without ids that joins again after a lost reply: two znodes, and one of them nobody knows.
//!
//! Caught by GM-5 (one znode a member) within 20 seeds with lost replies.

use super::bend::{Broken, Step};
use crate::group::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "group-joins-twice",
    about: "a group that joins again after a lost reply, and has two znodes",
    caught_by: Some(Caught::by(RuleId::Gm5).seen("twitter/commons")),
    faults: FAULTS,
    plan: |_| Plan { rounds: 6, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Broken<_, JoinsTwice>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::group::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::ReplyLost];

/// The wrong step.
#[derive(Clone)]
struct JoinsTwice;

impl Step for JoinsTwice {
    const LOOKS_AFTER_LOSS: bool = false;
}
