//! The queue of waiters that locks, elections and idle consumers share.
//!
//! 1. *Join*: create an ephemeral sequential znode whose name begins with a fresh guid, pipelined with a list of the
//!    directory. After a lost reply find the znode by its guid before retrying.
//! 2. *Look*: judge a list that was requested after the own znode existed. No contender ahead: it is our turn.
//! 3. *Wait*: watch the nearest contender ahead, and only that one, which avoids a thundering herd; look again when it
//!    goes.
//!
//! The nearest is enough, since our turn comes only when all contenders ahead are gone. The watch is a child watch: an
//! ephemeral has no children, so it fires at the deletion and at nothing else, and on an absent znode it arms nothing
//! (CURATOR-107). A stale list is safe: every contender ahead is older than our own znode, so none is missing from it.

mod order;

pub(crate) use order::{Seniority, czxids, is_good, seniority};

use super::naming::{Marks, Role};
use super::parents::{Parents, behind};
use super::retry::{again, connected, present, reconnected, unless_again};
use super::select::while_connected;
use crate::observe;
use crate::zk::duty::{answered, settle};
use crate::zk::{Armed, CreateMode, Duty, Error, ErrorKind, Guid, Stat, ZooKeeper, path};
use order::WORN;
use std::future::Future;

/// A contender: a client's znode in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The full path of the znode.
    pub path: String,
    /// The sequence number that the server assigned.
    pub number: i32,
}

/// A queue of waiters: a directory, and the names of its contenders.
#[derive(Clone, Debug)]
pub(crate) struct Contenders {
    pub directory: String,
    pub marks: Marks,
    pub parents: Parents,
}

/// Names in the directory, and the connection over which they were requested.
pub(crate) struct ContenderList {
    pub names: Vec<String>,
    pub connection: u32,
}

/// The znode with which a client joins.
pub(crate) struct Joining<'a> {
    pub guid: Guid,
    /// The name without its sequence number.
    pub prefix: &'a str,
    pub data: &'a [u8],
}

/// The own contender, and the read that was pipelined with its create.
pub(crate) struct Joined<T> {
    pub contender: OwnContender,
    pub seen: Seen<T>,
}

/// The read that came with the create.
pub(crate) enum Seen<T> {
    /// The answer to the read behind the create, and its connection.
    Answered(T, u32),
    /// The list in which the znode of a lost create was found.
    Found(ContenderList),
    /// The read was lost.
    Lost,
}

/// The caller's own contender.
pub(crate) struct OwnContender {
    pub path: String,
    pub czxid: i64,
    /// Deletes the znode unless its deletion is confirmed.
    pub armed: Armed,
}

impl Contenders {
    /// Checks that the directory is valid and that a znode with these data fits into a request.
    pub(crate) fn validate<Z: ZooKeeper>(&self, zk: &Z, data: &[u8]) -> Result<(), Error> {
        path::validate_directory(&self.directory)?;
        let longest = self.marks.infixes.iter().map(|infix| infix.len()).max().unwrap_or(0);
        let name = "x".repeat(self.marks.guid(Guid(0)).len() + longest);
        path::validate_size(zk.max_request_bytes(), &path::join(&self.directory, &name), data)
    }

    /// Step 1. Returns the own contender and the list behind the create, unless it was lost.
    pub(crate) async fn join<Z: ZooKeeper>(
        &self,
        zk: &Z,
        role: Role,
        data: &[u8],
    ) -> Result<(OwnContender, Option<ContenderList>), Error> {
        let guid = zk.guid();
        let prefix = self.marks.prefix(guid, role);
        let listing = || zk.children(&self.directory);
        let joined = self.join_as(zk, Joining { guid, prefix: &prefix, data }, listing).await?;
        let look = match joined.seen {
            Seen::Answered(list, connection) => Some(ContenderList { names: list.names, connection }),
            Seen::Found(look) => Some(look),
            Seen::Lost => None,
        };
        Ok((joined.contender, look))
    }

