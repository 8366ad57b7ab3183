//! All tests of the recipes in one binary: it is linked once. Each module says what it tries.

mod any_schedule;
mod barrier;
mod cancellation;
mod common;
mod config;
mod cost;
mod cost_table;
mod double_barrier;
mod election;
mod election_dropped;
mod fencing;
mod group;
mod holding;
mod line;
mod lost_replies;
mod names;
mod priority_dropped;
mod priority_lock;
mod priority_queue;
mod queue;
mod revocable_lock;
mod shapes;
mod shared_lock;
mod two_phase_commit;
mod worn;
