//! Connections and requests of clients (`ZooKeeperServer`, `NIOServerCnxn`).

use super::packet::{Write, WriteBody};
use super::{Env, Member, Packet, Role};
use crate::injected_bug::InjectedBug;
use crate::message::{Answer, Ask, Code, ConnId, Down, Password, Tag, Up};
use crate::observer::SimEvent;
use crate::paths::PathId;
use crate::wire::password;
use std::sync::Arc;
use zk_recipes::zk::SessionId;

/// The xid of pings and their replies.
pub(crate) const PING: i32 = -2;

/// A read that needs no other server.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub conn: ConnId,
    pub xid: i32,
    pub ask: Ask,
    pub tag: Tag,
}

/// A request that waits for an earlier one of the same session.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    /// A write, until it is applied here. A mute one gets a reply only if it is refused.
    Write { number: u64, conn: ConnId, xid: i32, mute: bool },
    /// At the leader: a write from another server.
    Remote { number: u64 },
    /// A sync at a follower, until the reply of the leader has passed the apply stage.
    Sync { number: u64, conn: ConnId, xid: i32, path: PathId },
    /// A read, until its turn.
    Read(Read),
}

/// A connection that waits for its session.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub conn: ConnId,
    pub session: SessionId,
    timeout: u64,
    /// Packets that came before the session. A server reads a connection only after its session is set up
    /// (`ServerCnxn.disableRecv`), so a client can send requests with its connect request.
    early: Vec<Up>,
}

impl Member {
    /// Handles a packet of a client.
    pub(crate) fn receive(&mut self, conn: ConnId, packet: Up, env: &mut Env<'_>) {
        if !self.serves() {
            env.outbox.push((conn, Down::Fin));
            return;
        }
        // Connections with a session need no search among the openings.
        if !self.openings.is_empty()
            && self.replica.session_of(conn).is_none()
            && let Some(opening) = self.openings.values_mut().find(|opening| opening.conn == conn)
            && (matches!(packet, Up::Request { .. }) || !opening.early.is_empty())
        {
            opening.early.push(packet);
            return;
        }
        match packet {
            Up::Connect { session, last_zxid, timeout, password } => {
                self.connect(conn, session, last_zxid, timeout, password, env);
            }
            Up::Request { xid, ask, tag } => self.request(conn, xid, ask, tag, env),
            Up::Unreadable => self.hang_up(conn, env),
            Up::Fin => self.lose(conn, env),
        }
    }

    /// Handles the packets that waited for a session which is now set up.
    pub(crate) fn read_on(&mut self, env: &mut Env<'_>) {
        while let Some((conn, packet)) = self.readable.pop_front() {
            self.receive(conn, packet, env);
        }
    }

    fn connect(
        &mut self,
        conn: ConnId,
        session: SessionId,
        last_zxid: i64,
        timeout: u64,
        shown: Password,
        env: &mut Env<'_>,
    ) {
        let (server, applied) = (self.id, self.replica.applied);
        if last_zxid > applied && !env.config.has(InjectedBug::AcceptsAnyone) {
            // A server that is behind the last zxid of a client refuses it by closing the connection without a reply.
            env.emit(SimEvent::TurnedAway { server, session, seen: last_zxid, applied });
            env.outbox.push((conn, Down::Fin));
            return;
        }
        let timeout = timeout.clamp(2 * env.config.tick, 20 * env.config.tick);
        let number = env.counters.number();
        if session == SessionId(0) {
            env.counters.sessions += 1;
            // As in a real server: its number in the high byte, then a base, then a counter.
            let low = env.config.session_base + env.counters.sessions;
            let session = SessionId((i64::from(self.id) + 1) << 56 | low);
            self.openings.insert(number, Opening { conn, session, timeout, early: Vec::new() });
            self.queues.entry(session).or_default().push_back(Waiting::Write {
                number,
                conn,
                xid: 0,
                mute: false,
            });
            self.submit(session, number, WriteBody::Open { timeout }, conn, Tag::default(), env);
            return;
        }
        // A connect request closes the session's older connections here, before the password is checked.
        let old: Vec<ConnId> = self.replica.conns_of(session).collect();
        old.into_iter().for_each(|conn| self.hang_up(conn, env));
        for (_, opening) in self.openings.extract_if(.., |_, opening| opening.session == session) {
            env.outbox.push((opening.conn, Down::Fin));
        }
        if shown != password(session) {
            self.refuse(conn, env);
            return;
        }
        match &mut self.role {
            Role::Leading(leading) => {
                if leading.tracker.touch(session, env.now, timeout) {
                    leading.tracker.set_owner(session, server);
                    self.attach(conn, session, timeout, env);
                } else {
                    self.refuse(conn, env);
                }
            }
            Role::Following(following) => {
                let leader = following.leader;
                self.openings.insert(number, Opening { conn, session, timeout, early: Vec::new() });
                env.post.push((leader, Packet::Revalidate { session, timeout, number }));
            }
            Role::Down | Role::Looking => {}
        }
    }

    /// Completes a connection whose session is now open.
    pub(super) fn opened(&mut self, number: u64, env: &mut Env<'_>) {
        if let Some(Opening { conn, session, timeout, early }) = self.openings.remove(&number) {
            self.attach(conn, session, timeout, env);
            self.readable.extend(early.into_iter().map(|packet| (conn, packet)));
        }
    }

