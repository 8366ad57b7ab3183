//! Makes a run: clients, foreign clients and faults on a simulated ensemble, under one chooser.

use super::draw::Draw;
use super::record::{Panicked, Run};
use crate::client::SimProcess;
use crate::interference::{self, InterferenceTarget};
use crate::journal::Journal;
use crate::panics::{Panic, caught, caught_future};
use crate::plan::{Interference, Plan, Scheduling};
use crate::workload::{Setting, Task, Workload};
use futures_util::future::{Either, select, try_join_all};
use sim_zk::choose::{Chooser, Recorder};
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Finished, Process, Reorderings, Settings, Sim};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zk_checker::history::{Header, History, Kind, Mode, Names, Object};
use zk_recipes::zk::Time;

impl<C: Chooser + 'static> Draw<C> {
    /// Makes the run and judges it by the rules of its workload. A client's panic ends the run and is part of the result:
    /// see [`Run::panic`].
    pub fn run(self) -> Run {
        self.run_by_chooser().0
    }

    /// The same; a panic outside of the clients' tasks is returned as the error.
    ///
    /// # Errors
    ///
    /// The panic.
    pub fn run_caught(self) -> Result<Run, Panic> {
        caught(|| self.run())
    }

    /// Makes the run and judges it, and returns the chooser too.
    pub fn run_by_chooser(self) -> (Run, C) {
        let rules = self.workload.rules();
        self.play(|history| zk_checker::judge(history, &rules))
    }

    /// Makes the run and has it judged by `judge`. Returns the chooser too.
    pub fn play<R>(self, judge: impl FnOnce(&History) -> R) -> (Run<R>, C) {
        let Draw { workload, plan, chooser } = self;
        let config = config(workload, &plan);
        let setting = Setting::simulated(&plan);
        let mut names = Names::default();
        let objects = (workload.objects)(&mut names, &setting);
        let target = |object: &Object| InterferenceTarget {
            path: names.text(object.path).to_owned(),
            is_directory: object.kind != Kind::Barrier,
        };
        let targets: Vec<InterferenceTarget> = objects.iter().map(target).collect();
        let interference = plan.interference.clone();
        let journal = Journal::new(header(&config, setting.timeout), names, objects);
        let journal = if plan.order.is_timed() { journal } else { journal.remembering() };
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
            let all = if interference.is_none() || targets.is_empty() {
                all.await
            } else {
                match select(all, pin!(foreign_clients(sim.clone(), setting, interference, targets, alive)))
                    .await
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
        let run = Sim::run(in_order(config, plan.order), limit, Recorder::new(chooser), journal, root);
        let Finished { end, output, world, chooser, observer: mut journal, longest_lull, .. } = run;
        let panic = output.flatten();
        // A run that was cut short reached a state of another run, which judges the end.
        if panic.is_some() || !matches!(end, End::Done | End::Cut) {
            journal.stopped(world.now());
        }
        let sometimes = journal.sometimes().clone();
        let (history, hash) = journal.finish();
        let (chooser, choices) = chooser.into_parts();
        let run = Run {
            workload,
            plan,
            report: judge(&history),
            history,
            hash,
            choices,
            end,
            steps: world.steps(),
            sim_us: world.now(),
            longest_lull_us: longest_lull.as_micros() as u64,
            sometimes,
            panic,
        };
        (run, chooser)
    }
}

/// The configuration of the ensemble.
fn config(workload: &Workload, plan: &Plan) -> Config {
    let (hostile_until, injected_bug) = (plan.hostile_ms * 1000, workload.injected_bug);
    let settings = Settings { first_number: plan.first_number, ..Settings::default() };
    let config = Config { hostile_until, faults: plan.faults, injected_bug, settings, ..Config::default() };
    config.with_servers(plan.servers)
}

/// The configuration for that order of events.
fn in_order(config: Config, order: Scheduling) -> Config {
    match order {
        Scheduling::Timed => config,
        Scheduling::Any { late_answers, overtaking } => {
            config.interleaving(Reorderings { late_answers, overtaking })
        }
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
