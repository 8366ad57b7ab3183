//! Clients that raise and lower a barrier, and others that wait at it.
//!
//! Each round: either raise the barrier (permanently, or for as long as the session lives), lower it before long,
//! occasionally raise it again at once; or wait at it, for the current one or until none stands, occasionally with a
//! short time limit. A client that may have left the barrier standing lowers it before anything else, so that no waiter
//! waits for a dead client.

use crate::prelude::*;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zk_recipes::{Barrier, BarrierOptions, Parents, While};

/// The barrier under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients raise and lower a barrier, and others wait at it",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Ba1, Ba2, Ba3, Ba4, Ba5],
    ..Workload::own("barrier", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[Ba1]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(120),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "the time limit of a wait is over",
        "the outcome of lowering the barrier is unknown",
    ],
};

/// The barrier's znode.
pub const PATH: &str = "/gates/a";

/// The barrier, among the objects of its run.
pub const GATE: ObjectId = ObjectId(0);

/// The time limit of a patient client, longer than any operation takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The barrier, as it is declared to the checker.
pub fn objects(names: &mut Names, _: &Setting) -> Vec<Object> {
    vec![Object::plain(Kind::Barrier, names.intern(PATH))]
}

/// The constructor of a barrier with that lifetime: the right one's, or a mutant's.
pub type Make<Z, G> = Box<dyn Fn(&Z, While) -> G + Send + Sync>;

/// The barrier on [`PATH`].
pub fn new<Z: ZooKeeper>(zk: &Z, lives: While) -> Barrier<Z> {
    let options = BarrierOptions::default().with_parents(Parents::Container).with_lives(lives);
    Barrier::new(zk, PATH, options).expect("the path is good")
}

/// The methods of the barrier, which a mutant has too.
pub trait Gate: Clone + Send + Sync + 'static {
    /// Raises the barrier.
    fn raise(&self) -> impl Future<Output = Result<(), Error>> + Send;

    /// Lowers the barrier.
    fn lower(&self) -> impl Future<Output = Result<(), Error>> + Send;

    /// Waits for a limited time until the current barrier is deleted, or until none stands.
    fn wait(&self, verb: Verb, limit: Duration) -> impl Future<Output = Result<(), Error>> + Send;
}

impl<Z: ZooKeeper> Gate for Barrier<Z> {
    fn raise(&self) -> impl Future<Output = Result<(), Error>> + Send {
        Barrier::raise(self)
    }

    fn lower(&self) -> impl Future<Output = Result<(), Error>> + Send {
        Barrier::lower(self)
    }

    async fn wait(&self, verb: Verb, limit: Duration) -> Result<(), Error> {
        match verb {
            Verb::WaitDown => self.wait_until_down().within(limit).await,
            _ => self.wait().within(limit).await,
        }
    }
}

/// One client's part.
pub async fn client<C: Client, G: Gate>(task: Task<C>, make: Make<C::Zk, G>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    // An earlier life of the client may have left it standing.
    let may_stand = &AtomicBool::new(true);
    let round = |zk: C::Zk, _| async move {
        let lives = if client.choose(4) == 3 { While::SessionLives } else { While::Permanent };
        let gate = make(&zk, lives);
        if may_stand.load(Ordering::Relaxed) && lower(client, &gate, may_stand).await == Round::Again {
            return Round::Again;
        }
        match client.choose(3) {
            2 => control(client, &gate, lives, pace, may_stand).await,
            _ => wait(client, &gate, pace).await,
        }
    };
    rounds(&task, round).await;
}

/// Lowers the barrier; retries until the outcome is certain.
async fn lower<C: Client, G: Gate>(client: &C, gate: &G, may_stand: &AtomicBool) -> Round {
    loop {
        let (_, ended) = operation(client, Call::new(GATE, Verb::Lower), nothing, || gate.lower()).await;
        match ended {
            Ended::Done(()) => {
                may_stand.store(false, Ordering::Relaxed);
                return Round::Over;
            }
            ended if ended.is_session_over() => return Round::Again,
            _ => sometimes!(client, "the outcome of lowering the barrier is unknown", true),
        }
    }
}

/// Raises the barrier, and lowers it before long.
async fn control<C: Client, G: Gate>(
    client: &C,
    gate: &G,
    lives: While,
    pace: Pace,
    may_stand: &AtomicBool,
) -> Round {
    for _ in 0..1 + client.choose(2) {
        may_stand.store(true, Ordering::Relaxed);
        let given = |journal: &mut zk_harness::journal::Journal, at, op| {
            let word = if lives == While::SessionLives { "session" } else { "permanent" };
            journal.given(at, client.number(), op, word, 0);
        };
        let (_, ended) = operation(client, Call::new(GATE, Verb::Raise), given, || gate.raise()).await;
        if ended.is_session_over() {
            return Round::Again;
        }
        client.sleep(pace.work * (1 + client.choose(8))).await;
        if lower(client, gate, may_stand).await == Round::Again {
            return Round::Again;
        }
    }
    Round::Over
}

async fn wait<C: Client, G: Gate>(client: &C, gate: &G, pace: Pace) -> Round {
    let (verb, limit) = match client.choose(6) {
        3 => (Verb::WaitDown, pace.limit),
        4 => (Verb::Wait, pace.limit / 4),
        5 => (Verb::WaitDown, PATIENCE),
        _ => (Verb::Wait, PATIENCE),
    };
    let call = Call::new(GATE, verb).within(limit);
    let (_, ended) = operation(client, call, nothing, || gate.wait(verb, limit)).await;
    sometimes!(client, "the time limit of a wait is over", ended.is_timed_out());
    if ended.is_session_over() { Round::Again } else { Round::Over }
}
