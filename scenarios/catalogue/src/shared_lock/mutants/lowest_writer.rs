//! A shared lock whose readers watch the lowest writer ahead, as the "next lowest" of ZooKeeper's recipes page can be read
//! and Apache Curator does: each writer that goes wakes all readers behind all writers.
//!
//! Caught by RW-5 (wake-ups of readers and writers) within some 20 seeds. It does no other harm.

use super::bend::{BendShared, BentShared, ahead, is_writer, nearest_ahead};
use crate::lock::mutants::bend::number;
use crate::shared_lock::workload::client;
use futures_util::FutureExt;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "shared-lock-lowest-writer",
    about: "a reader watches the lowest writer ahead: every writer's going wakes it",
    caught_by: Some(Caught::by(RuleId::Rw5).breaks(Promise::NoHerd).seen("Curator")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, BentShared<_, LowestWriter>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::shared_lock::workload::TARGET)
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
