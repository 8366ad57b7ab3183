//! Queues that give the more urgent first: in which gaps something more urgent was there.
//!
//! The most urgent items first: each goes at the first gap of its take in which nothing more urgent is certainly there, and
//! blocks the gaps in which it then is there itself for all that are less urgent. Early is best: what an item blocks is
//! smallest when it goes early. Items of the same urgency do not stand in each other's way.
//!
//! Takes of which it is not known what they took leave a choice that is not made here: what is wrong without all items
//! that never came out is wrong, what is right if none of these takes happened is right, and the rest is Unknown.

use super::stays::{self, Stay, Visit, chain};
use super::values::dense;
use super::{Breach, Certificate, Judged, Monitor, Number, Operation, Operations, PENDING, Step, Wrong};
use crate::verdict::Verdict;

/// What is asked of a queue that gives the more urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgent {
    /// To put an item. No item is put twice.
    Put {
        /// The item.
        item: u32,
        /// Its place among others: smaller is more urgent.
        urgency: u32,
    },
    /// To take the most urgent one: that one, or none because the queue was empty. What a take has taken that has not
    /// returned is not known.
    Take(Option<u32>),
}

/// Judges queues that give the more urgent first. Of two items of the same urgency either may go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MostUrgent;

/// What is known of one item.
#[derive(Clone, Copy)]
struct Item {
    put: Number,
    urgency: u32,
    put_called: u32,
    put_returned: u32,
    take: Number,
    take_called: u32,
    take_returned: u32,
    /// When it goes: at the earliest. [`PENDING`]: never.
    goes: u32,
}

impl Item {
    const NONE: Item = Item {
        put: Number::NONE,
        urgency: 0,
        put_called: PENDING,
        put_returned: PENDING,
        take: Number::NONE,
        take_called: PENDING,
        take_returned: PENDING,
        goes: PENDING,
    };

    fn is_taken(&self) -> bool {
        self.take != Number::NONE
    }

    /// When it comes: as late as may be.
    fn comes(&self) -> u32 {
        self.goes.min(self.put_returned - 1)
    }
}

/// Gaps that are not blocked, as sets that grow together.
struct Gaps {
    /// By gap: a free one or one that is nearer to it.
    next: Vec<u32>,
}

impl Gaps {
    fn new(gaps: u32) -> Gaps {
        Gaps { next: (0..=gaps).collect() }
    }

    /// The first free gap from one on. The last gap is always free.
    fn free(&mut self, gap: u32) -> u32 {
        let mut root = gap;
        while self.next[root as usize] != root {
            // Halving the path keeps it short.
            self.next[root as usize] = self.next[self.next[root as usize] as usize];
            root = self.next[root as usize];
        }
        root
    }

    fn block(&mut self, from: u32, to: u32) {
        let mut gap = self.free(from);
        while gap < to {
            self.next[gap as usize] = gap + 1;
            gap = self.free(gap + 1);
        }
    }
}

/// One pass over the items of a history.
struct Pass {
    /// The more urgent first.
    items: Vec<Item>,
    breaches: Vec<Breach>,
    has_open_takes: bool,
    has_missing: bool,
}

fn item_of(operation: &Operation<Urgent>) -> Option<u32> {
    match operation.action {
        Urgent::Put { item, .. } => Some(item),
        Urgent::Take(item) => item.filter(|_| operation.is_done()),
    }
}

impl Pass {
    /// `None` if an item is put twice. Items that never came out count, or do not.
    fn over(history: &Operations<Urgent>, counts_missing: bool) -> Option<Pass> {
        let mut pass = Pass::collected(history)?;
        pass.has_missing = pass.items.iter().any(|item| !item.is_taken());
        if !counts_missing {
            pass.items.retain(Item::is_taken);
        }
        pass.items.sort_unstable_by_key(|item| (item.urgency, item.put_called));
        let mut gaps = Gaps::new(history.positions());
        let Pass { items, breaches, .. } = &mut pass;
        for peers in items.chunk_by_mut(|one, other| one.urgency == other.urgency) {
            for item in peers.iter_mut().filter(|item| item.is_taken()) {
                item.goes = gaps.free(item.put_called.max(item.take_called));
                if item.goes >= item.take_returned {
                    let wrong = Wrong::LessUrgent { take: item.take };
                    breaches.push(Breach { at: item.take_returned, wrong });
                    item.goes = item.take_returned - 1;
                }
            }
            for item in peers {
                gaps.block(item.put_returned.min(history.positions()), item.goes.min(history.positions()));
            }
        }
        for (number, operation) in history.iter().filter(|(_, operation)| operation.is_done()) {
            if operation.action == Urgent::Take(None) && gaps.free(operation.called) >= operation.returned {
                breaches.push(Breach { at: operation.returned, wrong: Wrong::NotEmpty { take: number } });
            }
        }
        Some(pass)
    }

