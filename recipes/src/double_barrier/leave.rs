//! Leaving a double barrier: no leave returns while a participant of the roster is left.
//!
//! A leave returns after a list without any member. No member is added after the opening, so that stays true, and a stale
//! list only shows too many.
//!
//! In a chain ([`Leave::Chain`]) each participant waits for the end of the nearest lower one, deletes its znode, and then
//! waits for the end of the highest.

use super::roster::{Roster, name_of};
use super::{Inside, Leave};
use crate::observe;
use crate::parts::retry::{again, connected, present, unless_again, until_answered};
use crate::parts::tenure::{LostReason, Released, Tenure};
use crate::zk::{Armed, Error, ErrorKind, EventKind, Op, Status, ZooKeeper, path};
use futures_util::FutureExt;
use futures_util::future::Shared;

/// The next step after the deletion of the own znode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The leave is complete.
    Out,
    /// List the members that are left.
    Look,
}

/// A leave in progress.
pub(super) struct Leaving<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    ready: String,
    own: String,
    how: Leave,
    /// Deletes `ready`, if we are the keeper.
    keeper: Option<Armed>,
    /// The roster of the opening. Others are not waited for, even if another client has deleted the directory and new
    /// participants gather in it.
    roster: Roster,
    /// The guid of the keeper.
    opener: String,
    ready_watch: Option<Shared<Z::Watch>>,
    /// Deletes the own znode unless its deletion is confirmed.
    armed: Option<Armed>,
    /// Whether the reply to a delete of the own znode was lost.
    in_doubt: bool,
    /// Whether another client had deleted the own znode.
    was_removed: bool,
    /// Keeps the watch on the own znode until its deletion, which is cheaper than removing it.
    _tenure: Tenure<Z>,
}

impl<Z: ZooKeeper> Leaving<Z> {
    pub(super) fn new(inside: Inside<Z>) -> Self {
        let Inside { barrier, generation, roster, mut tenure, keeper, opener, ready } = inside;
        Leaving {
            directory: barrier.directory(generation),
            ready: barrier.ready(generation),
            own: tenure.path().to_owned(),
            how: barrier.options.leave,
            zk: barrier.zk,
            keeper,
            roster,
            opener,
            ready_watch: ready,
            armed: tenure.take_duty(),
            in_doubt: false,
            was_removed: false,
            _tenure: tenure,
        }
    }

    pub(super) async fn leave(mut self) -> Result<Released, Error> {
        match self.how {
            Leave::Chain => self.in_chain().await?,
            Leave::Keeper if self.keeper.is_some() => self.as_keeper().await?,
            Leave::Keeper => self.as_member().await?,
        }
        Ok(if self.was_removed { Released::WasLost(LostReason::Removed) } else { Released::Clean })
    }

    /// The members of the roster in a list.
    fn those_of(&self, names: Vec<String>) -> Roster {
        Roster::of(names).among(&self.roster)
    }

    /// Lists the members that are left.
    async fn members(&self) -> Result<Roster, Error> {
        // A missing directory was reaped, since it was empty.
        let list = present(until_answered(&self.zk, || self.zk.children(&self.directory)).await)?;
        Ok(list.map(|list| self.those_of(list.names)).unwrap_or_default())
    }

    /// Waits for the deletion of a member; returns at once if it is gone.
    async fn end_of(&self, name: &str) -> Result<(), Error> {
        let status = connected(&self.zk).await?;
        match self.zk.children_watch(&path::join(&self.directory, name)).await {
            Ok((_, watch)) => {
                observe::waits(&self.directory);
                watch.await.map(drop)
            }
            Err(e) if e.is_no_node() => Ok(()),
            Err(e) => again(&self.zk, status, e).await,
        }
    }

    /// Confirms the deletion of the own znode.
    fn gone(&mut self) {
        if let Some(armed) = self.armed.take() {
            armed.done();
        }
    }

    /// The own znode is gone: by a delete whose reply was lost, or by another client.
    fn found_gone(&mut self) {
        self.was_removed |= self.armed.is_some() && !self.in_doubt;
        self.gone();
    }

