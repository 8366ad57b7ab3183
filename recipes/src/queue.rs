//! A distributed queue: producers put items, consumers take them in order, and a lost reply neither loses nor
//! duplicates one.
//!
//! 1. *Put*: one transaction creates the items, all or none, with the producer's receipt in front.
//! 2. *List*, when the last list is used up: the unclaimed items, sorted by number. A stale list misses only younger
//!    ones.
//! 3. *Read* the first of them, a few ahead; an item that is gone is dropped from the list.
//! 4. *Take*: one transaction deletes them, in the versions that were read, with the consumer's receipt in front. Or
//!    *claim*: it creates a claim for each, and raises the item's version, which counts deliveries. A refused consumer
//!    gets none of them, and waits its turn as in step 6 before it tries again.
//! 5. *Done*: one transaction deletes item and claim. *Give back*: it deletes the claim alone.
//! 6. *Empty*: join the idle consumers, of which only the first watches the queue. The transaction of step 4 also
//!    deletes its znode, which wakes the next.
//!
//! After "Queues" of ZooKeeper's recipes page, where items are ephemeral and die with their producer, and a consumer
//! that loses the reply to a delete does not know whether it got the item.

mod ahead;
mod claimed;
mod consumer;
mod gather;
mod idle;
mod layout;
mod producer;
mod spread;

pub use claimed::Claimed;
pub use consumer::{Consumer, ConsumerOptions, Item};
pub use producer::Producer;

pub(crate) use producer::Urgency;

use crate::parts::parents::Parents;
use crate::parts::receipt::{Applied, Receipt};
use crate::parts::setters::setters;
use crate::zk::{Error, ErrorKind, Op, ZooKeeper, path};
use layout::Layout;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const RECIPE: &str = "queue";

/// The delivery guarantee when a consumer dies. All clients of a queue must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Taking deletes the item: a consumer that dies with it in hand loses it.
    AtMostOnce,
    /// Taking claims the item until its consumer is done with it. If the consumer's session ends before that, the item
    /// is delivered again.
    AtLeastOnce,
}

/// How consumers wait while the queue is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Idle {
    /// One after the other: a put wakes the first, and the first wakes the next when it has got an item.
    #[default]
    HerdFree,
    /// All watch the queue, as on ZooKeeper's recipes page: a put wakes all (thundering herd). Cheaper for a single
    /// consumer.
    Textbook,
}

/// The strictness of priorities. All clients of a queue must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// No item is taken while the list that was read during this call has a more urgent one.
    Fresh,
    /// When an item is taken, no more urgent one exists. Many concurrent puts may starve consumers.
    Strict,
}

/// Options of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueOptions {
    /// The delivery guarantee when a consumer dies.
    pub delivery: Delivery,
    /// How consumers wait.
    pub idle: Idle,
    /// How a missing directory is created.
    pub parents: Parents,
}

impl QueueOptions {
    /// `delivery` as given, [`Idle::HerdFree`], [`Parents::Container`].
    pub const fn new(delivery: Delivery) -> Self {
        QueueOptions { delivery, idle: Idle::HerdFree, parents: Parents::Container }
    }
}

setters!(QueueOptions {
    with_idle(idle: Idle),
    with_parents(parents: Parents),
});

/// A queue on a directory: first in, first out.
///
/// # Promises
///
/// * *One put, one item*, regardless of lost replies, while the producer's session lives.
/// * *Durability*: an acknowledged item survives its producer and its consumers.
/// * *Order*: items are delivered in the order of their numbers; with claims, first deliveries are. A
///   [relaxed consumer](ConsumerOptions::window) passes over fewer items than its window has.
/// * *[`Delivery::AtMostOnce`]*: an item is delivered to one consumer; it is lost only with a consumer that dies, or is
///   dropped, with it in hand.
/// * *[`Delivery::AtLeastOnce`]*: no item is lost; it is delivered again only after its consumer's session has ended or
///   it was given back. Done takes effect exactly once, together with further writes if wished.
/// * *No thundering herd* ([`Idle::HerdFree`]): a put wakes one idle consumer.
/// * *No name twice*: a put that would make more than 2,130,706,431 items of the directory is refused as
///   [`Error::is_exhausted`]. That is 16,777,216 before the end of ZooKeeper's counter, from which on a server assigns
///   the last name again whenever it is free.
///
/// Not promised: fairness among consumers; order among items in hand; a queue longer than one reply can list. A list
/// has 20 bytes for each item: `zk-client` reads replies of up to 64 MiB by default (`Options::max_reply_bytes`), other
/// clients may refuse more than 1 MB.
///
/// # Cost
///
/// A put: one request for any number of items. A take: one write for any number of items, and a read and a list now and
/// then: a read is of up to 16 small items ahead. Of consumers that keep to the order only one at a time gets on;
/// beside it the others wait their turn. A long queue is listed at the beginning and when the list is used up; in
/// between a consumer learns from reads what others have taken. The first call of each producer or consumer creates its
/// receipt and checks the queue's mode: two requests in one round trip.
///
/// # Examples
///
/// ```
/// use zk_recipes::{ConsumerOptions, Delivery, Queue, QueueOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let options = QueueOptions::new(Delivery::AtMostOnce);
/// let queue = Queue::new(&zk, "/queues/letters", options)?;
/// let mut producer = queue.producer();
/// producer.put(b"first").await?;
/// producer.put_all(&[b"second".to_vec(), b"third".to_vec()]).await?;
///
/// let mut consumer = queue.consumer_with(ConsumerOptions::default().with_prefetch(8))?;
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
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules.
    pub fn new(zk: &Z, directory: &str, options: QueueOptions) -> Result<Self, Error> {
        let QueueOptions { delivery, idle, parents } = options;
        let root = directory.to_owned();
        Ok(Queue { core: QueueCore::new(zk, Layout { root, parents, order: None, delivery }, idle)? })
    }

    /// Returns a producer. Sends nothing.
    pub fn producer(&self) -> Producer<Z> {
        Producer::new(self.core.clone())
    }

    /// Returns a consumer that takes one item at a time, in order. Sends nothing.
    pub fn consumer(&self) -> Consumer<Z> {
        Consumer::new(self.core.clone())
    }

    /// Returns a consumer with options. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: a prefetch or a window of 0.
    pub fn consumer_with(&self, options: ConsumerOptions) -> Result<Consumer<Z>, Error> {
        self.consumer().with(options)
    }
}

