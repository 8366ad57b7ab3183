//! Two workers share the letters of one sender. Each letter is claimed, handled, and only then gone: had a worker died with
//! one in hand, the other would have got it.
//!
//! ```console
//! $ cargo run -p zk-client --example queue -- 127.0.0.1:2181
//! … has handled letter 1, handed out 1 time(s)
//! … has handled letter 2, handed out 1 time(s)
//! … has handled letter 3, handed out 1 time(s)
//! … has handled letter 4, handed out 1 time(s)
//! … has handled letter 5, handed out 1 time(s)
//! … has handled letter 6, handed out 1 time(s)
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Delivery, Error, Idle, Queue, QueueOptions};

fn main() -> ExitCode {
    common::run("queue", example)
}

fn options() -> QueueOptions {
    QueueOptions::new(Delivery::AtLeastOnce).with_idle(Idle::HerdFree)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let workers = futures_util::future::try_join_all(["ann", "ben"].map(|name| worker(&ensemble, name)));
    futures_util::future::try_join(sender(&ensemble), workers).await.map(drop)
}

async fn sender(ensemble: &common::Ensemble) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let mut letters = Queue::new(&zk, "/letters", options())?.producer();
    // One transaction: all six letters, or none.
    let all: Vec<Vec<u8>> = (1..=6).map(|number| format!("letter {number}").into_bytes()).collect();
    letters.put_all(&all).await?;
    zk.close(Duration::from_secs(5)).await
}

async fn worker(ensemble: &common::Ensemble, name: &str) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let mut letters = Queue::new(&zk, "/letters", options())?.consumer();
    for _ in 0..3 {
        let claim = letters.claim().await?;
        let letter = String::from_utf8_lossy(&claim.item().data).into_owned();
        common::work_for(Duration::from_millis(20)).await;
        println!("{name} has handled {letter}, handed out {} time(s)", claim.attempts());
        claim.done().await?;
    }
    drop(letters);
    zk.close(Duration::from_secs(5)).await
}
