//! Workloads on real Apache ZooKeeper servers, and such servers on this machine for as long as a value lives.
//!
//! | module | what it holds |
//! |---|---|
//! | [`workload`] | a workload as it runs on real servers |
//! | [`server`] | starts one server, hurts it, stops it and removes its folder |
//! | [`ensemble`] | starts several, which agree |
//! | [`faults`] | what can go wrong, and the plan of what does |
//! | [`nemesis`] | carries such a plan out, and undoes it |
//! | [`proxy`] | links between clients and servers, and between servers, that can be cut, delayed and healed |
//! | [`server_links`] | those of an ensemble's members |
//! | [`client_links`] | those of clients |
//! | [`process`] | a thread and a runtime that stand for a client's process |
//! | [`run`] | one run: clients in this process, a leak check, the verdict |
//! | [`schedule`] | several runs, one after the other, on the same servers |
//! | [`client`] | one client of a run |
//! | [`figures`] | what a run did, counted |
//! | [`leak_check`] | whether anything grows: memory, tasks, watches, znodes |
//! | [`recorder`] | where a run in real time is written down |
//! | [`bell`] | the signal that the time of a run is over |
//! | `stalls` | stalls of this process and of servers, which no fault was injected for |
//! | `durable` | whether the servers themselves keep what they acknowledged |
//! | `folder` | a server's folder, which goes with it |
//! | `tree` | what there is below a znode |
//! | `install` | finds the installed ZooKeeper and Java |
//! | [`recorded`] | a session that records its requests and replies |
//! | `reaper` | sees to it that no server outlives this process, however that ends |

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
