//! Step 1: putting.

use super::layout::Layout;
use super::{OP_OVERHEAD_BYTES, Order, QueueCore, RECIPE};
use crate::observe::operation;
use crate::parts::receipt::Receipt;
use crate::zk::{CreateMode, Error, Op, ZooKeeper};

/// How urgent an item is: the smaller number goes first.
pub(crate) type Urgency = u16;

/// One who puts items into a queue.
///
/// # Cancellation
///
/// A put whose future is dropped puts its items once, or not at all.
///
/// # When the connection is lost
///
/// The same transaction is sent again once it is known that it can do no harm: the producer's receipt refuses what was
/// applied before.
///
/// # When the session is over
///
/// A put that was under way has an unknown outcome; what was acknowledged stays.
pub struct Producer<Z: ZooKeeper> {
    core: QueueCore<Z>,
    receipt: Receipt<Z>,
}

impl<Z: ZooKeeper> Producer<Z> {
    pub(crate) fn new(core: QueueCore<Z>) -> Self {
        Producer { receipt: core.receipt(), core }
    }

    pub(crate) fn zk(&self) -> &Z {
        &self.core.zk
    }

    pub(crate) fn path(&self) -> &str {
        &self.core.layout.root
    }

    /// Puts an item at the end.
    ///
    /// # Errors
    ///
    /// As [`put_all`](Self::put_all).
    pub async fn put(&mut self, data: &[u8]) -> Result<(), Error> {
        let operation = operation!(&self.core.zk, RECIPE, "put", &self.core.layout.root);
        operation.of(self.put_at(0, &[data])).await
    }

    /// Puts items at the end, all or none, in this order, nothing in between.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): no item, or more than fits into one request. [`Exhausted`](Error::Exhausted):
    /// the directory has given out all its numbers. [`is_mismatch`](Error::is_mismatch): the queue is set up otherwise. In
    /// these cases nothing was put. [`is_session_over`](Error::is_session_over): they may be in the queue.
    pub async fn put_all(&mut self, items: &[Vec<u8>]) -> Result<(), Error> {
        let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
        let operation = operation!(&self.core.zk, RECIPE, "put_all", &self.core.layout.root);
        operation.of(self.put_at(0, &items)).await
    }

    pub(crate) async fn put_at(&mut self, urgency: Urgency, items: &[&[u8]]) -> Result<(), Error> {
        let layout = &self.core.layout;
        validate(&self.core, items)?;
        let prefix = layout.prefix(urgency);
        // Strict: the version of the queue's znode counts puts, so that takers notice.
        let mut ops: Vec<Op> = counts_puts(layout)
            .then(|| Op::Set { path: layout.root.clone(), data: layout.mode(), version: None })
            .into_iter()
            .collect();
        let before = ops.len();
        ops.extend(items.iter().map(|data| Op::Create {
            path: prefix.clone(),
            data: data.to_vec(),
            mode: CreateMode::PersistentSequential,
        }));
        match self.core.write(&self.receipt, &ops).await {
            // The counter stands still, so it gave a number again.
            Err(Error::Multi { index, cause }) if index >= before && *cause == Error::NodeExists => {
                Err(Error::Exhausted(self.core.layout.root.clone()))
            }
            done => done,
        }
    }
}

fn counts_puts(layout: &Layout) -> bool {
    layout.order == Some(Order::Strict)
}

/// Whether the items fit into one request: to put them, and each of them to hand it out.
fn validate<Z: ZooKeeper>(core: &QueueCore<Z>, items: &[&[u8]]) -> Result<(), Error> {
    if items.is_empty() {
        return Err(Error::BadInput("there is nothing to put".into()));
    }
    let name = "queue-00000-0000000000";
    let room = core.room();
    let alone = items.iter().map(|data| core.bytes_of(name, data)).max().unwrap_or(0);
    let each = core.layout.root.len() + name.len() + OP_OVERHEAD_BYTES;
    let together: usize = items.iter().map(|data| data.len() + each).sum();
    if alone.max(together) > room {
        return Err(Error::BadInput(format!(
            "{} items make a request of {together} bytes: a server takes {room}",
            items.len()
        )));
    }
    Ok(())
}

impl<Z: ZooKeeper> std::fmt::Debug for Producer<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer").field("queue", &self.core.layout.root).finish_non_exhaustive()
    }
}
