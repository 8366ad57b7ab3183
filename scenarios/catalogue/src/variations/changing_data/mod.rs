//! Services that register under names and as members of a group, with data that change while they run.

mod calls;
mod followers;
mod members;
mod mutants;
mod owners;
pub mod workload;

use crate::recipe::Recipe;

/// Changing data, as the catalogue lists it.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&workload::WORKLOAD) };
