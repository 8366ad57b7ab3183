//! A price list with one who writes it and many who read it: the writer goes on as a reader when it is done.
//!
//! ```console
//! $ cargo run -p zk-client --example shared_lock -- 127.0.0.1:2181
//! the writer holds it under token …
//! two readers see 42
//! released: Clean, Clean
//! ```

mod common;

use std::process::ExitCode;
use zk_recipes::zk::{CreateMode, Op, ZooKeeper};
use zk_recipes::{Error, SharedLock, SharedLockOptions};

fn main() -> ExitCode {
    common::run("shared-lock", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let (writer, reader) = (ensemble.session().await?, ensemble.session().await?);
    let of = |zk| SharedLock::new(zk, "/prices-lock", SharedLockOptions::default());
    let (writers, readers) = (of(&writer)?, of(&reader)?);

    let write = writers.write().await?;
    println!("the writer holds it under token {}", write.token());
    assert!(readers.try_read().await?.is_none(), "readers wait meanwhile");
    // The write is refused if the hold is over by then, whatever the writer believes.
    let price = Op::Create { path: "/price".into(), data: b"42".to_vec(), mode: CreateMode::Persistent };
    write.transact(vec![price]).await?;

    // Nobody comes in between, and other readers are let in.
    let read = write.downgrade().await?;
    let other = readers.read().await?;
    println!("two readers see {}", String::from_utf8_lossy(&reader.get("/price").await?.data));
    println!("released: {:?}, {:?}", read.release().await?, other.release().await?);

    writer.close(std::time::Duration::from_secs(5)).await?;
    reader.close(std::time::Duration::from_secs(5)).await
}
