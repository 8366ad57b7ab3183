//! Runs ordinary async code against a [`World`] on madsim's runtime.
//!
//! Each client process is a madsim node of its own, so that a crash kills its tasks and a pause stops them. A controller
//! owns every choice: it lets all tasks run until they wait, performs steps of the world until one of them wakes
//! somebody, and so on. What the tasks observe, and when, is therefore a function of the choices alone.
//!
//! The world's clock is the clock: it is what [`ZooKeeper::now`] tells. madsim's own clock moves along without meaning,
//! so simulated code must not sleep by it.

use crate::choose::{Chooser, Point};
use crate::fault::Fault;
use crate::message::{Answer, Ask, AskOp, OpAnswer};
use crate::paths::Paths;
use crate::session::{Failure, event};
use crate::witness::Witness;
use crate::world::{Company, Config, Effect, HandleId, World};
use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use zk_recipes::zk::{
    Armed, CreateMode, Created, Data, Discharge, Duty, DutyId, Error, Event, Guid, Listing, Op, OpResult,
    SessionId, Stat, Status, Time, ZooKeeper, duty, path,
};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The root future is done.
    Done,
    /// Nothing will ever happen again, and the root future still waits.
    Stuck,
    /// The limit of simulated time is over.
    OutOfTime,
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
    pub witness: W,
}

/// A running simulation. Clones speak of the same one.
#[derive(Clone)]
pub struct Sim {
    shared: Arc<Mutex<Core>>,
}

trait AnyChooser: Chooser + Any {}
impl<C: Chooser + Any> AnyChooser for C {}
trait AnyWitness: Witness + Any {}
impl<W: Witness + Any> AnyWitness for W {}

struct Core {
    world: World,
    chooser: Box<dyn AnyChooser>,
    witness: Box<dyn AnyWitness>,
    effects: Vec<Effect>,
    wakers: Vec<Waker>,
    slots: Slots,
    /// Who waits for a change of a session's status, or for its duties, by handle.
    handles: Vec<HandleState>,
    nodes: Vec<madsim::runtime::NodeHandle>,
    processes: Vec<ProcessState>,
    guids: u64,
    /// The run is over: what futures do as they are dropped is no part of it.
    ended: bool,
    /// Who waits until nothing is on its way.
    quiet: Vec<Waker>,
    /// How often every task has run as far as it could, and who waits for the next time.
    rounds: u64,
    stalled: Vec<Waker>,
}

#[derive(Default)]
struct HandleState {
    waiting: Vec<Waker>,
    duties: u32,
    next_duty: DutyId,
}

#[derive(Default)]
struct ProcessState {
    cancels: u32,
    crashed: bool,
    waiting: Vec<Waker>,
}

/// What futures wait for, by number.
#[derive(Default)]
struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Default)]
enum Slot {
    #[default]
    Free,
    /// Nothing yet; who waits.
    Pending(Option<Waker>),
    /// A request whose future was dropped, and the watch that it may have armed.
    Forgotten(HandleId, Option<u32>),
    Answered(Result<Answer, Failure>),
    Fired(Result<Event, Error>),
    Rang,
}

impl Slots {
    fn take(&mut self) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::Free);
            self.slots.len() as u32 - 1
        });
        self.slots[id as usize] = Slot::Pending(None);
        id
    }

    fn release(&mut self, id: u32) -> Slot {
        self.free.push(id);
        std::mem::take(&mut self.slots[id as usize])
    }

    /// Fills a slot that somebody waits for, and says whom to wake.
    fn fill(&mut self, id: u32, with: Slot, wakers: &mut Vec<Waker>) {
        if let Slot::Pending(waker) = std::mem::replace(&mut self.slots[id as usize], with) {
            wakers.extend(waker);
        }
    }

    /// Whether the slot is filled; if not, `context` is woken when it is.
    fn poll(&mut self, id: u32, context: &mut Context<'_>) -> bool {
        match &mut self.slots[id as usize] {
            Slot::Pending(waker) => {
                match waker {
                    Some(old) if old.will_wake(context.waker()) => {}
                    _ => *waker = Some(context.waker().clone()),
                }
                false
            }
            _ => true,
        }
    }
}

/// What the controller has to do outside the lock.
enum Chore {
    Kill(u8),
    Pause(u8),
    Resume(u8),
}

