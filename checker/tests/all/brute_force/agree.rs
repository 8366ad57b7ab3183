//! Judges by trying all orders, and compares a monitor with that.

use super::forged;
use super::objects::{Object, renamed};
use std::collections::BTreeSet;
use zk_checker::Verdict;
use zk_checker::monitor::{Judged, Monitor, Number, Operation, Operations};
use zk_checker::search::{Model, search};
use zk_checker::verify;

/// A step of a history.
#[derive(Clone, Copy, Debug)]
pub enum Happening<A> {
    Call(u32, A),
    /// The operation of that number returns.
    Return(usize, A),
}

/// The history of some steps.
pub fn history<A: Copy>(happenings: &[Happening<A>]) -> Operations<A> {
    let mut history = Operations::new();
    let mut numbers = Vec::new();
    for happening in happenings {
        match happening {
            Happening::Call(process, action) => numbers.push(history.call(*process, *action)),
            Happening::Return(at, action) => history.done_with(numbers[*at], *action),
        }
    }
    history
}

/// Whether some order of effects explains it. (Only a handful of operations is open at once.)
fn is_explained<O: Object>(history: &Operations<O::Action>) -> bool {
    let operations: Vec<&Operation<O::Action>> = history.iter().map(|(_, operation)| operation).collect();
    let mut seen = BTreeSet::new();
    explains::<O>(&operations, 0, O::State::default(), &mut seen)
}

fn explains<O: Object>(
    operations: &[&Operation<O::Action>],
    happened: u16,
    state: O::State,
    seen: &mut BTreeSet<(u16, O::State)>,
) -> bool {
    let to_come = |at: &usize| happened & 1 << at == 0;
    let ends = (0..operations.len()).filter(to_come).map(|at| operations[at].returned);
    // Pending operations never return; `u32::MAX` is the largest position.
    let first_end = ends.min().unwrap_or(u32::MAX);
    if first_end == u32::MAX {
        return true;
    }
    if !seen.insert((happened, state.clone())) {
        return false;
    }
    (0..operations.len()).filter(to_come).filter(|at| operations[*at].called < first_end).any(|at| {
        let operation = operations[at];
        let next = O::step(&state, operation.process, operation.action, operation.is_pending());
        next.into_iter().any(|state| explains::<O>(operations, happened | 1 << at, state, seen))
    })
}

/// The object as a model for the bounded search.
struct Searched<O>(std::marker::PhantomData<O>);

impl<O: Object> Model for Searched<O> {
    type Action = O::Action;
    type State = O::State;

    fn step(&self, state: &O::State, operation: &Operation<O::Action>) -> Option<O::State> {
        O::step(state, operation.process, operation.action, operation.is_pending()).into_iter().next()
    }
}

/// The number of right verdicts of each kind.
#[derive(Default, Debug)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    pub unknown: u64,
}

/// Compares the monitor, its certificates and the search with brute force.
#[track_caller]
pub fn agree<O: Object>(happenings: &[Happening<O::Action>], tally: &mut Tally, searches: bool) {
    let (history, monitor) = (history(happenings), O::judge());
    let explained = is_explained::<O>(&history);
    let judged = monitor.judge(&history);
    let told = std::fmt::from_fn(|f| write!(f, "{judged:?}, brute force says {explained}: {happenings:#?}"));
    match judged.verdict {
        Verdict::Vacuous => assert!(history.is_empty(), "{told}"),
        Verdict::Pass => {
            assert!(explained, "{told}");
            let certificate = monitor.certify(&history, &judged);
            verify::certificate(&monitor, &history, &certificate)
                .unwrap_or_else(|why| panic!("{why}\n{certificate:?}\n{told}"));
            tally.passed += 1;
        }
        Verdict::Fail => {
            assert!(!explained, "{told}");
            assert!(judged.breaches.is_sorted_by_key(|breach| breach.at), "{told}");
            // Each breach is proved separately.
            for breach in &judged.breaches {
                let only = Judged { breaches: vec![*breach], ..judged.clone() };
                let certificate = monitor.certify(&history, &only);
                verify::certificate(&monitor, &history, &certificate)
                    .unwrap_or_else(|why| panic!("{why}\n{certificate:?}\n{told}"));
            }
            tally.failed += 1;
        }
        Verdict::Unknown | Verdict::Unavoidable => {
            let has_open = history.iter().any(|(_, o)| o.is_pending() && !O::makes(&o.action));
            assert!(has_open && O::SEED == super::PriorityQueue::SEED, "{told}");
            tally.unknown += 1;
        }
    }
    if forged::is_tried(&history, tally.passed + tally.failed) {
        forged::prove_nothing::<O>(&history, explained);
    }
    // The names of values and processes do not matter.
    let other = happenings.iter().map(|happening| match *happening {
        Happening::Call(process, action) => Happening::Call(renamed(process), O::renamed(action)),
        Happening::Return(at, action) => Happening::Return(at, O::renamed(action)),
    });
    assert_eq!(monitor.judge(&self::history(&other.collect::<Vec<_>>())), judged, "{told}");
    if searches {
        let searched = search(&Searched::<O>(std::marker::PhantomData), &history, u64::MAX);
        let says = if explained { Verdict::Pass } else { Verdict::Fail };
        assert!(history.is_empty() || searched.verdict == says, "{searched:?}\n{told}");
        if searched.verdict == Verdict::Pass {
            verify::certificate(&monitor, &history, &searched.certificate)
                .unwrap_or_else(|why| panic!("{why}\n{searched:?}\n{told}"));
        }
        if let Some(stuck) = searched.stuck {
            assert!(history[stuck].is_done() && stuck < Number(history.len() as u32), "{told}");
        }
    }
}
