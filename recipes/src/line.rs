//! Standing in line: what locks, elections and their like have in common.
//!
//! 1. *Join*: create an ephemeral sequential znode whose name begins with a fresh guid, and list the directory, in one
//!    flight. If the reply to the create is lost, find the znode by its guid before trying again.
//! 2. *Look*: judge a list that was asked for after our own znode existed. Nobody ahead: it is our turn.
//! 3. *Wait*: watch the nearest one ahead, and only that one; when it goes, look again.
//!
//! The nearest is enough: for our turn to come all ahead must be gone, so it too. It is watched by listing its children:
//! an ephemeral has none, so the watch fires at its deletion and at nothing else, and on a znode that is gone already
//! nothing is left armed (CURATOR-107). A stale list is safe: nobody ahead of us can be missing from it.

use crate::naming::{Marks, Role};
use crate::observe;
use crate::parents::Parents;
use crate::race::{again, connected, reconnected, while_connected};
use crate::zk::duty::settle;
use crate::zk::{Armed, CreateMode, Duty, Error, Guid, Stat, ZooKeeper, path};
use std::future::Future;

/// One who stands in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The znode's whole path.
    pub path: String,
    /// The number that the server gave it.
    pub number: i32,
}

/// A line: a directory and how its members are named.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub directory: String,
    pub marks: Marks,
    pub parents: Parents,
}

/// A list, and the connection over which it was asked for.
pub(crate) struct Look {
    names: Vec<String>,
    connection: u32,
}

/// How somebody enters a line.
pub(crate) struct Entry<'a> {
    pub guid: Guid,
    /// The name, up to the number.
    pub prefix: &'a str,
    pub data: &'a [u8],
}

/// A place in a line, and what was seen in the same flight.
pub(crate) struct Joined<T> {
    pub place: Place,
    pub seen: Seen<T>,
}

/// What was seen when a place was taken.
pub(crate) enum Seen<T> {
    /// The look that left behind the create, and over which connection.
    Asked(T, u32),
    /// The list by which a lost create was found.
    Found(Look),
    /// The look was lost.
    Nothing,
}

/// One's own place in a line.
pub(crate) struct Place {
    pub path: String,
    pub czxid: i64,
    /// Deletes the znode unless it is known to be gone.
    pub armed: Armed,
}

/// The highest number that a counter of 32 bits gives. From here on names no longer tell the order
/// (ZOOKEEPER-4372): the czxid does.
const WORN: i32 = i32::MAX;

/// Ranks by number while numbers are good, then by czxid; equal numbers by czxid.
pub(crate) type Rank = (bool, i64, i64);

/// Whether it tells the order.
pub(crate) fn is_good(number: i32) -> bool {
    (0..WORN).contains(&number)
}

pub(crate) fn rank(number: i32, czxid: i64) -> Rank {
    if is_good(number) { (false, i64::from(number), czxid) } else { (true, czxid, 0) }
}

impl Line {
    /// Whether a znode of this line fits into a request, and where it may stand.
    pub(crate) fn validate(&self, data: &[u8]) -> Result<(), Error> {
        path::validate_directory(&self.directory)?;
        let longest = self.marks.infixes.iter().map(|infix| infix.len()).max().unwrap_or(0);
        let name = "x".repeat(self.marks.guid(Guid(0)).len() + longest);
        path::validate_size(&path::join(&self.directory, &name), data)
    }

    /// Step 1. With the place comes the list that was asked for behind the create, if it came.
    pub(crate) async fn join<Z: ZooKeeper>(
        &self,
        zk: &Z,
        role: Role,
        data: &[u8],
    ) -> Result<(Place, Option<Look>), Error> {
        let guid = zk.guid();
        let prefix = self.marks.prefix(guid, role);
        let listing = || zk.children(&self.directory);
        let joined = self.join_as(zk, Entry { guid, prefix: &prefix, data }, listing).await?;
        let look = match joined.seen {
            Seen::Asked(list, connection) => Some(Look { names: list.names, connection }),
            Seen::Found(look) => Some(look),
            Seen::Nothing => None,
        };
        Ok((joined.place, look))
    }

