//! ZooKeeper's coordination recipes, in async Rust, against the trait [`ZooKeeper`].
//!
//! The same code runs on a real ensemble (feature `client`) and on the simulated one of the crate `sim-zk`. Nothing
//! here spawns a task, reads a clock, draws a random number or polls: time, waiting and identity come through the trait.
//!
//! | module | what it holds |
//! |---|---|
//! | [`zk`] | the trait, its types, its error, and the behaviour that every implementation must show |
//! | [`names`] | a name service |
//! | [`config`] | a value, or a set of values, that many follow and few write |
//! | [`group`] | group membership |
//! | [`barrier`] | while it stands, those who come wait |
//! | [`double_barrier`] | so many begin together and end together |
//! | [`queue`] | a queue: exactly once into it, and at most or at least once out of it |
//! | [`priority_queue`] | a queue in which the more urgent goes first |
//! | [`lock`] | an exclusive lock that serves in the order of asking |
//! | [`shared_lock`] | a lock that many readers share, or one writer has alone |
//! | [`revocable_lock`] | a shared lock whose holders and waiters can be asked, or made, to go |
//! | [`priority_lock`] | a revocable lock that serves the more urgent first |
//! | [`two_phase_commit`] | sites that all commit, or all abort |
//! | [`election`] | one leader among many candidates, and a record that it has begun |
//! | `client` | the trait over a real ensemble (feature `client`) |

pub mod zk;

mod claim;
mod follow;
mod guard;
mod hold;
mod line;
mod naming;
mod own;
mod parents;
mod race;
mod receipt;
mod revoke;
mod settled;

pub mod barrier;
pub mod config;
pub mod double_barrier;
pub mod election;
pub mod group;
pub mod lock;
pub mod names;
pub mod priority_lock;
pub mod priority_queue;
pub mod queue;
pub mod revocable_lock;
pub mod shared_lock;
pub mod two_phase_commit;

#[cfg(feature = "client")]
pub mod client;

pub use barrier::{Barrier, BarrierOptions, While};
pub use claim::IfTaken;
pub use config::{Config, ConfigOptions, Snapshot};
pub use double_barrier::{DoubleBarrier, DoubleBarrierOptions, Inside, Leave, Reuse};
pub use election::{Election, ElectionOptions, Leader, Leadership, Term};
pub use follow::{Update, Updates, Versioned};
pub use group::{Group, GroupOptions, GroupView, Member, Membership, Views, WithData};
pub use hold::{HoldState, Interrupt, LostReason, OnSuspect, Released, Stop};
pub use line::Contender;
pub use lock::{Lock, LockGuard, LockOptions};
pub use names::{Freshness, Names, NamesOptions, PermanentName, Registration, UniqueName};
pub use naming::{Naming, Priority};
pub use parents::Parents;
pub use priority_lock::{
    Preempt, PriorityContender, PriorityLock, PriorityLockOptions, PriorityRead, PriorityWrite,
};
pub use priority_queue::{PriorityProducer, PriorityQueue, PriorityQueueOptions};
pub use queue::{Claimed, Consumer, Delivery, Idle, Item, Order, Prefetch, Producer, Queue, QueueOptions};
pub use revocable_lock::{RevocableLock, RevocableLockOptions, RevocableRead, RevocableWrite, RunUntil};
pub use revoke::Fate;
pub use shared_lock::{NotDowngraded, ReadGuard, SharedLock, SharedLockOptions, WriteGuard};
pub use two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, TwoPhaseCommit, Vote, Voted};
pub use zk::{Error, ZooKeeper};
