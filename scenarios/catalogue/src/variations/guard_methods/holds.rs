//! The holds of the workload: the recipes that return guards, their options, and the guards themselves.
//!
//! The tables below are of Rust types: what constructs a recipe, which guard each of its acquires returns, and which methods
//! that guard has. The descriptions in `checker/src/kinds` know verbs and no types.

use crate::prelude::*;
use crate::{election, priority_lock, revocable_lock};
use std::future::{Future, pending};
use std::time::Duration;
use zk_checker::history::{Budget, OnSuspect as Policy};
use zk_recipes::guard::{Exclusive, Read, Revocable, Write};
use zk_recipes::zk::{Op, OpResult};
use zk_recipes::{
    Contender, Election, ElectionOptions, Fate, Guard, HoldState, Interrupt, Lock, LockOptions, LostReason,
    Naming, OnSuspect, Parents, Preempt, Priority, PriorityContender, PriorityLock, PriorityLockOptions,
    Released, RevocableLock, RevocableLockOptions, RunUntil, SharedLock, SharedLockOptions, Stop, Term,
};

/// An object that clients hold in turn, and their options.
#[derive(Clone, Copy, Debug)]
pub struct Thing {
    /// The recipe that returns its guards.
    pub kind: Kind,
    /// Its directory.
    pub path: &'static str,
    /// The naming of the contenders' znodes.
    pub naming: Naming,
    /// How its directory is created.
    pub parents: Parents,
    /// What holders do while the connection is lost.
    pub on_suspect: OnSuspect,
    /// Their margin, as a part of the session timeout; 0 for the default.
    pub margin: u32,
    /// How long a guard's `run` drives its work.
    pub run_until: RunUntil,
    /// The data of a contender's znode.
    pub data: &'static [u8],
}

const PLAIN: Thing = Thing {
    kind: Kind::Lock,
    path: "/guards/lock",
    naming: Naming::Standard,
    parents: Parents::Container,
    on_suspect: OnSuspect::Stop,
    margin: 0,
    run_until: RunUntil::Revoked,
    data: b"",
};

/// The things of the workload, in the order of their objects: each recipe with its defaults, and with other options.
pub static THINGS: [Thing; 10] = [
    PLAIN,
    Thing { kind: Kind::SharedLock, path: "/guards/shared", ..PLAIN },
    Thing { kind: Kind::Election, path: "/guards/office", ..PLAIN },
    Thing { kind: Kind::RevocableLock, path: "/guards/revocable", ..PLAIN },
    Thing { kind: Kind::PriorityLock, path: "/guards/priority", ..PLAIN },
    Thing {
        path: "/guards/of-curator",
        naming: Naming::Curator,
        parents: Parents::Persistent,
        on_suspect: OnSuspect::UntilDeadline,
        data: b"10.0.0.7",
        ..PLAIN
    },
    Thing {
        kind: Kind::SharedLock,
        path: "/guards/of-kazoo",
        naming: Naming::Kazoo,
        parents: Parents::MustExist,
        margin: 2,
        ..PLAIN
    },
    Thing {
        kind: Kind::Election,
        path: "/guards/presidency",
        on_suspect: OnSuspect::UntilDeadline,
        margin: 4,
        data: b"10.0.0.8",
        ..PLAIN
    },
    Thing {
        kind: Kind::RevocableLock,
        path: "/guards/revocable-of-curator",
        naming: Naming::Curator,
        on_suspect: OnSuspect::UntilDeadline,
        run_until: RunUntil::Lost,
        data: b"10.0.0.9",
        ..PLAIN
    },
    Thing {
        kind: Kind::PriorityLock,
        path: "/guards/priority-to-the-end",
        parents: Parents::Persistent,
        on_suspect: OnSuspect::UntilDeadline,
        margin: 5,
        run_until: RunUntil::Lost,
        data: b"10.0.0.10",
        ..PLAIN
    },
];

impl Thing {
    /// The thing, as it is declared to the checker.
    pub fn object(&self, names: &mut Names, setting: &Setting) -> Object {
        let path = names.intern(self.path);
        let declared = match self.kind {
            Kind::RevocableLock => revocable_lock::workload::object(path, setting),
            Kind::PriorityLock => priority_lock::workload::object(path, setting),
            Kind::Election => election::workload::object(path, setting),
            kind => setting.held(kind, path),
        };
        let margin = self.margin(setting.timeout).unwrap_or(setting.timeout / 10);
        let on_suspect = match self.on_suspect {
            OnSuspect::Stop => Policy::Stop,
            OnSuspect::UntilDeadline => Policy::UntilDeadline,
        };
        // A holder that awaits its loss, or asks for its state, watches its own znode.
        let budget = Budget { free_acquire: declared.budget.free_acquire + 1, ..declared.budget };
        Object { margin: margin.as_micros() as u64, on_suspect, budget, ..declared }
    }

