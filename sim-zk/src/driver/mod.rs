//! Runs ordinary async code against a [`World`] on madsim's runtime.
//!
//! Each client process is a madsim node of its own, so that a crash kills its tasks and a pause stops them. A controller
//! owns every choice: it lets all tasks run until they wait, performs steps of the world until one of them wakes
//! somebody, and so on. What the tasks observe, and when, is therefore a function of the choices alone.
//!
//! The world's clock is the clock: it is what [`ZooKeeper::now`] tells. madsim's own clock moves along without meaning,
//! so simulated code must not sleep by it.

mod client;
mod convert;
mod process;
mod reply;
mod shared;

pub use client::SimClient;
pub use process::Process;
pub use reply::{SimTreeWatch, SimWatch};

use crate::choose::{Chooser, Point};
use crate::config::Config;
use crate::fault::{Fault, Victim};
use crate::observer::Observer;
use crate::world::World;
use reply::Sleep;
use shared::Slots;
use shared::{AnyChooser, AnyObserver, Chore, Core, ProcessState};
use std::any::Any;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use zk_recipes::zk::Time;
#[allow(unused_imports, reason = "the documentation speaks of it")]
use zk_recipes::zk::ZooKeeper;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The root future is done.
    Done,
    /// Nothing will ever happen again, and the root future still waits.
    Stuck,
    /// For as long as the limit allows, nothing came about.
    OutOfTime,
    /// The chooser has seen enough of it.
    Cut,
}

/// What is left of a run.
pub struct Finished<T, C, W> {
    /// What the root future gave, if it ended.
    pub output: Option<T>,
    /// How it ended.
    pub end: End,
    /// The world at the end.
    pub world: World,
    /// Who decided.
    pub chooser: C,
    /// Who watched.
    pub observer: W,
    /// The longest time without [progress](Sim::progress), once no fault could strike any more.
    pub longest_lull: Duration,
}

/// A running simulation. Clones speak of the same one.
#[derive(Clone)]
pub struct Sim {
    shared: Arc<Mutex<Core>>,
}

