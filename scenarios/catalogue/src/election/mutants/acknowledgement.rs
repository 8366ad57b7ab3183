//! Mutants that write, or wait for, a wrong acknowledgement.

use super::{Own, WORKLOAD};
use crate::election::workload::{client, new};
use crate::prelude::*;
use crate::session::{Interceptor, Reply, Watch, over, watched_list};
use std::sync::Arc;
use zk_recipes::zk::{CreateMode, Created, Duty, Listing, Op, OpResult, path};

/// An election whose leader takes an existing acknowledgement for its own: candidates ignore a former leader's record,
/// and the leader leads without one.
pub(super) static ACK_EXISTS: Workload = WORKLOAD.mutant(
    "election-ack-exists",
    "an election whose leader takes another's acknowledgement for its own",
    Caught::by(Le4),
    &[],
    |_| Plan { clients: 4, rounds: 20, ..Plan::calm() },
    |task| client(task, over(|| Arc::new(Swallows), new)).boxed(),
);

struct Swallows;

impl<Z: ZooKeeper> Interceptor<Z> for Swallows {
    fn multi(&self, zk: &Z, ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        let results = vec![OpResult::Checked; ops.len()];
        let multi = zk.multi(ops);
        async move {
            match multi.await {
                Err(e) if e.refused_operation().is_some_and(|(_, cause)| cause.is_node_exists()) => {
                    Ok(results)
                }
                other => other,
            }
        }
        .boxed()
    }
}

/// An election whose acknowledgement is a persistent znode, which the note of ZooKeeper's recipes page does not
/// exclude: a former leader stays on record, and the next leader finds the name taken.
pub(super) static PERSISTENT_ACK: Workload = WORKLOAD.mutant(
    "election-persistent-ack",
    "an election with a persistent acknowledgement, which outlives its leader",
    Caught::by(Le4).seen("the recipes page"),
    &[],
    |_| Plan::calm(),
    |task| client(task, over(|| Arc::new(Stays), new)).boxed(),
);

struct Stays;

impl<Z: ZooKeeper> Interceptor<Z> for Stays {
    fn multi(&self, zk: &Z, mut ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        for op in &mut ops {
            if let Op::Create { mode, .. } = op {
                *mode = CreateMode::Persistent;
            }
        }
        zk.multi(ops).boxed()
    }
}

/// An election whose leaders write the acknowledgement without a check that their candidate exists: a leader that was
/// deposed without noticing records itself as leader, beside or instead of its successor.
pub(super) static UNCHECKED_ACK: Workload = WORKLOAD.mutant(
    "election-unchecked-ack",
    "an election whose acknowledgement is written without a check of the leader's candidate",
    Caught::by(Le4).within(100),
    DEPOSING,
    |_| Plan { rounds: 6, ..Plan::calm().with(DEPOSING, 0.05) },
    |task| client(task, over(|| Arc::new(DoesNotCheck), new)).boxed(),
);

const DEPOSING: &[Fault] = &[Fault::ClientPause, Fault::SessionExpiry];

struct DoesNotCheck;

impl<Z: ZooKeeper> Interceptor<Z> for DoesNotCheck {
    fn multi(&self, zk: &Z, mut ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        let acknowledges = ops.iter().any(|op| matches!(op, Op::Create { .. }));
        if acknowledges && let Some(Op::Check { path, .. }) = ops.first_mut() {
            // The directory always exists.
            *path = path::split(path).0.to_owned();
        }
        zk.multi(ops).boxed()
    }
}

/// An election whose candidates wait for the leader's acknowledgement before they watch the predecessor: when a leader
/// goes before it has acknowledged, they all wait for ever (zk-ruby).
pub(super) static WAITS_FOR_ACK: Workload = WORKLOAD.mutant(
    "election-waits-for-ack",
    "an election whose candidates wait for the acknowledgement before they watch ahead",
    Caught::by(Mx7)
        .or(&[
            (Le7, "all who wait for the acknowledgement are woken by it at once"),
            (Mx13, "each looks for the acknowledgement too, which is a request more"),
        ])
        .within(1)
        .harm(&[Le5])
        .seen("zk-ruby"),
    &[],
    |_| Plan::calm(),
    |task| client(task, over(|| Arc::new(WaitsForTheRecord::default()), new)).boxed(),
);

#[derive(Default)]
struct WaitsForTheRecord(Own);

impl<Z: ZooKeeper> Interceptor<Z> for WaitsForTheRecord {
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        self.0.create(zk, path, data, mode)
    }

    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        let (zk, path, is_own) = (zk.clone(), path.to_owned(), self.0.has(path));
        async move {
            if !is_own {
                let record = path::join(path::split(&path).0, "leader");
                if let (None, coming) = zk.exists_watch(&record).await? {
                    coming.await?;
                }
            }
            watched_list(&zk, &path).await
        }
        .boxed()
    }
}

/// An election whose new candidates delete the record, which they take for a former leader's: it is the present
/// leader's, and followers see no leader.
pub(super) static CLEARS_RECORD: Workload = WORKLOAD.mutant(
    "election-clears-record",
    "an election whose candidates delete the record as they begin to stand, whoever wrote it",
    Caught::by(Le4),
    &[],
    |_| Plan::calm(),
    |task| client(task, over(|| Arc::new(ClearsAway), new)).boxed(),
);

struct ClearsAway;

impl<Z: ZooKeeper> Interceptor<Z> for ClearsAway {
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        if mode == CreateMode::EphemeralSequential {
            // The reply is not awaited.
            drop(zk.arm(Duty::Path(path::join(path::split(path).0, "leader"))));
        }
        zk.create(path, data, mode).boxed()
    }
}
