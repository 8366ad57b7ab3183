//! The sessions of this workspace's peer.

use super::Task;
use futures_util::future::try_join_all;
use std::time::Duration;
use zk_client::{Client, Options};

/// The session timeout.
pub const SESSION: Duration = Duration::from_secs(30);

/// Sessions that are opened at a time.
const AT_ONCE: usize = 32;

/// A session with the server at that address.
pub async fn session(address: &str) -> anyhow::Result<Client> {
    Ok(Client::open(address, Options::new(SESSION)).await?)
}

/// Sessions of the clients that are measured.
pub async fn sessions(task: &Task, count: usize) -> anyhow::Result<Vec<Client>> {
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        let more = (count - all.len()).min(AT_ONCE);
        all.extend(try_join_all((0..more).map(|_| async { session(task.text("connect")?).await })).await?);
    }
    Ok(all)
}
