//! Entering a double barrier: the driver, and steps 4 to 6 of the protocol.
//!
//! Liveness: whenever enough participants are registered, the latest of them that is still there saw that when it joined,
//! so it tries to open. The opening checks the count of joins, so no join is missed; a join checks the generation, so none
//! comes late.

use super::open::Opened;
use super::roster::{Roster, name_of};
use super::{DoubleBarrier, Inside, Leave, Reuse};
use crate::observe;
use crate::parts::retry::{again, connected, present, unless_again, unless_refused};
use crate::parts::select::first;
use crate::parts::tenure::{Grant, OnSuspect, Tenure};
use crate::zk::{Armed, Data, Error, Guid, Op, ZooKeeper};
use futures_util::future::{Either, Shared};
use futures_util::{FutureExt, TryFutureExt};
use std::future::Future;

/// One attempt to enter. Its state outlives the future that drives it, so that a time limit can be settled.
pub(super) struct Entering<'a, Z: ZooKeeper> {
    pub(super) barrier: &'a DoubleBarrier<Z>,
    pub(super) guid: Guid,
    /// The generation that it joins or has joined.
    pub(super) generation: i32,
    /// Fires when a later generation begins; `None` if one may have begun.
    pub(super) next: Option<Z::Watch>,
    /// The own znode and its czxid, once known.
    pub(super) own: Option<(String, i64)>,
    /// Fires when the own znode is deleted.
    pub(super) own_watch: Option<Shared<Z::Watch>>,
    /// Deletes the own znode unless its deletion is confirmed.
    pub(super) armed: Option<Armed>,
    /// Deletes `ready`, if it may be ours.
    pub(super) keeper: Option<Armed>,
    /// The guid of the opener, once known.
    opener: String,
}

impl<'a, Z: ZooKeeper> Entering<'a, Z> {
    pub(super) fn new(barrier: &'a DoubleBarrier<Z>) -> Self {
        Entering {
            barrier,
            guid: barrier.zk.guid(),
            generation: -1,
            next: None,
            own: None,
            own_watch: None,
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
        Err(Error::Removed(self.own()))
    }

    /// Step 4.
    async fn wait(&mut self) -> Result<(), Error> {
        let zk = &self.barrier.zk;
        loop {
            let status = connected(zk).await?;
            // Pipelined: the watches that are missing. The own znode is watched, so that its deletion is noticed before the
            // opening.
            let reading = self.next.is_none().then(|| zk.get_watch(&self.barrier.path));
            let own = self.own_watch.is_none().then(|| zk.children_watch(&self.own()));
            if let Some(reading) = reading {
                match reading.await {
                    Err(e) if e.is_transient() => {
                        again(zk, status, e).await?;
                        continue;
                    }
                    read => self.took(read)?,
                }
            }
            if let Some(own) = own {
                let Some(own) = unless_again(zk, status, present(own.await)).await? else { continue };
                let Some((_, watch)) = own else { return self.removed() };
                self.own_watch = Some(watch.shared());
            }
            let (Some(next), Some(own)) = (&mut self.next, self.own_watch.clone()) else { return Ok(()) };
            observe::waits(&self.barrier.path);
            match first(own, next).await {
                Either::Left(event) => {
                    self.own_watch = None;
                    // An ephemeral has no children, so it was deleted. Only a read may decide that, though.
                    event?;
                }
                Either::Right(event) => {
                    self.next = None;
                    return event.map(drop);
                }
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
            let (generation, ready) = (zk.get_watch(&self.barrier.path), self.read_ready(&ready));
            let (record, members) = (zk.get(&directory), zk.children(&directory));
            self.next = None;
            match generation.await {
                Err(e) if e.is_transient() => {
                    again(zk, status, e).await?;
                    continue;
                }
                read => self.took(read)?,
            }
            let Some(found) = unless_again(zk, status, present(ready.await)).await? else { continue };
            match found {
                Some((found, watch)) => return self.opened(&found.data, true, watch).map(Some),
                None if self.next.is_some() => return Ok(None),
                None => {}
            }
            let (record, members) = match (record.await, members.await) {
                (Ok(record), Ok(members)) => (record, Roster::of(members.names)),
                (Err(Error::NoNode), _) | (_, Err(Error::NoNode)) => return self.removed(),
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
            return Err(Error::Mismatch(what));
        };
        if !roster.has(name_of(&self.own())) {
            return self.removed();
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
        if let Some(watch) = self.own_watch.take() {
            tenure.is_watched_by(watch);
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
            return Err(Error::TimedOut);
        }
        let zk = self.barrier.zk.clone();
        let status = zk.status();
        match status.over() {
            Some(over) => return Err(over),
            None if !status.is_connected() => return Err(Error::ConnectionLoss),
            None => {}
        }
        // A retry after the refusal of an overloaded server would outlast the limit.
        match first(unless_refused(self.settle_limit()), zk.changed(status)).await {
            // A refusal does not tell whether we were counted.
            Either::Left(Err(e)) if e.says_nothing_of_the_tree() => Err(Error::ConnectionLoss),
            Either::Left(settled) => settled,
            Either::Right(now) => Err(now.over().unwrap_or(Error::ConnectionLoss)),
        }
    }

    async fn settle_limit(&mut self) -> Result<Inside<Z>, Error> {
        let zk = &self.barrier.zk;
        if self.own.is_none() && self.find_own().await?.is_none() {
            self.give_up_duty();
            return Err(Error::TimedOut);
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
                Err(Error::TimedOut)
            }
            Err(Error::Multi { cause, .. }) if cause.says_nothing_of_the_tree() => Err(*cause),
            Err(Error::Multi { index: 0, .. }) => match self.look().await? {
                Some((roster, ready)) => self.inside(roster, ready),
                // Contradictory reads: the outcome is unknown.
                None => Err(Error::ConnectionLoss),
            },
            Err(Error::Multi { index: 1, .. }) => self.removed(),
            Err(e) => Err(e),
        }
    }
}
