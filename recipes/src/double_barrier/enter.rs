//! Entering a double barrier: the driver, and steps 4 to 6 of the protocol.
//!
//! Liveness: whenever enough participants are registered, the latest of them that is still there saw that when it joined,
//! so it tries to open. The opening checks the count of joins, so no join is missed; a join checks the generation, so none
//! comes late.

use super::roster::{Roster, name_of};
use super::{DoubleBarrier, Inside, Leave, Reuse};
use crate::observe;
use crate::parts::retry::{again, connected, present, unless_again, unless_refused, until_answered};
use crate::parts::select::first;
use crate::parts::tenure::{Grant, OnSuspect, Tenure};
use crate::zk::{Armed, Data, Error, ErrorKind, EventKind, Guid, Op, ZooKeeper, path};
use futures_util::future::Either;
use futures_util::{FutureExt, TryFutureExt};
use std::future::Future;

/// One attempt to enter. Its state outlives the future that drives it, so that a time limit can be settled.
pub(super) struct Entering<'a, Z: ZooKeeper> {
    pub(super) barrier: &'a DoubleBarrier<Z>,
    pub(super) guid: Guid,
    /// The generation that it joins or has joined.
    pub(super) generation: i32,
    /// The own znode and its czxid, once known.
    pub(super) own: Option<(String, i64)>,
    /// Fires when the own znode is written, as the opening does, or deleted.
    watch: Option<Z::Watch>,
    /// The data version of the own znode when it was last read.
    written: i32,
    /// Whether we are the first of the generation, and have not looked at the one before.
    pub(super) is_first: bool,
    /// Deletes the own znode unless its deletion is confirmed.
    pub(super) armed: Option<Armed>,
    /// Deletes `ready`, if it may be ours.
    pub(super) keeper: Option<Armed>,
    /// The guid of the opener, once known.
    opener: String,
}

/// The result of step 3.
pub(super) enum Opened {
    /// Opened by us.
    ByUs(Roster),
    /// Perhaps opened, by us or by another participant.
    Perhaps,
    /// A participant has left since: too few.
    TooFew,
}

impl<'a, Z: ZooKeeper> Entering<'a, Z> {
    pub(super) fn new(barrier: &'a DoubleBarrier<Z>) -> Self {
        Entering {
            barrier,
            guid: barrier.zk.guid(),
            generation: -1,
            own: None,
            watch: None,
            written: 0,
            is_first: false,
            armed: None,
            keeper: None,
            opener: String::new(),
        }
    }

    pub(super) async fn enter(&mut self) -> Result<Inside<Z>, Error> {
        match self.barrier.remembered() {
            Some(generation) => self.generation = generation,
            None => self.find_generation().await?,
        }
        let mut registered = self.join().await?;
        loop {
            let is_opener = registered >= self.barrier.options.participants;
            match if is_opener { self.open().await? } else { Opened::TooFew } {
                Opened::ByUs(roster) => {
                    self.opener = self.guid.to_string();
                    return self.inside(roster, None);
                }
                Opened::Perhaps => {}
                Opened::TooFew => {
                    registered = 0;
                    self.wait().await?;
                }
            }
            if let Some((roster, ready)) = self.look().await? {
                return self.inside(roster, ready);
            }
        }
    }

    /// The own znode, once we have joined.
    pub(super) fn own(&self) -> String {
        self.own.as_ref().map(|(own, _)| own.clone()).unwrap_or_default()
    }

    pub(super) fn removed<T>(&self) -> Result<T, Error> {
        Err(ErrorKind::Removed(self.own()).into())
    }

    /// Step 4. Returns when the own znode was written.
    async fn wait(&mut self) -> Result<(), Error> {
        let zk = &self.barrier.zk;
        loop {
            if let Some(watch) = self.watch.as_mut().filter(|_| !self.is_first) {
                observe::waits(&self.barrier.path);
                let event = watch.await;
                self.watch = None;
                if event?.kind != EventKind::NodeDeleted {
                    return Ok(());
                }
                // Only a read may decide that.
            }
            let status = connected(zk).await?;
            // Pipelined: the own znode, and by the first of a generation the record of the one before.
            let own = zk.get_watch(&self.own());
            let former = self.generation.wrapping_sub(1);
            let before = self.is_first.then(|| zk.get(&self.barrier.directory(former)));
            let Some(own) = unless_again(zk, status, present(own.await)).await? else { continue };
            let Some((found, watch)) = own else { return self.removed() };
            self.watch = Some(watch);
            if let Some(before) = before {
                let Some(before) = unless_again(zk, status, present(before.await)).await? else { continue };
                self.is_first = false;
                if before.is_some_and(|record| Roster::read(&record.data).is_none()) {
                    wake_those_left_behind(self.barrier, former).await?;
                }
            }
            if found.stat.version != self.written {
                self.written = found.stat.version;
                return Ok(());
            }
        }
    }

