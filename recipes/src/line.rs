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

use crate::race::{connected, reconnected};
use crate::zk::duty::settle;
use crate::zk::{Armed, CreateMode, Duty, Error, Guid, Stat, Status, ZooKeeper, path};
use std::future::Future;

/// How the znodes of a line are named. All who share a directory must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Naming {
    /// `<guid>-lock-<n>`.
    #[default]
    Standard,
    /// `_c_<uuid>-lock-<n>`, as Apache Curator names them.
    Curator,
    /// `<guid>__lock__<n>`, as Kazoo names them.
    Kazoo,
}

impl Naming {
    fn infix(self) -> &'static str {
        match self {
            Naming::Standard | Naming::Curator => "-lock-",
            Naming::Kazoo => "__lock__",
        }
    }

    fn prefix(self, guid: Guid) -> String {
        format!("{}{}", self.guid(guid), self.infix())
    }

    /// The guid as it stands in a name.
    fn guid(self, guid: Guid) -> String {
        let hex = guid.to_string();
        match self {
            Naming::Standard | Naming::Kazoo => hex,
            Naming::Curator => {
                format!("_c_{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
            }
        }
    }

    /// The number at the end of a contender's name; `None` for every other child of the directory.
    ///
    /// The server writes the number as `%010d`: ten digits, or a minus sign and nine or ten.
    fn number(self, name: &str) -> Option<i32> {
        let at = name.rfind(self.infix())?;
        let number = &name[at + self.infix().len()..];
        let digits = number.strip_prefix('-').unwrap_or(number);
        let well_formed = match number.len() - digits.len() {
            0 => digits.len() == 10,
            _ => matches!(digits.len(), 9 | 10),
        };
        if !well_formed || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        number.parse().ok()
    }
}

/// What becomes of a directory that does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Parents {
    /// Missing levels are made as containers: the server removes them when they have been left empty.
    #[default]
    Container,
    /// Missing levels are made to stay.
    Persistent,
    /// A missing directory is an error.
    MustExist,
}

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
    pub naming: Naming,
    pub parents: Parents,
}

/// A list, and the connection over which it was asked for.
pub(crate) struct Look {
    names: Vec<String>,
    connection: u32,
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
type Rank = (bool, i64, i64);

fn is_good(number: i32) -> bool {
    (0..WORN).contains(&number)
}

fn rank(number: i32, czxid: i64) -> Rank {
    if is_good(number) { (false, i64::from(number), czxid) } else { (true, czxid, 0) }
}

impl Line {
    /// Whether a znode of this line fits into a request, and where it may stand.
    pub(crate) fn validate(&self, data: &[u8]) -> Result<(), Error> {
        path::validate_directory(&self.directory)?;
        path::validate_size(&path::join(&self.directory, &self.naming.prefix(Guid(0))), data)
    }

