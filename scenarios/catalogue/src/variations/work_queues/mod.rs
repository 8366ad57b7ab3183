//! Queues of work: claims in batches, which outlive rounds and are confirmed together with other writes.

mod calls;
mod confirming;
mod mistakes;
mod mutants;
pub mod workload;
mod worn;

use crate::recipe::Recipe;

/// Queues of work, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe {
    workload: &workload::WORKLOAD,
    real: None,
    stories: &[],
    mutants: mutants::ALL,
    lies: None,
    real_mutants: &[],
};
