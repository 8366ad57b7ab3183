//! The state behind the lock of a simulation, and the delivery of results to client code.

use crate::choose::Chooser;
use crate::message::Answer;
use crate::observer::Observer;
use crate::session::{Failure, WatchItem};
use crate::world::{Context, Effect, HandleId, World};
use std::any::Any;
use std::sync::Arc;
use std::task::Waker;
use zk_protocol::session::{Endings, Slot};
use zk_recipes::zk::waiters::Waiters;
use zk_recipes::zk::{DutyId, ErrorKind, Event, OnSessionOver, TreeEvent};

/// The results that simulated futures wait for.
pub(super) type Slots = zk_protocol::session::Slots<Result<Answer, Failure>, HandleId>;

/// A chooser that can be downcast to its type.
pub(super) trait AnyChooser: Chooser + Any {}
impl<C: Chooser + Any> AnyChooser for C {}

/// An observer that can be downcast to its type.
pub(super) trait AnyObserver: Observer + Any {}
impl<W: Observer + Any> AnyObserver for W {}

/// The state behind the lock.
pub(super) struct Core {
    pub(super) world: World,
    pub(super) chooser: Box<dyn AnyChooser>,
    pub(super) observer: Box<dyn AnyObserver>,
    pub(super) effects: Vec<Effect>,
    pub(super) wakers: Vec<Waker>,
    /// The pending notifications of session ends, sent as soon as tasks are woken.
    pub(super) over: Vec<Arc<dyn OnSessionOver>>,
    pub(super) slots: Slots,
    /// The sessions, by handle: tasks that wait for a status change or for duties.
    pub(super) handles: Vec<HandleState>,
    pub(super) nodes: Vec<madsim::runtime::NodeHandle>,
    pub(super) processes: Vec<ProcessState>,
    pub(super) guids: u64,
    /// Whether the run is over: drops of futures are then no longer part of it.
    pub(super) ended: bool,
    /// The tasks that wait for quiescence.
    pub(super) quiet: Waiters,
    /// The number of times that all tasks waited, and the tasks that wait for the next time.
    pub(super) rounds: u64,
    pub(super) stalled: Waiters,
    /// The uses of the simulation since the last step of the world.
    pub(super) visits: u32,
    /// The last time of progress or of fault injection.
    pub(super) owed_since: u64,
    /// The longest time without progress after fault injection.
    pub(super) longest_lull: u64,
}

/// The state of a session in the driver.
#[derive(Default)]
pub(super) struct HandleState {
    pub(super) waiting: Waiters,
    pub(super) endings: Endings,
    pub(super) duties: u32,
    pub(super) next_duty: DutyId,
}

/// The state of a process in the driver.
#[derive(Default)]
pub(super) struct ProcessState {
    pub(super) cancels: u32,
    pub(super) crashed: bool,
    /// Whether its code has returned.
    pub(super) is_over: bool,
    pub(super) waiting: Waiters,
    /// The number of GUIDs drawn for it in interleaving mode, where they must not depend on the past of other
    /// processes.
    pub(super) guids: u64,
}

/// A task of the controller outside the lock.
pub(super) enum Chore {
    Kill(u8),
    Pause(u8),
    Resume(u8),
    TellOver(Arc<dyn OnSessionOver>),
}

impl Core {
    /// The observer as its type. Compiled once for each type, and not for each of the hundreds of accesses.
    pub(super) fn observer_as<W: Any>(&mut self) -> &mut W {
        let observer: &mut dyn Any = &mut *self.observer;
        observer.downcast_mut().expect("the observer is of the type it was given as")
    }

