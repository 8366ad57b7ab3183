//! Exhaustive exploration of a small scope: one server, few clients, rounds and faults, and every order of events.
//!
//! | file | content |
//! |---|---|
//! | `scope` | the scope of a search |
//! | `chooser` | the chooser of one run, and its untried alternatives |
//! | `search` | the queue of untried alternatives, batch by batch |
//! | `visited`, `checkpoint`, `certificate` | visited states, a search as a file, the result of a complete search |
//!
//! Clients are async code and cannot be copied. So each run starts from the beginning, follows a list of choices, and then takes
//! the default choice everywhere; the search tries the alternatives later. Only timers of seconds take time
//! ([`Config::interleaving`](sim_zk::Config::interleaving)).
//!
//! # Why a run may be cut short
//!
//! Whenever every task waits, the state has a digest, and a run that reaches the state of another run ends there. That is sound:
//!
//! 1. *The past is judged.* Every run is judged up to the cut, by all rules except those about the end.
//! 2. *The future is equal.* The digest covers everything that the next steps of the world depend on, and for each process
//!    everything that its code observed, in order: replies, notifications, timers, changes of its sessions, readings of its
//!    clock, and the times until which a session is safe. Code behind the trait has no other input: it draws no random numbers,
//!    reads no other clock, and makes default choices. Tasks of one process are woken one at a time, so their order does not
//!    depend on earlier states. The observations of a crashed process, or of finished code without requests in flight, are
//!    left out, since they have no further effect.
//! 3. *The future verdicts are equal.* Rules look back on observations and actions of clients (in the digest, in each client's
//!    order), on the tree, on faults (among the operations of each client), and on real time: which operation ended before
//!    another began. The journal keeps the last two: at the start of each operation and belief, the number of ended ones of each
//!    client, and the age of open ones.
//!
//! The digest leaves out the order of concurrent events at different clients that did not observe each other, and the number of
//! transactions between two zxids. No rule may depend on these.
//!
//! A test explores tiny scopes without cutting (`tests/all/explore.rs`) and finds the same states and breaches.

mod certificate;
mod checkpoint;
mod chooser;
mod scope;
mod search;
mod visited;

pub use certificate::Certificate;
pub use checkpoint::CheckpointError;
pub use scope::Scope;
pub use search::{Breach, Exploration, Results};