    /// Step 1 with a name and a read of the caller's.
    pub(crate) async fn join_as<Z: ZooKeeper, T, F: Future<Output = Result<T, Error>>>(
        &self,
        zk: &Z,
        entry: Joining<'_>,
        look: impl Fn() -> F,
    ) -> Result<Joined<T>, Error> {
        let Joining { guid, prefix, data } = entry;
        let prefix = path::join(&self.directory, prefix);
        let mut status = connected(zk).await?;
        let mut armed = zk.arm(Duty::Guid {
            directory: self.directory.clone(),
            guid: self.marks.guid(guid),
            connection: status.connection,
        });
        let mut is_missing = false;
        loop {
            // Pipelined: missing levels if there are any, the create, the list.
            let making = is_missing.then(|| self.parents.make(zk, &self.directory));
            let create = zk.create(&prefix, data, CreateMode::EphemeralSequential);
            let looked = look();
            match behind(making, create).await? {
                Ok(created) => {
                    armed.narrow(Duty::Path(created.path.clone()));
                    let contender = OwnContender { path: created.path, czxid: created.stat.czxid, armed };
                    let seen = match looked.await {
                        Ok(looked) => Seen::Answered(looked, status.connection),
                        Err(e) if e.is_no_node() => Seen::Lost,
                        Err(e) if e.is_transient() => Seen::Lost,
                        Err(e) => return Err(e),
                    };
                    return Ok(Joined { contender, seen });
                }
                Err(e) if e.is_no_node() && self.parents != Parents::MustExist => {
                    is_missing = true;
                }
                Err(e) if e.is_retryable_refusal() => {
                    if let Err(e) = again(zk, status, e).await {
                        // Nothing was created: earlier lost creates have been looked for.
                        armed.done();
                        return Err(e);
                    }
                }
                // The reply may be lost after the create was applied, so look before creating again.
                Err(e) if e.is_connection_loss() => {
                    is_missing = false;
                    reconnected(zk, status).await?;
                    if let Some((own, stat, look)) = self.find(zk, guid).await? {
                        armed.narrow(Duty::Path(own.clone()));
                        let contender = OwnContender { path: own, czxid: stat.czxid, armed };
                        return Ok(Joined { contender, seen: Seen::Found(look) });
                    }
                }
                Err(e) => {
                    if !e.is_outcome_unknown() {
                        armed.done();
                    }
                    return Err(e);
                }
            }
            status = connected(zk).await?;
        }
    }

