//! All tests of the checker in one binary: it is linked once. Each module says what it tries.

mod barrier;
mod black_box;
mod brute_force;
mod common;
mod config;
mod damaged;
mod double_barrier;
mod election;
mod forms;
mod group;
mod lagging_servers;
mod metamorphic;
mod monitors;
mod names;
mod priority_lock;
mod probes;
mod queues;
mod revocation;
mod rules;
mod rules_of_time_and_cost;
mod shared_lock;
mod strangers;
mod trace_edits;
mod two_phase_commit;
mod zookeeper;
mod zookeeper_clients;
