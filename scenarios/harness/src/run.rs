//! One simulated run of a workload, with a plan and a chooser.

use crate::client::SimProcess;
use crate::interference::{self, InterferenceTarget};
use crate::journal::Journal;
use crate::panics::{Panic, caught, caught_future};
use crate::plan::{Interference, Plan, Scheduling};
use crate::workload::{Setting, Task, Workload};
use futures_util::future::{Either, select, try_join_all};
use sim_zk::choose::{Chooser, Recording, Replay, Seeded};
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Finished, Process, Reorderings, Settings, Sim};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zk_checker::history::{FaultKind, Header, History, Kind, Mode, Names, Object, What};
use zk_checker::{Report, Verdict};
use zk_recipes::zk::Time;

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// The report of the checker.
    pub report: Report,
    /// The history.
    pub history: History,
    /// The hash of the run.
    pub hash: u128,
    /// The choices.
    pub choices: Vec<u16>,
    /// How it ended.
    pub end: End,
    /// The number of steps of the world.
    pub steps: u64,
    /// Simulated time, in microseconds.
    pub sim_us: u64,
    /// The longest time without progress after the last fault, in simulated microseconds.
    pub longest_lull_us: u64,
    /// The [`sometimes!`](crate::sometimes) conditions that were reached.
    pub sometimes: BTreeSet<&'static str>,
    /// The client that panicked, which ended the run.
    pub panic: Option<Panicked>,
}

/// The name under which a panic is counted.
pub const PANIC: &str = "panic";

/// A client whose code panicked.
#[derive(Clone, Debug)]
pub struct Panicked {
    /// The client.
    pub client: String,
    /// Its panic.
    pub panic: Panic,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} panicked: {}", self.client, self.panic)
    }
}

/// How a run hangs: faults are over, all clients are connected, and the run does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hang {
    /// A client waits for an event that never comes.
    Stuck,
    /// Clients send requests without progress.
    Livelock,
}

impl Hang {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Hang::Stuck => "stuck",
            Hang::Livelock => "livelock",
        }
    }

    /// Its meaning, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Hang::Stuck => "a client waits for an event that never comes",
            Hang::Livelock => "clients send requests without progress",
        }
    }
}

impl Run {
    /// The verdict of the whole run. A run that hangs after the last fault fails, and so does a panic.
    pub fn verdict(&self) -> Verdict {
        match self.hang() {
            _ if self.panic.is_some() => Verdict::Fail,
            Some(_) => Verdict::Fail,
            // A run that was cut short reached a state of another run, which judges the end.
            None if self.end == End::Cut => self.report.verdict().join(Verdict::Unknown),
            None => self.report.verdict(),
        }
    }

    /// Whether the run hangs, and how. A livelock sends requests in the second half of the time without progress; pings
    /// do not count.
    pub fn hang(&self) -> Option<Hang> {
        if matches!(self.end, End::Done | End::Cut) {
            return None;
        }
        let late = self.sim_us.saturating_sub(self.longest_lull_us / 2);
        let asks = |what: &What| matches!(what, What::Call { .. } | What::Send { .. });
        let last = self.history.events.iter().rev().find(|event| asks(&event.what));
        Some(if last.is_some_and(|last| last.at > late) { Hang::Livelock } else { Hang::Stuck })
    }

    /// For a run that hangs: the waiting clients, their calls, what they wait for, and why it never comes. One sentence
    /// per line; further sentences about the same client are indented.
    pub fn waits(&self) -> Vec<String> {
        if self.hang().is_some() { zk_report::waits(&self.history) } else { Vec::new() }
    }

    /// The rule that failed first, or the other kind of failure.
    pub fn what_failed(&self) -> String {
        match self.report.first() {
            _ if self.panic.is_some() => PANIC.to_owned(),
            Some(finding) => finding.rule.name().to_owned(),
            None => self.hang().map_or("unknown", Hang::name).to_owned(),
        }
    }

    /// The kinds of its faults, one item per fault.
    pub fn faults(&self) -> impl Iterator<Item = FaultKind> {
        self.history.events.iter().filter_map(|event| match event.what {
            What::Fault { kind, .. } => Some(kind),
            _ => None,
        })
    }
}

/// Runs a seed.
pub fn seed(workload: &'static Workload, plan: &Plan, seed: u64) -> Run {
    with(workload, plan, Seeded::new(seed, plan.rates()))
}

