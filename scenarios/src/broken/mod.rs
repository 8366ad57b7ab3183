//! Recipes that are broken on purpose, one file each: each names the rule that must catch it.

pub mod bend;
mod no_guid;
mod watch_all;

pub use no_guid::NoGuid;
pub use watch_all::WatchAll;