    /// Step 1 under a name of one's own, with a look of one's own behind the create.
    pub(crate) async fn join_as<Z: ZooKeeper, T, F: Future<Output = Result<T, Error>>>(
        &self,
        zk: &Z,
        entry: Entry<'_>,
        look: impl Fn() -> F,
    ) -> Result<Joined<T>, Error> {
        let Entry { guid, prefix, data } = entry;
        let prefix = path::join(&self.directory, prefix);
        let mut status = connected(zk).await?;
        let mut armed = zk.arm(Duty::Guid {
            directory: self.directory.clone(),
            guid: self.marks.guid(guid),
            connection: status.connection,
        });
        let mut is_missing = false;
        loop {
            // One flight: missing levels if there are any, the create, the list.
            let making = is_missing.then(|| self.parents.make(zk, &self.directory));
            let create = zk.create(&prefix, data, CreateMode::EphemeralSequential);
            let looked = look();
            if let Some(making) = making {
                making.done().await?;
            }
            match create.await {
                Ok(created) => {
                    armed.narrow(Duty::Path(created.path.clone()));
                    let place = Place { path: created.path, czxid: created.stat.czxid, armed };
                    let seen = match looked.await {
                        Ok(looked) => Seen::Asked(looked, status.connection),
                        Err(Error::ConnectionLoss | Error::NoNode) => Seen::Nothing,
                        Err(e) => return Err(e),
                    };
                    return Ok(Joined { place, seen });
                }
                Err(Error::NoNode) if self.parents != Parents::MustExist => {
                    is_missing = true;
                }
                // The reply may be lost after the create was applied, so look before creating again.
                Err(Error::ConnectionLoss) => {
                    is_missing = false;
                    reconnected(zk, status).await?;
                    if let Some((own, stat, look)) = self.find(zk, guid).await? {
                        armed.narrow(Duty::Path(own.clone()));
                        let place = Place { path: own, czxid: stat.czxid, armed };
                        return Ok(Joined { place, seen: Seen::Found(look) });
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

    /// What a lost create left behind, if anything. Final: a write goes ahead of the list, so nothing of this session
    /// that is still on its way can appear later (CURATOR-264).
    async fn find<Z: ZooKeeper>(&self, zk: &Z, guid: Guid) -> Result<Option<(String, Stat, Look)>, Error> {
        let guid = self.marks.guid(guid);
        'look: loop {
            let status = connected(zk).await?;
            let settled = settle(zk, &self.directory);
            let list = zk.children(&self.directory);
            if let Err(e @ (Error::ConnectionLoss | Error::SessionOver(_))) = settled.await {
                again(zk, status, e).await?;
                continue;
            }
            let names = match list.await {
                Ok(list) => list.names,
                Err(Error::NoNode) => return Ok(None),
                Err(e) => {
                    again(zk, status, e).await?;
                    continue;
                }
            };
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
                    // Not ours: an ephemeral of another session, whatever its name says (CURATOR-498, CURATOR-604).
                    Ok(Some(stat)) if stat.ephemeral_owner != zk.session() => {}
                    Ok(Some(stat)) if own.is_none() => own = Some((path, stat)),
                    // A second one of ours: one create too many was applied. It goes at once (accumulo#637).
                    Ok(Some(_)) => drop(zk.arm(Duty::Path(path))),
                    Ok(None) => continue 'look,
                    Err(e) => {
                        again(zk, status, e).await?;
                        continue 'look;
                    }
                }
            }
            return Ok(own.map(|(path, stat)| (path, stat, Look { names, connection: status.connection })));
        }
    }

    /// Steps 1 to 3: waits for our turn.
    pub(crate) async fn stand<Z: ZooKeeper>(
        &self,
        zk: &Z,
        role: Role,
        data: &[u8],
        conflicts: fn(Role) -> bool,
    ) -> Result<Place, Error> {
        let (place, look) = self.join(zk, role, data).await?;
        self.turn(zk, &place, look, conflicts).await?;
        Ok(place)
    }

    /// Steps 1 and 2: a place, if it is our turn at the first look.
    pub(crate) async fn stand_at_once<Z: ZooKeeper>(
        &self,
        zk: &Z,
        role: Role,
        data: &[u8],
        conflicts: fn(Role) -> bool,
    ) -> Result<Option<Place>, Error> {
        let attempt = async {
            let (place, look) = self.join(zk, role, data).await?;
            Ok(self.turn_at_once(zk, &place, look, conflicts).await?.then_some(place))
        };
        while_connected(zk, attempt).await
    }

    /// Steps 2 and 3, until it is our turn: until nobody ahead has a role that `conflicts`.
    pub(crate) async fn turn<Z: ZooKeeper>(
        &self,
        zk: &Z,
        place: &Place,
        mut look: Option<Look>,
        conflicts: fn(Role) -> bool,
    ) -> Result<(), Error> {
        loop {
            let list = match look.take() {
                Some(list) => list,
                None => self.list(zk, place).await?,
            };
            let Some(nearest) = self.judge(zk, place, list, conflicts).await? else { return Ok(()) };
            if let Some(nearest) = nearest {
                self.wait(zk, &nearest).await?;
            }
        }
    }

    /// Step 2, once. Whether it is our turn at the first look; a disconnect counts as "no".
    pub(crate) async fn turn_at_once<Z: ZooKeeper>(
        &self,
        zk: &Z,
        place: &Place,
        look: Option<Look>,
        conflicts: fn(Role) -> bool,
    ) -> Result<bool, Error> {
        let Some(list) = look else { return Ok(false) };
        Ok(self.judge(zk, place, list, conflicts).await?.is_none())
    }

    async fn list<Z: ZooKeeper>(&self, zk: &Z, place: &Place) -> Result<Look, Error> {
        loop {
            let status = connected(zk).await?;
            match zk.children(&self.directory).await {
                Ok(list) => return Ok(Look { names: list.names, connection: status.connection }),
                Err(Error::NoNode) => return Err(Error::Removed(place.path.clone())),
                Err(e) => again(zk, status, e).await?,
            }
        }
    }

    /// Conflicting roles are those whose contenders ahead must be gone. `None`: it is our turn. `Some(None)`: look again.
    /// `Some(Some(path))`: wait for that one.
    async fn judge<Z: ZooKeeper>(
        &self,
        zk: &Z,
        place: &Place,
        look: Look,
        conflicts: fn(Role) -> bool,
    ) -> Result<Option<Option<String>>, Error> {
        let own = path::split(&place.path).1;
        if !look.names.iter().any(|name| name == own) {
            // Never "nobody is lower, so it is mine".
            return Err(Error::Removed(place.path.clone()));
        }
        let before = connected(zk).await?;
        match self.nearest_ahead(zk, own, place.czxid, &look.names, conflicts).await {
            Ok(Some(name)) => Ok(Some(Some(path::join(&self.directory, &name)))),
            Err(e) => again(zk, before, e).await.map(|()| Some(None)),
            Ok(None) => {
                let now = zk.status();
                // The list is good only as long as its connection: another one may mean another session's turn.
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
        let own_rank = rank(own_number, own_czxid);
        // Worn names come after all good ones: no need to ask when we are among the good.
        let unclear = |number| if is_good(number) { number == own_number } else { !is_good(own_number) };
        let stands_in_our_way = |name| self.marks.read(name).is_some_and(|(role, _)| conflicts(role));
        let others = names.iter().filter(|name| *name != own && stands_in_our_way(name));
        let ranked = self.ranked(zk, others, unclear).await?;
        let nearest = ranked.into_iter().filter(|(rank, ..)| *rank < own_rank).max_by_key(|(rank, ..)| *rank);
        Ok(nearest.map(|(_, _, name)| name.clone()))
    }

    /// Who of `names` stands in line, with rank and number. The czxids of those whose numbers are unclear are asked for,
    /// in one flight; all others have none.
    async fn ranked<'a, Z: ZooKeeper>(
        &self,
        zk: &Z,
        names: impl Iterator<Item = &'a String>,
        unclear: impl Fn(i32) -> bool,
    ) -> Result<Vec<(Rank, i32, &'a String)>, Error> {
        let mut asked = Vec::new();
        for name in names {
            let Some(number) = self.marks.number(name) else { continue };
            let stat = unclear(number).then(|| zk.exists(&path::join(&self.directory, name)));
            asked.push((number, name, stat));
        }
        let mut ranked = Vec::with_capacity(asked.len());
        for (number, name, stat) in asked {
            let czxid = match stat {
                None => 0,
                Some(stat) => match stat.await? {
                    Some(stat) => stat.czxid,
                    None => continue,
                },
            };
            ranked.push((rank(number, czxid), number, name));
        }
        Ok(ranked)
    }

    /// Step 3. An event alone decides nothing: look again.
    async fn wait<Z: ZooKeeper>(&self, zk: &Z, nearest: &str) -> Result<(), Error> {
        let status = connected(zk).await?;
        match zk.children_watch(nearest).await {
            Ok((_, watch)) => {
                observe::waits(nearest);
                watch.await.map(drop)
            }
            Err(Error::NoNode) => Ok(()),
            Err(e) => again(zk, status, e).await,
        }
    }

    /// Everybody in line, in order.
    pub(crate) async fn contenders<Z: ZooKeeper>(&self, zk: &Z) -> Result<Vec<Contender>, Error> {
        let names = match zk.children(&self.directory).await {
            Ok(list) => list.names,
            Err(Error::NoNode) => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        self.sorted(zk, &names).await
    }

    /// Those of `names` who stand in line, in order.
    pub(crate) async fn sorted<Z: ZooKeeper>(
        &self,
        zk: &Z,
        names: &[String],
    ) -> Result<Vec<Contender>, Error> {
        let mut numbers: Vec<i32> = names.iter().filter_map(|name| self.marks.number(name)).collect();
        numbers.sort_unstable();
        // In a sorted list equal numbers are neighbours.
        let after = |number| numbers.partition_point(|other| *other <= number);
        let before = |number| numbers.partition_point(|other| *other < number);
        let is_shared = |number| after(number) - before(number) > 1;
        let mut ranked =
            self.ranked(zk, names.iter(), |number| !is_good(number) || is_shared(number)).await?;
        ranked.sort_by_key(|(rank, ..)| *rank);
        let contender = |(_, number, name): (Rank, i32, &String)| Contender {
            path: path::join(&self.directory, name),
            number,
        };
        Ok(ranked.into_iter().map(contender).collect())
    }
}