    /// Step 5. Returns the roster, and a watch on `ready` unless we created it, it is gone, or participants leave in a
    /// chain; `None` while the generation is not open.
    async fn look(&mut self) -> Result<Option<(Roster, Option<Z::Watch>)>, Error> {
        let zk = &self.barrier.zk;
        let directory = self.barrier.directory(self.generation);
        let ready = self.barrier.ready(self.generation);
        loop {
            let status = connected(zk).await?;
            let found = present(self.read_ready(&ready).await);
            let Some(found) = unless_again(zk, status, found).await? else { continue };
            if let Some((found, watch)) = found {
                return self.opened(&found.data, true, watch).map(Some);
            }
            // Pipelined. The generation is read first: if it has changed and `ready` is absent afterwards, `ready` went
            // with its owner.
            let (generation, ready) = (zk.get(&self.barrier.path), self.read_ready(&ready));
            let (record, members) = (zk.get(&directory), zk.children(&directory));
            let is_open_for_joining = match generation.await {
                Ok(found) => {
                    self.is_for_as_many(&found)?;
                    found.stat.version == self.generation
                }
                Err(e) if e.is_no_node() => false,
                Err(e) => {
                    again(zk, status, e).await?;
                    continue;
                }
            };
            let Some(found) = unless_again(zk, status, present(ready.await)).await? else { continue };
            match found {
                Some((found, watch)) => return self.opened(&found.data, true, watch).map(Some),
                None if is_open_for_joining => return Ok(None),
                None => {}
            }
            let (record, members) = match (record.await, members.await) {
                (Ok(record), Ok(members)) => (record, Roster::of(members.names)),
                (Err(Error { kind: ErrorKind::NoNode, .. }), _)
                | (_, Err(Error { kind: ErrorKind::NoNode, .. })) => return self.removed(),
                (Err(e), _) | (_, Err(e)) => {
                    again(zk, status, e).await?;
                    continue;
                }
            };
            if !members.has(name_of(&self.own())) {
                return self.removed();
            }
            return self.opened(&record.data, false, None).map(Some);
        }
    }

    /// Reads `ready`, with a watch if its deletion will matter. In a chain it does not.
    fn read_ready(
        &self,
        ready: &str,
    ) -> impl Future<Output = Result<(Data, Option<Z::Watch>), Error>> + Send + use<Z> {
        let zk = &self.barrier.zk;
        match self.barrier.options.leave {
            Leave::Keeper => zk.get_watch(ready).map_ok(|(found, watch)| (found, Some(watch))).left_future(),
            Leave::Chain => zk.get(ready).map_ok(|found| (found, None)).right_future(),
        }
    }

    /// The generation is open; its record tells whether with us.
    fn opened(
        &mut self,
        record: &[u8],
        is_ready_there: bool,
        watch: Option<Z::Watch>,
    ) -> Result<(Roster, Option<Z::Watch>), Error> {
        let Some((opener, roster)) = Roster::read(record) else {
            let generation = self.generation;
            let what =
                format!("generation {generation} of {} has ended, not by its members", self.barrier.path);
            return Err(ErrorKind::Mismatch(what).into());
        };
        if !roster.has(name_of(&self.own())) {
            return self.removed();
        }
        // The barrier was made anew for fewer since we have read it.
        let (of, wanted) = (roster.ids().len(), self.barrier.options.participants);
        if of < wanted {
            return Err(ErrorKind::Mismatch(format!(
                "{} has opened for {of}, not for {wanted}",
                self.barrier.path
            ))
            .into());
        }
        self.opener = opener;
        // Our own opening, whose reply was lost: we keep `ready`, and need not watch it.
        let is_ours = self.opener == self.guid.to_string() && is_ready_there;
        if is_ours {
            return Ok((roster, None));
        }
        if let Some(armed) = self.keeper.take() {
            armed.done();
        }
        Ok((roster, watch))
    }

