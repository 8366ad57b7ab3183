//! Lifetimes: znodes, watches, sessions, beliefs, faults, and serving or leading servers, each with its first and last
//! event.

use crate::causes::Causes;
use crate::requests::Requests;
use std::collections::BTreeMap;
use zk_checker::history::{
    FaultKind, History, ObjectId, OpId, Outcome, Session, SessionState, Sym, Table, Verb, Victim, WatchMode,
    What, Who, Why,
};

/// A znode, from its creation to its deletion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Znode {
    pub path: Sym,
    pub created: u32,
    pub deleted: Option<u32>,
    pub owner: Session,
    pub czxid: u64,
}

/// The data of a znode from an event on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holds {
    pub event: u32,
    /// An index into the znodes.
    pub znode: u32,
    /// The length and the digest of the data, if the history has them.
    pub data: Option<(u32, u64)>,
}

/// How a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchEnd {
    /// It fired, and its notification arrived.
    Notified,
    /// It fired, and its notification was lost.
    NoticeLost,
    /// It was lost with its connection.
    ConnectionLost,
    /// It was removed.
    TakenAway,
    /// It is still armed at the end.
    Stands,
}

/// A watch, from its registration to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    pub session: Session,
    pub path: Sym,
    pub table: Table,
    pub mode: WatchMode,
    pub op: OpId,
    pub armed: u32,
    pub ended: Option<u32>,
    pub notice: Option<u32>,
    pub end: WatchEnd,
}

/// A belief: a client acts as holder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    pub client: u16,
    pub object: ObjectId,
    pub session: Session,
    pub token: u64,
    pub from: u32,
    pub to: Option<u32>,
    pub why: Option<Why>,
}

/// An operation, from its call to its return.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSpan {
    pub client: u16,
    pub object: ObjectId,
    pub verb: Verb,
    pub from: u32,
    pub to: Option<u32>,
    pub outcome: Option<Outcome>,
}

/// A fault, from its injection to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strike {
    pub victim: Victim,
    pub from: u32,
    pub to: Option<u32>,
    /// In microseconds, or zero for an instant.
    pub lasts: u64,
}

/// A session, as its client and as the servers know it.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionLife {
    pub client: Option<u16>,
    pub opened: Option<u32>,
    pub timeout_ms: u32,
    pub marked: Option<u32>,
    pub ended: Option<u32>,
    /// The states that the client learned, each with its event.
    pub states: Vec<(u32, SessionState)>,
}

/// A period in which a server serves or leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Office {
    pub server: u8,
    pub leads: bool,
    pub from: u32,
    pub to: Option<u32>,
}

/// All lifetimes of a run.
#[derive(Default)]
pub(super) struct Lives {
    pub znodes: Vec<Znode>,
    pub holds: Vec<Holds>,
    pub watches: Vec<Watch>,
    pub operations: Vec<CallSpan>,
    /// The events at which a recipe returned a result, each with the object.
    pub observed: Vec<(u32, ObjectId)>,
    pub beliefs: Vec<Belief>,
    pub strikes: Vec<Strike>,
    pub sessions: BTreeMap<Session, SessionLife>,
    pub offices: Vec<Office>,
}

#[derive(Default)]
struct Open {
    /// The living znode of each path.
    znodes: BTreeMap<Sym, usize>,
    /// The watch of each arming event.
    watches: BTreeMap<u32, usize>,
    operations: BTreeMap<(u16, OpId), usize>,
    beliefs: BTreeMap<(u16, OpId), usize>,
    strikes: BTreeMap<(Victim, FaultKind), usize>,
    offices: BTreeMap<(u8, bool), usize>,
}

impl Lives {
    /// Finds all lifetimes.
    pub(super) fn of(history: &History, asked: &Requests, causes: &Causes) -> Lives {
        let (mut lives, mut open) = (Lives::default(), Open::default());
        for (index, event) in history.events.iter().enumerate() {
            let at = index as u32;
            match event.who {
                Who::Client(client) => lives.of_client(at, client, event.op, event.what, &mut open),
                Who::Server(server) => {
                    lives.of_server(at, server, event.what, &mut open);
                    lives.of_tree(at, event.what, &mut open);
                    lives.of_watches(at, event.op, event.what, causes, &mut open);
                }
                Who::World => lives.of_world(at, event.what, &mut open),
            }
        }
        for (session, life) in &mut lives.sessions {
            life.client = life.client.or_else(|| asked.client_of(*session));
        }
        lives.lose_watches();
        lives
    }

    fn session(&mut self, session: Session) -> &mut SessionLife {
        self.sessions.entry(session).or_default()
    }

