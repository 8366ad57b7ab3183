//! Consumers: their items in hand, and the calls that ask for more.

use super::ahead::ReadAhead;
use super::claimed::Claimed;
use super::layout::Layout;
use super::spread::Spread;
use super::{Delivery, QueueCore};
use crate::observe::operation;
use crate::parts::receipt::Receipt;
use crate::parts::retry::bounded;
use crate::parts::select::first;
use crate::parts::setters::setters;
use crate::zk::{Data, Error, ErrorKind, ZooKeeper};
use futures_util::future::Either;
use std::collections::VecDeque;
use std::sync::Arc;

/// Options of a consumer. By default it fetches one item at a time, and keeps to the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsumerOptions {
    /// The number of items that the consumer fetches at a time; it returns them one by one.
    pub prefetch: usize,
    /// The number of items at the head of the queue from which a relaxed consumer takes; `None`: in order.
    ///
    /// A relaxed consumer is for a queue with many consumers: it departs from the order by less than the window, and seldom
    /// contends with others for the same item. It takes all items in order until another consumer is faster. From then on it
    /// takes a share of the window of each list. The greater the window, the fewer lists; 64 items for each consumer
    /// are a good start. Consumers that keep to the order may share the queue with it.
    pub window: Option<usize>,
}

impl Default for ConsumerOptions {
    /// One item at a time, in order.
    fn default() -> Self {
        ConsumerOptions { prefetch: 1, window: None }
    }
}

setters!(ConsumerOptions {
    with_prefetch(prefetch: usize),
    with_window(window: Option<usize>, into),
});

/// An item of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The data of the put.
    pub data: Vec<u8>,
    /// The czxid of its znode, which stays unique when the queue is deleted and recreated, unlike the number.
    pub czxid: i64,
}

/// The behaviour of a call on an empty queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfEmpty {
    Waits,
    GivesUp,
}

/// An item that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) name: String,
    pub(super) data: Data,
}

impl From<Read> for Item {
    fn from(Read { data: Data { data, stat }, .. }: Read) -> Item {
        Item { data, czxid: stat.czxid }
    }
}

/// A consumer of a queue: [`take`](Self::take) and its variants with [`Delivery::AtMostOnce`], [`claim`](Self::claim) and
/// its variants with [`Delivery::AtLeastOnce`].
///
/// # Cancellation
///
/// When the future of a take is dropped, its items are still in the queue, or in this consumer's hands, and the next call
/// returns them. A claim is given back. An idle consumer leaves the queue of waiters.
///
/// An unpolled future blocks no other call on items that this consumer has returned: a claim can be [done](Claimed::done)
/// meanwhile. But with [`Idle::HerdFree`](super::Idle::HerdFree) an idle consumer keeps its place among the waiters: while
/// its future is unpolled a put wakes only it, and the others wait. Drop the future to leave, or use
/// [`Idle::Textbook`](super::Idle::Textbook).
///
/// Dropping the consumer loses taken items in hand, see [`settle`](Self::settle) and [`in_hand`](Self::in_hand); claims are
/// given back.
///
/// # When the connection is lost
///
/// Reads are retried. A take is retried, too: the consumer's receipt refuses it if it was applied before, and then the
/// items are in hand.
///
/// # When the session is over
///
/// Items in hand are still returned. Items of a take in flight may be lost; claimed items return to the queue.
pub struct Consumer<Z: ZooKeeper> {
    pub(super) core: QueueCore<Z>,
    pub(super) receipt: Receipt<Z>,
    pub(super) prefetch: usize,
    /// The rest of the last list.
    pub(super) known: VecDeque<String>,
    /// Whether that list serves for one more share: what others have taken of it meanwhile shows when it is read.
    pub(super) is_fresh: bool,
    /// The shares of a relaxed consumer; `None` for one that takes all in order.
    pub(super) spread: Option<Spread>,
    /// Those of them that were read.
    pub(super) ahead: ReadAhead,
    /// The receipt at the time of the list.
    pub(super) stood: Arc<str>,
    /// The queue's version in that list.
    pub(super) version: i32,
    /// Taken and not returned yet.
    pub(super) hand: VecDeque<Item>,
    /// Claimed and not returned yet.
    pub(super) claims: VecDeque<Claimed<Z>>,
    /// The items of a take whose outcome is unknown.
    pub(super) under_way: Vec<Read>,
}

