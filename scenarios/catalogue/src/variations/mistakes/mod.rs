//! Clients that make mistakes: calls of every recipe with invalid input.

mod calls;
mod mutants;
mod workload;

use crate::recipe::Recipe;

/// Mistakes, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&workload::WORKLOAD) };
