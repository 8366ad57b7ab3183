//! Clients, their requests, and the replies.

use super::paths::{ParsedPath, TextId};
use super::znodes::Znode;
use super::{Loss, Wire};
use crate::history::{Code, Conn, FaultKind, ReqId, Request, Session, Sym, Tables, Victim};
use crate::recent::slot;
use std::collections::{BTreeMap, BTreeSet};

/// A session.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionView {
    /// The client that uses it, if it is known.
    pub(super) client: Option<u16>,
    /// Whether it has not ended.
    pub(super) is_open: bool,
    /// In microseconds, or zero if it is not known.
    pub(super) timeout: u64,
    /// The last request of it that was answered.
    pub(super) answered: u32,
}

impl Default for SessionView {
    fn default() -> SessionView {
        SessionView { client: None, is_open: true, timeout: 0, answered: 0 }
    }
}

/// A client process.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    /// The session that it uses now.
    pub(super) session: Session,
    pub(super) sessions: BTreeSet<Session>,
    pub(super) requests: BTreeMap<Request, u64>,
    pub(super) lost: u64,
    pub(super) reads: u64,
    pub(super) polls: u64,
    pub(super) notifications: u64,
    /// The read that would be a poll if repeated: nothing else has reached the client since its answer.
    last_read: Option<LastRead>,
    /// The creates in flight: path, and the cost of the directory at that time.
    creates: Vec<(ReqId, TextId, u32)>,
    /// Its last fault, if no reply has arrived since.
    fault: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct LastRead {
    kind: Request,
    path: Sym,
    is_answered: bool,
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) index: u32,
    pub(super) client: u16,
    pub(super) session: Session,
    pub(super) kind: Request,
    pub(super) path: Sym,
    watch: bool,
    /// The zxid of the state in which a read was served, or zero.
    served: u64,
}

impl Wire {
    pub(super) fn session(&self, session: Session) -> SessionView {
        self.sessions.get(usize::from(session.0)).copied().unwrap_or_default()
    }

    fn session_mut(&mut self, session: Session) -> &mut SessionView {
        slot(&mut self.sessions, usize::from(session.0))
    }

    fn client_mut(&mut self, client: u16) -> &mut Client {
        slot(&mut self.clients, usize::from(client))
    }

    /// Notes that a client uses a session.
    fn speaks(&mut self, client: u16, session: Session) {
        if session != Session(0) {
            let view = self.client_mut(client);
            view.session = session;
            view.sessions.insert(session);
            self.session_mut(session).client = Some(client);
        }
    }

    pub(super) fn attach(&mut self, session: Session, conn: Conn) {
        if !conn.is_none() {
            *slot(&mut self.conns, usize::from(conn.0)) = session;
        }
    }

    pub(super) fn connects(&mut self, client: u16, session: Session, conn: Conn) {
        self.attach(session, conn);
        self.speaks(client, session);
        self.client_mut(client).last_read = None;
    }

    pub(super) fn opens(&mut self, session: Session, timeout: u32) {
        self.session_mut(session).timeout = u64::from(timeout) * 1000;
    }

    pub(super) fn ends(&mut self, session: Session) {
        self.session_mut(session).is_open = false;
    }

    pub(super) fn fault(&mut self, kind: FaultKind, victim: Victim) {
        *self.faults.entry(kind).or_default() += 1;
        if let Victim::Process { client } = victim {
            self.client_mut(client).fault = Some(self.now.index);
        }
    }

    /// Forgets the requests of a process that died.
    pub(super) fn crash(&mut self, client: u16) {
        self.in_flight.retain(|_, sent| sent.client != client);
        let view = self.client_mut(client);
        view.creates.clear();
        view.last_read = None;
    }

    pub(super) fn notice(&mut self, client: u16, session: Session) {
        self.speaks(client, session);
        let view = self.client_mut(client);
        view.notifications += 1;
        view.last_read = None;
    }