/// As [`seed`]. A panic outside of the clients' tasks is returned as the error; a client's own panic ends its run and
/// is part of the result: see [`Run::panic`].
///
/// # Errors
///
/// The panic.
pub fn seed_caught(workload: &'static Workload, plan: &Plan, number: u64) -> Result<Run, Panic> {
    caught(|| seed(workload, plan, number))
}

/// Runs a recorded list of choices.
pub fn replay(workload: &'static Workload, plan: &Plan, choices: Vec<u16>) -> Run {
    with(workload, plan, Replay::new(choices))
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
        // The time until a lost leader is given up and another one serves.
        election: if config.servers > 1 { (config.sync_limit + 1) * config.tick + 1_000_000 } else { 0 },
        round_trip: 2 * config.latency.max(80_000),
        settle: 1000,
        sync_limit: config.sync_limit as u32,
        faults_recorded: false,
        pings_recorded: true,
        foreign_clients: false,
        first_number: config.settings.first_number,
        source: String::new(),
    }
}

/// A run that was not judged.
pub struct Played<C> {
    /// The history.
    pub history: History,
    /// The hash of the run.
    pub hash: u128,
    /// The chooser.
    pub chooser: C,
    /// How it ended.
    pub end: End,
    /// The number of steps of the world.
    pub steps: u64,
    /// Simulated time, in microseconds.
    pub sim_us: u64,
    /// The longest time without progress after the last fault, in simulated microseconds.
    pub longest_lull_us: u64,
    /// The [`sometimes!`](crate::sometimes) conditions that were reached.
    pub sometimes: BTreeSet<&'static str>,
    /// The client that panicked.
    pub panic: Option<Panicked>,
}

/// Makes a run with a chooser.
pub fn with<C: Chooser + 'static>(workload: &'static Workload, plan: &Plan, chooser: C) -> Run {
    giving_back(workload, plan, chooser).0
}

/// As [`with`], and returns the chooser too.
pub fn giving_back<C: Chooser + 'static>(workload: &'static Workload, plan: &Plan, chooser: C) -> (Run, C) {
    let played = play(workload, plan, Recording::new(chooser));
    let Played { history, hash, chooser, end, steps, sim_us, longest_lull_us, sometimes, panic } = played;
    let report = zk_checker::judge(&history, &workload.rules());
    let (chooser, choices) = chooser.into_parts();
    let run = Run { report, history, hash, choices, end, steps, sim_us, longest_lull_us, sometimes, panic };
    (run, chooser)
}

/// Makes a run with a chooser, without judging it.
pub fn play<C: Chooser + 'static>(workload: &'static Workload, plan: &Plan, chooser: C) -> Played<C> {
    let (hostile_until, injected_bug) = (plan.hostile_ms * 1000, workload.injected_bug);
    let settings = Settings { first_number: plan.first_number, ..Settings::default() };
    let config = Config { hostile_until, faults: plan.faults, injected_bug, settings, ..Config::default() };
    let config = config.with_servers(plan.servers);
    let untimed = match plan.order {
        Scheduling::Timed => None,
        Scheduling::Any { late_answers, overtaking } => {
            Some(config.clone().interleaving(Reorderings { late_answers, overtaking }))
        }
    };
    let setting = Setting::simulated(plan);
    let mut names = Names::default();
    let objects = (workload.objects)(&mut names, &setting);
    let place = |object: &Object| InterferenceTarget {
        path: names.text(object.path).to_owned(),
        is_directory: object.kind != Kind::Barrier,
    };
    let places: Vec<InterferenceTarget> = objects.iter().map(place).collect();
    let interference = plan.interference.clone();
    let journal = Journal::new(header(&config, setting.timeout), names, objects);
    let journal = if untimed.is_some() { journal.remembering() } else { journal };
    let is_calm = plan.faults == 0 && plan.interference.is_none();
    // A client may wait for a znode that a foreign client deleted.
    let patience = if plan.interference.is_none() { Duration::ZERO } else { PATIENCE };
    let limit = workload.stated.finishes_within + patience;
    let root = move |sim: Sim| async move {
        if is_calm {
            // Without faults, progress is required from the start.
            sim.observer::<Journal, _>(|journal, at| journal.calm(at));
        }
        let (mut living, alive) = (Vec::new(), Alive::default());
        for number in 0..setting.clients {
            living.push(supervised(sim.clone(), number, setting, workload, alive.clone()));
        }
        let all = try_join_all(living);
        let all = if interference.is_none() || places.is_empty() {
            all.await
        } else {
            match select(all, pin!(foreign_clients(sim.clone(), setting, interference, places, alive))).await
            {
                Either::Left((all, _)) => all,
                Either::Right((never, _)) => match never {},
            }
        };
        if let Err(panicked) = all {
            return Some(panicked);
        }
        sim.progress();
        sim.heal();
        sim.quiet().await;
        sim.observer::<Journal, _>(|journal, at| journal.quiesce(at));
        None
    };
    let run = Sim::run(untimed.unwrap_or(config), limit, chooser, journal, root);
    let Finished { end, output, world, chooser, observer: mut witness, longest_lull, .. } = run;
    let panic = output.flatten();
    // A run that was cut short reached a state of another run, which judges the end.
    if panic.is_some() || !matches!(end, End::Done | End::Cut) {
        witness.stopped(world.now());
    }
    let sometimes = witness.sometimes().clone();
    let (history, hash) = witness.finish();
    let longest_lull_us = longest_lull.as_micros() as u64;
    Played {
        history,
        hash,
        chooser,
        end,
        steps: world.steps(),
        sim_us: world.now(),
        longest_lull_us,
        sometimes,
        panic,
    }
}