impl<Z: ZooKeeper> Consumer<Z> {
    /// A consumer of one item at a time, in order.
    pub(crate) fn new(core: QueueCore<Z>) -> Self {
        Consumer {
            receipt: core.receipt(),
            core,
            prefetch: 1,
            known: VecDeque::new(),
            is_fresh: false,
            spread: None,
            ahead: ReadAhead::default(),
            stood: Arc::from(""),
            version: 0,
            hand: VecDeque::new(),
            claims: VecDeque::new(),
            under_way: Vec::new(),
        }
    }

    /// The same consumer, which has done nothing yet, with options.
    pub(crate) fn with(self, ConsumerOptions { prefetch, window }: ConsumerOptions) -> Result<Self, Error> {
        at_least_one(prefetch)?;
        if window == Some(0) {
            return Err(ErrorKind::BadInput("a window has at least one item".into()).into());
        }
        Ok(Consumer { prefetch, spread: window.map(|window| Spread::new(window, prefetch)), ..self })
    }

    /// Returns how many items were taken and not returned yet.
    pub fn in_hand(&self) -> usize {
        self.hand.len()
    }

    /// Settles a take whose future was dropped, and returns how many items are in hand. Takes no more items: a last call
    /// before dropping the consumer, so that no item is lost.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`]: the outcome stays unknown. [`Error::is_denied`].
    pub async fn settle(&mut self) -> Result<usize, Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.root.clone());
        operation!(&zk, self.core.recipe(), "settle", &path).of(self.recovering()).await
    }

    async fn recovering(&mut self) -> Result<usize, Error> {
        self.recover().await?;
        Ok(self.hand.len())
    }

    /// Takes the next item; waits until there is one.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the queue delivers by claims. [`Error::is_session_over`], and [`Error::is_outcome_unknown`]
    /// when another client deleted the receipt while a reply was lost: items may be lost. [`Error::is_mismatch`],
    /// [`Error::is_denied`]; with [`Parents::MustExist`](crate::Parents::MustExist) also [`Error::is_no_node`].
    pub async fn take(&mut self) -> Result<Item, Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.root.clone());
        operation!(&zk, self.core.recipe(), "take", &path).of(self.taking()).await
    }

    async fn taking(&mut self) -> Result<Item, Error> {
        self.is_for(Delivery::AtMostOnce)?;
        loop {
            if let Some(item) = self.hand.pop_front() {
                return Ok(item);
            }
            self.gather(self.prefetch, IfEmpty::Waits).await?;
        }
    }

    /// Takes up to `count` next items, at least one; waits until there is one.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take); [`Error::is_bad_input`] also if `count` is zero.
    pub async fn take_up_to(&mut self, count: usize) -> Result<Vec<Item>, Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.root.clone());
        operation!(&zk, self.core.recipe(), "take_up_to", &path).of(self.taking_up_to(count)).await
    }

    async fn taking_up_to(&mut self, count: usize) -> Result<Vec<Item>, Error> {
        at_least_one(count)?;
        self.is_for(Delivery::AtMostOnce)?;
        while self.hand.is_empty() {
            self.gather(count, IfEmpty::Waits).await?;
        }
        Ok(self.hand.drain(..count.min(self.hand.len())).collect())
    }

    /// Takes the next item if there is one; `None` if there is none, or if the connection is lost before anything was
    /// taken.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take); also `ConnectionLoss` if the connection is lost while an item may have been taken: the next
    /// call returns it then. [`Error::is_retryable_refusal`] when an overloaded server has refused
    /// requests for a third of the session timeout: nothing was taken.
    pub async fn try_take(&mut self) -> Result<Option<Item>, Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.root.clone());
        operation!(&zk, self.core.recipe(), "try_take", &path).attempt(self.taking_at_once()).await
    }

    async fn taking_at_once(&mut self) -> Result<Option<Item>, Error> {
        self.is_for(Delivery::AtMostOnce)?;
        if self.hand.is_empty() {
            self.gather_at_once().await?;
            if self.hand.is_empty() && !self.under_way.is_empty() {
                return Err(ErrorKind::ConnectionLoss.into());
            }
        }
        Ok(self.hand.pop_front())
    }

    /// Claims the next item; waits until there is one.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take), for a queue that delivers by claims; no item is lost.
    pub async fn claim(&mut self) -> Result<Claimed<Z>, Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.root.clone());
        operation!(&zk, self.core.recipe(), "claim", &path).of(self.claiming()).await
    }

    async fn claiming(&mut self) -> Result<Claimed<Z>, Error> {
        self.is_for(Delivery::AtLeastOnce)?;
        loop {
            self.lose_old_claims()?;
            if let Some(claim) = self.claims.pop_front() {
                return Ok(claim);
            }
            self.gather(self.prefetch, IfEmpty::Waits).await?;
        }
    }

    /// Claims up to `count` next items, at least one; waits until there is one.
    ///
    /// # Errors
    ///
    /// As [`claim`](Self::claim); [`Error::is_bad_input`] also if `count` is zero.
    pub async fn claim_up_to(&mut self, count: usize) -> Result<Vec<Claimed<Z>>, Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.root.clone());
        operation!(&zk, self.core.recipe(), "claim_up_to", &path).of(self.claiming_up_to(count)).await
    }

    async fn claiming_up_to(&mut self, count: usize) -> Result<Vec<Claimed<Z>>, Error> {
        at_least_one(count)?;
        self.is_for(Delivery::AtLeastOnce)?;
        self.lose_old_claims()?;
        while self.claims.is_empty() {
            self.gather(count, IfEmpty::Waits).await?;
        }
        Ok(self.claims.drain(..count.min(self.claims.len())).collect())
    }

    /// Claims the next item if there is one; `None` if there is none, or if the connection is lost.
    ///
    /// # Errors
    ///
    /// As [`claim`](Self::claim); [`Error::is_retryable_refusal`] when an overloaded server has refused
    /// requests for a third of the session timeout: nothing was claimed.
    pub async fn try_claim(&mut self) -> Result<Option<Claimed<Z>>, Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.root.clone());
        operation!(&zk, self.core.recipe(), "try_claim", &path).attempt(self.claiming_at_once()).await
    }

    async fn claiming_at_once(&mut self) -> Result<Option<Claimed<Z>>, Error> {
        self.is_for(Delivery::AtLeastOnce)?;
        self.lose_old_claims()?;
        if self.claims.is_empty() {
            self.gather_at_once().await?;
        }
        Ok(self.claims.pop_front())
    }

    fn is_for(&self, delivery: Delivery) -> Result<(), Error> {
        if self.layout().delivery == delivery {
            return Ok(());
        }
        let root = &self.layout().root;
        Err(ErrorKind::BadInput(match delivery {
            Delivery::AtMostOnce => format!("items of {root} are claimed, not taken"),
            Delivery::AtLeastOnce => format!("items of {root} are taken, not claimed"),
        })
        .into())
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.core.layout
    }

    /// Drops claims whose session has ended.
    fn lose_old_claims(&mut self) -> Result<(), Error> {
        match self.core.zk.status().over() {
            Some(over) => {
                self.claims.clear();
                Err(over)
            }
            None => Ok(()),
        }
    }

    async fn gather_at_once(&mut self) -> Result<(), Error> {
        let zk = self.core.zk.clone();
        let before = zk.status();
        if before.is_connected()
            && let Either::Left(result) =
                first(bounded(self.gather(self.prefetch, IfEmpty::GivesUp)), zk.changed(before)).await
        {
            return result;
        }
        zk.status().over().map_or(Ok(()), Err)
    }
}

fn at_least_one(count: usize) -> Result<(), Error> {
    if count == 0 {
        return Err(ErrorKind::BadInput("a consumer takes at least one item at a time".into()).into());
    }
    Ok(())
}

impl<Z: ZooKeeper> std::fmt::Debug for Consumer<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer").field("queue", &self.layout().root).finish_non_exhaustive()
    }
}
