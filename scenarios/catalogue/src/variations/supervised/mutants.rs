//! Supervised clients with one wrong step: where the library's users have to keep the loop themselves, each was made somewhere.

use super::node;
use super::standing::Open;
use super::workload::{WORKLOAD, client};
use crate::former::TakesItsFormer;
use crate::prelude::*;
use crate::session::{Intercepted, Interceptor, LeavesItsZnode, Reply, Watch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zk_checker::history::Outcome;
use zk_recipes::zk::{CreateMode, Created, Data, Stat};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &GOES_ON,
    &ACTS_WHILE_SUSPECT,
    &STOPS_AT_THE_END,
    &GIVES_BACK_FIRST,
    &KEEPS_THE_LOST,
    &KEEPS_THE_ZNODE,
    &STAYS_IN_THE_FIRST,
    &STANDS_NO_MORE,
    &STANDS_TWICE,
    &CLOSES_FIRST,
    &TWO_AT_A_TIME,
    &KEEPS_ITS_TOKEN,
    &TAKES_ITS_FORMER,
    &LEAVES_WHAT_IS_DROPPED,
    &FOLLOWS_THE_FIRST,
    &FOLLOWS_BACK,
    &NODE_ADOPTS,
    &NODE_REPLACES,
    &NODE_WRITES_TO_ANOTHER,
    &NODE_IS_DEAF,
    &NODE_HAS_FIRST_DATA,
    &NODE_LOSES_DATA,
    &NODE_IS_PERMANENT,
    &NODE_LACKS_A_DIRECTORY,
    &NODE_IS_MADE_ONCE,
];

/// The wrong step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Nothing,
    GoesOn,
    ActsWhileSuspect,
    StopsAtTheEnd,
    GivesBackFirst,
    KeepsTheLost,
    KeepsTheZnode,
    StaysInTheFirst,
    StandsNoMore,
    StandsTwice,
    ClosesFirst,
    TwoAtATime,
    KeepsItsToken,
    LeavesWhatIsDropped,
}

/// Faults after which a session is over, or may be.
const ENDINGS: &[Fault] = &[Fault::SessionExpiry, Fault::ClientPartition, Fault::Disconnect];

/// A holder that acts too long: of the lock, or of the office.
const LATE: Caught = Caught::by(Mx14).or(&[(Le9, "the same of a leader")]);

/// A znode that is left: of the lock, or of the office.
const LEFT: Caught = Caught::by(Mx8).or(&[(Le5, "the same of a candidate")]);

/// Sessions end often, and there is time for it.
fn busy(_: u64) -> Plan {
    Plan { rounds: 8, hostile_ms: 60_000, faults: 12, ..Plan::calm().with(ENDINGS, 0.02) }
}

fn calm(_: u64) -> Plan {
    Plan { rounds: 8, ..Plan::calm() }
}

const fn plan(faults: &[Fault]) -> fn(u64) -> Plan {
    if faults.is_empty() { calm } else { busy }
}

/// A workload with a wrong step.
macro_rules! mutant {
    ($name:literal, $about:literal, $caught:expr, $faults:expr, $wrong:ident) => {
        WORKLOAD.mutant($name, $about, $caught, $faults, plan($faults), |task| {
            client(task, |zk| zk, Wrong::$wrong).boxed()
        })
    };
    ($name:literal, $about:literal, $caught:expr, $faults:expr, by $interceptor:expr) => {
        WORKLOAD.mutant($name, $about, $caught, $faults, plan($faults), |task| {
            let interceptor: Arc<dyn Interceptor<_>> = Arc::new($interceptor);
            client(task, move |zk| Intercepted::new(&zk, interceptor.clone()), Wrong::Nothing).boxed()
        })
    };
}

static GOES_ON: Workload =
    mutant!("supervised-goes-on", "work goes on when its hold is lost", LATE, ENDINGS, GoesOn);

static ACTS_WHILE_SUSPECT: Workload = mutant!(
    "supervised-acts-while-suspect",
    "work goes on while the connection is lost, although the policy says to stop",
    LATE,
    ENDINGS,
    ActsWhileSuspect
);

