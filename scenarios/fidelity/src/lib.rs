//! What real Apache ZooKeeper servers did, recorded, and whether another server or the simulation does the same.
//!
//! [`conformance`] plays recorded cases: requests over raw connections, and their answers. [`ensemble`] plays scenarios of faults on
//! several servers, with the outcomes that a real ensemble may show and those that it must not.

pub mod conformance;
pub mod ensemble;
