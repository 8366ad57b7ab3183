//! Queues near the end of their sequence numbers.
//!
//! As the [workload of queues](crate::queue::workload), on directories that have had so many children that few numbers
//! are left, or none: the queue refuses every put that would come too close to the end of ZooKeeper's counter, and
//! earlier items are taken.

mod mutants;

use crate::prelude::*;
use crate::queue::workload::{QUEUES, client, declared, open};
use std::time::Duration;

/// Queues without numbers, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&WORKLOAD) };

/// Queues whose numbers run out, under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients put items into queues that run out of numbers, and take them",
    plan: |seed| Plan { clients: 4, rounds: 6, first_number: first_number(seed), ..Plan::drawn(seed) },
    required: &[Qu1, Qu2, Qu3, Qu4, Qu8, Qu9, Qu10, An1, An2],
    ..Workload::own(
        "exhausted-queues",
        objects,
        |task| client(task, &QUEUES, Box::new(open)).boxed(),
        &STATED,
    )
};

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[SESSIONS[0], SESSIONS[1], "a taker gives up", "what was taken outlives its session"],
};

/// The first number at which a queue refuses items.
const END: i32 = i32::MAX - (1 << 24);

/// The number of the first item, from a random stream of its own: the draws of the plan are those of other workloads.
fn first_number(seed: u64) -> i32 {
    const FIRST: [i32; 8] = [END - 12, END - 6, END - 5, END - 3, END - 1, END, i32::MAX - 1, i32::MAX];
    FIRST[(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize]
}

/// The queues, as they are declared to the checker.
pub fn objects(names: &mut Names, _: &Setting) -> Vec<Object> {
    declared(&QUEUES, names)
}
