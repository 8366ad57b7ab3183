//! Configurations with unusual options, and bad input.

mod mutants;
pub mod workload;

use crate::recipe::Recipe;

/// Configurations with other options, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe {
    workload: &workload::WORKLOAD,
    real: None,
    stories: &[],
    mutants: mutants::ALL,
    lies: None,
    real_mutants: &[],
};
