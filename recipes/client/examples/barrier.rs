//! Two runners wait at a gate until the starter opens it.
//!
//! ```console
//! $ cargo run -p zk-client --example barrier -- 127.0.0.1:2181
//! the gate is closed
//! the gate opens
//! ann runs
//! ben runs
//! ```

mod common;

use futures_util::future::try_join3;
use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Barrier, BarrierOptions, Error, Parents, While};

fn main() -> ExitCode {
    common::run("barrier", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    // It stands as long as the starter's session lives: one that dies holds nobody up.
    let options = BarrierOptions::default().with_parents(Parents::Container).with_lives(While::SessionLives);
    let gate = Barrier::new(&zk, "/gate", options)?;
    gate.raise().await?;
    println!("the gate is closed");
    let start = async {
        common::work_for(Duration::from_millis(100)).await;
        println!("the gate opens");
        gate.lower().await
    };
    try_join3(runner(&ensemble, "ann"), runner(&ensemble, "ben"), start).await?;
    zk.close(Duration::from_secs(5)).await
}

async fn runner(ensemble: &common::Ensemble, name: &str) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let gate = Barrier::new(&zk, "/gate", BarrierOptions::default())?;
    gate.wait().within(Duration::from_secs(30)).await?;
    println!("{name} runs");
    zk.close(Duration::from_secs(5)).await
}
