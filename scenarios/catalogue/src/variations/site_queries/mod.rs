//! Two-phase commit by sites that ask for more than they need: the payload, the other sites, and a second vote.

mod calls;
mod mutants;
mod round;
pub mod workload;

use crate::recipe::Recipe;

/// What sites ask for, as the catalogue lists it.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&workload::WORKLOAD) };
