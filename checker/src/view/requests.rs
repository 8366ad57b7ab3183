//! How requests are sent, answered and lost.

use super::update::FAR;
use super::watches::Armed;
use super::{Hold, List, Phase, Req, Room, StopWhy, View};
use crate::history::{Code, Conn, OpId, ReqId, Request, Session, Sym, Table, Tables, Verb, WatchMode};

impl View {
    pub(super) fn send(&mut self, id: ReqId, mut req: Req) -> Result<(), String> {
        let at = id.0 as usize;
        if id == ReqId(0) || at > self.requests.end() + FAR {
            return Err(format!("request r{} is out of range", id.0));
        }
        if self.requests.forgot(at) || self.requests[at].is_sent() {
            return Err(format!("request r{} is sent a second time", id.0));
        }
        if !req.cleanup && self.op(req.op).phase != Phase::Unborn {
            // Requests to preempt a holder are not part of the cost of waiting.
            let preempts = self.protocol(self.op(req.op).object).has_priorities()
                && self.op(req.op).is_acquire()
                && matches!(req.kind, Request::Set | Request::Delete);
            let now = self.now.at;
            let op = &mut self.ops[req.op.0 as usize];
            req.depth = op.depth + 1;
            op.sends += u32::from(!preempts);
            if op.in_flight == 0 {
                op.flight_until = op.flight_until.filter(|until| now <= *until);
            }
            op.in_flight += 1;
        }
        match req.kind {
            Request::Delete => {
                if req.op == OpId(0) && !req.cleanup {
                    self.strange_delete(req.client, req.path);
                }
                self.own_delete(req.client, req.path);
                self.force_in_capture(req);
                if let Some(number) = self.contender_of(req.path) {
                    self.contenders[number as usize].delete_sent = true;
                }
            }
            Request::Multi => self.force_in_capture(req),
            Request::RemoveWatches => self.unregister(req.session, req.path),
            _ => {}
        }
        self.requests[at] = req;
        Ok(())
    }

    /// Attributes a request to the session whose connection answers it, since a client may have two sessions at once.
    pub(super) fn speaks_for(&mut self, req: ReqId, conn: Conn) {
        let session = self.conns.get(usize::from(conn.0)).copied().unwrap_or_default();
        if let Some(req) = self.requests.get_mut(req.0 as usize).filter(|_| session != Session(0)) {
            req.session = session;
        }
    }

    pub(super) fn own_delete(&mut self, client: u16, path: Sym) {
        if let Some(number) = self.contender_of(path) {
            let op = self.contenders[number as usize].op;
            if self.op(op).hold == Hold::Believed && self.op(op).own == number && self.op(op).client == client
            {
                self.must_stop(op, StopWhy::OwnDelete);
            }
        }
    }

    /// Ends a request, with a reply or without one.
    pub(super) fn answer(&mut self, id: ReqId, is_lost: bool) -> Result<Req, String> {
        if self.requests.forgot(id.0 as usize) {
            return Err(format!("a second answer to r{}", id.0));
        }
        let Some(req) = self.requests.get_mut(id.0 as usize).filter(|req| req.is_sent()) else {
            return Err(format!("an answer to r{}, which was never sent", id.0));
        };
        if req.answered {
            return Err(format!("a second answer to r{}", id.0));
        }
        req.answered = true;
        let req = *req;
        if req.depth != 0 {
            let at_once = self.now.at + self.settle;
            let op = &mut self.ops[req.op.0 as usize];
            op.in_flight -= 1;
            if op.in_flight == 0 && op.flight_until.is_some() {
                // After a refusal and a lost reply, a client looks for the effect of the lost one first.
                op.flight_until = Some(if is_lost { u64::MAX } else { at_once });
                self.may_pause(req.op, self.timeout_of(req.session) / 4);
            }
        }
        Ok(req)
    }

    /// Notes that a server refused a request without a look at the tree. The client may pause without a watch: for a
    /// quarter of the session timeout, or for the whole of it if an access list forbids the search for its own znode.
    pub(super) fn refused(&mut self, req: &Req, code: Code) {
        let (now, timeout) = (self.now.at, self.timeout_of(req.session));
        if self.op(req.op).phase != Phase::Unborn {
            let at_once = now + self.settle;
            let op = &mut self.ops[req.op.0 as usize];
            (op.refused, op.flight_until) = (now, Some(at_once));
            self.may_pause(req.op, timeout / 4);
        }
        let Some(number) = self.contender_of(req.path) else { return };
        let own = &self.contenders[number as usize];
        if own.creator == req.session && self.op(own.op).phase != Phase::Unborn {
            let pause = if code == Code::NoAuth { timeout } else { timeout / 4 };
            self.may_pause(own.op, pause);
        }
    }