/// The state that producers and consumers of a queue share.
#[derive(Clone, Debug)]
pub(crate) struct QueueCore<Z: ZooKeeper> {
    zk: Z,
    layout: Layout,
    idle: Idle,
    /// Whether the queue's mode was checked.
    is_checked: Arc<AtomicBool>,
    /// The next number of the directory, as far as this handle knows. It may be greater by now.
    next_number: Arc<AtomicU32>,
}

/// The number from which on no item is put, 16,777,216 numbers before the end. A handle learns the next number by its
/// own puts alone: the distance is for those of others since.
const LAST_NUMBER: u32 = i32::MAX as u32 - (1 << 24);

/// The longest path below the queue.
const LONGEST_NAME: &str = "receipts/0123456789abcdef0123456789abcdef-taker-0000000000";

/// The slash between a directory and a name.
const SLASH_BYTES: usize = 1;

/// The operations of the fixed part of a transaction: the receipt, the own contender, the guard, and one to spare.
const FIXED_PATHS: usize = 4;

/// The bytes of that part without the queue's path.
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
        path::validate_size(zk.max_request_bytes(), &layout.item(LONGEST_NAME), &[])?;
        let (is_checked, next_number) = Default::default();
        Ok(QueueCore { zk: zk.clone(), layout, idle, is_checked, next_number })
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

    /// The size in a transaction of delivering an item.
    fn bytes_of(&self, name: &str, data: &[u8]) -> usize {
        let item = self.bytes_of_path(name) + path::OP_OVERHEAD_BYTES;
        match self.layout.delivery {
            Delivery::AtMostOnce => item,
            // The claim, and the item's data written again.
            Delivery::AtLeastOnce => 2 * item + "/claims".len() + 32 + data.len(),
        }
    }

    /// The size in a request of the path of an item.
    fn bytes_of_path(&self, name: &str) -> usize {
        self.zk.added_bytes() + self.layout.root.len() + SLASH_BYTES + name.len()
    }

    /// The size of a transaction without its fixed part.
    fn room(&self) -> usize {
        self.zk.max_request_bytes().saturating_sub(FIXED_BYTES + FIXED_PATHS * self.bytes_of_path(""))
    }

    /// Before the first write: creates the receipt and checks the queue's mode, pipelined.
    async fn ready(&self, receipt: &Receipt<Z>) -> Result<(), Error> {
        if !self.is_checked.load(Ordering::Relaxed) {
            let (made, checked) =
                futures_util::future::join(receipt.make(), self.layout.check(&self.zk)).await;
            match checked.and_then(|next| made.map(|()| next)) {
                Err(e) if e.is_no_node() => self.make().await?,
                checked => self.learns(checked?),
            }
            self.is_checked.store(true, Ordering::Relaxed);
        }
        loop {
            match receipt.make().await {
                Err(e) if e.is_no_node() => self.make().await?,
                made => return made,
            }
        }
    }

    /// Creates all missing directories.
    async fn make(&self) -> Result<(), Error> {
        self.learns(self.layout.make(&self.zk).await?);
        Ok(())
    }

    /// Notes the next number. It may be smaller than before: the queue was made anew.
    fn learns(&self, next: u32) {
        self.next_number.store(next, Ordering::Relaxed);
    }

    /// Refuses to put so many items at the end of the numbers. Of a queue that was made anew it learns that by a read.
    async fn has_numbers_for(&self, receipt: &Receipt<Z>, items: usize) -> Result<(), Error> {
        self.ready(receipt).await?;
        let is_enough = || {
            let next = self.next_number.load(Ordering::Relaxed);
            u32::try_from(items).is_ok_and(|items| next.saturating_add(items) <= LAST_NUMBER)
        };
        if !is_enough() {
            match self.layout.check(&self.zk).await {
                Err(e) if e.is_no_node() => self.make().await?,
                checked => self.learns(checked?),
            }
        }
        if is_enough() { Ok(()) } else { Err(ErrorKind::Exhausted(self.layout.root.clone()).into()) }
    }

    /// Writes a transaction exactly once, with the receipt in front.
    async fn write(&self, receipt: &Receipt<Z>, ops: &[Op]) -> Result<Applied, Error> {
        loop {
            match receipt.write(ops).await {
                // The whole queue was deleted in between.
                Err(e) if e.is_no_node() => self.make().await?,
                written => return written,
            }
        }
    }
}
