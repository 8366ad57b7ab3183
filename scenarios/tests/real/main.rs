//! The tests on Apache ZooKeeper servers, which they start and end, and in a browser. Where one of
//! these is not installed they say so and pass, unless `ZK_REQUIRE_REAL=1` and the like ask for them. One binary, linked
//! once; each module says what it tries.

mod clients;
#[path = "../common/mod.rs"]
mod common;
mod conformance;
mod endings;
mod ensemble;
mod ephemerals;
mod examples;
mod failures;
mod faults;
mod idle;
mod lock;
mod long_holds;
mod options;
mod properties;
mod recorded;
mod refusals;
mod report_page;
mod service;
mod suite;
mod what_callers_see;
mod words;
mod workloads;
