//! What the supervisor of the workload knows of a client: how it opens sessions, and what it holds.

use super::mutants::Wrong;
use crate::prelude::*;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use zk_checker::history::Outcome;
use zk_harness::holding::use_resource;
use zk_recipes::guard::Exclusive;
use zk_recipes::supervisor::{self, Connect};
use zk_recipes::{Guard, HoldState, LostReason, Released, Stop, Term};

/// Opens the sessions of a client.
pub struct Connecting<C>(pub C);

impl<C: Client> Connect for Connecting<C> {
    type Zk = C::Zk;

    fn open(&self) -> impl Future<Output = Result<C::Zk, Error>> + Send + use<C> {
        let client = self.0.clone();
        async move { client.open().await }
    }

    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send + use<C> {
        let client = self.0.clone();
        async move { client.sleep(by).await }
    }

    fn random(&self) -> u64 {
        u64::from(self.0.choose(4)) << 62
    }
}

/// A guard that clients of the workload hold.
pub trait Kept: Held + supervisor::Hold {
    /// Its state.
    fn state(&self) -> HoldState;

    /// The path of its znode.
    fn path(&self) -> &str;
}

impl<Z: ZooKeeper> Kept for Term<Z> {
    fn state(&self) -> HoldState {
        Term::state(self)
    }

    fn path(&self) -> &str {
        Term::path(self)
    }
}

impl<Z: ZooKeeper> Kept for Guard<Z, Exclusive> {
    fn state(&self) -> HoldState {
        Guard::state(self)
    }

    fn path(&self) -> &str {
        Guard::path(self)
    }
}

/// A guard with the operation that granted it, and the mutant's wrong step. From the grant on its client believes that it holds the
/// object, but for the time between two pieces of work.
pub struct Standing<C: Client, H: Kept> {
    pub op: OpId,
    client: C,
    object: ObjectId,
    zk: C::Zk,
    /// Taken when it is given back.
    hold: Option<H>,
    believes: AtomicBool,
    wrong: Wrong,
}

impl<C: Client, H: Kept> Standing<C, H> {
    /// The hold that an operation has granted.
    pub fn granted(client: &C, object: ObjectId, op: OpId, zk: C::Zk, hold: H, wrong: Wrong) -> Self {
        let (client, believes) = (client.clone(), AtomicBool::new(false));
        let standing = Standing { op, client, object, zk, hold: Some(hold), believes, wrong };
        standing.begins();
        standing
    }

    pub fn hold(&self) -> &H {
        self.hold.as_ref().expect("it is not given back")
    }

    /// Its client believes.
    fn begins(&self) {
        if !self.believes.swap(true, Ordering::Relaxed) {
            let (me, session, token) = (self.client.number(), self.zk.session(), self.hold().token());
            self.client.journal(|j, at| j.believe(at, me, self.op, self.object, session, token));
        }
    }

    /// Its client believes no longer.
    fn ends(&self) {
        if !self.believes.swap(false, Ordering::Relaxed) || self.client.is_crashed() {
            return;
        }
        let why = match self.hold().state() {
            HoldState::Held => Why::Released,
            HoldState::Suspect { .. } => Why::Suspect,
            HoldState::Lost(_) => Why::Lost,
        };
        self.client.journal(|j, at| j.unbelieve(at, self.client.number(), self.op, why));
    }

    /// Begins to act.
    pub fn acts(&self) -> Acting<'_, C, H> {
        self.begins();
        Acting(self)
    }
}

impl<C: Client, H: Kept> supervisor::Hold for Standing<C, H> {
    async fn lost(&self) -> Stop {
        loop {
            let stop = Held::lost(self.hold()).await;
            let is_suspect = matches!(stop, Stop::Suspect { .. });
            let goes_on = match self.wrong {
                Wrong::GoesOn => true,
                Wrong::ActsWhileSuspect => is_suspect,
                Wrong::StopsAtTheEnd => stop != Stop::Lost(LostReason::SessionOver),
                _ => false,
            };
            if self.wrong == Wrong::GivesBackFirst {
                let _ = self.zk.delete(self.hold().path(), None).await;
            }
            if !goes_on {
                return stop;
            }
            match stop {
                Stop::Suspect { .. } => _ = self.hold().resumed().await,
                Stop::Lost(_) => std::future::pending().await,
            }
        }
    }

    async fn resumed(&self) -> Result<(), LostReason> {
        self.hold().resumed().await
    }

    async fn give_back(mut self, limit: Duration) -> Result<Released, Error> {
        self.ends();
        let hold = self.hold.take().expect("it is given back once");
        if self.wrong == Wrong::KeepsTheZnode {
            std::mem::forget(hold);
            return Ok(Released::Clean);
        }
        hold.give_back(limit).await
    }
}

impl<C: Client, H: Kept> Drop for Standing<C, H> {
    fn drop(&mut self) {
        if self.hold.is_none() {
            return;
        }
        self.ends();
        if self.wrong == Wrong::KeepsTheLost {
            std::mem::forget(self.hold.take());
        }
    }
}

/// Work in progress. The belief ends with it, wherever it is dropped.
pub struct Acting<'a, C: Client, H: Kept>(&'a Standing<C, H>);

impl<C: Client, H: Kept> Acting<'_, C, H> {
    /// Sends a write to the resource.
    pub fn writes(&self) {
        let Standing { client, object, op, .. } = self.0;
        use_resource(client, *object, *op, self.0.hold().token());
    }
}

impl<C: Client, H: Kept> Drop for Acting<'_, C, H> {
    fn drop(&mut self) {
        self.0.ends();
    }
}

/// An operation that is recorded as cancelled if it is dropped before its end.
pub struct Open<'a, C: Client> {
    pub client: &'a C,
    op: AtomicU32,
}

impl<'a, C: Client> Open<'a, C> {
    pub fn new(client: &'a C) -> Self {
        Open { client, op: AtomicU32::new(0) }
    }

    /// Calls an operation without arguments.
    pub fn call(client: &'a C, object: ObjectId, verb: Verb) -> Self {
        let open = Open::new(client);
        open.begins(client.journal(|journal, at| journal.call(at, client.number(), object, verb, 0)));
        client.set_op(open.op().0);
        open
    }

    /// The operation has failed.
    pub fn failed(&self, error: &Error) {
        let (me, op) = (self.client.number(), self.op());
        let failure = zk_harness::journal::failure(error);
        self.client.journal(|journal, at| journal.returned_for(at, me, op, Outcome::Unknown, failure));
        self.client.set_op(0);
        self.op.store(0, Ordering::Relaxed);
    }

    /// For the arguments of the operation.
    pub fn begins(&self, op: OpId) {
        self.op.store(op.0, Ordering::Relaxed);
    }

    /// Its number.
    pub fn op(&self) -> OpId {
        OpId(self.op.load(Ordering::Relaxed))
    }

    /// It has ended by itself.
    pub fn ended(self) {
        self.op.store(0, Ordering::Relaxed);
    }
}

impl<C: Client> Drop for Open<'_, C> {
    fn drop(&mut self) {
        let op = self.op();
        if op.0 != 0 && !self.client.is_crashed() {
            let me = self.client.number();
            self.client.journal(|journal, at| journal.returned(at, me, op, Outcome::Cancelled));
            self.client.set_op(0);
        }
    }
}
