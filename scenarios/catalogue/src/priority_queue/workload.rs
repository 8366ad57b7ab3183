//! Clients that put items of many priorities into queues and take the most urgent out.
//!
//! As the [workload of queues](crate::queue::workload): one queue whose consumers take items by a fresh list, one that
//! must hold no more urgent item, and one whose items are claimed.

use crate::prelude::*;
use crate::queue::workload::{Puts, Way, client, declared};
use std::time::Duration;
use zk_recipes::{
    Consumer, Delivery, Idle, Order, Priority, PriorityProducer, PriorityQueue, PriorityQueueOptions,
};

/// Priority queues under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients put items of many priorities into queues and take the most urgent",
    plan: |seed| Plan { clients: 4, rounds: 6, ..Plan::drawn(seed) },
    required: &[Qu1, Qu2, Qu3, Qu5, Qu6, Qu7, Qu8, Qu9, Qu10],
    ..Workload::own("priority-queue", objects, |task| client(task, &QUEUES, Box::new(open)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, &QUEUES, Box::new(open)).boxed(), &[Qu1, Qu2]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[SESSIONS[0], SESSIONS[1], "what was taken outlives its session", "a taker gives up"],
};

/// The queues of the workload.
pub static QUEUES: [Way; 3] = [
    Way {
        path: "/jobs/fresh",
        delivery: Delivery::AtMostOnce,
        idle: Idle::HerdFree,
        order: Some(Order::Fresh),
    },
    Way {
        path: "/jobs/strict",
        delivery: Delivery::AtMostOnce,
        idle: Idle::Textbook,
        order: Some(Order::Strict),
    },
    Way {
        path: "/jobs/claims",
        delivery: Delivery::AtLeastOnce,
        idle: Idle::HerdFree,
        order: Some(Order::Fresh),
    },
];

/// The queues, as they are declared to the checker.
pub fn objects(names: &mut Names, _: &Setting) -> Vec<Object> {
    declared(&QUEUES, names)
}

/// A producer and a consumer of the right priority queue.
pub(super) fn open<Z: ZooKeeper>(zk: &Z, way: &Way, _: usize) -> (PriorityProducer<Z>, Consumer<Z>) {
    let options =
        PriorityQueueOptions::new(way.order.unwrap_or(Order::Fresh), way.delivery).with_idle(way.idle);
    let queue = PriorityQueue::new(zk, way.path, options).expect("the directory is a good path");
    (queue.producer(), queue.consumer())
}

impl<Z: ZooKeeper> Puts for PriorityProducer<Z> {
    async fn put(&mut self, priority: u16, items: &[Vec<u8>]) -> Result<(), Error> {
        match items {
            [item] => PriorityProducer::put(self, Priority(priority), item).await,
            items => self.put_all(Priority(priority), items).await,
        }
    }
}
