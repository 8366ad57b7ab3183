//! Stories, workloads and seeded fault runs for ZooKeeper recipes, on a simulated and on a real ensemble.

pub mod broken;
pub mod cli;
pub mod client;
pub mod code;
pub mod conformance;
pub mod ensemble;
pub mod explore;
pub mod journal;
pub mod plan;
pub mod real;
pub mod recorded;
pub mod run;
pub mod stage;
pub mod stories;
pub mod strangers;
pub mod sweep;
pub mod target;
pub mod trace;
pub mod workloads;
pub mod zoo;
