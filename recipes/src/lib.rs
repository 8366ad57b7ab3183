//! ZooKeeper's coordination recipes, in async Rust, against the trait [`ZooKeeper`].
//!
//! The same code runs on a real ensemble (feature `client`) and on the simulated one of the crate `sim-zk`. Nothing
//! here spawns a task, reads a clock, draws a random number or polls: time, waiting and identity come through the trait.
//!
//! | module | what it holds |
//! |---|---|
//! | [`zk`] | the trait, its types, its error, and the behaviour that every implementation must show |
//! | [`lock`] | an exclusive lock that serves in the order of asking |
//! | `client` | the trait over a real ensemble (feature `client`) |

pub mod zk;

mod hold;
mod line;
pub mod lock;
mod race;

#[cfg(feature = "client")]
pub mod client;

pub use hold::{HoldState, LostReason, OnSuspect, Released, Stop};
pub use line::{Contender, Naming, Parents};
pub use lock::{Lock, LockGuard, LockOptions};
pub use zk::{Error, ZooKeeper};