    /// Whether its holders can be asked to go.
    pub fn is_revocable(&self) -> bool {
        self.kind.is_revocable()
    }

    /// The margin that its holders ask for.
    pub fn margin(&self, timeout: Duration) -> Option<Duration> {
        (self.margin > 0).then(|| timeout / self.margin)
    }

    /// The verbs of its acquires: for a writer or a reader, waiting or trying.
    pub fn verb(&self, reads: bool, tries: bool) -> Verb {
        match (self.kind, reads, tries) {
            (Kind::Election, ..) => Verb::Stand,
            (Kind::Lock, _, false) => Verb::Acquire,
            (Kind::Lock, _, true) => Verb::TryAcquire,
            (Kind::PriorityLock, true, _) | (_, true, false) => Verb::Read,
            (Kind::PriorityLock, false, _) | (_, false, false) => Verb::Write,
            (_, true, true) => Verb::TryRead,
            (_, false, true) => Verb::TryWrite,
        }
    }
}

/// The recipe of a thing, over a session.
pub enum Line<Z: ZooKeeper> {
    /// A lock.
    Lock(Lock<Z>),
    /// A shared lock.
    Shared(SharedLock<Z>),
    /// A revocable lock.
    Revocable(RevocableLock<Z>),
    /// A priority lock.
    Priority(PriorityLock<Z>),
    /// An election.
    Election(Election<Z>),
}

impl<Z: ZooKeeper> Line<Z> {
    /// The recipe of a thing, whose holders have that margin.
    pub fn new(zk: &Z, thing: &Thing, margin: Option<Duration>) -> Result<Self, Error> {
        let Thing { path, naming, parents, on_suspect, run_until, .. } = *thing;
        let data = thing.data.to_vec();
        Ok(match thing.kind {
            Kind::Lock => {
                let options = LockOptions::default()
                    .with_naming(naming)
                    .with_parents(parents)
                    .with_on_suspect(on_suspect)
                    .with_margin(margin)
                    .with_data(data);
                Line::Lock(Lock::new(zk, path, options)?)
            }
            Kind::SharedLock => {
                let options = SharedLockOptions::default()
                    .with_naming(naming)
                    .with_parents(parents)
                    .with_on_suspect(on_suspect)
                    .with_margin(margin)
                    .with_data(data);
                Line::Shared(SharedLock::new(zk, path, options)?)
            }
            Kind::RevocableLock => {
                let options = RevocableLockOptions::default()
                    .with_run_until(run_until)
                    .with_naming(naming)
                    .with_parents(parents)
                    .with_on_suspect(on_suspect)
                    .with_margin(margin)
                    .with_data(data);
                Line::Revocable(RevocableLock::new(zk, path, options)?)
            }
            Kind::PriorityLock => {
                let preempt = Preempt::Never;
                let options = PriorityLockOptions::default()
                    .with_preempt(preempt)
                    .with_run_until(run_until)
                    .with_parents(parents)
                    .with_on_suspect(on_suspect)
                    .with_margin(margin)
                    .with_data(data);
                Line::Priority(PriorityLock::new(zk, path, options)?)
            }
            Kind::Election => {
                let options = ElectionOptions::default()
                    .with_parents(parents)
                    .with_on_suspect(on_suspect)
                    .with_margin(margin)
                    .with_data(data);
                Line::Election(Election::new(zk, path, options)?)
            }
            kind => panic!("a {} has no guards", kind.words()),
        })
    }

