//! A copy of joining a group, in which a [`Mutation`] makes one step wrong. Its observers see what those of the right group see.

use crate::claims::{self, Claim};
use crate::copies::connected;
use crate::group::workload::{DIRECTORY, Gathering, MemberHandle, Observes, new};
use futures_util::future::select;
use std::future::Future;
use std::pin::pin;
use zk_recipes::Released;
use zk_recipes::group::{Group, GroupView, Views, WithData};
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, ZooKeeper, path};

/// The steps that can be wrong.
pub(super) struct Mutation {
    /// The steps of claiming the member's name.
    pub claim: claims::Mutation,
    /// A member reports that it is out when its session has ended.
    pub says_that_it_is_out: bool,
    /// After a lost reply a member looks for its znode before it creates another.
    pub looks_after_loss: bool,
    /// The safety margin before the end of the session at which a member is out, in tenths of the session's timeout.
    pub margin: u32,
    /// Whether an observer receives a view, given the last one that it received.
    pub tells: fn(&GroupView, &GroupView) -> bool,
}

impl Mutation {
    /// No wrong step.
    pub const RIGHT: Mutation = Mutation {
        claim: claims::Mutation::RIGHT,
        says_that_it_is_out: true,
        looks_after_loss: true,
        margin: 1,
        tells: |_, _| true,
    };
}

/// The copy.
#[derive(Clone)]
pub(super) struct MutantGroup<Z: ZooKeeper> {
    zk: Z,
    right: Group<Z>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MutantGroup<Z> {
    /// The copy over that session.
    pub(super) fn new(zk: &Z, mutation: &'static Mutation) -> Self {
        MutantGroup { zk: zk.clone(), right: new(zk), mutation }
    }

    /// Waits for the name.
    async fn named(&self, id: &str, data: &[u8]) -> Result<Claim<Z>, Error> {
        loop {
            match claims::claim(&self.zk, DIRECTORY, id, data, &self.mutation.claim).await {
                Err(e) if e.is_taken() => match self.zk.children_watch(&path::join(DIRECTORY, id)).await {
                    Ok((_, watch)) => drop(watch.await?),
                    Err(e) if e.is_no_node() => {}
                    Err(e) if e.is_connection_loss() => drop(connected(&self.zk).await?),
                    Err(e) => return Err(e),
                },
                claimed => return claimed,
            }
        }
    }

    /// Without an id: creates a sequential znode, and another one after a lost reply.
    async fn numbered(&self, data: &[u8]) -> Result<Claim<Z>, Error> {
        loop {
            let path = format!("{DIRECTORY}/m-");
            match self.zk.create(&path, data, CreateMode::EphemeralSequential).await {
                Ok(created) => {
                    let armed = Some(self.zk.arm(Duty::Path(created.path.clone())));
                    let czxid = created.stat.czxid;
                    return Ok(Claim { zk: self.zk.clone(), path: created.path, czxid, armed });
                }
                Err(e) if e.is_no_node() => {
                    drop(self.zk.create(DIRECTORY, &[], CreateMode::Persistent).await);
                }
                Err(e) if e.is_connection_loss() => drop(connected(&self.zk).await?),
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper> Gathering for MutantGroup<Z> {
    type MemberHandle = MutantMember<Z>;
    type Views = MutantViews<Z>;

    async fn join(&self, id: Option<&str>, data: &[u8]) -> Result<MutantMember<Z>, Error> {
        let claim = match id {
            Some(id) => self.named(id, data).await?,
            None if self.mutation.looks_after_loss => self.named(&self.zk.guid().to_string(), data).await?,
            None => self.numbered(data).await?,
        };
        Ok(MutantMember { claim, mutation: self.mutation })
    }

    fn follow(&self, data: WithData) -> MutantViews<Z> {
        MutantViews { right: self.right.follow(data), last: None, mutation: self.mutation }
    }
}

/// An observer of the copy.
pub(super) struct MutantViews<Z: ZooKeeper> {
    right: Views<Z>,
    last: Option<GroupView>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> Observes for MutantViews<Z> {
    async fn next(&mut self) -> Result<GroupView, Error> {
        loop {
            let now = self.right.next().await?;
            if self.last.as_ref().is_none_or(|before| (self.mutation.tells)(before, &now)) {
                self.last = Some(now.clone());
                return Ok(now);
            }
        }
    }
}

/// A member of the copy.
pub(super) struct MutantMember<Z> {
    claim: Claim<Z>,
    mutation: &'static Mutation,
}

impl<Z: ZooKeeper> MemberHandle for MutantMember<Z> {
    fn out(&self) -> impl Future<Output = ()> + Send {
        let over = claims::over(&self.claim.zk, &self.claim.path);
        let late = past_its_deadline(self.claim.zk.clone(), self.mutation.margin);
        async {
            let _ = select(pin!(over), pin!(late)).await;
            if !self.mutation.says_that_it_is_out {
                std::future::pending::<()>().await;
            }
        }
    }

    async fn leave(self) -> Result<Option<Released>, Error> {
        let Claim { zk, path, armed, czxid } = self.claim;
        loop {
            connected(&zk).await?;
            // After a lost reply the znode may be another client's.
            match zk.exists(&path).await {
                Ok(Some(stat)) if stat.czxid == czxid => {}
                Err(e) if e.is_connection_loss() => continue,
                Err(e) => return Err(e),
                Ok(_) => {
                    armed.into_iter().for_each(Armed::done);
                    return Ok(None);
                }
            }
            match zk.delete(&path, None).await {
                Err(e) if e.is_connection_loss() => {}
                Err(e) if !e.is_no_node() => return Err(e),
                _ => {
                    armed.into_iter().for_each(Armed::done);
                    return Ok(None);
                }
            }
        }
    }
}

/// Resolves when the server has been silent for so long that the session may have ended.
async fn past_its_deadline<Z: ZooKeeper>(zk: Z, margin: u32) {
    let deadline = || zk.safe_until().before(zk.timeout() * margin / 10);
    while zk.now() < deadline() {
        zk.sleep_until(deadline()).await;
    }
}
