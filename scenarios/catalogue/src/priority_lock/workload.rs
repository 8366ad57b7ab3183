//! Clients of different urgency that take a lock of readers and writers, and ask each other to go.
//!
//! Each round: read or write with a priority (occasionally with a time limit), waiting for less urgent holders, asking
//! them to go, or revoking them; hold for a while and write to the resource in between; release. A holder that is asked
//! to go finishes its work; some hold for so long that they are revoked. A holder that must stop stops; a client whose
//! session ends opens another.

use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::{Budget, Sym};
use zk_recipes::guard::{Exclusive, Read, Revocable};
use zk_recipes::{Guard, LostReason, Preempt, Priority, PriorityLock, PriorityLockOptions, Released, Stop};

/// The priority lock under load.
pub static WORKLOAD: Workload = Workload {
    about: "readers and writers of several priorities take a lock and revoke each other",
    required: &[Mx1, Mx2, Mx3, Mx4, Mx5, Mx7, Mx8, Mx9, Mx10, Mx11, Mx12, Mx13, Mx14, Mx15, Rv1, Rv2, Rv5],
    ..Workload::own("priority-lock", objects, |task| client(task, Box::new(right)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(right)).boxed(), &[Mx1]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a write arrives when its holder has stopped",
        "a resource refuses a former holder's write",
        "a holder is revoked",
        "the time limit of an acquire is over",
    ],
};

/// The lock's directory.
pub const DIRECTORY: &str = "/locks/p";

/// The lock, among the objects of its run.
pub const LOCK: ObjectId = ObjectId(0);

/// The grace period before a forced revocation.
pub const GRACE: Duration = Duration::from_millis(200);

/// Six requests in two round trips; after each wake-up a waiter reads three times, and watches or is granted the lock.
const BUDGET: Budget = Budget { free_acquire: 6, free_round_trips: 2, release: 1, per_wake_up: 5 };

/// The lock, as it is declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![object(names.intern(DIRECTORY), setting)]
}

/// A lock on that directory, as it is declared to the checker.
pub fn object(directory: Sym, setting: &Setting) -> Object {
    Object {
        budget: BUDGET,
        manner: Manner { forced: true, grace: GRACE.as_micros() as u64, ..Manner::default() },
        ..setting.held(Kind::PriorityLock, directory)
    }
}

/// A hold of either kind.
#[allow(missing_docs, reason = "the words are those of the recipe")]
pub enum Hold<Z: ZooKeeper> {
    Read(Guard<Z, Revocable<Read>>),
    Write(Guard<Z, Revocable<Exclusive>>),
}

impl<Z: ZooKeeper> Held for Hold<Z> {
    fn token(&self) -> i64 {
        match self {
            Hold::Read(held) => held.token(),
            Hold::Write(held) => held.token(),
        }
    }

    async fn lost(&self) -> Stop {
        match self {
            Hold::Read(held) => held.lost().await,
            Hold::Write(held) => held.lost().await,
        }
    }

    async fn release(self) -> Result<Released, Error> {
        match self {
            Hold::Read(held) => held.release().await,
            Hold::Write(held) => held.release().await,
        }
    }
}

/// A hold whose holder can be asked to go.
pub trait HeldUrgently: Held {
    /// Resolves when the holder was asked to go.
    fn revoked(&self) -> impl Future<Output = Result<(), LostReason>> + Send;
}

/// The methods of the priority lock, which a mutant has too.
pub trait Urgent: Send + Sync + 'static {
    /// The guard's type.
    type Guard: HeldUrgently;

    /// Waits for a reader's or a writer's hold; zero means no time limit.
    fn acquire(
        &self,
        verb: Verb,
        priority: Priority,
        limit: Duration,
    ) -> impl Future<Output = Result<Self::Guard, Error>> + Send;
}

impl<Z: ZooKeeper> Urgent for PriorityLock<Z> {
    type Guard = Hold<Z>;

    async fn acquire(&self, verb: Verb, priority: Priority, limit: Duration) -> Result<Hold<Z>, Error> {
        acquire(self, verb, priority, limit).await
    }
}

impl<Z: ZooKeeper> HeldUrgently for Hold<Z> {
    async fn revoked(&self) -> Result<(), LostReason> {
        match self {
            Hold::Read(held) => held.revoked().await,
            Hold::Write(held) => held.revoked().await,
        }
    }
}

