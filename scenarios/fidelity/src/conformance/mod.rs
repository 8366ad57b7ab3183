//! Recorded cases of a real Apache ZooKeeper, replayed over the raw wire protocol: tests whether a server, or the
//! simulation, replies as the real one did.
//!
//! | module | content |
//! |---|---|
//! | [`case`](mod@case) | a case in its file: steps, and the expectation for each |
//! | [`target`] | what a case is played against, as raw connections; [`sim`] for simulated servers, [`tcp`] for sockets
//! |
//! | [`play`] | plays one case and records what it observes, in the form of an expectation |
//! | [`compare`] | differences between an observation and the expectation |
//! | [`run`] | many cases, each on an empty server with the configuration that it needs |
//! | [`supply`] | such servers: simulated ones, our own, or a running one; [`configuration`], their configurations |
//!
//! A case does not know servers, a target does not know cases, and only `tcp` and `supply` know the network. The
//! simulation also receives frames, so the comparison covers what a client would read.

pub mod case;
pub mod compare;
pub mod configuration;
pub mod play;
pub mod run;
mod session;
pub mod sim;
pub mod supply;
pub mod target;
pub mod tcp;
mod tidy;