impl Core {
    /// Lets the world act, and deals out what its users are told.
    fn with_world<R>(&mut self, act: impl FnOnce(&mut World, &mut Company<'_>) -> R) -> R {
        let mut company = Company {
            chooser: &mut *self.chooser,
            witness: &mut *self.witness,
            effects: &mut self.effects,
        };
        act(&mut self.world, &mut company)
    }

    /// Deals out the effects of what was just done.
    fn settle(&mut self, chores: &mut Vec<Chore>) {
        while !self.effects.is_empty() {
            for effect in std::mem::take(&mut self.effects) {
                self.deal(effect, chores);
            }
        }
    }

    fn deal(&mut self, effect: Effect, chores: &mut Vec<Chore>) {
        match effect {
            Effect::Answered { ticket, result } => {
                if let Slot::Forgotten(handle, watch) = self.slots.slots[ticket as usize] {
                    self.slots.release(ticket);
                    if let Some(watch) = watch {
                        self.slots.release(watch);
                        if result.is_ok() {
                            self.with_world(|world, company| world.drop_watch(handle, watch, company));
                        }
                    }
                } else {
                    self.slots.fill(ticket, Slot::Answered(result), &mut self.wakers);
                }
            }
            Effect::Fired { watch, result } => {
                let result = match result {
                    Ok((kind, path)) => Ok(event(kind, self.world.paths().text(path))),
                    Err(why) => Err(Error::SessionOver(why)),
                };
                self.slots.fill(watch, Slot::Fired(result), &mut self.wakers);
            }
            Effect::Changed { handle } => {
                self.wakers.append(&mut self.handles[usize::from(handle.0)].waiting);
            }
            Effect::Rang { alarm } => self.slots.fill(alarm, Slot::Rang, &mut self.wakers),
            Effect::Cancelled { process } => {
                let state = &mut self.processes[usize::from(process)];
                state.cancels += 1;
                self.wakers.append(&mut state.waiting);
            }
            Effect::Crashed { process } => {
                let state = &mut self.processes[usize::from(process)];
                state.crashed = true;
                self.wakers.append(&mut state.waiting);
                chores.push(Chore::Kill(process));
            }
            Effect::Paused { process } => chores.push(Chore::Pause(process)),
            Effect::Resumed { process } => chores.push(Chore::Resume(process)),
        }
    }

    fn is_quiet(&self) -> bool {
        let open_duties = self.handles.iter().enumerate().any(|(index, handle)| {
            handle.duties > 0 && !self.world.is_crashed(self.world.process_of(HandleId(index as u16)))
        });
        !open_duties && self.world.is_quiet()
    }
}

impl Sim {
    /// Runs `root` to its end on the current thread, in a world of its own.
    ///
    /// `limit` bounds the simulated time.
    ///
    /// # Panics
    ///
    /// When simulated code panics.
    pub fn run<T, C, W, F>(
        config: Config,
        limit: Duration,
        chooser: C,
        witness: W,
        root: impl FnOnce(Sim) -> F,
    ) -> Finished<T, C, W>
    where
        T: Send + 'static,
        C: Chooser + 'static,
        W: Witness + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        // A constant seed: madsim only picks among tasks that are ready together.
        let runtime = madsim::runtime::Runtime::with_seed_and_config(0, madsim::Config::default());
        let sim = Sim {
            shared: Arc::new(Mutex::new(Core {
                world: World::new(config),
                chooser: Box::new(chooser),
                witness: Box::new(witness),
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
            })),
        };
        let output = Arc::new(Mutex::new(None));
        let end = {
            let future = root(sim.clone());
            let output = output.clone();
            let sim = sim.clone();
            runtime.block_on(async move {
                let done = output.clone();
                let _root = madsim::task::spawn(async move {
                    let value = future.await;
                    *done.lock().expect(UNPOISONED) = Some(value);
                });
                loop {
                    // The shortest sleep there is; it ends when every task waits for something.
                    madsim::time::sleep(Duration::from_millis(1)).await;
                    if output.lock().expect(UNPOISONED).is_some() {
                        return End::Done;
                    }
                    if let Some(end) = sim.advance(limit) {
                        return end;
                    }
                }
            })
        };
        let output = output.lock().expect(UNPOISONED).take();
        sim.dissolve(runtime);
        let mut core = sim.core();
        let world = std::mem::replace(&mut core.world, World::new(Config::default()));
        let chooser: Box<dyn AnyChooser> = std::mem::replace(&mut core.chooser, Box::new(crate::choose::Calm));
        let witness: Box<dyn AnyWitness> = std::mem::replace(&mut core.witness, Box::new(()));
        let (chooser, witness) = (take_as::<C>(chooser), take_as::<W>(witness));
        Finished { output, end, world, chooser, witness }
    }

