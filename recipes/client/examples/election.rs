//! Three services elect a leader. Whoever is elected starts up, says where it is to be found, works, and resigns; somebody
//! else follows where to turn to.
//!
//! ```console
//! $ cargo run -p zk-client --example election -- 127.0.0.1:2181
//! ann:4711 leads under token …
//! turn to ann:4711
//! ann:4711 resigns: Clean
//! ben:4711 leads under token …
//! turn to ben:4711
//! ben:4711 resigns: Clean
//! cat:4711 leads under token …
//! turn to cat:4711
//! cat:4711 resigns: Clean
//! ```

mod common;

use futures_util::future::{Either, select, try_join_all};
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Election, ElectionOptions, Error, Leader};

fn main() -> ExitCode {
    common::run("election", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let services = ["ann:4711", "ben:4711", "cat:4711"].map(|address| service(&ensemble, address));
    let all = pin!(try_join_all(services));
    match select(all, pin!(follower(&ensemble))).await {
        Either::Left((served, _)) => served.map(drop),
        Either::Right((followed, _)) => followed,
    }
}

async fn service(ensemble: &common::Ensemble, address: &str) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let election = Election::new(&zk, "/leader-of-services", ElectionOptions::default())?;

    let term = election.stand().await?;
    // `run` drops the work as soon as the leader must stop: when the connection is lost, say.
    let led = term.run(async {
        // Being elected is not having begun: only when it can serve does it say so.
        term.acknowledge(address.as_bytes()).await?;
        println!("{address} leads under token {:#x}", term.token());
        common::work_for(Duration::from_millis(200)).await;
        Ok::<_, Error>(())
    });
    match led.await {
        Ok(served) => {
            served?;
            let resigned = term.resign().within(Duration::from_secs(5)).await?;
            println!("{address} resigns: {resigned:?}");
        }
        // The term is dropped: it resigns in the background, once there is a connection.
        Err(stop) => println!("{address} had to stop: {stop}"),
    }
    zk.close(Duration::from_secs(5)).await
}

async fn follower(ensemble: &common::Ensemble) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let election = Election::new(&zk, "/leader-of-services", ElectionOptions::default())?;
    let mut leadership = election.follow();
    loop {
        match leadership.next().await? {
            Leader::Acknowledged { data, .. } => println!("turn to {}", String::from_utf8_lossy(&data)),
            Leader::Unacknowledged { candidates } => println!("nobody leads, {} stand", candidates.len()),
        }
    }
}
