//! The driver: runs ordinary async code against a [`World`] on madsim's runtime.
//!
//! Each client process is a madsim node, so that a crash kills its tasks and a pause stops them. A controller makes
//! every choice: it lets all tasks run until they wait, performs steps of the world until one wakes a task, and
//! repeats. So the observations of tasks, and their times, are a function of the choices alone.
//!
//! [`Runtime::now`](zk_recipes::Runtime::now) returns the time of the world. The clock of madsim is unrelated to it, so simulated code must not
//! sleep by that clock.

mod client;
mod connector;
mod convert;
mod process;
mod reply;
mod shared;
mod subject;
mod waiting;

pub use client::SimClient;
pub use connector::Connector;
pub use process::Process;
pub use reply::{SimTreeWatch, SimWatch};

use crate::choose::{Chooser, Point};
use crate::config::Config;
use crate::fault::{Fault, Victim};
use crate::observer::Observer;
use crate::world::World;
use reply::Sleep;
use shared::{AnyChooser, AnyObserver, Chore, Core, ProcessState, Slots, wake_all};
use std::any::Any;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::task::Waker;
use std::time::Duration;
use zk_recipes::zk::Time;
#[allow(unused_imports, reason = "the documentation speaks of it")]
use zk_recipes::zk::ZooKeeper;
use zk_recipes::zk::waiters::Waiters;

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The root future has completed.
    Done,
    /// Deadlock: no event is left, and the root future still waits.
    Stuck,
    /// Lack of progress: the limit has passed without any.
    OutOfTime,
    /// The chooser has stopped the run.
    Cut,
}

/// The result of a run.
pub struct Finished<T, C, W> {
    /// The output of the root future, if it completed.
    pub output: Option<T>,
    /// The reason for the end.
    pub end: End,
    /// The world at the end.
    pub world: World,
    /// The chooser.
    pub chooser: C,
    /// The observer.
    pub observer: W,
    /// The longest time without [progress](Sim::progress) after the end of fault injection.
    pub longest_lull: Duration,
}

/// A running simulation. Clones share it.
#[derive(Clone)]
pub struct Sim {
    shared: Arc<Mutex<Core>>,
}

