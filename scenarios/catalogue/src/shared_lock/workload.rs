//! Clients that read and write under a shared lock repeatedly.
//!
//! Each round: ask to read or to write (occasionally with a time limit, or only if it is free), hold for a while and
//! use the resource in between; occasionally a writer downgrades to a reader; release. A client whose session ends
//! opens another.

use crate::prelude::*;
use std::future::Future;
use std::time::Duration;
use zk_recipes::guard::{Read, Write};
use zk_recipes::{Guard, NotDowngraded, SharedLock, SharedLockOptions};

/// The shared lock under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients read and write under a shared lock, and some writers downgrade to readers",
    plan: |seed| Plan { clients: 4, ..Plan::drawn(seed) },
    required: &[Mx1, Mx5, Mx6, Mx7, Mx8, Mx9, Mx10, Mx11, Mx12, Mx13, Mx14, Rw1, Rw2, Rw3, Rw4, Rw5],
    ..Workload::own("shared-lock", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[Mx1, Mx13]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a write arrives when its holder has stopped",
        "a resource refuses a former holder's write",
        "a writer downgrades",
        "a downgrade fails, and the writer keeps its hold",
    ],
};

/// The lock's directory.
pub const DIRECTORY: &str = "/locks/s";

/// The lock, among the objects of its run.
pub const LOCK: ObjectId = ObjectId(0);

/// The lock, as it is declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![setting.held(Kind::SharedLock, names.intern(DIRECTORY))]
}

/// The shared lock on [`DIRECTORY`].
pub fn new<Z: ZooKeeper>(zk: &Z) -> SharedLock<Z> {
    SharedLock::new(zk, DIRECTORY, SharedLockOptions::default()).expect("the directory is a good path")
}

/// The shared lock, or a mutant of it.
pub trait Shared: Clone + Send + Sync + 'static {
    /// The type of a reader's guard.
    type Read: Held;
    /// The type of a writer's guard.
    type Write: Held;

    /// Waits to read or to write: for ever, for the limit of the call, or not at all. `None`: it was not free.
    fn take(&self, call: Call) -> impl Future<Output = Taken<Self::Read, Self::Write>> + Send;

    /// Downgrades to a reader, if the lock supports that.
    fn downgrade(
        write: Self::Write,
    ) -> impl Future<Output = Result<Self::Read, NotDowngraded<Self::Write>>> + Send;
}

/// The result of an acquire.
pub type Taken<R, W> = Result<Option<Granted<R, W>>, Error>;

/// Implements [`Shared`] for a recipe by its own methods.
macro_rules! shared {
    ($lock:ident, $read:ty, $write:ty) => {
        impl<Z: ZooKeeper> Shared for $lock<Z> {
            type Read = Guard<Z, $read>;
            type Write = Guard<Z, $write>;

            async fn take(&self, Call { verb, limit, .. }: Call) -> Taken<Self::Read, Self::Write> {
                Ok(match verb {
                    Verb::Read => Some(Granted::Read(limited(self.read(), limit).await?)),
                    Verb::TryRead => self.try_read().await?.map(Granted::Read),
                    Verb::TryWrite => self.try_write().await?.map(Granted::Write),
                    _ => Some(Granted::Write(limited(self.write(), limit).await?)),
                })
            }

            async fn downgrade(write: Self::Write) -> Result<Self::Read, NotDowngraded<Self::Write>> {
                write.downgrade().await
            }
        }
    };
}

pub(crate) use shared;

shared!(SharedLock, Read, Write);

/// The guard that an acquire returns.
pub enum Granted<R, W> {
    /// Held together with other readers.
    Read(R),
    /// Held alone.
    Write(W),
}

/// Draws the acquire of a round.
pub fn drawn<C: Client>(client: &C, pace: Pace) -> Call {
    match client.choose(10) {
        0..=2 => Call::new(LOCK, Verb::Write),
        3..=5 => Call::new(LOCK, Verb::Read),
        6 => Call::new(LOCK, Verb::Write).within(pace.limit),
        7 => Call::new(LOCK, Verb::Read).within(pace.limit),
        8 => Call::new(LOCK, Verb::TryWrite),
        _ => Call::new(LOCK, Verb::TryRead),
    }
}

/// One client's part.
pub async fn client<C: Client, L: Shared>(task: Task<C>, make: Make<C::Zk, L>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    let round = |zk: C::Zk, _| async move {
        let lock = make(&zk);
        take_turn(client, &zk, &lock, pace).await
    };
    rounds(&task, round).await;
}

/// One acquire, and the hold that follows.
async fn take_turn<C: Client, L: Shared>(client: &C, zk: &C::Zk, lock: &L, pace: Pace) -> Round {
    let call = drawn(client, pace);
    let (op, granted) = match attempt(client, call, nothing, || lock.take(call)).await {
        (op, Ended::Done(Some(granted))) => (op, granted),
        (_, ended) if ended.is_session_over() => return Round::Again,
        _ => return Round::Over,
    };
    match granted {
        Granted::Read(guard) => {
            Belief::begin(client, zk.session(), &guard, LOCK, op).write_for_a_while(pace).await;
            give_back(client, LOCK, guard).await;
        }
        Granted::Write(guard) if client.choose(3) == 2 => {
            let belief = Belief::begin(client, zk.session(), &guard, LOCK, op);
            if let Some(why) = belief.unless_lost(client.sleep(pace.work)).await {
                belief.end(why);
                give_back(client, LOCK, guard).await;
                return Round::Over;
            }
            match downgrade::<C, L>(client, op, guard).await {
                Downgraded::Reader(op, guard) => {
                    Belief::begin(client, zk.session(), &guard, LOCK, op).write_for_a_while(pace).await;
                    give_back(client, LOCK, guard).await;
                }
                Downgraded::Writer(guard) => give_back(client, LOCK, guard).await,
                Downgraded::Gone => {}
            }
        }
        Granted::Write(guard) => {
            Belief::begin(client, zk.session(), &guard, LOCK, op).write_for_a_while(pace).await;
            give_back(client, LOCK, guard).await;
        }
    }
    Round::Over
}

/// The result of a downgrade.
pub enum Downgraded<R, W> {
    /// The client is a reader, by that operation.
    Reader(OpId, R),
    /// The downgrade failed: the writer's hold stays, but the client no longer acts as a writer.
    Writer(W),
    /// The operation was dropped, and the guard with it.
    Gone,
}

/// Downgrades the writer whose belief began with operation `writing`.
pub async fn downgrade<C: Client, L: Shared>(
    client: &C,
    writing: OpId,
    guard: L::Write,
) -> Downgraded<L::Read, L::Write> {
    let mut refused = None;
    // From the call on it does not act as a writer, and it acts as a reader only after the reply.
    let stops = |journal: &mut Journal, at, _| {
        journal.unbelieve(at, client.number(), writing, Why::Released);
    };
    let work = || async {
        L::downgrade(guard).await.map_err(|not| {
            let error = not.error.clone();
            refused = Some(not.guard);
            error
        })
    };
    let (op, ended) = operation(client, Call::new(LOCK, Verb::Downgrade), stops, work).await;
    match (ended, refused) {
        (Ended::Done(read), _) => {
            sometimes!(client, "a writer downgrades", true);
            Downgraded::Reader(op, read)
        }
        (_, Some(guard)) => {
            sometimes!(client, "a downgrade fails, and the writer keeps its hold", true);
            Downgraded::Writer(guard)
        }
        (_, None) => Downgraded::Gone,
    }
}
