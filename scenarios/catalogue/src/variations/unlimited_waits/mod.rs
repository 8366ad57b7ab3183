//! Barriers and double barriers at which clients wait without a time limit.

mod calls;
mod mutants;
pub mod workload;

use crate::recipe::Recipe;

/// Waits without a time limit, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&workload::WORKLOAD) };
