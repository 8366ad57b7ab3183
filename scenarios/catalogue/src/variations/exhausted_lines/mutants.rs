//! Recipes that order contenders by exhausted numbers.

use crate::lock::mutants::copy::{MutantLock, Mutation};
use crate::lock::workload::{self as lock, WORKLOAD};
use crate::prelude::*;

/// All mutants.
pub(super) static ALL: &[&Workload] = &[&BY_NUMBER];

/// Contenders with the same number are ordered by their guids: a newcomer may be ahead of the holder.
static BY_NUMBER: Workload = WORKLOAD.mutant(
    "exhausted-lines-by-number",
    "contenders stand in the order of their numbers where the numbers have run out",
    Caught::by(Mx4).harm(&[Mx2]),
    &[],
    |_| Plan { clients: 4, rounds: 4, first_number: i32::MAX, ..Plan::calm() },
    |task| {
        let make = |zk: &_| MutantLock::new(zk, lock::DIRECTORY, &Mutation::RIGHT);
        lock::client(task, Box::new(make)).boxed()
    },
);