    /// Step 1. With the place comes the list that was asked for behind the create, if it came.
    pub(crate) async fn join<Z: ZooKeeper>(
        &self,
        zk: &Z,
        data: &[u8],
    ) -> Result<(Place, Option<Look>), Error> {
        let guid = zk.guid();
        let prefix = path::join(&self.directory, &self.naming.prefix(guid));
        let mut status = connected(zk).await?;
        let mut armed = zk.arm(Duty::Guid {
            directory: self.directory.clone(),
            guid: self.naming.guid(guid),
            connection: status.connection,
        });
        let mut levels = Vec::new();
        loop {
            // One flight: missing levels if there are any, the create, the list.
            let making: Vec<_> = levels.iter().map(|level: &String| self.make(zk, level)).collect();
            let create = zk.create(&prefix, data, CreateMode::EphemeralSequential);
            let list = zk.children(&self.directory);
            for made in making {
                match made.await {
                    Ok(_) | Err(Error::NodeExists | Error::ConnectionLoss | Error::NoNode) => {}
                    Err(e) => return Err(e),
                }
            }
            match create.await {
                Ok(created) => {
                    armed.narrow(Duty::Path(created.path.clone()));
                    let place = Place { path: created.path, czxid: created.stat.czxid, armed };
                    return match list.await {
                        Ok(list) => {
                            let look = Look { names: list.names, connection: status.connection };
                            Ok((place, Some(look)))
                        }
                        Err(Error::ConnectionLoss | Error::NoNode) => Ok((place, None)),
                        Err(e) => Err(e),
                    };
                }
                Err(Error::NoNode) if self.parents != Parents::MustExist => {
                    levels = levels_of(&self.directory);
                }
                // The reply may be lost after the create was applied, so look before creating again.
                Err(Error::ConnectionLoss) => {
                    levels.clear();
                    reconnected(zk, status).await?;
                    if let Some((own, stat, look)) = self.find(zk, guid).await? {
                        armed.narrow(Duty::Path(own.clone()));
                        return Ok((Place { path: own, czxid: stat.czxid, armed }, Some(look)));
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

    fn make<Z: ZooKeeper>(
        &self,
        zk: &Z,
        level: &str,
    ) -> impl Future<Output = Result<crate::zk::Created, Error>> + Send + use<Z> {
        let mode = match self.parents {
            Parents::Persistent => CreateMode::Persistent,
            Parents::Container | Parents::MustExist => CreateMode::Container,
        };
        zk.create(level, &[], mode)
    }

    /// What a lost create left behind, if anything. Final: a write goes ahead of the list, so nothing of this session
    /// that is still on its way can appear later (CURATOR-264).
    async fn find<Z: ZooKeeper>(&self, zk: &Z, guid: Guid) -> Result<Option<(String, Stat, Look)>, Error> {
        let guid = self.naming.guid(guid);
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
                .map(|name| (self.naming.number(name), name))
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

    /// Steps 2 and 3, until it is our turn.
    pub(crate) async fn turn<Z: ZooKeeper>(
        &self,
        zk: &Z,
        place: &Place,
        mut look: Option<Look>,
    ) -> Result<(), Error> {
        loop {
            let list = match look.take() {
                Some(list) => list,
                None => self.list(zk, place).await?,
            };
            let Some(nearest) = self.judge(zk, place, list).await? else { return Ok(()) };
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
    ) -> Result<bool, Error> {
        let Some(list) = look else { return Ok(false) };
        Ok(self.judge(zk, place, list).await?.is_none())
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

    /// `None`: it is our turn. `Some(None)`: look again. `Some(Some(path))`: wait for that one.
    async fn judge<Z: ZooKeeper>(
        &self,
        zk: &Z,
        place: &Place,
        look: Look,
    ) -> Result<Option<Option<String>>, Error> {
        let own = path::split(&place.path).1;
        if !look.names.iter().any(|name| name == own) {
            // Never "nobody is lower, so it is mine".
            return Err(Error::Removed(place.path.clone()));
        }
        let before = connected(zk).await?;
        match self.nearest_ahead(zk, own, place.czxid, &look.names).await {
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
    ) -> Result<Option<String>, Error> {
        let own_number = self.naming.number(own).unwrap_or(WORN);
        let own_rank = rank(own_number, own_czxid);
        // Worn names come after all good ones: no need to ask when we are among the good.
        let unclear = |number| if is_good(number) { number == own_number } else { !is_good(own_number) };
        let others = names.iter().filter(|name| *name != own);
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
            let Some(number) = self.naming.number(name) else { continue };
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
            Ok((_, watch)) => watch.await.map(drop),
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
        let mut numbers: Vec<i32> = names.iter().filter_map(|name| self.naming.number(name)).collect();
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

/// A read that was caught by a disconnect is asked again; any other error ends the attempt.
async fn again<Z: ZooKeeper>(zk: &Z, status: Status, error: Error) -> Result<(), Error> {
    match error {
        Error::ConnectionLoss => reconnected(zk, status).await.map(drop),
        error => Err(error),
    }
}

/// Every level of a path, from the top.
fn levels_of(directory: &str) -> Vec<String> {
    let ends = directory.match_indices('/').map(|(at, _)| at).skip(1).chain([directory.len()]);
    ends.map(|end| directory[..end].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_number_behind_the_infix_makes_a_contender() {
        let number = |name| Naming::Standard.number(name);
        assert_eq!(number("5f3a-lock-0000000007"), Some(7));
        assert_eq!(number("_c_5f3a-lock-2147483647"), Some(i32::MAX), "Curator's lock is seen");
        assert_eq!(number("5f3a-lock--2147483648"), Some(i32::MIN));
        assert_eq!(number("5f3a-lock--000000001"), Some(-1));
        for foreign in
            ["config", "5f3a-lock-", "5f3a-lock-7", "5f3a-lock-00000000070", "5f3a-lock-000000000x"]
        {
            assert_eq!(number(foreign), None, "{foreign}");
        }
        assert_eq!(Naming::Kazoo.number("5f3a__lock__0000000007"), Some(7));
        assert_eq!(Naming::Kazoo.number("5f3a-lock-0000000007"), None);
    }

    #[test]
    fn curators_prefix_has_a_uuid_with_dashes() {
        let guid = Guid(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        assert_eq!(Naming::Curator.prefix(guid), "_c_01234567-89ab-cdef-0123-456789abcdef-lock-");
        assert_eq!(Naming::Standard.prefix(guid), "0123456789abcdef0123456789abcdef-lock-");
    }

    #[test]
    fn levels_come_from_the_top() {
        assert_eq!(levels_of("/a/b/c"), ["/a", "/a/b", "/a/b/c"]);
        assert_eq!(levels_of("/a"), ["/a"]);
    }
}
