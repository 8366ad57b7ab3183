//! Joining a generation: steps 1 and 2 of entering a double barrier.

use super::enter::Entering;
use super::roster::Roster;
use super::{DoubleBarrier, Reuse};
use crate::parts::parents::{Parents, behind};
use crate::parts::retry::{again, connected, present, reconnected, unless_again};
use crate::zk::duty::{answered, settle};
use crate::zk::{CreateMode, Data, Duty, Error, ErrorKind, Op, OpResult, ZooKeeper, path};

impl<Z: ZooKeeper> Entering<'_, Z> {
    /// Step 1. Creates the barrier if there is none.
    pub(super) async fn find_generation(&mut self) -> Result<(), Error> {
        let DoubleBarrier { zk, path: barrier, options, .. } = self.barrier;
        let mut is_parent_missing = false;
        loop {
            let status = connected(zk).await?;
            let found = present(zk.get(barrier).await);
            let Some(found) = unless_again(zk, status, found).await? else { continue };
            if let Some(found) = found {
                return self.found_generation(&found);
            }
            let making = match is_parent_missing {
                true => Some(options.parents.make_for(zk, barrier)?),
                false => None,
            };
            // A barrier for one use stays, so that a late participant does not take it for a new one.
            let mode = match (options.parents, options.reuse) {
                (Parents::Persistent, _) | (_, Reuse::Once) => CreateMode::Persistent,
                _ => CreateMode::Container,
            };
            let made = zk.multi(vec![
                Op::Create { path: barrier.clone(), data: self.barrier.data(), mode },
                Op::Create { path: self.barrier.directory(0), data: vec![], mode: CreateMode::Container },
            ]);
            is_parent_missing = match behind(making, made).await? {
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. }) if *cause == ErrorKind::NoNode => {
                    true
                }
                Err(Error { kind: ErrorKind::Multi { cause, .. }, .. })
                    if *cause == ErrorKind::NodeExists =>
                {
                    false
                }
                Ok(_) => false,
                Err(e) => again(zk, status, e).await.map(|()| false)?,
            };
        }
    }

    fn found_generation(&mut self, found: &Data) -> Result<(), Error> {
        self.is_for_as_many(found)?;
        if self.barrier.options.reuse == Reuse::Once && found.stat.version > 0 {
            return Err(ErrorKind::Late.into());
        }
        self.generation = found.stat.version;
        Ok(())
    }

    pub(super) fn is_for_as_many(&self, found: &Data) -> Result<(), Error> {
        if found.data == self.barrier.data() {
            return Ok(());
        }
        let of = self.barrier.options.participants;
        let holds = String::from_utf8_lossy(&found.data).into_owned();
        Err(ErrorKind::Mismatch(format!("{} is for {holds:?} participants, not for {of}", self.barrier.path))
            .into())
    }

    /// Step 2. Returns how many participants are registered, ourselves included.
    pub(super) async fn join(&mut self) -> Result<usize, Error> {
        let zk = &self.barrier.zk;
        let mut status = connected(zk).await?;
        loop {
            let directory = self.barrier.directory(self.generation);
            let duty = Duty::Guid {
                directory: directory.clone(),
                guid: self.guid.to_string(),
                connection: status.connection,
            };
            match &mut self.armed {
                // No znode of an earlier attempt exists.
                Some(armed) => armed.narrow(duty),
                None => self.armed = Some(zk.arm(duty)),
            }
            match zk.multi(self.joining(&directory)).await {
                Ok(results) => return self.joined(results),
                Err(Error { kind: ErrorKind::Multi { index: 0, cause }, .. })
                    if !cause.says_nothing_of_the_tree() =>
                {
                    if self.barrier.options.reuse == Reuse::Once {
                        self.give_up_duty();
                        return Err(ErrorKind::Late.into());
                    }
                    self.find_generation().await?;
                }
                Err(Error { kind: ErrorKind::Multi { index: 1, cause }, .. })
                    if *cause == ErrorKind::NoNode =>
                {
                    match zk.create(&directory, &[], CreateMode::Container).await {
                        Ok(_) | Err(Error { kind: ErrorKind::NodeExists | ErrorKind::NoNode, .. }) => {}
                        Err(e) => again(zk, status, e).await?,
                    }
                }
                Err(e) if e.is_retryable_refusal() => again(zk, status, e).await?,
                // The join may have been applied, so look before retrying.
                Err(e) if e.is_connection_loss() => {
                    reconnected(zk, status).await?;
                    if let Some(registered) = self.find_own().await? {
                        return Ok(registered);
                    }
                    // The join may have been applied, counted, and deleted with the whole barrier: participants of that
                    // round must not take a new znode for it, so it gets a new guid.
                    self.guid = zk.guid();
                }
                Err(e) => {
                    if !e.is_outcome_unknown() {
                        self.give_up_duty();
                    }
                    return Err(e);
                }
            }
            status = connected(zk).await?;
        }
    }

    fn joining(&self, directory: &str) -> Vec<Op> {
        let member = self.barrier.prefix(self.generation, self.guid);
        vec![
            Op::Check { path: self.barrier.path.clone(), version: Some(self.generation) },
            Op::Create { path: member, data: vec![], mode: CreateMode::EphemeralSequential },
            Op::Set { path: directory.to_owned(), data: vec![], version: None },
        ]
    }

    /// The join was applied: notes the own znode, and returns how many are registered.
    fn joined(&mut self, results: Vec<OpResult>) -> Result<usize, Error> {
        let mut results = results.into_iter().skip(1);
        let (Some(OpResult::Created(own)), Some(OpResult::Set(stat))) = (results.next(), results.next())
        else {
            return Err(ErrorKind::Unexpected("a transaction of three has other results".into()).into());
        };
        self.owns(own, stat.mzxid);
        let registered = usize::try_from(stat.num_children).unwrap_or(0);
        // The generation before a remembered one has opened.
        let is_known = self.barrier.remembered() == Some(self.generation);
        self.is_first = registered == 1 && self.generation > 0 && !is_known;
        Ok(registered)
    }

    fn owns(&mut self, own: String, czxid: i64) {
        if let Some(armed) = &mut self.armed {
            armed.narrow(Duty::Path(own.clone()));
        }
        self.own = Some((own, czxid));
    }

    pub(super) fn give_up_duty(&mut self) {
        if let Some(armed) = self.armed.take() {
            armed.done();
        }
    }

    /// Finds the znode of a lost join; returns how many participants are registered. The result is final: a settling write
    /// goes ahead of the list, so no request of ours can be applied later (CURATOR-264).
    pub(super) async fn find_own(&mut self) -> Result<Option<usize>, Error> {
        let zk = &self.barrier.zk;
        let directory = self.barrier.directory(self.generation);
        let guid = self.guid.to_string();
        'look: loop {
            let status = connected(zk).await?;
            let (settled, list) = (settle(zk, &directory), zk.children(&directory));
            let Some(()) = unless_again(zk, status, answered(Some(settled)).await).await? else { continue };
            let Some(list) = unless_again(zk, status, present(list.await)).await? else { continue };
            let Some(list) = list else { return Ok(None) };
            let members = Roster::of(list.names);
            for name in members.names().iter().filter(|name| name.contains(&guid)) {
                let path = path::join(&directory, name);
                match zk.exists(&path).await {
                    Ok(Some(stat)) if stat.ephemeral_owner == zk.session() => {
                        self.owns(path, stat.czxid);
                        return Ok(Some(members.names().len()));
                    }
                    // Not ours, regardless of its name (CURATOR-498).
                    Ok(Some(_)) => {}
                    Ok(None) => continue 'look,
                    Err(e) => {
                        again(zk, status, e).await?;
                        continue 'look;
                    }
                }
            }
            return Ok(None);
        }
    }
}