    /// Lets go of tasks that still wait: they hold the simulation, and the simulation holds their wakers. What they do
    /// as they are dropped is no part of the run.
    fn dissolve(&self, runtime: madsim::runtime::Runtime) {
        self.core().ended = true;
        drop(runtime);
        let mut guard = self.core();
        let core = &mut *guard;
        let slots = std::mem::take(&mut core.slots.slots);
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
            core.rounds += 1;
            core.wakers.append(&mut core.stalled);
            loop {
                if !core.wakers.is_empty() {
                    break std::mem::take(&mut core.wakers);
                }
                let Some((at, step)) = core.world.next() else { return Some(End::Stuck) };
                if at > limit {
                    return Some(End::OutOfTime);
                }
                core.with_world(|world, company| world.perform(at, step, company));
                core.settle(&mut chores);
                if !core.quiet.is_empty() && core.is_quiet() {
                    core.wakers.append(&mut core.quiet);
                }
                if !core.wakers.is_empty() || !chores.is_empty() {
                    break std::mem::take(&mut core.wakers);
                }
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
        self.shared.lock().expect(UNPOISONED)
    }

    /// As `act`, unless the run is over. For `drop`s.
    fn act_unless_ended(&self, act: impl FnOnce(&mut Core)) {
        if !self.core().ended {
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
            (result, std::mem::take(&mut core.wakers))
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
            core.with_world(|world, company| world.begin(company))
        });
        Process { sim: self.clone(), id, node }
    }

    /// The clock.
    pub fn now(&self) -> Time {
        Time::from_micros(self.core().world.now())
    }

    /// Looks at the world as it is.
    pub fn look<R>(&self, at: impl FnOnce(&World) -> R) -> R {
        at(&self.core().world)
    }

    /// Speaks with the witness, who is a `W`, at the present time.
    ///
    /// # Panics
    ///
    /// If it is not.
    pub fn witness<W: Witness + 'static, R>(&self, speak: impl FnOnce(&mut W, u64) -> R) -> R {
        let mut core = self.core();
        let now = core.world.now();
        let witness: &mut dyn Any = &mut *core.witness;
        speak(witness.downcast_mut::<W>().expect("the witness is of the type it was given as"), now)
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

    /// Resolves when every other task has run as far as it can without the world moving on.
    pub fn stalled(&self) -> impl Future<Output = ()> + Send + use<> {
        let sim = self.clone();
        let seen = self.core().rounds;
        std::future::poll_fn(move |context| {
            let mut core = sim.core();
            if core.rounds > seen {
                return Poll::Ready(());
            }
            remember(&mut core.stalled, context);
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
                remember(&mut core.quiet, context);
                Poll::Pending
            })
            .await;
        }
    }

    /// Waits that long.
    pub fn sleep(&self, process: &Process, by: Duration) -> impl Future<Output = ()> + Send + use<> {
        Sleep::new(self, process.id, self.now() + by)
    }
}

const UNPOISONED: &str = "a run that panicked is not used again";

fn take_as<T: Any>(boxed: Box<dyn Any>) -> T {
    *boxed.downcast::<T>().expect("it was put there as this type")
}

/// A client process: a madsim node that opens sessions.
#[derive(Clone)]
pub struct Process {
    sim: Sim,
    id: u8,
    node: madsim::runtime::NodeHandle,
}

impl Process {
    /// Its number, from 0 in the order of beginning.
    pub fn id(&self) -> u8 {
        self.id
    }

    /// Runs a task in the process: it is dropped when the process crashes, and stands still while it is paused.
    pub fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> madsim::task::JoinHandle<T> {
        self.node.spawn(task)
    }

    /// Opens a session that asks for `timeout`; the future is ready with the first connection.
    pub fn open(&self, timeout: Duration) -> impl Future<Output = SimClient> + Send + use<> {
        let handle = self.sim.act(|core| {
            core.handles.push(HandleState::default());
            core.world.open(self.id, timeout.as_micros() as u64)
        });
        let client = SimClient { sim: self.sim.clone(), handle, process: self.id, cleanup: None };
        async move {
            let mut status = client.status();
            while status.connection == 0 {
                status = client.changed(status).await;
            }
            client
        }
    }