    /// Waits for a hold: for ever, for the limit of the call, or not at all. `None`: it was not free.
    pub async fn take(
        &self,
        Call { verb, limit, .. }: Call,
        priority: u16,
    ) -> Result<Option<Hold<Z>>, Error> {
        let priority = Priority(priority);
        Ok(Some(match (self, verb) {
            (Line::Lock(lock), Verb::TryAcquire) => {
                return Ok(lock.try_acquire().await?.map(Hold::Exclusive));
            }
            (Line::Lock(lock), _) => Hold::Exclusive(limited(lock.acquire(), limit).await?),
            (Line::Shared(lock), Verb::TryRead) => return Ok(lock.try_read().await?.map(Hold::Read)),
            (Line::Shared(lock), Verb::TryWrite) => return Ok(lock.try_write().await?.map(Hold::Write)),
            (Line::Shared(lock), Verb::Read) => Hold::Read(limited(lock.read(), limit).await?),
            (Line::Shared(lock), _) => Hold::Write(limited(lock.write(), limit).await?),
            (Line::Revocable(lock), Verb::TryRead) => {
                return Ok(lock.try_read().await?.map(Hold::RevocableRead));
            }
            (Line::Revocable(lock), Verb::TryWrite) => {
                return Ok(lock.try_write().await?.map(Hold::RevocableWrite));
            }
            (Line::Revocable(lock), Verb::Read) => Hold::RevocableRead(limited(lock.read(), limit).await?),
            (Line::Revocable(lock), _) => Hold::RevocableWrite(limited(lock.write(), limit).await?),
            (Line::Priority(lock), Verb::Read) => {
                Hold::RevocableRead(limited(lock.read(priority), limit).await?)
            }
            (Line::Priority(lock), _) => {
                Hold::RevocableExclusive(limited(lock.write(priority), limit).await?)
            }
            (Line::Election(election), _) => Hold::Term(Box::new(limited(election.stand(), limit).await?)),
        }))
    }

    /// Lists the contenders, in order.
    pub async fn contenders(&self) -> Result<Vec<Listed>, Error> {
        let all = match self {
            Line::Lock(lock) => lock.contenders().await?,
            Line::Shared(lock) => lock.contenders().await?,
            Line::Revocable(lock) => lock.contenders().await?,
            Line::Election(election) => election.candidates().await?,
            Line::Priority(lock) => {
                return Ok(lock.contenders().await?.into_iter().map(Listed::Urgent).collect());
            }
        };
        Ok(all.into_iter().map(Listed::Contender).collect())
    }

    /// Deletes the znode of a contender; `None` if it was already gone. Revocable locks have no evictions:
    /// [`Error::is_unimplemented`].
    pub async fn evict(&self, whom: &Listed) -> Result<Option<()>, Error> {
        let is_gone = match (self, whom) {
            (Line::Lock(lock), Listed::Contender(whom)) => lock.evict(whom).await?,
            (Line::Shared(lock), Listed::Contender(whom)) => lock.evict(whom).await?,
            (Line::Election(election), Listed::Contender(whom)) => election.evict(whom).await?,
            _ => return Err(ErrorKind::Unimplemented.into()),
        };
        Ok(is_gone.then_some(()))
    }

    /// Asks a contender to go, or revokes it after the grace period. Other locks have no revocation:
    /// [`Error::is_unimplemented`].
    pub async fn revoke(&self, whom: &Listed, grace: Option<Duration>) -> Result<Fate, Error> {
        match (self, whom, grace) {
            (Line::Revocable(lock), Listed::Contender(whom), None) => lock.ask(whom).await,
            (Line::Revocable(lock), Listed::Contender(whom), Some(grace)) => lock.force(whom, grace).await,
            (Line::Priority(lock), Listed::Urgent(whom), None) => lock.ask(whom).await,
            (Line::Priority(lock), Listed::Urgent(whom), Some(grace)) => lock.force(whom, grace).await,
            _ => Err(ErrorKind::Unimplemented.into()),
        }
    }
}

/// A contender in a list.
#[derive(Clone, Debug)]
pub enum Listed {
    /// A contender of a lock without priorities, or of an election.
    Contender(Contender),
    /// A contender of a priority lock.
    Urgent(PriorityContender),
}

impl Listed {
    /// The path of its znode.
    pub fn path(&self) -> &str {
        match self {
            Listed::Contender(contender) => &contender.path,
            Listed::Urgent(contender) => &contender.path,
        }
    }
}

/// A hold of any recipe.
#[allow(missing_docs, reason = "the words are those of the recipes")]
pub enum Hold<Z: ZooKeeper> {
    Exclusive(Guard<Z, Exclusive>),
    Read(Guard<Z, Read>),
    Write(Guard<Z, Write>),
    RevocableRead(Guard<Z, Revocable<Read>>),
    RevocableWrite(Guard<Z, Revocable<Write>>),
    RevocableExclusive(Guard<Z, Revocable<Exclusive>>),
    Term(Box<Term<Z>>),
}

/// Calls a method of any hold; methods that only some holds have match by arms of their own.
macro_rules! each {
    ($hold:expr, $held:ident => $call:expr) => {
        each!($hold, $held => $call, $call, $call)
    };
    ($hold:expr, $held:ident => $irrevocable:expr, $revocable:expr, $term:expr) => {
        match $hold {
            Hold::Exclusive($held) => $irrevocable,
            Hold::Read($held) => $irrevocable,
            Hold::Write($held) => $irrevocable,
            Hold::RevocableRead($held) => $revocable,
            Hold::RevocableWrite($held) => $revocable,
            Hold::RevocableExclusive($held) => $revocable,
            Hold::Term($held) => $term,
        }
    };
}

