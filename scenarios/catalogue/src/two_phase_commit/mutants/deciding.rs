//! Mutants whose sites make a wrong decision, or lose the decision.

use super::steps::{Coordination, Mutation, Undecided};
use super::{WORKLOAD, run};
use crate::prelude::*;

const DELAYS: &[Fault] = &[Fault::ClientPause, Fault::Disconnect];

/// Two-phase commit in which abort is proposed without a check that a vote is missing. All sites may have voted for
/// commit by then, and only the coordinator is slow: a transaction is aborted to which all sites agreed.
pub(super) static ABORT_UNCHECKED: Workload = WORKLOAD.mutant(
    "two-phase-commit-abort-unchecked",
    "two-phase commit in which abort is proposed without a check that a vote is missing",
    Caught::by(Tc4),
    DELAYS,
    |_| Plan { rounds: 6, faults: 2, ..Plan::calm().with(DELAYS, 0.03) },
    |task| run(task, &UNCHECKED),
);

static UNCHECKED: Mutation = Mutation {
    undecided: Undecided::ProposesUnchecked,
    // A coordinator may be slow: that is not the wrong step.
    coordination: Coordination::Slow,
    ..Mutation::RIGHT
};

/// Two-phase commit in which a site that finds a recorded decision keeps its own. `NodeExists` means that a decision
/// exists, not that it is this one.
pub(super) static OWN_DECISION_STANDS: Workload = WORKLOAD.mutant(
    "two-phase-commit-own-decision-stands",
    "two-phase commit that takes NodeExists on the record for success of its own decision",
    Caught::by(Tc9)
        .or(&[(
            Tc4,
            "the abort that stands is proposed without a look at the votes, and that is told when it gets on record",
        )])
        .within(100)
        .harm(&[Tc1])
        .breaks(Promise::Agreement),
    DELAYS,
    |_| Plan { rounds: 6, faults: 6, ..Plan::calm().with(DELAYS, 0.15) },
    |task| {
        run(task, &Mutation { undecided: Undecided::ObeysItself, ..Mutation::RIGHT })
    },
);

/// Two-phase commit in which a site that has voted for commit aborts alone at its time limit. The others may commit
/// meanwhile: a time limit does not revoke a vote.
pub(super) static TIME_OUT_ABORTS: Workload = WORKLOAD.mutant(
    "two-phase-commit-time-out-aborts",
    "two-phase commit in which a site that voted for commit aborts at its time limit",
    Caught::by(Tc8)
        .or(&[(Tc9, "it aborts although commit is on record already, and that is seen first")])
        .harm(&[Tc1])
        .breaks(Promise::Agreement),
    DELAYS,
    |_| Plan { rounds: 2, ..Plan::calm() }.with(DELAYS, 0.05),
    |task| run(task, &Mutation { undecided: Undecided::AbortsAlone, ..Mutation::RIGHT }),
);

/// Two-phase commit in which the first site that has learned the decision deletes the record. A slower one finds no
/// record, and waits for ever or decides otherwise.
pub(super) static RECORD_REMOVED_EARLY: Workload = WORKLOAD.mutant(
    "two-phase-commit-record-removed-early",
    "two-phase commit in which the first site that knows the decision removes the record",
    Caught::by(Tc11).harm(&[Tc5]).breaks(Promise::Agreement),
    &[Fault::ClientPause],
    |_| Plan { rounds: 2, ..Plan::calm() }.with(&[Fault::ClientPause], 0.1),
    |task| run(task, &Mutation { keeps_record: false, ..Mutation::RIGHT }),
);