    /// Starts again after a delete of the own znode that failed.
    async fn again(&mut self, status: Status, error: Error) -> Result<(), Error> {
        self.in_doubt |= error.is_connection_loss();
        again(&self.zk, status, error).await
    }

    /// Confirms the deletion of the own znode, and of `ready` if we are the keeper.
    fn all_gone(&mut self) {
        self.gone();
        if let Some(armed) = self.keeper.take() {
            armed.done();
        }
    }

    fn delete_own(&self) -> Op {
        Op::Delete { path: self.own.clone(), version: None }
    }

    /// Step 1.
    async fn as_member(&mut self) -> Result<(), Error> {
        loop {
            let status = connected(&self.zk).await?;
            let check = Op::Check { path: self.ready.clone(), version: None };
            match self.zk.multi(vec![check, self.delete_own()]).await {
                Ok(_) => break,
                Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. })
                    if *cause == ErrorKind::NoNode =>
                {
                    return self.without_keeper().await;
                }
                // Deleted by an attempt whose reply was lost, or by another client.
                Err(Error { kind: ErrorKind::Multi { index: 1, cause }, .. })
                    if *cause == ErrorKind::NoNode =>
                {
                    self.found_gone();
                    break;
                }
                Err(e) => self.again(status, e).await?,
            }
        }
        self.gone();
        self.end_of_ready().await?;
        // The keeper goes last, unless it has died.
        self.without_keeper().await
    }

    async fn end_of_ready(&mut self) -> Result<(), Error> {
        loop {
            let watch = match self.ready_watch.take() {
                Some(watch) => watch,
                None => {
                    let status = connected(&self.zk).await?;
                    match self.zk.get_watch(&self.ready).await {
                        Ok((_, watch)) => watch.shared(),
                        Err(e) if e.is_no_node() => return Ok(()),
                        Err(e) => {
                            again(&self.zk, status, e).await?;
                            continue;
                        }
                    }
                }
            };
            observe::waits(&self.ready);
            if watch.await?.kind == EventKind::NodeDeleted {
                return Ok(());
            }
        }
    }

    /// Step 2.
    async fn as_keeper(&mut self) -> Result<(), Error> {
        let own = name_of(&self.own).to_owned();
        // The member that is expected to be the highest of those left.
        let mut expected = self.roster.clone().without(&own).names().last().cloned();
        loop {
            let status = connected(&self.zk).await?;
            // Pipelined: the list, and a watch on the member that will be the highest.
            let listing = self.zk.children(&self.directory);
            let watching =
                expected.take().map(|name| self.zk.children_watch(&path::join(&self.directory, &name)));
            let listed = present(listing.await);
            let watched = match watching {
                Some(watching) => present(watching.await),
                None => Ok(None),
            };
            let both = listed.and_then(|list| Ok((list, watched?)));
            let Some((list, watched)) = unless_again(&self.zk, status, both).await? else { continue };
            let others = list.map(|list| self.those_of(list.names)).unwrap_or_default().without(&own);
            let Some(highest) = others.names().last() else { break };
            match watched {
                Some((_, watch)) => {
                    observe::waits(&self.directory);
                    watch.await?;
                }
                None => self.end_of(highest).await?,
            }
            if others.names().len() == 1 && self.go_last().await? {
                return Ok(());
            }
            expected = others.names().iter().nth_back(1).cloned();
        }
        self.go(Then::Out).await.map(drop)
    }

    /// Deletes the own znode, `ready`, and the directory, which is refused while a member is left. Returns whether that is
    /// done; if not, a list has to tell what is left.
    async fn go_last(&mut self) -> Result<bool, Error> {
        let delete = |path: &String| Op::Delete { path: path.clone(), version: None };
        let status = connected(&self.zk).await?;
        match self.zk.multi(vec![self.delete_own(), delete(&self.ready), delete(&self.directory)]).await {
            Ok(_) => {
                self.all_gone();
                Ok(true)
            }
            Err(Error { kind: ErrorKind::Multi { .. }, .. }) => Ok(false),
            Err(e) => self.again(status, e).await.map(|()| false),
        }
    }

    /// Deletes the own znode, and `ready` if we are the keeper: together while both exist. With [`Then::Look`] returns the
    /// members that are left, from a list in the same round trip; a list behind the delete does not show the deleted znode.
    async fn go(&mut self, then: Then) -> Result<Option<Roster>, Error> {
        let mut ops = vec![self.delete_own()];
        if self.keeper.is_some() {
            ops.push(Op::Delete { path: self.ready.clone(), version: None });
        }
        let mut left = None;
        while !ops.is_empty() {
            let status = connected(&self.zk).await?;
            let going = self.zk.multi(ops.clone());
            let looking = (then == Then::Look).then(|| self.zk.children(&self.directory));
            match going.await {
                Ok(_) => {
                    left = looking;
                    break;
                }
                // One of them is gone already: a reply was lost, or another client deleted it.
                Err(Error { kind: ErrorKind::Multi { index, cause }, .. }) if *cause == ErrorKind::NoNode => {
                    if ops.remove(index).path() == self.own {
                        self.found_gone();
                    }
                }
                Err(e) => self.again(status, e).await?,
            }
        }
        self.all_gone();
        match left {
            Some(looking) => Ok(looking.await.ok().map(|list| self.those_of(list.names))),
            None => Ok(None),
        }
    }

    /// Step 3, and the end of step 1: the keeper goes last, or if it is gone the lowest member. While the keeper is there
    /// it waits for all others, even if another client has deleted `ready`, since no other member waits for all.
    async fn without_keeper(&mut self) -> Result<(), Error> {
        let own = name_of(&self.own).to_owned();
        loop {
            let members = self.members().await?;
            let is_registered = members.has(&own);
            if !is_registered {
                self.found_gone();
            }
            let last = members.of_guid(&self.opener).or(members.names().first()).cloned();
            let others = members.without(&own);
            match (last, others.names().last()) {
                (None, _) => return Ok(()),
                (Some(_), None) => match self.go(Then::Look).await? {
                    Some(left) if left.names().is_empty() => return Ok(()),
                    _ => {}
                },
                (Some(last), Some(highest)) if last == own => self.end_of(highest).await?,
                (Some(last), Some(_)) if is_registered => self.go_behind(&last).await?,
                (Some(last), Some(_)) => self.end_of(&last).await?,
            }
        }
    }

    /// Deletes the own znode while the last member is there, and waits for the end of that one.
    async fn go_behind(&mut self, last: &str) -> Result<(), Error> {
        let status = connected(&self.zk).await?;
        let last = path::join(&self.directory, last);
        // One flight.
        let out = self.zk.multi(vec![Op::Check { path: last.clone(), version: None }, self.delete_own()]);
        let watching = self.zk.children_watch(&last);
        match out.await {
            Ok(_) => self.gone(),
            // The last member, or our own znode, is gone: the next list tells which.
            Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) if *cause == ErrorKind::NoNode => {
                return Ok(());
            }
            Err(e) => return self.again(status, e).await,
        }
        match watching.await {
            Ok((_, watch)) => watch.await.map(drop),
            Err(e) if e.is_no_node() => Ok(()),
            Err(e) => again(&self.zk, status, e).await,
        }
    }

    async fn in_chain(&mut self) -> Result<(), Error> {
        let own = name_of(&self.own).to_owned();
        let mut told = None;
        loop {
            let members = match told.take() {
                Some(members) => members,
                None => self.members().await?,
            };
            let is_registered = members.has(&own);
            if !is_registered {
                self.found_gone();
            }
            let lower = members.names().iter().take_while(|name| **name != own).last().cloned();
            match lower.filter(|_| is_registered) {
                Some(nearest) => self.end_of(&nearest).await?,
                None if is_registered => told = self.go(Then::Look).await?,
                None => match members.names().last() {
                    Some(highest) => self.end_of(highest).await?,
                    None => return Ok(()),
                },
            }
        }
    }
}
