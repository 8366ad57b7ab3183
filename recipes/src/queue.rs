//! A queue: producers put items, consumers take them in order, and no lost reply loses an item or doubles one.
//!
//! 1. *Put*: one transaction creates the items, all or none, with the producer's receipt in front.
//! 2. *List*, when the last list is used up: the items, sorted by number, without those that are claimed. What a stale
//!    list misses is younger.
//! 3. *Read* the first of them; who is gone is struck from the list.
//! 4. *Take*: one transaction deletes them, with the consumer's receipt in front: who was refused did not get them. Or
//!    *claim*: it makes a claim for each, and raises the item's version, which counts deliveries.
//! 5. *Done* with a claim: one transaction deletes item and claim. *Give back*: it deletes the claim alone.
//! 6. *Empty*: wait in the queue with other idle consumers; only the first watches the queue. Its place goes in the
//!    transaction of step 4, which wakes the next.
//!
//! After "Queues" of ZooKeeper's recipes page, with what the page leaves out: its items are ephemeral and die with their
//! producer, and whoever loses the answer to a delete does not know whether the item is his.

mod claimed;
mod consumer;
mod gather;
mod idle;
mod layout;
mod producer;

pub use claimed::Claimed;
pub use consumer::{Consumer, Item, Prefetch};
pub use producer::Producer;

pub(crate) use producer::Urgency;

use crate::parts::parents::Parents;
use crate::parts::receipt::Receipt;
use crate::parts::retry::connected;
use crate::zk::{Error, Op, ZooKeeper, path};
use layout::Layout;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The recipe's name in spans and metrics.
const RECIPE: &str = "queue";

/// Who loses when a consumer dies. All who use one queue must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Taking removes the item: one that was taken by a consumer that dies with it in hand is lost.
    AtMostOnce,
    /// Taking is claiming: the item goes when its consumer says that it is done. If the consumer's session ends before
    /// that, it is handed out again.
    AtLeastOnce,
}

/// How consumers wait while there is nothing to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Idle {
    /// In line: a put wakes the first, and the first wakes the next when it has got something.
    #[default]
    HerdFree,
    /// All watch the queue, as on ZooKeeper's recipes page: a put wakes everybody. Cheaper for a single consumer.
    Textbook,
}

/// In which order the more urgent goes first. All who use one queue must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// No item is taken while a more urgent one stood in the list that was read during this call.
    Fresh,
    /// When an item is taken, no more urgent one exists. Under a flood of puts takers may have to try for long.
    Strict,
}

/// Options of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// Who loses when a consumer dies.
    pub delivery: Delivery,
    /// How consumers wait.
    pub idle: Idle,
    /// How a missing directory is created.
    pub parents: Parents,
}

/// A queue on a directory: first in, first out.
///
/// # Promises
///
/// * *One put, one item*, whatever replies are lost, while the producer's session lives.
/// * *Items stay*: an acknowledged item survives its producer and its consumers.
/// * *Order*: items go in the order of their numbers; with claims, they are first handed out in it.
/// * *[`Delivery::AtMostOnce`]*: an item is handed to one taker; it is lost only with a consumer that dies, or is
///   dropped, with it in hand.
/// * *[`Delivery::AtLeastOnce`]*: no item is lost; it is handed out again only after its consumer's session has ended or
///   it was given back; that it is done with takes effect exactly once, together with further writes if wished.
/// * *No thundering herd* ([`Idle::HerdFree`]): a put wakes one idle consumer.
///
/// Not promised: fairness among consumers; order among items in hand; a queue longer than one answer can list (about
/// 50,000 items).
///
/// # Cost
///
/// A put: one request, whatever the number of items. A take: a list now and then, one read and one write, whatever the
/// number of items. The first call of each producer or consumer makes its receipt and looks how the queue is set up: two
/// requests in one round trip.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Delivery, Idle, Parents, Prefetch, Queue, QueueOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let options = QueueOptions {
///     delivery: Delivery::AtMostOnce,
///     idle: Idle::HerdFree,
///     parents: Parents::Container,
/// };
/// let queue = Queue::new(&zk, "/queues/letters", options)?;
/// let mut producer = queue.producer();
/// producer.put(b"first").await?;
/// producer.put_all(&[b"second".to_vec(), b"third".to_vec()]).await?;
///
/// let mut consumer = queue.consumer(Prefetch(8))?;
/// assert_eq!(consumer.take().await?.data, b"first");
/// assert_eq!(consumer.take_up_to(100).await?.len(), 2);
/// assert!(consumer.try_take().await?.is_none());
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Queue<Z: ZooKeeper> {
    core: QueueCore<Z>,
}

