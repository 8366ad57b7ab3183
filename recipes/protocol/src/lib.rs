//! ZooKeeper's client protocol, without input or output: what a client library, a proxy, a server and a simulation share.
//!
//! | module | content |
//! |---|---|
//! | [`session`] | a client's session machine: requests, packets and timers go in, actions come out |
//! | [`wire`] | frames, ZooKeeper's encoding, and the numbers of its operations |
//!
//! The crate knows neither sockets nor clocks, spawns nothing and draws no random number. The crate `zk-client` runs the
//! session machine over TCP, the crate `sim-zk` in simulated time.

pub mod session;
pub mod wire;
