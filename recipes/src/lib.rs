//! ZooKeeper's coordination recipes, in async Rust, against the trait [`ZooKeeper`].
//!
//! The same code runs on a real ensemble (crate `zk-client`) and on the simulated one of the crate `sim-zk`. The
//! crate spawns no task, reads no clock, draws no random number and polls nothing: time, waiting and identity come through
//! the trait.
//!
//! # A service
//!
//! Everything made from a handle ends with its session. A [`Supervisor`] opens one session after the other, and makes in each what
//! it was given:
//!
//! ```
//! use std::time::Duration;
//! use zk_recipes::{ElectionOptions, Supervisor};
//!
//! # async fn schedule(token: i64) -> Result<i64, zk_recipes::Error> { Ok(token) }
//! # sim_zk::doc_example_supervised(|connect| async move {
//! let supervisor = Supervisor::new(connect);              // with a `zk_client::Connector`
//! let led = supervisor.lead("/jobs/leader", ElectionOptions::default(), async |term| {
//!     term.acknowledge(b"10.0.0.7:4711").await?;          // followers learn where the leader is
//!     schedule(term.token()).await                        // dropped when the leader must stop
//! });
//! assert!(led.await.is_ok());                             // over any number of sessions, until the work is done
//! supervisor.shutdown(Duration::from_secs(5)).await?;
//! # Ok(())
//! # });
//! ```
//!
//! The work is dropped before its session can have ended at the servers, as long as clocks drift by less than a margin. A call runs
//! its work once at a time, acquires again after each loss, and its tokens grow. [`hold`](Supervisor::hold) is the same for a
//! lock, [`serve`](Supervisor::serve) for a registration, [`consume`](Supervisor::consume) for the items of a queue,
//! [`follow`](Supervisor::follow) for what is followed. The example `service` of `zk-client` is a whole process; the page
//! `COMING-FROM.md` of this crate names the counterparts of the classes of Apache Curator and Kazoo.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | [`zk`] | the trait, its types and its error |
//! | [`names`] | a name service |
//! | [`config`] | configuration: a value, or an atomic set of values |
//! | [`counter`] | a number that many clients add to |
//! | [`group`] | group membership |
//! | [`barrier`] | clients wait while its znode exists |
//! | [`double_barrier`] | a number of participants begin together and end together |
//! | [`queue`] | a queue: exactly-once puts, at-most-once or at-least-once delivery |
//! | [`priority_queue`] | a queue with priorities |
//! | [`guard`] | the guard of a held lock, and the modes in which locks are held |
//! | [`lock`] | an exclusive lock, granted in the order of the requests |
//! | [`shared_lock`] | a lock of many readers or one writer |
//! | [`revocable_lock`] | a shared lock whose holders and waiters can be asked, or forced, to release |
//! | [`priority_lock`] | a revocable lock with priorities |
//! | [`semaphore`] | a number of permits, granted in the order of the requests |
//! | [`two_phase_commit`] | all sites commit, or all abort |
//! | [`election`] | leader election, and a record that the leader has begun |
//! | [`supervisor`] | what keeps recipes alive over many sessions |
//!
//! # Cancellation, and unpolled futures
//!
//! Every future may be dropped at any time; each recipe documents the effect under "Cancellation". An unpolled future, such
//! as an arm of a `select!` or a task that waits for its turn, blocks no other call, with one exception: exactly-once
//! transactions of one guard go one after the other. But its znodes (a place in the queue, a name, a registration) stay until
//! it is dropped, and contenders behind them wait.
//!
//! # Spans and events
//!
//! With the feature `tracing`, which is on by default, every operation is a span of level INFO. Its name is that of the method
//! (`acquire`, `release`, `join`, `enter`, `put`, `take`, `vote`, `decision`, …; with a limit or without, the same), its
//! target `zk_recipes::<module>`. A clean-up that goes on when its future was dropped is a span `clean_up`, below the operation
//! that left it. No field is a time of day, and none changes what is sent, or in which order.
//!
//! | field of a span | meaning |
//! |---|---|
//! | `recipe` | `names`, `config`, `counter`, `group`, `barrier`, `double_barrier`, `queue`, `priority_queue`, `lock`, `shared_lock`, `revocable_lock`, `priority_lock`, `semaphore`, `two_phase_commit`, `election`; `duty` of a clean-up |
//! | `path` | the recipe's znode or directory; of a guard, its own znode |
//! | `session` | the session's id, as ZooKeeper's logs write it |
//! | `token` | the fencing token, once something is granted |
//! | `waited` | `true`, if it has waited for a notification |
//! | `outcome` | `done`; `nothing`, of a failed attempt; `commit` or `abort`; `was_lost`, of a release; `asked`, `yielded`, `forced` or `gone`; `dropped`, by the caller; else the error: `timed_out`, `session_over`, `removed`, `revoked`, `connection_loss`, … |
//!
//! Events have the target `zk_recipes`, and stand in the operation's span.
//!
//! | event | level | fields | when |
//! |---|---|---|---|
//! | `granted` | INFO | `recipe`, `path`, `session`, `token` | a hold is granted |
//! | `lost` | WARN | the same, `reason`: `session_over`, `deadline_passed`, `removed` | a hold is known to be lost: with its session, also if nobody polls its guard; otherwise when its holder asks or waits |
//! | `told to stop` | WARN | as `granted`, `safe_for` | the connection is lost, and the holder must stop within that time, which ends a margin before the lease does |
//! | `asked to go` | INFO | `path`, `session` | a holder's or waiter's znode has the revocation word |
//! | `waits` | DEBUG | `path` | an operation waits for a notification about a znode |
//! | `an answer was lost` | INFO | `session` | a request failed with connection loss, and is settled or retried |
//! | `session over` | WARN | `session`, `reason`: `expired`, `closed`, `auth_failed` | an operation finds its session over |
//! | `session began` | INFO | `session`, `number` | a supervisor has opened the session of that number |
//! | `work begins`, `work stopped`, `work begins again`, `work failed`, `work done`, `hold lost`, `not acquired` | INFO | `call`, `number`, `why` | a step of a supervised call, in the session of that number |
//! | `clean-up begun`, `clean-up done` | DEBUG | `outcome` | the clean-up after a dropped future or guard |
//!
//! # Metrics
//!
//! With the feature `metrics`, through the facade of that name. `describe_metrics` describes them to a recorder. Time is
//! the handle's own ([`Runtime::now`]); a clean-up is the operation `clean_up` of the recipe `duty`.
//!
//! | metric | kind | labels | meaning |
//! |---|---|---|---|
//! | `zk_recipes_operations_total` | counter | `recipe`, `operation`, `outcome` | ended operations |
//! | `zk_recipes_operation_duration_seconds` | histogram | `recipe`, `operation`, `outcome` | their duration, including waits |
//! | `zk_recipes_operations_active` | gauge | `recipe`, `operation` | operations in progress, such as waiting `acquire`s, and open clean-ups |
//! | `zk_recipes_holds_active` | gauge | `recipe` | holds that are not known to be lost, whether or not their guards are dropped |
//! | `zk_recipes_holds_lost_total` | counter | `recipe`, `reason` | lost holds |
//! | `zk_recipes_lost_answers_total` | counter | | connection losses, each followed by a retry |

