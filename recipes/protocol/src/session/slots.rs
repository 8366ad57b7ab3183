//! The slots that futures wait for: numbered, filled once, or repeatedly for streams.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use zk_recipes::zk::{Error, Event, TreeEvent};

/// Slots by number. `A` is the type of answers, `H` identifies a session among several.
#[derive(Debug)]
pub struct Slots<A, H> {
    slots: Vec<Slot<A, H>>,
    free: Vec<u32>,
}

/// One of them.
#[derive(Debug, Default)]
pub enum Slot<A, H> {
    /// Free.
    #[default]
    Free,
    /// Empty, with its waker.
    Pending(Option<Waker>),
    /// A request whose future was dropped, and the watch that it may have armed.
    Forgotten(H, Option<u32>),
    /// The answer to a request.
    Answered(A),
    /// The notification of a one-shot watch.
    Fired(Result<Event, Error>),
    /// The unread notifications of a persistent watch, with its waker.
    Stream(VecDeque<Result<TreeEvent, Error>>, Option<Waker>),
    /// An alarm went off.
    Rang,
}

impl<A, H> Default for Slots<A, H> {
    fn default() -> Self {
        Slots { slots: Vec::new(), free: Vec::new() }
    }
}

impl<A, H> Slots<A, H> {
    /// Allocates a slot that is filled once.
    pub fn take(&mut self) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::Free);
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 requests in flight")
        });
        self.slots[id as usize] = Slot::Pending(None);
        id
    }

    /// Allocates a slot of a persistent watch.
    pub fn take_stream(&mut self) -> u32 {
        let id = self.take();
        self.slots[id as usize] = Slot::Stream(VecDeque::new(), None);
        id
    }

    /// Takes the content of a slot and frees it.
    pub fn release(&mut self, id: u32) -> Slot<A, H> {
        self.free.push(id);
        std::mem::take(&mut self.slots[id as usize])
    }

    /// Abandons a request in flight, whose future was dropped, with the watch that it may arm; returns its answer, if there
    /// was one.
    pub fn forget(&mut self, id: u32, whose: H, watch: Option<u32>) -> Option<A> {
        if let Slot::Pending(_) = self.slots[id as usize] {
            self.slots[id as usize] = Slot::Forgotten(whose, watch);
            return None;
        }
        match self.release(id) {
            Slot::Answered(answer) => Some(answer),
            _ => None,
        }
    }

    /// If the future of that request was dropped: returns its session and the watch that it may have armed, and frees the
    /// slot.
    pub fn take_forgotten(&mut self, id: u32) -> Option<(H, Option<u32>)> {
        if !matches!(self.slots[id as usize], Slot::Forgotten(..)) {
            return None;
        }
        match self.release(id) {
            Slot::Forgotten(whose, watch) => Some((whose, watch)),
            _ => None,
        }
    }

    /// Fills a slot, and returns the waker to wake.
    pub fn fill(&mut self, id: u32, with: Slot<A, H>, wakers: &mut Vec<Waker>) {
        if let Slot::Pending(waker) = std::mem::replace(&mut self.slots[id as usize], with) {
            wakers.extend(waker);
        }
    }

    /// Takes the content and frees the slot; while it is empty, registers the waker of `context`.
    pub fn poll(&mut self, id: u32, context: &mut Context<'_>) -> Poll<Slot<A, H>> {
        let Slot::Pending(waker) = &mut self.slots[id as usize] else { return Poll::Ready(self.release(id)) };
        match waker {
            Some(old) if old.will_wake(context.waker()) => {}
            _ => *waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// The same, for the answer to a request.
    pub fn poll_answer(&mut self, id: u32, context: &mut Context<'_>) -> Poll<A> {
        self.poll(id, context).map(|slot| match slot {
            Slot::Answered(answer) => answer,
            _ => unreachable!("only answers are put into a request's slot"),
        })
    }

    /// The same, for what a one-shot watch was told.
    pub fn poll_event(&mut self, id: u32, context: &mut Context<'_>) -> Poll<Result<Event, Error>> {
        self.poll(id, context).map(|slot| match slot {
            Slot::Fired(told) => told,
            _ => unreachable!("only events are put into a watch's slot"),
        })
    }

    /// Notifies a watch, and returns the waker to wake.
    pub fn tell(&mut self, id: u32, told: Result<TreeEvent, Error>, wakers: &mut Vec<Waker>) {
        if let Slot::Stream(queue, waker) = &mut self.slots[id as usize] {
            // Consecutive gaps are merged.
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

    /// The next notification of a persistent watch.
    pub fn poll_next(&mut self, id: u32, context: &mut Context<'_>) -> Poll<Result<TreeEvent, Error>> {
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
