//! Workloads on real Apache ZooKeeper servers, and such servers on this machine for as long as a value lives.
//!
//! | module | what it holds |
//! |---|---|
//! | [`server`] | starts one server, hurts it, stops it and removes its folder |
//! | [`ensemble`] | starts several, which agree |
//! | [`kills`] | kills the servers of a run in turn, and starts them again |
//! | [`run`] | one run: clients in this process, a last look at what is left, the verdict |
//! | [`client`] | one client of a run |
//! | [`figures`] | what a run did, counted |
//! | [`tape`] | where a run in real time is written down |
//! | `folder` | a server's folder, which goes with it |
//! | `tree` | what there is below a znode |
//! | `install` | finds the installed ZooKeeper and Java |
//! | `reaper` | sees to it that no server outlives this process, however that ends |

pub mod client;
pub mod ensemble;
pub mod figures;
mod folder;
mod install;
pub mod kills;
mod reaper;
pub mod run;
pub mod server;
pub mod tape;
mod tree;

pub use self::ensemble::{Ensemble, EnsembleOptions};
pub use self::server::{Server, ServerOptions, StartError};
