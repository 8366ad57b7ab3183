//! Mutants with a wrong decision of the coordinator.

use super::steps::{Coordination, Mutation};
use super::{WORKLOAD, run};
use crate::prelude::*;

/// Two-phase commit whose coordinator decides by its own reading of the votes, and writes no record. A vote may come
/// after the reading, or another participant decide otherwise: a decision that only the coordinator knows binds no
/// site.
pub(super) static OWN_READING: Workload = WORKLOAD.mutant(
    "two-phase-commit-own-reading",
    "two-phase commit whose coordinator decides on the votes that it read, without a record",
    Caught::by(Tc9),
    &[Fault::ClientPause],
    |_| Plan { rounds: 2, ..Plan::calm() }.with(&[Fault::ClientPause], 0.02),
    |task| run(task, &Mutation { coordination: Coordination::OwnReading, ..Mutation::RIGHT }),
);

/// Two-phase commit whose coordinator presumes that a site that has not voted in time agrees.
pub(super) static PRESUMED_COMMIT: Workload = WORKLOAD.mutant(
    "two-phase-commit-presumed-commit",
    "two-phase commit whose coordinator takes silence for a vote to commit",
    Caught::by(Tc9).harm(&[Tc3]),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() },
    |task| run(task, &Mutation { coordination: Coordination::Presumed, ..Mutation::RIGHT }),
);