    fn inside(&mut self, roster: Roster, ready: Option<Z::Watch>) -> Result<Inside<Z>, Error> {
        let (Some((path, czxid)), Some(armed)) = (self.own.take(), self.armed.take()) else {
            return self.removed();
        };
        if self.barrier.options.reuse == Reuse::Generations {
            self.barrier.remember(self.generation.wrapping_add(1));
        }
        let zk = &self.barrier.zk;
        let grant = Grant {
            recipe: super::RECIPE,
            path,
            czxid,
            token: czxid,
            data: vec![],
            armed,
            on_suspect: OnSuspect::Stop,
            margin: zk.timeout() / 10,
        };
        let tenure = Tenure::new(zk, grant);
        // Armed after the opening has written the own znode.
        if let Some(watch) = self.watch.take() {
            tenure.is_watched_by(watch.shared());
        }
        Ok(Inside {
            barrier: self.barrier.clone(),
            generation: self.generation,
            roster,
            tenure,
            keeper: self.keeper.take(),
            opener: std::mem::take(&mut self.opener),
            ready: ready.map(FutureExt::shared),
        })
    }

    /// Step 6. The limit is over: leaves, unless the generation has opened with us.
    pub(super) async fn give_up(&mut self) -> Result<Inside<Z>, Error> {
        if self.armed.is_none() {
            // Nothing was sent yet.
            return Err(ErrorKind::TimedOut.into());
        }
        let zk = self.barrier.zk.clone();
        let status = zk.status();
        match status.over() {
            Some(over) => return Err(over),
            None if !status.is_connected() => return Err(ErrorKind::ConnectionLoss.into()),
            None => {}
        }
        // A retry after the refusal of an overloaded server would outlast the limit.
        match first(unless_refused(self.settle_limit()), zk.changed(status)).await {
            // A refusal does not tell whether we were counted.
            Either::Left(Err(e)) if e.says_nothing_of_the_tree() => Err(ErrorKind::ConnectionLoss.into()),
            Either::Left(settled) => settled,
            Either::Right(now) => Err(now.over().unwrap_or(ErrorKind::ConnectionLoss.into())),
        }
    }

    async fn settle_limit(&mut self) -> Result<Inside<Z>, Error> {
        let zk = &self.barrier.zk;
        if self.own.is_none() && self.find_own().await?.is_none() {
            self.give_up_duty();
            return Err(ErrorKind::TimedOut.into());
        }
        let own = self.own();
        let out = vec![
            Op::Check { path: self.barrier.path.clone(), version: Some(self.generation) },
            Op::Delete { path: own.clone(), version: None },
        ];
        match zk.multi(out).await {
            Ok(_) => {
                self.give_up_duty();
                if let Some(armed) = self.keeper.take() {
                    armed.done();
                }
                Err(ErrorKind::TimedOut.into())
            }
            Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) if cause.says_nothing_of_the_tree() => {
                Err(*cause)
            }
            Err(Error { kind: ErrorKind::Multi { index: 0, .. }, .. }) => match self.look().await? {
                Some((roster, ready)) => self.inside(roster, ready),
                // Contradictory reads: the outcome is unknown.
                None => Err(ErrorKind::ConnectionLoss.into()),
            },
            Err(Error { kind: ErrorKind::Multi { index: 1, .. }, .. }) => self.removed(),
            Err(e) => Err(e),
        }
    }
}

/// Another client has written to the barrier's znode, so a generation has ended without opening. Its participants watch
/// their own znodes alone.
async fn wake_those_left_behind<Z: ZooKeeper>(
    barrier: &DoubleBarrier<Z>,
    generation: i32,
) -> Result<(), Error> {
    let zk = &barrier.zk;
    let directory = barrier.directory(generation);
    let list = until_answered(zk, || async { present(zk.children(&directory).await) }).await?;
    let members = list.map(|list| Roster::of(list.names)).unwrap_or_default();
    for name in members.names() {
        let path = path::join(&directory, name);
        until_answered(zk, || async { present(zk.set(&path, &[], None).await) }).await?;
    }
    Ok(())
}
