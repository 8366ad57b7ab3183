//! Stories, workloads and seeded fault runs for ZooKeeper recipes, on a simulated and on a real ensemble.

pub mod broken;
pub mod client;
pub mod journal;
pub mod plan;
pub mod run;
pub mod workloads;