    /// Allows the client of an operation to pause from now on.
    pub(super) fn may_pause(&mut self, op: OpId, pause: u64) {
        let until = self.now.at + pause + self.settle;
        let op = &mut self.ops[op.0 as usize];
        op.pauses_until = op.pauses_until.max(until);
    }

    pub(super) fn reply(
        &mut self,
        tables: Tables<'_>,
        id: ReqId,
        (code, zxid, conn): (Code, u64, Conn),
    ) -> Result<(), String> {
        let req = self.answer(id, false)?;
        let reply = self.now.index;
        if code.tells_nothing() {
            self.refused(&req, code);
        }
        if code == Code::Ok {
            self.shown_in_capture(tables, &req);
        }
        if req.depth != 0 {
            let room = match req.kind {
                Request::Children => self.room_of_directory(tables, self.op(req.op).object, req.path),
                _ => None,
            };
            let op = &mut self.ops[req.op.0 as usize];
            op.depth = op.depth.max(req.depth);
            match (code, req.kind) {
                (Code::Ok, Request::Create) => op.answered = true,
                // A waiter that has forced a holder out has a reason to look again.
                (Code::Ok, Request::Delete) if op.is_waiting() => op.wakes += 1,
                // A directory that does not exist has no contenders.
                (Code::Ok | Code::NoNode, Request::Children) => {
                    if code == Code::NoNode {
                        op.disturb();
                    }
                    // The state that the list was served in, where that is known.
                    let zxid = if req.served == 0 { zxid } else { req.served };
                    let list = List { zxid, sent: req.sent, reply };
                    match room {
                        // A contender lists again, because its own znode existed.
                        Some(Room::Waiting) if code == Code::NoNode && op.verb != Verb::Observe => {}
                        Some(Room::Waiting) => op.list = Some(list),
                        Some(Room::Held) => self.listed_holds(req.op, list),
                        None => {}
                    }
                }
                (Code::Ok, _) => {}
                (Code::NoNode, Request::Exists | Request::Get) => op.calm = false,
                _ => op.disturb(),
            }
        }
        // A refusal is an answer too; without a connection, the client library may have made it.
        if code == Code::Ok || self.pings_recorded && !conn.is_none() {
            // A request that waited for the connection was sent when the connection was there.
            let left = req.sent.at.max(self.session(req.session).connected.at);
            self.heard(req.session, left);
        }
        let reads = matches!(req.kind, Request::Exists | Request::Get | Request::Children);
        if code == Code::NoNode && reads && !req.cleanup {
            self.znode_gone(req.client, req.path);
        }
        // A capture does not see the servers: a read with a watch counts as armed.
        if req.watch && !self.is_sim() && (code == Code::Ok || req.kind == Request::Exists) {
            let table = if req.kind == Request::Children { Table::Child } else { Table::Data };
            let (session, path, server, conn) = (req.session, req.path, 0, Conn(0));
            self.arm(Armed { session, table, path, server, conn, mode: WatchMode::OneShot }, req.op);
        }
        Ok(())
    }

    /// Notes an answer to something that the client sent at that time.
    pub(super) fn heard(&mut self, session: Session, sent: u64) {
        let now = self.now.index;
        let session = self.session_mut(session);
        if sent > session.answered_sent {
            (session.answered_sent, session.answer) = (sent, now);
        }
    }

    /// Notes that a client learned that a znode does not exist.
    pub(super) fn znode_gone(&mut self, client: u16, path: Sym) {
        if let Some(number) = self.contender_of(path) {
            let id = self.contenders[number as usize].op;
            if self.op(id).client == client {
                self.contenders[number as usize].told_gone = true;
            }
            let op = self.op(id);
            // A downgrade deletes the znode, and a reader's hold follows.
            let believes = op.hold == Hold::Believed && op.own == number && op.client == client;
            if believes && !self.is_downgrading(id) {
                self.must_stop(id, StopWhy::ZnodeGone);
            }
        }
    }
}
