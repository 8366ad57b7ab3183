//! A plain copy of the queue, without receipts, in which a [`Mutation`] makes one step wrong.
//!
//! The steps are those of ZooKeeper's recipes page, with persistent items. On a fault-free network the copy without a
//! mutation is right, so that a run shows the effect of the wrong step alone. Its idle consumers all watch the queue:
//! it is declared as such.

use crate::copies::{connected, lost};
use crate::queue::workload::{Gets, Puts, Way};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper, path};
use zk_recipes::{Claimed, Item};

/// The steps that can be wrong.
pub struct Mutation {
    /// The mode in which an item is created.
    pub mode: CreateMode,
    /// The beginning of an item's name, by its priority.
    pub prefix: fn(u16) -> String,
    /// A put whose reply was lost is sent again.
    pub puts_again: bool,
    /// The treatment of an item whose delete has no reply.
    pub unanswered: Unanswered,
    /// An item is handed out although another consumer was faster.
    pub ignores_no_node: bool,
    /// A consumer watches again after another was faster.
    pub watches_again: bool,
    /// A consumer creates a missing queue znode instead of just waiting.
    pub makes_parent: bool,
    /// The items are sorted in the wrong order.
    pub newest_first: bool,
    /// Consumers use up a list before they read it anew, even with priorities.
    pub keeps_list: bool,
}

impl Mutation {
    /// No wrong step, in a queue without priorities.
    pub const RIGHT: Mutation = Mutation {
        mode: CreateMode::PersistentSequential,
        prefix: |_| "queue-".to_owned(),
        puts_again: false,
        unanswered: Unanswered::Told,
        ignores_no_node: false,
        watches_again: true,
        makes_parent: true,
        newest_first: false,
        keeps_list: false,
    };
}

/// The treatment of an item whose delete has no reply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// The call reports that the outcome is unknown.
    Told,
    /// The delete is sent again, and "no such znode" counts as another consumer's delete.
    DeletedAgain,
    /// It is handed out.
    HandedOut,
    /// It is skipped, and the next one taken.
    PassedOver,
}

/// A producer and a consumer of the copy.
pub fn open<Z: ZooKeeper>(
    zk: &Z,
    way: &Way,
    mutation: &'static Mutation,
) -> (MutantProducer<Z>, MutantConsumer<Z>) {
    let consumer = MutantConsumer { zk: zk.clone(), root: way.path, known: Vec::new(), mutation };
    (MutantProducer::new(zk, way, mutation), consumer)
}

/// A producer.
pub struct MutantProducer<Z> {
    zk: Z,
    root: &'static str,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MutantProducer<Z> {
    /// A producer.
    pub fn new(zk: &Z, way: &Way, mutation: &'static Mutation) -> Self {
        MutantProducer { zk: zk.clone(), root: way.path, mutation }
    }
}

impl<Z: ZooKeeper> Puts for MutantProducer<Z> {
    async fn put(&mut self, priority: u16, items: &[Vec<u8>]) -> Result<(), Error> {
        let mutation = self.mutation;
        let prefix = path::join(self.root, &(mutation.prefix)(priority));
        let create =
            |item: &Vec<u8>| Op::Create { path: prefix.clone(), data: item.clone(), mode: mutation.mode };
        loop {
            let status = connected(&self.zk).await?;
            match self.zk.multi(items.iter().map(create).collect()).await {
                Ok(_) => return Ok(()),
                Err(e) if e.refused_operation().is_some_and(|(_, cause)| cause.is_no_node()) => {
                    make(&self.zk, self.root).await?
                }
                Err(e) if e.is_connection_loss() && mutation.puts_again => lost(&self.zk, status).await?,
                Err(e) => return Err(e),
            }
        }
    }
}

/// A consumer.
pub struct MutantConsumer<Z> {
    zk: Z,
    root: &'static str,
    known: Vec<String>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MutantConsumer<Z> {
    /// The next item, or `None` if there is none and the consumer does not wait.
    async fn next(&mut self, waits: bool) -> Result<Option<Item>, Error> {
        let mutation = self.mutation;
        let mut lost_a_race = false;
        if !mutation.keeps_list {
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
                Err(e) if e.is_no_node() && mutation.makes_parent => {
                    make(&self.zk, self.root).await?;
                    continue;
                }
                // No watch was armed, so nothing wakes it.
                Err(e) if e.is_no_node() => std::future::pending().await,
                Err(e) if e.is_connection_loss() => {
                    lost(&self.zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            self.known = list.names.into_iter().filter(|name| name.starts_with("queue-")).collect();
            self.known.sort();
            if !mutation.newest_first {
                self.known.reverse();
            }
            if !self.known.is_empty() {
                continue;
            }
            if !waits {
                return Ok(None);
            }
            if lost_a_race && !mutation.watches_again {
                drop(watch);
                std::future::pending::<()>().await;
            } else {
                watch.await?;
            }
        }
    }

    /// Reads an item and deletes it; `None` if another was faster.
    async fn remove(&self, name: &str) -> Result<Option<Item>, Error> {
        let (path, mutation) = (path::join(self.root, name), self.mutation);
        loop {
            let status = connected(&self.zk).await?;
            let stands = match self.zk.get(&path).await {
                Ok(stands) => stands,
                Err(e) if e.is_no_node() => return Ok(None),
                Err(e) if e.is_connection_loss() => {
                    lost(&self.zk, status).await?;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let item = Item { data: stands.data, czxid: stands.stat.czxid };
            match self.zk.delete(&path, None).await {
                Ok(()) => return Ok(Some(item)),
                Err(e) if e.is_no_node() && mutation.ignores_no_node => return Ok(Some(item)),
                Err(e) if e.is_no_node() => return Ok(None),
                Err(e) if e.is_connection_loss() => match mutation.unanswered {
                    Unanswered::Told => return Err(ErrorKind::ConnectionLoss.into()),
                    Unanswered::DeletedAgain => lost(&self.zk, status).await?,
                    Unanswered::HandedOut => return Ok(Some(item)),
                    Unanswered::PassedOver => return Ok(None),
                },
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper> Gets for MutantConsumer<Z> {
    type Claim = Claimed<Z>;
    const SETTLES: bool = false;

    async fn take(&mut self, _: usize) -> Result<Vec<Item>, Error> {
        Ok(self.next(true).await?.into_iter().collect())
    }

    async fn try_take(&mut self) -> Result<Option<Item>, Error> {
        self.next(false).await
    }

    async fn claim(&mut self) -> Result<Claimed<Z>, Error> {
        Err(ErrorKind::BadInput("nothing is claimed here".into()).into())
    }
}

/// Creates the missing part of a path.
async fn make<Z: ZooKeeper>(zk: &Z, root: &str) -> Result<(), Error> {
    for (at, _) in root.match_indices('/').skip(1).chain([(root.len(), "")]) {
        match zk.create(&root[..at], &[], CreateMode::Persistent).await {
            Ok(_) => {}
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::NodeExists | ErrorKind::ConnectionLoss | ErrorKind::NoNode
                ) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
