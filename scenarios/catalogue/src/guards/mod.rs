//! Clients that hold something by any recipe that gives guards, and use everything that its guard offers.
//!
//! Each round all clients are at the same thing: a lock, a shared, revocable or priority lock, or an office, with its defaults
//! or with other options. A client lists the contenders, and now and then evicts one, or asks it to go, or makes it go; or it
//! takes a hold, and with it
//! - writes to the resource behind it, by itself or in work that ends with the hold;
//! - writes in ZooKeeper under it, at least once, or exactly once, or in a transaction of its own;
//! - looks at its state.
//!
//! A holder that was told to stop since its connection is lost goes on when the hold is confirmed, or tries to write all the
//! same: such a write must not be applied if the hold is over.

pub mod holds;
mod mutants;
pub mod workload;

use crate::recipe::Recipe;

/// Guards, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe {
    workload: &workload::WORKLOAD,
    real: None,
    stories: &[],
    mutants: mutants::ALL,
    lies: Some(&mutants::LIES),
    real_mutants: &[],
};
