//! Queues of work: claims in batches, which outlive rounds and are confirmed together with other writes.

mod calls;
mod confirming;
mod mistakes;
mod mutants;
pub mod workload;
mod worn;

use crate::recipe::Recipe;

/// Queues of work, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&workload::WORKLOAD) };
