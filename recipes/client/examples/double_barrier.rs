//! Three workers compute step by step: nobody begins a step before all are there, nobody leaves it before all are done.
//!
//! ```console
//! $ cargo run -p zk-client --example double_barrier -- 127.0.0.1:2181
//! … works on step 0 with ["ann", "ben", "cat"]
//! … works on step 0 with ["ann", "ben", "cat"]
//! … works on step 0 with ["ann", "ben", "cat"]
//! … works on step 1 with ["ann", "ben", "cat"]
//! … works on step 1 with ["ann", "ben", "cat"]
//! … works on step 1 with ["ann", "ben", "cat"]
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{DoubleBarrier, DoubleBarrierOptions, Error, Leave, Reuse};

const STEPS: usize = 2;

fn main() -> ExitCode {
    common::run("double-barrier", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let workers = ["ann", "ben", "cat"].map(|name| worker(&ensemble, name));
    futures_util::future::try_join_all(workers).await.map(drop)
}

async fn worker(ensemble: &common::Ensemble, name: &str) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let options = DoubleBarrierOptions::new(3, Reuse::Generations, Leave::Keeper).with_id(name);
    let barrier = DoubleBarrier::new(&zk, "/step", options)?;
    for _ in 0..STEPS {
        let inside = barrier.enter().within(Duration::from_secs(30)).await?;
        println!("{name} works on step {} with {:?}", inside.generation(), inside.roster());
        common::work_for(Duration::from_millis(20)).await;
        inside.leave().await?;
    }
    zk.close(Duration::from_secs(5)).await
}
