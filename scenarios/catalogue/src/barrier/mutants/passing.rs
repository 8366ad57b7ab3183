//! Mutants whose waiters pass while the barrier stands.

use super::copy::{EndOfSession, Mutation};
use super::{WORKLOAD, run};
use crate::prelude::*;

/// A barrier whose waiters take any event for its end: a write into the barrier, or a change of the session's state. They
/// pass while it stands (apache/curator, GH-1290, is of that class).
pub(super) static ANY_EVENT: Workload = WORKLOAD.mutant(
    "barrier-any-event",
    "a barrier whose waiters pass at any event, also at connection loss",
    Caught::by(Ba5).harm(&[Ba1]).breaks(Promise::Barriers).seen("Curator#1290 is of this kind"),
    CRASHES,
    |_| Plan { servers: 3, rounds: 6, faults: 10, ..Plan::calm().with(CRASHES, 0.02) },
    |task| run(task, &ANY_EVENT_OPENS),
);

static ANY_EVENT_OPENS: Mutation = Mutation { only_its_end: false, ..Mutation::RIGHT };

const CRASHES: &[Fault] = &[Fault::ServerCrash];

/// A barrier whose waiters take any event for its end: another client writes into it, and they pass while it stands
/// (apache/curator, GH-1290, is of that class).
///
/// The right barrier's watch does not fire on writes: only a connection loss tests it.
pub(super) static ANY_WRITE: Workload = WORKLOAD.mutant(
    "barrier-any-write",
    "a barrier that opens when its data change",
    Caught::by(Ba5).harm(&[Ba1]).seen("curator GH-1290"),
    CRASHES,
    |_| {
        let plan = Plan { servers: 3, rounds: 6, ..Plan::calm().with(CRASHES, 0.01) };
        plan.with_interference(&[Act::Write], 0.25, 8)
    },
    |task| run(task, &ANY_EVENT_OPENS),
);

/// A barrier whose waiters take the end of their session for the end of the barrier: any error ends the wait, and its
/// kind is not checked.
pub(super) static OPENS_WITH_SESSION: Workload = WORKLOAD.mutant(
    "barrier-opens-with-session",
    "a waiter takes the end of its session for the removal of the barrier",
    Caught::by(Ba1)
        .or(&[(Ba5, "it had been told of an event of the barrier before its session ended")])
        .breaks(Promise::Barriers),
    &[Fault::SessionExpiry],
    |_| Plan { rounds: 4, ..Plan::calm().with(&[Fault::SessionExpiry], 0.05) },
    |task| run(task, &Mutation { end_of_session: EndOfSession::Opens, ..Mutation::RIGHT }),
);
