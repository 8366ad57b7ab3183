//! Semaphores, counters, partitions and caches: rules judge what their clients report, and no request.

use super::{Call, Recipe};
use crate::history::Verb;
use crate::view::Part;

pub(super) static SEMAPHORE: Recipe = foreign(&[&[
    Call::of(Verb::Acquire),
    Call::of(Verb::TryAcquire),
    Call::of(Verb::Release),
    Call::of(Verb::Lease),
    Call::of(Verb::Yield),
]]);

pub(super) static COUNTER: Recipe = foreign(&[&[Call::of(Verb::Add), Call::of(Verb::Audit)]]);

pub(super) static PARTITION: Recipe =
    foreign(&[&[Call::of(Verb::Own), Call::of(Verb::Yield), Call::of(Verb::Whole)]]);

pub(super) static CACHE: Recipe = foreign(&[&[Call::of(Verb::Audit)]]);

const fn foreign(calls: &'static [&'static [Call]]) -> Recipe {
    Recipe::of_znodes(|_| Part::Other, calls)
}