    /// From here on the process's requests belong to operation `op` of its user.
    pub fn set_op(&self, op: u32) {
        self.sim.core().world.set_op(self.id, op);
    }

    /// How many times the user was asked to drop what it waits for.
    pub fn cancels(&self) -> u32 {
        self.sim.core().processes[usize::from(self.id)].cancels
    }

    /// Resolves when the user is asked to drop what it waits for more than `seen` times.
    pub fn cancelled(&self, seen: u32) -> impl Future<Output = ()> + Send + use<> {
        let (sim, id) = (self.sim.clone(), usize::from(self.id));
        std::future::poll_fn(move |context| {
            let mut core = sim.core();
            let state = &mut core.processes[id];
            if state.cancels > seen {
                return Poll::Ready(());
            }
            remember(&mut state.waiting, context);
            Poll::Pending
        })
    }

    /// Resolves when the process has crashed. For whoever watches over it.
    pub fn crashed(&self) -> impl Future<Output = ()> + Send + use<> {
        let (sim, id) = (self.sim.clone(), usize::from(self.id));
        std::future::poll_fn(move |context| {
            let mut core = sim.core();
            let state = &mut core.processes[id];
            if state.crashed {
                return Poll::Ready(());
            }
            remember(&mut state.waiting, context);
            Poll::Pending
        })
    }

    /// Orders a fault: it strikes the process at the next place where it fits. For scripts.
    pub fn order(&self, fault: Fault) {
        self.sim.core().world.order(self.id, fault);
    }

    /// Lets a fault strike the process now. For scripts.
    pub fn inflict(&self, fault: Fault, lasts: Duration) {
        let lasts = lasts.as_micros() as u64;
        self.sim.act(|core| {
            core.with_world(|world, company| world.inflict(self.id, fault, lasts, company));
        });
    }
}

fn remember(waiting: &mut Vec<Waker>, context: &Context<'_>) {
    if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
        waiting.push(context.waker().clone());
    }
}

/// A simulated session.
#[derive(Clone)]
pub struct SimClient {
    sim: Sim,
    handle: HandleId,
    process: u8,
    /// Set for clean-up duties: the operation whose duty it is.
    cleanup: Option<u32>,
}

impl std::fmt::Debug for SimClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimClient").field("handle", &self.handle).field("process", &self.process).finish()
    }
}

type Convert<T> = fn(&Paths, Answer) -> T;

/// The future of a request: it has been sent.
struct Reply<T> {
    sim: Sim,
    handle: HandleId,
    state: Result<u32, Option<Error>>,
    watch: Option<u32>,
    convert: Convert<T>,
}

impl<T> Future for Reply<T> {
    type Output = Result<(T, Option<SimWatch>), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let ticket = match &mut this.state {
            Ok(ticket) => *ticket,
            Err(error) => return Poll::Ready(Err(error.take().expect("a future is not polled after its end"))),
        };
        let mut core = this.sim.core();
        if !core.slots.poll(ticket, context) {
            return Poll::Pending;
        }
        let slot = core.slots.release(ticket);
        this.state = Err(None);
        let Slot::Answered(result) = slot else { unreachable!("only answers are put into a request's slot") };
        let result = match result {
            Ok(answer) => {
                let value = (this.convert)(core.world.paths(), answer);
                let watch = this.watch.take().map(|watch| SimWatch {
                    sim: this.sim.clone(),
                    handle: this.handle,
                    watch: Some(watch),
                });
                Ok((value, watch))
            }
            Err(failure) => {
                if let Some(watch) = this.watch.take() {
                    core.slots.release(watch);
                }
                Err(match failure {
                    Failure::Refused(refusal) => refusal.into(),
                    Failure::ConnectionLoss => Error::ConnectionLoss,
                    Failure::Over(why) => Error::SessionOver(why),
                })
            }
        };
        Poll::Ready(result)
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let Ok(ticket) = self.state else { return };
        let (handle, watch) = (self.handle, self.watch);
        self.sim.act_unless_ended(|core| match core.slots.slots[ticket as usize] {
            Slot::Pending(_) => core.slots.slots[ticket as usize] = Slot::Forgotten(handle, watch),
            _ => {
                let Slot::Answered(result) = core.slots.release(ticket) else { return };
                if let Some(watch) = watch {
                    core.slots.release(watch);
                    if result.is_ok() {
                        core.with_world(|world, company| world.drop_watch(handle, watch, company));
                    }
                }
            }
        });
    }
}

