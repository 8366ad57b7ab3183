//! Beliefs: the time in which a client acts as holder, from the grant until it stops.

mod guards;

use crate::client::Client;
use crate::journal::Journal;
use crate::operation::{Call, Ended, nothing, observed_operation, operation};
use crate::pace::Pace;
use crate::rounds::Round;
use crate::sometimes;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::{Pin, pin};
use zk_checker::history::{ObjectId, OpId, Seen, Verb, Why};
use zk_recipes::zk::{Error, SessionId};
use zk_recipes::{LostReason, Released, Stop};

/// A guard: held until it is released or lost.
pub trait Held: Send + Sync + 'static {
    /// The fencing token.
    fn token(&self) -> i64;

    /// The number that a write to the resource carries, so that the resource refuses earlier holds.
    fn fence(&self) -> i64 {
        self.token()
    }

    /// Resolves when the holder must stop.
    fn lost(&self) -> impl Future<Output = Stop> + Send;

    /// Releases it.
    fn release(self) -> impl Future<Output = Result<Released, Error>> + Send;
}

/// A client's belief that it holds something: from [`begin`](Belief::begin) to [`end`](Belief::end).
#[must_use = "a belief that began has to end"]
pub struct Belief<'a, C, H> {
    client: &'a C,
    held: &'a H,
    object: ObjectId,
    op: OpId,
}

impl<'a, C: Client, H: Held> Belief<'a, C, H> {
    /// Records that the client acts as holder of the object that operation `op` was granted in that session.
    pub fn begin(client: &'a C, session: SessionId, held: &'a H, object: ObjectId, op: OpId) -> Self {
        let token = held.token();
        client.journal(|j, at| j.believe(at, client.number(), op, object, session, token));
        Belief { client, held, object, op }
    }

    /// Ends the belief.
    pub fn end(self, why: Why) {
        self.client.journal(|j, at| j.unbelieve(at, self.client.number(), self.op, why));
    }

    /// Waits for `work`, or until the holder must stop; in the second case returns the reason.
    pub async fn unless_lost(&self, work: impl Future<Output = ()> + Send) -> Option<Why> {
        unless_stopped(pin!(self.held.lost()), pin!(work)).await.map(why)
    }

    /// Sends a write to the resource behind the object; returns whether the resource accepted it.
    pub fn use_resource(&self) -> bool {
        use_resource(self.client, self.object, self.op, self.held.fence())
    }

    /// Holds for a while and writes to the resource, until the time is over or the holder must stop.
    pub async fn write_for_a_while(self, pace: Pace) {
        let client = self.client;
        for _ in 0..1 + client.choose(3) {
            if let Some(why) = self.unless_lost(client.sleep(pace.work * (1 + client.choose(4)))).await {
                return self.end(why);
            }
            // A write in flight cannot be called back, even if its sender stops acting as holder.
            let mut arriving = pin!(client.sleep(pace.write));
            if let Some(why) = self.unless_lost(arriving.as_mut()).await {
                let (object, op, fence) = (self.object, self.op, self.held.fence());
                self.end(why);
                arriving.await;
                let accepted = use_resource(client, object, op, fence);
                sometimes!(client, "a write arrives when its holder has stopped", true);
                sometimes!(client, "a resource refuses a former holder's write", !accepted);
                return;
            }
            self.use_resource();
        }
        self.end(Why::Released);
    }
}

/// Waits for `work`, or until the holder must stop.
async fn unless_stopped(
    lost: Pin<&mut (dyn Future<Output = Stop> + Send)>,
    work: Pin<&mut (dyn Future<Output = ()> + Send)>,
) -> Option<Stop> {
    match select(lost, work).await {
        Either::Left((stop, _)) => Some(stop),
        Either::Right(_) => None,
    }
}

/// Releases a hold, sometimes by dropping the guard, whose clean-up duty does the rest.
pub async fn give_back<C: Client, H: Held>(client: &C, object: ObjectId, held: H) {
    if client.choose(8) == 7 {
        return drops(client, object, held);
    }
    gives_back(client, Call::new(object, Verb::Release), nothing, || held.release()).await;
}

/// Drops a guard without a release.
pub fn drops<C: Client, H: Held>(client: &C, object: ObjectId, held: H) {
    client.journal(|journal, at| journal.drops(at, client.number(), object, held.token()));
    drop(held);
}

/// A call that releases something; records how the hold had ended.
pub async fn gives_back<
    C: Client,
    T: Copy + Send + Into<Option<Released>>,
    F: Future<Output = Result<T, Error>> + Send,
>(
    client: &C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId) + Send,
    work: impl FnOnce() -> F + Send,
) {
    let (me, object) = (client.number(), call.object);
    let told = |journal: &mut Journal, at, op, released: &T| {
        let how = match (*released).into() {
            None => return,
            Some(Released::Clean) => "clean",
            Some(Released::WasLost(reason)) => lost_because(reason),
        };
        journal.observed(at, me, op, object, Seen::Ending, how, 0);
    };
    let _ = observed_operation(client, call, given, work, told).await;
}

/// One turn of a holder: acquires, holds and writes to the resource behind the object for a while, and releases.
pub async fn take_turn<C: Client, H: Held, F: Future<Output = Result<H, Error>> + Send>(
    client: &C,
    session: SessionId,
    object: ObjectId,
    pace: Pace,
    acquire: impl FnOnce() -> F + Send,
) -> Round {
    let (op, held) = match operation(client, Call::new(object, Verb::Acquire), nothing, acquire).await {
        (op, Ended::Done(held)) => (op, held),
        (_, ended) if ended.is_session_over() => return Round::Again,
        _ => return Round::Over,
    };
    Belief::begin(client, session, &held, object, op).write_for_a_while(pace).await;
    give_back(client, object, held).await;
    Round::Over
}

/// The reason of a loss, as the history spells it.
pub fn lost_because(reason: LostReason) -> &'static str {
    match reason {
        LostReason::SessionOver => "session_over",
        LostReason::DeadlinePassed => "deadline_passed",
        LostReason::Removed => "removed",
    }
}

/// Why a holder stopped, by the reason of its [`Stop`].
pub fn why(stop: Stop) -> Why {
    match stop {
        Stop::Suspect { .. } => Why::Suspect,
        Stop::Lost(_) => Why::Lost,
    }
}

/// Sends a write to the resource behind an object with the token of a hold, even if that hold is over.
pub fn use_resource<C: Client>(client: &C, object: ObjectId, op: OpId, token: i64) -> bool {
    client.journal(|j, at| j.resource(at, client.number(), op, object, token))
}
