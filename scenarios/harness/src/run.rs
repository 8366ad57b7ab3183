//! One simulated run: a workload, a plan, and who decides.

use crate::client::SimProcess;
use crate::interference::{self, Place};
use crate::journal::Journal;
use crate::plan::{Order, Plan, Strangers};
use crate::target::{Part, Setting, Target, Task};
use futures_util::FutureExt;
use futures_util::future::{Either, select, try_join_all};
use sim_zk::choose::{Chooser, Recording, Replay, Seeded};
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Finished, Process, Reorderings, Sim};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zk_checker::history::{FaultKind, Header, History, Kind, Mode, Names, Object, What};
use zk_checker::{Report, Verdict};
use zk_recipes::zk::Time;

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
    /// The longest simulated time in which no client came to the end of a round although no fault struck any more, in
    /// microseconds.
    pub longest_lull_us: u64,
    /// What came about of that which comes about in some runs: see [`sometimes!`](crate::sometimes).
    pub sometimes: BTreeSet<&'static str>,
    /// Who panicked, if somebody did: that ended the run.
    pub panic: Option<Panicked>,
}

/// How a run that panicked is counted.
pub const PANIC: &str = "panic";

/// A client whose code panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The client.
    pub client: String,
    /// What it said.
    pub said: String,
}

impl Panicked {
    /// What it said, without the numbers: by that the same panic is known in another run.
    pub fn words(&self) -> String {
        let words = self.said.split(|c: char| c.is_ascii_digit()).filter(|words| !words.is_empty());
        words.collect::<Vec<_>>().join("#")
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} panicked: {}", self.client, self.said)
    }
}

/// In which way a run hangs: its faults are over, everybody is connected, and it does not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hang {
    /// Somebody waits for what will never happen.
    Stuck,
    /// Clients ask and ask, and none of them gets anywhere.
    Livelock,
}

impl Hang {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Hang::Stuck => "stuck",
            Hang::Livelock => "livelock",
        }
    }

    /// What that means, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Hang::Stuck => "somebody waits for what will never happen",
            Hang::Livelock => "clients ask and ask, and none of them gets anywhere",
        }
    }
}

impl Run {
    /// The verdict of the whole run: once no fault strikes, one that does not end breaks the promise that clients finish;
    /// and code that panics has broken a promise of its own.
    pub fn verdict(&self) -> Verdict {
        match self.hang() {
            _ if self.panic.is_some() => Verdict::Fail,
            Some(_) => Verdict::Fail,
            // Of a run that was cut short others are the end.
            None if self.end == End::Cut => self.report.verdict().join(Verdict::Unknown),
            None => self.report.verdict(),
        }
    }

    /// Whether it hangs, and how. Sessions are kept alive for ever, so what tells waiting from trying in vain is whether any
    /// client asked for something in the latter half of the time in which nobody got anywhere.
    pub fn hang(&self) -> Option<Hang> {
        if matches!(self.end, End::Done | End::Cut) {
            return None;
        }
        let late = self.sim_us.saturating_sub(self.longest_lull_us / 2);
        let asks = |what: &What| matches!(what, What::Call { .. } | What::Send { .. });
        let last = self.history.events.iter().rev().find(|event| asks(&event.what));
        Some(if last.is_some_and(|last| last.at > late) { Hang::Livelock } else { Hang::Stuck })
    }

    /// The rule that it broke, or in what other way it failed.
    pub fn what_failed(&self) -> String {
        match self.report.first() {
            _ if self.panic.is_some() => PANIC.to_owned(),
            Some(finding) => finding.rule.name().to_owned(),
            None => self.hang().map_or("unknown", Hang::name).to_owned(),
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
pub fn seed(target: &'static Target, plan: &Plan, seed: u64) -> Run {
    with(target, plan, Seeded::new(seed, plan.rates()))
}

/// As [`seed`]; of a run that panics outside of its clients' parts nothing is left but what it said. A client's own panic
/// is an end of its run: see [`Run::panic`].
///
/// # Errors
///
/// The panic's message.
pub fn seed_caught(target: &'static Target, plan: &Plan, number: u64) -> Result<Run, String> {
    caught(|| seed(target, plan, number))
}

/// What a run comes to, or what it said when it panicked.
///
/// # Errors
///
/// The panic's message.
pub fn caught<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    // Whatever the run has touched goes with it.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| said(&*panic))
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it did not say why".into())
}

/// Runs a recorded list of choices.
pub fn replay(target: &'static Target, plan: &Plan, choices: Vec<u16>) -> Run {
    with(target, plan, Replay::new(choices))
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
        faults_recorded: false,
        source: String::new(),
    }
}

/// A run that was not judged.
pub struct Played<C> {
    /// What happened.
    pub history: History,
    /// The hash over all of it.
    pub hash: u128,
    /// Who decided.
    pub chooser: C,
    /// How it ended.
    pub end: End,
    /// How many steps the world made.
    pub steps: u64,
    /// Simulated time, in microseconds.
    pub sim_us: u64,
    /// The longest simulated time in which no client came to the end of a round although no fault struck any more, in
    /// microseconds.
    pub longest_lull_us: u64,
    /// What came about of that which comes about in some runs: see [`sometimes!`](crate::sometimes).
    pub sometimes: BTreeSet<&'static str>,
    /// Who panicked, if somebody did.
    pub panic: Option<Panicked>,
}

/// Runs with somebody who decides.
pub fn with<C: Chooser + 'static>(target: &'static Target, plan: &Plan, chooser: C) -> Run {
    giving_back(target, plan, chooser).0
}

