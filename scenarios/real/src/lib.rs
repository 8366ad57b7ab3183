//! Workloads on real Apache ZooKeeper servers, and servers on this machine that live as long as a value.
//!
//! | module | content |
//! |---|---|
//! | [`workload`] | a workload as it runs on real servers |
//! | [`server`] | starts one server, injects faults into it, stops it and removes its folder |
//! | [`ensemble`] | starts several servers that form an ensemble |
//! | [`faults`] | the kinds of fault, and their schedule |
//! | [`nemesis`] | injects the faults of a schedule, and heals them |
//! | [`proxy`] | links between clients and servers, and between servers, that can be cut, delayed and healed |
//! | [`server_links`] | the links between an ensemble's members |
//! | [`client_links`] | the links of clients |
//! | [`process`] | a thread and a runtime that stand for a client's process |
//! | [`run`] | one run: clients in this process, a leak check, the verdict |
//! | [`schedule`] | several runs, one after the other, on the same servers |
//! | [`client`] | one client of a run |
//! | [`figures`] | the counted figures of a run |
//! | [`leak_check`] | leak check: memory, tasks, watches, znodes |
//! | [`recorder`] | records a run in real time |
//! | [`bell`] | the signal that the time of a run is over |
//! | [`recorded`] | a session that records its requests and replies |

pub mod bell;
pub mod client;
pub mod client_links;
mod durable;
pub mod ensemble;
pub mod faults;
pub mod figures;
mod folder;
mod install;
pub mod leak_check;
pub mod nemesis;
pub mod process;
pub mod proxy;
mod reaper;
pub mod recorded;
pub mod recorder;
pub mod run;
pub mod schedule;
pub mod server;
pub mod server_links;
mod stalls;
mod time;
mod tree;
pub mod workload;

pub use self::ensemble::{Ensemble, EnsembleOptions};
pub use self::server::{Backup, Host, Server, ServerOptions, Settings, StartError};
pub use self::workload::RealWorkload;