/// A watch in the simulation.
pub struct SimWatch {
    sim: Sim,
    handle: HandleId,
    watch: Option<u32>,
}

impl Future for SimWatch {
    type Output = Result<Event, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let watch = self.watch.expect("a watch is not polled after it fired");
        let mut core = self.sim.core();
        if !core.slots.poll(watch, context) {
            return Poll::Pending;
        }
        let slot = core.slots.release(watch);
        drop(core);
        self.watch = None;
        match slot {
            Slot::Fired(result) => Poll::Ready(result),
            _ => unreachable!("only events are put into a watch's slot"),
        }
    }
}

impl Drop for SimWatch {
    fn drop(&mut self) {
        let Some(watch) = self.watch else { return };
        let handle = self.handle;
        self.sim.act_unless_ended(|core| {
            if let Slot::Pending(_) = core.slots.release(watch) {
                core.with_world(|world, company| world.drop_watch(handle, watch, company));
            }
        });
    }
}

struct Sleep {
    sim: Sim,
    alarm: Option<u32>,
}

impl Sleep {
    fn new(sim: &Sim, process: u8, until: Time) -> Self {
        let alarm = sim.act(|core| {
            if until.as_micros() <= core.world.now() {
                return None;
            }
            let alarm = core.slots.take();
            core.world.set_alarm(process, alarm, until.as_micros());
            Some(alarm)
        });
        Sleep { sim: sim.clone(), alarm }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(alarm) = self.alarm else { return Poll::Ready(()) };
        let mut core = self.sim.core();
        if !core.slots.poll(alarm, context) {
            return Poll::Pending;
        }
        core.slots.release(alarm);
        drop(core);
        self.alarm = None;
        Poll::Ready(())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let Some(alarm) = self.alarm else { return };
        self.sim.act_unless_ended(|core| {
            core.world.drop_alarm(alarm);
            core.slots.release(alarm);
        });
    }
}

impl SimClient {
    /// Sends a request; the future only waits for its answer.
    fn send<T>(
        &self,
        ask: impl FnOnce(&mut Paths) -> Result<Ask, Error>,
        watch: bool,
        convert: Convert<T>,
    ) -> Reply<T> {
        let sent = self.sim.act(|core| {
            let ask = ask(core.world.paths_mut())?;
            let ticket = core.slots.take();
            let watch = watch.then(|| core.slots.take());
            let (handle, cleanup) = (self.handle, self.cleanup);
            core.with_world(|world, company| {
                world.ask(handle, ask, cleanup, Some(ticket), watch, company);
            });
            Ok((ticket, watch))
        });
        let (state, watch) = match sent {
            Ok((ticket, watch)) => (Ok(ticket), watch),
            Err(error) => (Err(Some(error)), None),
        };
        Reply { sim: self.sim.clone(), handle: self.handle, state, watch, convert }
    }

    fn cleaning(&self) -> Self {
        let op = self.cleanup.unwrap_or_else(|| self.sim.core().world.op(self.process));
        SimClient { cleanup: Some(op), ..self.clone() }
    }
}

/// A reply without a watch.
async fn plain<T>(reply: Reply<T>) -> Result<T, Error> {
    Ok(reply.await?.0)
}

/// A reply with a watch.
async fn watched<T>(reply: Reply<T>) -> Result<(T, SimWatch), Error> {
    let (value, watch) = reply.await?;
    Ok((value, watch.expect("the request armed a watch")))
}

fn known(paths: &mut Paths, text: &str) -> Result<crate::paths::PathId, Error> {
    path::validate(text)?;
    Ok(paths.intern(text))
}

/// The beginning of a sequential name may end in a slash: the number makes it a name.
fn known_prefix(paths: &mut Paths, text: &str, mode: CreateMode) -> Result<crate::paths::PathId, Error> {
    if mode.is_sequential() {
        path::validate(&format!("{text}0"))?;
        return Ok(paths.intern(text));
    }
    known(paths, text)
}

fn to_created(paths: &Paths, answer: Answer) -> Created {
    match answer {
        Answer::Created { path, stat } => Created { path: paths.text(path).to_owned(), stat },
        other => unreachable!("a create is not answered with {other:?}"),
    }
}

fn to_stat(_: &Paths, answer: Answer) -> Stat {
    match answer {
        Answer::Stat(stat) => stat,
        other => unreachable!("a set is not answered with {other:?}"),
    }
}

