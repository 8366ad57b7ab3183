//! Locks and elections: the handle, and what is held.

use crate::common::left_alone::{Call, Calling, Part, Scene, call, none_holds_up_another};
use crate::common::{Client, Stage};
use sim_zk::SimClient;
use std::time::Duration;
use zk_recipes::guard::{Exclusive, Permits, Revocable, Write};
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{
    Contender, Election, ElectionOptions, Guard, Leadership, Lock, LockOptions, Priority, PriorityContender,
    PriorityLock, PriorityLockOptions, RevocableLock, RevocableLockOptions, Semaphore, SemaphoreOptions,
    SharedLock, SharedLockOptions, Term,
};

const SHORT: Duration = Duration::from_secs(10);

/// A lock and its guard, or the like.
struct Held<L, G> {
    a: Client,
    b: Client,
    path: String,
    lock: Part<L>,
    guard: Part<G>,
}

impl<L, G> Held<L, G> {
    /// A stranger deletes the znode of the one who holds it.
    fn freed(&self) -> Calling {
        let (zk, path) = (self.b.zk.clone(), self.path.clone());
        Box::pin(async move { drop(zk.delete(&path, None).await) })
    }
}

fn nobody() -> Contender {
    Contender { path: "/x/0123456789abcdef0123456789abcdef-write-0000000099".into(), number: 99 }
}

/// A call that makes a znode in line.
fn stands(call: &str) -> bool {
    ["acquire", "read", "write", "stand"].iter().any(|verb| call.contains(verb)) && call.starts_with("lock.")
}

/// A call that waits for all who are in its way.
fn waits(call: &str) -> bool {
    stands(call) && !call.contains("try_") && !call.contains("within")
}

/// Who stands in line is served before those behind it, also if it does not ask; and a writer that goes on as a reader holds
/// the lock.
fn in_line(left: &str, other: &str) -> Option<&'static str> {
    match left {
        "guard.downgrade" if waits(other) && other.contains("write") => Some("the lock is held by a reader"),
        "guard.transact_once" if other == left => Some("they are applied one after the other"),
        _ if stands(left) && waits(other) => Some("those ahead in line go first"),
        _ => None,
    }
}

impl Scene for Held<Lock<SimClient>, Guard<SimClient, Exclusive>> {
    const CALLS: &'static [Call<Self>] = &[
        call!(share lock.acquire(), while freed),
        call!(share lock.acquire() within SHORT),
        call!(share lock.try_acquire()),
        call!(share lock.contenders()),
        call!(share lock.evict(&nobody())),
        call!(share guard.lost(), while freed),
        call!(share guard.resumed()),
        call!(share guard.run(async {})),
        call!(share guard.transact(Vec::new())),
        call!(share guard.transact_once(Vec::new())),
        call!(take guard.release()),
    ];

    fn inherent(left: &str, other: &str) -> Option<&'static str> {
        in_line(left, other)
    }

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let lock = Lock::new(&a.zk, "/x", LockOptions::default()).expect("the path is good");
        let guard = lock.acquire().await.expect("it is free");
        let path = guard.path().to_owned();
        Held { a, b, path, lock: Part::new(lock), guard: Part::new(guard) }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

impl Scene for Held<SharedLock<SimClient>, Guard<SimClient, Write>> {
    const CALLS: &'static [Call<Self>] = &[
        call!(share lock.read(), while freed),
        call!(share lock.write(), while freed),
        call!(share lock.read() within SHORT),
        call!(share lock.write() within SHORT),
        call!(share lock.try_read()),
        call!(share lock.try_write()),
        call!(share lock.contenders()),
        call!(share lock.evict(&nobody())),
        call!(share guard.lost(), while freed),
        call!(share guard.resumed()),
        call!(share guard.run(async {})),
        call!(share guard.transact(Vec::new())),
        call!(share guard.transact_once(Vec::new())),
        call!(take guard.downgrade()),
        call!(take guard.release()),
    ];

    fn inherent(left: &str, other: &str) -> Option<&'static str> {
        in_line(left, other)
    }

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let lock = SharedLock::new(&a.zk, "/x", SharedLockOptions::default()).expect("the path is good");
        let guard = lock.write().await.expect("it is free");
        let path = guard.path().to_owned();
        Held { a, b, path, lock: Part::new(lock), guard: Part::new(guard) }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

impl Held<RevocableLock<SimClient>, Guard<SimClient, Revocable<Write>>> {
    /// Somebody asks the one who holds it to go.
    fn asked(&self) -> Calling {
        let lock = self.lock.share().expect("it is never taken");
        let holder = Contender { path: self.path.clone(), number: 0 };
        Box::pin(async move { drop(lock.ask(&holder).await) })
    }
}

impl Scene for Held<RevocableLock<SimClient>, Guard<SimClient, Revocable<Write>>> {
    const CALLS: &'static [Call<Self>] = &[
        call!(share lock.read(), while freed),
        call!(share lock.write(), while freed),
        call!(share lock.read() within SHORT),
        call!(share lock.write() within SHORT),
        call!(share lock.try_read()),
        call!(share lock.try_write()),
        call!(share lock.contenders()),
        call!(share lock.ask(&nobody())),
        call!(share lock.force(&nobody(), SHORT)),
        call!(share guard.lost(), while freed),
        call!(share guard.revoked(), while asked),
        call!(share guard.resumed()),
        call!(share guard.run(async {})),
        call!(share guard.run(std::future::pending::<()>()), while asked),
        call!(share guard.transact(Vec::new())),
        call!(take guard.downgrade()),
        call!(take guard.release()),
    ];

    fn inherent(left: &str, other: &str) -> Option<&'static str> {
        in_line(left, other)
    }

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let lock =
            RevocableLock::new(&a.zk, "/x", RevocableLockOptions::default()).expect("the path is good");
        let guard = lock.write().await.expect("it is free");
        let path = guard.path().to_owned();
        Held { a, b, path, lock: Part::new(lock), guard: Part::new(guard) }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

