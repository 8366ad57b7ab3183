//! Where a story is played: named clients on a calm network, and faults by the word.
//!
//! A story is a script that reads aloud. Its clients do one thing at a time, each in a process of its own; what happens
//! between two steps of the script is settled before the next begins.

use crate::client::{Client, SimProcess};
use crate::journal::Journal;
use crate::run::{header, lock_object};
use crate::workloads::lock::DIRECTORY;
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Finished, Sim, SimClient, choose::Calm};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use zk_checker::history::{FaultKind, History, Names, ObjectId, OpId, Outcome, Verb, What, Why};
use zk_checker::{Report, RuleId, RuleSet, Verdict};
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{HoldState, Lock, LockGuard, LockOptions, Stop};

/// A story that can be told by name.
pub struct Story {
    /// What to call it.
    pub name: &'static str,
    /// Its title: what is the case when it has been told.
    pub title: &'static str,
    /// Two sentences.
    pub about: &'static str,
    /// The script.
    pub script: fn(Stage) -> Script,
    /// What must have happened, or the story has missed its point.
    pub point: fn(&Told) -> Vec<(&'static str, bool)>,
    /// Rules that must come out as given; every other must not fail.
    pub verdicts: &'static [(RuleId, Verdict)],
}

/// A script that is being played.
pub type Script = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A story that has been told.
pub struct Told {
    /// What happened.
    pub history: History,
    /// What the script said, and before which event.
    pub steps: Vec<(usize, String)>,
    /// What was judged.
    pub report: Report,
    /// The hash over all of it.
    pub hash: u128,
    /// Whether the script came to its end.
    pub end: End,
}

impl Told {
    /// How many events are like that.
    pub fn count(&self, like: impl Fn(&What) -> bool) -> usize {
        self.history.events.iter().filter(|event| like(&event.what)).count()
    }

    /// Whether a fault of that kind struck.
    pub fn struck(&self, wanted: FaultKind) -> bool {
        self.count(|what| matches!(what, What::Fault { kind, .. } if *kind == wanted)) > 0
    }
}

/// The session timeout of a story's clients.
const TIMEOUT: Duration = Duration::from_secs(6);

/// Tells a story, and says in which ways it failed.
pub fn tell(story: &Story) -> (Told, Vec<String>) {
    let config = Config::default();
    let mut names = Names::default();
    let object = lock_object(&mut names, TIMEOUT);
    let journal = Journal::new(header(&config, TIMEOUT), names, vec![object]);
    let script = story.script;
    let run = Sim::run(config, Duration::from_secs(600), Calm, journal, move |sim| async move {
        script(Stage { sim: sim.clone() }).await;
        sim.quiet().await;
        sim.witness::<Journal, _>(|journal, at| journal.quiesce(at));
    });
    let Finished { end, witness, .. } = run;
    let steps = witness.steps().to_vec();
    let (history, hash) = witness.finish();
    let report = zk_checker::judge(&history, &RuleSet::default());
    let told = Told { history, steps, report, hash, end };
    let mut wrong = Vec::new();
    if told.end != End::Done {
        wrong.push(format!("the script did not come to its end: {:?}", told.end));
    }
    for (what, happened) in (story.point)(&told) {
        if !happened {
            wrong.push(format!("the story misses its point: {what}"));
        }
    }
    for (rule, verdict) in story.verdicts {
        let found = told.report.of(*rule);
        if found != *verdict {
            wrong.push(format!("{} came out as {found:?}, not as {verdict:?}", rule.name()));
        }
    }
    if told.report.verdict() >= Verdict::Unknown {
        wrong.push(told.report.to_string());
    }
    (told, wrong)
}

/// Where a story is played.
#[derive(Clone)]
pub struct Stage {
    sim: Sim,
}

impl Stage {
    /// Says what comes next.
    pub fn step(&self, text: &str) {
        self.sim.witness::<Journal, _>(|journal, _| journal.step(text));
    }

    /// A client with a session.
    pub async fn client(&self, name: &str) -> Actor {
        let process = self.sim.process(name);
        self.sim.witness::<Journal, _>(|journal, _| journal.name_client(process.id(), name));
        let process = SimProcess { sim: self.sim.clone(), process, timeout: TIMEOUT };
        let zk = process.open().await.expect("a calm network opens a session");
        Actor { process, zk }
    }

