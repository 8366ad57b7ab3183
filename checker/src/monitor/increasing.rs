//! Counters and sequence numbers: a later request gets a larger number.
//!
//! An operation must get a number larger than all that had been returned before it was called, and no number may be
//! returned twice. That is sufficient: the order of the numbers then respects real time.

use super::{Breach, Certificate, Effect, Judged, Monitor, Number, Operations, Step, Wrong};

/// Gets the next number. The number of an operation that has not returned is unknown, and does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered(pub u64);

/// Judges objects that return increasing numbers, with or without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Increasing;

impl Monitor for Increasing {
    type Action = Numbered;

    fn judge(&self, history: &Operations<Numbered>) -> Judged {
        let mut breaches = Vec::new();
        let mut largest: Option<(u64, Number)> = None;
        // By operation: the operation with the largest number returned before the call.
        let mut before = vec![Number::NONE; history.len()];
        let mut numbers: Vec<(u64, u32, Number)> = Vec::with_capacity(history.len());
        for (at, step) in history.steps().enumerate() {
            match step {
                Step::Call(number) => before[number.at()] = largest.map_or(Number::NONE, |(_, whose)| whose),
                Step::Return(second) => {
                    let (Numbered(number), first) = (history[second].action, before[second.at()]);
                    if first != Number::NONE && history[first].action.0 >= number {
                        let wrong = Wrong::NotLarger { first, second };
                        breaches.push(Breach { at: at as u32, wrong });
                    } else {
                        numbers.push((number, at as u32, second));
                    }
                    largest = largest.max(Some((number, second)));
                }
                Step::Nothing => {}
            }
        }
        numbers.sort_unstable();
        for pair in numbers.windows(2) {
            let ((one, _, first), (other, at, second)) = (pair[0], pair[1]);
            if one == other {
                breaches.push(Breach { at, wrong: Wrong::NotLarger { first, second } });
            }
        }
        Judged::of(history, breaches)
    }

    fn certify(&self, history: &Operations<Numbered>, judged: &Judged) -> Certificate {
        judged.proof(|_| Vec::new(), || order(history))
    }
}

/// An order of effects of a history without a breach.
fn order(history: &Operations<Numbered>) -> Certificate {
    let done = history.iter().filter(|(_, operation)| operation.is_done());
    let mut done: Vec<_> = done.map(|(number, operation)| (operation.action.0, number)).collect();
    done.sort_unstable();
    let mut gap = 0;
    let effects = done.into_iter().map(|(_, number)| {
        gap = gap.max(history[number].called);
        Effect { number, gap }
    });
    Certificate::Order(effects.collect())
}
