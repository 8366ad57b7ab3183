//! The durability check: servers under faults must keep acknowledged writes. A znode is written repeatedly during the run.
//!
//! Durability is ZooKeeper's own promise, and every recipe depends on it. If it is broken, the run is no evidence about the
//! recipe. Releases have broken it when members died at bad moments: ZOOKEEPER-4643, ZOOKEEPER-4646, ZOOKEEPER-4712.

use crate::bell::Bell;
use crate::time::sleep;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use zk_client::{Client, Options};
use zk_recipes::zk::{CreateMode, Error, ZooKeeper};

/// The interval between two writes.
const EVERY: Duration = Duration::from_millis(20);

/// The time limit of the last write, after all faults have healed.
const LAST_WITHIN: Duration = Duration::from_secs(20);

/// The writes that were acknowledged so far.
#[derive(Default)]
struct Acknowledged {
    version: i32,
}

impl Acknowledged {
    /// Records the version of the next write. It must be larger than all before it, unless a write was lost; then it
    /// returns an error.
    fn next(&mut self, version: i32) -> Result<(), String> {
        if version <= self.version {
            return Err(format!(
                "the ensemble itself lost writes that it had acknowledged: of a znode at version {} the next write made \
                 version {version}",
                self.version
            ));
        }
        self.version = version;
        Ok(())
    }
}

/// Writes until the time is over, and once more.
pub(super) struct Witness {
    task: JoinHandle<Result<(), String>>,
    over: Arc<Bell>,
}

impl Witness {
    /// Begins with a znode of its own at that path.
    pub(super) async fn begin(address: &str, options: &Options, path: &str) -> Result<Witness, Error> {
        let zk = Client::open(address, options.clone()).await?;
        zk.create(path, b"", CreateMode::Persistent).await?;
        let over = Arc::<Bell>::default();
        let writer =
            Writer { zk, address: address.to_owned(), options: options.clone(), path: path.to_owned() };
        let bell = over.clone();
        Ok(Witness { task: tokio::spawn(async move { writer.write(&bell).await }), over })
    }

    /// Ends the check after all faults have healed; `Err` reports lost writes.
    pub(super) async fn end(self) -> Result<(), String> {
        self.over.ring();
        let stopper = self.task.abort_handle();
        let ended = timeout(LAST_WITHIN, self.task).await;
        stopper.abort();
        match ended {
            Ok(written) => written.map_err(|panic| panic.to_string())?,
            Err(_) => Err("the healed ensemble accepts no writes".to_owned()),
        }
    }
}

struct Writer {
    zk: Client,
    address: String,
    options: Options,
    path: String,
}

impl Writer {
    async fn write(mut self, over: &Bell) -> Result<(), String> {
        let mut acknowledged = Acknowledged::default();
        loop {
            let is_last = !over.lets_pass(EVERY).await;
            match self.zk.set(&self.path, b"", None).await {
                Ok(stat) => {
                    acknowledged.next(stat.version)?;
                    if is_last {
                        return Ok(());
                    }
                }
                Err(e) if e.is_no_node() => {
                    return Err(
                        "the ensemble itself lost a znode whose create it had acknowledged".to_owned()
                    );
                }
                // The outcome is unknown: the write may or may not have made a version.
                Err(_) if self.zk.status().over().is_none() => sleep(EVERY).await,
                Err(_) => {
                    if let Ok(zk) = Client::open(&self.address, self.options.clone()).await {
                        self.zk = zk;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_does_not_grow_shows_that_an_acknowledged_write_is_gone() {
        let mut acknowledged = Acknowledged::default();
        // The write in between has no reply, but was applied.
        assert_eq!([1, 2, 4].map(|version| acknowledged.next(version)), [Ok(()), Ok(()), Ok(())]);
        let lost = acknowledged.next(4).unwrap_err();
        assert!(lost.ends_with("at version 4 the next write made version 4"), "{lost}");
        assert_eq!(acknowledged.next(5), Ok(()));
    }
}
