//! The semaphore: its workload, its stories and the words they are written in, its mutants.

pub(crate) mod mutants;
mod stories;
pub mod words;
pub mod workload;

use crate::recipe::Recipe;

/// The semaphore, as the catalogue lists it.
pub static RECIPE: Recipe = Recipe {
    workload: &workload::WORKLOAD,
    real: Some(&workload::REAL),
    stories: stories::ALL,
    mutants: mutants::ALL,
    lies: Some(&mutants::lies::LIES),
    real_mutants: &[],
    promises: include_str!("promises.txt"),
    exercised: include_str!("exercised.txt"),
};
