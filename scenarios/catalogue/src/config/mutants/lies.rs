//! The right configuration, one operation of which [lies](crate::lies).

use crate::config::workload::{Configuration, Follows, WORKLOAD, client, new};
use crate::lies::{FEIGNED, How, Liar, Lie};
use crate::prelude::*;
use std::collections::BTreeMap;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::config::{Config, Snapshot, Update, Updates, Versioned};

/// All mutants.
pub(in crate::config) static ALL: &[&Workload] = &[
    &COMPARE_AND_SET_PRETENDS,
    &COMPARE_AND_SET_DENIES,
    &COMPARE_AND_SET_REFUSES,
    &OVERWRITE_PRETENDS,
    &OVERWRITE_DENIES,
    &OVERWRITE_REFUSES,
    &OVERWRITE_STOPS_HALFWAY,
    &OVERWRITE_REPEATS,
    &PUBLISH_PRETENDS,
    &PUBLISH_DENIES,
    &PUBLISH_REFUSES,
    &PUBLISH_STOPS_HALFWAY,
    &GET_PRETENDS,
    &GET_REFUSES,
    &SNAPSHOT_PRETENDS,
    &SNAPSHOT_REFUSES,
    &FOLLOW_PRETENDS,
    &FOLLOW_REFUSES,
    &FOLLOW_REPEATS,
];

#[derive(Clone)]
struct LyingConfig<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Config<Z>,
}

impl<C: Client, Z: ZooKeeper> Configuration for LyingConfig<C, Z> {
    type Updates = LyingUpdates<C, Z>;

    fn follow(&self) -> LyingUpdates<C, Z> {
        LyingUpdates { liar: self.liar.clone(), right: self.right.follow(), told: None }
    }

    async fn get(&self) -> Result<Option<Versioned>, Error> {
        self.liar.call(Verb::Get, || async { self.right.get().await }, || Some(None)).await
    }

    async fn compare_and_set(&self, expected: Option<&Versioned>, data: &[u8]) -> Result<Versioned, Error> {
        let work = || async { self.right.compare_and_set(expected, data).await };
        self.liar.call(Verb::CompareAndSet, work, || feigned(data)).await
    }

    async fn put(&self, data: &[u8]) -> Result<Versioned, Error> {
        self.liar.call(Verb::Overwrite, || async { self.right.put(data).await }, || feigned(data)).await
    }

    async fn publish(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> Result<Versioned, Error> {
        let work = || async { self.right.publish(values, expected).await };
        self.liar.call(Verb::Publish, work, || feigned(b"1")).await
    }

    async fn snapshot(&self) -> Result<Option<Snapshot>, Error> {
        self.liar.call(Verb::Snapshot, || async { self.right.snapshot().await }, || Some(None)).await
    }
}

/// What a write says that it has written.
fn feigned(data: &[u8]) -> Option<Versioned> {
    Some(Versioned { data: data.to_vec(), czxid: FEIGNED, mzxid: FEIGNED, version: 0 })
}

struct LyingUpdates<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Updates<Z>,
    told: Option<Update>,
}

impl<C: Client, Z: ZooKeeper> Follows for LyingUpdates<C, Z> {
    async fn next(&mut self) -> Result<Update, Error> {
        let work = async { self.right.next().await };
        self.liar.next(Verb::Follow, &mut self.told, work, || Some(Update::Missing)).await
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make = move |zk: &C::Zk, path: &_| LyingConfig { liar: liar.clone(), right: new(zk, path) };
    client(task, Box::new(make)).boxed()
}

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { rounds: 6, ..Plan::calm() }, sim)
}

/// A value is said not to be there without a look: its reader writes as if it were the first.
static GET_PRETENDS: Workload = mutant(
    "config-get-pretends",
    "get says that there is no value, without asking",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Get, how: How::Pretends }),
);

/// A value is not read, for a reason that never occurred.
static GET_REFUSES: Workload =
    mutant("config-get-refuses", "get fails for a reason that never occurred", Caught::by(An2), |task| {
        run(task, &Lie { verb: Verb::Get, how: How::Refuses(UNMET) })
    });

/// A value that is said to be written, and is not: followers never get it.
static COMPARE_AND_SET_PRETENDS: Workload = mutant(
    "config-compare-and-set-pretends",
    "a conditional write returns done and writes nothing",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::CompareAndSet, how: How::Pretends }),
);

/// A conditional write that was applied is said to have lost a race: its caller reads its own value, and writes on top of it.
static COMPARE_AND_SET_DENIES: Workload = mutant(
    "config-compare-and-set-denies",
    "a conditional write is applied, and fails",
    Caught::by(An3),
    |task| {
        const REASONS: &[Failure] = &[Failure::Other, Failure::Conflict];
        run(task, &Lie { verb: Verb::CompareAndSet, how: How::Denies(REASONS) })
    },
);

