//! Semaphores, counters, partitions and caches: rules judge what their clients report, and no request.

use super::reported::{done, holds, refused, unknown};
use super::{Call, ClaimedAs, Meaning, Recipe, ReportedEvent};
use crate::history::{Seen, Verb};
use crate::view::Part;

pub(super) static SEMAPHORE: Recipe = foreign(&[&[
    Call::of(Verb::Acquire),
    Call::of(Verb::TryAcquire),
    Call::of(Verb::Release),
    Call::of(Verb::Lease),
    Call::of(Verb::Yield),
]])
.with_leases()
.reported(ClaimedAs::Holds, &[LIMIT, LEASES]);

const LIMIT: &[ReportedEvent] = &[ReportedEvent::with("limit", Meaning::Declares)];
const LEASES: &[ReportedEvent] = &holds(Verb::Lease, "acquired", "released");

pub(super) static COUNTER: Recipe =
    foreign(&[&[Call::of(Verb::Add), Call::of(Verb::Audit)]]).reported(ClaimedAs::Counter, &[COUNTED]);

const COUNTED: &[ReportedEvent] = &[
    ReportedEvent::with("adds", Meaning::Begins(Verb::Add)),
    ReportedEvent::with("added", done(Verb::Add)),
    ReportedEvent::with("unknown", unknown(Verb::Add)),
    ReportedEvent::with("refused", refused(Verb::Add)),
    ReportedEvent::with("counts", Meaning::Tells(Verb::Audit, Seen::Value)),
];

pub(super) static PARTITION: Recipe =
    foreign(&[&[Call::of(Verb::Own), Call::of(Verb::Yield), Call::of(Verb::Whole)]])
        .reported(ClaimedAs::Partition, &[DIVIDED]);

const DIVIDED: &[ReportedEvent] = &[
    ReportedEvent::with("whole", Meaning::Happens(Verb::Whole)),
    ReportedEvent::with("owns", Meaning::Happens(Verb::Own)),
    ReportedEvent::with("disowns", Meaning::Happens(Verb::Yield)),
];

pub(super) static CACHE: Recipe = foreign(&[&[Call::of(Verb::Audit)]]).reported(ClaimedAs::Cache, &[CACHED]);

const CACHED: &[ReportedEvent] = &[
    ReportedEvent::with("sees", Meaning::Shows(Verb::Audit, Seen::Znode)),
    ReportedEvent::of("seen", done(Verb::Audit)),
];

const fn foreign(calls: &'static [&'static [Call]]) -> Recipe {
    Recipe::of_znodes(|_| Part::Other, calls)
}
