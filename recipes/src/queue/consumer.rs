//! Who takes: what it has in hand, and what its callers ask for.

use super::claimed::Claimed;
use super::gather::IfEmpty;
use super::layout::Layout;
use super::{Delivery, QueueCore};
use crate::observe::operation;
use crate::parts::receipt::Receipt;
use crate::parts::retry::bounded;
use crate::parts::select::first;
use crate::zk::{Error, ZooKeeper};
use futures_util::future::Either;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many items a consumer gets at a time; it hands them out one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefetch(pub usize);

/// An item of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What was put.
    pub data: Vec<u8>,
    /// The czxid of its znode: unlike its number it stays unique when the queue is deleted and recreated.
    pub czxid: i64,
}

/// One who takes items from a queue: [`take`](Self::take) and its like with [`Delivery::AtMostOnce`],
/// [`claim`](Self::claim) and its like with [`Delivery::AtLeastOnce`].
///
/// # Cancellation
///
/// When the future of a take is dropped, its items are still in the queue, or they are in this consumer's hands, and it
/// hands them out at its next call. A claim is given back. Whoever waited in the queue leaves it.
///
/// A future that is left unpolled holds up no other call on what this consumer has handed out: an item can be [done
/// with](Claimed::done) while a [`claim`](Self::claim) stands still. But with [`Idle::HerdFree`](super::Idle::HerdFree) an
/// idle consumer keeps its place in the queue: while its future is left unpolled, a put wakes it and nobody else, so other
/// idle consumers wait. Drop the future to leave the line, or use [`Idle::Textbook`](super::Idle::Textbook).
///
/// Dropping the consumer loses the items in its hands that were taken, see [`settle`](Self::settle) and
/// [`in_hand`](Self::in_hand); claims are given back.
///
/// # When the connection is lost
///
/// Reads are asked again. The same take is sent again; the consumer's receipt refuses it if it was applied before, and
/// then the items are its own.
///
/// # When the session is over
///
/// Items in hand are handed out still. What a take had under way may be lost with it; claims stand at their old place
/// in the queue again.
pub struct Consumer<Z: ZooKeeper> {
    pub(super) core: QueueCore<Z>,
    pub(super) receipt: Receipt<Z>,
    pub(super) prefetch: usize,
    /// What is left of the last list.
    pub(super) known: VecDeque<String>,
    /// The receipt that stood when that was listed.
    pub(super) stood: Arc<str>,
    /// The queue's version in that list.
    pub(super) version: i32,
    /// Taken and not handed out.
    pub(super) hand: VecDeque<Item>,
    /// Claimed and not handed out.
    pub(super) claims: VecDeque<Claimed<Z>>,
    /// What a take is about whose answer has not come.
    pub(super) under_way: Vec<Item>,
}

impl<Z: ZooKeeper> Consumer<Z> {
    pub(crate) fn new(core: QueueCore<Z>, Prefetch(prefetch): Prefetch) -> Result<Self, Error> {
        at_least_one(prefetch)?;
        Ok(Consumer {
            receipt: core.receipt(),
            core,
            prefetch,
            known: VecDeque::new(),
            stood: Arc::from(""),
            version: 0,
            hand: VecDeque::new(),
            claims: VecDeque::new(),
            under_way: Vec::new(),
        })
    }

    /// How many items were taken and not handed out yet.
    pub fn in_hand(&self) -> usize {
        self.hand.len()
    }

    /// Learns what a take came to whose future was dropped, and says how many items are in hand then. It takes nothing
    /// more: what a consumer that takes does last, so that no item is lost with it.
    ///
    /// # Errors
    ///
    /// [`is_session_over`](Error::is_session_over): it cannot be learned any more. [`is_denied`](Error::is_denied).
    pub async fn settle(&mut self) -> Result<usize, Error> {
        let (zk, path) = (self.core.zk.clone(), self.core.layout.root.clone());
        operation!(&zk, self.core.recipe(), "settle", &path).of(self.recovering()).await
    }

    async fn recovering(&mut self) -> Result<usize, Error> {
        self.recover().await?;
        Ok(self.hand.len())
    }

    /// Takes the next item, for good; waits until there is one.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): the queue is one of claims. [`is_session_over`](Error::is_session_over), and
    /// [`is_outcome_unknown`](Error::is_outcome_unknown) when another client deleted the receipt while a reply was lost:
    /// items may be gone with it. [`is_mismatch`](Error::is_mismatch), [`is_denied`](Error::is_denied); with
    /// [`Parents::MustExist`](crate::Parents::MustExist) also [`Error::NoNode`].
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

    /// Takes the next items, at most so many and at least one; waits until there is one.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take); [`is_bad_input`](Error::is_bad_input) also if `count` is zero.
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
    /// As [`take`](Self::take); also `ConnectionLoss` if the connection is lost while an item may have been taken: the
    /// next call hands it out then. [`is_retryable_refusal`](Error::is_retryable_refusal) when an overloaded server has refused
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
                return Err(Error::ConnectionLoss);
            }
        }
        Ok(self.hand.pop_front())
    }

    /// Claims the next item; waits until there is one.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take), for a queue of claims; but nothing is lost.
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

    /// Claims the next items, at most so many and at least one; waits until there is one.
    ///
    /// # Errors
    ///
    /// As [`claim`](Self::claim); [`is_bad_input`](Error::is_bad_input) also if `count` is zero.
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
    /// As [`claim`](Self::claim); [`is_retryable_refusal`](Error::is_retryable_refusal) when an overloaded server has refused
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
        Err(Error::BadInput(match delivery {
            Delivery::AtMostOnce => format!("items of {root} are claimed, not taken"),
            Delivery::AtLeastOnce => format!("items of {root} are taken, not claimed"),
        }))
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.core.layout
    }

    /// Claims end with their session.
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
        return Err(Error::BadInput("a consumer takes at least one item at a time".into()));
    }
    Ok(())
}

impl<Z: ZooKeeper> std::fmt::Debug for Consumer<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer").field("queue", &self.layout().root).finish_non_exhaustive()
    }
}
