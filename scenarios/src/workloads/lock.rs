//! Clients that take a lock again and again, and write to a resource that it guards.
//!
//! Each round: acquire (now and then with a time limit, or only if it is free), hold for a while and write to the
//! resource in between, release. Whoever is told to stop stops, except that a write which has left for the resource
//! arrives there: it is the resource that refuses it, by its token. A client whose session ends opens another.

use crate::client::Client;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::{ObjectId, OpId, Outcome, Verb, Why};
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{Lock, LockGuard, LockOptions, Released, Stop};

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

/// A lock that is held.
pub trait Held: Send + Sync + 'static {
    /// The fencing token.
    fn token(&self) -> i64;

    /// Resolves when the holder must stop.
    fn lost(&self) -> impl Future<Output = Stop> + Send;

    /// Gives it back.
    fn release(self) -> impl Future<Output = Result<Released, Error>> + Send;
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

impl<Z: ZooKeeper> Held for LockGuard<Z> {
    fn token(&self) -> i64 {
        LockGuard::token(self)
    }

    fn lost(&self) -> impl Future<Output = Stop> + Send {
        LockGuard::lost(self)
    }

    fn release(self) -> impl Future<Output = Result<Released, Error>> + Send {
        LockGuard::release(self)
    }
}

/// How long things take. Real ensembles on a busy machine want other figures than simulated ones.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Between two rounds, at the least.
    pub think: Duration,
    /// Between two writes of a holder, at the least.
    pub work: Duration,
    /// A write's way to the resource.
    pub write: Duration,
    /// The time limit of an impatient acquire.
    pub limit: Duration,
}

impl Pace {
    /// For the simulation: a hold is some hundred milliseconds, a session several seconds.
    pub const SIMULATED: Pace = Pace {
        think: Duration::from_millis(10),
        work: Duration::from_millis(30),
        write: Duration::from_millis(5),
        limit: Duration::from_millis(400),
    };
}

/// The lock's directory.
pub const DIRECTORY: &str = "/locks/a";

/// One client's part: so many rounds, the first of which is number `round`; `done` is told after each.
pub async fn client<C: Client, L: Exclusive<C::Zk>>(
    client: C,
    rounds: std::ops::Range<u32>,
    pace: Pace,
    done: impl Fn(u32) + Send,
) {
    let mut session: Option<C::Zk> = None;
    for round in rounds {
        client.sleep(pace.think * client.choose(8)).await;
        loop {
            let away = session.as_ref().is_some_and(|zk| !zk.status().is_connected());
            if away
                && client.choose(4) == 3
                && let Some(zk) = session.take()
            {
                // Given up while it lives: it ends when it expires.
                let _ = zk.close(Duration::ZERO).await;
            }
            let zk = match &session {
                Some(zk) if zk.status().over().is_none() => zk.clone(),
                _ => match client.open().await {
                    Ok(zk) => session.insert(zk).clone(),
                    // Nothing was held and nothing was asked for: try again.
                    Err(_) => continue,
                },
            };
            let lock = L::on(&zk, DIRECTORY).expect("the directory is a good path");
            if attempt(&client, &zk, &lock, pace).await || zk.status().over().is_none() {
                break;
            }
        }
        done(round + 1);
    }
}

/// One acquire with what follows. Whether it came to an end with this session.
async fn attempt<C: Client, L: Exclusive<C::Zk>>(client: &C, zk: &C::Zk, lock: &L, pace: Pace) -> bool {
    let object = ObjectId(0);
    let me = client.number();
    let (verb, limit) = match client.choose(8) {
        6 => (Verb::Acquire, pace.limit),
        7 => (Verb::TryAcquire, Duration::ZERO),
        _ => (Verb::Acquire, Duration::ZERO),
    };
    let op = client.journal(|j, at| j.call(at, me, object, verb, limit.as_micros() as u32));
    client.set_op(op.0);
    let acquiring = async {
        match verb {
            Verb::TryAcquire => lock.try_acquire().await,
            _ if limit.is_zero() => lock.acquire().await.map(Some),
            _ => lock.acquire_within(limit).await.map(Some),
        }
    };
    let guard = match unless_cancelled(client, acquiring).await {
        Some(Ok(Some(guard))) => guard,
        ended => {
            let outcome = match &ended {
                None => Outcome::Cancelled,
                Some(Err(e)) if e.is_outcome_unknown() => Outcome::Unknown,
                _ => Outcome::Refused,
            };
            client.journal(|j, at| j.returned(at, me, op, outcome));
            client.set_op(0);
            return !matches!(ended, Some(Err(e)) if e.is_session_over());
        }
    };
    let (token, session) = (guard.token(), zk.session());
    client.journal(|j, at| {
        j.returned(at, me, op, Outcome::Done);
        j.believe(at, me, op, object, session, token);
    });
    client.set_op(0);
    hold(client, &guard, op, token, pace).await;
    if client.choose(8) == 7 {
        // Now and then the guard is simply dropped: its duty releases.
        drop(guard);
        return true;
    }
    let releasing = client.journal(|j, at| j.call(at, me, object, Verb::Release, 0));
    client.set_op(releasing.0);
    let outcome = match unless_cancelled(client, guard.release()).await {
        None => Outcome::Cancelled,
        Some(Ok(_)) => Outcome::Done,
        Some(Err(e)) if e.is_outcome_unknown() => Outcome::Unknown,
        Some(Err(_)) => Outcome::Refused,
    };
    client.journal(|j, at| j.returned(at, me, releasing, outcome));
    client.set_op(0);
    true
}

/// Holds for a while and writes to the resource, until the time is over or the guard says stop.
async fn hold<C: Client>(client: &C, guard: &impl Held, op: OpId, token: i64, pace: Pace) {
    let me = client.number();
    let mut why = Why::Released;
    for _ in 0..1 + client.choose(3) {
        if let Some(stop) = unless_lost(guard, client.sleep(pace.work * (1 + client.choose(4)))).await {
            why = stop;
            break;
        }
        // On its way to the resource a write can no longer be called back, whatever its sender believes by then.
        let mut arriving = pin!(client.sleep(pace.write));
        let stop = unless_lost(guard, arriving.as_mut()).await;
        if let Some(stop) = stop {
            client.journal(|j, at| j.unbelieve(at, me, op, stop));
            arriving.await;
        }
        client.journal(|j, at| j.resource(at, me, op, ObjectId(0), token));
        if stop.is_some() {
            return;
        }
    }
    client.journal(|j, at| j.unbelieve(at, me, op, why));
}

/// Waits for `work`, or until the holder must stop: then says why.
async fn unless_lost(guard: &impl Held, work: impl Future<Output = ()>) -> Option<Why> {
    match select(pin!(guard.lost()), pin!(work)).await {
        Either::Left((Stop::Suspect { .. }, _)) => Some(Why::Suspect),
        Either::Left((Stop::Lost(_), _)) => Some(Why::Lost),
        Either::Right(_) => None,
    }
}

/// The output, or `None` if the caller was asked to drop the future first.
async fn unless_cancelled<C: Client, T>(client: &C, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(client.cancelled()), pin!(work)).await {
        Either::Left(_) => None,
        Either::Right((output, _)) => Some(output),
    }
}