/// The priority lock on [`DIRECTORY`], over that session.
pub fn new<Z: ZooKeeper>(zk: &Z, preempt: Preempt) -> Result<PriorityLock<Z>, Error> {
    PriorityLock::new(zk, DIRECTORY, PriorityLockOptions::default().with_preempt(preempt))
}

/// Records the arguments of a call that takes the lock: no data, its priority, and its policy.
pub fn tell(journal: &mut Journal, at: u64, client: u16, op: OpId, priority: Priority, preempt: Preempt) {
    let policy = match preempt {
        Preempt::Never => "never",
        Preempt::Ask => "ask",
        Preempt::Force { .. } => "force",
    };
    for text in ["", policy] {
        journal.given(at, client, op, text, u64::from(priority.0));
    }
}

/// The right lock, for [`client`].
pub fn right<Z: ZooKeeper>(zk: &Z, preempt: Preempt) -> PriorityLock<Z> {
    new(zk, preempt).expect("the directory is a good path")
}

/// Waits for a reader's or a writer's hold; zero means no time limit.
pub async fn acquire<Z: ZooKeeper>(
    lock: &PriorityLock<Z>,
    verb: Verb,
    priority: Priority,
    limit: Duration,
) -> Result<Hold<Z>, Error> {
    match verb {
        Verb::Read => limited(lock.read(priority), limit).await.map(Hold::Read),
        _ => limited(lock.write(priority), limit).await.map(Hold::Write),
    }
}

/// The constructor of a lock with that policy: the right one's, or a mutant's.
pub type MakeUrgent<Z, L> = Box<dyn Fn(&Z, Preempt) -> L + Send + Sync>;

/// One client's part.
pub async fn client<C: Client, L: Urgent>(task: Task<C>, make: MakeUrgent<C::Zk, L>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    let round = |zk: C::Zk, _| async move {
        let preempt = match client.choose(4) {
            2 => Preempt::Ask,
            3 => Preempt::Force { grace: GRACE },
            _ => Preempt::Never,
        };
        let lock = make(&zk, preempt);
        take_turn(client, &zk, &lock, preempt, pace).await
    };
    rounds(&task, round).await;
}

/// One acquire, and the hold that follows.
async fn take_turn<C: Client, L: Urgent>(
    client: &C,
    zk: &C::Zk,
    lock: &L,
    preempt: Preempt,
    pace: Pace,
) -> Round {
    let verb = if client.choose(2) == 0 { Verb::Write } else { Verb::Read };
    let priority = Priority(client.choose(3) as u16);
    let call = Call::new(LOCK, verb);
    let call = if client.choose(8) == 7 { call.within(pace.limit) } else { call };
    let given = |journal: &mut Journal, at, op| {
        tell(journal, at, client.number(), op, priority, preempt);
    };
    let acquiring = || lock.acquire(verb, priority, call.limit);
    let (op, guard) = match operation(client, call, given, acquiring).await {
        (op, Ended::Done(guard)) => (op, guard),
        (_, ended) if ended.is_session_over() => return Round::Again,
        (_, ended) => {
            sometimes!(client, "the time limit of an acquire is over", ended.is_timed_out());
            return Round::Over;
        }
    };
    let belief = Belief::begin(client, zk.session(), &guard, LOCK, op);
    hold(client, belief, &guard, op, pace).await;
    give_back(client, LOCK, guard).await;
    Round::Over
}

/// Holds for a while, writes to the resource, and records a request to go.
async fn hold<C: Client, H: HeldUrgently>(
    client: &C,
    belief: Belief<'_, C, H>,
    guard: &H,
    op: OpId,
    pace: Pace,
) {
    let is_stubborn = client.choose(8) == 7;
    let holding = async {
        if is_stubborn && let Some(why) = belief.unless_lost(client.sleep(pace.work * 20)).await {
            return belief.end(why);
        }
        belief.write_for_a_while(pace).await;
    };
    let hears = async {
        if guard.revoked().await.is_ok() {
            sometimes!(client, "a holder is revoked", true);
            client.journal(|journal, at| {
                journal.observed(at, client.number(), op, LOCK, Seen::Word, "", 0);
            });
        } else {
            // The belief reports the loss.
            std::future::pending::<()>().await;
        }
    };
    let holding = pin!(holding);
    if let Either::Left(((), holding)) = select(pin!(hears), holding).await {
        holding.await;
    }
}
