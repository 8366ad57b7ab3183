//! What the supervisor of the workload knows of a client: how it opens sessions, and what it holds.

use super::mutants::Wrong;
use super::workload::User;
use crate::prelude::*;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use zk_checker::history::Outcome;
use zk_harness::holding::use_resource;
use zk_recipes::guard::Exclusive;
use zk_recipes::supervisor::{self, Connect};
use zk_recipes::{Guard, HoldState, LostReason, Released, Stop, Term};

/// Opens the sessions of a client, as `sees` shows them to its supervisor.
pub struct Connecting<C, S> {
    pub client: C,
    pub sees: S,
}

impl<C: Client, Z: ZooKeeper, S> Connect for Connecting<C, S>
where
    S: Fn(C::Zk) -> Z + Clone + Send + Sync + 'static,
{
    type Zk = Z;

    fn open(&self) -> impl Future<Output = Result<Z, Error>> + Send + use<C, Z, S> {
        let (client, sees) = (self.client.clone(), self.sees.clone());
        async move { client.open().await.map(sees) }
    }

    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send + use<C, Z, S> {
        let client = self.client.clone();
        async move { client.sleep(by).await }
    }

    fn random(&self) -> u64 {
        u64::from(self.client.choose(4)) << 62
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
pub struct Standing<C: Client, Z: ZooKeeper, H: Kept> {
    pub op: OpId,
    client: C,
    object: ObjectId,
    zk: Z,
    /// Taken when it is given back.
    hold: Option<H>,
    believes: AtomicBool,
    wrong: Wrong,
    /// The token that its client believes to have.
    token: i64,
}

impl<C: Client, Z: ZooKeeper, H: Kept> Standing<C, Z, H> {
    /// The hold that an operation has granted, and the token of the first one.
    pub fn granted(user: &User<'_, C, impl Connect>, call: (ObjectId, OpId), zk: Z, hold: H) -> Self {
        let ((object, op), wrong) = (call, user.wrong);
        let first = *user.first_tokens[usize::from(object.0)].get_or_init(|| hold.token());
        let token = if wrong == Wrong::KeepsItsToken { first } else { hold.token() };
        let (client, believes) = (user.client.clone(), AtomicBool::new(false));
        let standing = Standing { op, client, object, zk, hold: Some(hold), believes, wrong, token };
        standing.begins();
        standing
    }

    pub fn hold(&self) -> &H {
        self.hold.as_ref().expect("it is not given back")
    }

    /// Its client believes.
    fn begins(&self) {
        if !self.believes.swap(true, Ordering::Relaxed) {
            let (me, session, token) = (self.client.number(), self.zk.session(), self.token);
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
    pub fn acts(&self) -> Acting<'_, C, Z, H> {
        self.begins();
        let work = Open::called(&self.client, self.object, Verb::Work);
        Acting { standing: self, work: Some(work) }
    }

    /// Believes, while somebody else does the work.
    pub fn acts_by_itself(&self) -> Acting<'_, C, Z, H> {
        self.begins();
        Acting { standing: self, work: None }
    }
}

impl<C: Client, Z: ZooKeeper, H: Kept> supervisor::Hold for Standing<C, Z, H> {
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

impl<C: Client, Z: ZooKeeper, H: Kept> Drop for Standing<C, Z, H> {
    fn drop(&mut self) {
        if self.hold.is_none() {
            return;
        }
        self.ends();
        if !self.client.is_crashed() {
            self.client.journal(|j, at| j.drops(at, self.client.number(), self.object, self.token));
        }
        if self.wrong == Wrong::KeepsTheLost {
            std::mem::forget(self.hold.take());
        }
    }
}

/// Work in progress. The belief ends with it, wherever it is dropped.
pub struct Acting<'a, C: Client, Z: ZooKeeper, H: Kept> {
    standing: &'a Standing<C, Z, H>,
    work: Option<Open<'a, C>>,
}

impl<C: Client, Z: ZooKeeper, H: Kept> Acting<'_, C, Z, H> {
    /// Sends a write to the resource.
    pub fn writes(&self) {
        let Standing { client, object, op, token, .. } = self.standing;
        use_resource(client, *object, *op, *token);
    }

    /// The work is done.
    pub fn ends_well(mut self) {
        self.work.take().expect("it is done once").returns(Outcome::Done);
    }
}

impl<C: Client, Z: ZooKeeper, H: Kept> Drop for Acting<'_, C, Z, H> {
    fn drop(&mut self) {
        drop(self.work.take());
        self.standing.ends();
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

    /// Calls an operation.
    pub fn called(client: &'a C, object: ObjectId, verb: Verb) -> Self {
        let open = Open::new(client);
        open.begins(client.journal(|journal, at| journal.call(at, client.number(), object, verb, 0)));
        open
    }

    /// The following requests belong to it.
    pub fn sends(self) -> Self {
        self.client.set_op(self.op().0);
        self
    }

    /// It has arguments.
    pub fn with(self, text: &str, number: u64) -> Self {
        let (me, op) = (self.client.number(), self.op());
        self.client.journal(|journal, at| journal.given(at, me, op, text, number));
        self
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

    /// It returns.
    pub fn returns(self, outcome: Outcome) {
        let op = OpId(self.op.swap(0, Ordering::Relaxed));
        if self.client.is_crashed() {
            return;
        }
        let me = self.client.number();
        self.client.journal(|journal, at| journal.returned(at, me, op, outcome));
        if self.client.op() == op.0 {
            self.client.set_op(0);
        }
    }
}

impl<C: Client> Drop for Open<'_, C> {
    fn drop(&mut self) {
        if self.op().0 != 0 {
            let op = AtomicU32::new(self.op.swap(0, Ordering::Relaxed));
            Open { client: self.client, op }.returns(Outcome::Cancelled);
        }
    }
}