/// The processes of the clients, by number.
type Alive = Arc<Mutex<BTreeMap<u8, Process>>>;

/// The simulated time after which a client gives up waiting for a znode that a foreign client deleted. Rules about waiting
/// report much earlier.
const PATIENCE: Duration = Duration::from_secs(150);

/// Runs the foreign clients while there are clients to interfere with.
async fn foreign_clients(
    sim: Sim,
    setting: Setting,
    plan: Interference,
    objects: Vec<InterferenceTarget>,
    alive: Alive,
) -> Infallible {
    let process = sim.process("foreign");
    sim.observer::<Journal, _>(|journal, _| journal.name_client(process.id().into(), "foreign"));
    let part = interference::interfere(sim.clone(), process.clone(), setting.timeout, plan, objects);
    // A crash of the foreign client is not a failure of the run.
    let _ = process.spawn(part).await;
    let watch = sim.process("patience");
    sim.observer::<Journal, _>(|journal, _| journal.name_client(watch.id().into(), "patience"));
    sim.sleep(&watch, PATIENCE.saturating_sub(sim.now().since(Time::from_micros(0)))).await;
    loop {
        let clients = alive.lock().unwrap_or_else(PoisonError::into_inner).clone();
        clients.values().for_each(|client| client.inflict(Fault::Cancel, Duration::ZERO));
        sim.sleep(&watch, setting.timeout).await;
    }
}

/// Runs one client's task; restarts it as a new process when its process crashes, but not when it panics.
async fn supervised(
    sim: Sim,
    number: u8,
    setting: Setting,
    workload: &'static Workload,
    alive: Alive,
) -> Result<(), Panicked> {
    let round = Arc::new(AtomicU32::new(0));
    for life in 1u32.. {
        let mut name = char::from(b'a' + number % 26).to_string();
        if life > 1 {
            name = format!("{name}{life}");
        }
        let process = sim.process(&name);
        sim.observer::<Journal, _>(|journal, _| journal.name_client(process.id().into(), &name));
        alive.lock().unwrap_or_else(PoisonError::into_inner).insert(number, process.clone());
        let client = SimProcess { sim: sim.clone(), process: process.clone(), timeout: setting.timeout };
        let next = round.load(Ordering::Relaxed);
        process.begins_with(next.into());
        let told = round.clone();
        let clock = sim.clone();
        let done = Box::new(move |done| {
            told.store(done, Ordering::Relaxed);
            clock.progress();
        });
        // A panic ends the run, so the state that it leaves behind is dropped.
        let rounds = (next..setting.rounds).into();
        let task = Task { client, workload: workload.name, setting, rounds, done };
        let part = caught_future((workload.sim)(task));
        if let Ok(ended) = process.spawn(part).await {
            process.retire();
            return ended.map_err(|panic| Panicked { client: name, panic });
        }
    }
    Ok(())
}
