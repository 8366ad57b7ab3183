//! The words of queues.

use super::workload as queue;
use super::workload::{Puts, QUEUES, Way};
use crate::prelude::*;
use futures_util::lock::Mutex;
use sim_zk::SimClient;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use zk_harness::stage;
use zk_recipes::{Claimed, Consumer, Item, Producer};

/// The queue whose items are taken at most once.
pub const ONCE: ObjectId = ObjectId(0);

/// The queue whose items are claimed.
pub const CLAIMS: ObjectId = ObjectId(1);

/// The setting of a story.
pub(crate) const SETTING: Setting =
    Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED };

/// The queues.
pub fn objects(names: &mut Names) -> Vec<Object> {
    queue::objects(names, &SETTING)
}

fn way(object: ObjectId) -> &'static Way {
    &QUEUES[usize::from(object.0)]
}

impl Actor {
    /// A producer of a queue.
    pub fn producer(&self, object: ObjectId) -> Putting<Producer<SimClient>> {
        let puts = queue::right(self.zk(), way(object)).producer();
        Putting { actor: self.clone(), object, puts: Arc::new(Mutex::new(puts)) }
    }

    /// A consumer of a queue that takes one item at a time.
    pub fn consumer(&self, object: ObjectId) -> Getting {
        let gets = queue::right(self.zk(), way(object)).consumer();
        Getting { actor: self.clone(), object, gets: Arc::new(Mutex::new(gets)) }
    }
}

/// A client that puts items.
pub struct Putting<P> {
    pub(crate) actor: Actor,
    pub(crate) object: ObjectId,
    pub(crate) puts: Arc<Mutex<P>>,
}

impl<P: Puts + 'static> Putting<P> {
    /// Puts an item.
    pub async fn puts(&self, item: &'static str) {
        self.puts_at(0, item).await;
    }

    /// Puts an item of that priority.
    ///
    /// # Panics
    ///
    /// If the put fails.
    pub async fn puts_at(&self, priority: u16, item: &'static str) {
        let (me, puts) = (self.actor.number(), self.puts.clone());
        let given = move |journal: &mut Journal, at, op| {
            journal.given(at, me, op, item, u64::from(priority));
        };
        let put = move |_| async move { puts.lock().await.put(priority, &[item.into()]).await };
        let call = Call::new(self.object, Verb::Put);
        let put = self.actor.does_and_then(call, given, put, |_, _, ()| ()).await;
        put.done().expect("it is put");
    }
}

/// A client that takes or claims items.
pub struct Getting {
    pub(crate) actor: Actor,
    pub(crate) object: ObjectId,
    pub(crate) gets: Arc<Mutex<Consumer<SimClient>>>,
}

impl Getting {
    /// Begins to wait for an item.
    pub fn waits(&self) -> impl Future<Output = Option<String>> + Send + use<> {
        let (object, gets) = (self.object, self.gets.clone());
        let take = move |_| async move { gets.lock().await.take().await };
        let taking = self.actor.does_and_then(
            Call::new(object, Verb::Take),
            nothing,
            take,
            move |actor, op, item: Item| observes(actor, op, object, &item),
        );
        async move { taking.await.done() }
    }

    /// Takes an item.
    ///
    /// # Panics
    ///
    /// If it gets none.
    pub async fn takes(&self) -> String {
        self.waits().await.expect("there is an item")
    }

    /// Begins to wait for an item to claim.
    pub fn asks(&self) -> impl Future<Output = Option<Claimed<SimClient>>> + Send + use<> {
        let (object, gets) = (self.object, self.gets.clone());
        // The item is recorded as handed out before the call returns.
        let (actor, number) = (self.actor.clone(), Arc::new(AtomicU32::new(0)));
        let given = {
            let number = number.clone();
            move |_: &mut Journal, _, op: OpId| number.store(op.0, Ordering::Relaxed)
        };
        let claim = move |_| async move {
            let claim = gets.lock().await.claim().await?;
            observes(&actor, OpId(number.load(Ordering::Relaxed)), object, claim.item());
            Ok(claim)
        };
        let claiming =
            self.actor.does_and_then(Call::new(object, Verb::Claim), given, claim, |_, _, claim| claim);
        async move { claiming.await.done() }
    }

    /// Claims an item.
    ///
    /// # Panics
    ///
    /// If it gets none.
    pub async fn claims(&self) -> Claimed<SimClient> {
        self.asks().await.expect("there is an item")
    }

    /// Confirms an item.
    ///
    /// # Errors
    ///
    /// Those of the recipe.
    pub async fn confirms(&self, claim: Claimed<SimClient>) -> Result<(), Error> {
        let (me, object) = (self.actor.number(), self.object);
        let text = String::from_utf8_lossy(&claim.item().data).into_owned();
        let given = move |journal: &mut Journal, at, op| journal.given(at, me, op, &text, 0);
        let call = Call::new(object, Verb::Confirm);
        match self.actor.does_and_then(call, given, move |_| claim.done(), |_, _, ()| ()).await {
            Ended::Done(()) => Ok(()),
            Ended::Failed(e) => Err(e),
            Ended::Cancelled => Err(ErrorKind::TimedOut.into()),
        }
    }
}

fn observes(actor: &stage::Actor, op: OpId, object: ObjectId, item: &Item) -> String {
    let text = String::from_utf8_lossy(&item.data).into_owned();
    let czxid = item.czxid.cast_unsigned();
    actor.journal(|journal, at| journal.observed(at, actor.number(), op, object, Seen::Item, &text, czxid));
    text
}
