//! Five jobs share two slots, and then the slots become four.
//!
//! ```console
//! $ cargo run -p zk-client --example semaphore -- 127.0.0.1:2181
//! job 1 runs under token …
//! job 2 runs under token …
//! job 3 runs under token …
//! job 4 runs under token …
//! job 5 runs under token …
//! never more than 2 at once
//! 4 slots
//! a job that needs 3 of them runs
//! no slot for one that needs 2 and does not wait
//! a holder of 3
//! ```

mod common;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Error, Semaphore, SemaphoreOptions};

fn main() -> ExitCode {
    common::run("semaphore", example)
}

/// How many jobs run, and the most that have run at once.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let running = Running::default();
    let jobs = (1..=5).map(|number| job(&ensemble, number, &running));
    futures_util::future::try_join_all(jobs).await?;
    println!("never more than {} at once", running.most.load(Ordering::Relaxed));

    let zk = ensemble.session().await?;
    let slots = Semaphore::new(&zk, "/batch/slots", 2, SemaphoreOptions::default())?;
    // The number is kept in ZooKeeper: the change counts for all clients.
    slots.set_permits(4).await?;
    println!("{} slots", slots.permits().await?);
    // Three or none: a request for several is granted at once.
    let held = slots.acquire(3).within(Duration::from_secs(30)).await?;
    println!("a job that needs 3 of them runs");
    if slots.try_acquire(2).await?.is_none() {
        println!("no slot for one that needs 2 and does not wait");
    }
    for holder in slots.holders().await? {
        println!("a holder of {}", holder.permits);
    }
    held.release().await?;
    zk.close(Duration::from_secs(5)).await
}

async fn job(ensemble: &common::Ensemble, number: u32, running: &Running) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let slots = Semaphore::new(&zk, "/batch/slots", 2, SemaphoreOptions::default())?;
    let held = slots.acquire(1).within(Duration::from_secs(30)).await?;
    println!("job {number} runs under token {}", held.token());
    running.most.fetch_max(1 + running.now.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    // `run` drops the work as soon as the job must stop: when the connection is lost, say.
    let ended = held.run(common::work_for(Duration::from_millis(50))).await;
    running.now.fetch_sub(1, Ordering::Relaxed);
    if let Err(stop) = ended {
        println!("job {number} had to stop: {stop:?}");
    }
    held.release().await?;
    zk.close(Duration::from_secs(5)).await
}
