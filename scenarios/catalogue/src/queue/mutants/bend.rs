//! A plain copy of the queue, without receipts, in which one step can be exchanged for a wrong one.
//!
//! The steps are those of ZooKeeper's recipes page, with items that stay; [`Bend`] is what may differ. On a calm network a
//! copy without a bend is right, so that a run shows what the wrong step alone does. Its idle consumers all watch the
//! queue: it is declared as such.

use crate::queue::workload::{Gets, Puts, Recipe, Way, declared};
use std::marker::PhantomData;
use zk_checker::history::{Names, Object};
use zk_harness::target::Setting;
use zk_recipes::zk::{CreateMode, Error, Status, ZooKeeper, path};
use zk_recipes::{Claimed, Delivery, Idle, Item, Order};

/// The steps that may be wrong.
pub trait Bend: Send + Sync + 'static {
    /// What items are.
    const MODE: CreateMode = CreateMode::PersistentSequential;
    /// Whether a put whose answer was lost is sent again.
    const PUTS_AGAIN: bool = false;
    /// Whether a delete whose answer was lost is sent again, and "no such znode" means that another was faster.
    const DELETES_AGAIN: bool = false;
    /// Whether an item is handed out although another was faster.
    const IGNORES_NO_NODE: bool = false;
    /// What becomes of an item whose delete was not answered.
    const UNANSWERED: Unanswered = Unanswered::Told;
    /// Whether it watches again after another was faster.
    const WATCHES_AGAIN: bool = true;
    /// Whether it makes the queue that it finds missing, and does not just wait.
    const MAKES_PARENT: bool = true;
    /// Whether the items are sorted the wrong way round.
    const NEWEST_FIRST: bool = false;
    /// Whether a list serves until it is used up, in a queue of priorities too.
    const KEEPS_LIST: bool = false;

    /// What the name of an item begins with.
    fn prefix(_: u16) -> String {
        "queue-".to_owned()
    }
}

/// What becomes of an item whose delete was not answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// The caller is told that nobody knows.
    Told,
    /// It is handed out.
    HandedOut,
    /// It is passed over, and the next one taken.
    PassedOver,
}

/// One queue whose idle consumers all watch.
pub static ONE: [Way; 1] =
    [Way { path: "/queues/bent", delivery: Delivery::AtMostOnce, idle: Idle::Textbook, order: None }];

/// One priority queue whose idle consumers all watch.
pub static URGENT: [Way; 1] = [Way {
    path: "/jobs/bent",
    delivery: Delivery::AtMostOnce,
    idle: Idle::Textbook,
    order: Some(Order::Fresh),
}];

/// The queue, as it is declared to the checker.
pub fn one(names: &mut Names, _: &Setting) -> Vec<Object> {
    declared(&ONE, names)
}

/// The priority queue, as it is declared to the checker.
pub fn urgent(names: &mut Names, _: &Setting) -> Vec<Object> {
    declared(&URGENT, names)
}

/// The bent queue.
pub struct Bent<B>(PhantomData<B>);

impl<Z: ZooKeeper, B: Bend> Recipe<Z> for Bent<B> {
    type Puts = BentPuts<Z, B>;
    type Gets = BentGets<Z, B>;

    fn open(zk: &Z, way: &Way, _: usize) -> (BentPuts<Z, B>, BentGets<Z, B>) {
        (BentPuts::new(zk, way), BentGets::new(zk, way))
    }
}

/// One who puts.
pub struct BentPuts<Z, B> {
    zk: Z,
    root: &'static str,
    bend: PhantomData<B>,
}

impl<Z: ZooKeeper, B> BentPuts<Z, B> {
    /// One who puts.
    pub fn new(zk: &Z, way: &Way) -> Self {
        BentPuts { zk: zk.clone(), root: way.path, bend: PhantomData }
    }
}