    /// Lets everything under way come to rest.
    pub async fn settle(&self) {
        self.sim.quiet().await;
    }
}

/// A client of a story.
#[derive(Clone)]
pub struct Actor {
    process: SimProcess,
    zk: SimClient,
}

/// A lock held by a client of a story.
pub struct Holding {
    guard: LockGuard<SimClient>,
    op: OpId,
}

impl Actor {
    /// Begins to wait for the lock, in the client's own process.
    pub fn asks(&self) -> impl Future<Output = Option<Holding>> + Send + use<> {
        let actor = self.clone();
        let asking = self.process.process.spawn(async move {
            let me = actor.process.number();
            let op = actor.process.journal(|j, at| j.call(at, me, ObjectId(0), Verb::Acquire, 0));
            actor.process.set_op(op.0);
            let lock = Lock::new(&actor.zk, DIRECTORY, LockOptions::default()).expect("a good path");
            let result = lock.acquire().await;
            let session = actor.zk.session();
            actor.process.set_op(0);
            let guard = match result {
                Ok(guard) => guard,
                Err(_) => {
                    actor.process.journal(|j, at| j.returned(at, me, op, Outcome::Refused));
                    return None;
                }
            };
            let token = guard.token();
            actor.process.journal(|j, at| {
                j.returned(at, me, op, Outcome::Done);
                j.believe(at, me, op, ObjectId(0), session, token);
            });
            Some(Holding { guard, op })
        });
        async move { asking.await.ok().flatten() }
    }

    /// Waits for the lock.
    ///
    /// # Panics
    ///
    /// If it is not granted.
    pub async fn acquires(&self) -> Holding {
        self.asks().await.expect("the lock is granted")
    }

    /// Acts as holder until the guard says that it must stop.
    pub fn acts_until_told_to_stop(
        &self,
        holding: Holding,
    ) -> impl Future<Output = (Holding, Stop)> + Send + use<> {
        let actor = self.clone();
        let acting = self.process.process.spawn(async move {
            let stop = holding.guard.lost().await;
            let why = match stop {
                Stop::Suspect { .. } => Why::Suspect,
                Stop::Lost(_) => Why::Lost,
            };
            actor.process.journal(|j, at| j.unbelieve(at, actor.process.number(), holding.op, why));
            (holding, stop)
        });
        async move { acting.await.expect("its process lives") }
    }

    /// Writes to the resource behind the lock, and says whether it took the token.
    pub fn writes(&self, holding: &Holding) -> bool {
        let (me, op, token) = (self.process.number(), holding.op, holding.guard.token());
        self.process.journal(|j, at| j.resource(at, me, op, ObjectId(0), token))
    }

    /// Gives the lock back.
    pub async fn releases(&self, holding: Holding) {
        let actor = self.clone();
        let releasing = self.process.process.spawn(async move {
            let me = actor.process.number();
            if !matches!(holding.guard.state(), HoldState::Lost(_)) {
                actor.process.journal(|j, at| j.unbelieve(at, me, holding.op, Why::Released));
            }
            let op = actor.process.journal(|j, at| j.call(at, me, ObjectId(0), Verb::Release, 0));
            actor.process.set_op(op.0);
            let outcome = match holding.guard.release().await {
                Ok(_) => Outcome::Done,
                Err(_) => Outcome::Unknown,
            };
            actor.process.set_op(0);
            actor.process.journal(|j, at| j.returned(at, me, op, outcome));
        });
        releasing.await.expect("its process lives");
    }

    /// The reply to the client's next request is lost, although the request is applied.
    pub fn loses_its_next_reply(&self) {
        self.process.process.order(Fault::ReplyLost);
    }

    /// The client's process stands still for that many times its session timeout.
    pub fn stands_still(&self, timeouts: u32) {
        self.process.process.inflict(Fault::ClientPause, TIMEOUT * timeouts);
    }

    /// The client's process dies.
    pub fn dies(&self) {
        self.process.process.inflict(Fault::ClientCrash, Duration::ZERO);
    }
}
