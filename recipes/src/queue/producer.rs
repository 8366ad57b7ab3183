//! Step 1: put.

use super::layout::Layout;
use super::{Order, QueueCore, RECIPE};
use crate::observe::operation;
use crate::parts::receipt::Receipt;
use crate::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper, path};

/// The priority of an item: the smaller number goes first.
pub(crate) type Urgency = u16;

/// A producer of a queue.
///
/// # Cancellation
///
/// A dropped put is applied once, or not at all.
///
/// # When the connection is lost
///
/// The transaction is retried; the producer's receipt refuses it if it was applied before.
///
/// # When the session is over
///
/// The outcome of a put in flight is unknown; acknowledged items stay.
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
        let operation = operation!(unnamed: &self.core.zk, RECIPE, "put", &self.core.layout.root);
        let put = operation.of(self.put_at(0, &[data])).await;
        put.map_err(|error| error.at("put", &self.core.layout.root))
    }

    /// Puts items at the end, all or none, in this order, consecutively.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: no item, or more than fit into one request. [`Error::is_exhausted`]:
    /// the directory's counter is about to run out, or has; see [`Queue`](crate::Queue). [`Error::is_mismatch`]: the queue has
    /// another mode. In these cases nothing was put. [`Error::is_session_over`]: the outcome is unknown.
    pub async fn put_all(&mut self, items: &[Vec<u8>]) -> Result<(), Error> {
        let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
        let operation = operation!(unnamed: &self.core.zk, RECIPE, "put_all", &self.core.layout.root);
        let put = operation.of(self.put_at(0, &items)).await;
        put.map_err(|error| error.at("put_all", &self.core.layout.root))
    }

    pub(crate) async fn put_at(&mut self, urgency: Urgency, items: &[&[u8]]) -> Result<(), Error> {
        let layout = &self.core.layout;
        validate(&self.core, items)?;
        self.core.has_numbers_for(&self.receipt, items.len()).await?;
        let prefix = layout.prefix(urgency);
        // Strict: the data version of the queue's znode counts puts, which takes check.
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
            // The counter is stuck, so a number was assigned twice.
            Err(Error { kind: ErrorKind::Multi { index, cause }, .. })
                if index >= before && *cause == ErrorKind::NodeExists =>
            {
                Err(ErrorKind::Exhausted(self.core.layout.root.clone()).into())
            }
            Ok(applied) => {
                // Of a put whose reply was lost the next one tells it.
                if let Some(number) = applied.last_created().and_then(|path| layout.number(path)) {
                    self.core.learns(number.saturating_add(1));
                }
                Ok(())
            }
            Err(e) => Err(e),
        }
    }
}

fn counts_puts(layout: &Layout) -> bool {
    layout.order == Some(Order::Strict)
}

/// Checks that the items fit into one request, all for the put and each for its delivery.
fn validate<Z: ZooKeeper>(core: &QueueCore<Z>, items: &[&[u8]]) -> Result<(), Error> {
    if items.is_empty() {
        return Err(ErrorKind::BadInput("there is nothing to put".into()).into());
    }
    let name = "queue-00000-0000000000";
    let room = core.room();
    let alone = items.iter().map(|data| core.bytes_of(name, data)).max().unwrap_or(0);
    let each = core.bytes_of_path(name) + path::OP_OVERHEAD_BYTES;
    let together: usize = items.iter().map(|data| data.len() + each).sum();
    if alone.max(together) > room {
        return Err(ErrorKind::BadInput(format!(
            "{} items make a request of {together} bytes: a server takes {room}",
            items.len()
        ))
        .into());
    }
    Ok(())
}

impl<Z: ZooKeeper> std::fmt::Debug for Producer<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer").field("queue", &self.core.layout.root).finish_non_exhaustive()
    }
}
