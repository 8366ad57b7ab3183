//! What futures wait for: numbered slots, each filled once; and what streams wait for, which are filled again and again.

use crate::message::Answer;
use crate::session::Failure;
use crate::world::HandleId;
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use zk_recipes::zk::{Error, Event, TreeEvent};

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
    /// What a watch that stays has been told and nobody has taken; who waits for more.
    Stream(VecDeque<Result<TreeEvent, Error>>, Option<Waker>),
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

    /// One for a watch that stays.
    pub(super) fn take_stream(&mut self) -> u32 {
        let id = self.take();
        self.slots[id as usize] = Slot::Stream(VecDeque::new(), None);
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

    /// Tells a watch something, and says whom to wake.
    pub(super) fn tell(&mut self, id: u32, told: Result<TreeEvent, Error>, wakers: &mut Vec<Waker>) {
        if let Slot::Stream(queue, waker) = &mut self.slots[id as usize] {
            // Two gaps in a row are one.
            if told != Ok(TreeEvent::Gap) || queue.back() != Some(&told) {
                queue.push_back(told);
            }
            wakers.extend(waker.take());
            return;
        }
        let fired = match told {
            Ok(TreeEvent::Changed(event)) => Ok(event),
            Err(why) => Err(why),
            Ok(TreeEvent::Gap) => unreachable!("only a watch that stays misses something"),
        };
        self.fill(id, Slot::Fired(fired), wakers);
    }

    /// The next thing that a watch that stays was told.
    pub(super) fn poll_next(&mut self, id: u32, context: &mut Context<'_>) -> Poll<Result<TreeEvent, Error>> {
        let Slot::Stream(queue, waker) = &mut self.slots[id as usize] else {
            unreachable!("a watch that stays has a stream")
        };
        match queue.pop_front() {
            Some(told) => Poll::Ready(told),
            None => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