impl Sim {
    /// Runs `root` to its end on the current thread, in a world of its own.
    ///
    /// `limit` bounds the simulated time that may pass without [progress](Sim::progress) while no fault can strike. Where
    /// nobody speaks of progress that is the time from the end of the hostile phase to the end of the run.
    ///
    /// # Panics
    ///
    /// When simulated code panics. It is made to when it uses the simulation a million times at one moment, without
    /// waiting for anything: no step of the world could follow, and the run would never end. Code that goes on for ever
    /// and does not even look at its session, or at its clock, cannot be found so.
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
        // A constant seed: madsim only picks among tasks that are ready together.
        let runtime = madsim::runtime::Runtime::with_seed_and_config(0, madsim::Config::default());
        let sim = Sim {
            shared: Arc::new(Mutex::new(Core {
                world: World::new(config),
                chooser: Box::new(chooser),
                observer: Box::new(observer),
                effects: Vec::new(),
                wakers: Vec::new(),
                slots: Slots::default(),
                handles: Vec::new(),
                nodes: Vec::new(),
                processes: Vec::new(),
                guids: 0,
                ended: false,
                quiet: Vec::new(),
                rounds: 0,
                stalled: Vec::new(),
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
                    // The shortest sleep there is; it ends when every task waits for something.
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

    /// Ends tasks that still wait: they hold each other and the simulation, and the simulation holds their wakers. What
    /// they do as they are dropped is no part of the run.
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
        let wakers = [&mut core.wakers, &mut core.quiet, &mut core.stalled].map(std::mem::take);
        drop(guard);
        drop((slots, handles, processes, wakers));
    }

    /// Performs steps until one of them wakes somebody.
    fn advance(&self, limit: Duration) -> Option<End> {
        let limit = limit.as_micros() as u64;
        let mut chores = Vec::new();
        let wakers = {
            let mut guard = self.core();
            let core = &mut *guard;
            core.visits = 0;
            let untimed = core.world.config().is_interleaving();
            if !untimed || core.wakers.is_empty() {
                core.rounds += 1;
                core.wakers.append(&mut core.stalled);
            }
            loop {
                // Whoever was woken may go on to ask for something: only when everybody waits is it quiet.
                if core.wakers.is_empty() && !core.quiet.is_empty() && core.is_quiet() {
                    core.wakers.append(&mut core.quiet);
                }
                if !core.wakers.is_empty() || !chores.is_empty() {
                    // madsim draws among tasks that are ready together, from a stream that depends on the past. Where runs
                    // that come to the same state must go on alike, there is never more than one.
                    let one = if untimed { core.wakers.len().min(1) } else { core.wakers.len() };
                    break core.wakers.drain(..one).collect();
                }
                if untimed && !core.goes_on() {
                    return Some(End::Cut);
                }
                let next = match untimed {
                    true => core.with_world(World::next_interleaved),
                    false => core.world.next_step(),
                };
                let Some((at, step)) = next else { return Some(End::Stuck) };
                if core.world.is_hostile() {
                    core.progress(at);
                    // While faults strike nothing is owed.
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

    /// What cannot be done under the lock.
    fn finish(&self, wakers: Vec<Waker>, chores: Vec<Chore>) {
        for chore in chores {
            let handle = madsim::runtime::Handle::current();
            let id = |process: u8| self.core().nodes[usize::from(process)].id();
            match chore {
                Chore::Kill(process) => handle.kill(id(process)),
                Chore::Pause(process) => handle.pause(id(process)),
                Chore::Resume(process) => handle.resume(id(process)),
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
                    // The lock is not to be held by whoever panics.
                    drop(core);
                    panic!("simulated code goes on and on without waiting for anything");
                }
                core
            }
            // A run has one thread: whoever finds the lock taken has taken it himself, further up.
            Err(TryLockError::WouldBlock) => panic!("what looks at a simulation must not use it meanwhile"),
            Err(TryLockError::Poisoned(_)) => panic!("{UNPOISONED}"),
        }
    }

    /// As `act`, unless the run is over, or is falling apart. For `drop`s.
    fn act_unless_ended(&self, act: impl FnOnce(&mut Core)) {
        if !std::thread::panicking() && !self.core().ended {
            self.act(act);
        }
    }

    /// Does something to the world on behalf of a user, and wakes whom it concerns.
    fn act<R>(&self, act: impl FnOnce(&mut Core) -> R) -> R {
        let mut chores = Vec::new();
        let (result, wakers) = {
            let mut core = self.core();
            let result = act(&mut core);
            core.settle(&mut chores);
            let now = !core.world.config().is_interleaving();
            (result, if now { std::mem::take(&mut core.wakers) } else { Vec::new() })
        };
        self.finish(wakers, chores);
        result
    }

    /// Begins a client process.
    pub fn process(&self, name: &str) -> Process {
        let node = madsim::runtime::Handle::current().create_node().name(name).build();
        let id = self.act(|core| {
            core.nodes.push(node.clone());
            core.processes.push(ProcessState::default());
            core.with_world(|world, context| world.begin(context))
        });
        Process { sim: self.clone(), id, node }
    }

    /// The clock.
    pub fn now(&self) -> Time {
        Time::from_micros(self.core().world.now())
    }

    /// Looks at the world as it is.
    ///
    /// # Panics
    ///
    /// If `at` uses the simulation, be it by a client.
    pub fn look<R>(&self, at: impl FnOnce(&World) -> R) -> R {
        at(&self.core().world)
    }

    /// Speaks with the observer, who is a `W`, at the present time.
    ///
    /// # Panics
    ///
    /// If it is not, or if `speak` uses the simulation.
    pub fn observer<W: Observer + 'static, R>(&self, speak: impl FnOnce(&mut W, u64) -> R) -> R {
        let mut core = self.core();
        let now = core.world.now();
        let observer: &mut dyn Any = &mut *core.observer;
        speak(observer.downcast_mut::<W>().expect("the observer is of the type it was given as"), now)
    }

    /// A choice of the user's own: 0 is the calm one.
    pub fn choose(&self, n: u32) -> u32 {
        self.core().chooser.choose(Point::User, n)
    }

    /// Whether nothing is on its way and nothing lingers; see [`World::is_quiet`].
    pub fn is_quiet(&self) -> bool {
        self.core().is_quiet()
    }

    /// Ends the hostile phase before its time: from here on no fault strikes.
    pub fn heal(&self) {
        self.core().world.heal();
    }

    /// Says that something came about that was to come: the limit of the run counts anew from here.
    pub fn progress(&self) {
        let mut core = self.core();
        let now = core.world.now();
        core.progress(now);
    }

    /// Lets a fault strike now, for that long. For scripts.
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

    /// Resolves when every other task has run as far as it can without the world moving on.
    pub fn stalled(&self) -> impl Future<Output = ()> + Send + use<> {
        let sim = self.clone();
        let seen = self.core().rounds;
        std::future::poll_fn(move |context| {
            let mut core = sim.core();
            if core.rounds > seen {
                return Poll::Ready(());
            }
            register(&mut core.stalled, context);
            Poll::Pending
        })
    }

    /// Resolves when nothing is on its way and nothing lingers; see [`World::is_quiet`].
    pub fn quiet(&self) -> impl Future<Output = ()> + Send + use<> {
        let sim = self.clone();
        let stalled = self.stalled();
        async move {
            // What was just spawned has not asked for anything yet.
            stalled.await;
            std::future::poll_fn(move |context| {
                let mut core = sim.core();
                if core.is_quiet() {
                    return Poll::Ready(());
                }
                register(&mut core.quiet, context);
                Poll::Pending
            })
            .await;
        }
    }

    /// Waits that long. In interleaving mode a short pause takes no time, and others may get their turn in it.
    pub fn sleep(&self, process: &Process, by: Duration) -> impl Future<Output = ()> + Send + use<> {
        let now = Time::from_micros(self.core().world.time_of(process.id));
        if self.core().world.config().is_interleaving() && !by.is_zero() && by <= SHORT {
            return Sleep::turn(self, process.id);
        }
        Sleep::new(self, process.id, now + by)
    }
}

/// What a user does in less time than this takes no time in interleaving mode.
const SHORT: Duration = Duration::from_millis(100);

/// Code that uses the simulation more often than this before the world moves on does not wait for it.
const SPINS: u32 = 1_000_000;

const UNPOISONED: &str = "a run that panicked is not used again";

fn take_as<T: Any>(boxed: Box<dyn Any>) -> T {
    *boxed.downcast::<T>().expect("it was put there as this type")
}

fn register(waiting: &mut Vec<Waker>, context: &Context<'_>) {
    if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
        waiting.push(context.waker().clone());
    }
}
