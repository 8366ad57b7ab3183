//! A database says where it is found; a client looks it up, and follows it when it moves.
//!
//! ```console
//! $ cargo run -p zk-client --example names -- 127.0.0.1:2181
//! the database is at 10.0.0.5:5432
//! a second one is refused: /names/db belongs to somebody else: register
//! it has moved to 10.0.0.7:5432
//! given back: Clean
//! ```

mod common;

use std::process::ExitCode;
use std::time::Duration;
use zk_recipes::names::Freshness;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Error, Names, NamesOptions, Update};

fn main() -> ExitCode {
    common::run("names", example)
}

async fn example(ensemble: common::Ensemble) -> Result<(), Error> {
    let (database, client) = (ensemble.session().await?, ensemble.session().await?);
    let (registry, lookup) = (
        Names::new(&database, "/names", NamesOptions::default())?,
        Names::new(&client, "/names", NamesOptions::default())?,
    );

    let registered = registry.register("db", b"10.0.0.5:5432").await?;
    // `Latest` comes behind a write of one's own: it is no older than the call.
    if let Some(found) = lookup.resolve("db", Freshness::Latest).await? {
        println!("the database is at {}", String::from_utf8_lossy(&found.data));
    }
    match registry.register("db", b"10.0.0.6:5432").await {
        Err(e) if e.is_taken() => println!("a second one is refused: {e}"),
        other => println!("unexpected: {other:?}"),
    }

    let mut follows = lookup.follow("db")?;
    follows.next().await?;
    registered.set(b"10.0.0.7:5432").await?;
    if let Update::Value(found) = follows.next().await? {
        println!("it has moved to {}", String::from_utf8_lossy(&found.data));
    }
    println!("given back: {:?}", registered.release().await?);

    drop(follows);
    client.close(Duration::from_secs(5)).await?;
    database.close(Duration::from_secs(5)).await
}
