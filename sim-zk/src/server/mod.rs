//! One server's copy of the replicated state, and the leader's check of what is to change it.
//!
//! 1. *Prepare* ([`Prep`], at the leader): check a write against the tree and what is pending; refused or not, it becomes
//!    a transaction.
//! 2. *Apply* ([`Replica::apply`], at every server, in the order of the zxids): change the tree, fire watches.
//! 3. *Read* ([`Replica::read`], at the client's server): answer from the state as it is there, arm watches.
//!
//! Nothing here knows of time, quorums, links or the order in which requests are taken up. Nothing in `apply` and `read`
//! asks the leader.

mod apply;
mod classify;
mod pending;
mod prep;
mod reads;
mod watch_tables;
mod watches;

pub(crate) use classify::{kind_of, outcome_of};
pub(crate) use prep::{Prep, refused_for_session};

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

/// How a server is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether there are znodes with a time to live (`zookeeper.extendedTypesEnabled`).
    pub extended_types: bool,
    /// Who may do everything: `super:` and a digest (`DigestAuthenticationProvider.superDigest`).
    pub super_digest: Option<String>,
    /// Whether a notification is kept from those who may not read the znode (ZOOKEEPER-4799; Debian's 3.8.0 does it).
    pub filter_events: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { extended_types: false, super_digest: None, filter_events: true }
    }
}

/// What a server touches beside itself while it works.
pub(crate) struct ReplicaEnv<'a> {
    /// Microseconds since the start.
    pub now: u64,
    /// Whose turn it is.
    pub server: u8,
    /// No other server has applied the transaction yet: its effects are told.
    pub first: bool,
    pub settings: &'a Settings,
    /// What is wrong with it on purpose.
    pub bug: Option<InjectedBug>,
    pub paths: &'a mut Paths,
    pub observer: &'a mut dyn Observer,
    /// What is sent: to which connection, and what.
    pub outbox: &'a mut Vec<(ConnId, Down)>,
}

impl ReplicaEnv<'_> {
    fn emit(&mut self, event: SimEvent<'_>) {
        self.observer.on_event(self.now, &event, self.paths);
    }
}

/// One server's copy of the state.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub tree: Tree,
    /// The zxid of the last transaction that was applied.
    pub applied: i64,
    /// The sessions that have begun and not ended, each with its original timeout in microseconds.
    sessions: BTreeMap<SessionId, u64>,
    watches: WatchTables,
    conns: BTreeMap<ConnId, Conn>,
    conns_of: BTreeSet<(SessionId, ConnId)>,
}

/// A client's connection.
#[derive(Clone, Debug)]
struct Conn {
    /// Nobody's until the connection is welcomed.
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

/// Where clients come from if nothing else is said.
const LOCALHOST: &str = "127.0.0.1";

impl Replica {
    /// A server that has applied nothing yet.
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

    /// A client's connection is welcomed: from here on it reads and is notified.
    pub(crate) fn welcome(&mut self, conn: ConnId, session: SessionId) {
        self.welcome_from(conn, session, LOCALHOST);
    }

    /// As [`welcome`](Self::welcome), for a client of that address: it is the connection's first identity.
    pub(crate) fn welcome_from(&mut self, conn: ConnId, session: SessionId, address: &str) {
        let known = self.conns.entry(conn).or_insert_with(|| Conn::from(address));
        self.conns_of.remove(&(known.session, conn));
        known.session = session;
        self.conns_of.insert((session, conn));
    }

    /// `addauth`: the connection proves who it is. That may come before the welcome.
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

    /// Who a connection is.
    pub(crate) fn identities(&self, conn: ConnId) -> Arc<[Identity]> {
        self.conns.get(&conn).map_or_else(|| Arc::from([]), |conn| conn.identities.clone())
    }

    /// Whose connection it is; none if it has not been welcomed, or has gone.
    pub(crate) fn session_of(&self, conn: ConnId) -> Option<SessionId> {
        self.conns.get(&conn).map(|conn| conn.session).filter(|session| *session != SessionId(0))
    }

    /// The connections of a session at this server, in their order.
    pub(crate) fn conns_of(&self, session: SessionId) -> impl Iterator<Item = ConnId> {
        self.conns_of.range((session, ConnId(0))..=(session, ConnId(u32::MAX))).map(|(_, conn)| *conn)
    }

    /// The connection is gone, and its watches with it.
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

    /// The process died and came back: connections, watches and identities are gone; what was applied stays.
    pub(crate) fn restart(&mut self) {
        self.watches = WatchTables::default();
        self.conns.clear();
        self.conns_of.clear();
    }

    /// Armed watches, with the session they belong to.
    pub(crate) fn watches(&self) -> impl Iterator<Item = (Table, PathId, SessionId, WatchMode)> {
        self.watches
            .iter()
            .map(|(table, path, conn, mode)| (table, path, self.session_of(conn).unwrap_or_default(), mode))
    }

    /// The sessions that have begun and not ended, with their original timeouts.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (SessionId, u64)> {
        self.sessions.iter().map(|(session, timeout)| (*session, *timeout))
    }

    /// Containers that once had a child and have none, and znodes without children whose time is over, in the order of
    /// their path numbers.
    pub(crate) fn reapable(&self, wall_clock_ms: i64) -> Vec<PathId> {
        self.tree.reapable(wall_clock_ms)
    }
}

#[cfg(test)]
mod tests;
