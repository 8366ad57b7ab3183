//! Checks the proofs of breaches: their inequalities.

use super::exclude;
use crate::history::Share;
use crate::monitor::{
    Locking, Number, Numbered, Operation, Operations, PENDING, Queue, Register, Urgent, Wrong,
};
use std::collections::BTreeMap;

/// A hold from the return of its acquire to the call of its release.
struct Core {
    acquire: Number,
    share: Share,
    token: u64,
    from: u32,
    to: u32,
}

/// The holds of a history, and the releases by processes without a hold.
fn cores(history: &Operations<Locking>) -> (Vec<Core>, Vec<Number>) {
    let mut depth: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
    let (mut cores, mut unheld): (Vec<Core>, _) = (Vec::new(), Vec::new());
    for (number, operation) in history.iter() {
        let held = depth.entry(operation.process).or_default();
        match operation.action {
            Locking::Acquire { share, token } if operation.is_done() => {
                held.0 += 1;
                if held.0 == 1 {
                    held.1 = cores.len();
                    cores.push(Core { acquire: number, share, token, from: operation.returned, to: PENDING });
                }
            }
            Locking::Acquire { .. } => {}
            Locking::Release if held.0 == 0 => unheld.extend(operation.is_done().then_some(number)),
            Locking::Release => {
                held.0 -= 1;
                if held.0 == 0 {
                    cores[held.1].to = operation.called;
                }
            }
        }
    }
    (cores, unheld)
}

/// Checks a breach of holds, with at most `at_once` shared ones at a time.
pub(super) fn of_holds(history: &Operations<Locking>, wrong: Wrong, at_once: u32) -> bool {
    let (cores, unheld) = cores(history);
    let core = |acquire: Number| cores.iter().find(|core| core.acquire == acquire);
    match wrong {
        Wrong::Together { first, second } => {
            let both = core(first).zip(core(second));
            both.is_some_and(|(a, b)| exclude(a.share, b.share) && a.from < b.from && b.from < a.to)
        }
        Wrong::TooMany { acquire } => core(acquire).is_some_and(|last| {
            let is_held = |core: &&Core| core.from <= last.from && last.from < core.to;
            let shared = cores.iter().filter(|core| core.share == Share::Shared);
            last.share == Share::Shared && shared.filter(is_held).count() > at_once as usize
        }),
        Wrong::Token { first, second } => core(first).zip(core(second)).is_some_and(|(a, b)| {
            exclude(a.share, b.share) && a.from < b.from && b.token != 0 && a.token >= b.token
        }),
        Wrong::NotHeld { release } => unheld.contains(&release),
        _ => false,
    }
}

/// An item: its urgency, its put, and the call of its take.
struct Row {
    urgency: u32,
    put: (Number, u32, u32),
    leaves: u32,
}

/// Items by number, and takes: the item or none, with the times.
struct Rows {
    items: BTreeMap<u32, Row>,
    takes: BTreeMap<Number, (Option<u32>, u32, u32)>,
}

impl Rows {
    fn of<A: Copy>(
        history: &Operations<A>,
        put: impl Fn(A) -> Option<(u32, u32)>,
        got: impl Fn(A) -> Option<u32>,
    ) -> Rows {
        let (mut items, mut takes) = (BTreeMap::new(), BTreeMap::new());
        for (number, operation) in history.iter() {
            let (called, returned) = (operation.called, operation.returned);
            if let Some((item, urgency)) = put(operation.action) {
                items.insert(item, Row { urgency, put: (number, called, returned), leaves: PENDING });
            } else if operation.is_done() {
                takes.insert(number, (got(operation.action), called, returned));
            }
        }
        for (item, called, _) in takes.values() {
            if let Some(row) = item.and_then(|item| items.get_mut(&item)) {
                row.leaves = row.leaves.min(*called);
            }
        }
        Rows { items, takes }
    }

    /// Items that never came out cannot have left before the calls of the takes that may have got them: the first put
    /// not before the first take, and so on.
    fn let_go(&mut self, mut open_takes: Vec<u32>) {
        open_takes.sort_unstable();
        let missing = self.items.values_mut().filter(|row| row.leaves == PENDING && row.put.2 != PENDING);
        let mut missing: Vec<&mut Row> = missing.collect();
        missing.sort_by_key(|row| row.put.2);
        missing.into_iter().zip(open_takes).for_each(|(row, called)| row.leaves = called);
    }

    /// Whether one of these items was there in each gap of a take: from the return of its put to the call of its take.
    fn cover(&self, chain: &[Number], mut gap: u32, end: u32, fits: impl Fn(&Row) -> bool) -> bool {
        for put in chain {
            let row = self.items.values().find(|row| row.put.0 == *put && fits(row));
            match row.filter(|row| row.put.2 <= gap) {
                Some(row) => gap = gap.max(row.leaves),
                None => return false,
            }
        }
        gap >= end
    }

