//! The deletion of a znode and of all below it, by a client that has no other part in the try.

use anyhow::Context;
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::Error;
use zk_recipes::zk::{Op, ZooKeeper};

/// How long it may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Deletes the znode, and all below it, in one transaction. Znodes that appear meanwhile make it begin again.
///
/// # Errors
///
/// No server serves, or it is not done within [`LIMIT`].
pub(crate) fn delete_all(connect_string: &str, path: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let deleted = async { tokio::time::timeout(LIMIT, delete(connect_string, path)).await };
    Ok(runtime.block_on(deleted).with_context(|| format!("{path} is not deleted in time"))??)
}

async fn delete(connect_string: &str, path: &str) -> Result<(), Error> {
    let zk = Client::open(connect_string, Options::new(LIMIT)).await?;
    loop {
        let mut paths = vec![path.to_owned()];
        let mut looked = 0;
        while let Some(parent) = paths.get(looked).cloned() {
            looked += 1;
            match zk.children(&parent).await {
                Ok(list) => paths.extend(list.names.iter().map(|name| format!("{parent}/{name}"))),
                Err(error) if error.is_no_node() && looked == 1 => return zk.close(LIMIT).await,
                Err(error) if error.is_no_node() => {}
                Err(error) => return Err(error),
            }
        }
        let deletes = paths.into_iter().rev().map(|path| Op::Delete { path, version: None });
        // If it is refused, others have changed something.
        let _ = zk.multi(deletes.collect()).await;
    }
}
