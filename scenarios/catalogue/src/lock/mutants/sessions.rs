//! The right lock over an intercepted session.

use super::WORKLOAD;
use crate::former::TakesItsFormer;
use crate::lock::workload::{client, new};
use crate::prelude::*;
use crate::session::{Interceptor, LeavesItsZnode, Reply, Watch, over, over_all};
use std::sync::{Arc, Mutex, PoisonError};
use zk_recipes::zk::{CreateMode, Created, Listing, path};

/// A lock whose waiters leave their znodes behind when they give up, at a time limit or because the future is dropped
/// (kazoo a96b1e4; zk-ruby#49; aiozk#34).
pub(super) static LEAVES_ITS_ZNODE: Workload = WORKLOAD.mutant(
    "lock-leaves-its-znode",
    "a waiter that gives up leaves its znode behind",
    Caught::by(Mx12)
        .or(&[(
            Mx8,
            "where a guard is dropped after its last use, only the line behind it shows that its znode stays",
        )])
        .harm(&[Mx8])
        .seen("kazoo a96b1e4, zk-ruby#49, aiozk#34"),
    &[Fault::Cancel],
    |_| Plan::calm().with(&[Fault::Cancel], 0.1),
    |task| client(task, over(|| Arc::new(LeavesItsZnode), new)).boxed(),
);

/// A lock whose znodes are persistent: a dead client's znode stays for ever.
///
/// No session owns the znode; the harm shows when a client dies.
pub(super) static PERSISTENT: Workload = WORKLOAD.mutant(
    "lock-persistent",
    "the znodes of contenders are persistent",
    Caught::by(Mx4).or(&[(Mx8, "a waiter died before the first grant")]).within(1).harm(&[Mx8]),
    &[Fault::ClientCrash],
    |_| Plan::calm().with(&[Fault::ClientCrash], 0.05),
    |task| client(task, over(|| Arc::new(Persistent), new)).boxed(),
);

struct Persistent;

impl<Z: ZooKeeper> Interceptor<Z> for Persistent {
    fn mode(&self, mode: CreateMode) -> CreateMode {
        match mode {
            CreateMode::EphemeralSequential => CreateMode::PersistentSequential,
            mode => mode,
        }
    }
}

/// A lock whose waiters watch by `exists`: if the predecessor is already gone, a watch on its creation is left behind,
/// which never fires (CURATOR-107; kazoo 9b0a793).
pub(super) static EXISTS_WATCH: Workload = WORKLOAD.mutant(
    "lock-exists-watch",
    "a waiter watches by exists, which leaves a watch on a missing znode",
    Caught::by(Mx11).seen("CURATOR-107, kazoo 9b0a793"),
    &[],
    |_| Plan { clients: 4, ..Plan::calm() },
    |task| client(task, over(|| Arc::new(WatchesByExists), new)).boxed(),
);

struct WatchesByExists;

impl<Z: ZooKeeper> Interceptor<Z> for WatchesByExists {
    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        let exists = zk.exists_watch(path);
        async move {
            let (stat, watch) = exists.await?;
            match stat {
                Some(stat) => Ok((Listing { names: Vec::new(), stat }, watch.boxed())),
                None => {
                    // Dropping the watch would remove it from the server.
                    std::mem::forget(watch);
                    Err(ErrorKind::NoNode.into())
                }
            }
        }
        .boxed()
    }
}

/// A lock that tries again when its session has ended, and takes the znode of an earlier attempt for its own, whichever
/// session owns it: the former session's znode is granted, and is deleted with that session (CURATOR-604, CURATOR-498).
pub(super) static FORMER_SESSION: Workload = WORKLOAD.mutant(
    "lock-former-session",
    "a lock that takes the znode of its former session for its own",
    Caught::by(Mx4)
        .or(&[
            (An2, "its own znode stays behind, and it says that somebody has deleted it"),
            (Mx13, "who looks for what it has left asks once more than a lock that is free may cost"),
            (Mx10, "what it deletes when it is done is the znode of another session"),
        ])
        .within(100)
        .harm(&[Mx10])
        .seen("CURATOR-604, CURATOR-498"),
    RECONNECTING,
    |_| Plan { rounds: 12, hostile_ms: 100_000, faults: 30, ..Plan::calm().with(RECONNECTING, 0.1) },
    |task| {
        let former = Arc::new(TakesItsFormer::default());
        client(task, over_all(former, new)).boxed()
    },
);

const RECONNECTING: &[Fault] = &[Fault::Disconnect, Fault::ClientPartition, Fault::Cancel];

/// A lock whose waiter assumes that its own znode is in the list: when another client has deleted it and no lower one
/// is left, the waiter holds the lock. Found by reading go-zookeeper/zk.
pub(super) static MISSING_IS_FIRST: Workload = WORKLOAD.mutant(
    "lock-missing-is-first",
    "a waiter whose znode is gone, with no lower one left, holds the lock",
    Caught::by(Mx4).harm(&[Mx2]).within(100).seen("go-zookeeper/zk"),
    &[],
    |_| Plan { rounds: 4, ..Plan::calm() }.with_interference(&[Act::Delete], 0.25, 6),
    |task| client(task, over(|| Arc::new(MissingIsFirst::default()), new)).boxed(),
);

/// Adds the client's own znode to every list that lacks it.
#[derive(Default)]
struct MissingIsFirst {
    own: Arc<Mutex<Option<String>>>,
}

impl<Z: ZooKeeper> Interceptor<Z> for MissingIsFirst {
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        let (made, own) = (zk.create(path, data, mode), self.own.clone());
        async move {
            let made = made.await?;
            if mode == CreateMode::EphemeralSequential {
                *own.lock().unwrap_or_else(PoisonError::into_inner) = Some(made.path.clone());
            }
            Ok(made)
        }
        .boxed()
    }

    fn list(&self, directory: &str, mut list: Listing) -> Listing {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((above, name)) = own.as_deref().map(path::split)
            && above == directory
            && !list.names.iter().any(|other| other == name)
        {
            list.names.push(name.to_owned());
        }
        list
    }
}
