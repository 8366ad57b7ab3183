//! What a run is: coordination code under load on a simulated ZooKeeper ensemble, with faults, a history and a verdict.
//!
//! Tests of your own code use [`testing`]; the other modules are its parts.
//!
//! | module | content |
//! |---|---|
//! | [`testing`] | the API for tests of other crates |
//! | [`workload`] | a workload as a plain description; [`caught`], how a mutant must be killed |
//! | [`client`] | a client process, as a workload sees it |
//! | [`rounds`], [`operation`], [`holding`], [`pace`] | the parts of workloads |
//! | [`journal`] | writes the history |
//! | [`sweep`], [`threads`] | many runs: which seeds, on which threads |
//! | [`strategy`] | draws the run of a seed: its plan and its chooser |
//! | [`plan`], [`plans`] | the configuration of a run; strategies of proptest for it |
//! | [`run`] | makes the run and judges it; [`panics`], those of the code under test |
//! | [`interference`] | foreign clients that interfere |
//! | [`tally`], [`coverage`], [`exercised`], [`shard`] | what runs add up to, on one machine and on many |
//! | [`fingerprint`] | failure fingerprints; [`shrink`], the smallest run with the same one |
//! | [`explore`] | every run of a small scope |
//! | [`recording`], [`regression`] | runs as files and codes; runs that are kept |
//! | [`stage`] | scripts: the vocabulary of stories |
//!
//! It names no recipe, and has no list of workloads.

pub mod caught;
pub mod client;
pub mod coverage;
pub mod exercised;
pub mod explore;
mod fault_set;
pub mod fingerprint;
#[cfg(test)]
mod hangs;
pub mod holding;
pub mod interference;
pub mod journal;
pub mod operation;
pub mod pace;
pub mod panics;
pub mod plan;
pub mod plans;
pub mod recording;
pub mod regression;
pub mod rounds;
pub mod run;
#[cfg(test)]
mod sample;
pub mod shard;
pub mod shrink;
pub mod stage;
pub mod strategy;
pub mod sweep;
pub mod tally;
pub mod testing;
pub mod threads;
pub mod workload;
