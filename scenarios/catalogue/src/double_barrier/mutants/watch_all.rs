//! A double barrier in which who leaves deletes its znode at once and watches the directory until it is empty: every one that goes
//! wakes all who have gone before.
//!
//! Caught by DB-8 (cost of a double barrier) within 20 seeds, on a calm network.

use super::bend::{Bend, Bent, objects};
use crate::double_barrier::workload::client;
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "double-barrier-watch-all",
    about: "a double barrier in which all who leave watch the whole directory",
    caught_by: Some(Caught::by(RuleId::Db8).within(1).breaks(Promise::NoHerd)),
    faults: FAULTS,
    plan: |_| Plan { clients: 4, rounds: 3, ..Plan::calm().with(FAULTS, 0.05) },
    sim: |c, setting, rounds, done| client::<_, Bent<_, WatchesAll>>(c, setting, rounds, done).boxed(),
    objects,
    ..Target::mutant_of(&crate::double_barrier::workload::TARGET)
};

const FAULTS: &[Fault] = &[];

/// The wrong step.
struct WatchesAll;

impl Bend for WatchesAll {
    const WATCHES_ONE: bool = false;
}