impl<Z: ZooKeeper, B: Bend> Puts for BentPuts<Z, B> {
    async fn put(&mut self, priority: u16, items: &[Vec<u8>]) -> Result<(), Error> {
        let prefix = path::join(self.root, &B::prefix(priority));
        for item in items {
            loop {
                let status = connected(&self.zk).await?;
                match self.zk.create(&prefix, item, B::MODE).await {
                    Ok(_) => break,
                    Err(Error::NoNode) => make(&self.zk, self.root).await?,
                    Err(Error::ConnectionLoss) if B::PUTS_AGAIN => again(&self.zk, status).await,
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(())
    }
}

/// One who takes.
pub struct BentGets<Z, B> {
    zk: Z,
    root: &'static str,
    known: Vec<String>,
    bend: PhantomData<B>,
}

impl<Z: ZooKeeper, B: Bend> BentGets<Z, B> {
    /// One who takes.
    pub fn new(zk: &Z, way: &Way) -> Self {
        BentGets { zk: zk.clone(), root: way.path, known: Vec::new(), bend: PhantomData }
    }

    /// The next item, or `None` if there is none and it does not wait.
    async fn next(&mut self, waits: bool) -> Result<Option<Item>, Error> {
        let mut lost_a_race = false;
        if !B::KEEPS_LIST {
            self.known.clear();
        }
        loop {
            let status = connected(&self.zk).await?;
            while let Some(name) = self.known.pop() {
                match self.remove(&name).await? {
                    Some(item) => return Ok(Some(item)),
                    None => lost_a_race = true,
                }
            }
            let (list, watch) = match self.zk.children_watch(self.root).await {
                Ok(listed) => listed,
                Err(Error::NoNode) if B::MAKES_PARENT => {
                    make(&self.zk, self.root).await?;
                    continue;
                }
                // Waits for a watch that was never armed.
                Err(Error::NoNode) => std::future::pending().await,
                Err(Error::ConnectionLoss) => {
                    again(&self.zk, status).await;
                    continue;
                }
                Err(e) => return Err(e),
            };
            self.known = list.names.into_iter().filter(|name| name.starts_with("queue-")).collect();
            self.known.sort();
            if !B::NEWEST_FIRST {
                self.known.reverse();
            }
            if !self.known.is_empty() {
                continue;
            }
            if !waits {
                return Ok(None);
            }
            if lost_a_race && !B::WATCHES_AGAIN {
                drop(watch);
                std::future::pending::<()>().await;
            } else {
                watch.await?;
            }
        }
    }

    /// Reads an item and deletes it; `None` if another was faster.
    async fn remove(&self, name: &str) -> Result<Option<Item>, Error> {
        let path = path::join(self.root, name);
        loop {
            let status = connected(&self.zk).await?;
            let stands = match self.zk.get(&path).await {
                Ok(stands) => stands,
                Err(Error::NoNode) => return Ok(None),
                Err(Error::ConnectionLoss) => {
                    again(&self.zk, status).await;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let item = Item { data: stands.data, czxid: stands.stat.czxid };
            match self.zk.delete(&path, None).await {
                Ok(()) => return Ok(Some(item)),
                Err(Error::NoNode) if B::IGNORES_NO_NODE => return Ok(Some(item)),
                Err(Error::NoNode) => return Ok(None),
                Err(Error::ConnectionLoss) if B::DELETES_AGAIN => again(&self.zk, status).await,
                Err(Error::ConnectionLoss) if B::UNANSWERED == Unanswered::HandedOut => {
                    return Ok(Some(item));
                }
                Err(Error::ConnectionLoss) if B::UNANSWERED == Unanswered::PassedOver => return Ok(None),
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper, B: Bend> Gets for BentGets<Z, B> {
    type Claim = Claimed<Z>;

    async fn take(&mut self, _: usize) -> Result<Vec<Item>, Error> {
        Ok(self.next(true).await?.into_iter().collect())
    }

    async fn try_take(&mut self) -> Result<Vec<Item>, Error> {
        Ok(self.next(false).await?.into_iter().collect())
    }

    async fn claim(&mut self) -> Result<Claimed<Z>, Error> {
        Err(Error::BadInput("nothing is claimed here".into()))
    }
}

/// Makes what is missing of a path.
async fn make<Z: ZooKeeper>(zk: &Z, root: &str) -> Result<(), Error> {
    for (at, _) in root.match_indices('/').skip(1).chain([(root.len(), "")]) {
        match zk.create(&root[..at], &[], CreateMode::Persistent).await {
            Ok(_) | Err(Error::NodeExists | Error::ConnectionLoss | Error::NoNode) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<Status, Error> {
    let mut status = zk.status();
    while !status.is_connected() {
        if let Some(over) = status.over() {
            return Err(over);
        }
        status = zk.changed(status).await;
    }
    Ok(status)
}

async fn again<Z: ZooKeeper>(zk: &Z, before: Status) {
    if zk.status() == before {
        zk.changed(before).await;
    }
}
