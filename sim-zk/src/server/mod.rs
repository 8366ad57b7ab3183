//! A replica: the state of one server, and the check of writes at the leader.
//!
//! 1. *Prepare* ([`Prep`], at the leader): check a write against the tree and the pending transactions; refused or
//!    not, it becomes a transaction.
//! 2. *Apply* ([`Replica::apply`], at every server, in the order of zxids): change the tree, fire watches.
//! 3. *Read* ([`Replica::read`], at the server of the client): answer from the local state, which can be stale, and
//!    arm watches.
//!
//! This module knows neither time, quorums, links nor the order of requests. Neither `apply` nor `read` asks the
//! leader.

mod apply;
mod classify;
mod pending;
mod prep;
mod reads;
mod reply_size;
mod watch_tables;
mod watches;

pub(crate) use classify::{kind_of, outcome_of};
pub(crate) use prep::{Prep, refused_for_session};
pub use reply_size::ReplySize;

use crate::acl::{Identity, add_identity};
use crate::injected_bug::InjectedBug;
use crate::message::{Code, ConnId, Down, Table, WatchMode};
use crate::observer::{Observer, SimEvent};
use crate::paths::{PathId, Paths};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use watch_tables::WatchTables;
use zk_recipes::zk::SessionId;

/// The configuration of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether TTL znodes are enabled (`zookeeper.extendedTypesEnabled`).
    pub extended_types: bool,
    /// The superuser: `super:` and a digest (`DigestAuthenticationProvider.superDigest`).
    pub super_digest: Option<String>,
    /// Whether notifications are withheld from clients without READ permission (ZOOKEEPER-4799; Debian's 3.8.0 does
    /// so).
    pub filter_events: bool,
    /// The data of `/zookeeper/config`, which each server of an ensemble writes when it begins to serve: a line for each member, and
    /// the version. `None`: it stays empty, as on a standalone server.
    pub members: Option<Arc<str>>,
    /// The sequence number of the first sequential child of every new znode: 0 on a real server. A greater number
    /// simulates directories with a long history.
    pub first_number: i32,
    /// Whether the end of a session with too many ephemerals kills servers, as on a real server (ZOOKEEPER-4306): the
    /// end is one transaction with all their paths, and no server can read a transaction longer than twice
    /// `jute.maxbuffer`, here 2,097,150 bytes. Followers crash at once, and a server that has logged it cannot restart.
    pub dies_of_long_closes: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            extended_types: false,
            super_digest: None,
            filter_events: true,
            members: None,
            first_number: 0,
            dies_of_long_closes: false,
        }
    }
}

/// The context of a replica: everything that it uses beside its own state.
pub(crate) struct ReplicaEnv<'a> {
    /// Microseconds since the start.
    pub now: u64,
    /// The number of the server.
    pub server: u8,
    /// Whether this server is the first to apply the transaction, and so emits its effects.
    pub first: bool,
    pub settings: &'a Settings,
    /// The injected bug, if any.
    pub bug: Option<InjectedBug>,
    pub paths: &'a mut Paths,
    pub observer: &'a mut dyn Observer,
    /// Packets to clients.
    pub outbox: &'a mut Vec<(ConnId, Down)>,
}

impl ReplicaEnv<'_> {
    fn emit(&mut self, event: SimEvent<'_>) {
        self.observer.on_event(self.now, &event, self.paths);
    }
}

/// The state of one server.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub tree: Tree,
    /// The zxid of the last applied transaction.
    pub applied: i64,
    /// The open sessions, each with its original timeout in microseconds.
    sessions: BTreeMap<SessionId, u64>,
    watches: WatchTables,
    conns: BTreeMap<ConnId, Conn>,
    conns_of: BTreeSet<(SessionId, ConnId)>,
}

/// A client's connection.
#[derive(Clone, Debug)]
struct Conn {
    /// Zero until the connection has a session.
    session: SessionId,
    address: Arc<str>,
    identities: Arc<[Identity]>,
}

impl Conn {
    fn from(address: &str) -> Self {
        let identities = Arc::from([Identity::of_address(address)]);
        Conn { session: SessionId(0), address: address.into(), identities }
    }
}

/// The default address of clients.
const LOCALHOST: &str = "127.0.0.1";