    /// Handles the reply of the leader to a reconnect: whether the session is alive.
    pub(super) fn revalidated(&mut self, number: u64, valid: bool, env: &mut Env<'_>) {
        let Some(Opening { conn, session, timeout, early }) = self.openings.remove(&number) else { return };
        if valid {
            self.attach(conn, session, timeout, env);
            self.readable.extend(early.into_iter().map(|packet| (conn, packet)));
        } else {
            self.refuse(conn, env);
        }
    }

    fn attach(&mut self, conn: ConnId, session: SessionId, timeout: u64, env: &mut Env<'_>) {
        self.replica.welcome(conn, session);
        self.timeouts.insert(conn, timeout);
        env.emit(SimEvent::Attached { server: self.id, session, conn: conn.0 });
        env.outbox.push((conn, Down::Connected { session, timeout, password: password(session) }));
    }

    /// Refuses a connect: the session does not exist.
    fn refuse(&mut self, conn: ConnId, env: &mut Env<'_>) {
        env.outbox.push((conn, Down::Connected { session: SessionId(0), timeout: 0, password: [0; 16] }));
        env.outbox.push((conn, Down::Fin));
    }

    fn request(&mut self, conn: ConnId, xid: i32, ask: Ask, tag: Tag, env: &mut Env<'_>) {
        // A connection without a session is ignored.
        let Some(session) = self.replica.session_of(conn) else { return };
        match ask {
            Ask::Auth { scheme, auth } => return self.authenticate(conn, xid, &scheme, &auth, env),
            // Like `auth`, `sasl` bypasses the queue and touches no session (`ZooKeeperServer.processSasl`).
            Ask::Sasl { .. } => {
                return env.outbox.push((conn, Down::Reply { xid, zxid: 0, result: Ok(Answer::NoToken) }));
            }
            Ask::Unknown(_) => {
                let result = Err(Code::Unimplemented.into());
                env.outbox.push((conn, Down::Reply { xid, zxid: -1, result }));
                return self.hang_up(conn, env);
            }
            _ => {}
        }
        // A request of an expired session is dropped: the connection is about to be closed.
        if !self.touch(conn, session, env.now) {
            return;
        }
        if ask.is_write() || ask == Ask::CloseSession {
            let (number, mute) = (env.counters.number(), ask.is_mute());
            let waiting = Waiting::Write { number, conn, xid, mute };
            self.queues.entry(session).or_default().push_back(waiting);
            self.submit(session, number, WriteBody::Ask(ask), conn, tag, env);
            return;
        }
        if let (Ask::Sync { path }, Role::Following(following), false) =
            (&ask, &self.role, env.config.has(InjectedBug::SyncsAlone))
        {
            let number = env.counters.number();
            env.post.push((following.leader, Packet::Sync { session, number, req: tag.req }));
            let waiting = Waiting::Sync { number, conn, xid, path: *path };
            self.queues.entry(session).or_default().push_back(waiting);
            return;
        }
        let waits = !env.config.has(InjectedBug::PassesWrites);
        if let Some(queue) = self.queues.get_mut(&session).filter(|_| waits) {
            queue.push_back(Waiting::Read(Read { conn, xid, ask, tag }));
        } else if self.apply_stops > 0 {
            let pending = !self.queues.is_empty();
            self.stalled.push_back((Read { conn, xid, ask, tag }, pending));
        } else {
            self.answer(conn, xid, &ask, tag, env);
        }
    }

    /// Handles `addauth`, which bypasses the queue. The reply repeats the request's xid
    /// (`ZooKeeperServer.processPacket`): the Java and C clients send -4, other clients a number as in any request.
    fn authenticate(&mut self, conn: ConnId, xid: i32, scheme: &Arc<str>, auth: &[u8], env: &mut Env<'_>) {
        let result = self.replica.authenticate(conn, scheme, auth, &env.config.settings);
        let failed = result.is_err();
        let result = result.map(|()| Answer::Nothing).map_err(Into::into);
        env.outbox.push((conn, Down::Reply { xid, zxid: 0, result }));
        if failed {
            self.hang_up(conn, env);
        }
    }

    /// Touches a session. A leader returns false if the session is over; a follower does not check
    /// (`LearnerSessionTracker`).
    fn touch(&mut self, conn: ConnId, session: SessionId, now: u64) -> bool {
        match &mut self.role {
            Role::Leading(leading) => leading.tracker.touch_again(session, now),
            Role::Following(following) => {
                if let Some(timeout) = self.timeouts.get(&conn) {
                    following.touch(session, *timeout);
                }
                true
            }
            Role::Down | Role::Looking => false,
        }
    }

    fn submit(
        &mut self,
        session: SessionId,
        number: u64,
        what: WriteBody,
        conn: ConnId,
        tag: Tag,
        env: &mut Env<'_>,
    ) {
        let ids = self.replica.identities(conn);
        let write = Write { session, number, what, ids, tag, moved: false };
        match &self.role {
            Role::Leading(_) => self.order(write, env),
            Role::Following(following) => {
                env.post.push((following.leader, Packet::Write(Box::new(write))));
            }
            Role::Down | Role::Looking => {}
        }
    }

    /// Closes a connection of a client.
    pub(super) fn hang_up(&mut self, conn: ConnId, env: &mut Env<'_>) {
        self.lose(conn, env);
        env.outbox.push((conn, Down::Fin));
    }

    /// Forgets a connection of a client.
    fn lose(&mut self, conn: ConnId, env: &mut Env<'_>) {
        self.timeouts.remove(&conn);
        // Later replies for its session find no connection.
        self.openings.retain(|_, opening| opening.conn != conn);
        self.replica.forget(conn, &mut env.replica_env(self.id, false));
    }
}
