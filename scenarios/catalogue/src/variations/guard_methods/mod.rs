//! Clients that hold objects of every recipe that returns guards, and use all methods of the guards.
//!
//! In each round all clients use the same object: a lock, a shared, revocable or priority lock, or an office, with its
//! defaults or with other options. A client lists the contenders, and occasionally evicts one, asks it to go, or
//! revokes it; or it takes a hold, and with it
//! - writes to the resource behind it, by itself or in work that ends with the hold;
//! - writes in ZooKeeper under it, at least once, or exactly once, or in a transaction of its own;
//! - reads its state.
//!
//! A holder that had to stop because its connection was lost continues when the hold is confirmed, or tries to write
//! anyway: such a write must not be applied if the hold is over.

pub mod holds;
mod mutants;
pub mod workload;

use crate::recipe::Recipe;

/// Methods of guards, as the catalogue lists them.
pub static RECIPE: Recipe =
    Recipe { mutants: mutants::ALL, lies: Some(&mutants::LIES), ..Recipe::of(&workload::WORKLOAD) };