    fn of_client(&mut self, at: u32, client: u16, op: OpId, what: What, open: &mut Open) {
        match what {
            What::State { session, state, .. } => {
                let life = self.session(session);
                life.client.get_or_insert(client);
                life.states.push((at, state));
            }
            What::Call { object, verb, .. } => {
                open.operations.insert((client, op), self.operations.len());
                let operation = CallSpan { client, object, verb, from: at, to: None, outcome: None };
                self.operations.push(operation);
            }
            What::Return { outcome, .. } => {
                if let Some(operation) = open.operations.remove(&(client, op)) {
                    self.operations[operation].to = Some(at);
                    self.operations[operation].outcome = Some(outcome);
                }
            }
            What::Observed { object, .. } => self.observed.push((at, object)),
            What::Believe { object, session, token } => {
                open.beliefs.insert((client, op), self.beliefs.len());
                let belief = Belief { client, object, session, token, from: at, to: None, why: None };
                self.beliefs.push(belief);
            }
            What::Unbelieve { why } => {
                // A guard that is dropped may have stopped before.
                if let Some(belief) = open.beliefs.get(&(client, op)) {
                    let belief = &mut self.beliefs[*belief];
                    belief.to.get_or_insert(at);
                    belief.why = Some(why);
                }
            }
            _ => {}
        }
    }

    fn of_server(&mut self, at: u32, server: u8, what: What, open: &mut Open) {
        let mut begins = |leads: bool, offices: &mut Vec<Office>| {
            open.offices.entry((server, leads)).or_insert_with(|| {
                offices.push(Office { server, leads, from: at, to: None });
                offices.len() - 1
            });
        };
        match what {
            What::Opened { session, timeout, .. } => {
                let life = self.session(session);
                life.opened = Some(at);
                life.timeout_ms = timeout;
            }
            What::Marked { session, .. } => self.session(session).marked = Some(at),
            What::Ended { session, .. } => self.session(session).ended = Some(at),
            What::Elected { .. } => begins(true, &mut self.offices),
            What::Serving => begins(false, &mut self.offices),
            What::Ceased => {
                for leads in [false, true] {
                    if let Some(office) = open.offices.remove(&(server, leads)) {
                        self.offices[office].to = Some(at);
                    }
                }
            }
            _ => {}
        }
    }

    fn of_tree(&mut self, at: u32, what: What, open: &mut Open) {
        match what {
            What::Created { zxid, path, owner } => {
                let znode = self.znodes.len();
                self.znodes.push(Znode { path, created: at, deleted: None, owner, czxid: zxid });
                open.znodes.insert(path, znode);
                self.holds.push(Holds { event: at, znode: znode as u32, data: None });
            }
            What::Written { path, .. } => {
                let Some(znode) = open.znodes.get(&path) else { return };
                self.holds.push(Holds { event: at, znode: *znode as u32, data: None });
            }
            What::Data { length, digest } => {
                // The data event directly follows its change.
                let last = self.holds.last_mut().filter(|last| last.event + 1 == at);
                last.into_iter().for_each(|last| last.data = Some((length, digest)));
            }
            What::Deleted { path, .. } => {
                if let Some(znode) = open.znodes.remove(&path) {
                    self.znodes[znode].deleted = Some(at);
                }
            }
            _ => {}
        }
    }

    fn of_watches(&mut self, at: u32, op: OpId, what: What, causes: &Causes, open: &mut Open) {
        match what {
            What::Arm { session, table, path, mode, .. } => {
                open.watches.insert(at, self.watches.len());
                self.watches.push(Watch {
                    session,
                    path,
                    table,
                    mode,
                    op,
                    armed: at,
                    ended: None,
                    notice: None,
                    end: WatchEnd::Stands,
                });
            }
            What::Fire { .. } | What::Disarm { .. } => {
                let Some(watch) = causes.armed.get(&at).and_then(|armed| open.watches.get(armed)) else {
                    return;
                };
                let watch = &mut self.watches[*watch];
                if matches!(what, What::Fire { .. }) {
                    watch.notice = causes.notices.get(&at).copied();
                    watch.end =
                        if watch.notice.is_some() { WatchEnd::Notified } else { WatchEnd::NoticeLost };
                } else {
                    watch.end = WatchEnd::TakenAway;
                }
                // A persistent watch keeps only its last notification.
                if watch.mode.is_one_shot() || !matches!(what, What::Fire { .. }) {
                    watch.ended = Some(at);
                }
            }
            _ => {}
        }
    }

    fn of_world(&mut self, at: u32, what: What, open: &mut Open) {
        match what {
            What::Fault { kind, victim, lasts } => {
                open.strikes.insert((victim, kind), self.strikes.len());
                self.strikes.push(Strike { victim, from: at, to: None, lasts });
            }
            What::Mended { kind, victim } => {
                if let Some(strike) = open.strikes.remove(&(victim, kind)) {
                    self.strikes[strike].to = Some(at);
                }
            }
            _ => {}
        }
    }

    /// Watches that neither fired nor were removed ended when their client next lost its connection.
    fn lose_watches(&mut self) {
        for watch in self.watches.iter_mut().filter(|watch| watch.end == WatchEnd::Stands) {
            let states = self.sessions.get(&watch.session).map(|life| &life.states);
            let gone =
                |(at, state): &&(u32, SessionState)| *at > watch.armed && *state != SessionState::Connected;
            if let Some((at, _)) = states.into_iter().flatten().find(gone) {
                watch.ended = Some(*at);
                watch.end = WatchEnd::ConnectionLost;
            }
        }
    }
}