    pub(super) fn send(
        &mut self,
        client: u16,
        req: ReqId,
        kind: Request,
        path: Sym,
        parsed: ParsedPath,
        watch: bool,
    ) {
        let index = self.now.index;
        let view = self.client_mut(client);
        let session = view.session;
        *view.requests.entry(kind).or_default() += 1;
        if is_read(kind) {
            let again =
                view.last_read.is_some_and(|last| (last.kind, last.path) == (kind, path) && last.is_answered);
            view.polls += u64::from(again);
            view.last_read = Some(LastRead { kind, path, is_answered: false });
        }
        // A request counts for the directory of its path, and for its path if that is a directory.
        *self.costs.entry((session, parsed.directory)).or_default() += 1;
        if self.znodes.is_directory(parsed.path) {
            *self.costs.entry((session, parsed.path)).or_default() += 1;
        }
        let cost = self.cost(session, parsed.directory);
        match kind {
            Request::Create => self.client_mut(client).creates.push((req, parsed.path, cost)),
            Request::Delete => {
                self.znodes.delete_sent(path, session, cost);
                if self.znodes.live.get(&path).is_some_and(Znode::is_item) {
                    self.items.delete_sent(path, session);
                }
            }
            Request::Exists | Request::Get => self.znodes.note_read(path, session, watch),
            _ => {}
        }
        self.in_flight.insert(req, Sent { index, client, session, kind, path, watch, served: 0 });
    }

    pub(super) fn cost(&self, session: Session, directory: TextId) -> u32 {
        self.costs.get(&(session, directory)).copied().unwrap_or_default()
    }

    pub(super) fn serve(&mut self, req: ReqId, zxid: u64) {
        self.served = Some(req);
        if let Some(sent) = self.in_flight.get_mut(&req) {
            sent.served = zxid;
        }
    }

    /// Notes a part of a read's result.
    pub(super) fn found(&mut self, read: Request, code: Code, path: Sym) {
        let of = self.served.and_then(|req| self.in_flight.get(&req)).copied();
        if let Some(sent) = of.filter(|sent| sent.kind == Request::MultiRead)
            && (read, code) == (Request::Get, Code::Ok)
        {
            self.znodes.note_item_read(path, sent.session, self.now.index);
        }
    }

    pub(super) fn reply(
        &mut self,
        tables: Tables<'_>,
        client: u16,
        req: ReqId,
        code: Code,
        zxid: u64,
        conn: Conn,
    ) {
        let Some(mut sent) = self.in_flight.remove(&req) else { return };
        let of_conn = self.conns.get(usize::from(conn.0)).copied().unwrap_or_default();
        if of_conn != Session(0) {
            sent.session = of_conn;
            self.speaks(client, of_conn);
        }
        let view = self.client_mut(client);
        view.fault = None;
        view.creates.retain(|(of, _, _)| *of != req);
        match &mut view.last_read {
            Some(last) if (last.kind, last.path) == (sent.kind, sent.path) => last.is_answered = true,
            last => *last = None,
        }
        view.reads += u64::from(is_read(sent.kind) && matches!(code, Code::Ok | Code::NoNode));
        let answered = &mut self.session_mut(sent.session).answered;
        *answered = sent.index.max(*answered);
        let parsed = self.paths.parsed(tables, sent.path);
        let is_ok = code == Code::Ok;
        match sent.kind {
            Request::Delete => {
                self.znodes.delete_ends(sent.path, sent.session, None);
                self.items.delete_answered(sent.path, sent.session, code);
            }
            Request::Get if is_ok => self.znodes.note_item_read(sent.path, sent.session, self.now.index),
            _ => {}
        }
        if sent.watch && is_ok {
            self.waits(sent.session, sent.index, sent.path, parsed);
        }
        if sent.kind == Request::Children && is_ok {
            let zxid = if sent.served == 0 { zxid } else { sent.served };
            self.lists(sent.session, parsed.path, zxid);
        }
    }

    pub(super) fn lost(&mut self, tables: Tables<'_>, client: u16, req: ReqId) {
        let Some(sent) = self.in_flight.remove(&req) else { return };
        let now = self.now;
        let view = self.client_mut(client);
        view.lost += 1;
        view.last_read = None;
        view.creates.retain(|(of, _, _)| *of != req);
        let loss = Loss { sent: sent.index, lost: now, fault: view.fault };
        match sent.kind {
            Request::Create => {
                let parsed = self.paths.parsed(tables, sent.path);
                self.attempts.create_lost(sent.session, parsed.path, loss);
            }
            Request::Delete => {
                self.znodes.delete_ends(sent.path, sent.session, Some(loss));
                self.items.delete_lost(sent.path, sent.session, loss);
            }
            _ => {}
        }
    }

    /// The cost of the directory at the create that a session has in flight for this path, if there is one.
    pub(super) fn create_in_flight(&self, session: Session, path: TextId) -> Option<u32> {
        let client = self.session(session).client?;
        let creates = &self.clients.get(usize::from(client))?.creates;
        creates.iter().find(|(_, of, _)| *of == path).map(|(_, _, cost)| *cost)
    }
}

fn is_read(kind: Request) -> bool {
    matches!(kind, Request::Exists | Request::Get | Request::Children | Request::GetAcl)
}
