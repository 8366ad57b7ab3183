//! Workloads on real Apache ZooKeeper servers, and such servers on this machine for as long as a value lives.
//!
//! | module | what it holds |
//! |---|---|
//! | [`server`] | starts one standalone server, hurts it, stops it and removes its folder |
//! | [`run`] | one run: clients in this process, a last look at what is left, the verdict |
//! | [`client`] | one client of a run |
//! | [`figures`] | what a run did, counted |
//! | [`tape`] | where a run in real time is written down |
//! | `install` | finds the installed ZooKeeper and Java |
//! | `reaper` | sees to it that no server outlives this process, however that ends |

pub mod client;
pub mod figures;
mod install;
mod reaper;
pub mod run;
pub mod server;
pub mod tape;

pub use self::server::{Server, ServerOptions, StartError};
