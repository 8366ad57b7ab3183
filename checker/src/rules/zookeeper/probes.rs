//! States that a faithful simulation must be able to reach: ZK-15. They are counted, and neither right nor wrong.

use super::order::is_write;
use super::{server, zxid_of};
use crate::metrics::Probe;
use crate::recent::Recent;
use crate::rule::prelude::*;
use crate::view::NEVER;
use std::collections::VecDeque;

/// A write that a client has sent.
#[derive(Clone, Copy, Default)]
struct Write {
    req: ReqId,
    kind: Option<Request>,
    conn: Conn,
    /// Whether the reply was lost.
    lost: bool,
    /// Whether its session has since read elsewhere.
    read_since: bool,
}

#[derive(Clone, Default)]
struct SessionSeen {
    /// The zxid of the last reply, and its value at the last connect.
    seen: u64,
    relative: u64,
    /// The largest zxid of a delivered notification, and its connection.
    noticed: u64,
    noticed_on: Conn,
    /// Writes that no server has applied yet, in order.
    writes: VecDeque<Write>,
    /// The zxid of a write that was applied although its reply was lost, and its connection.
    applied_lost: u64,
    applied_lost_on: Conn,
    expired: u64,
    ended: u64,
}

/// The probes.
#[derive(Clone, Default)]
pub(crate) struct Probes {
    sessions: Vec<SessionSeen>,
    /// By client process: its sessions.
    of_client: Vec<Vec<Session>>,
    /// The largest zxid of an acknowledged write; by request: its value when the request was sent.
    acknowledged: u64,
    floor: Recent<u64>,
    /// By connection: the zxids of queued notifications.
    queues: Vec<VecDeque<u64>>,
    /// By request: whether it was applied.
    applied: Recent<bool>,
    /// The current read.
    read: (ReqId, u64),
    /// Open reads that arm a watch: a watch armed then need not be a registration.
    arming: Vec<(ReqId, Sym)>,
}

impl Probes {
    pub(crate) const HEARS: Kinds =
        hears![Send, Reply, Lost, Notice, State, Txn, Served, Found, Arm, Fire, Marked, Ended];

    fn session(&mut self, session: Session) -> &mut SessionSeen {
        slot(&mut self.sessions, usize::from(session.0))
    }

    fn send(&mut self, scene: &Scene<'_>, id: ReqId, kind: Request) {
        if let Some(req) = scene.view.request(id).filter(|req| req.watch) {
            self.arming.push((id, req.path));
        }
        *self.floor.slot(id.0 as usize) = self.acknowledged;
        let Some(req) = scene.view.request(id).filter(|_| is_write(kind)) else { return };
        let (conn, kind) = (req.conn, Some(kind));
        self.session(req.session).writes.push_back(Write { req: id, kind, conn, ..Write::default() });
    }

    /// Notes a transaction: pairs it with the first unapplied write of its kind in its session.
    fn txn(&mut self, zxid: u64, session: Session, kind: Request, code: Code, out: &mut Findings) {
        let of = self.session(session);
        let Some(at) = of.writes.iter().position(|write| write.kind == Some(kind)) else { return };
        let write = of.writes[at];
        of.writes.drain(..=at);
        if code != Code::Ok {
            return;
        }
        if write.lost {
            (of.applied_lost, of.applied_lost_on) = (zxid, write.conn);
            out.reach(Probe::AppliedWithoutReply);
        }
        if write.lost && write.read_since {
            out.reach(Probe::WriteAfterReads);
        }
        *self.applied.slot(write.req.0 as usize) = true;
    }

    fn lost(&mut self, scene: &Scene<'_>, id: ReqId, out: &mut Findings) {
        self.arming.retain(|(req, _)| *req != id);
        let Some(req) = scene.view.request(id) else { return };
        if self.applied[id.0 as usize] {
            out.reach(Probe::AppliedWithoutReply);
        }
        let of = self.session(req.session);
        if let Some(write) = of.writes.iter_mut().find(|write| write.req == id) {
            write.lost = true;
        }
    }

    fn served(&mut self, scene: &Scene<'_>, id: ReqId, conn: Conn, zxid: u64, out: &mut Findings) {
        self.read = (id, zxid);
        let Some(req) = scene.view.request(id) else { return };
        let of = self.session(req.session);
        for write in of.writes.iter_mut().filter(|write| write.lost && write.conn != conn) {
            write.read_since = true;
        }
        if zxid < of.applied_lost && of.applied_lost_on != conn {
            out.reach(Probe::WriteAfterReads);
            of.applied_lost = 0;
        }
        if zxid < of.noticed && of.noticed_on != conn {
            out.reach(Probe::OlderThanNotified);
        }
    }

    fn found(&mut self, scene: &Scene<'_>, read: Request, code: Code, path: Sym, out: &mut Findings) {
        let (id, zxid) = self.read;
        let oracle = &scene.view.oracle;
        let floor = self.floor[id.0 as usize];
        if zxid < floor && oracle.last_change(path, floor) > zxid {
            out.reach(Probe::StaleRead);
        }
        let Some(req) = scene.view.request(id).filter(|_| code == Code::Ok) else { return };
        let Some(sessions) = self.of_client.get(usize::from(req.client)).filter(|all| all.len() > 1) else {
            return;
        };
        for old in sessions.iter().filter(|old| **old != req.session) {
            let ended = self.sessions.get(usize::from(old.0)).map_or(0, |seen_by| seen_by.ended);
            if ended != 0 && ended <= zxid {
                continue;
            }
            let seen = |node: &&Sym| {
                let here = **node == path;
                let listed = read == Request::Children && oracle.known_parent(**node) == Some(path);
                (here || listed) && oracle.node_at(**node, zxid).is_some_and(|node| node.owner == *old)
            };
            if oracle.ephemerals_of(*old).iter().any(|node| seen(&node)) {
                return out.reach(Probe::OwnOldEphemeral);
            }
        }
    }

