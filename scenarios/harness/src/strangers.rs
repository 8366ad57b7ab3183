//! Third parties: a process of a run that keeps to no recipe. It lists what there is below the declared objects, and now and
//! then deletes some of it, writes into it, or adds a znode of its own.
//!
//! It says to the journal what it is about to do before it does it. What such an act does by itself is held against no
//! recipe; how a recipe takes it is. It acts while faults may strike, and not afterwards.

use crate::journal::Journal;
use crate::plan::{Act, Strangers};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::{Process, Sim, SimClient};
use std::time::Duration;
use zk_checker::history::{FaultKind, OpId, Victim, What, Who};
use zk_recipes::zk::{CreateMode, Error, Op, ZooKeeper};

/// Between two looks, at the least.
const PAUSE: Duration = Duration::from_millis(15);

/// How many parts a probability is drawn in.
const PARTS: u32 = 1000;

/// How deep the objects of recipes are, at the most.
const DEPTH: usize = 3;

/// What other programs leave in directories, and names that are those of a recipe but for a little.
const NAMES: [&str; 8] = [
    "config",
    "x-lock-abc",
    "lock-0000000003",
    "member-0000000001",
    "_c_lock-7",
    "queue-12",
    "n_0000000000",
    "state",
];

/// Whether it is what a stranger did.
pub fn is_foreign(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::ForeignDelete | FaultKind::ForeignWrite | FaultKind::ForeignCreate)
}

/// Where to meddle: an object of the run.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its path.
    pub path: String,
    /// Whether its znode is a directory: below a barrier nothing is made, since it could not be lowered any more.
    pub is_directory: bool,
}

/// One who meddles.
struct Stranger {
    sim: Sim,
    process: Process,
    zk: SimClient,
}

/// A stranger's part: until it has acted as often as it is to, or faults do not strike any more.
pub async fn meddle(sim: Sim, process: Process, timeout: Duration, plan: Strangers, objects: Vec<Place>) {
    let mut left = plan.acts;
    let mut stranger = Stranger { zk: process.open(timeout).await, sim, process };
    while left > 0 {
        let pause = PAUSE * (1 + stranger.process.choose(16));
        stranger.sim.sleep(&stranger.process, pause).await;
        if !stranger.sim.look(|world| world.is_hostile()) {
            return;
        }
        let Some(act) = plan.act(stranger.process.choose(PARTS), PARTS) else { continue };
        if stranger.zk.status().over().is_some() {
            stranger.zk = stranger.process.open(timeout).await;
        }
        let object = &objects[stranger.process.choose(objects.len() as u32) as usize];
        // A look that was lost is no look; an act that was lost may have been done.
        left -= u32::from(stranger.act(act, object).await == Ok(true));
    }
}

impl Stranger {
    /// Looks, and acts if there is something to act on: then it says so.
    async fn act(&self, act: Act, object: &Place) -> Result<bool, Error> {
        let found = found(&self.zk, object.path.clone(), DEPTH).await?;
        let is_object = |path: &&String| **path == object.path;
        let has_children = |path: &&String| found.iter().any(|(_, parent)| parent == *path);
        let all = || found.iter().map(|(path, _)| path);
        let candidates: Vec<&String> = match act {
            Act::Delete => all().filter(|path| !is_object(path)).collect(),
            Act::Write => all().collect(),
            Act::Child if !object.is_directory => Vec::new(),
            Act::Child | Act::Parent => all().filter(|path| is_object(path) || has_children(path)).collect(),
        };
        if candidates.is_empty() {
            return Ok(false);
        }
        let path = candidates[self.choose(candidates.len())].clone();
        match act {
            Act::Delete => {
                self.announce(FaultKind::ForeignDelete);
                let _ = self.zk.delete(&path, None).await;
            }
            Act::Write => {
                self.announce(FaultKind::ForeignWrite);
                let _ = self.zk.set(&path, b"foreign", None).await;
            }
            Act::Child => {
                let child = format!("{path}/{}", NAMES[self.choose(NAMES.len())]);
                let mode = [CreateMode::Persistent, CreateMode::Ephemeral][self.choose(2)];
                self.announce(FaultKind::ForeignCreate);
                let _ = self.zk.create(&child, b"foreign", mode).await;
            }
            Act::Parent => {
                let prefix = format!("{path}/");
                let below = all().filter(|other| **other == path || other.starts_with(&prefix));
                // What was found last lies deepest.
                let mut ops: Vec<Op> =
                    below.map(|path| Op::Delete { path: path.clone(), version: None }).collect();
                ops.reverse();
                ops.iter().for_each(|_| self.announce(FaultKind::ForeignDelete));
                let _ = self.zk.multi(ops).await;
            }
        }
        Ok(true)
    }

    fn choose(&self, n: usize) -> usize {
        self.process.choose(n as u32) as usize
    }

    fn announce(&self, kind: FaultKind) {
        let client = u16::from(self.process.id());
        let what = What::Fault { kind, victim: Victim::Process { client }, lasts: 0 };
        self.sim.observer::<Journal, _>(|journal, at| journal.note(at, Who::Client(client), OpId(0), what));
    }
}

/// What there is at a path and below, with the path above each, and that before what is below it.
fn found(zk: &SimClient, path: String, depth: usize) -> BoxFuture<'_, Result<Vec<(String, String)>, Error>> {
    async move {
        let mut names = match zk.children(&path).await {
            Ok(list) => list.names,
            Err(Error::NoNode) => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        names.sort();
        let above = path.rsplit_once('/').map_or_else(String::new, |(above, _)| above.to_owned());
        let mut all = vec![(path.clone(), above)];
        if depth > 0 {
            for name in names {
                all.extend(found(zk, format!("{path}/{name}"), depth - 1).await?);
            }
        }
        Ok(all)
    }
    .boxed()
}
