//! What real Apache ZooKeeper servers did, recorded, and whether another server or the simulation does the same.
//!
//! [`exchange`] is what both kinds of recordings share: the form in which they write requests and answers, and the frames of
//! these. [`conformance`] plays recorded cases: requests over raw connections, and their answers. [`ensemble`] plays scenarios of
//! faults on several servers, with the outcomes that a real ensemble may show and those that it must not.

pub mod conformance;
pub mod ensemble;
pub mod exchange;
