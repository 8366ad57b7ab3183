//! Real Apache ZooKeeper servers on this machine, for as long as a value lives.
//!
//! | module | what it holds |
//! |---|---|
//! | [`server`] | starts one standalone server, hurts it, stops it and removes its folder |
//! | `install` | finds the installed ZooKeeper and Java |
//! | `reaper` | sees to it that no server outlives this process, however that ends |

mod install;
mod reaper;
pub mod server;

pub use self::server::{Server, ServerOptions, StartError};
