//! Configurations with one wrong step: the right one behind a thin wrapper.

use super::workload::{WORKLOAD, client, new};
use crate::config::workload::{Configuration, Follows};
use crate::copies::{connected, lost, make_all};
use crate::lies::FEIGNED;
use crate::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use zk_harness::workload::TaskFn;
use zk_recipes::config::{ConfigSet, ConfigSetOptions, Snapshot};
use zk_recipes::zk::path;
use zk_recipes::{Parents, Update, Updates, Versioned};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &TAKES_WHAT_IS_TOO_LARGE,
    &WRITES_BEFORE_IT_VALIDATES,
    &CREATES_WHAT_MUST_EXIST,
    &STOPS_AT_PARENTS,
    &PUT_RESENDS,
    &PUBLISHES_TWICE,
    &PUBLISHES_IN_PLACE,
    &FOLLOWS_A_CACHE,
    &SNAPSHOT_FINDS_NO_SET,
];

/// The wrong step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    TakesWhatIsTooLarge,
    WritesBeforeItValidates,
    CreatesWhatMustExist,
    StopsAtParents,
    PutResends,
    PublishesTwice,
    PublishesInPlace,
    FollowsACache,
    SnapshotFindsNoSet,
}

/// The last value that a client has followed.
type Cache = Arc<Mutex<Option<Versioned>>>;

/// A configuration with a wrong step.
#[derive(Clone)]
struct WrongConfig<Z: ZooKeeper> {
    wrong: Wrong,
    zk: Z,
    path: String,
    must_exist: bool,
    right: ConfigSet<Z>,
    cache: Cache,
}

impl<Z: ZooKeeper> WrongConfig<Z> {
    fn new(zk: &Z, path: &str, options: ConfigSetOptions, wrong: Wrong, cache: Cache) -> Self {
        let must_exist = options.parents == Parents::MustExist;
        let parents = match (wrong, options.parents) {
            (Wrong::CreatesWhatMustExist, _) => Parents::Container,
            // The wrapper learns that parents are missing.
            (Wrong::StopsAtParents, _) => Parents::MustExist,
            (_, parents) => parents,
        };
        let right = new(zk, path, options.with_parents(parents));
        WrongConfig { wrong, zk: zk.clone(), path: path.to_owned(), must_exist, right, cache }
    }

    /// The result after a write of the right configuration.
    async fn written(&self, ended: Result<Versioned, Error>) -> Result<Versioned, Error> {
        match (self.wrong, ended) {
            (Wrong::TakesWhatIsTooLarge, Err(e)) if e.is_bad_input() => Ok(feigned()),
            (Wrong::StopsAtParents, Err(e)) if e.is_no_node() && !self.must_exist => {
                make_all(&self.zk, path::split(&self.path).0).await?;
                Ok(feigned())
            }
            (_, ended) => ended,
        }
    }

    /// An unconditional write that is resent until it has a reply.
    async fn sends_until_answered(&self, data: &[u8]) -> Result<Versioned, Error> {
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.set(&self.path, data, None).await {
                Ok(stat) => {
                    let (czxid, mzxid, version) = (stat.czxid, stat.mzxid, stat.version);
                    return Ok(Versioned { data: data.to_vec(), czxid, mzxid, version });
                }
                Err(e) if e.is_connection_loss() => lost(&self.zk, status).await?,
                // Nothing to overwrite: the znode is missing.
                Err(_) => return self.right.put(data).await,
            }
        }
    }

    /// Writes new values into the current set.
    async fn writes_in_place(&self, values: &BTreeMap<String, Vec<u8>>, pointer: &Versioned) {
        let text = String::from_utf8_lossy(&pointer.data);
        let Some(set) = text.lines().next() else { return };
        for (key, value) in values {
            // Keys that the set does not have are not added.
            drop(self.zk.set(&format!("{}/{set}/{key}", self.path), value, None).await);
        }
    }
}

/// The fictitious result of a write.
fn feigned() -> Versioned {
    Versioned { data: Vec::new(), czxid: FEIGNED, mzxid: FEIGNED, version: 0 }
}

impl<Z: ZooKeeper> Configuration for WrongConfig<Z> {
    type Updates = WrongUpdates<Z>;

    fn follow(&self) -> WrongUpdates<Z> {
        let cached = self.cache.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let first = cached.filter(|_| self.wrong == Wrong::FollowsACache);
        WrongUpdates { right: self.right.follow(), first, cache: Arc::clone(&self.cache) }
    }

    async fn get(&self) -> Result<Option<Versioned>, Error> {
        self.right.get().await
    }

    async fn compare_and_set(&self, expected: Option<&Versioned>, data: &[u8]) -> Result<Versioned, Error> {
        self.written(self.right.compare_and_set(expected, data).await).await
    }

    async fn put(&self, data: &[u8]) -> Result<Versioned, Error> {
        match self.wrong {
            Wrong::PutResends => self.sends_until_answered(data).await,
            _ => self.written(self.right.put(data).await).await,
        }
    }

