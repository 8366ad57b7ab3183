//! One simulated run: a workload, a plan, and who decides.

use crate::broken::{NoGuid, WatchAll};
use crate::client::SimProcess;
use crate::journal::Journal;
use crate::plan::Plan;
use crate::workloads::lock::{self, DIRECTORY, Exclusive, Pace};
use crate::workloads::raw;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::choose::{Chooser, Recording, Replay, Seeded};
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Finished, Sim, SimClient};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use zk_checker::history::{Budget, FaultKind, Header, History, Kind, Mode, Names, Object, OnSuspect, What};
use zk_checker::{Report, RuleSet, Verdict};
use zk_recipes::Lock;

/// Something that can be run by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The lock.
    Lock,
    /// No recipe at all.
    Raw,
    /// Broken: creates again after a lost reply, without a guid to find the first znode by.
    LockNoGuid,
    /// Broken: every waiter watches the whole directory.
    LockWatchAll,
}

/// What the command line says of a target.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// What to call it.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// For a broken recipe, the rule that must catch it.
    pub caught_by: Option<&'static str>,
    /// For a broken recipe, the only faults that are drawn, so that nothing else hides its own; for a workload all kinds
    /// are.
    pub faults: &'static [Fault],
}

impl Target {
    /// Every target: workloads first.
    pub const ALL: [Target; 4] = [Target::Lock, Target::Raw, Target::LockNoGuid, Target::LockWatchAll];

    /// The workloads of the library's recipes.
    pub fn workloads() -> impl Iterator<Item = Target> {
        Target::ALL.into_iter().filter(|target| target.card().caught_by.is_none())
    }

    /// The recipes that are broken on purpose.
    pub fn broken() -> impl Iterator<Item = Target> {
        Target::ALL.into_iter().filter(|target| target.card().caught_by.is_some())
    }

    /// What to say of it.
    pub fn card(self) -> Card {
        match self {
            Target::Lock => Card {
                name: "lock",
                about: "clients take an exclusive lock in turn and write to the resource behind it",
                caught_by: None,
                faults: &Fault::ALL,
            },
            Target::Raw => Card {
                name: "raw",
                about: "clients do whatever comes to their mind to a few znodes: what ZooKeeper itself promises",
                caught_by: None,
                faults: &Fault::ALL,
            },
            Target::LockNoGuid => Card {
                name: "lock-no-guid",
                about: "a lock whose znodes bear no guid: after a lost reply it simply creates again",
                caught_by: Some("MX-9"),
                faults: &[Fault::ReplyLost],
            },
            Target::LockWatchAll => Card {
                name: "lock-watch-all",
                about: "a lock whose waiters all watch the directory: every release wakes everybody",
                caught_by: Some("MX-13"),
                faults: &[],
            },
        }
    }

    /// The plan that a seed draws for it.
    pub fn plan(self, seed: u64) -> Plan {
        match self.card().caught_by {
            None if self == Target::Raw => Plan { rounds: 20, ..Plan::drawn(seed) },
            None => Plan::drawn(seed),
            Some(_) => Plan::calm().with(self.card().faults, 0.05),
        }
    }

    /// The target of that name.
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.card().name == name)
    }
}

/// What one run came to.
#[derive(Debug)]
pub struct Run {
    /// What was judged.
    pub report: Report,
    /// What happened.
    pub history: History,
    /// The hash over all of it.
    pub hash: u128,
    /// What was decided.
    pub choices: Vec<u16>,
    /// How it ended.
    pub end: End,
    /// How many steps the world made.
    pub steps: u64,
    /// Simulated time, in microseconds.
    pub sim_us: u64,
}

impl Run {
    /// The verdict of the whole run: one that did not end proves nothing.
    pub fn verdict(&self) -> Verdict {
        match self.end {
            End::Done => self.report.verdict(),
            End::Stuck | End::OutOfTime => self.report.verdict().join(Verdict::Unknown),
        }
    }

    /// Which kinds of fault struck, and how often.
    pub fn faults(&self) -> impl Iterator<Item = FaultKind> {
        self.history.events.iter().filter_map(|event| match event.what {
            What::Fault { kind, .. } => Some(kind),
            _ => None,
        })
    }
}

/// Runs a seed.
pub fn seed(target: Target, plan: &Plan, seed: u64) -> Run {
    with(target, plan, Seeded::new(seed, plan.rates()))
}

/// As [`seed`]; a run that panics gives what it said.
///
/// # Errors
///
/// The panic's message.
pub fn seed_caught(target: Target, plan: &Plan, number: u64) -> Result<Run, String> {
    std::panic::catch_unwind(|| seed(target, plan, number)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "it did not say why".into())
    })
}

/// Runs a recorded list of choices.
pub fn replay(target: Target, plan: &Plan, choices: Vec<u16>) -> Run {
    with(target, plan, Replay::new(choices))
}

