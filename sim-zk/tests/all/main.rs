//! All tests of the simulation in one binary, which is linked once. Each module describes what it tests.

mod any_bytes;
mod client_frames;
mod common;
mod determinism;
mod faults;
mod impossible;
mod interleaving;
mod listed;
mod long_closes;
mod reachable;
mod runs;
mod simulated_sessions;
mod simulated_tree;
mod simulated_trees;
mod simulated_watches;
mod suite;
