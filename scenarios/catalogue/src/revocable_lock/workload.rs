//! Clients that take a revocable lock as readers and writers, and ask each other to go.
//!
//! Each round: occasionally ask a contender to go, or revoke it by force; then ask to read or to write, hold for a
//! while and use the resource in between, release. A holder that is asked to go records the request; two of three
//! holders then go. A waiter that is asked to go gives up, as its recipe does.

use crate::prelude::*;
use crate::shared_lock::workload::{Downgraded, Granted, LOCK, Shared, Taken, downgrade, drawn, shared};
use futures_util::future::select;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use zk_checker::history::Sym;
use zk_recipes::{Contender, Fate, Guard, NotDowngraded, RevocableLock, RevocableLockOptions, guard};

/// The revocable lock under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients read and write under a shared lock, and revoke each other, with and without force",
    plan: |seed| Plan { clients: 4, ..Plan::drawn(seed) },
    required: &[
        Mx1, Mx5, Mx6, Mx7, Mx8, Mx9, Mx10, Mx11, Mx12, Mx13, Mx14, Rw1, Rw2, Rw3, Rw4, Rw5, Rv1, Rv2, Rv3,
        Rv4,
    ],
    ..Workload::own("revocable-lock", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[Mx1, Mx13, Rv1]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a writer downgrades",
        "a downgrade fails, and the writer keeps its hold",
        "a revoked holder releases",
        "a revoked holder does not release",
        "a waiter is forced out",
    ],
};

/// The lock's directory.
pub const DIRECTORY: &str = "/locks/r";

/// The grace period before a forced revocation.
pub fn grace(pace: Pace) -> Duration {
    pace.work * 4
}

/// The lock, as it is declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![object(names.intern(DIRECTORY), setting)]
}

/// A lock on that directory, as it is declared to the checker.
pub fn object(directory: Sym, setting: &Setting) -> Object {
    let grace = grace(setting.pace).as_micros() as u64;
    let mut object = Object {
        manner: Manner { forced: true, grace, ..Manner::default() },
        ..setting.held(Kind::RevocableLock, directory)
    };
    // The read of the own znode, which no call awaits.
    object.budget.free_acquire += 1;
    object
}

/// The revocable lock on [`DIRECTORY`].
pub fn new<Z: ZooKeeper>(zk: &Z) -> RevocableLock<Z> {
    RevocableLock::new(zk, DIRECTORY, RevocableLockOptions::default()).expect("the directory is a good path")
}

/// A hold whose holder can be asked to go.
pub trait HeldUntilAsked: Held {
    /// Resolves when it was asked to go (true), or is lost (false).
    fn is_asked(&self) -> impl Future<Output = bool> + Send;
}

/// The methods of the revocable lock, which a mutant has too.
pub trait Revocable: Shared<Read: HeldUntilAsked, Write: HeldUntilAsked> {
    /// Whether the call of a waiter ends when it was asked to release.
    fn ends_when_asked(&self) -> bool {
        true
    }

    /// Lists the contenders.
    fn contenders(&self) -> impl Future<Output = Result<Vec<Contender>, Error>> + Send;

    /// Asks a contender to go.
    fn ask(&self, contender: &Contender) -> impl Future<Output = Result<Fate, Error>> + Send;

    /// Revokes a contender by force.
    fn force(
        &self,
        contender: &Contender,
        grace: Duration,
    ) -> impl Future<Output = Result<Fate, Error>> + Send;
}

shared!(RevocableLock, guard::Revocable<guard::Read>, guard::Revocable<guard::Write>);

impl<Z: ZooKeeper> HeldUntilAsked for Guard<Z, guard::Revocable<guard::Read>> {
    async fn is_asked(&self) -> bool {
        self.revoked().await.is_ok()
    }
}

impl<Z: ZooKeeper> HeldUntilAsked for Guard<Z, guard::Revocable<guard::Write>> {
    async fn is_asked(&self) -> bool {
        self.revoked().await.is_ok()
    }
}

impl<Z: ZooKeeper> Revocable for RevocableLock<Z> {
    async fn contenders(&self) -> Result<Vec<Contender>, Error> {
        RevocableLock::contenders(self).await
    }

    async fn ask(&self, contender: &Contender) -> Result<Fate, Error> {
        RevocableLock::ask(self, contender).await
    }

    async fn force(&self, contender: &Contender, grace: Duration) -> Result<Fate, Error> {
        RevocableLock::force(self, contender, grace).await
    }
}

/// One client's part.
pub async fn client<C: Client, L: Revocable>(task: Task<C>, make: Make<C::Zk, L>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    let round = |zk: C::Zk, _| async move {
        let lock = make(&zk);
        let asked = match client.choose(3) {
            1 => ask(client, &lock, Verb::Ask, pace).await,
            2 => ask(client, &lock, Verb::Force, pace).await,
            _ => Round::Over,
        };
        if asked == Round::Again {
            return Round::Again;
        }
        take_turn(client, &zk, &lock, pace).await
    };
    rounds(&task, round).await;
}

