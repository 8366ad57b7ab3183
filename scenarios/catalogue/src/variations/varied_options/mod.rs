//! Configurations with unusual options, and bad input.

mod mutants;
pub mod workload;

use crate::recipe::Recipe;

/// Configurations with other options, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&workload::WORKLOAD) };
