//! Three workers share a printer: one at a time, in the order of asking, each under a token that grows.
//!
//! ```console
//! $ cargo run -p zk-client --example lock -- 127.0.0.1:2181
//! ann prints under token …
//! ann is done: Clean
//! ben prints under token …
//! ben is done: Clean
//! cat prints under token …
//! cat is done: Clean
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Error, Lock, LockOptions};

fn main() -> ExitCode {
    common::run("lock", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let workers = ["ann", "ben", "cat"].map(|name| worker(&ensemble, name));
    futures_util::future::try_join_all(workers).await.map(drop)
}

async fn worker(ensemble: &common::Ensemble, name: &str) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    // What a waiting worker's znode says to whoever looks at the line.
    let options = LockOptions::default().with_data(name);
    let lock = Lock::new(&zk, "/printer", options)?;

    let held = lock.acquire().within(Duration::from_secs(30)).await?;
    // A printer that refuses tokens smaller than the largest it has seen is safe from a worker that stood still.
    println!("{name} prints under token {}", held.token());
    // `run` drops the work as soon as the worker must stop: when the connection is lost, say.
    match held.run(common::work_for(Duration::from_millis(50))).await {
        Ok(()) => println!("{name} is done: {:?}", held.release().await?),
        Err(stop) => println!("{name} had to stop: {stop:?}"),
    }
    zk.close(Duration::from_secs(5)).await
}
