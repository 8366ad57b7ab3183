//! Recorded behaviour of real Apache ZooKeeper servers, and tests that another server or the simulation behaves alike.
//!
//! [`exchange`] is shared by both kinds of recordings: the notation of requests and replies, and their frames.
//! [`conformance`] plays recorded cases: requests over raw connections, and their replies. [`ensemble`] plays scenarios
//! of faults on several servers, with the outcomes that a real ensemble may show and those that it must not.

pub mod conformance;
pub mod ensemble;
pub mod exchange;
