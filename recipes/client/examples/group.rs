//! Three workers come, one goes, and an observer sees who is there.
//!
//! ```console
//! $ cargo run -p zk-client --example group -- 127.0.0.1:2181
//! 3 members
//! ann leaves: Clean
//! 2 members
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::group::WithData;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Error, Group, GroupOptions};

fn main() -> ExitCode {
    common::run("group", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let (worker, observer) = (ensemble.session().await?, ensemble.session().await?);
    let group = Group::new(&worker, "/workers", GroupOptions::default())?;
    let mut views = Group::new(&observer, "/workers", GroupOptions::default())?.follow(WithData::Yes);

    let ann = group.join(Some("ann"), b"10.0.0.1").await?;
    let _ben = group.join(Some("ben"), b"10.0.0.2").await?;
    // Without an id it gets one of its own.
    let _nameless = group.join(None, b"10.0.0.3").await?;
    loop {
        let view = views.next().await?;
        println!("{} members", view.members.len());
        if view.members.len() == 3 {
            break;
        }
    }
    println!("ann leaves: {:?}", ann.leave().await?);
    println!("{} members", views.next().await?.members.len());

    drop(views);
    observer.close(Duration::from_secs(5)).await?;
    worker.close(Duration::from_secs(5)).await
}