static STOPS_AT_THE_END: Workload = mutant!(
    "supervised-stops-at-the-end",
    "work is dropped when a server says that the session is over, and not before",
    LATE,
    ENDINGS,
    StopsAtTheEnd
);

static GIVES_BACK_FIRST: Workload = mutant!(
    "supervised-gives-back-first",
    "the znode is deleted before the work is stopped",
    LATE,
    ENDINGS,
    GivesBackFirst
);

static KEEPS_THE_LOST: Workload = mutant!(
    "supervised-keeps-the-lost",
    "a lost hold is not given back, so its znode stays if the session lives",
    Caught::by(Mx8).or(&[
        (Le5, "the same of a candidate"),
        (Mx12, "the guard was dropped, and its znode is there"),
        (Le8, "the same of a candidate"),
    ]),
    ENDINGS,
    KeepsTheLost
);

static KEEPS_THE_ZNODE: Workload = mutant!(
    "supervised-keeps-the-znode",
    "the znode of a hold stays when the work is done",
    LEFT,
    &[],
    KeepsTheZnode
);

static STAYS_IN_THE_FIRST: Workload = mutant!(
    "supervised-stays-in-the-first",
    "a call acquires in the first session for ever",
    Caught::by(An2),
    ENDINGS,
    StaysInTheFirst
);

static STANDS_NO_MORE: Workload = mutant!(
    "supervised-stands-no-more",
    "a call whose hold was lost acquires no more (CURATOR-518)",
    Caught::by(Sv2),
    ENDINGS,
    StandsNoMore
);

static STANDS_TWICE: Workload = mutant!(
    "supervised-stands-twice",
    "a call forgets an attempt that has begun, and makes another (CURATOR-644, CURATOR-645)",
    Caught::by(Mx9).or(&[(Mx7, "nobody waits for the notice of the forgotten one")]),
    ENDINGS,
    StandsTwice
);

static CLOSES_FIRST: Workload = mutant!(
    "supervised-closes-first",
    "a shutdown closes the session before the work has ended",
    Caught::by(Mx14).or(&[
        (Le9, "the same of a leader"),
        (Mx2, "the next one holds before the work has ended"),
        (Le1, "the next one leads before the work has ended"),
        (Mx13, "the call goes on to ask in a session that is closed"),
        (Gm4, "a member is out before it is told"),
        (Mx7, "a call waits in a session that is closed"),
    ]),
    ENDINGS,
    ClosesFirst
);

static TWO_AT_A_TIME: Workload = mutant!(
    "supervised-two-at-a-time",
    "work begins while the work before is still in progress, in a task that nobody has told to stop",
    Caught::by(Sv1),
    ENDINGS,
    TwoAtATime
);

static KEEPS_ITS_TOKEN: Workload = mutant!(
    "supervised-keeps-its-token",
    "the fencing token of the first hold is that of all later ones",
    Caught::by(Mx5).or(&[(Le2, "the same of a leader")]),
    ENDINGS,
    KeepsItsToken
);

static TAKES_ITS_FORMER: Workload = mutant!(
    "supervised-takes-its-former",
    "in the next session a call takes the znode of its former one for its own (CURATOR-604, CURATOR-696)",
    Caught::by(Mx4).or(&[
        (Le3, "the same of a leader"),
        (Mx10, "what it deletes when it is done is the znode of another session"),
        (An2, "its own znode stays behind, and it says that somebody has deleted it"),
    ]),
    ENDINGS,
    by TakesItsFormer::default()
);

static LEAVES_WHAT_IS_DROPPED: Workload = WORKLOAD.mutant(
    "supervised-leaves-what-is-dropped",
    "the znode of a call that was dropped stays (CURATOR-297)",
    Caught::by(Mx8).or(&[
        (Le5, "the same of a candidate"),
        (Mx12, "nobody wants the znode, and others wait behind it"),
        (Le8, "the same of a candidate"),
        (Pn4, "the same of a node"),
        (Gm5, "the same of a member"),
        (Pn3, "a node of this client that waits behind the one that is left never has its data"),
    ]),
    &[],
    calm,
    |task| {
        let sees = |zk| Intercepted::new(&zk, Arc::new(LeavesItsZnode));
        client(task, sees, Wrong::LeavesWhatIsDropped).boxed()
    },
);

