//! The program `zksim`: seeded fault runs of ZooKeeper recipes, on a simulated and on a real ensemble.
//!
//! This crate holds the command line, and the mutation score that it prints. `zk-harness` defines runs, and is the
//! crate that tests of your own code depend on; `zk-catalogue` holds workloads, stories and mutants.

pub mod cli;
pub mod mutation_score;
pub mod served;
mod text_table;
