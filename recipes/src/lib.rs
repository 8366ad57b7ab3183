//! ZooKeeper's coordination recipes, in async Rust, against the trait [`ZooKeeper`].
//!
//! The same code runs on a real ensemble (feature `client`) and on the simulated one of the crate `sim-zk`. Nothing
//! here spawns a task, reads a clock, draws a random number or polls: time, waiting and identity come through the trait.

pub mod zk;

mod hold;
mod line;
pub mod lock;
mod race;

#[cfg(feature = "client")]
pub mod client;

pub use hold::{LostReason, OnSuspect, Released, HoldState, Stop};
pub use line::{Contender, Naming, Parents};
pub use lock::{Lock, LockGuard, LockOptions};
pub use zk::{Error, ZooKeeper};