/// As [`with`]; and who decided is given back.
pub fn giving_back<C: Chooser + 'static>(target: &'static Target, plan: &Plan, chooser: C) -> (Run, C) {
    let played = play(target, plan, Recording::new(chooser));
    let Played { history, hash, chooser, end, steps, sim_us, longest_lull_us, sometimes, panic } = played;
    let report = zk_checker::judge(&history, &target.rules());
    let (chooser, choices) = chooser.into_parts();
    let run = Run { report, history, hash, choices, end, steps, sim_us, longest_lull_us, sometimes, panic };
    (run, chooser)
}

/// Runs with somebody who decides, and judges nothing.
pub fn play<C: Chooser + 'static>(target: &'static Target, plan: &Plan, chooser: C) -> Played<C> {
    let (hostile_until, injected_bug) = (plan.hostile_ms * 1000, target.injected_bug);
    let config = Config { hostile_until, faults: plan.faults, injected_bug, ..Config::default() };
    let config = config.with_servers(plan.servers);
    let untimed = match plan.order {
        Order::Timed => None,
        Order::Any { late_answers, overtaking } => {
            Some(config.clone().interleaving(Reorderings { late_answers, overtaking }))
        }
    };
    let setting = Setting::simulated(plan);
    let mut names = Names::default();
    let objects = (target.objects)(&mut names, &setting);
    let place = |object: &Object| Place {
        path: names.text(object.path).to_owned(),
        is_directory: object.kind != Kind::Barrier,
    };
    let places: Vec<Place> = objects.iter().map(place).collect();
    let strangers = plan.strangers.clone();
    let journal = Journal::new(header(&config, setting.timeout), names, objects);
    let journal = if untimed.is_some() { journal.remembering() } else { journal };
    let is_calm = plan.faults == 0 && plan.strangers.is_nobody();
    // What a stranger took away is waited for, for a while.
    let patience = if plan.strangers.is_nobody() { Duration::ZERO } else { PATIENCE };
    let limit = target.stated.finishes_within + patience;
    let root = move |sim: Sim| async move {
        if is_calm {
            // Where nothing strikes there is nothing to wait for before progress is owed.
            sim.observer::<Journal, _>(|journal, at| journal.calm(at));
        }
        let (mut living, alive) = (Vec::new(), Alive::default());
        for number in 0..setting.clients {
            living.push(supervised(sim.clone(), number, setting, target.sim, alive.clone()));
        }
        let all = try_join_all(living);
        let all = if strangers.is_nobody() || places.is_empty() {
            all.await
        } else {
            match select(all, pin!(stranger(sim.clone(), setting, strangers, places, alive))).await {
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
    // Of a run that was cut short others are the end.
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

/// The clients' processes, by the clients' numbers.
type Alive = Arc<Mutex<BTreeMap<u8, Process>>>;

/// How long whoever waits for what a stranger took away waits for it before it gives up, in simulated time. Who may not be
/// made to wait is found waiting long before.
const PATIENCE: Duration = Duration::from_secs(150);

/// Third parties, for as long as there is somebody to meddle with.
async fn stranger(
    sim: Sim,
    setting: Setting,
    plan: Strangers,
    objects: Vec<Place>,
    alive: Alive,
) -> Infallible {
    let process = sim.process("stranger");
    sim.observer::<Journal, _>(|journal, _| journal.name_client(process.id().into(), "stranger"));
    let part = interference::interfere(sim.clone(), process.clone(), setting.timeout, plan, objects);
    // If it dies, so be it.
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

/// One client's part, begun again as a new process when its process dies, and not when it panics.
async fn supervised(
    sim: Sim,
    number: u8,
    setting: Setting,
    part: Part<SimProcess>,
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
        // Whatever it has touched goes with the run.
        let part = AssertUnwindSafe(part(Task { client, setting, rounds: next..setting.rounds, done }))
            .catch_unwind();
        if let Ok(ended) = process.spawn(part).await {
            process.retire();
            return ended.map_err(|panic| Panicked { client: name, said: said(&*panic) });
        }
    }
    Ok(())
}
