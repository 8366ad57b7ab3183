//! Supervised clients with one wrong step: where the library's users have to keep the loop themselves, each was made somewhere.

use super::workload::{WORKLOAD, client};
use crate::prelude::*;

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &GOES_ON,
    &ACTS_WHILE_SUSPECT,
    &STOPS_AT_THE_END,
    &GIVES_BACK_FIRST,
    &KEEPS_THE_LOST,
    &KEEPS_THE_ZNODE,
    &STAYS_IN_THE_FIRST,
];

/// The wrong step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Nothing,
    GoesOn,
    ActsWhileSuspect,
    StopsAtTheEnd,
    GivesBackFirst,
    KeepsTheLost,
    KeepsTheZnode,
    StaysInTheFirst,
}

/// Faults after which a session is over, or may be.
const ENDINGS: &[Fault] = &[Fault::SessionExpiry, Fault::ClientPartition, Fault::Disconnect];

/// A holder that acts too long: of the lock, or of the office.
const LATE: Caught = Caught::by(Mx14).or(&[(Le9, "the same of a leader")]);

/// A znode that is left: of the lock, or of the office.
const LEFT: Caught = Caught::by(Mx8).or(&[(Le5, "the same of a candidate")]);

/// A workload with a wrong step.
macro_rules! mutant {
    ($name:literal, $about:literal, $caught:expr, $faults:expr, $wrong:ident) => {
        WORKLOAD.mutant($name, $about, $caught, $faults, WORKLOAD.plan, |task| {
            client(task, Wrong::$wrong).boxed()
        })
    };
}

static GOES_ON: Workload =
    mutant!("supervised-goes-on", "work goes on when its hold is lost", LATE, ENDINGS, GoesOn);

static ACTS_WHILE_SUSPECT: Workload = mutant!(
    "supervised-acts-while-suspect",
    "work goes on while the connection is lost, although the policy says to stop",
    LATE,
    ENDINGS,
    ActsWhileSuspect
);

static STOPS_AT_THE_END: Workload = mutant!(
    "supervised-stops-at-the-end",
    "work is dropped when a server says that the session is over, and not before",
    LATE,
    ENDINGS,
    StopsAtTheEnd
);

static GIVES_BACK_FIRST: Workload = mutant!(
    "supervised-gives-back-first",
    "the znode is deleted before the work is stopped",
    LATE,
    ENDINGS,
    GivesBackFirst
);

static KEEPS_THE_LOST: Workload = mutant!(
    "supervised-keeps-the-lost",
    "a lost hold is not given back, so its znode stays if the session lives",
    LEFT,
    ENDINGS,
    KeepsTheLost
);

static KEEPS_THE_ZNODE: Workload = mutant!(
    "supervised-keeps-the-znode",
    "the znode of a hold stays when the work is done",
    LEFT,
    &[],
    KeepsTheZnode
);

static STAYS_IN_THE_FIRST: Workload = mutant!(
    "supervised-stays-in-the-first",
    "a call acquires in the first session for ever",
    Caught::by(An2),
    ENDINGS,
    StaysInTheFirst
);
