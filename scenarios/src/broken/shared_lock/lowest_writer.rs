//! A shared lock whose readers watch the lowest writer ahead, as the "next lowest" of ZooKeeper's recipes page can be read
//! and Apache Curator does: each writer that goes wakes all readers behind all writers.
//!
//! Caught by RW-5 (wake-ups of readers and writers) within some 20 seeds. It does no other harm.

use super::bend::{BendShared, BentShared, ahead, is_writer, nearest_ahead};
use crate::broken::lock::bend::number;
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::shared_lock::{client, objects};
use crate::zoo::{Caught, Promise};
use futures_util::FutureExt;
use zk_checker::RuleId;

pub(super) static TARGET: Target = Target {
    name: "shared-lock-lowest-writer",
    about: "a reader watches the lowest writer ahead: every writer's going wakes it",
    caught_by: Some(Caught::by(RuleId::Rw5).breaks(Promise::NoHerd).seen("Curator")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    objects,
    sim: |c, setting, rounds, done| {
        client::<_, BentShared<_, LowestWriter>>(c, setting, rounds, done).boxed()
    },
    // A capture does not show what it takes to name it first.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::shared_lock::STATED,
};

/// The wrong step.
#[derive(Clone)]
struct LowestWriter;

impl BendShared for LowestWriter {
    fn in_the_way<'a>(reads: bool, own: &str, names: &'a [String]) -> Option<&'a String> {
        if !reads {
            return nearest_ahead(reads, own, names);
        }
        ahead(own, names).filter(|name| is_writer(name)).min_by_key(|name| number(name))
    }
}
