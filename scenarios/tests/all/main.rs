//! The tests that need no server: simulation, search, shrinking, the command line. One binary, linked once; each module says
//! what it tries.

mod all_regressions;
#[path = "../common/cases.rs"]
mod cases;
#[path = "../common/command.rs"]
mod command;
mod command_line;
mod conformance;
mod control;
mod control_verbs;
mod determinism;
mod downstream;
mod ensemble_scenarios;
#[path = "../common/examples.rs"]
mod examples;
mod exits;
mod explore;
mod findings;
mod fingerprints;
mod healing;
mod interference;
mod interrupts;
mod many_machines;
mod modules;
mod mutation_score;
mod plans;
mod quirks;
#[path = "../common/quoted.rs"]
mod quoted;
mod quotes;
#[path = "../common/refusals.rs"]
mod refusals;
mod searching;
mod serve;
mod served;
mod served_faults;
mod served_scenarios;
mod service;
mod shrinking;
mod stories;
mod strategies;
mod sweeps;
#[path = "../common/transcript.rs"]
mod transcript;
#[path = "../common/service.rs"]
mod troubles;
#[path = "../common/waits.rs"]
mod waits;
