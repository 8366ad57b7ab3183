//! Recorded cases of a real Apache ZooKeeper, replayed over the raw wire protocol: does a server, or the simulation, answer
//! as that one did?
//!
//! | module | what it holds |
//! |---|---|
//! | [`case`](mod@case) | a case as it is written: steps, and what is expected of each |
//! | [`target`] | what a case is played against, seen as raw connections; [`sim`] is that for simulated servers, [`tcp`] for sockets |
//! | [`play`] | plays one case and notes what it observes, in the form of an expectation |
//! | [`compare`] | where an observation differs from the expectation |
//! | [`run`] | many cases, each on a server that is empty and has the configuration it asks for |
//! | [`supply`] | such servers: simulated ones, our own, or one that runs already |
//!
//! A case does not know servers, a target does not know cases, and only `tcp` and `supply` know that there is a network. The
//! simulation is spoken to in frames, too, so that what is compared is what a client would read.

pub mod case;
pub mod compare;
pub mod play;
pub mod run;
mod session;
pub mod sim;
pub mod supply;
pub mod target;
pub mod tcp;
mod tidy;