/// Simulated time after which a run counts as hanging.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs with somebody who decides.
pub fn with<C: Chooser + 'static>(target: Target, plan: &Plan, chooser: C) -> Run {
    match target {
        Target::Lock => take_turns::<C, Lock<SimClient>>(plan, chooser),
        Target::Raw => {
            let part = |client, rounds, done| raw::client(client, rounds, done).boxed();
            // Without a recipe there is no object to judge.
            drive(plan, chooser, |_| Vec::new(), part)
        }
        Target::LockNoGuid => take_turns::<C, NoGuid<SimClient>>(plan, chooser),
        Target::LockWatchAll => take_turns::<C, WatchAll<SimClient>>(plan, chooser),
    }
}

/// The header of a simulated run.
pub fn header(config: &Config, timeout: Duration) -> Header {
    let timeout = (timeout.as_micros() as u64).clamp(2 * config.tick, 20 * config.tick);
    Header {
        format: 1,
        mode: Mode::Sim,
        clients: Vec::new(),
        tick: config.tick,
        timeout,
        // Until a lost leader is given up, and another one serves.
        election: if config.servers > 1 { (config.sync_limit + 1) * config.tick + 1_000_000 } else { 0 },
        round_trip: 2 * config.latency.max(80_000),
        settle: 1000,
        sync_limit: config.sync_limit as u32,
        source: String::new(),
    }
}

/// The lock, as it is declared to the checker.
pub fn lock_object(names: &mut Names, timeout: Duration) -> Object {
    Object {
        kind: Kind::Lock,
        path: names.intern(DIRECTORY),
        on_suspect: OnSuspect::Stop,
        margin: timeout.as_micros() as u64 / 10,
        fenced: true,
        budget: Budget::LOCK,
    }
}

fn take_turns<C: Chooser + 'static, L: Exclusive<SimClient>>(plan: &Plan, chooser: C) -> Run {
    let timeout = Duration::from_millis(plan.timeout_ms);
    let part = |client, rounds, done| lock::client::<_, L>(client, rounds, Pace::SIMULATED, done).boxed();
    drive(plan, chooser, |names| vec![lock_object(names, timeout)], part)
}

/// Tells how many rounds are done.
type Done = Box<dyn Fn(u32) + Send>;

/// What one client does: so many rounds.
type Part = fn(SimProcess, Range<u32>, Done) -> BoxFuture<'static, ()>;

fn drive<C: Chooser + 'static>(
    plan: &Plan,
    chooser: C,
    objects: impl FnOnce(&mut Names) -> Vec<Object>,
    part: Part,
) -> Run {
    let config = Config { hostile_until: plan.hostile_ms * 1000, faults: plan.faults, ..Config::default() };
    let config = config.with_servers(plan.servers);
    let timeout = Duration::from_millis(plan.timeout_ms);
    let mut names = Names::default();
    let objects = objects(&mut names);
    let journal = Journal::new(header(&config, timeout), names, objects);
    let (clients, rounds) = (plan.clients, plan.rounds);
    let root = move |sim: Sim| async move {
        let mut living = Vec::new();
        for number in 0..clients {
            living.push(supervised(sim.clone(), number, rounds, timeout, part));
        }
        futures_util::future::join_all(living).await;
        sim.heal();
        sim.quiet().await;
        sim.witness::<Journal, _>(|journal, at| journal.quiesce(at));
    };
    let run = Sim::run(config, LIMIT, Recording::new(chooser), journal, root);
    let Finished { end, world, chooser, mut witness, .. } = run;
    if end != End::Done {
        witness.stopped(world.now());
    }
    let (history, hash) = witness.finish();
    let report = zk_checker::judge(&history, &RuleSet::default());
    Run {
        report,
        history,
        hash,
        choices: chooser.choices().to_vec(),
        end,
        steps: world.steps(),
        sim_us: world.now(),
    }
}

/// One client's part, begun again as a new process when its process dies.
async fn supervised(sim: Sim, number: u8, rounds: u32, timeout: Duration, part: Part) {
    let round = Arc::new(AtomicU32::new(0));
    for life in 1u32.. {
        let mut name = char::from(b'a' + number % 26).to_string();
        if life > 1 {
            name = format!("{name}{life}");
        }
        let process = sim.process(&name);
        sim.witness::<Journal, _>(|journal, _| journal.name_client(process.id(), &name));
        let client = SimProcess { sim: sim.clone(), process: process.clone(), timeout };
        let next = round.load(Ordering::Relaxed);
        let told = round.clone();
        let done = Box::new(move |done| told.store(done, Ordering::Relaxed));
        if process.spawn(part(client, next..rounds, done)).await.is_ok() {
            return;
        }
    }
}
