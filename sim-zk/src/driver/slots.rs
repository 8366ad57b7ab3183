//! What futures wait for: numbered slots, each filled once.

use crate::message::Answer;
use crate::session::Failure;
use crate::world::HandleId;
use std::task::{Context, Waker};
use zk_recipes::zk::{Error, Event};

/// What futures wait for, by number.
#[derive(Default)]
pub(super) struct Slots {
    pub slots: Vec<Slot>,
    free: Vec<u32>,
}

/// One of them.
#[derive(Default)]
pub(super) enum Slot {
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
    pub(super) fn take(&mut self) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::Free);
            self.slots.len() as u32 - 1
        });
        self.slots[id as usize] = Slot::Pending(None);
        id
    }

    pub(super) fn release(&mut self, id: u32) -> Slot {
        self.free.push(id);
        std::mem::take(&mut self.slots[id as usize])
    }

    /// Fills a slot that somebody waits for, and says whom to wake.
    pub(super) fn fill(&mut self, id: u32, with: Slot, wakers: &mut Vec<Waker>) {
        if let Slot::Pending(waker) = std::mem::replace(&mut self.slots[id as usize], with) {
            wakers.extend(waker);
        }
    }

    /// Whether the slot is filled; if not, `context` is woken when it is.
    pub(super) fn poll(&mut self, id: u32, context: &mut Context<'_>) -> bool {
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