impl Replica {
    /// Creates a replica without transactions.
    pub(crate) fn new() -> Self {
        Replica {
            tree: Tree::pristine(),
            applied: 0,
            sessions: BTreeMap::new(),
            watches: WatchTables::default(),
            conns: BTreeMap::new(),
            conns_of: BTreeSet::new(),
        }
    }

    /// Attaches a connection to a session: it can read and is notified from now on.
    pub(crate) fn welcome(&mut self, conn: ConnId, session: SessionId) {
        self.welcome_from(conn, session, LOCALHOST);
    }

    /// Like [`welcome`](Self::welcome), for a client with that address, which is its first identity.
    pub(crate) fn welcome_from(&mut self, conn: ConnId, session: SessionId, address: &str) {
        let known = self.conns.entry(conn).or_insert_with(|| Conn::from(address));
        self.conns_of.remove(&(known.session, conn));
        known.session = session;
        self.conns_of.insert((session, conn));
    }

    /// Handles `addauth`: adds proven identities. It can precede the welcome.
    pub(crate) fn authenticate(
        &mut self,
        conn: ConnId,
        scheme: &str,
        auth: &[u8],
        settings: &Settings,
    ) -> Result<(), Code> {
        let conn = self.conns.entry(conn).or_insert_with(|| Conn::from(LOCALHOST));
        let proven = Identity::proven(scheme, auth, &conn.address, settings.super_digest.as_deref())?;
        let mut identities = conn.identities.to_vec();
        for identity in proven {
            add_identity(&mut identities, identity);
        }
        conn.identities = identities.into();
        Ok(())
    }

    /// Returns the identities of a connection.
    pub(crate) fn identities(&self, conn: ConnId) -> Arc<[Identity]> {
        self.conns.get(&conn).map_or_else(|| Arc::from([]), |conn| conn.identities.clone())
    }

    /// Returns the session of a connection; `None` before the welcome and after the end.
    pub(crate) fn session_of(&self, conn: ConnId) -> Option<SessionId> {
        self.conns.get(&conn).map(|conn| conn.session).filter(|session| *session != SessionId(0))
    }

    /// Returns the connections of a session at this server, in order.
    pub(crate) fn conns_of(&self, session: SessionId) -> impl Iterator<Item = ConnId> {
        self.conns_of.range((session, ConnId(0))..=(session, ConnId(u32::MAX))).map(|(_, conn)| *conn)
    }

    /// Removes a connection and its watches.
    pub(crate) fn forget(&mut self, conn: ConnId, env: &mut ReplicaEnv<'_>) {
        let Some(Conn { session, .. }) = self.conns.remove(&conn) else { return };
        self.conns_of.remove(&(session, conn));
        for table in [Table::Data, Table::Child] {
            for path in self.watches.of_mut(table).forget(conn) {
                let server = env.server;
                env.emit(SimEvent::Disarmed { server, session, conn: conn.0, table, path });
            }
        }
    }

    /// Restarts the process: connections, watches and identities are lost; applied transactions stay.
    pub(crate) fn restart(&mut self) {
        self.watches = WatchTables::default();
        self.conns.clear();
        self.conns_of.clear();
    }

    /// Returns the armed watches, with their sessions.
    pub(crate) fn watches(&self) -> impl Iterator<Item = (Table, PathId, SessionId, WatchMode)> {
        self.watches
            .iter()
            .map(|(table, path, conn, mode)| (table, path, self.session_of(conn).unwrap_or_default(), mode))
    }

    /// Returns the connections that have ever armed a watch on data, with their sessions and the paths that they watch.
    pub(crate) fn watchers(&self) -> impl Iterator<Item = (SessionId, impl Iterator<Item = PathId>)> {
        let all = self.watches.of(Table::Data).by_watcher();
        all.map(move |(conn, paths)| (self.session_of(conn).unwrap_or_default(), paths))
    }

    /// Returns the open sessions, with their original timeouts.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (SessionId, u64)> {
        self.sessions.iter().map(|(session, timeout)| (*session, *timeout))
    }

    /// Returns empty containers that once had a child, and expired TTL znodes without children, in the order of path
    /// numbers.
    pub(crate) fn reapable(&self, wall_clock_ms: i64) -> Vec<PathId> {
        self.tree.reapable(wall_clock_ms)
    }
}

#[cfg(test)]
mod tests;