impl<Z: ZooKeeper> Queue<Z> {
    /// The queue on `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules.
    pub fn new(zk: &Z, directory: &str, options: QueueOptions) -> Result<Self, Error> {
        let QueueOptions { delivery, idle, parents } = options;
        let root = directory.to_owned();
        Ok(Queue { core: QueueCore::new(zk, Layout { root, parents, order: None, delivery }, idle)? })
    }

    /// One who puts. Sends nothing.
    pub fn producer(&self) -> Producer<Z> {
        Producer::new(self.core.clone())
    }

    /// One who takes, so many items at a time. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): `Prefetch(0)`.
    pub fn consumer(&self, prefetch: Prefetch) -> Result<Consumer<Z>, Error> {
        Consumer::new(self.core.clone(), prefetch)
    }
}

/// What all handles of a queue have in common.
#[derive(Clone, Debug)]
pub(crate) struct QueueCore<Z: ZooKeeper> {
    zk: Z,
    layout: Layout,
    idle: Idle,
    /// Whether another client has looked how the queue is set up.
    is_checked: Arc<AtomicBool>,
}

/// How long the longest name of an item is, and of what stands below it.
const LONGEST_NAME: &str = "receipts/0123456789abcdef0123456789abcdef-taker-0000000000";

/// What an operation costs in a transaction, beside its paths and data, in bytes.
const OP_OVERHEAD_BYTES: usize = 64;

/// What a transaction costs that a put or a take does not choose: the receipt, a place in the queue, the mode.
const FIXED_BYTES: usize = 1024;

impl<Z: ZooKeeper> QueueCore<Z> {
    pub(crate) fn with_order(
        zk: &Z,
        directory: &str,
        order: Order,
        delivery: Delivery,
        idle: Idle,
        parents: Parents,
    ) -> Result<Self, Error> {
        QueueCore::new(zk, Layout { root: directory.to_owned(), parents, order: Some(order), delivery }, idle)
    }

    fn new(zk: &Z, layout: Layout, idle: Idle) -> Result<Self, Error> {
        path::validate_directory(&layout.root)?;
        path::validate_size(&layout.item(LONGEST_NAME), &[])?;
        Ok(QueueCore { zk: zk.clone(), layout, idle, is_checked: Arc::default() })
    }

    /// The recipe's name in spans and metrics.
    fn recipe(&self) -> &'static str {
        match self.layout.order {
            None => RECIPE,
            Some(_) => "priority_queue",
        }
    }

    fn receipt(&self) -> Receipt<Z> {
        Receipt::new(&self.zk, self.layout.receipts())
    }

    /// How many bytes of a transaction's room the handing out of an item takes, if not its whole.
    fn bytes_of(&self, name: &str, data: &[u8]) -> usize {
        let item = self.layout.root.len() + name.len() + OP_OVERHEAD_BYTES;
        match self.layout.delivery {
            Delivery::AtMostOnce => item,
            // A claim beside the item, and the item's data written again.
            Delivery::AtLeastOnce => 2 * item + "/claims".len() + 32 + data.len(),
        }
    }

    /// How many bytes a transaction has room for.
    fn room(&self) -> usize {
        path::MAX_REQUEST_BYTES - FIXED_BYTES - 4 * self.layout.root.len()
    }

    /// Before the first write: the receipt is made, and the queue is looked at, pipelined.
    async fn ready(&self, receipt: &Receipt<Z>) -> Result<(), Error> {
        if !self.is_checked.load(Ordering::Relaxed) {
            connected(&self.zk).await?;
            let (made, checked) =
                futures_util::future::join(receipt.make(), self.layout.check(&self.zk)).await;
            match checked.and(made) {
                Err(Error::NoNode) => self.make().await?,
                done => done?,
            }
            self.is_checked.store(true, Ordering::Relaxed);
        }
        loop {
            match receipt.make().await {
                Err(Error::NoNode) => self.make().await?,
                made => return made,
            }
        }
    }

    /// A directory is missing: all that is missing is made.
    async fn make(&self) -> Result<(), Error> {
        self.layout.make(&self.zk).await
    }

    /// A transaction with the receipt in front, once.
    async fn write(&self, receipt: &Receipt<Z>, ops: &[Op]) -> Result<(), Error> {
        loop {
            self.ready(receipt).await?;
            match receipt.write(ops).await {
                // Everything was deleted in between.
                Err(Error::NoNode) => self.make().await?,
                written => return written,
            }
        }
    }
}
