//! What a simulation holds behind its lock, and how the effects of the world's steps are dealt out.

use crate::choose::Chooser;
use crate::message::Answer;
use crate::observer::Observer;
use crate::session::{Failure, Told};
use crate::world::{Context, Effect, HandleId, World};
use std::any::Any;
use std::task::Waker;
use zk_recipes::session::Slot;
use zk_recipes::zk::{DutyId, Error, Event, TreeEvent};

/// What simulated futures wait for.
pub(super) type Slots = zk_recipes::session::Slots<Result<Answer, Failure>, HandleId>;

/// A chooser that can be given back as what it was.
pub(super) trait AnyChooser: Chooser + Any {}
impl<C: Chooser + Any> AnyChooser for C {}

/// A observer that can be given back as what it was.
pub(super) trait AnyObserver: Observer + Any {}
impl<W: Observer + Any> AnyObserver for W {}

/// Everything behind the lock.
pub(super) struct Core {
    pub(super) world: World,
    pub(super) chooser: Box<dyn AnyChooser>,
    pub(super) observer: Box<dyn AnyObserver>,
    pub(super) effects: Vec<Effect>,
    pub(super) wakers: Vec<Waker>,
    pub(super) slots: Slots,
    /// Who waits for a change of a session's status, or for its duties, by handle.
    pub(super) handles: Vec<HandleState>,
    pub(super) nodes: Vec<madsim::runtime::NodeHandle>,
    pub(super) processes: Vec<ProcessState>,
    pub(super) guids: u64,
    /// The run is over: what futures do as they are dropped is no part of it.
    pub(super) ended: bool,
    /// Who waits until nothing is on its way.
    pub(super) quiet: Vec<Waker>,
    /// How often every task has run as far as it could, and who waits for the next time.
    pub(super) rounds: u64,
    pub(super) stalled: Vec<Waker>,
    /// How often simulated code has come here since the world last moved.
    pub(super) visits: u32,
    /// Since when something has to come about: the last time that it did, or that a fault could strike.
    pub(super) owed_since: u64,
    /// The longest time in which nothing came about, although no fault could strike.
    pub(super) longest_lull: u64,
}

/// What the driver knows of a session.
#[derive(Default)]
pub(super) struct HandleState {
    pub(super) waiting: Vec<Waker>,
    pub(super) duties: u32,
    pub(super) next_duty: DutyId,
}

/// What the driver knows of a process.
#[derive(Default)]
pub(super) struct ProcessState {
    pub(super) cancels: u32,
    pub(super) crashed: bool,
    /// Its code has come to its end.
    pub(super) is_over: bool,
    pub(super) waiting: Vec<Waker>,
    /// How many names it was given, in interleaving mode: there they do not tell who else was given one before.
    pub(super) guids: u64,
}

/// What the controller has to do outside the lock.
pub(super) enum Chore {
    Kill(u8),
    Pause(u8),
    Resume(u8),
}

impl Core {
    /// Lets the world act, and deals out what its users are told.
    pub(super) fn with_world<R>(&mut self, act: impl FnOnce(&mut World, &mut Context<'_>) -> R) -> R {
        let mut context = Context {
            chooser: &mut *self.chooser,
            observer: &mut *self.observer,
            effects: &mut self.effects,
        };
        act(&mut self.world, &mut context)
    }

    /// Deals out the effects of what was just done.
    pub(super) fn settle(&mut self, chores: &mut Vec<Chore>) {
        while !self.effects.is_empty() {
            let mut effects = std::mem::take(&mut self.effects);
            for effect in effects.drain(..) {
                self.deal(effect, chores);
            }
            if self.effects.is_empty() {
                // Its room is used again.
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
                    Told::Event(kind, path) => {
                        let path = self.world.paths().text(path).to_owned();
                        Ok(TreeEvent::Changed(Event { kind, path }))
                    }
                    Told::Gap => Ok(TreeEvent::Gap),
                    Told::Over(why) => Err(Error::SessionOver(why)),
                };
                self.slots.tell(watch, told, &mut self.wakers);
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

    /// Something came about, or is not owed yet: time counts anew from here.
    pub(super) fn progress(&mut self, now: u64) {
        self.longest_lull = self.longest_lull.max(now.saturating_sub(self.owed_since));
        self.owed_since = now;
    }

    /// Whether the run is to go on from here: every task waits. When the last client is done nothing is chosen any more.
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
