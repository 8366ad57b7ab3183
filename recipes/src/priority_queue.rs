//! A queue that delivers by priority.
//!
//! 1. *Put*: as in a [queue](crate::queue), with the priority in front of the number, in a fixed width.
//! 2. *Take, claim*: as in a queue, with a new list for every call, of which the most urgent items go first. A watch cannot
//!    keep a list current, since it notifies afterwards.
//! 3. With [`Order::Strict`] every put also raises the version of the queue's znode, and the transaction that takes checks
//!    the version of its list: after a put in between it lists again.
//!
//! After "Priority Queues" of ZooKeeper's recipes page, which sorts names as texts, so that `queue-5` comes behind
//! `queue-10`, and drops its list when a watch fires.

use crate::observe::operation;
use crate::parts::naming::Priority;
use crate::parts::parents::Parents;
use crate::parts::setters::setters;
use crate::queue::{Consumer, Delivery, Idle, Order, Producer, QueueCore, Urgency};
use crate::zk::{Error, ZooKeeper};

const RECIPE: &str = "priority_queue";

/// Options of a priority queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriorityQueueOptions {
    /// The strictness of priorities.
    pub order: Order,
    /// The delivery guarantee when a consumer dies.
    pub delivery: Delivery,
    /// How consumers wait.
    pub idle: Idle,
    /// How a missing directory is created.
    pub parents: Parents,
}

impl PriorityQueueOptions {
    /// `order` and `delivery` as given, [`Idle::HerdFree`], [`Parents::Container`].
    pub const fn new(order: Order, delivery: Delivery) -> Self {
        PriorityQueueOptions { order, delivery, idle: Idle::HerdFree, parents: Parents::Container }
    }
}

setters!(PriorityQueueOptions {
    with_idle(idle: Idle),
    with_parents(parents: Parents),
});

/// A priority queue on a directory: the more urgent goes first, and equally urgent items in the order of their puts.
///
/// # Promises
///
/// As [`Queue`](crate::Queue), except for the order, which [`Order`] describes. With [`Delivery::AtLeastOnce`] claimed
/// items do not count.
///
/// Not promised: with [`Order::Fresh`], that no more urgent item comes between list and take; with [`Order::Strict`],
/// progress of consumers during many concurrent puts.
///
/// # Cost
///
/// A put: one request. A take: three in turn, for any number of items.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Delivery, Idle, Order, Parents, Priority, PriorityQueue, PriorityQueueOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let options = PriorityQueueOptions::new(Order::Fresh, Delivery::AtLeastOnce).with_idle(Idle::HerdFree);
/// let jobs = PriorityQueue::new(&zk, "/jobs", options)?;
/// let mut producer = jobs.producer();
/// producer.put(Priority(10), b"later").await?;
/// producer.put(Priority(5), b"soon").await?;
///
/// let claimed = jobs.consumer().claim().await?;
/// assert_eq!((claimed.item().data.as_slice(), claimed.attempts()), (&b"soon"[..], 1));
/// claimed.done().await?;
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct PriorityQueue<Z: ZooKeeper> {
    core: QueueCore<Z>,
}

impl<Z: ZooKeeper> PriorityQueue<Z> {
    /// The queue on `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules.
    pub fn new(zk: &Z, directory: &str, options: PriorityQueueOptions) -> Result<Self, Error> {
        let PriorityQueueOptions { order, delivery, idle, parents } = options;
        Ok(PriorityQueue { core: QueueCore::with_order(zk, directory, order, delivery, idle, parents)? })
    }

    /// Returns a producer. Sends nothing.
    pub fn producer(&self) -> PriorityProducer<Z> {
        PriorityProducer { inner: Producer::new(self.core.clone()) }
    }

    /// Returns a consumer. Sends nothing. It prefetches nothing, since a more urgent item may come.
    pub fn consumer(&self) -> Consumer<Z> {
        Consumer::new(self.core.clone())
    }
}

/// A producer of a priority queue: a [`Producer`] with priorities.
#[derive(Debug)]
pub struct PriorityProducer<Z: ZooKeeper> {
    inner: Producer<Z>,
}

impl<Z: ZooKeeper> PriorityProducer<Z> {
    /// Puts an item behind those of equal priority.
    ///
    /// # Cancellation
    ///
    /// As [`Producer`].
    ///
    /// # Errors
    ///
    /// As [`Producer::put_all`].
    pub async fn put(&mut self, Priority(urgency): Priority, data: &[u8]) -> Result<(), Error> {
        let operation = operation!(unnamed: self.inner.zk(), RECIPE, "put", self.inner.path());
        let put = operation.of(self.inner.put_at(urgency, &[data])).await;
        put.map_err(|error| error.at("put", self.inner.path()))
    }

    /// Puts items of one priority, all or none, in this order, consecutively.
    ///
    /// # Cancellation
    ///
    /// As [`Producer`].
    ///
    /// # Errors
    ///
    /// As [`Producer::put_all`].
    pub async fn put_all(&mut self, Priority(urgency): Priority, items: &[Vec<u8>]) -> Result<(), Error> {
        let urgency: Urgency = urgency;
        let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
        let operation = operation!(unnamed: self.inner.zk(), RECIPE, "put_all", self.inner.path());
        let put = operation.of(self.inner.put_at(urgency, &items)).await;
        put.map_err(|error| error.at("put_all", self.inner.path()))
    }
}
