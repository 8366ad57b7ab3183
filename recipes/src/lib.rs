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
//!
//! # Futures that are dropped, and futures that are left unpolled
//!
//! Every future may be dropped at any time; each recipe says under "Cancellation" what becomes of its call then. A future
//! that is left unpolled holds up no other call: an arm of a `select!` that is taken up later, or a task that waits for its
//! turn. No lock is held while anybody waits. But what it has made stays until it is dropped: a place in the queue, a name,
//! a registration. Whoever stands behind that waits, as for a holder; where that is so, "Cancellation" says it.
//!
//! # Spans and events
//!
//! With the feature `tracing`, which is on by default, every operation is a span of level INFO. Its name is that of the method
//! (`acquire`, `release`, `join`, `enter`, `put`, `take`, `vote`, `decision`, …; with a limit or without, the same), its
//! target `zk_recipes::<module>`. A clean-up that goes on when its future was dropped is a span `clean_up`, below the operation
//! that left it. No field is a time, and none changes what is sent, or in which order.
//!
//! | field of a span | what it says |
//! |---|---|
//! | `recipe` | `names`, `config`, `group`, `barrier`, `double_barrier`, `queue`, `priority_queue`, `lock`, `shared_lock`, `revocable_lock`, `priority_lock`, `two_phase_commit`, `election`; `duty` of a clean-up |
//! | `path` | the recipe's znode or directory; of what is held, its own znode |
//! | `session` | the session's id, as ZooKeeper's logs write it |
//! | `token` | the fencing token, epoch or czxid, once something is granted |
//! | `waited` | `true`, once it has waited for a notification |
//! | `outcome` | `done`; `nothing`, where an attempt came back without; `commit` or `abort`; `was_lost`, of a release; `asked`, `yielded`, `forced` or `gone`; `dropped`, by the caller; else the error: `timed_out`, `session_over`, `removed`, `revoked`, `connection_loss`, … |
//!
//! Events have the target `zk_recipes`, and stand in the operation's span.
//!
//! | event | level | fields | when |
//! |---|---|---|---|
//! | `granted` | INFO | `recipe`, `path`, `session`, `token` | something is held from here on |
//! | `lost` | WARN | the same, `reason`: `session_over`, `deadline_passed`, `removed` | a hold is known to be lost |
//! | `told to stop` | WARN | as `granted` | the connection is lost, and the holder stops for that |
//! | `asked to go` | INFO | `path`, `session` | a holder's or waiter's znode bears the word |
//! | `waits` | DEBUG | `path` | an operation waits for a notification about a znode |
//! | `an answer was lost` | INFO | `session` | a request was caught by a disconnect, and is settled or sent again |
//! | `session over` | WARN | `session`, `reason`: `expired`, `closed`, `auth_failed` | an operation finds its session at its end |
//! | `clean-up begun`, `clean-up done` | DEBUG | `outcome` | what a dropped future or guard leaves is taken away |
//!
//! # Metrics
//!
//! With the feature `metrics`, through the facade of that name. `describe_metrics` tells a recorder what they mean. Time is
//! the handle's own ([`ZooKeeper::now`]); a clean-up is the operation `clean_up` of the recipe `duty`.
//!
//! | metric | kind | labels | what it says |
//! |---|---|---|---|
//! | `zk_recipes_operations_total` | counter | `recipe`, `operation`, `outcome` | operations that have ended |
//! | `zk_recipes_operation_duration_seconds` | histogram | `recipe`, `operation`, `outcome` | how long they took, waiting included |
//! | `zk_recipes_operations_active` | gauge | `recipe`, `operation` | operations under way: an `acquire` that is one waits; clean-ups that are open |
//! | `zk_recipes_holds_active` | gauge | `recipe` | what is held |
//! | `zk_recipes_holds_lost_total` | counter | `recipe`, `reason` | holds that were lost |
//! | `zk_recipes_lost_answers_total` | counter | | requests caught by a disconnect: second tries |

pub mod session;
pub mod wire;
pub mod zk;

mod observe;
mod parts;

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
pub use config::{Config, ConfigOptions, Snapshot};
pub use double_barrier::{DoubleBarrier, DoubleBarrierOptions, Inside, Leave, Reuse};
pub use election::{Election, ElectionOptions, Leader, Leadership, Term};
pub use group::{Group, GroupOptions, GroupView, Member, Membership, Views, WithData};
pub use lock::{Lock, LockGuard, LockOptions};
pub use names::{Freshness, Names, NamesOptions, PermanentName, Registration, UniqueName};
#[cfg(feature = "metrics")]
pub use observe::describe_metrics;
pub use parts::claim::IfTaken;
pub use parts::contenders::Contender;
pub use parts::naming::{Naming, Priority};
pub use parts::parents::Parents;
pub use parts::revoke::Fate;
pub use parts::tenure::{HoldState, Interrupt, LostReason, OnSuspect, Released, Stop};
pub use parts::watch_loop::{Update, Updates, Versioned};
pub use priority_lock::{
    Preempt, PriorityContender, PriorityLock, PriorityLockOptions, PriorityRead, PriorityWrite,
};
pub use priority_queue::{PriorityProducer, PriorityQueue, PriorityQueueOptions};
pub use queue::{Claimed, Consumer, Delivery, Idle, Item, Order, Prefetch, Producer, Queue, QueueOptions};
pub use revocable_lock::{RevocableLock, RevocableLockOptions, RevocableRead, RevocableWrite, RunUntil};
pub use shared_lock::{NotDowngraded, ReadGuard, SharedLock, SharedLockOptions, WriteGuard};
pub use two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, TwoPhaseCommit, Vote, Voted};
pub use zk::{Error, ZooKeeper};