impl<Z: ZooKeeper> Held for Hold<Z> {
    fn token(&self) -> i64 {
        each!(self, held => held.token())
    }

    async fn lost(&self) -> Stop {
        each!(self, held => held.lost().await)
    }

    async fn release(self) -> Result<Released, Error> {
        each!(self, held => held.release().await, held.release().await, held.resign().await)
    }
}

impl<Z: ZooKeeper> Guarding for Hold<Z> {
    fn path(&self) -> &str {
        each!(self, held => held.path())
    }

    fn state(&self) -> HoldState {
        each!(self, held => held.state())
    }

    async fn resumed(&self) -> Result<(), LostReason> {
        each!(self, held => held.resumed().await)
    }

    async fn revoked(&self) -> Result<(), LostReason> {
        each!(self, _held => pending().await, _held.revoked().await, pending().await)
    }

    fn check(&self) -> Op {
        each!(self, held => held.fence())
    }

    async fn transact(&self, ops: Vec<Op>) -> Result<Vec<OpResult>, Error> {
        each!(self, held => held.transact(ops).await)
    }

    async fn transact_once(&self, ops: Vec<Op>) -> Result<(), Error> {
        each!(self, _held => _held.transact_once(ops).await, Err(ErrorKind::Unimplemented.into()), _held.transact_once(ops).await)
    }

    fn has_receipts(&self) -> bool {
        each!(self, _held => true, false, true)
    }

    async fn run<T: Send>(&self, work: impl Future<Output = T> + Send) -> Result<T, Interrupt> {
        each!(
            self,
            held => held.run(work).await.map_err(Interrupt::Stop),
            held.run(work).await,
            held.run(work).await.map_err(Interrupt::Stop)
        )
    }
}

/// The methods of guards beyond those of [`Held`], which a mutant has too.
pub trait Guarding: Held {
    /// The path of the hold's znode.
    fn path(&self) -> &str;

    /// The state of the hold.
    fn state(&self) -> HoldState;

    /// Resolves when a suspect hold is confirmed.
    fn resumed(&self) -> impl Future<Output = Result<(), LostReason>> + Send;

    /// Resolves when the holder was asked to go; never, if the recipe has no revocation.
    fn revoked(&self) -> impl Future<Output = Result<(), LostReason>> + Send;

    /// The check for the holder's own transaction.
    fn check(&self) -> Op;

    /// Applies writes while the hold lasts.
    fn transact(&self, ops: Vec<Op>) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send;

    /// The same, exactly once.
    fn transact_once(&self, ops: Vec<Op>) -> impl Future<Output = Result<(), Error>> + Send;

    /// Whether it can write exactly once.
    fn has_receipts(&self) -> bool;

    /// Drives work until the holder must stop.
    fn run<T: Send>(
        &self,
        work: impl Future<Output = T> + Send,
    ) -> impl Future<Output = Result<T, Interrupt>> + Send;
}

/// The methods of the recipes, which a mutant has too.
pub trait Grants: Send + Sync + 'static {
    /// The guard's type.
    type Guard: Guarding;

    /// Waits for a hold: for ever, for the limit of the call, or not at all. `None`: it was not free.
    fn take(
        &self,
        call: Call,
        priority: u16,
    ) -> impl Future<Output = Result<Option<Self::Guard>, Error>> + Send;

    /// Lists the contenders, in order.
    fn contenders(&self) -> impl Future<Output = Result<Vec<Listed>, Error>> + Send;

    /// Deletes the znode of a contender; `None` if it was already gone.
    fn evict(&self, whom: &Listed) -> impl Future<Output = Result<Option<()>, Error>> + Send;

    /// Asks a contender to go, or revokes it after the grace period.
    fn revoke(
        &self,
        whom: &Listed,
        grace: Option<Duration>,
    ) -> impl Future<Output = Result<Fate, Error>> + Send;
}

impl<Z: ZooKeeper> Grants for Line<Z> {
    type Guard = Hold<Z>;

    async fn take(&self, call: Call, priority: u16) -> Result<Option<Hold<Z>>, Error> {
        Line::take(self, call, priority).await
    }

    async fn contenders(&self) -> Result<Vec<Listed>, Error> {
        Line::contenders(self).await
    }

    async fn evict(&self, whom: &Listed) -> Result<Option<()>, Error> {
        Line::evict(self, whom).await
    }

    async fn revoke(&self, whom: &Listed, grace: Option<Duration>) -> Result<Fate, Error> {
        Line::revoke(self, whom, grace).await
    }
}
