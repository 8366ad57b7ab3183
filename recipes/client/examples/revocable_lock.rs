//! A backup holds a lock for long, and goes when somebody more urgent asks; whoever does not listen is made to go.
//!
//! ```console
//! $ cargo run -p zk-client --example revocable_lock -- 127.0.0.1:2181
//! asked: Asked
//! the backup goes: Clean
//! made to go: Forced
//! the other one was told: Lost(Removed)
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Error, Interrupt, RevocableLock, RevocableLockOptions};

fn main() -> ExitCode {
    common::run("revocable-lock", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let (backup, urgent) = (ensemble.session().await?, ensemble.session().await?);
    let of = |zk| RevocableLock::new(zk, "/database-lock", RevocableLockOptions::default());
    let (backups, urgents) = (of(&backup)?, of(&urgent)?);

    let held = backups.write().await?;
    let holder = urgents.contenders().await?.swap_remove(0);
    println!("asked: {:?}", urgents.ask(&holder).await?);
    // `run` drops the work when the holder is asked to go, or must stop.
    match held.run(std::future::pending::<()>()).await {
        Err(Interrupt::Revoked) => println!("the backup goes: {:?}", held.release().await?),
        stopped => println!("the backup had to stop: {stopped:?}"),
    }

    let deaf = backups.write().await?;
    let holder = urgents.contenders().await?.swap_remove(0);
    println!("made to go: {:?}", urgents.force(&holder, Duration::from_millis(100)).await?);
    let write = urgents.write().await?;
    println!("the other one was told: {:?}", deaf.lost().await);
    write.release().await?;

    backup.close(Duration::from_secs(5)).await?;
    urgent.close(Duration::from_secs(5)).await
}