    fn proves(&self, wrong: Wrong, chain: &[Number]) -> bool {
        let take = |number: Number| self.takes.get(&number).copied();
        match wrong {
            Wrong::Invented { get } => take(get).is_some_and(|(item, _, returned)| {
                item.is_some_and(|item| self.items.get(&item).is_none_or(|row| row.put.1 > returned))
            }),
            Wrong::Twice { first, second } => {
                first != second
                    && take(first).zip(take(second)).is_some_and(|(a, b)| a.0.is_some() && a.0 == b.0)
            }
            Wrong::Passed { put, take: number } => {
                let passed = self.items.values().find(|row| row.put.0 == put);
                let taken = take(number).and_then(|(item, _, end)| Some((self.items.get(&item?)?, end)));
                passed
                    .zip(taken)
                    .is_some_and(|(passed, (taken, end))| passed.put.2 < taken.put.1 && end < passed.leaves)
            }
            Wrong::NotEmpty { take: number } => take(number).is_some_and(|(item, called, end)| {
                item.is_none() && self.cover(chain, called, end, |_| true)
            }),
            Wrong::LessUrgent { take: number } => take(number).is_some_and(|(item, called, end)| {
                let Some(taken) = item.and_then(|item| self.items.get(&item)) else { return false };
                let start = called.max(taken.put.1);
                self.cover(chain, start, end, |row| row.urgency < taken.urgency)
            }),
            _ => false,
        }
    }
}

/// Checks a breach of a queue, first in first out.
pub(super) fn of_fifo(history: &Operations<Queue>, wrong: Wrong, chain: &[Number]) -> bool {
    let put = |action| if let Queue::Put(item) = action { Some((item, 0)) } else { None };
    let got = |action| if let Queue::Take(item) = action { item } else { None };
    let mut rows = Rows::of(history, put, got);
    let open = history.iter().filter(|(_, operation)| operation.is_pending());
    let open = open.filter(|(_, operation)| put(operation.action).is_none());
    rows.let_go(open.map(|(_, operation)| operation.called).collect());
    rows.proves(wrong, chain)
}

/// Checks a breach of a queue, more urgent first.
pub(super) fn of_most_urgent(history: &Operations<Urgent>, wrong: Wrong, chain: &[Number]) -> bool {
    let put = |action| if let Urgent::Put { item, urgency } = action { Some((item, urgency)) } else { None };
    let got = |action| if let Urgent::Take(item) = action { item } else { None };
    let mut rows = Rows::of(history, put, got);
    let has_open = history.iter().any(|(_, o)| o.is_pending() && put(o.action).is_none());
    if has_open {
        // An item that never came out may be gone from the beginning.
        rows.items.values_mut().filter(|row| row.leaves == PENDING).for_each(|row| row.leaves = 0);
    }
    rows.proves(wrong, chain)
}

/// Checks a breach of a variable.
pub(super) fn of_variable(history: &Operations<Register>, wrong: Wrong) -> bool {
    // The result of an open read is unknown.
    let is_known =
        |number: Number| history[number].is_done() || matches!(history[number].action, Register::Write(_));
    let value = |number: Number| match history[number].action {
        Register::Write(value) => Some(value),
        Register::Read(value) => value,
    };
    match wrong {
        Wrong::Invented { get } => value(get).is_some_and(|read| {
            let written = |o: &Operation<Register>| o.action == Register::Write(read);
            history[get].is_done()
                && !history.iter().any(|(_, o)| written(o) && o.called < history[get].returned)
        }),
        Wrong::Between { one, other } if is_known(one.1) && is_known(other.1) => {
            // The initial value existed before any return.
            let returned = |first: Option<Number>, last| match first {
                Some(first) if value(first) == value(last) => Some(i64::from(history[first].returned)),
                None if value(last).is_none() => Some(-1),
                _ => None,
            };
            let ends = returned(one.0, one.1).zip(returned(other.0, other.1));
            let called = |number: Number| i64::from(history[number].called);
            value(one.1) != value(other.1)
                && ends.is_some_and(|(stands, gone)| {
                    stands < called(one.1) && stands < called(other.1) && gone < called(one.1)
                })
        }
        _ => false,
    }
}

/// Checks a breach of increasing numbers.
pub(super) fn of_increasing(history: &Operations<Numbered>, wrong: Wrong) -> bool {
    let Wrong::NotLarger { first, second } = wrong else { return false };
    let (one, other) = (&history[first], &history[second]);
    let follows = one.returned < other.called && one.action.0 >= other.action.0;
    let same = first != second && one.action == other.action;
    one.is_done() && other.is_done() && (follows || same)
}