    /// Notes a re-registered watch, or a change found at re-registration.
    fn registered(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let applied = scene.view.server(server(event.who)).applied;
        let oracle = &scene.view.oracle;
        match event.what {
            // A persistent watch is never notified of a missed change, so it shows nothing.
            What::Arm { session, table: Table::Data, path, mode, .. } if mode.is_one_shot() => {
                let relative = self.session(session).relative;
                let life = oracle.last_life(path, applied);
                if relative != 0 && life.is_some_and(|(created, _)| created > relative) {
                    out.reach(Probe::CreatedAndDeletedUnseen);
                }
            }
            What::Fire { session, kind: Notify::DataChanged, path, zxid: 0, .. } => {
                let relative = self.session(session).relative;
                if oracle.node_at(path, applied).is_some_and(|node| node.czxid > relative) {
                    out.reach(Probe::RecreatedToldAsChanged);
                }
            }
            _ => {}
        }
    }

    /// Whether the session was certainly alive: its last answered request had been sent less than a timeout ago; or its
    /// client is connected and had a reply within two thirds of the timeout, while a fault affected a server between it
    /// and the leader.
    fn marked(&mut self, scene: &Scene<'_>, session: Session, out: &mut Findings) {
        let view = scene.view;
        let timeout = view.timeout_of(session);
        self.session(session).expired = scene.at;
        let of = view.session(session);
        let answered = of.answered_sent != 0 && scene.at < of.answered_sent.saturating_add(timeout);
        let running = of.client.is_some_and(|number| {
            let client = view.client(number);
            let (paused, end) = client.last_pause;
            let pause = paused.came() && end.at.saturating_add(timeout) > scene.at;
            !client.is_dead() && !client.is_paused() && !pause && client.session == session
        });
        let settled = of.connected.came() && of.connected.at.saturating_add(timeout) < scene.at;
        let connected = settled && !of.is_suspended && !of.known_over.came() && running;
        if answered || (connected && of.may_be_unheard) {
            out.reach(Probe::ExpiredEarly);
        }
    }

    pub(crate) fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        if !view.is_sim() {
            return;
        }
        match event.what {
            What::Send { req, kind, .. } => self.send(scene, req, kind),
            What::Reply { req, code, zxid, .. } => self.reply(scene, req, code, zxid, out),
            What::Lost { req } => self.lost(scene, req, out),
            What::Fire { zxid, conn, .. } if !conn.is_none() => {
                self.registered(scene, event, out);
                let of = if zxid == 0 { 0 } else { view.server(server(event.who)).whole(zxid) };
                slot(&mut self.queues, usize::from(conn.0)).push_back(of);
            }
            What::Notice { session, conn, .. } if !conn.is_none() => {
                let of = slot(&mut self.queues, usize::from(conn.0)).pop_front().unwrap_or(0);
                let seen_by = self.session(session);
                if of > seen_by.noticed {
                    (seen_by.noticed, seen_by.noticed_on) = (of, conn);
                }
            }
            What::State { session, state: SessionState::Connected, .. } => {
                let seen_by = self.session(session);
                seen_by.relative = seen_by.seen;
                if let Who::Client(number) = event.who {
                    let all = slot(&mut self.of_client, usize::from(number));
                    if !all.contains(&session) {
                        all.push(session);
                    }
                }
            }
            What::Txn { zxid, session, kind, code } => self.txn(zxid, session, kind, code, out),
            What::Served { req, conn, zxid } => self.served(scene, req, conn, zxid, out),
            What::Found { read, code, path, .. } => self.found(scene, read, code, path, out),
            What::Arm { session, path, .. } if event.op.0 == 0 => {
                let client = view.session(session).client;
                let reads = |(id, on): &(ReqId, Sym)| {
                    *on == path && view.request(*id).is_some_and(|req| Some(req.client) == client)
                };
                if !self.arming.iter().any(reads) {
                    self.registered(scene, event, out);
                }
            }
            What::Marked { session, .. } => self.marked(scene, session, out),
            What::Ended { session, zxid } => self.session(session).ended = zxid,
            _ => {}
        }
    }

    fn reply(&mut self, scene: &Scene<'_>, id: ReqId, code: Code, zxid: u64, out: &mut Findings) {
        self.arming.retain(|(req, _)| *req != id);
        let Some(req) = scene.view.request(id) else { return };
        let Some(zxid) = zxid_of(zxid) else { return };
        if is_write(req.kind) && code == Code::Ok {
            self.acknowledged = self.acknowledged.max(zxid);
        }
        let of = self.session(req.session);
        if req.kind != Request::Connect {
            of.seen = of.seen.max(zxid);
        }
        let expired = if of.expired == 0 { NEVER } else { of.expired };
        if code == Code::Ok && req.sent.at > expired && scene.view.session(req.session).is_marked {
            out.reach(Probe::AnsweredThoughExpired);
        }
    }
}
