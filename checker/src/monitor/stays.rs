//! Items that stay in a queue for a while: the gaps that they cover together, and the order in which they come and go.

use super::breach::in_order;
use super::{Certificate, Number, Operations, PENDING};

/// An item is certainly there in the gaps from the return of its put to just before the call of its take.
#[derive(Clone, Copy)]
pub(super) struct Stay {
    pub(super) put: Number,
    /// The first of these gaps.
    pub(super) from: u32,
    /// The first gap after them, or [`PENDING`].
    pub(super) to: u32,
}

/// Items that cover a range of gaps; each comes before its predecessor goes. Empty if some gap is not covered.
pub(super) fn chain(mut stays: Vec<Stay>, gaps: std::ops::Range<u32>) -> Vec<Number> {
    stays.sort_unstable_by_key(|stay| stay.from);
    let mut stays = stays.into_iter().peekable();
    let (mut gap, mut links) = (gaps.start, Vec::new());
    let mut best: Option<Stay> = None;
    while gap < gaps.end {
        while let Some(stay) = stays.next_if(|stay| stay.from <= gap) {
            if best.is_none_or(|best| best.to < stay.to) {
                best = Some(stay);
            }
        }
        match best {
            Some(stay) if stay.to > gap => {
                links.push(stay.put);
                gap = stay.to;
            }
            _ => return Vec::new(),
        }
    }
    links
}

/// The gaps that some stays leave free.
struct Free {
    /// By gap: the first free one from there on, or [`PENDING`].
    next: Vec<u32>,
}

impl Free {
    /// The free gaps, without those that lie strictly between the two of a pair.
    fn between(gaps: u32, spans: impl Iterator<Item = (u32, u32)>) -> Free {
        let mut change = vec![0i32; gaps as usize + 2];
        for (from, to) in spans {
            let to = to.min(gaps + 1);
            if from + 1 < to {
                change[from as usize + 1] += 1;
                change[to as usize] -= 1;
            }
        }
        let mut open = 0;
        for change in &mut change {
            open += *change;
            *change = open;
        }
        let mut next = vec![PENDING; gaps as usize + 1];
        let mut free = PENDING;
        for gap in (0..=gaps as usize).rev() {
            if change[gap] == 0 {
                free = gap as u32;
            }
            next[gap] = free;
        }
        Free { next }
    }

    /// The first free gap from one on.
    fn from(&self, gap: u32) -> u32 {
        self.next.get(gap as usize).copied().unwrap_or(PENDING)
    }
}

/// An item in an order of effects.
pub(super) struct Visit {
    pub(super) put: Number,
    pub(super) take: Number,
    /// The gap in which it is put.
    pub(super) comes: u32,
    /// The gap in which it is taken; [`PENDING`]: never.
    pub(super) goes: u32,
}

/// The order within one gap: takes of items that came before it, items that come and go in it, empty answers, puts of
/// items that stay.
const LEAVES: u8 = 0;
const PASSES: u8 = 1;
const FINDS_NONE: u8 = 2;
const STAYS: u8 = 3;

/// The order of effects of some visits, of which earlier ones go first within a gap, and of empty answers.
pub(super) fn order<A: Copy>(
    history: &Operations<A>,
    visits: &[Visit],
    is_empty_answer: impl Fn(A) -> bool,
) -> Certificate {
    let mut effects = Vec::with_capacity(history.len());
    for (place, visit) in visits.iter().enumerate() {
        let (arrives, leaves) = if visit.comes == visit.goes { (PASSES, PASSES) } else { (STAYS, LEAVES) };
        effects.push((visit.comes, (arrives, place, false), visit.put));
        if visit.goes != PENDING {
            effects.push((visit.goes, (leaves, place, true), visit.take));
        }
    }
    let free = Free::between(history.positions(), visits.iter().map(|visit| (visit.comes, visit.goes)));
    let empty =
        history.iter().filter(|(_, operation)| operation.is_done() && is_empty_answer(operation.action));
    effects.extend(
        empty.map(|(number, operation)| (free.from(operation.called), (FINDS_NONE, 0, false), number)),
    );
    in_order(effects)
}
