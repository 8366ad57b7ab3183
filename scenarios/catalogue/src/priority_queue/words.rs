//! The words of the priority queue.

use super::workload::{self as priority_queue, QUEUES};
use crate::prelude::*;
use crate::queue::words::{Getting, Putting, SETTING};
use crate::queue::workload::Way;
use futures_util::lock::Mutex;
use sim_zk::SimClient;
use std::sync::Arc;
use zk_recipes::{Order, PriorityProducer, PriorityQueue, PriorityQueueOptions};

/// The priority queue whose items are taken at most once.
pub const FRESH: ObjectId = ObjectId(0);

/// The priority queues.
pub fn urgent(names: &mut Names) -> Vec<Object> {
    priority_queue::objects(names, &SETTING)
}

fn open_urgent(zk: &SimClient, way: &Way) -> PriorityQueue<SimClient> {
    let (order, delivery, idle) = (way.order.unwrap_or(Order::Fresh), way.delivery, way.idle);
    let options = PriorityQueueOptions::new(order, delivery).with_idle(idle);
    PriorityQueue::new(zk, way.path, options).expect("the directory is a good path")
}

impl Actor {
    /// A producer of a priority queue.
    pub fn urgent_producer(&self, object: ObjectId) -> Putting<PriorityProducer<SimClient>> {
        let puts = open_urgent(self.zk(), &QUEUES[usize::from(object.0)]).producer();
        Putting { actor: self.clone(), object, puts: Arc::new(Mutex::new(puts)) }
    }

    /// A consumer of a priority queue.
    pub fn urgent_consumer(&self, object: ObjectId) -> Getting {
        let gets = open_urgent(self.zk(), &QUEUES[usize::from(object.0)]).consumer();
        Getting { actor: self.clone(), object, gets: Arc::new(Mutex::new(gets)) }
    }
}
