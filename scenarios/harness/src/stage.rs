//! The script vocabulary of stories: named clients on a fault-free network, and faults by name.
//!
//! Each client of a story is a process and runs one operation at a time; the network is idle before the next step begins.
//!
//! [`Actor::does`] runs an operation of a recipe in the process of a client and records it in the journal. A hold is a
//! [`Holding`](hold::Holding). Each recipe adds its own vocabulary. Faults are in [`faults`]: those of a client are methods of
//! the [`Actor`], those of servers and znodes are methods of the [`Stage`].

pub mod faults;
pub mod hold;

use crate::client::{Client, SimProcess};
use crate::journal::Journal;
use crate::operation::{self, Call, Ended, nothing};
use crate::run::header;
use sim_zk::{Config, End, Finished, Sim, SimClient, choose::Calm};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use zk_checker::history::{FaultKind, History, Names, Object, OpId, What};
use zk_checker::{Report, RuleId, RuleSet, Verdict};
use zk_recipes::zk::Error;

/// A story.
pub struct Story {
    /// Its name.
    pub name: &'static str,
    /// Its title: the state that it shows at its end.
    pub title: &'static str,
    /// A description in two sentences.
    pub about: &'static str,
    /// The objects, as declared to the checker.
    pub objects: fn(&mut Names) -> Vec<Object>,
    /// The number of servers. The first client connects to the first server, the second to the second, and so on.
    pub servers: u8,
    /// The script.
    pub script: fn(Stage) -> Script,
    /// The conditions that the story must show.
    pub point: fn(&StoryRun) -> Vec<(&'static str, bool)>,
    /// The expected verdicts of some rules; every other rule must not fail.
    pub verdicts: &'static [(RuleId, Verdict)],
}

impl Story {
    /// A story of your own code, on one server. Give its `point` and `verdicts` with `Story { point, verdicts,
    /// ..Story::own(…) }`.
    pub const fn own(
        name: &'static str,
        objects: fn(&mut Names) -> Vec<Object>,
        script: fn(Stage) -> Script,
    ) -> Story {
        Story {
            name,
            title: "",
            about: "",
            objects,
            servers: 1,
            script,
            point: |_| Vec::new(),
            verdicts: &[],
        }
    }
}

/// A script that is being played.
pub type Script = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The run of a story.
pub struct StoryRun {
    /// The history.
    pub history: History,
    /// The steps of the script, each with the index of the next event.
    pub steps: Vec<(usize, String)>,
    /// The report of the checker.
    pub report: Report,
    /// The hash of the run.
    pub hash: u128,
    /// How the script ended.
    pub end: End,
}

impl StoryRun {
    /// The number of matching events.
    pub fn count(&self, like: impl Fn(&What) -> bool) -> usize {
        self.history.events.iter().filter(|event| like(&event.what)).count()
    }

    /// Whether a fault of that kind was injected.
    pub fn struck(&self, wanted: FaultKind) -> bool {
        self.count(|what| matches!(what, What::Fault { kind, .. } if *kind == wanted)) > 0
    }
}

/// The session timeout of a story's clients.
pub const TIMEOUT: Duration = Duration::from_secs(6);

/// Plays a story, and returns its run and the reasons why it failed.
pub fn tell(story: &Story) -> (StoryRun, Vec<String>) {
    tell_by(story, &RuleSet::all())
}

/// As [`tell`], judged by these rules alone: for a story of code that is not one of the library's recipes.
pub fn tell_by(story: &Story, rules: &RuleSet) -> (StoryRun, Vec<String>) {
    let config = Config::default().with_servers(story.servers);
    let mut names = Names::default();
    let objects = (story.objects)(&mut names);
    let journal = Journal::new(header(&config, TIMEOUT), names, objects);
    let script = story.script;
    let run = Sim::run(config, Duration::from_secs(600), Calm, journal, move |sim| async move {
        script(Stage { sim: sim.clone() }).await;
        sim.quiet().await;
        sim.observer::<Journal, _>(|journal, at| journal.quiesce(at));
    });
    let Finished { end, observer: witness, .. } = run;
    let steps = witness.steps().to_vec();
    let (history, hash) = witness.finish();
    let report = zk_checker::judge(&history, rules);
    let told = StoryRun { history, steps, report, hash, end };
    let mut wrong = Vec::new();
    if told.end != End::Done {
        wrong.push(format!("the script did not finish: {:?}", told.end));
    }
    for (what, happened) in (story.point)(&told) {
        if !happened {
            wrong.push(format!("the story does not show: {what}"));
        }
    }
    for (rule, verdict) in story.verdicts {
        let found = told.report.of(*rule);
        if found != *verdict {
            wrong.push(format!("{} is {found:?}, not {verdict:?}", rule.name()));
        }
    }
    if told.report.verdict() >= Verdict::Unknown {
        wrong.push(told.report.to_string());
    }
    (told, wrong)
}

/// The network on which a story is played.
#[derive(Clone)]
pub struct Stage {
    sim: Sim,
}

impl Stage {
    /// The simulation.
    pub fn sim(&self) -> &Sim {
        &self.sim
    }