    /// The items that took part, and what is wrong with single ones.
    fn collected(history: &Operations<Urgent>) -> Option<Pass> {
        let (count, ids) = dense(history, item_of);
        let mut items = vec![Item::NONE; count];
        let (mut breaches, mut has_open_takes) = (Vec::new(), false);
        for step in history.steps() {
            let (Step::Call(number) | Step::Return(number)) = step else { continue };
            let operation = &history[number];
            let is_call = matches!(step, Step::Call(_));
            match operation.action {
                Urgent::Put { item, urgency } if is_call => {
                    let item = &mut items[ids.of(number, item)];
                    if item.put != Number::NONE {
                        return None;
                    }
                    (item.put, item.urgency) = (number, urgency);
                    (item.put_called, item.put_returned) = (operation.called, operation.returned);
                }
                Urgent::Take(_) if is_call && operation.is_pending() => has_open_takes = true,
                Urgent::Take(Some(item)) if is_call => {
                    let item = &mut items[ids.of(number, item)];
                    if item.is_taken() {
                        let at = operation.returned.max(item.take_returned);
                        let wrong = Wrong::Twice { first: item.take, second: number };
                        breaches.push(Breach { at, wrong });
                    } else {
                        item.take = number;
                        (item.take_called, item.take_returned) = (operation.called, operation.returned);
                    }
                }
                Urgent::Take(Some(item)) if items[ids.of(number, item)].put == Number::NONE => {
                    let wrong = Wrong::Invented { get: number };
                    breaches.push(Breach { at: operation.returned, wrong });
                }
                _ => {}
            }
        }
        // What came out before it was put was never there.
        let took_part = |item: &Item| match item.is_taken() {
            true => item.put_called < item.take_returned,
            false => item.put_returned != PENDING,
        };
        items.retain(|item| item.put != Number::NONE && took_part(item));
        Some(Pass { items, breaches, has_open_takes, has_missing: false })
    }
}

impl Monitor for MostUrgent {
    type Action = Urgent;

    fn judge(&self, history: &Operations<Urgent>) -> Judged {
        let Some(pass) = Pass::over(history, true) else { return Judged::unknown("an item is put twice") };
        if pass.breaches.is_empty() || !pass.has_open_takes || !pass.has_missing {
            return Judged::of(history, pass.breaches);
        }
        match Pass::over(history, false) {
            Some(pass) if !pass.breaches.is_empty() => Judged::of(history, pass.breaches),
            _ => Judged::unknown("it is not known what was taken by takes that never returned"),
        }
    }

    fn certify(&self, history: &Operations<Urgent>, judged: &Judged) -> Certificate {
        let is_fail = judged.verdict == Verdict::Fail;
        let Some(mut pass) = Pass::over(history, true) else { return Certificate::Nothing };
        if is_fail && pass.has_open_takes {
            pass.items.retain(Item::is_taken);
        }
        let chain = |wrong| match wrong {
            Wrong::NotEmpty { take } => covered(history, &pass.items, take, None),
            Wrong::LessUrgent { take } => {
                let item = pass.items.iter().find(|item| item.take == take);
                covered(history, &pass.items, take, item)
            }
            _ => Vec::new(),
        };
        judged.proof(chain, || order(history, &pass.items))
    }
}

/// Items of which one was there whenever a take may have taken effect; for one that took something, more urgent ones.
fn covered(history: &Operations<Urgent>, items: &[Item], take: Number, taken: Option<&Item>) -> Vec<Number> {
    let called = history[take].called.max(taken.map_or(0, |taken| taken.put_called));
    let stays = items.iter().filter(|item| taken.is_none_or(|taken| item.urgency < taken.urgency));
    let stays = stays.filter(|item| item.put_returned != PENDING).map(|item| Stay {
        put: item.put,
        from: item.put_returned,
        to: item.take_called,
    });
    chain(stays.collect(), called..history[take].returned)
}

/// An order of effects of a history without a breach.
fn order(history: &Operations<Urgent>, items: &[Item]) -> Certificate {
    let visit = |item: &Item| Visit { put: item.put, take: item.take, comes: item.comes(), goes: item.goes };
    let visits: Vec<Visit> = items.iter().map(visit).collect();
    stays::order(history, &visits, |action| action == Urgent::Take(None))
}
