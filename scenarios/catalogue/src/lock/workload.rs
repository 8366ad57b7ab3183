//! Clients that take a lock repeatedly, and write to a resource that it guards.
//!
//! Each round: acquire (occasionally with a time limit, or only if it is free), hold for a while and write to the
//! resource in between, release. A holder that must stop stops, but a write in flight still arrives at the resource,
//! which refuses it by its token. A client whose session ends opens another.

use crate::prelude::*;
use std::future::Future;
use std::time::Duration;
use zk_recipes::{Guard, Lock, LockOptions, guard};

/// The lock under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients take an exclusive lock in turn and write to the resource behind it",
    required: &[Mx1, Mx2, Mx3, Mx4, Mx5, Mx6, Mx7, Mx8, Mx9, Mx10, Mx11, Mx12, Mx13, Mx14],
    ..Workload::own("lock", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
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
        "a lock is not free when it is tried",
        "the time limit of an acquire is over",
    ],
};

/// The lock's directory.
pub const DIRECTORY: &str = "/locks/a";

/// The lock, among the objects of its run.
pub const LOCK: ObjectId = ObjectId(0);

/// The lock, as it is declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![setting.held(Kind::Lock, names.intern(DIRECTORY))]
}

/// The lock on [`DIRECTORY`].
pub fn new<Z: ZooKeeper>(zk: &Z) -> Lock<Z> {
    Lock::new(zk, DIRECTORY, LockOptions::default()).expect("the directory is a good path")
}

/// The lock, or a mutant of it.
pub trait Exclusive: Clone + Send + Sync + 'static {
    /// The guard's type.
    type Guard: Held;

    /// Waits for the lock: for ever, for the limit of the call, or not at all. `None`: it was not free.
    fn take(&self, call: Call) -> impl Future<Output = Result<Option<Self::Guard>, Error>> + Send;
}

impl<Z: ZooKeeper> Exclusive for Lock<Z> {
    type Guard = Guard<Z, guard::Exclusive>;

    async fn take(
        &self,
        Call { verb, limit, .. }: Call,
    ) -> Result<Option<Guard<Z, guard::Exclusive>>, Error> {
        match verb {
            Verb::TryAcquire => self.try_acquire().await,
            _ => limited(self.acquire(), limit).await.map(Some),
        }
    }
}

/// One client's part.
pub async fn client<C: Client, L: Exclusive>(task: Task<C>, make: Make<C::Zk, L>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    let round = |zk: C::Zk, _| async move {
        let lock = make(&zk);
        take_turn(client, &zk, &lock, pace).await
    };
    rounds(&task, round).await;
}

/// One acquire, and the hold that follows.
async fn take_turn<C: Client, L: Exclusive>(client: &C, zk: &C::Zk, lock: &L, pace: Pace) -> Round {
    let call = match client.choose(8) {
        6 => Call::new(LOCK, Verb::Acquire).within(pace.limit),
        7 => Call::new(LOCK, Verb::TryAcquire),
        _ => Call::new(LOCK, Verb::Acquire),
    };
    let (op, guard) = match attempt(client, call, nothing, || lock.take(call)).await {
        (op, Ended::Done(Some(guard))) => (op, guard),
        (_, ended) if ended.is_session_over() => return Round::Again,
        (_, ended) => {
            let was_taken = matches!(ended, Ended::Done(None));
            sometimes!(client, "a lock is not free when it is tried", was_taken);
            sometimes!(client, "the time limit of an acquire is over", !was_taken && !call.limit.is_zero());
            return Round::Over;
        }
    };
    Belief::begin(client, zk.session(), &guard, LOCK, op).write_for_a_while(pace).await;
    give_back(client, LOCK, guard).await;
    Round::Over
}
