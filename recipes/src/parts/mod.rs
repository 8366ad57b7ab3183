//! The parts that recipes are made of.

pub(crate) mod barrier_read;
pub(crate) mod claim;
pub(crate) mod contenders;
pub(crate) mod guard;
pub(crate) mod naming;
pub(crate) mod owned_node;
pub(crate) mod parents;
pub(crate) mod receipt;
pub(crate) mod retry;
pub(crate) mod revoke;
pub(crate) mod tenure;
pub(crate) mod watch_loop;
