//! A slow job holds a lock; an urgent one asks it to go, and it does so where that does no harm.
//!
//! ```console
//! $ cargo run -p zk-client --example priority_lock -- 127.0.0.1:2181
//! the rebuild holds the index under token …
//! the rebuild is asked to go after step …
//! the repair holds it under token …
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Error, Preempt, Priority, PriorityLock, PriorityLockOptions};

fn main() -> ExitCode {
    common::run("priority_lock", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let zk = ensemble.session().await?;
    let lock = PriorityLock::new(&zk, "/index", PriorityLockOptions::default())?;
    let held = lock.write(Priority(9)).await?;
    println!("the rebuild holds the index under token {}", held.token());

    let rebuild = async {
        for step in 1..=100 {
            common::work_for(Duration::from_millis(20)).await;
            // Between two steps it can be left alone.
            if tokio::time::timeout(Duration::ZERO, held.revoked()).await.is_ok() {
                println!("the rebuild is asked to go after step {step}");
                break;
            }
        }
        held.release().await.map(drop)
    };
    let repair = async {
        let zk = ensemble.session().await?;
        // Asked first, and made to go if need be.
        let preempt = Preempt::Force { grace: Duration::from_secs(2) };
        let options = PriorityLockOptions::default().with_preempt(preempt);
        let held = PriorityLock::new(&zk, "/index", options)?.write(Priority(1)).await?;
        println!("the repair holds it under token {}", held.token());
        held.release().await?;
        zk.close(Duration::from_secs(5)).await
    };
    futures_util::future::try_join(rebuild, repair).await?;
    zk.close(Duration::from_secs(5)).await
}
