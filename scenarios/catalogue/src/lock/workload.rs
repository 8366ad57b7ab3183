//! Clients that take a lock again and again, and write to a resource that it guards.
//!
//! Each round: acquire (now and then with a time limit, or only if it is free), hold for a while and write to the
//! resource in between, release. Whoever is told to stop stops, except that a write which has left for the resource
//! arrives there: it is the resource that refuses it, by its token. A client whose session ends opens another.

use futures_util::FutureExt;
use sim_zk::fault::Fault;
use std::future::Future;
use std::ops::Range;
use std::time::Duration;
use zk_checker::RuleId;
use zk_checker::history::{Kind, Names, Object, ObjectId, Verb};
use zk_harness::client::Client;
use zk_harness::holding::{Belief, Held, give_back};
use zk_harness::operation::{Call, Ended, attempt, nothing};
use zk_harness::pace::Pace;
use zk_harness::plan::Plan;
use zk_harness::rounds::{Round, SESSIONS, rounds};
use zk_harness::sometimes;
use zk_harness::target::{Done, Setting, Stated, Target};
use zk_real::RealTarget;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{Lock, LockGuard, LockOptions};

/// The lock under load.
pub static TARGET: Target = Target {
    name: "lock",
    about: "clients take an exclusive lock in turn and write to the resource behind it",
    caught_by: None,
    faults: &Fault::ALL,
    plan: Plan::drawn,
    objects,
    sim: |c, setting, rounds, done| client::<_, Lock<_>>(c, setting, rounds, done).boxed(),
    required: &[
        RuleId::Mx1,
        RuleId::Mx2,
        RuleId::Mx3,
        RuleId::Mx4,
        RuleId::Mx5,
        RuleId::Mx6,
        RuleId::Mx7,
        RuleId::Mx8,
        RuleId::Mx9,
        RuleId::Mx10,
        RuleId::Mx11,
        RuleId::Mx12,
        RuleId::Mx13,
        RuleId::Mx14,
    ],
    stated: &STATED,
    injected_bug: None,
    must_reach: &[],
};

/// The same on real servers.
pub static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, Lock<_>>(c, setting, rounds, done).boxed(),
    required: &[RuleId::Mx1, RuleId::Mx13],
    is_long: false,
};

/// What its runs owe.
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

/// Something that is used like a lock: the lock itself, or one that is broken on purpose.
pub trait Exclusive<Z: ZooKeeper>: Clone + Send + Sync + 'static {
    /// What a grant gives.
    type Guard: Held;

    /// The lock on a directory.
    fn on(zk: &Z, directory: &str) -> Result<Self, Error>;

    /// Waits for the lock.
    fn acquire(&self) -> impl Future<Output = Result<Self::Guard, Error>> + Send;

    /// Waits for the lock for a limited time.
    fn acquire_within(&self, limit: Duration) -> impl Future<Output = Result<Self::Guard, Error>> + Send;

    /// Takes the lock if it is free.
    fn try_acquire(&self) -> impl Future<Output = Result<Option<Self::Guard>, Error>> + Send;
}

impl<Z: ZooKeeper> Exclusive<Z> for Lock<Z> {
    type Guard = LockGuard<Z>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Lock::new(zk, directory, LockOptions::default())
    }

    fn acquire(&self) -> impl Future<Output = Result<LockGuard<Z>, Error>> + Send {
        Lock::acquire(self)
    }

    fn acquire_within(&self, limit: Duration) -> impl Future<Output = Result<LockGuard<Z>, Error>> + Send {
        Lock::acquire_within(self, limit)
    }

    fn try_acquire(&self) -> impl Future<Output = Result<Option<LockGuard<Z>>, Error>> + Send {
        Lock::try_acquire(self)
    }
}

/// One client's part.
pub async fn client<C: Client, L: Exclusive<C::Zk>>(
    client: C,
    setting: Setting,
    numbers: Range<u32>,
    done: Done,
) {
    let on = |zk: &C::Zk| L::on(zk, DIRECTORY).expect("the directory is a good path");
    client_with(client, setting, numbers, done, on).await;
}

/// The same, with locks that are made in a way of their own.
pub async fn client_with<C: Client, L: Exclusive<C::Zk>>(
    client: C,
    setting: Setting,
    numbers: Range<u32>,
    done: Done,
    on: impl Fn(&C::Zk) -> L + Send + Sync,
) {
    let (client, pace, on) = (&client, setting.pace, &on);
    let round = |zk: C::Zk, _| async move {
        let lock = on(&zk);
        take_turn(client, &zk, &lock, pace).await
    };
    rounds(client, pace, numbers, done, round).await;
}

/// One acquire with what follows.
async fn take_turn<C: Client, L: Exclusive<C::Zk>>(client: &C, zk: &C::Zk, lock: &L, pace: Pace) -> Round {
    let call = match client.choose(8) {
        6 => Call::new(LOCK, Verb::Acquire).within(pace.limit),
        7 => Call::new(LOCK, Verb::TryAcquire),
        _ => Call::new(LOCK, Verb::Acquire),
    };
    let acquiring = || async {
        match call.verb {
            Verb::TryAcquire => lock.try_acquire().await,
            _ if call.limit.is_zero() => lock.acquire().await.map(Some),
            _ => lock.acquire_within(call.limit).await.map(Some),
        }
    };
    let (op, guard) = match attempt(client, call, nothing, acquiring).await {
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
