//! Queues, first in first out: a history is wrong if and only if it shows one of four patterns.
//!
//! An item comes out that had not been put; it comes out twice; a later item comes out while an earlier one is there; a
//! take finds the queue empty while it certainly is not (Henzinger, Sezgin, Vafeiadis: Aspect-oriented linearizability
//! proofs, CONCUR 2013). One pass over calls and returns finds all of them.
//!
//! Takes with an unknown result are resolved first: the items that were put and never came out are assigned to them in
//! order, the item put first to the take called first. No other assignment is better: both the items that may not be
//! passed and the gaps in which the queue cannot be empty depend only on how many of the first items may be gone by
//! when.

use super::stays::{self, Stay, Visit, chain};
use super::values::{Ids, dense};
use super::{Breach, Certificate, Judged, Monitor, Number, Operation, Operations, PENDING, Step, Wrong};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An action on a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Puts an item. No item is put twice.
    Put(u32),
    /// Takes the next item, or `None` because the queue was empty. The result of a take that has not returned is
    /// unknown.
    Take(Option<u32>),
}

/// Judges queues, first in first out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fifo;

/// The put and the take of one item.
#[derive(Clone, Copy)]
struct Item {
    put: Number,
    put_called: u32,
    put_returned: u32,
    take: Number,
    take_called: u32,
    take_returned: u32,
}

impl Item {
    const NONE: Item = Item {
        put: Number::NONE,
        put_called: PENDING,
        put_returned: PENDING,
        take: Number::NONE,
        take_called: PENDING,
        take_returned: PENDING,
    };

    fn is_taken(&self) -> bool {
        self.take != Number::NONE
    }
}

fn item_of(operation: &Operation<Queue>) -> Option<u32> {
    match operation.action {
        Queue::Put(item) => Some(item),
        Queue::Take(item) => item.filter(|_| operation.is_done()),
    }
}

/// The takes with an unknown result, each with the item that is best assigned to it.
fn resolved(history: &Operations<Queue>, items: usize, ids: &Ids) -> Vec<(Number, u32)> {
    let is_open = |(_, operation): &(Number, &Operation<Queue>)| {
        operation.is_pending() && matches!(operation.action, Queue::Take(_))
    };
    let open: Vec<Number> = history.iter().filter(is_open).map(|(number, _)| number).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let mut came_out = vec![false; items];
    for (number, operation) in history.iter().filter(|(_, operation)| operation.is_done()) {
        if let Queue::Take(Some(item)) = operation.action {
            came_out[ids.of(number, item)] = true;
        }
    }
    let mut missing = history.steps().filter_map(|step| match step {
        Step::Return(number) => match history[number].action {
            Queue::Put(item) => Some(ids.of(number, item)).filter(|id| !came_out[*id]),
            Queue::Take(_) => None,
        },
        _ => None,
    });
    open.into_iter().map_while(|take| Some((take, missing.next()? as u32))).collect()
}

/// One pass over a history.
struct Pass {
    items: Vec<Item>,
    /// Items in the order in which their puts returned; those before `head` have been taken.
    line: Vec<u32>,
    head: usize,
    /// The number of items that are certainly inside.
    inside: u32,
    /// The queue may have been empty in the gap just before this position.
    last_free: u32,
    breaches: Vec<Breach>,
}

impl Pass {
    /// `None` if an item is put twice.
    fn over(history: &Operations<Queue>) -> Option<Pass> {
        let (items, ids) = dense(history, item_of);
        let resolved = resolved(history, items, &ids);
        let mut resolved = resolved.into_iter().peekable();
        let mut pass = Pass {
            items: vec![Item::NONE; items],
            line: Vec::with_capacity(items),
            head: 0,
            inside: 0,
            last_free: 0,
            breaches: Vec::new(),
        };
        for (at, step) in history.steps().enumerate() {
            let at = at as u32;
            if pass.inside == 0 {
                pass.last_free = at;
            }
            let (Step::Call(number) | Step::Return(number)) = step else { continue };
            let operation = &history[number];
            match (step, operation.action) {
                (Step::Call(_), Queue::Put(item)) => {
                    let item = &mut pass.items[ids.of(number, item)];
                    if item.put != Number::NONE {
                        return None;
                    }
                    (item.put, item.put_called) = (number, at);
                }
                (Step::Call(_), Queue::Take(item)) => {
                    let known = item.filter(|_| operation.is_done()).map(|item| ids.of(number, item));
                    let guess = || resolved.next_if(|(take, _)| *take == number).map(|(_, id)| id as usize);
                    if let Some(id) = known.or_else(guess) {
                        pass.take_called(id, number, operation, history);
                    }
                }
                (_, Queue::Put(item)) => {
                    let id = ids.of(number, item);
                    pass.items[id].put_returned = at;
                    pass.line.push(id as u32);
                    pass.inside += u32::from(!pass.items[id].is_taken());
                }
                (_, Queue::Take(Some(item))) => pass.took(ids.of(number, item), number, at),
                (_, Queue::Take(None)) => {
                    if pass.last_free <= operation.called {
                        pass.breaches.push(Breach { at, wrong: Wrong::NotEmpty { take: number } });
                    }
                }
            }
        }
        Some(pass)
    }