    async fn publish(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> Result<Versioned, Error> {
        let published = match (self.wrong, expected) {
            (Wrong::PublishesTwice, _) => {
                let first = self.right.publish(values, expected).await?;
                self.right.publish(values, Some(&first)).await
            }
            (Wrong::PublishesInPlace, Some(pointer)) => {
                self.writes_in_place(values, pointer).await;
                self.right.publish(values, expected).await
            }
            (Wrong::WritesBeforeItValidates, _) => {
                let ended = self.right.publish(values, expected).await;
                if ended.as_ref().is_err_and(Error::is_bad_input) {
                    // Fails if another set is already there.
                    drop(self.right.publish(&BTreeMap::new(), expected).await);
                }
                ended
            }
            _ => self.right.publish(values, expected).await,
        };
        self.written(published).await
    }

    async fn snapshot(&self) -> Result<Option<Snapshot>, Error> {
        match self.right.snapshot().await {
            Ok(Some(_)) if self.wrong == Wrong::SnapshotFindsNoSet => {
                Err(ErrorKind::Mismatch("the set has gone".to_owned()).into())
            }
            taken => taken,
        }
    }
}

/// A follower of it.
struct WrongUpdates<Z: ZooKeeper> {
    right: Updates<Z>,
    /// The update that it returns before any request.
    first: Option<Versioned>,
    cache: Cache,
}

impl<Z: ZooKeeper> Follows for WrongUpdates<Z> {
    async fn next(&mut self) -> Result<Update, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Update::Value(first));
        }
        let update = self.right.next().await?;
        if let Update::Value(value) = &update {
            *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = Some(value.clone());
        }
        Ok(update)
    }
}

fn run<C: Client>(task: Task<C>, wrong: Wrong) -> BoxFuture<'static, ()> {
    let cache = Cache::default();
    let make =
        move |zk: &C::Zk, path: &_, options| WrongConfig::new(zk, path, options, wrong, Arc::clone(&cache));
    client(task, Box::new(make)).boxed()
}

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| crowded(), sim)
}

/// Enough clients that they interfere, and enough rounds that each client does everything.
fn crowded() -> Plan {
    Plan { clients: 5, rounds: 8, ..Plan::calm() }
}

/// A writer continues with a value that no follower receives.
static TAKES_WHAT_IS_TOO_LARGE: Workload = mutant(
    "varied-options-takes-what-is-too-large",
    "data that fit into no request, or a key that makes no sense, are taken for written",
    Caught::by(An1),
    |task| run(task, Wrong::TakesWhatIsTooLarge),
);

/// A set without the values is published, but reported as not written.
static WRITES_BEFORE_IT_VALIDATES: Workload = mutant(
    "varied-options-writes-before-it-validates",
    "a set with a key that makes no sense is published without that key, and then refused",
    Caught::by(An2).harm(&[An3]),
    |task| run(task, Wrong::WritesBeforeItValidates),
);

/// A typing error in the path makes a second configuration, which no client follows.
static CREATES_WHAT_MUST_EXIST: Workload = mutant(
    "varied-options-creates-what-must-exist",
    "a write creates the parents that must exist",
    Caught::by(An1),
    |task| run(task, Wrong::CreatesWhatMustExist),
);

/// The first value of a configuration is lost.
static STOPS_AT_PARENTS: Workload = mutant(
    "varied-options-stops-at-parents",
    "a write that had to create the parents returns done, and does not write",
    Caught::by(An1),
    |task| run(task, Wrong::StopsAtParents),
);

/// A write whose reply was lost undoes another client's later write.
static PUT_RESENDS: Workload = WORKLOAD.mutant(
    "varied-options-put-resends",
    "an unconditional write whose reply was lost is sent again, whatever stands there now",
    Caught::by(Cf7),
    &[Fault::ReplyLost],
    |_| Plan { faults: 12, ..crowded().with(&[Fault::ReplyLost], 0.1) },
    |task| run(task, Wrong::PutResends),
);

/// A publication overwrites one that it has not read: its own.
static PUBLISHES_TWICE: Workload =
    mutant("varied-options-publishes-twice", "a set is published twice", Caught::by(Cf7), |task| {
        run(task, Wrong::PublishesTwice)
    });

/// A reader gets some values of the new set and some of the former.
static PUBLISHES_IN_PLACE: Workload = mutant(
    "varied-options-publishes-in-place",
    "a publication writes its values one by one into the set that stands, before it moves the pointer",
    Caught::by(Cf6).or(&[(An4, "it writes value by value")]),
    |task| run(task, Wrong::PublishesInPlace),
);

/// A client acts on a value that was replaced before it began to follow.
static FOLLOWS_A_CACHE: Workload = mutant(
    "varied-options-follows-a-cache",
    "a follower returns the last value of the one before, without asking",
    Caught::by(Cf5),
    |task| run(task, Wrong::FollowsACache),
);

/// A reader of an existing set gets the error that another client has destroyed it.
static SNAPSHOT_FINDS_NO_SET: Workload = mutant(
    "varied-options-snapshot-finds-no-set",
    "a snapshot fails as if the set that the pointer names were not there",
    Caught::by(An2),
    |task| run(task, Wrong::SnapshotFindsNoSet),
);
