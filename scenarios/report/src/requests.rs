//! The requests of a history, each with its transaction or read, its reply and its loss.

use std::collections::BTreeMap;
use zk_checker::history::{
    Code, Event, History, Mode, OpId, ReqId, Request, Session, SessionState, Sym, What, Who,
};

/// One request.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentRequest {
    pub client: u16,
    pub op: OpId,
    pub kind: Request,
    pub path: Sym,
    /// The event of its sending.
    pub sent: u32,
    /// The transaction, read or barrier of this request, if it is known to have reached a server.
    pub handled: Option<u32>,
    /// The event of its reply.
    pub answered: Option<u32>,
    /// The event at which its client learned of the connection loss.
    pub lost: Option<u32>,
}

/// All requests of a history by number, and the client of each session.
pub(super) struct Requests {
    all: BTreeMap<ReqId, SentRequest>,
    /// The sending of the request of each transaction.
    senders: BTreeMap<u32, u32>,
    clients: BTreeMap<Session, u16>,
    parents: BTreeMap<Sym, Option<Sym>>,
}

impl Requests {
    pub(super) fn get(&self, req: ReqId) -> Option<&SentRequest> {
        self.all.get(&req)
    }

    /// All requests, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &SentRequest> {
        self.all.values()
    }

    /// The sending of the request of a transaction.
    pub(super) fn sender(&self, txn: u32) -> Option<u32> {
        self.senders.get(&txn).copied()
    }

    /// The client of a session.
    pub(super) fn client_of(&self, session: Session) -> Option<u16> {
        self.clients.get(&session).copied()
    }

    /// The directory of a path, if it has a name in this history.
    pub(super) fn parent(&self, history: &History, path: Sym) -> Option<Sym> {
        match self.parents.get(&path) {
            Some(parent) => *parent,
            None => parent(history, path),
        }
    }

    /// Collects the requests of a history.
    pub(super) fn of(history: &History) -> Requests {
        let mut asked = Requests {
            all: BTreeMap::new(),
            senders: BTreeMap::new(),
            clients: BTreeMap::new(),
            parents: BTreeMap::new(),
        };
        // Transactions without a known request, by zxid.
        let mut txns: BTreeMap<u64, u32> = BTreeMap::new();
        for (index, event) in history.events.iter().enumerate() {
            asked.event(history, index as u32, event, &mut txns);
        }
        asked.match_answered(history, &mut txns);
        asked.match_lost(history, &txns);
        asked
    }

    fn event(&mut self, history: &History, index: u32, event: &Event, txns: &mut BTreeMap<u64, u32>) {
        match (event.who, event.what) {
            (Who::Client(client), What::Send { req, kind, path, .. }) => {
                let (op, sent) = (event.op, index);
                let ask =
                    SentRequest { client, op, kind, path, sent, handled: None, answered: None, lost: None };
                self.all.insert(req, ask);
            }
            (_, What::Reply { req, .. }) => self.with(req, |ask| ask.answered = Some(index)),
            (_, What::Lost { req }) => self.with(req, |ask| ask.lost = Some(index)),
            (_, What::Served { req, .. } | What::Barrier { req, .. }) => {
                self.with(req, |ask| ask.handled = Some(index));
            }
            (_, What::Txn { zxid, .. }) => _ = txns.insert(zxid, index),
            (_, What::Created { path, .. } | What::Deleted { path, .. }) => {
                self.parents.entry(path).or_insert_with(|| parent(history, path));
            }
            (Who::Client(client), What::State { session, state: SessionState::Connected, .. }) => {
                self.clients.entry(session).or_insert(client);
            }
            _ => {}
        }
    }

    fn with(&mut self, req: ReqId, change: impl FnOnce(&mut SentRequest)) {
        if let Some(ask) = self.all.get_mut(&req) {
            change(ask);
        }
    }

    /// Matches writes by the zxid in their reply.
    fn match_answered(&mut self, history: &History, txns: &mut BTreeMap<u64, u32>) {
        for ask in self.all.values_mut().filter(|ask| ask.handled.is_none()) {
            let Some(What::Reply { zxid, .. }) =
                ask.answered.map(|reply| history.events[reply as usize].what)
            else {
                continue;
            };
            let is_its = |txn: &u32| match history.events[*txn as usize].what {
                What::Txn { kind, .. } => kind == ask.kind && *txn > ask.sent,
                _ => false,
            };
            if txns.get(&zxid).is_some_and(is_its) {
                ask.handled = txns.remove(&zxid);
                self.senders.extend(ask.handled.map(|txn| (txn, ask.sent)));
            }
        }
    }

    /// Matches writes without a reply by client, operation, kind and path.
    fn match_lost(&mut self, history: &History, txns: &BTreeMap<u64, u32>) {
        let mut open: BTreeMap<(u16, OpId, u8), Vec<ReqId>> = BTreeMap::new();
        for (req, ask) in &self.all {
            if ask.handled.is_none() && ask.answered.is_none() {
                open.entry((ask.client, ask.op, ask.kind as u8)).or_default().push(*req);
            }
        }
        for txn in txns.values().copied() {
            let Event { op, what: What::Txn { session, kind, .. }, .. } = history.events[txn as usize] else {
                continue;
            };
            let Some(client) = self.clients.get(&session).copied() else { continue };
            let Some(waiting) = open.get_mut(&(client, op, kind as u8)) else { continue };
            let fits = |req: &ReqId| {
                self.all.get(req).is_some_and(|ask| ask.sent < txn && touches(history, txn, ask.path))
            };
            if let Some(at) = waiting.iter().position(fits) {
                let req = waiting.remove(at);
                self.with(req, |ask| ask.handled = Some(txn));
                let sent = self.all.get(&req).map(|ask| ask.sent);
                self.senders.extend(sent.map(|sent| (txn, sent)));
            }
        }
    }
}