    fn take_called(
        &mut self,
        id: usize,
        take: Number,
        operation: &Operation<Queue>,
        history: &Operations<Queue>,
    ) {
        let item = &mut self.items[id];
        if item.is_taken() {
            let at = operation.returned.max(history[item.take].returned);
            self.breaches.push(Breach { at, wrong: Wrong::Twice { first: item.take, second: take } });
            return;
        }
        (item.take, item.take_called, item.take_returned) = (take, operation.called, operation.returned);
        self.inside -= u32::from(item.put_returned != PENDING);
    }

    fn took(&mut self, id: usize, take: Number, at: u32) {
        let put_called = self.items[id].put_called;
        if put_called == PENDING {
            self.breaches.push(Breach { at, wrong: Wrong::Invented { get: take } });
            return;
        }
        while self.line.get(self.head).is_some_and(|first| self.items[*first as usize].is_taken()) {
            self.head += 1;
        }
        if let Some(first) = self.line.get(self.head).map(|first| &self.items[*first as usize])
            && first.put_returned < put_called
        {
            self.breaches.push(Breach { at, wrong: Wrong::Passed { put: first.put, take } });
        }
    }
}

impl Monitor for Fifo {
    type Action = Queue;

    fn judge(&self, history: &Operations<Queue>) -> Judged {
        match Pass::over(history) {
            Some(pass) => Judged::of(history, pass.breaches),
            None => Judged::unknown("an item is put twice"),
        }
    }

    fn certify(&self, history: &Operations<Queue>, judged: &Judged) -> Certificate {
        let Some(Pass { items, .. }) = Pass::over(history) else { return Certificate::Nothing };
        let chain = |wrong| {
            let Wrong::NotEmpty { take } = wrong else { return Vec::new() };
            let stays = items.iter().filter(|item| item.put_returned != PENDING);
            let stays =
                stays.map(|item| Stay { put: item.put, from: item.put_returned, to: item.take_called });
            chain(stays.collect(), history[take].called..history[take].returned)
        };
        judged.proof(chain, || order(history, &items))
    }
}

/// An order of effects of a history without a breach.
fn order(history: &Operations<Queue>, items: &[Item]) -> Certificate {
    // A put that never returned and whose item was never taken need not have happened.
    let took_part = items.iter().filter(|item| item.put_returned != PENDING || item.is_taken());
    let line = in_line(took_part.filter(|item| item.put != Number::NONE).copied().collect());
    let mut gaps = vec![(0, PENDING); line.len()];
    let mut latest = PENDING;
    for (item, gap) in line.iter().zip(&mut gaps).rev() {
        latest = latest.min(item.put_returned);
        gap.0 = latest - 1;
    }
    let mut earliest = 0;
    for (item, gap) in line.iter().zip(&mut gaps).filter(|(item, _)| item.is_taken()) {
        earliest = earliest.max(item.take_called).max(gap.0);
        gap.1 = earliest;
    }
    let visits = line.iter().zip(gaps);
    let visits = visits.map(|(item, (comes, goes))| Visit { put: item.put, take: item.take, comes, goes });
    stays::order(history, &visits.collect::<Vec<_>>(), |action| action == Queue::Take(None))
}

/// Items in a possible order of their puts and takes: of the items that may come first by both their puts and their
/// takes, repeatedly the one whose take was called first.
fn in_line(items: Vec<Item>) -> Vec<Item> {
    let (mut taken, mut left): (Vec<Item>, Vec<Item>) = items.into_iter().partition(Item::is_taken);
    for item in &mut taken {
        // It was put before it was taken.
        item.put_returned = item.put_returned.min(item.take_returned);
        item.take_called = item.take_called.max(item.put_called);
    }
    let sorted = |key: fn(&Item) -> u32| {
        let mut order: Vec<usize> = (0..taken.len()).collect();
        order.sort_unstable_by_key(|at| key(&taken[*at]));
        order
    };
    let mut to_come = sorted(|item| item.put_called).into_iter().peekable();
    let by_put = sorted(|item| item.put_returned);
    let mut by_put = by_put.iter().copied().peekable();
    let mut may_come = BinaryHeap::new();
    let mut placed = vec![false; taken.len()];
    let mut line = Vec::with_capacity(taken.len() + left.len());
    while line.len() < taken.len() {
        while by_put.next_if(|at| placed[*at]).is_some() {}
        let first_return = by_put.peek().map_or(PENDING, |at| taken[*at].put_returned);
        while let Some(at) = to_come.next_if(|at| taken[*at].put_called < first_return) {
            may_come.push(Reverse((taken[at].take_called, at)));
        }
        // Its take was called before any other take returned, so it passes no item.
        let Some(Reverse((_, at))) = may_come.pop() else { break };
        placed[at] = true;
        line.push(taken[at]);
    }
    left.sort_unstable_by_key(|item| item.put_returned);
    line.extend(left);
    line
}
