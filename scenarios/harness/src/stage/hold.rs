//! Guards that a client of a story holds: the vocabulary of every recipe that grants something.

use super::Actor;
use crate::holding::{Held, use_resource, why};
use crate::journal::Journal;
use crate::operation::{Call, Ended, nothing};
use futures_util::future::{Either, select};
use sim_zk::SimClient;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::{ObjectId, OpId, Verb, Why};
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{Released, Stop};

/// Something held by a client of a story.
pub struct Holding<H> {
    /// The guard from the recipe.
    pub guard: H,
    object: ObjectId,
    /// The operation that was granted the hold.
    pub op: OpId,
    believes: bool,
}

impl Actor {
    /// Records that the client acts as holder of the object that operation `op` was granted.
    pub fn believes<H: Held>(&self, object: ObjectId, op: OpId, guard: H) -> Holding<H> {
        let (session, token) = (self.zk.session(), guard.token());
        self.journal(|j, at| j.believe(at, self.number(), op, object, session, token));
        Holding { guard, object, op, believes: true }
    }

    /// Begins to acquire an object in the client's own process. Once granted, the client acts as holder; `None` if it
    /// is not granted.
    pub fn begins_to_acquire<H: Held, F, A>(
        &self,
        object: ObjectId,
        acquire: A,
    ) -> impl Future<Output = Option<Holding<H>>> + Send + use<H, F, A>
    where
        F: Future<Output = Result<H, Error>> + Send + 'static,
        A: FnOnce(SimClient) -> F + Send + 'static,
    {
        let call = Call::new(object, Verb::Acquire);
        let asking = self
            .does_and_then(call, nothing, acquire, move |actor, op, held| actor.believes(object, op, held));
        async move { asking.await.done() }
    }

    fn stops_believing<H>(&self, holding: &mut Holding<H>, why: Why) {
        if std::mem::take(&mut holding.believes) {
            self.journal(|j, at| j.unbelieve(at, self.number(), holding.op, why));
        }
    }

    /// Acts as holder until the guard says that it must stop.
    pub fn acts_until_told_to_stop<H: Held>(
        &self,
        mut holding: Holding<H>,
    ) -> impl Future<Output = (Holding<H>, Stop)> + Send + use<H> {
        let actor = self.clone();
        let acting = self.process.process.spawn(async move {
            let stop = holding.guard.lost().await;
            actor.stops_believing(&mut holding, why(stop));
            (holding, stop)
        });
        async move { acting.await.expect("its process lives") }
    }

    /// Acts as holder for that long, or until the guard says that it must stop.
    pub async fn acts_for<H: Held>(&self, holding: &mut Holding<H>, time: Duration) {
        let told = match select(pin!(holding.guard.lost()), pin!(self.waits(time))).await {
            Either::Left((stop, _)) => Some(stop),
            Either::Right(_) => None,
        };
        if let Some(stop) = told {
            self.stops_believing(holding, why(stop));
        }
    }

    /// Writes to the resource behind the object. Returns whether the resource accepted the token.
    pub fn writes<H: Held>(&self, holding: &Holding<H>) -> bool {
        use_resource(&self.process, holding.object, holding.op, holding.guard.token())
    }

    /// Releases the hold, and ignores the result.
    pub async fn releases<H: Held>(&self, holding: Holding<H>) {
        let _ = self.begins_to_release(holding).await;
    }

    /// Begins to release the hold: the client stops acting as holder at once.
    pub fn begins_to_release<H: Held>(
        &self,
        mut holding: Holding<H>,
    ) -> impl Future<Output = Ended<Released>> + Send + use<H> {
        self.stops_believing(&mut holding, Why::Released);
        let call = Call::new(holding.object, Verb::Release);
        self.does(call, move |_| holding.guard.release())
    }

    /// Begins to convert a hold into another by an operation of its own. The client stops acting as holder of the first
    /// at once, and acts as holder of the second once the operation is done.
    pub fn begins_to_turn<H: Held, R: Held, F, T>(
        &self,
        holding: Holding<H>,
        verb: Verb,
        turn: T,
    ) -> impl Future<Output = Option<Holding<R>>> + Send + use<H, R, F, T>
    where
        F: Future<Output = Result<R, Error>> + Send + 'static,
        T: FnOnce(H) -> F + Send + 'static,
    {
        let Holding { guard, object, op, believes } = holding;
        let client = self.number();
        let stops = move |journal: &mut Journal, at, _| {
            if believes {
                journal.unbelieve(at, client, op, Why::Released);
            }
        };
        let turn = move |_| turn(guard);
        let doing = self.does_and_then(Call::new(object, verb), stops, turn, move |actor, op, guard| {
            actor.believes(object, op, guard)
        });
        async move { doing.await.done() }
    }
}
