//! Every run of a small scope: one server, few clients, few rounds, few faults, and every order of happenings.
//!
//! | file | what it holds |
//! |---|---|
//! | `scope` | what is explored |
//! | `chooser` | who decides in one run, and which alternatives there are |
//! | `search` | the queue of what was not tried, batch by batch |
//! | `visited`, `checkpoint`, `certificate` | the states, a search as a file, what a complete one has shown |
//!
//! Clients are async code and cannot be copied. So a run is made again from its beginning, along a list of choices, and goes
//! on with the calm alternative everywhere; what else there would have been is tried later. Nothing takes time but what waits
//! for a timer of seconds ([`Config::interleaving`](sim_zk::Config::interleaving)).
//!
//! # Why a run may be cut short
//!
//! Whenever every task waits, the state has a digest, and a run that comes to a state in which another one has been ends there.
//! Nothing is lost by that:
//!
//! 1. *What has happened is judged*: every run is judged up to where it was cut, by all rules but those about the end.
//! 2. *What can still happen is the same.* The digest holds everything that the world's next steps depend on, and for each
//!    process everything that its code was told, in order: answers, notifications, alarms, changes of its sessions, and what
//!    it saw when it looked at its clock, or asked until when a session is safe. Code behind the trait has no other source:
//!    it draws nothing, reads no clock of its own, and its users take the plain way. Tasks of one process are woken one at
//!    a time, so that no order of theirs depends on what was before. When a process has crashed, or its code has come to its
//!    end and nothing of it is under way, nobody is left who could act on what it was told.
//! 3. *What can still be judged is the same.* Rules look back on what clients were told and did (which is in the digest, in
//!    each client's own order), on the tree and the order of what stands in it, on faults (each client's, among its
//!    operations), and on real time: what was over when something else began. The last two are kept by the journal: with the
//!    beginning of each operation and each belief, how many of each client had ended, and for how long it goes on.
//!
//! What is not in the digest is the order in which happenings at different clients interleaved where neither was told of the
//! other and no operation ended before another began, and how many transactions lie between two zxids. A rule that looked at
//! that would judge by an accident.
//!
//! That nothing is lost is put to the test by exploring tiny scopes without cutting (`tests/all/explore.rs`): they come to the
//! same states, and to the same breaches.

mod certificate;
mod checkpoint;
mod chooser;
mod scope;
mod search;
mod visited;

pub use certificate::Certificate;
pub use checkpoint::CheckpointError;
pub use scope::Scope;
pub use search::{Breach, Found, Search};