/// Asks a contender to go, or revokes it by force.
async fn ask<C: Client, L: Revocable>(client: &C, lock: &L, verb: Verb, pace: Pace) -> Round {
    let contenders = match lock.contenders().await {
        Ok(contenders) if !contenders.is_empty() => contenders,
        Err(error) if error.is_session_over() => return Round::Again,
        _ => return Round::Over,
    };
    let whom = &contenders[client.choose(contenders.len() as u32) as usize];
    let number = AtomicU32::new(0);
    let asking = || async {
        let fate = match verb {
            Verb::Ask => lock.ask(whom).await?,
            _ => lock.force(whom, grace(pace)).await?,
        };
        let op = OpId(number.load(Ordering::Relaxed));
        client.journal(|j, at| j.observed(at, client.number(), op, LOCK, Seen::Fate, name(fate), 0));
        Ok(())
    };
    let given = |journal: &mut Journal, at, op: OpId| {
        number.store(op.0, Ordering::Relaxed);
        journal.given(at, client.number(), op, &whom.path, 0);
    };
    match operation(client, Call::new(LOCK, verb), given, asking).await {
        (_, ended) if ended.is_session_over() => Round::Again,
        _ => Round::Over,
    }
}

/// A fate, as the history records it.
pub fn name(fate: Fate) -> &'static str {
    match fate {
        Fate::Asked => "asked",
        Fate::Yielded => "yielded",
        Fate::Forced => "forced",
        Fate::Gone => "gone",
    }
}

/// Records that the caller was asked to go.
fn heard<C: Client>(client: &C, op: OpId) {
    client.journal(|j, at| j.observed(at, client.number(), op, LOCK, Seen::Word, "unlock", 0));
}

/// One acquire, and the hold that follows.
async fn take_turn<C: Client, L: Revocable>(client: &C, zk: &C::Zk, lock: &L, pace: Pace) -> Round {
    let call = drawn(client, pace);
    let number = AtomicU32::new(0);
    let asking = || async {
        let granted = lock.take(call).await;
        if granted.as_ref().is_err_and(Error::is_revoked) {
            sometimes!(client, "a waiter is forced out", true);
            heard(client, OpId(number.load(Ordering::Relaxed)));
            if !lock.ends_when_asked() {
                return std::future::pending().await;
            }
        }
        granted
    };
    let given = |_: &mut Journal, _, op: OpId| number.store(op.0, Ordering::Relaxed);
    let (op, granted) = match attempt(client, call, given, asking).await {
        (op, Ended::Done(Some(granted))) => (op, granted),
        (_, ended) if ended.is_session_over() => return Round::Again,
        _ => return Round::Over,
    };
    match granted {
        Granted::Read(guard) => hold(client, zk, guard, op, pace).await,
        Granted::Write(guard) if client.choose(3) == 2 => {
            let belief = Belief::begin(client, zk.session(), &guard, LOCK, op);
            if let Some(why) = belief.unless_lost(client.sleep(pace.work)).await {
                belief.end(why);
                give_back(client, LOCK, guard).await;
                return Round::Over;
            }
            match downgrade::<C, L>(client, op, guard).await {
                Downgraded::Reader(op, guard) => hold(client, zk, guard, op, pace).await,
                Downgraded::Writer(guard) => give_back(client, LOCK, guard).await,
                Downgraded::Gone => {}
            }
        }
        Granted::Write(guard) => hold(client, zk, guard, op, pace).await,
    }
    Round::Over
}

/// Holds for a while and uses the resource in between, until the time is over, the holder must stop, or it goes when
/// asked to.
async fn hold<C: Client, H: HeldUntilAsked>(client: &C, zk: &C::Zk, guard: H, op: OpId, pace: Pace) {
    let belief = Belief::begin(client, zk.session(), &guard, LOCK, op);
    let goes = client.choose(3) < 2;
    let asked = async {
        if !guard.is_asked().await {
            // The belief reports the loss.
            return std::future::pending().await;
        }
        heard(client, op);
        sometimes!(client, "a revoked holder releases", goes);
        sometimes!(client, "a revoked holder does not release", !goes);
        if !goes {
            std::future::pending().await
        }
    };
    let work = async {
        for _ in 0..1 + client.choose(3) {
            client.sleep(pace.work * (1 + client.choose(4))).await;
            belief.use_resource();
        }
    };
    let until = async {
        select(pin!(asked), pin!(work)).await;
    };
    let why = belief.unless_lost(until).await;
    belief.end(why.unwrap_or(Why::Released));
    give_back(client, LOCK, guard).await;
}