    /// Finds the znode of a lost create. The result is final: a settling write goes ahead of the list, so no create of this
    /// session can be applied later (CURATOR-264).
    async fn find<Z: ZooKeeper>(
        &self,
        zk: &Z,
        guid: Guid,
    ) -> Result<Option<(String, Stat, ContenderList)>, Error> {
        let guid = self.marks.guid(guid);
        'look: loop {
            let status = connected(zk).await?;
            let settled = settle(zk, &self.directory);
            let list = zk.children(&self.directory);
            if let Err(e) = answered(Some(settled)).await {
                again(zk, status, e).await?;
                continue;
            }
            let Some(list) = unless_again(zk, status, present(list.await)).await? else { continue };
            let Some(names) = list.map(|list| list.names) else { return Ok(None) };
            let mut mine: Vec<(Option<i32>, &String)> = names
                .iter()
                .filter(|name| name.contains(&guid))
                .map(|name| (self.marks.number(name), name))
                .collect();
            mine.sort();
            let mut own = None;
            for (_, name) in mine {
                let path = path::join(&self.directory, name);
                match zk.exists(&path).await {
                    // An ephemeral of another session, regardless of its name (CURATOR-498, CURATOR-604).
                    Ok(Some(stat)) if stat.ephemeral_owner != zk.session() => {}
                    Ok(Some(stat)) if own.is_none() => own = Some((path, stat)),
                    // A second own znode: one create too many was applied. Delete it at once (accumulo#637).
                    Ok(Some(_)) => drop(zk.arm(Duty::Path(path))),
                    Ok(None) => continue 'look,
                    Err(e) => {
                        again(zk, status, e).await?;
                        continue 'look;
                    }
                }
            }
            return Ok(
                own.map(|(path, stat)| (path, stat, ContenderList { names, connection: status.connection }))
            );
        }
    }

    /// Steps 1 to 3: joins and waits for its turn.
    pub(crate) async fn join_and_wait<Z: ZooKeeper>(
        &self,
        zk: &Z,
        role: Role,
        data: &[u8],
        conflicts: fn(Role) -> bool,
    ) -> Result<OwnContender, Error> {
        let (contender, look) = self.join(zk, role, data).await?;
        self.wait_turn(zk, &contender, look, conflicts).await?;
        Ok(contender)
    }

    /// Steps 1 and 2: joins, and returns the contender if it is its turn at the first look.
    pub(crate) async fn join_if_free<Z: ZooKeeper>(
        &self,
        zk: &Z,
        role: Role,
        data: &[u8],
        conflicts: fn(Role) -> bool,
    ) -> Result<Option<OwnContender>, Error> {
        let attempt = async {
            let (contender, look) = self.join(zk, role, data).await?;
            Ok(self.is_turn(zk, &contender, look, conflicts).await?.then_some(contender))
        };
        while_connected(zk, attempt).await
    }

    /// Steps 2 and 3: waits until no contender ahead has a role that `conflicts`. Returns whether it was so at the first look.
    pub(crate) async fn wait_turn<Z: ZooKeeper>(
        &self,
        zk: &Z,
        contender: &OwnContender,
        mut look: Option<ContenderList>,
        conflicts: fn(Role) -> bool,
    ) -> Result<bool, Error> {
        let mut is_first_look = true;
        loop {
            let list = match look.take() {
                Some(list) => list,
                None => self.list(zk, contender).await?,
            };
            let Some(nearest) = self.judge(zk, contender, list, conflicts).await? else {
                return Ok(is_first_look);
            };
            is_first_look = false;
            if let Some(nearest) = nearest {
                self.wait(zk, &nearest).await?;
            }
        }
    }

    /// Step 2, once: whether it is our turn at the first look. A disconnect counts as "no".
    pub(crate) async fn is_turn<Z: ZooKeeper>(
        &self,
        zk: &Z,
        contender: &OwnContender,
        look: Option<ContenderList>,
        conflicts: fn(Role) -> bool,
    ) -> Result<bool, Error> {
        let Some(list) = look else { return Ok(false) };
        Ok(self.judge(zk, contender, list, conflicts).await?.is_none())
    }

    async fn list<Z: ZooKeeper>(&self, zk: &Z, contender: &OwnContender) -> Result<ContenderList, Error> {
        loop {
            let status = connected(zk).await?;
            match zk.children(&self.directory).await {
                Ok(list) => return Ok(ContenderList { names: list.names, connection: status.connection }),
                Err(e) if e.is_no_node() => return Err(ErrorKind::Removed(contender.path.clone()).into()),
                Err(e) => again(zk, status, e).await?,
            }
        }
    }

    /// Judges a list. `None`: it is our turn. `Some(None)`: look again. `Some(Some(path))`: wait for that contender.
    async fn judge<Z: ZooKeeper>(
        &self,
        zk: &Z,
        contender: &OwnContender,
        look: ContenderList,
        conflicts: fn(Role) -> bool,
    ) -> Result<Option<Option<String>>, Error> {
        let own = path::split(&contender.path).1;
        if !look.names.iter().any(|name| name == own) {
            // An own znode that is missing from the list never means that it is first.
            return Err(ErrorKind::Removed(contender.path.clone()).into());
        }
        let before = connected(zk).await?;
        match self.nearest_ahead(zk, own, contender.czxid, &look.names, conflicts).await {
            Ok(Some(name)) => Ok(Some(Some(path::join(&self.directory, &name)))),
            Err(e) => again(zk, before, e).await.map(|()| Some(None)),
            Ok(None) => {
                let now = zk.status();
                // A list from an earlier connection may be older than the end of our own session.
                let current = now.is_connected() && now.connection == look.connection;
                Ok(if current { None } else { Some(None) })
            }
        }
    }

    async fn nearest_ahead<Z: ZooKeeper>(
        &self,
        zk: &Z,
        own: &str,
        own_czxid: i64,
        names: &[String],
        conflicts: fn(Role) -> bool,
    ) -> Result<Option<String>, Error> {
        let own_number = self.marks.number(own).unwrap_or(WORN);
        let own_rank = seniority(own_number, own_czxid);
        // Worn numbers rank behind all good ones, so a contender with a good number need not fetch czxids.
        let unclear = |number| if is_good(number) { number == own_number } else { !is_good(own_number) };
        let mut nearest = None;
        let mut asked = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let Some((role, number)) = self.marks.read(name) else { continue };
            if !conflicts(role) || name == own {
                continue;
            }
            match unclear(number) {
                false => {
                    nearest = nearest.max(Some((seniority(number, 0), index)).filter(|one| one.0 < own_rank))
                }
                true => asked.push((number, index)),
            }
        }
        for (number, index, czxid) in czxids(zk, &self.directory, names, asked).await? {
            nearest = nearest.max(Some((seniority(number, czxid), index)).filter(|one| one.0 < own_rank));
        }
        Ok(nearest.map(|(_, index)| names[index].clone()))
    }

    /// Step 3. A notification alone never grants: the caller looks again.
    async fn wait<Z: ZooKeeper>(&self, zk: &Z, nearest: &str) -> Result<(), Error> {
        let status = connected(zk).await?;
        match zk.children_watch(nearest).await {
            Ok((_, watch)) => {
                observe::waits(nearest);
                watch.await.map(drop)
            }
            Err(e) if e.is_no_node() => Ok(()),
            Err(e) => again(zk, status, e).await,
        }
    }
}
