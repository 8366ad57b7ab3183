//! The causal slice of a breach: the events that led to it.
//!
//! The search starts at the events that a finding cites and follows the [`Causes`] backwards, nearest first. A tie
//! within one step costs nothing, a message or a fault little, an earlier operation of the same actor much. The outcome
//! of a request, a transaction or a fault on the way is included, so that a lost reply is shown as lost. The search
//! ends at the distance [`FARTHEST`] if there are [`LEAST`] events by then, and after [`MOST`] events in any case;
//! further known causes are counted.

use crate::causes::{Causes, Tie};
use crate::lives::Lives;
use crate::requests::Requests;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use zk_checker::Finding;
use zk_checker::history::{History, OpId, What};

/// The maximal number of events of a slice.
pub(super) const MOST: usize = 90;

/// The maximal distance to a cause: the sum of the costs of the ties on the way.
const FARTHEST: u32 = 10;

/// The minimal number of events of a slice, at any distance.
const LEAST: usize = 24;

/// The initial distance of concurrent beliefs: they are shown, but only a part of their causes.
const MEANWHILE: u32 = 7;

/// The causes of a breach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// The events, in order.
    pub events: Vec<u32>,
    /// The events that the finding cites.
    pub cited: Vec<u32>,
    /// The number of direct causes of these events that are not included.
    pub left_out: usize,
}

/// The cost of following a tie backwards.
fn cost(tie: Tie) -> u32 {
    match tie {
        Tie::Same => 0,
        Tie::Message | Tie::Watch | Tie::Fault => 1,
        Tie::Seen | Tie::Program => 2,
        Tie::Before => 12,
    }
}

/// Computes slices of one run.
pub(super) struct Slicer<'a> {
    history: &'a History,
    causes: &'a Causes,
    lives: &'a Lives,
    outcomes: BTreeMap<u32, Vec<u32>>,
}

impl<'a> Slicer<'a> {
    pub(super) fn new(
        history: &'a History,
        asked: &Requests,
        causes: &'a Causes,
        lives: &'a Lives,
    ) -> Slicer<'a> {
        Slicer { history, causes, lives, outcomes: outcomes(history, asked, causes) }
    }

    /// The slice of a finding.
    pub(super) fn cut(&self, finding: &Finding) -> Slice {
        let Slicer { history, causes, lives, outcomes } = self;
        let last = (history.events.len() as u32).saturating_sub(1);
        let end = (finding.position as u32).min(last);
        let cited: Vec<u32> =
            finding.witnesses.iter().map(|event| *event as u32).filter(|event| *event <= last).collect();
        // The cheapest first, and among equals the latest, which is nearest to the breach.
        let mut ahead: BinaryHeap<(Reverse<u32>, u32)> = BinaryHeap::new();
        ahead.extend(cited.iter().map(|event| (Reverse(0), *event)));
        ahead.extend(self.calls(&cited).into_iter().map(|event| (Reverse(1), event)));
        ahead.extend(believers(lives, finding, end).into_iter().map(|event| (Reverse(MEANWHILE), event)));
        let mut taken: BTreeSet<u32> = BTreeSet::new();
        while let Some((Reverse(so_far), event)) = ahead.pop() {
            if taken.len() == MOST || so_far > FARTHEST && taken.len() >= LEAST {
                break;
            }
            if !taken.insert(event) {
                continue;
            }
            let back = causes.of(event).iter().map(|cause| (so_far + cost(cause.tie), cause.event));
            let ahead_of = outcomes.get(&event).into_iter().flatten();
            let forth = ahead_of.filter(|outcome| **outcome <= end).map(|outcome| (so_far + 3, *outcome));
            let next = back.chain(forth).filter(|(_, event)| !taken.contains(event));
            ahead.extend(next.map(|(cost, event)| (Reverse(cost), event)));
        }
        let mut missing: BTreeSet<u32> = BTreeSet::new();
        for event in &taken {
            missing.extend(
                causes.of(*event).iter().map(|cause| cause.event).filter(|cause| !taken.contains(cause)),
            );
        }
        Slice { events: taken.into_iter().collect(), cited, left_out: missing.len() }
    }
}

impl Slicer<'_> {
    /// The calls of the operations of the cited events: the chart begins with them.
    fn calls(&self, cited: &[u32]) -> Vec<u32> {
        let of = |event: u32| {
            let op = self.history.events[event as usize].op;
            let before = self.history.events[..event as usize]
                .iter()
                .rposition(|earlier| earlier.op == op && matches!(earlier.what, What::Call { .. }));
            before.filter(|_| op != OpId(0)).map(|call| call as u32)
        };
        cited.iter().filter_map(|event| of(*event)).collect()
    }
}

/// The beliefs in the object of the finding, from the first witness on.
fn believers(lives: &Lives, finding: &Finding, end: u32) -> Vec<u32> {
    let Some(object) = finding.object else { return Vec::new() };
    let begin = finding.witnesses.first().map_or(end, |first| *first as u32);
    let then = lives.beliefs.iter().filter(|belief| {
        belief.object == object && belief.from <= end && belief.to.is_none_or(|to| to >= begin)
    });
    // Only the last few: an object may have had a thousand holders in between.
    let mut events: Vec<u32> = then.flat_map(|belief| [Some(belief.from), belief.to]).flatten().collect();
    events.retain(|event| *event <= end);
    events.sort_unstable();
    events.split_off(events.len().saturating_sub(12))
}

/// The outcome of each event that is part of the same story.
fn outcomes(history: &History, asked: &Requests, causes: &Causes) -> BTreeMap<u32, Vec<u32>> {
    let mut outcomes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for ask in asked.iter() {
        let ends = [ask.handled, ask.answered, ask.lost];
        outcomes.entry(ask.sent).or_default().extend(ends.into_iter().flatten());
        if let Some(handled) = ask.handled {
            outcomes.entry(handled).or_default().extend(ask.answered.or(ask.lost));
        }
    }
    for (fired, notice) in &causes.notices {
        outcomes.entry(*fired).or_default().push(*notice);
    }
    for (index, event) in history.events.iter().enumerate() {
        let index = index as u32;
        let effects = [Tie::Same, Tie::Fault];
        let tells = matches!(
            event.what,
            What::Created { .. }
                | What::Deleted { .. }
                | What::Written { .. }
                | What::Made { .. }
                | What::Lost { .. }
                | What::Mended { .. }
        );
        if tells {
            let of = causes.of(index).iter().filter(|cause| effects.contains(&cause.tie));
            of.for_each(|cause| outcomes.entry(cause.event).or_default().push(index));
        }
    }
    outcomes
}