impl Sim {
    /// Runs `root` to its end on the current thread, in a new world.
    ///
    /// `limit` bounds the simulated time without [progress](Sim::progress) while no fault can be injected. Without
    /// calls of `progress` it bounds the time from the end of fault injection to the end of the run.
    ///
    /// # Panics
    ///
    /// If simulated code panics. Livelock is turned into a panic: a million uses of the simulation at one instant,
    /// without waiting. A loop that does not even read its session or its clock cannot be detected.
    pub fn run<T, C, W, F>(
        config: Config,
        limit: Duration,
        chooser: C,
        observer: W,
        root: impl FnOnce(Sim) -> F,
    ) -> Finished<T, C, W>
    where
        T: Send + 'static,
        C: Chooser + 'static,
        W: Observer + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        // The seed is constant because madsim only picks among tasks that are ready together.
        let runtime = madsim::runtime::Runtime::with_seed_and_config(0, madsim::Config::default());
        let sim = Sim {
            shared: Arc::new(Mutex::new(Core {
                world: World::new(config),
                chooser: Box::new(chooser),
                observer: Box::new(observer),
                effects: Vec::new(),
                wakers: Vec::new(),
                over: Vec::new(),
                slots: Slots::default(),
                handles: Vec::new(),
                nodes: Vec::new(),
                processes: Vec::new(),
                guids: 0,
                ended: false,
                quiet: Waiters::default(),
                rounds: 0,
                stalled: Waiters::default(),
                visits: 0,
                owed_since: 0,
                longest_lull: 0,
            })),
        };
        let output = Arc::new(Mutex::new(None));
        let (end, root) = {
            let future = root(sim.clone());
            let output = output.clone();
            let sim = sim.clone();
            runtime.block_on(async move {
                let done = output.clone();
                let root = madsim::task::spawn(async move {
                    let value = future.await;
                    *done.lock().expect(UNPOISONED) = Some(value);
                });
                loop {
                    // The shortest sleep is a barrier: it ends when every task waits.
                    madsim::time::sleep(Duration::from_millis(1)).await;
                    if output.lock().expect(UNPOISONED).is_some() {
                        return (End::Done, root);
                    }
                    if let Some(end) = sim.advance(limit) {
                        return (end, root);
                    }
                }
            })
        };
        let output = output.lock().expect(UNPOISONED).take();
        sim.dissolve(runtime, &root);
        let mut core = sim.core();
        let now = core.world.now();
        core.progress(now);
        let longest_lull = Duration::from_micros(core.longest_lull);
        let world = std::mem::replace(&mut core.world, World::new(Config::default()));
        let chooser: Box<dyn AnyChooser> =
            std::mem::replace(&mut core.chooser, Box::new(crate::choose::Calm));
        let observer: Box<dyn AnyObserver> = std::mem::replace(&mut core.observer, Box::new(()));
        let (chooser, observer) = (take_as::<C>(chooser), take_as::<W>(observer));
        Finished { output, end, world, chooser, observer, longest_lull }
    }

    /// Aborts waiting tasks, which would leak: tasks hold the simulation, and it holds their wakers. Their drops are
    /// not part of the run.
    fn dissolve(&self, runtime: madsim::runtime::Runtime, root: &madsim::task::JoinHandle<()>) {
        let nodes = {
            let mut core = self.core();
            core.ended = true;
            std::mem::take(&mut core.nodes)
        };
        runtime.block_on(async {
            root.abort();
            nodes.iter().for_each(|node| madsim::runtime::Handle::current().kill(node.id()));
            madsim::time::sleep(Duration::from_millis(1)).await;
        });
        drop((runtime, nodes));
        let mut guard = self.core();
        let core = &mut *guard;
        let slots = std::mem::take(&mut core.slots);
        let handles = std::mem::take(&mut core.handles);
        let processes = std::mem::take(&mut core.processes);
        let waiting = [&mut core.quiet, &mut core.stalled].map(std::mem::take);
        let wakers = std::mem::take(&mut core.wakers);
        drop(guard);
        drop((slots, handles, processes, waiting, wakers));
    }

    /// Performs steps until one of them wakes a task.
    fn advance(&self, limit: Duration) -> Option<End> {
        let limit = limit.as_micros() as u64;
        let mut chores = Vec::new();
        let wakers = {
            let mut guard = self.core();
            let core = &mut *guard;
            core.visits = 0;
            let interleaving = core.world.config().is_interleaving();
            if !interleaving || core.wakers.is_empty() {
                core.rounds += 1;
                wake_all(&mut core.stalled, &mut core.wakers);
            }
            loop {
                // A woken task may send requests, so the world is quiescent only when all tasks wait.
                if core.wakers.is_empty() && !core.quiet.is_empty() && core.is_quiet() {
                    wake_all(&mut core.quiet, &mut core.wakers);
                }
                if !core.wakers.is_empty() || !chores.is_empty() {
                    // madsim draws among ready tasks from a stream that depends on the past. Runs that reach the same
                    // state must continue alike, so in interleaving mode only one task is ready at a time.
                    let one = if interleaving { core.wakers.len().min(1) } else { core.wakers.len() };
                    core.take_over(&mut chores);
                    break core.wakers.drain(..one).collect();
                }
                if interleaving && !core.goes_on() {
                    return Some(End::Cut);
                }
                let next = if interleaving {
                    core.with_world(World::next_interleaved)
                } else {
                    core.world.next_step()
                };
                let Some((at, step)) = next else { return Some(End::Stuck) };
                if core.world.is_hostile() {
                    core.progress(at);
                    // No progress is required during fault injection.
                    core.longest_lull = 0;
                } else if at > core.owed_since.saturating_add(limit) {
                    return Some(End::OutOfTime);
                }
                core.with_world(|world, context| world.perform(at, step, context));
                core.settle(&mut chores);
            }
        };
        self.finish(wakers, chores);
        None
    }

    /// Wakes tasks, and kills and pauses nodes. The caller must not hold the lock.
    fn finish(&self, wakers: Vec<Waker>, chores: Vec<Chore>) {
        for chore in chores {
            let handle = madsim::runtime::Handle::current();
            let id = |process: u8| self.core().nodes[usize::from(process)].id();
            match chore {
                Chore::Kill(process) => handle.kill(id(process)),
                Chore::Pause(process) => handle.pause(id(process)),
                Chore::Resume(process) => handle.resume(id(process)),
                Chore::TellOver(listener) => listener.session_over(),
            }
        }
        for waker in wakers {
            waker.wake();
        }
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        match self.shared.try_lock() {
            Ok(mut core) => {
                core.visits += 1;
                if core.visits > SPINS {
                    core.visits = 0;
                    // The lock is released so that the panic does not poison it.
                    drop(core);
                    panic!("simulated code goes on and on without waiting for anything");
                }
                core
            }
            // A re-entrant use: a run has one thread, which already holds the lock.
            Err(TryLockError::WouldBlock) => panic!("what looks at a simulation must not use it meanwhile"),
            Err(TryLockError::Poisoned(_)) => panic!("{UNPOISONED}"),
        }
    }

    /// Like `act`, but does nothing after the end of the run or during a panic. For `drop`s.
    fn act_unless_ended(&self, act: impl FnOnce(&mut Core)) {
        if !std::thread::panicking() && !self.core().ended {
            self.act(act);
        }
    }

    /// Like `act_unless_ended`, for cleanup that is not part of the run: no result is delivered, no task is woken.
    fn unless_ended(&self, tidy: impl FnOnce(&mut Core)) {
        if !std::thread::panicking() {
            let mut core = self.core();
            if !core.ended {
                tidy(&mut core);
            }
        }
    }

    /// Acts on the world on behalf of client code, and wakes tasks.
    fn act<R>(&self, act: impl FnOnce(&mut Core) -> R) -> R {
        let mut chores = Vec::new();
        let (result, wakers) = {
            let mut core = self.core();
            let result = act(&mut core);
            core.settle(&mut chores);
            core.take_over(&mut chores);
            let now = !core.world.config().is_interleaving();
            (result, if now { std::mem::take(&mut core.wakers) } else { Vec::new() })
        };
        self.finish(wakers, chores);
        result
    }

    /// Starts a client process.
    pub fn process(&self, name: &str) -> Process {
        let node = madsim::runtime::Handle::current().create_node().name(name).build();
        let id = self.act(|core| {
            core.nodes.push(node.clone());
            core.processes.push(ProcessState::default());
            core.with_world(|world, context| world.begin(context))
        });
        Process { sim: self.clone(), id, node }
    }

    /// Returns the time of the world.
    pub fn now(&self) -> Time {
        Time::from_micros(self.core().world.now())
    }

    /// Inspects the world.
    ///
    /// # Panics
    ///
    /// If `at` uses the simulation, for instance through a client.
    pub fn look<R>(&self, at: impl FnOnce(&World) -> R) -> R {
        at(&self.core().world)
    }

    /// Accesses the observer, whose type is `W`, at the present time.
    ///
    /// # Panics
    ///
    /// If the observer has another type, or if `speak` uses the simulation.
    pub fn observer<W: Observer + 'static, R>(&self, speak: impl FnOnce(&mut W, u64) -> R) -> R {
        let mut core = self.core();
        let now = core.world.now();
        speak(core.observer_as(), now)
    }

    /// Makes a choice of client code: 0 is the fault-free alternative.
    pub fn choose(&self, n: u32) -> u32 {
        self.core().chooser.choose(Point::User, n)
    }

    /// Returns whether the world is quiescent; see [`World::is_quiet`].
    pub fn is_quiet(&self) -> bool {
        self.core().is_quiet()
    }

    /// Ends fault injection early.
    pub fn heal(&self) {
        self.core().world.heal();
    }

    /// Reports progress: the limit of the run starts again.
    pub fn progress(&self) {
        let mut core = self.core();
        let now = core.world.now();
        core.progress(now);
    }

    /// Injects a fault now, with a duration. For scripts.
    pub fn inflict(&self, fault: Fault, victim: Victim, lasts: Duration) {
        let lasts = lasts.as_micros() as u64;
        self.act(|core| {
            core.with_world(|world, context| match victim {
                Victim::Process(process) => world.inflict(process, fault, lasts, context),
                Victim::Server(_) | Victim::Link(..) => {
                    world.inflict_on_servers(fault, victim, lasts, context);
                }
            });
        });
    }

    /// Resolves when every other task waits for the world.
    pub fn stalled(&self) -> impl Future<Output = ()> + Send + use<> {
        let seen = self.core().rounds;
        self.until(|core| &mut core.stalled, move |core| (core.rounds > seen).then_some(()))
    }

    /// Resolves when the world is quiescent; see [`World::is_quiet`].
    pub fn quiet(&self) -> impl Future<Output = ()> + Send + use<> {
        let sim = self.clone();
        let stalled = self.stalled();
        async move {
            // A new task has not sent its requests yet.
            stalled.await;
            sim.until(|core| &mut core.quiet, |core| core.is_quiet().then_some(())).await;
        }
    }

    /// Sleeps. In interleaving mode a short sleep takes no time, but other tasks may run in between.
    pub fn sleep(&self, process: &Process, by: Duration) -> impl Future<Output = ()> + Send + use<> {
        let now = Time::from_micros(self.core().world.time_of(process.id));
        if self.core().world.config().is_interleaving() && !by.is_zero() && by <= SHORT {
            return Sleep::turn(self, process.id);
        }
        Sleep::new(self, process.id, now + by)
    }
}

/// The longest sleep that takes no time in interleaving mode.
const SHORT: Duration = Duration::from_millis(100);

/// The number of uses of the simulation without a step of the world that counts as livelock.
const SPINS: u32 = 1_000_000;

const UNPOISONED: &str = "a run that panicked is not used again";

fn take_as<T: Any>(boxed: Box<dyn Any>) -> T {
    *boxed.downcast::<T>().expect("it was put there as this type")
}
