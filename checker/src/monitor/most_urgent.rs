//! Queues that deliver more urgent items first: the gaps in which a more urgent item was there.
//!
//! The most urgent items are placed first. Each leaves at the first gap of its take in which no more urgent item is
//! certainly there, and then blocks, for all less urgent items, the gaps in which it is there itself. Early is best: an
//! item that leaves early blocks the fewest gaps. Items of the same urgency do not block each other.
//!
//! Takes with an unknown result leave a choice that is not made here. A history that is wrong even without the items
//! that never came out is wrong; a history that is right if none of these takes happened is right; any other is
//! Unknown.

use super::stays::{self, Stay, Visit, chain};
use super::values::dense;
use super::{Breach, Certificate, Judged, Monitor, Number, Operation, Operations, PENDING, Step, Wrong};
use crate::verdict::Verdict;

/// An action on a queue that delivers more urgent items first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgent {
    /// Puts an item. No item is put twice.
    Put {
        /// The item.
        item: u32,
        /// Its rank among others: smaller is more urgent.
        urgency: u32,
    },
    /// Takes the most urgent item, or `None` because the queue was empty. The result of a take that has not returned is
    /// unknown.
    Take(Option<u32>),
}

/// Judges queues that deliver more urgent items first. Of two items of the same urgency either may go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MostUrgent;

/// The put and the take of one item.
#[derive(Clone, Copy)]
struct Item {
    put: Number,
    urgency: u32,
    put_called: u32,
    put_returned: u32,
    take: Number,
    take_called: u32,
    take_returned: u32,
    /// The earliest gap in which it leaves. [`PENDING`]: never.
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

    /// The latest gap in which it arrives.
    fn comes(&self) -> u32 {
        self.goes.min(self.put_returned - 1)
    }
}

/// The gaps that are not blocked, as disjoint sets.
struct Gaps {
    /// By gap: a free gap, or a gap nearer to one.
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
    /// The most urgent first.
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
    /// `None` if an item is put twice. `counts_missing`: whether items that never came out count.
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

    /// The items that took part, and the breaches of single ones.
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
        // An item that came out before it was put was never there.
        let took_part = |item: &Item| {
            if item.is_taken() { item.put_called < item.take_returned } else { item.put_returned != PENDING }
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

/// Items that cover the whole time in which a take may have taken effect; if the take returned an item, more urgent
/// ones.
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
