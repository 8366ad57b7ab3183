//! Relaxed consumers that exceed their window.

use super::{QUEUES, WORKLOAD, open};
use crate::prelude::*;
use crate::queue::workload::client;

/// All mutants.
pub(super) static ALL: &[&Workload] = &[&WITHOUT_A_WINDOW];

/// Each consumer takes its share of the whole list, however many items that skips.
static WITHOUT_A_WINDOW: Workload = WORKLOAD.mutant(
    "relaxed-queue-without-a-window",
    "a relaxed consumer that takes items from anywhere in the queue",
    Caught::by(Qu4),
    &[],
    |_| Plan { clients: 8, rounds: 12, ..Plan::calm() },
    |task| client(task, &QUEUES, Box::new(|zk, way, prefetch| open(zk, way, prefetch, 1000))).boxed(),
);
