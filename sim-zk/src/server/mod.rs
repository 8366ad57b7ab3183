//! A server: its copy of the tree, its watches and the sessions it serves; and the leader's part: ordering writes and
//! deciding which sessions live.
//!
//! 1. *Prepare* (leader): check a write against the tree and what is pending, give it a zxid, refused or not.
//! 2. *Apply* (every server, in zxid order): change the tree, fire watches, answer if the client is ours.
//!
//! With one server both happen in one step. The cut is there for the others: nothing in `apply` asks the leader.

mod about;
mod apply;
mod leader;
mod reads;

pub(crate) use about::{kind_of, outcome_of};
pub(crate) use leader::Leader;

use crate::message::{Ask, Down, Table, Tag, Up};
use crate::paths::{PathId, Paths};
use crate::tree::Tree;
use crate::witness::{Happening, Kind, Witness};
use leader::{Body, Tracked};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_recipes::zk::SessionId;

/// Names a connection: never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// What a server touches beside itself while it works.
pub(crate) struct Scene<'a> {
    pub now: u64,
    pub paths: &'a mut Paths,
    pub witness: &'a mut dyn Witness,
    /// What it sends: to which connection, what, and for which request.
    pub outbox: &'a mut Vec<(ConnId, Down)>,
}

impl Scene<'_> {
    fn tell(&mut self, happening: Happening) {
        self.witness.saw(self.now, &happening, self.paths);
    }
}

/// A server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    id: u8,
    pub tree: Tree,
    applied: i64,
    data_watches: BTreeSet<(PathId, ConnId)>,
    child_watches: BTreeSet<(PathId, ConnId)>,
    serves: BTreeMap<ConnId, SessionId>,
}

impl Server {
    pub(crate) fn new(id: u8, paths: &mut Paths) -> Self {
        Server {
            id,
            tree: Tree::pristine(paths, &Arc::from([])),
            applied: 0,
            data_watches: BTreeSet::new(),
            child_watches: BTreeSet::new(),
            serves: BTreeMap::new(),
        }
    }

    /// Armed watches, with the session they belong to.
    pub(crate) fn watches(&self) -> impl Iterator<Item = (Table, PathId, SessionId)> {
        let of = |table| {
            move |(path, conn): &(PathId, ConnId)| {
                (table, *path, self.serves.get(conn).copied().unwrap_or_default())
            }
        };
        self.data_watches.iter().map(of(Table::Data)).chain(self.child_watches.iter().map(of(Table::Child)))
    }

    /// A packet arrives.
    pub(crate) fn receive(&mut self, leader: &mut Leader, conn: ConnId, packet: Up, scene: &mut Scene<'_>) {
        match packet {
            Up::Connect { session, last_zxid, timeout } => {
                self.connect(leader, conn, session, last_zxid, timeout, scene);
            }
            Up::Request { xid, ask, tag } => self.request(leader, conn, xid, ask, tag, scene),
            Up::Fin => self.forget(conn, scene),
        }
    }

    fn connect(
        &mut self,
        leader: &mut Leader,
        conn: ConnId,
        session: SessionId,
        last_zxid: i64,
        timeout: u64,
        scene: &mut Scene<'_>,
    ) {
        if last_zxid > self.applied {
            // A server that is behind what the client has seen refuses by closing, without an answer.
            scene.outbox.push((conn, Down::Fin));
            return;
        }
        let timeout = timeout.clamp(2 * leader.tick, 20 * leader.tick);
        if session == SessionId(0) {
            leader.opened += 1;
            // As a real server: its own number in the high byte, then something that grows.
            let session = SessionId((i64::from(self.id) + 1) << 56 | leader.opened);
            leader.sessions.insert(session, Tracked { timeout, deadline: 0, heard: scene.now });
            leader.touch(session, scene.now, None);
            let txn = leader.order(scene.now, session, 0, Kind::Connect, Body::Open { timeout });
            let _ = self.apply(txn, scene);
            self.serves.insert(conn, session);
            scene.outbox.push((conn, Down::Connected { session, timeout }));
            return;
        }
        let old: Vec<ConnId> =
            self.serves.iter().filter(|(_, served)| **served == session).map(|(conn, _)| *conn).collect();
        for conn in old {
            self.forget(conn, scene);
            scene.outbox.push((conn, Down::Fin));
        }
        if leader.touch(session, scene.now, Some(timeout)) {
            self.serves.insert(conn, session);
            scene.outbox.push((conn, Down::Connected { session, timeout }));
        } else {
            scene.outbox.push((conn, Down::Connected { session: SessionId(0), timeout: 0 }));
            scene.outbox.push((conn, Down::Fin));
        }
    }

    fn request(
        &mut self,
        leader: &mut Leader,
        conn: ConnId,
        xid: i32,
        ask: Ask,
        tag: Tag,
        scene: &mut Scene<'_>,
    ) {
        // A request of a session that is gone is dropped without a word: the connection is being closed.
        let Some(session) = self.serves.get(&conn).copied() else { return };
        if !leader.touch(session, scene.now, None) {
            return;
        }
        let closing = ask == Ask::CloseSession;
        let result = match ask {
            Ask::Create { .. } | Ask::Delete { .. } | Ask::Set { .. } | Ask::Multi(_) => {
                let kind = kind_of(&ask);
                let body = leader.prepare(&self.tree, scene.paths, session, ask);
                let txn = leader.order(scene.now, session, tag.op, kind, body);
                self.apply(txn, scene)
            }
            Ask::CloseSession => {
                leader.sessions.remove(&session);
                let txn = leader.order(scene.now, session, tag.op, Kind::CloseSession, Body::Close);
                self.apply(txn, scene)
            }
            read => self.read(conn, session, read, tag.op, scene),
        };
        scene.outbox.push((conn, Down::Reply { xid, zxid: self.applied, result }));
        if closing {
            self.forget(conn, scene);
            scene.outbox.push((conn, Down::Fin));
        }
    }