fn nobody_urgent() -> PriorityContender {
    let path = "/x/line/0123456789abcdef0123456789abcdef-write-00001-0000000099".into();
    PriorityContender { path, priority: Priority(1), writes: true, holds: false }
}

impl Held<PriorityLock<SimClient>, Guard<SimClient, Revocable<Exclusive>>> {
    fn asked(&self) -> Calling {
        let lock = self.lock.share().expect("it is never taken");
        let (path, priority) = (self.path.clone(), Priority(5));
        let holder = PriorityContender { path, priority, writes: true, holds: true };
        Box::pin(async move { drop(lock.ask(&holder).await) })
    }
}

impl Scene for Held<PriorityLock<SimClient>, Guard<SimClient, Revocable<Exclusive>>> {
    const CALLS: &'static [Call<Self>] = &[
        call!(share lock.read(Priority(5)), while freed),
        call!(share lock.write(Priority(5)), while freed),
        call!(share lock.read(Priority(1)) within SHORT),
        call!(share lock.write(Priority(9)) within SHORT),
        call!(share lock.contenders()),
        call!(share lock.ask(&nobody_urgent())),
        call!(share lock.force(&nobody_urgent(), SHORT)),
        call!(share guard.lost(), while freed),
        call!(share guard.revoked(), while asked),
        call!(share guard.resumed()),
        call!(share guard.run(async {})),
        call!(share guard.run(std::future::pending::<()>()), while asked),
        call!(share guard.transact(Vec::new())),
        call!(take guard.release()),
    ];

    fn inherent(left: &str, other: &str) -> Option<&'static str> {
        in_line(left, other)
    }

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let lock = PriorityLock::new(&a.zk, "/x", PriorityLockOptions::default()).expect("the path is good");
        let guard = lock.write(Priority(5)).await.expect("it is free");
        let path = guard.path().to_owned();
        Held { a, b, path, lock: Part::new(lock), guard: Part::new(guard) }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

impl Scene for Held<Semaphore<SimClient>, Guard<SimClient, Permits>> {
    const CALLS: &'static [Call<Self>] = &[
        call!(share lock.acquire(2), while freed),
        call!(share lock.acquire(2) within SHORT),
        call!(share lock.try_acquire(1)),
        call!(share lock.permits()),
        call!(share lock.set_permits(2)),
        call!(share lock.set_permits(3)),
        call!(share lock.holders()),
        call!(share guard.lost(), while freed),
        call!(share guard.resumed()),
        call!(share guard.run(async {})),
        call!(share guard.transact(Vec::new())),
        call!(share guard.transact_once(Vec::new())),
        call!(take guard.release()),
    ];

    fn inherent(left: &str, other: &str) -> Option<&'static str> {
        in_line(left, other)
    }

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let semaphore =
            Semaphore::new(&a.zk, "/x", 3, SemaphoreOptions::default()).expect("the input is good");
        let guard = semaphore.acquire(2).await.expect("they are free");
        let path = guard.path().to_owned();
        Held { a, b, path, lock: Part::new(semaphore), guard: Part::new(guard) }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

/// An office that is held, and one who observes it.
struct Office {
    held: Held<Election<SimClient>, Term<SimClient>>,
    leadership: Part<Leadership<SimClient>>,
}

impl std::ops::Deref for Office {
    type Target = Held<Election<SimClient>, Term<SimClient>>;
    fn deref(&self) -> &Self::Target {
        &self.held
    }
}

impl Scene for Office {
    const CALLS: &'static [Call<Self>] = &[
        call!(share lock.stand(), while freed),
        call!(share lock.stand() within SHORT),
        call!(share lock.candidates()),
        call!(share lock.evict(&nobody())),
        call!(change leadership.next()),
        call!(share guard.acknowledge(b"begun")),
        call!(share guard.acknowledge(b"begun otherwise")),
        call!(share guard.lost(), while freed),
        call!(share guard.resumed()),
        call!(share guard.run(async {})),
        call!(share guard.transact(Vec::new())),
        call!(share guard.transact_once(Vec::new())),
        call!(take guard.resign()),
    ];

    fn inherent(left: &str, other: &str) -> Option<&'static str> {
        in_line(left, other)
    }

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let election = Election::new(&a.zk, "/x", ElectionOptions::default()).expect("the path is good");
        let term = election.stand().await.expect("nobody leads");
        let path = term.path().to_owned();
        let leadership = Part::new(election.follow());
        Office { held: Held { a, b, path, lock: Part::new(election), guard: Part::new(term) }, leadership }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

#[test]
fn none_of_a_lock() {
    none_holds_up_another::<Held<Lock<SimClient>, Guard<SimClient, Exclusive>>>();
}

#[test]
fn none_of_a_shared_lock() {
    none_holds_up_another::<Held<SharedLock<SimClient>, Guard<SimClient, Write>>>();
}

#[test]
fn none_of_a_revocable_lock() {
    none_holds_up_another::<Held<RevocableLock<SimClient>, Guard<SimClient, Revocable<Write>>>>();
}

#[test]
fn none_of_a_priority_lock() {
    none_holds_up_another::<Held<PriorityLock<SimClient>, Guard<SimClient, Revocable<Exclusive>>>>();
}

#[test]
fn none_of_a_semaphore() {
    none_holds_up_another::<Held<Semaphore<SimClient>, Guard<SimClient, Permits>>>();
}

#[test]
fn none_of_an_election() {
    none_holds_up_another::<Office>();
}