fn to_maybe_stat(_: &Paths, answer: Answer) -> Option<Stat> {
    match answer {
        Answer::MaybeStat(stat) => stat,
        other => unreachable!("an exists is not answered with {other:?}"),
    }
}

fn to_data(_: &Paths, answer: Answer) -> Data {
    match answer {
        Answer::Data(data, stat) => Data { data: data.to_vec(), stat },
        other => unreachable!("a get is not answered with {other:?}"),
    }
}

fn to_listing(paths: &Paths, answer: Answer) -> Listing {
    match answer {
        Answer::Children(names, stat) => {
            Listing { names: names.into_iter().map(|name| paths.name(name).to_owned()).collect(), stat }
        }
        other => unreachable!("a listing is not answered with {other:?}"),
    }
}

fn to_many(_: &Paths, answer: Answer) -> Vec<Option<Data>> {
    match answer {
        Answer::Many(found) => found
            .into_iter()
            .map(|found| found.map(|(data, stat)| Data { data: data.to_vec(), stat }))
            .collect(),
        other => unreachable!("a multiRead is not answered with {other:?}"),
    }
}

fn to_results(paths: &Paths, answer: Answer) -> Vec<OpResult> {
    match answer {
        Answer::Multi(results) => results
            .into_iter()
            .map(|result| match result {
                OpAnswer::Checked => OpResult::Checked,
                OpAnswer::Created(path) => OpResult::Created(paths.text(path).to_owned()),
                OpAnswer::Deleted => OpResult::Deleted,
                OpAnswer::Set(stat) => OpResult::Set(stat),
            })
            .collect(),
        other => unreachable!("a multi is not answered with {other:?}"),
    }
}

fn to_nothing(_: &Paths, _: Answer) {}

impl ZooKeeper for SimClient {
    type Watch = SimWatch;

    fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<> {
        plain(self.send(
            |paths| {
                path::validate_size(path, data)?;
                Ok(Ask::Create { path: known_prefix(paths, path, mode)?, data: data.into(), mode })
            },
            false,
            to_created,
        ))
    }

