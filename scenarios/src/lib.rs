//! The program `zksim`: seeded fault runs of ZooKeeper recipes, on a simulated and on a real ensemble.
//!
//! This crate holds the command line, and the mutation score that it prints. What a run is stands in `zk-harness`, which is what
//! tests of your own code depend on; workloads, stories and mutants stand in `zk-catalogue`.

pub mod cli;
pub mod mutation_score;
pub mod served;
mod text_table;
