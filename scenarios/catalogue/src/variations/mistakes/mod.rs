//! Clients that make mistakes: calls of every recipe with invalid input.

mod calls;
mod mutants;
mod workload;

use crate::recipe::Recipe;

/// Mistakes, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe {
    workload: &workload::WORKLOAD,
    real: None,
    stories: &[],
    mutants: mutants::ALL,
    lies: None,
    real_mutants: &[],
};
