//! A queue whose sequence counter is exhausted.
//!
//! At 2147483647 a server creates the znode of that number, and its counter stays there: each further sequential create
//! in the directory fails with `NodeExists` while that znode exists. A server takes months to count that far, so the
//! session creates the last number by name. It does so once: a recipe that reads how many numbers are left asks for
//! none after the last, so no two items have the same name.

use crate::prelude::*;
use crate::session::{Interceptor, Reply};
use zk_recipes::zk::{CreateMode, Op, OpResult};

/// Marks the last number as given. A second create of it is refused, as that of the item is while the item exists.
const GIVEN: &str = "/last-number-given";

/// An unchanged session.
pub(super) struct Plain;

impl<Z: ZooKeeper> Interceptor<Z> for Plain {}

/// A session in which the counters of directories of items are exhausted.
pub(super) struct Worn;

impl<Z: ZooKeeper> Interceptor<Z> for Worn {
    fn multi(&self, zk: &Z, mut ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        let is_numbered = |op: &Op| matches!(op, Op::Create { mode: CreateMode::PersistentSequential, .. });
        let Some(first) = ops.iter().position(is_numbered) else { return zk.multi(ops).boxed() };
        for op in &mut ops {
            if let Op::Create { path, mode: mode @ CreateMode::PersistentSequential, .. } = op {
                path.push_str(&format!("{:010}", i32::MAX));
                *mode = CreateMode::Persistent;
            }
        }
        // A recipe learns the number of the last created znode, and takes a refusal here for one of the first item.
        let given = Op::Create { path: GIVEN.to_owned(), data: Vec::new(), mode: CreateMode::Persistent };
        ops.insert(first, given);
        zk.multi(ops).boxed()
    }
}
