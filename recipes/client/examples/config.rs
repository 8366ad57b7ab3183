//! A limit that is raised while somebody follows it, and a set of values that is seen whole.
//!
//! ```console
//! $ cargo run -p zk-client --example config -- 127.0.0.1:2181
//! the limit is 100
//! raised
//! the limit is 200
//! not raised again: somebody else has written in between: compare_and_set /config/limit
//! 2 values, all of one publication
//! ```

mod common;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Config, ConfigOptions, ConfigSet, ConfigSetOptions, Error, Update};

fn main() -> ExitCode {
    common::run("config", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let (operator, server) = (ensemble.session().await?, ensemble.session().await?);
    let limit = Config::new(&operator, "/config/limit", ConfigOptions::default())?;
    let first = limit.put(b"100").await?;

    let mut follows = Config::new(&server, "/config/limit", ConfigOptions::default())?.follow();
    for _ in 0..2 {
        match follows.next().await? {
            Update::Value(value) => println!("the limit is {}", String::from_utf8_lossy(&value.data)),
            Update::Missing => println!("there is no limit"),
        }
        // Only if nobody has written since it was read: the second time somebody has.
        match limit.compare_and_set(Some(&first), b"200").await {
            Ok(_) => println!("raised"),
            Err(e) if e.is_conflict() => println!("not raised again: {e}"),
            Err(e) => return Err(e),
        }
    }

    let set = ConfigSet::new(&operator, "/config/database", ConfigSetOptions::default())?;
    let values = BTreeMap::from([("host", "10.0.0.5"), ("port", "5432")]);
    let values = values.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    let before = set.snapshot().await?.map(|before| before.pointer);
    set.publish(&values, before.as_ref()).await?;
    if let Some(found) = set.snapshot().await? {
        println!("{} values, all of one publication", found.values.len());
    }

    drop(follows);
    server.close(Duration::from_secs(5)).await?;
    operator.close(Duration::from_secs(5)).await
}