/// Whether a transaction changed a znode at that path, or a sequential znode with that prefix. Also true if it changed
/// nothing.
fn touches(history: &History, txn: u32, path: Sym) -> bool {
    let What::Txn { zxid: of, code, kind, .. } = history.events[txn as usize].what else { return false };
    if code != Code::Ok || matches!(kind, Request::Multi | Request::CloseSession) {
        return true;
    }
    let asked = history.names.get(path).unwrap_or_default();
    let effects = history.events[txn as usize + 1..].iter().take_while(|event| match event.what {
        What::Created { zxid, .. }
        | What::Deleted { zxid, .. }
        | What::Written { zxid, .. }
        | What::Restricted { zxid, .. } => zxid == of,
        What::Data { .. } => true,
        _ => false,
    });
    let mut paths = effects.filter_map(|event| history.names.get(event.what.path()?));
    paths.any(|changed| changed.starts_with(asked))
}

/// The effect of a write whose reply was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostWrite {
    /// Applied before the client learned of the connection loss.
    Applied {
        zxid: u64,
    },
    /// Applied after the client learned of the connection loss.
    AppliedLater {
        zxid: u64,
    },
    Refused(Code),
    NeverApplied,
    /// Unknown: the request is not a write, or the servers' events are not recorded.
    Unsaid,
}

/// The effect of a request whose reply was lost.
pub(crate) fn fate(history: &History, asked: &Requests, req: ReqId) -> LostWrite {
    let Some(ask) = asked.get(req).filter(|ask| is_write(ask.kind)) else { return LostWrite::Unsaid };
    match ask.handled.map(|txn| (txn, history.events[txn as usize].what)) {
        Some((txn, What::Txn { zxid, code: Code::Ok, .. })) => {
            if ask.lost.is_some_and(|lost| lost < txn) {
                LostWrite::AppliedLater { zxid }
            } else {
                LostWrite::Applied { zxid }
            }
        }
        Some((_, What::Txn { code, .. })) => LostWrite::Refused(code),
        _ if history.header.mode == Mode::Sim => LostWrite::NeverApplied,
        _ => LostWrite::Unsaid,
    }
}

fn is_write(kind: Request) -> bool {
    matches!(kind, Request::Create | Request::Delete | Request::Set | Request::Multi | Request::SetAcl)
}

fn parent(history: &History, path: Sym) -> Option<Sym> {
    let text = history.names.get(path)?;
    match text.rsplit_once('/')? {
        ("", _) => history.names.find("/"),
        (parent, _) => history.names.find(parent),
    }
}
