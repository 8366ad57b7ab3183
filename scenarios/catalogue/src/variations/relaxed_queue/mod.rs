//! Queues whose consumers are relaxed.
//!
//! As the [workload of queues](crate::queue::workload), with consumers that take a share of the first items: each item
//! is still delivered once, and none is delivered out of order by more than the window allows.

mod mutants;

use crate::prelude::*;
use crate::queue::workload::{STATED, Way, client, declared, right};
use crate::recipe::Recipe;
use zk_recipes::{Consumer, ConsumerOptions, Delivery, Idle, Producer};

/// Queues with relaxed consumers, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&WORKLOAD) };

/// Queues with relaxed consumers, under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients put items into queues, and relaxed consumers take or claim them",
    plan: |seed| Plan { clients: 6, rounds: 8, ..Plan::drawn(seed) },
    required: &[Qu1, Qu2, Qu3, Qu4, Qu6, Qu7, Qu8, Qu9, Qu10],
    ..Workload::own(
        "relaxed-queue",
        objects,
        |task| client(task, &QUEUES, Box::new(|zk, way, prefetch| open(zk, way, prefetch, WINDOW))).boxed(),
        &STATED,
    )
};

/// The number of items at the head of a queue from which a consumer takes.
const WINDOW: usize = 2;

/// The queues.
static QUEUES: [Way; 2] = [
    Way { path: "/relaxed/once", delivery: Delivery::AtMostOnce, idle: Idle::HerdFree, order: None },
    Way { path: "/relaxed/claims", delivery: Delivery::AtLeastOnce, idle: Idle::HerdFree, order: None },
];

/// The queues, as they are declared to the checker.
fn objects(names: &mut Names, _: &Setting) -> Vec<Object> {
    let relaxed =
        |object: Object| Object { manner: Manner { window: WINDOW as u32, ..object.manner }, ..object };
    declared(&QUEUES, names).into_iter().map(relaxed).collect()
}

/// A producer, and a relaxed consumer.
fn open<Z: ZooKeeper>(zk: &Z, way: &Way, prefetch: usize, window: usize) -> (Producer<Z>, Consumer<Z>) {
    let queue = right(zk, way);
    let consumer =
        queue.consumer_with(ConsumerOptions::default().with_prefetch(prefetch).with_window(window));
    (queue.producer(), consumer.expect("it takes something"))
}
