//! Calls of every recipe with invalid input.

mod calls;
mod mutants;
mod workload;

use crate::recipe::Recipe;

/// Invalid input, as the catalogue lists it.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&workload::WORKLOAD) };