    /// Announces the next step.
    pub fn step(&self, text: &str) {
        self.sim.observer::<Journal, _>(|journal, _| journal.step(text));
    }

    /// A process, which opens its sessions by itself.
    pub fn process(&self, name: &str) -> SimProcess {
        let process = self.sim.process(name);
        self.sim.observer::<Journal, _>(|journal, _| journal.name_client(process.id().into(), name));
        SimProcess { sim: self.sim.clone(), process, timeout: TIMEOUT }
    }

    /// A client with a session.
    pub async fn client(&self, name: &str) -> Actor {
        let process = self.process(name);
        let zk = process.open().await.expect("a calm network opens a session");
        Actor { process, zk }
    }

    /// Waits until no packet is in flight and no fault is active.
    pub async fn settle(&self) {
        self.sim.quiet().await;
    }

    /// Waits until all clients have sent their requests, before any of them arrives.
    pub async fn is_sent(&self) {
        self.sim.stalled().await;
    }
}

/// A client of a story.
#[derive(Clone)]
pub struct Actor {
    process: SimProcess,
    zk: SimClient,
}

impl Actor {
    /// Its session, for requests outside of an operation.
    pub fn zk(&self) -> &SimClient {
        &self.zk
    }

    /// Its process, as a workload sees it.
    pub fn process(&self) -> &SimProcess {
        &self.process
    }

    /// Begins an operation in the client's own process: `work` runs it in the client's session. The future returns the
    /// result, or `Cancelled` if the process crashes.
    pub fn does<T, F, W>(&self, call: Call, work: W) -> impl Future<Output = Ended<T>> + Send + use<T, F, W>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
        W: FnOnce(SimClient) -> F + Send + 'static,
    {
        self.does_and_then(call, nothing, work, |_, _, value| value)
    }

    /// As [`does`](Self::does): `given` records the arguments right after the call, and `then` handles the result in
    /// the client, at the same instant, before any other client runs.
    pub fn does_and_then<T, R, F, W, G, N>(
        &self,
        call: Call,
        given: G,
        work: W,
        then: N,
    ) -> impl Future<Output = Ended<R>> + Send + use<T, R, F, W, G, N>
    where
        T: Send + 'static,
        R: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
        W: FnOnce(SimClient) -> F + Send + 'static,
        G: FnOnce(&mut Journal, u64, OpId) + Send + 'static,
        N: FnOnce(&Actor, OpId, T) -> R + Send + 'static,
    {
        let actor = self.clone();
        let doing = self.process.process.spawn(async move {
            let zk = actor.zk.clone();
            let (op, ended) = operation::operation(&actor.process, call, given, || work(zk)).await;
            ended.map(|value| then(&actor, op, value))
        });
        async move { doing.await.unwrap_or(Ended::Cancelled) }
    }

    /// Writes into the journal.
    pub fn journal<R>(&self, write: impl FnOnce(&mut Journal, u64) -> R) -> R {
        self.process.journal(write)
    }

    /// Its number in the journal.
    pub fn number(&self) -> u16 {
        self.process.number()
    }

    /// Lets time pass, by the client's own clock.
    pub async fn waits(&self, time: Duration) {
        self.process.sleep(time).await;
    }
}
