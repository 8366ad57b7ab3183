//! Recipes under load: n clients, r rounds. A workload knows its recipe and the journal; faults are drawn beside it.
//!
//! # How to add one
//!
//! One file, and one line in [`ALL`]. The file opens with what its clients do, and holds
//!
//! 1. `pub static TARGET`: the description. `plan` is [`Plan::drawn`](crate::plan::Plan::drawn), or that with other
//!    figures; `required` names the rules that a sweep must not leave untested, `required_on_real` those of a real run.
//!    `stated` is what its runs owe beside that: within what time they finish, and what must come about now and then.
//! 2. `objects`: what is declared to the checker. [`ObjectId`](zk_checker::history::ObjectId)s count in that order.
//! 3. `client`: one client's part, generic over [`Client`](crate::client::Client), and over the recipe if there are
//!    broken twins of it. It is made of
//!    - [`rounds::rounds`]: one round after the other, in a session that is opened again when it is over. A process that
//!      dies begins again as a new one, with the round that it did not end; so nothing may depend on a client that goes
//!      through all rounds in one life, and on a real server each round is a call of its own.
//!    - [`operation::operation`]: journal the call, run it unless it is to be dropped, journal how it ended. Its `work`
//!      must call the recipe *inside* the closure, since requests leave with the call.
//!    - [`holding::Belief`]: from the grant of something [`Held`](holding::Held) to the moment at which one stops.
//!
//! Everything that is drawn is drawn by `client.choose(n)`, where 0 is the plain way. Of a run that is recorded the order
//! of its draws is a part: a workload with recorded runs in `regressions/` keeps it.

pub mod barrier;
pub mod config;
pub mod double_barrier;
pub mod election;
pub mod group;
pub mod holding;
pub mod lock;
pub mod long_holds;
pub mod many_holds;
pub mod names;
pub mod operation;
mod pace;
pub mod priority_lock;
pub mod priority_queue;
pub mod queue;
pub mod raw;
pub mod revocable_lock;
pub mod rounds;
pub mod shared_lock;
pub mod two_phase_commit;

pub use pace::Pace;

use crate::target::Target;

/// What comes about in some runs of every workload whose clients make [`rounds`].
const SESSIONS: [&str; 2] = ["a client has lost its session", "a suspended session is given up for another"];

/// Every workload.
pub static ALL: &[&Target] = &[
    &names::TARGET,
    &config::TARGET,
    &group::TARGET,
    &barrier::TARGET,
    &double_barrier::TARGET,
    &queue::TARGET,
    &priority_queue::TARGET,
    &lock::TARGET,
    &shared_lock::TARGET,
    &revocable_lock::TARGET,
    &priority_lock::TARGET,
    &two_phase_commit::TARGET,
    &election::TARGET,
    &long_holds::TARGET,
    &many_holds::TARGET,
    &raw::TARGET,
];
