//! Clients whose work lasts longer than their sessions: a supervisor keeps it alive.
//!
//! Each round a client leads, holds a lock, keeps a node there or deletes it, is a member of a group or follows it, writes a value or
//! follows it, through one supervisor for all its rounds, until the work is done. Work that must stop is dropped in the middle and begins again, in the same session or in
//! the next one. Some calls are dropped by their caller, and some clients shut their supervisor down while a call is in progress, and
//! begin with another one.

mod member;
mod mutants;
mod node;
mod standing;
mod stories;
pub mod workload;

use crate::recipe::Recipe;

/// The supervisor, as the catalogue lists it.
pub static RECIPE: Recipe = Recipe {
    mutants: mutants::ALL,
    exercised: include_str!("exercised.txt"),
    stories: stories::ALL,
    real: Some(&workload::REAL),
    ..Recipe::of(&workload::WORKLOAD)
};