/// A conditional write is said to have lost a race that there was not.
static COMPARE_AND_SET_REFUSES: Workload = mutant(
    "config-compare-and-set-refuses",
    "a conditional write fails for a race that there was not, or another reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] =
            &[Failure::Conflict, Failure::NoNode, Failure::TimedOut, Failure::ConnectionLoss];
        run(task, &Lie { verb: Verb::CompareAndSet, how: How::Refuses(REASONS) })
    },
);

/// A value that is said to be written, and is not.
static OVERWRITE_PRETENDS: Workload = mutant(
    "config-overwrite-pretends",
    "an unconditional write returns done and writes nothing",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Overwrite, how: How::Pretends }),
);

/// A value that is said not to be written, and is: followers act on what its writer takes back.
static OVERWRITE_DENIES: Workload = mutant(
    "config-overwrite-denies",
    "an unconditional write is applied, and fails",
    Caught::by(An3),
    |task| run(task, &Lie { verb: Verb::Overwrite, how: How::Denies(&[Failure::Other]) }),
);

/// An unconditional write fails for a reason that never occurred.
static OVERWRITE_REFUSES: Workload = mutant(
    "config-overwrite-refuses",
    "an unconditional write fails for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] =
            &[Failure::Conflict, Failure::Denied, Failure::TimedOut, Failure::ConnectionLoss];
        run(task, &Lie { verb: Verb::Overwrite, how: How::Refuses(REASONS) })
    },
);

/// A write that every follower is told of twice.
static OVERWRITE_REPEATS: Workload = mutant(
    "config-overwrite-repeats",
    "an unconditional write is applied twice",
    Caught::by(An4).or(&[(Cf7, "another write came in between")]),
    |task| run(task, &Lie { verb: Verb::Overwrite, how: How::Repeats }),
);

/// A write that takes any answer to its first request for success: the znode was missing, and so is the value.
static OVERWRITE_STOPS_HALFWAY: Workload = mutant(
    "config-overwrite-stops-halfway",
    "an unconditional write returns done when its first request is answered, whatever the answer",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Overwrite, how: How::StopsHalfway }),
);

/// A set that is said to be published, and is not.
static PUBLISH_PRETENDS: Workload =
    mutant("config-publish-pretends", "publish returns done and writes nothing", Caught::by(An1), |task| {
        run(task, &Lie { verb: Verb::Publish, how: How::Pretends })
    });

/// A set that is said not to be published, and is.
static PUBLISH_DENIES: Workload =
    mutant("config-publish-denies", "publish writes the set, and fails", Caught::by(An3), |task| {
        const REASONS: &[Failure] = &[Failure::Other, Failure::Conflict];
        run(task, &Lie { verb: Verb::Publish, how: How::Denies(REASONS) })
    });

/// A set is not published for a race that there was not.
static PUBLISH_REFUSES: Workload = mutant(
    "config-publish-refuses",
    "publish fails for a race that there was not, or another reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] = &[Failure::Conflict, Failure::BadInput, Failure::TimedOut];
        run(task, &Lie { verb: Verb::Publish, how: How::Refuses(REASONS) })
    },
);

/// A set whose values are written, and whose pointer is not: readers go on with the former set.
static PUBLISH_STOPS_HALFWAY: Workload = mutant(
    "config-publish-stops-halfway",
    "publish returns done when its first request is answered, and does not move the pointer",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Publish, how: How::StopsHalfway }),
);

/// A set that stands is said to be missing.
static SNAPSHOT_PRETENDS: Workload = mutant(
    "config-snapshot-pretends",
    "snapshot says that there is no set, without asking",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Snapshot, how: How::Pretends }),
);

/// A set is not read, for a reason that never occurred.
static SNAPSHOT_REFUSES: Workload = mutant(
    "config-snapshot-refuses",
    "snapshot fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Snapshot, how: How::Refuses(UNMET) }),
);

/// A follower is told that there is no value while there is one.
static FOLLOW_PRETENDS: Workload = mutant(
    "config-follow-pretends",
    "a follower is told that there is no value, without asking",
    Caught::by(An1).or(&[(Cf1, "it had been told that before")]),
    |task| run(task, &Lie { verb: Verb::Follow, how: How::Pretends }),
);

/// A follower stops for a reason that never occurred.
static FOLLOW_REFUSES: Workload = mutant(
    "config-follow-refuses",
    "following ends for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Follow, how: How::Refuses(UNMET) }),
);

/// A follower acts on one value twice.
static FOLLOW_REPEATS: Workload =
    mutant("config-follow-repeats", "a follower is told the same again", TOLD_AGAIN, |task| {
        run(task, &Lie { verb: Verb::Follow, how: How::Repeats })
    });

const TOLD_AGAIN: Caught =
    Caught::by(Cf1).or(&[(An1, "nobody has said it again"), (Cf5, "it has not read it again")]);

/// Reasons for which a read may fail, none of which has occurred.
const UNMET: &[Failure] = &[Failure::Denied, Failure::NoNode, Failure::ConnectionLoss, Failure::TimedOut];
