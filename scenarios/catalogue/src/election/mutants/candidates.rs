//! Mutants with wrong steps in standing or waiting.

use super::{Own, WORKLOAD};
use crate::election::workload::{Electing, client, new};
use crate::former::TakesItsFormer;
use crate::prelude::*;
use crate::session::{Interceptor, Reply, Watch, over, over_all, watched_list};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Created, Listing, path};
use zk_recipes::{Election, Leadership, Term};

/// An election in which a client takes a candidate of its former session for its own. That znode is deleted when the
/// former session ends, and another client leads beside it (CURATOR-696, CURATOR-444).
pub(super) static FORMER_SESSION: Workload = WORKLOAD.mutant(
    "election-former-session",
    "an election that takes the candidate of a former session for its own",
    Caught::by(Le3)
        .or(&[
            (Mx10, "what it deletes when it is done is the znode of another session"),
            (An2, "its own candidate stays behind, and it says that somebody has deleted it"),
        ])
        .within(100)
        .harm(&[Le4])
        .seen("CURATOR-696, CURATOR-444"),
    RECONNECTING,
    |_| Plan { rounds: 12, hostile_ms: 100_000, faults: 30, ..Plan::calm().with(RECONNECTING, 0.1) },
    |task| {
        let former = Arc::new(TakesItsFormer::default());
        client(task, over_all(former, new)).boxed()
    },
);

const RECONNECTING: &[Fault] = &[Fault::Disconnect, Fault::ClientPartition, Fault::Cancel];

/// An election in which all candidates watch the leader instead of their predecessors: when the leader goes, all of
/// them wake. It is the simple solution of ZooKeeper's recipes page, which warns of the thundering herd.
pub(super) static WATCH_LEADER: Workload = WORKLOAD.mutant(
    "election-watch-leader",
    "an election whose candidates all watch the leader: its end wakes all of them",
    Caught::by(Le7).within(1).breaks(Promise::NoHerd).seen("the recipes page warns of it"),
    &[],
    |_| Plan { clients: 4, ..Plan::calm() },
    |task| client(task, over(|| Arc::new(WatchesTheFirst::default()), new)).boxed(),
);

/// The same on real servers.
pub(super) static WATCH_LEADER_REAL: RealWorkload = RealWorkload::new(
    &WATCH_LEADER,
    |task| client(task, over(|| Arc::new(WatchesTheFirst::default()), new)).boxed(),
    &[],
);

#[derive(Default)]
struct WatchesTheFirst(Mutex<Option<String>>);

impl<Z: ZooKeeper> Interceptor<Z> for WatchesTheFirst {
    fn list(&self, directory: &str, list: Listing) -> Listing {
        let number = |name: &&String| name.rsplit_once("-n_").map(|(_, number)| number.to_owned());
        let candidates = list.names.iter().filter(|name| number(name).is_some());
        let first = candidates.min_by_key(number).map(|name| path::join(directory, name));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = first;
        list
    }

    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        watched_list(zk, first.as_deref().unwrap_or(path))
    }
}

/// An election in which a candidate whose predecessor is gone creates a new candidate: it goes to the end of the queue,
/// repeatedly (CURATOR-504: 2.6 million znodes in two hours; CURATOR-644, CURATOR-645).
pub(super) static NEW_CANDIDATE: Workload = WORKLOAD.mutant(
    "election-new-candidate",
    "an election in which a candidate creates a new znode when its predecessor is deleted",
    Caught::by(Le6)
        .or(&[
            (
                Mx13,
                "giving up one place and asking for another costs more than waiting may, before the other is there",
            ),
            (An2, "it says that somebody has deleted the place that it gave up itself"),
        ])
        .within(100)
        .seen("CURATOR-504, CURATOR-644, CURATOR-645"),
    &[],
    |_| Plan { clients: 4, rounds: 6, ..Plan::calm() },
    |task| {
        let make = over(|| Arc::new(GivesUp::default()), |zk| StandsAgain(new(zk)));
        client(task, make).boxed()
    },
);

/// Reports to a candidate whose predecessor is gone that its own znode is deleted.
#[derive(Default)]
struct GivesUp(Own);

impl<Z: ZooKeeper> Interceptor<Z> for GivesUp {
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        self.0.create(zk, path, data, mode)
    }

    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        let (list, path, is_own) = (watched_list(zk, path), path.to_owned(), self.0.has(path));
        async move {
            match list.await {
                Err(e) if e.is_no_node() && !is_own => Err(ErrorKind::Removed(path).into()),
                other => other,
            }
        }
        .boxed()
    }
}

/// The election of a client that stands again when its candidate is removed.
#[derive(Clone)]
struct StandsAgain<Z: ZooKeeper>(Election<Z>);

impl<Z: ZooKeeper> Electing for StandsAgain<Z> {
    type Office = Term<Z>;
    type Follower = Leadership<Z>;

    async fn stand(&self, limit: Duration) -> Result<Self::Office, Error> {
        loop {
            match Electing::stand(&self.0, limit).await {
                Err(e) if e.is_removed() && limit.is_zero() => {}
                other => return other,
            }
        }
    }

    fn follow(&self) -> Self::Follower {
        self.0.follow()
    }
}
