//! Foreign clients: a process of a run that follows no recipe. It lists the znodes below the declared objects, and
//! sometimes deletes some, writes into one, or adds its own.
//!
//! The journal records each act before it happens. The direct effect of an act is no breach of a recipe; a wrong
//! reaction of the recipe is. Foreign clients act only while faults can be injected.

use crate::journal::Journal;
use crate::plan::{Act, Interference};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::{Process, Sim, SimClient};
use std::time::Duration;
use zk_checker::history::{FaultKind, OpId, Victim, What, Who};
use zk_recipes::zk::{CreateMode, Error, Op, ZooKeeper};

/// The shortest pause between two looks.
const PAUSE: Duration = Duration::from_millis(15);

/// The resolution of a drawn probability.
const PARTS: u32 = 1000;

/// The maximal depth below an object.
const DEPTH: usize = 3;

/// Names of created znodes: those of other programs, and near misses of the names of recipes.
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

/// Whether this kind is an act of a foreign client.
pub fn is_foreign(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::ForeignDelete | FaultKind::ForeignWrite | FaultKind::ForeignCreate)
}

/// A target of interference: an object of the run.
#[derive(Clone, Debug)]
pub struct InterferenceTarget {
    /// Its path.
    pub path: String,
    /// Whether its znode is a directory: nothing is created below a barrier, since that would keep it from being removed.
    pub is_directory: bool,
}

struct ForeignClient {
    sim: Sim,
    process: Process,
    zk: SimClient,
}

/// Runs a foreign client until it has made its acts, or faults can no longer be injected.
pub async fn interfere(
    sim: Sim,
    process: Process,
    timeout: Duration,
    plan: Interference,
    objects: Vec<InterferenceTarget>,
) {
    let mut left = plan.acts;
    let mut client = ForeignClient { zk: process.open(timeout).await, sim, process };
    while left > 0 {
        let pause = PAUSE * (1 + client.process.choose(16));
        client.sim.sleep(&client.process, pause).await;
        if !client.sim.look(|world| world.is_hostile()) {
            return;
        }
        let Some(act) = plan.act(client.process.choose(PARTS), PARTS) else { continue };
        if client.zk.status().over().is_some() {
            client.zk = client.process.open(timeout).await;
        }
        let object = &objects[client.process.choose(objects.len() as u32) as usize];
        // A lost read does not count; an act whose reply was lost may have been applied, and counts.
        left -= u32::from(client.act(act, object).await == Ok(true));
    }
}

impl ForeignClient {
    /// Lists the znodes and acts on one of them, if there is a candidate. Returns whether it acted.
    async fn act(&self, act: Act, object: &InterferenceTarget) -> Result<bool, Error> {
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
                // The deepest znodes come last.
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

/// The znodes at a path and below, each with its parent, in preorder.
fn found(zk: &SimClient, path: String, depth: usize) -> BoxFuture<'_, Result<Vec<(String, String)>, Error>> {
    async move {
        let mut names = match zk.children(&path).await {
            Ok(list) => list.names,
            Err(e) if e.is_no_node() => return Ok(Vec::new()),
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