    fn delete(&self, path: &str, version: Option<i32>) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        plain(self.send(|paths| Ok(Ask::Delete { path: known(paths, path)?, version }), false, to_nothing))
    }

    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, Error>> + Send + use<> {
        plain(self.send(
            |paths| {
                path::validate_size(path, data)?;
                Ok(Ask::Set { path: known(paths, path)?, data: data.into(), version })
            },
            false,
            to_stat,
        ))
    }

    fn exists(&self, path: &str) -> impl Future<Output = Result<Option<Stat>, Error>> + Send + use<> {
        plain(self.send(
            |paths| Ok(Ask::Exists { path: known(paths, path)?, watch: false }),
            false,
            to_maybe_stat,
        ))
    }

    fn exists_watch(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Option<Stat>, SimWatch), Error>> + Send + use<> {
        watched(self.send(
            |paths| Ok(Ask::Exists { path: known(paths, path)?, watch: true }),
            true,
            to_maybe_stat,
        ))
    }

    fn get(&self, path: &str) -> impl Future<Output = Result<Data, Error>> + Send + use<> {
        plain(self.send(|paths| Ok(Ask::Get { path: known(paths, path)?, watch: false }), false, to_data))
    }

    fn get_watch(&self, path: &str) -> impl Future<Output = Result<(Data, SimWatch), Error>> + Send + use<> {
        watched(self.send(|paths| Ok(Ask::Get { path: known(paths, path)?, watch: true }), true, to_data))
    }

    fn children(&self, path: &str) -> impl Future<Output = Result<Listing, Error>> + Send + use<> {
        plain(self.send(
            |paths| Ok(Ask::Children { path: known(paths, path)?, watch: false }),
            false,
            to_listing,
        ))
    }

    fn children_watch(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, SimWatch), Error>> + Send + use<> {
        watched(self.send(
            |paths| Ok(Ask::Children { path: known(paths, path)?, watch: true }),
            true,
            to_listing,
        ))
    }

    fn get_many(
        &self,
        all: &[String],
    ) -> impl Future<Output = Result<Vec<Option<Data>>, Error>> + Send + use<> {
        plain(self.send(
            |paths| Ok(Ask::GetMany(all.iter().map(|path| known(paths, path)).collect::<Result<_, _>>()?)),
            false,
            to_many,
        ))
    }

    fn multi(&self, ops: Vec<Op>) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<> {
        plain(self.send(
            |paths| {
                let known_op = |op| {
                    Ok(match op {
                        Op::Check { path, version } => AskOp::Check { path: known(paths, &path)?, version },
                        Op::Create { path, data, mode } => {
                            AskOp::Create { path: known_prefix(paths, &path, mode)?, data: data.into(), mode }
                        }
                        Op::Delete { path, version } => AskOp::Delete { path: known(paths, &path)?, version },
                        Op::Set { path, data, version } => {
                            AskOp::Set { path: known(paths, &path)?, data: data.into(), version }
                        }
                    })
                };
                Ok(Ask::Multi(ops.into_iter().map(known_op).collect::<Result<_, Error>>()?))
            },
            false,
            to_results,
        ))
    }

    fn sync(&self, path: &str) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        plain(self.send(|paths| Ok(Ask::Sync { path: known(paths, path)? }), false, to_nothing))
    }

    fn session(&self) -> SessionId {
        self.sim.core().world.session(self.handle).session
    }

    fn status(&self) -> Status {
        self.sim.core().world.session(self.handle).status
    }

    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<> {
        let (sim, handle) = (self.sim.clone(), self.handle);
        std::future::poll_fn(move |context| {
            let mut core = sim.core();
            let status = core.world.session(handle).status;
            if status != seen {
                return Poll::Ready(status);
            }
            remember(&mut core.handles[usize::from(handle.0)].waiting, context);
            Poll::Pending
        })
    }

    fn safe_until(&self) -> Time {
        let core = self.sim.core();
        let session = core.world.session(self.handle);
        Time::from_micros(session.safe_from + session.timeout())
    }

    fn timeout(&self) -> Duration {
        Duration::from_micros(self.sim.core().world.session(self.handle).timeout())
    }

    fn now(&self) -> Time {
        self.sim.now()
    }

    fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<> {
        Sleep::new(&self.sim, self.process, until)
    }

    fn guid(&self) -> Guid {
        let mut core = self.sim.core();
        core.guids += 1;
        let (high, low) = (scatter(core.guids), scatter(core.guids ^ (1 << 63)));
        Guid(u128::from(high) << 64 | u128::from(low))
    }

    fn arm(&self, duty: Duty) -> Armed {
        let client = self.cleaning();
        let id = {
            let mut core = self.sim.core();
            let state = &mut core.handles[usize::from(self.handle.0)];
            state.next_duty += 1;
            state.next_duty
        };
        Armed::new(id, duty, Arc::new(client))
    }

    fn close(&self, limit: Duration) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let client = self.clone();
        let until = self.now() + limit;
        async move {
            let _ = futures_util::future::select(client.duties_done(), Box::pin(client.sleep_until(until))).await;
            plain(client.send(|_| Ok(Ask::CloseSession), false, to_nothing)).await
        }
    }
}

impl SimClient {
    /// Resolves when no duty of this session is being done.
    fn duties_done(&self) -> impl Future<Output = ()> + Send + Unpin + use<> {
        let (sim, handle) = (self.sim.clone(), usize::from(self.handle.0));
        std::future::poll_fn(move |context| {
            let mut core = sim.core();
            let state = &mut core.handles[handle];
            if state.duties == 0 {
                return Poll::Ready(());
            }
            remember(&mut state.waiting, context);
            Poll::Pending
        })
    }
}

impl Discharge for SimClient {
    fn start(&self, _: DutyId, duty: Duty) {
        let (node, handle) = {
            let mut core = self.sim.core();
            if core.ended || core.world.is_crashed(self.process) || core.world.session(self.handle).is_over() {
                return;
            }
            core.handles[usize::from(self.handle.0)].duties += 1;
            (core.nodes[usize::from(self.process)].clone(), usize::from(self.handle.0))
        };
        let work = duty::discharge(self, duty);
        let sim = self.sim.clone();
        node.spawn(async move {
            work.await;
            sim.act(|core| {
                let state = &mut core.handles[handle];
                state.duties -= 1;
                let mut waiting = std::mem::take(&mut state.waiting);
                core.wakers.append(&mut waiting);
            });
        });
    }

    fn done(&self, _: DutyId) {}
}

/// Spreads a counter over 64 bits (splitmix64): names that sort in no particular order, without drawing anything.
fn scatter(counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
