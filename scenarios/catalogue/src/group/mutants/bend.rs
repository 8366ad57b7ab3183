//! A group over a plain copy of joining and following, in which single steps can be exchanged.

use crate::claims::{self, Claim, connected};
use crate::group::workload::{DIRECTORY, Gathering, Member, Observes};
use futures_util::future::select;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use zk_recipes::group::{Group, GroupView, Views, WithData};
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, ZooKeeper};

/// The steps that may be wrong. Each has its right form as default.
pub(super) trait Step: Clone + Send + Sync + 'static {
    /// What a member is.
    const MODE: CreateMode = CreateMode::Ephemeral;
    /// A znode that is there already is somebody else's.
    const EXISTS_IS_ANOTHERS: bool = true;
    /// It says that it is out when its session has ended.
    const SAYS_THAT_IT_IS_OUT: bool = true;
    /// After a lost reply it looks for its znode before it makes another.
    const LOOKS_AFTER_LOSS: bool = true;
}

/// A group of which one step is broken.
#[derive(Clone)]
pub(super) struct Broken<Z: ZooKeeper, S> {
    zk: Z,
    right: Group<Z>,
    step: PhantomData<S>,
}

/// How a name is claimed in it.
#[derive(Clone)]
struct Claims<S>(PhantomData<S>);

impl<S: Step> claims::Step for Claims<S> {
    const MODE: CreateMode = S::MODE;
    const EXISTS_IS_ANOTHERS: bool = S::EXISTS_IS_ANOTHERS;
}

impl<Z: ZooKeeper, S: Step> Broken<Z, S> {
    /// Waits for the name.
    async fn named(&self, id: &str, data: &[u8]) -> Result<Claim<Z>, Error> {
        loop {
            match claims::claim::<Z, Claims<S>>(&self.zk, DIRECTORY, id, data).await {
                Err(Error::Taken(path)) => match self.zk.children_watch(&path).await {
                    Ok((_, watch)) => drop(watch.await?),
                    Err(Error::NoNode) => {}
                    Err(Error::ConnectionLoss) => connected(&self.zk).await?,
                    Err(e) => return Err(e),
                },
                claimed => return claimed,
            }
        }
    }

    /// Without an id: a sequential znode, and after a lost reply another.
    async fn numbered(&self, data: &[u8]) -> Result<Claim<Z>, Error> {
        loop {
            let path = format!("{DIRECTORY}/m-");
            match self.zk.create(&path, data, CreateMode::EphemeralSequential).await {
                Ok(created) => {
                    let armed = Some(self.zk.arm(Duty::Path(created.path.clone())));
                    let czxid = created.stat.czxid;
                    return Ok(Claim { zk: self.zk.clone(), path: created.path, czxid, armed });
                }
                Err(Error::NoNode) => {
                    drop(self.zk.create(DIRECTORY, &[], CreateMode::Persistent).await);
                }
                Err(Error::ConnectionLoss) => connected(&self.zk).await?,
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper, S: Step> Gathering<Z> for Broken<Z, S> {
    type Member = BrokenMember<Z, S>;
    type Views = BrokenViews<Z, S>;

    fn on(zk: &Z) -> Result<Self, Error> {
        let right = <Group<Z> as Gathering<Z>>::on(zk)?;
        Ok(Broken { zk: zk.clone(), right, step: PhantomData })
    }

    async fn join(&self, id: Option<&str>, data: &[u8]) -> Result<BrokenMember<Z, S>, Error> {
        let claim = match id {
            Some(id) => self.named(id, data).await?,
            None if S::LOOKS_AFTER_LOSS => self.named(&self.zk.guid().to_string(), data).await?,
            None => self.numbered(data).await?,
        };
        Ok(BrokenMember { claim, step: PhantomData })
    }

    fn views(&self, data: WithData) -> BrokenViews<Z, S> {
        BrokenViews { views: self.right.views(data), step: PhantomData }
    }
}

/// One of its members.
pub(super) struct BrokenMember<Z, S> {
    claim: Claim<Z>,
    step: PhantomData<S>,
}

impl<Z: ZooKeeper, S: Step> Member for BrokenMember<Z, S> {
    fn out(&self) -> impl Future<Output = ()> + Send {
        let over = claims::over(&self.claim.zk, &self.claim.path);
        let late = past_its_deadline(self.claim.zk.clone());
        async {
            let _ = select(pin!(over), pin!(late)).await;
            if !S::SAYS_THAT_IT_IS_OUT {
                std::future::pending::<()>().await;
            }
        }
    }

    async fn leave(self) -> Result<(), Error> {
        let Claim { zk, path, armed, czxid } = self.claim;
        loop {
            connected(&zk).await?;
            // After a lost reply the name may be somebody else's.
            match zk.exists(&path).await {
                Ok(Some(stat)) if stat.czxid == czxid => {}
                Err(Error::ConnectionLoss) => continue,
                Err(e) => return Err(e),
                Ok(_) => {
                    armed.into_iter().for_each(Armed::done);
                    return Ok(());
                }
            }
            match zk.delete(&path, None).await {
                Ok(()) | Err(Error::NoNode) => {
                    armed.into_iter().for_each(Armed::done);
                    return Ok(());
                }
                Err(Error::ConnectionLoss) => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// Resolves when nothing was answered for so long that the session may have ended.
async fn past_its_deadline<Z: ZooKeeper>(zk: Z) {
    let deadline = || zk.safe_until().before(zk.timeout() / 10);
    while zk.now() < deadline() {
        zk.sleep_until(deadline()).await;
    }
}

/// What follows it.
pub(super) struct BrokenViews<Z: ZooKeeper, S> {
    views: Views<Z>,
    step: PhantomData<S>,
}

impl<Z: ZooKeeper, S: Step> Observes for BrokenViews<Z, S> {
    async fn next(&mut self) -> Result<GroupView, Error> {
        self.views.next().await
    }
}