    /// Acts on the world.
    pub(super) fn with_world<R>(&mut self, act: impl FnOnce(&mut World, &mut Context<'_>) -> R) -> R {
        let mut context = Context {
            chooser: &mut *self.chooser,
            observer: &mut *self.observer,
            effects: &mut self.effects,
        };
        act(&mut self.world, &mut context)
    }

    /// Takes the pending notifications of session ends.
    pub(super) fn take_over(&mut self, chores: &mut Vec<Chore>) {
        chores.extend(self.over.drain(..).map(Chore::TellOver));
    }

    /// Delivers the results of the last step.
    pub(super) fn settle(&mut self, chores: &mut Vec<Chore>) {
        while !self.effects.is_empty() {
            let mut effects = std::mem::take(&mut self.effects);
            for effect in effects.drain(..) {
                self.deal(effect, chores);
            }
            if self.effects.is_empty() {
                // The allocation is reused.
                self.effects = effects;
            }
        }
    }

    fn deal(&mut self, effect: Effect, chores: &mut Vec<Chore>) {
        match effect {
            Effect::Answered { ticket, result } => {
                if let Some((handle, watch)) = self.slots.take_forgotten(ticket) {
                    if let Some(watch) = watch {
                        self.slots.release(watch);
                        self.with_world(|world, context| world.drop_watch(handle, watch, context));
                    }
                } else {
                    self.slots.fill(ticket, Slot::Answered(result), &mut self.wakers);
                }
            }
            Effect::Fired { watch, told } => {
                let told = match told {
                    WatchItem::Event(kind, path) => {
                        let path = self.world.paths().text(path).to_owned();
                        Ok(TreeEvent::Changed(Event { kind, path }))
                    }
                    WatchItem::Gap => Ok(TreeEvent::Gap),
                    WatchItem::Over(why) => Err(ErrorKind::SessionOver(why).into()),
                };
                self.slots.tell(watch, told, &mut self.wakers);
            }
            Effect::Changed { handle } => {
                let state = &mut self.handles[usize::from(handle.0)];
                if self.world.session(handle).is_over() {
                    self.over.extend(state.endings.take());
                }
                wake_all(&mut state.waiting, &mut self.wakers);
            }
            Effect::Rang { alarm } => self.slots.fill(alarm, Slot::Rang, &mut self.wakers),
            Effect::Cancelled { process } => {
                let state = &mut self.processes[usize::from(process)];
                state.cancels += 1;
                wake_all(&mut state.waiting, &mut self.wakers);
            }
            Effect::Crashed { process } => {
                let state = &mut self.processes[usize::from(process)];
                state.crashed = true;
                wake_all(&mut state.waiting, &mut self.wakers);
                chores.push(Chore::Kill(process));
            }
            Effect::Paused { process } => chores.push(Chore::Pause(process)),
            Effect::Resumed { process } => chores.push(Chore::Resume(process)),
        }
    }

    /// Records progress, so that the limit starts again.
    pub(super) fn progress(&mut self, now: u64) {
        self.longest_lull = self.longest_lull.max(now.saturating_sub(self.owed_since));
        self.owed_since = now;
    }

    /// Asks the chooser whether the run continues, while every task waits. After the last client has finished there
    /// are no choices.
    pub(super) fn goes_on(&mut self) -> bool {
        if self.world.is_ending() {
            return true;
        }
        let Core { world, observer, chooser, handles, processes, .. } = self;
        let is_over = |process: u8| {
            let mut of = (0..)
                .zip(handles.iter())
                .filter(|(handle, _)| world.process_of(HandleId(*handle)) == process);
            processes[usize::from(process)].is_over && of.all(|(_, handle)| handle.duties == 0)
        };
        chooser.goes_on(&mut || {
            let mut digest = world.digest(is_over);
            digest.add_wide(observer.remembered(world.now()));
            digest.finish()
        })
    }

    pub(super) fn is_quiet(&self) -> bool {
        let open_duties = self.handles.iter().enumerate().any(|(index, handle)| {
            handle.duties > 0 && !self.world.is_crashed(self.world.process_of(HandleId(index as u16)))
        });
        !open_duties && self.world.is_quiet()
    }
}

/// Takes all wakers, each task once however many of its futures wait: in interleaving mode each waking is a turn.
pub(super) fn wake_all(waiting: &mut Waiters, wakers: &mut Vec<Waker>) {
    let mut all = Vec::new();
    waiting.wake_all(&mut all);
    let before = wakers.len();
    for waker in all {
        if !wakers[before..].iter().any(|other| other.will_wake(&waker)) {
            wakers.push(waker);
        }
    }
}