static FOLLOWS_THE_FIRST: Workload = mutant!(
    "supervised-follows-the-first",
    "a follower is notified in its first session only",
    Caught::by(Cf3),
    ENDINGS,
    by DeafLater::default()
);

static FOLLOWS_BACK: Workload = WORKLOAD.mutant(
    "supervised-follows-back",
    "a follower begins its next session with the first value that it knew",
    Caught::by(Cf1).or(&[(Cf3, "it is the last value that the follower hears")]),
    ENDINGS,
    |seed| Plan { rounds: 16, ..busy(seed) },
    |task| {
        let interceptor: Arc<dyn Interceptor<_>> = Arc::new(BeginsWithTheFirst::default());
        client(task, move |zk| Intercepted::new(&zk, interceptor.clone()), Wrong::Nothing).boxed()
    },
);

static NODE_ADOPTS: Workload = mutant!(
    "supervised-node-adopts",
    "a node that is there already is taken for the own one",
    Caught::by(Pn2),
    ENDINGS,
    by Nodes::new(Step::Adopts)
);

static NODE_REPLACES: Workload = mutant!(
    "supervised-node-replaces",
    "a node that is there already is deleted, and created again",
    Caught::by(Pn2),
    ENDINGS,
    by Nodes::new(Step::Replaces)
);

static NODE_WRITES_TO_ANOTHER: Workload = mutant!(
    "supervised-node-writes-to-another",
    "a node that is there already is given the own data, whoever has created it",
    Caught::by(Pn2),
    ENDINGS,
    by Nodes::new(Step::WritesToAnother)
);

static NODE_IS_DEAF: Workload = mutant!(
    "supervised-node-is-deaf",
    "a node that somebody deletes is not created again",
    Caught::by(Pn1),
    &[],
    by Nodes::new(Step::IsDeaf)
);

static NODE_HAS_FIRST_DATA: Workload = mutant!(
    "supervised-node-has-first-data",
    "a node is created again with the data of its first creation",
    Caught::by(Pn3).or(&[(Pn4, "the data are those of a call that has ended")]),
    ENDINGS,
    by Nodes::new(Step::FirstData)
);

static NODE_LOSES_DATA: Workload = mutant!(
    "supervised-node-loses-data",
    "data are reported as written, and are not",
    Caught::by(Pn3),
    &[],
    by Nodes::new(Step::LosesData)
);

static NODE_IS_PERMANENT: Workload = mutant!(
    "supervised-node-is-permanent",
    "a node that goes with its session is created as a persistent one",
    Caught::by(Pn4).or(&[(Pn3, "its next session waits for it, and never writes")]),
    ENDINGS,
    by Nodes::new(Step::IsPermanent)
);

static NODE_LACKS_A_DIRECTORY: Workload = mutant!(
    "supervised-node-lacks-a-directory",
    "a node whose directory is gone is not created any more (CURATOR-724)",
    Caught::by(Pn1),
    &[],
    by Nodes::new(Step::LacksADirectory)
);

static NODE_IS_MADE_ONCE: Workload = mutant!(
    "supervised-node-is-made-once",
    "a node is created in the first session only",
    Caught::by(Pn1),
    ENDINGS,
    by Nodes::new(Step::IsMadeOnce)
);

/// Work that goes on when it should have ended.
#[derive(Clone, Default)]
pub(super) struct Lingering<'a>(Arc<Mutex<Option<BoxFuture<'a, ()>>>>);

impl<'a> Lingering<'a> {
    /// Works beside the work that was dropped before.
    pub(super) async fn works<C: Client>(self, client: &'a C, object: ObjectId, pace: Pace) {
        let before = self.slot().take();
        let work = async move {
            let open = Open::called(client, object, Verb::Work);
            client.sleep(pace.work * (1 + 60 * client.choose(4))).await;
            open.returns(Outcome::Done);
        };
        let mut own = Outlives { work: Some(work.boxed()), slot: self.clone() };
        let own = std::future::poll_fn(|context| match &mut own.work {
            Some(work) => {
                let polled = work.as_mut().poll(context);
                if polled.is_ready() {
                    own.work = None;
                }
                polled
            }
            None => std::task::Poll::Ready(()),
        });
        futures_util::future::join(own, async {
            if let Some(before) = before {
                before.await;
            }
        })
        .await;
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<BoxFuture<'a, ()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work that is kept when it is dropped.
struct Outlives<'a> {
    work: Option<BoxFuture<'a, ()>>,
    slot: Lingering<'a>,
}

impl Drop for Outlives<'_> {
    fn drop(&mut self) {
        *self.slot.slot() = self.work.take();
    }
}

