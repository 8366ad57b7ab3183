//! The calls of a worker, of which a mutant replaces one.

use crate::prelude::*;
use zk_recipes::zk::Op;
use zk_recipes::{Claimed, Consumer, Priority, PriorityProducer, Producer};

/// A call that goes on. Nothing is sent before it is polled.
pub(super) type Pending<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// A producer of either queue.
pub(super) enum Puts<Z: ZooKeeper> {
    /// First in, first out.
    InTurn(Producer<Z>),
    /// By priority.
    ByPriority(PriorityProducer<Z>),
}

impl<Z: ZooKeeper> Puts<Z> {
    /// Puts items, all or none; a single item by the call for one.
    pub(super) async fn put(&mut self, priority: u16, items: &[Vec<u8>]) -> Result<(), Error> {
        match (self, items) {
            (Puts::InTurn(producer), [item]) => Producer::put(producer, item).await,
            (Puts::InTurn(producer), items) => producer.put_all(items).await,
            (Puts::ByPriority(producer), [item]) => {
                PriorityProducer::put(producer, Priority(priority), item).await
            }
            (Puts::ByPriority(producer), items) => producer.put_all(Priority(priority), items).await,
        }
    }
}

/// The calls. Each method has the right one as default.
pub(super) trait Calls<Z: ZooKeeper>: Send + Sync {
    /// Puts items, all or none.
    fn put<'a>(&'a self, puts: &'a mut Puts<Z>, priority: u16, items: &'a [Vec<u8>]) -> Pending<'a, ()> {
        puts.put(priority, items).boxed()
    }

    /// Claims an item if there is one.
    fn try_claim<'a>(&'a self, consumer: &'a mut Consumer<Z>) -> Pending<'a, Option<Claimed<Z>>> {
        consumer.try_claim().boxed()
    }

    /// Claims at most so many items, and waits for the first one.
    fn claim_up_to<'a>(
        &'a self,
        consumer: &'a mut Consumer<Z>,
        count: usize,
    ) -> Pending<'a, Vec<Claimed<Z>>> {
        consumer.claim_up_to(count).boxed()
    }

    /// How often the item of a claim was delivered.
    fn attempts(&self, claim: &Claimed<Z>) -> u32 {
        claim.attempts()
    }

    /// Confirms the items of a batch, together with further writes.
    fn confirm(&self, _: &Z, mut claims: Vec<Claimed<Z>>, writes: Vec<Op>) -> Pending<'static, ()> {
        match claims.pop() {
            Some(claim) if claims.is_empty() => claim.done_with(writes).boxed(),
            last => Claimed::done_all(claims.into_iter().chain(last).collect(), writes).boxed(),
        }
    }
}

/// The right calls.
pub(super) struct Right;

impl<Z: ZooKeeper> Calls<Z> for Right {}
