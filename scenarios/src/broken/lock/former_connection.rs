//! A lock that holds by a list of a connection that it has lost since: its session may have ended meanwhile, and its znode with it.
//!
//! Caught by MX-4 (granted without a right) or MX-14 within some 20 seeds with disconnects.

use super::bend::{Bend, Bent};
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "lock-former-connection",
    about: "a lock that holds by a list of a connection that is lost",
    caught_by: Some(Caught::by(RuleId::Mx4)),
    faults: FAULTS,
    plan: |_| Plan { rounds: 6, faults: 10, ..Plan::calm().with(FAULTS, 0.2) },
    objects,
    sim: |c, setting, rounds, done| client::<_, Bent<_, HoldsByIt>>(c, setting, rounds, done).boxed(),
    // Without faults it does nothing wrong.
    real: None,
    required: &[],
    required_on_real: &[],
};

const FAULTS: &[Fault] = &[Fault::Disconnect, Fault::ReplyLate];

/// The wrong step.
#[derive(Clone)]
struct HoldsByIt;

impl Bend for HoldsByIt {
    const SAME_CONNECTION: bool = false;
}