    /// The session tracker's turn: every session whose deadline has passed ends.
    pub(crate) fn expire(&mut self, leader: &mut Leader, scene: &mut Scene<'_>) {
        let due: Vec<SessionId> = leader
            .sessions
            .iter()
            .filter(|(_, tracked)| tracked.deadline <= scene.now)
            .map(|(session, _)| *session)
            .collect();
        for session in due {
            let tracked = leader.sessions.remove(&session).expect("it was just found");
            scene.tell(Happening::Marked { server: self.id, session, heard: tracked.heard });
            let txn = leader.order(scene.now, session, 0, Kind::CloseSession, Body::Close);
            let _ = self.apply(txn, scene);
            let conns: Vec<ConnId> =
                self.serves.iter().filter(|(_, served)| **served == session).map(|(conn, _)| *conn).collect();
            for conn in conns {
                self.forget(conn, scene);
                scene.outbox.push((conn, Down::Fin));
            }
        }
    }

    /// A connection is gone, and its watches with it.
    fn forget(&mut self, conn: ConnId, scene: &mut Scene<'_>) {
        let Some(session) = self.serves.remove(&conn) else { return };
        let server = self.id;
        for (table, watches) in
            [(Table::Data, &mut self.data_watches), (Table::Child, &mut self.child_watches)]
        {
            watches.retain(|(path, of)| {
                if *of == conn {
                    let gone = Happening::Disarmed { server, session, table, path: *path };
                    scene.witness.saw(scene.now, &gone, scene.paths);
                }
                *of != conn
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_recipes::zk::EventKind;

    const TICK: u64 = 2_000_000;
    const TIMEOUT: u64 = 6_000_000;

    /// A server, its leader, and what it has sent.
    struct Bench {
        server: Server,
        leader: Leader,
        paths: Paths,
        sent: Vec<(ConnId, Down)>,
    }

    impl Bench {
        fn new() -> Self {
            let mut paths = Paths::default();
            let server = Server::new(0, &mut paths);
            Bench { server, leader: Leader::new(TICK), paths, sent: Vec::new() }
        }

        fn receive(&mut self, now: u64, conn: u32, packet: Up) -> Vec<Down> {
            let mut scene = Scene { now, paths: &mut self.paths, witness: &mut (), outbox: &mut self.sent };
            self.server.receive(&mut self.leader, ConnId(conn), packet, &mut scene);
            self.sent.drain(..).map(|(_, packet)| packet).collect()
        }

        fn connect(&mut self, conn: u32, session: SessionId, last_zxid: i64) -> Vec<Down> {
            self.receive(0, conn, Up::Connect { session, last_zxid, timeout: TIMEOUT })
        }

        fn ask(&mut self, conn: u32, ask: Ask) -> Vec<Down> {
            self.receive(0, conn, Up::Request { xid: 1, ask, tag: Tag::default() })
        }
    }

    fn session_of(answer: &[Down]) -> SessionId {
        match answer {
            [.., Down::Connected { session, timeout: TIMEOUT }] => *session,
            other => panic!("a session must have begun, but: {other:?}"),
        }
    }

    #[test]
    fn a_client_that_has_seen_more_than_the_server_is_turned_away_without_an_answer() {
        let mut bench = Bench::new();
        let session = session_of(&bench.connect(0, SessionId(0), 0));
        let applied = bench.server.applied;
        assert_eq!(bench.connect(1, session, applied + 1), [Down::Fin]);
        assert_eq!(bench.connect(2, SessionId(0), applied + 1), [Down::Fin], "a new session too");
        assert!(bench.server.serves.contains_key(&ConnId(0)), "its connection is left alone");
        assert_eq!(session_of(&bench.connect(3, session, applied)), session);
        assert_eq!(bench.server.applied, applied, "a return takes no zxid");
    }

    #[test]
    fn a_new_connection_of_a_session_ends_the_old_one_with_its_watches() {
        let mut bench = Bench::new();
        let session = session_of(&bench.connect(0, SessionId(0), 0));
        bench.ask(0, Ask::Exists { path: PathId::ROOT, watch: true });
        let answer = bench.connect(1, session, 0);
        assert_eq!(answer, [Down::Fin, Down::Connected { session, timeout: TIMEOUT }]);
        assert_eq!(bench.server.watches().count(), 0);
        assert_eq!(
            bench.ask(0, Ask::Sync { path: PathId::ROOT }),
            [],
            "what comes over the old one is not heard"
        );
    }

    #[test]
    fn an_unknown_session_is_told_that_it_is_over() {
        let mut bench = Bench::new();
        let over = [Down::Connected { session: SessionId(0), timeout: 0 }, Down::Fin];
        assert_eq!(bench.connect(0, SessionId(77), 0), over);
    }

    #[test]
    fn a_deletion_missed_by_two_watches_is_told_twice() {
        let mut bench = Bench::new();
        let path = bench.paths.intern("/gone");
        bench.connect(0, SessionId(0), 0);
        let told =
            bench.ask(0, Ask::SetWatches { relative: 0, data: vec![path], exist: vec![], child: vec![path] });
        let gone = Down::Notify { kind: EventKind::NodeDeleted, path };
        assert_eq!(told[..2], [gone.clone(), gone]);
        assert!(matches!(told[2..], [Down::Reply { .. }]), "and before the answer");
    }
}
