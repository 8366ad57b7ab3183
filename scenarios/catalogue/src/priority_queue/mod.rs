//! The priority queue: its workload, its stories and the words they are written in, its mutants.

pub mod mutants;
pub mod workload;

use crate::Recipe;

/// The priority queue, as the catalogue lists it.
pub static RECIPE: Recipe = Recipe {
    workload: &workload::TARGET,
    real: Some(&workload::REAL),
    stories: &[],
    mutants: mutants::ALL,
    real_mutants: &[],
};
