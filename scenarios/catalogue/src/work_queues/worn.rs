//! A queue whose sequence counter has run out.
//!
//! At 2147483647 a server creates the znode of that number, and its counter stays there: each further sequential create in the
//! directory is answered with `NodeExists` while that znode exists, and gets the same number again once it is deleted. To count
//! that far takes a server months, so the session asks for the last number by name.

use crate::prelude::*;
use crate::session::{Interceptor, Reply};
use zk_recipes::zk::{CreateMode, Op, OpResult};

/// A session as it is.
pub(super) struct Plain;

impl<Z: ZooKeeper> Interceptor<Z> for Plain {}

/// A session under which the counters of directories of items have run out.
pub(super) struct Worn;

impl<Z: ZooKeeper> Interceptor<Z> for Worn {
    fn multi(&self, zk: &Z, ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        let last = |op| match op {
            Op::Create { path, data, mode: CreateMode::PersistentSequential } => {
                Op::Create { path: format!("{path}{:010}", i32::MAX), data, mode: CreateMode::Persistent }
            }
            op => op,
        };
        zk.multi(ops.into_iter().map(last).collect()).boxed()
    }
}
