//! A sender puts jobs of several priorities; a worker takes the most urgent first.
//!
//! ```console
//! $ cargo run -p zk-client --example priority_queue -- 127.0.0.1:2181
//! put out the fire
//! feed the cat
//! sweep the yard
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Delivery, Error, Idle, Order, Priority, PriorityQueue, PriorityQueueOptions};

fn main() -> ExitCode {
    common::run("priority_queue", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let options = PriorityQueueOptions::new(Order::Strict, Delivery::AtMostOnce).with_idle(Idle::Textbook);
    let jobs = PriorityQueue::new(&zk, "/jobs", options)?;
    let mut sender = jobs.producer();
    for (priority, job) in [(10, "sweep the yard"), (9, "feed the cat"), (1, "put out the fire")] {
        sender.put(Priority(priority), job.as_bytes()).await?;
    }
    let mut worker = jobs.consumer();
    while let Some(job) = worker.try_take().await? {
        println!("{}", String::from_utf8_lossy(&job.data));
    }
    drop((sender, worker));
    zk.close(Duration::from_secs(5)).await
}