pub mod zk;

mod observe;
mod parts;

pub mod barrier;
mod call;
pub mod config;
pub mod counter;
pub mod double_barrier;
pub mod election;
pub mod group;
pub mod guard;
pub mod lock;
pub mod names;
pub mod priority_lock;
pub mod priority_queue;
pub mod queue;
pub mod revocable_lock;
pub mod semaphore;
pub mod shared_lock;
pub mod supervisor;
pub mod two_phase_commit;

pub use barrier::{Barrier, BarrierOptions, While};
pub use call::{Call, Work};
pub use config::{Config, ConfigOptions, ConfigSet, ConfigSetOptions, Snapshot};
pub use counter::{Counter, CounterOptions};
pub use double_barrier::{DoubleBarrier, DoubleBarrierOptions, Inside, Leave, Reuse};
pub use election::{Election, ElectionOptions, Leader, Leadership, Term};
pub use group::{Group, GroupOptions, GroupView, Member, Membership, Views, WithData};
pub use guard::{Guard, NotDowngraded};
pub use lock::{Lock, LockOptions};
pub use names::{Freshness, Names, NamesOptions, PermanentName, Registration, UniqueName};
#[cfg(feature = "metrics")]
pub use observe::describe_metrics;
pub use parts::claim::IfTaken;
pub use parts::contenders::Contender;
pub use parts::naming::{Naming, Priority};
pub use parts::parents::Parents;
pub use parts::revoke::Fate;
pub use parts::tenure::{HoldState, Interrupt, LostReason, OnSuspect, Released, RunUntil, Stop};
pub use parts::watch_loop::{Update, Updates, Versioned};
pub use priority_lock::{Preempt, PriorityContender, PriorityLock, PriorityLockOptions};
pub use priority_queue::{PriorityProducer, PriorityQueue, PriorityQueueOptions};
pub use queue::{
    Claimed, Consumer, ConsumerOptions, Delivery, Idle, Item, Order, Producer, Queue, QueueOptions,
};
pub use revocable_lock::{RevocableLock, RevocableLockOptions};
pub use semaphore::{PermitHolder, Semaphore, SemaphoreOptions};
pub use shared_lock::{SharedLock, SharedLockOptions};
pub use supervisor::Supervisor;
pub use two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, Vote, Voted};
pub use zk::{Error, ErrorKind, Runtime, ZooKeeper};

#[cfg(doctest)]
#[doc = include_str!("../COMING-FROM.md")]
struct ComingFrom;