/// In sessions behind the first, notifications are not heard.
#[derive(Default)]
struct DeafLater(Mutex<Option<zk_recipes::zk::SessionId>>);

impl<Z: ZooKeeper> Interceptor<Z> for DeafLater {
    fn waits(&self, zk: &Z, path: &str, watch: Watch) -> Watch {
        let first = *self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(zk.session());
        if path == super::workload::VALUE_PATH && first != zk.session() {
            return std::future::pending().boxed();
        }
        watch
    }
}

/// What is read again, in another session, is the first value of all.
#[derive(Default)]
struct BeginsWithTheFirst(Mutex<Option<(Data, i64)>>);

impl<Z: ZooKeeper> Interceptor<Z> for BeginsWithTheFirst {
    fn watched(&self, path: &str, data: Data) -> Data {
        if path != super::workload::VALUE_PATH {
            return data;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, last) = known.get_or_insert_with(|| (data.clone(), 0));
        if std::mem::replace(last, data.stat.mzxid) == data.stat.mzxid { first.clone() } else { data }
    }
}

/// A wrong step with the persistent node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Adopts,
    Replaces,
    WritesToAnother,
    IsDeaf,
    FirstData,
    LosesData,
    IsPermanent,
    LacksADirectory,
    IsMadeOnce,
}

struct Nodes {
    step: Step,
    first: Mutex<Option<Vec<u8>>>,
    is_made: AtomicBool,
}

impl Nodes {
    fn new(step: Step) -> Nodes {
        Nodes { step, first: Mutex::default(), is_made: AtomicBool::new(false) }
    }
}

impl<Z: ZooKeeper> Interceptor<Z> for Nodes {
    fn waits(&self, _: &Z, path: &str, watch: Watch) -> Watch {
        let is_deaf = self.step == Step::IsDeaf && path == node::PATH;
        if is_deaf { std::future::pending().boxed() } else { watch }
    }

    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        if path != node::PATH {
            return zk.create(path, data, mode).boxed();
        }
        let step = self.step;
        let was_made = self.is_made.swap(true, Ordering::Relaxed);
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| data.to_vec())
            .clone();
        let data = if step == Step::FirstData { first } else { data.to_vec() };
        let mode = if step == Step::IsPermanent { CreateMode::Persistent } else { mode };
        let (zk, path) = (zk.clone(), path.to_owned());
        async move {
            if step == Step::IsMadeOnce && was_made {
                return std::future::pending().await;
            }
            match zk.create(&path, &data, mode).await {
                Err(error) if error.is_node_exists() && step == Step::Adopts => {
                    let stat = zk.exists(&path).await?.ok_or(ErrorKind::NodeExists)?;
                    Ok(Created { path, stat })
                }
                Err(error) if error.is_node_exists() && step == Step::Replaces => {
                    zk.delete(&path, None).await?;
                    zk.create(&path, &data, mode).await
                }
                Err(error) if error.is_node_exists() && step == Step::WritesToAnother => {
                    zk.set(&path, &data, None).await?;
                    Err(error)
                }
                Err(error) if error.is_no_node() && step == Step::LacksADirectory => {
                    std::future::pending().await
                }
                created => created,
            }
        }
        .boxed()
    }

    fn set(&self, zk: &Z, path: &str, data: &[u8], version: Option<i32>) -> Reply<Stat> {
        if self.step != Step::LosesData || path != node::PATH {
            return zk.set(path, data, version).boxed();
        }
        let exists = zk.exists(path);
        async move { exists.await?.ok_or_else(|| ErrorKind::NoNode.into()) }.boxed()
    }
}
