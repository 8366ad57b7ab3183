//! The causal order of a run, reconstructed from its history: for each event, the events that it follows from.
//!
//! 1. Within an actor: a step of an operation follows from the operation's earlier steps and from notifications.
//! 2. Between actors: request, transaction or read, reply; transaction, watch, notification. Replies name their request
//!    and transactions their zxid. A write without a reply is identified by its operation, kind and path.
//! 3. The result of a read follows from the latest changes of what was read.
//! 4. A lost connection follows from the fault that caused it.

use crate::requests::Requests;
use std::collections::{BTreeMap, VecDeque};
use zk_checker::history::{
    Conn, Event, History, Notify, OpId, Outcome, Request, Session, SessionState, Sym, Table, Victim, What,
    Who,
};

/// The kind of dependence between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tie {
    /// Both are parts of one step.
    Same,
    /// A message was sent and received.
    Message,
    /// A watch was armed and fired.
    Watch,
    /// A fault was injected and took effect.
    Fault,
    /// A value was written and read.
    Seen,
    /// An earlier step of the same operation.
    Program,
    /// An earlier step of the same actor, before this operation.
    Before,
}

/// An event from which another one follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    pub event: u32,
    pub tie: Tie,
}

/// The causes of every event.
pub(super) struct Causes {
    /// For each event, the start of its causes in `all`, and one more at the end.
    starts: Vec<u32>,
    all: Vec<Cause>,
    /// For the firing of each watch whose notification arrived: the notification.
    pub notices: BTreeMap<u32, u32>,
    /// For the firing or removal of each watch: the event that armed it.
    pub armed: BTreeMap<u32, u32>,
}

impl Causes {
    /// The causes of an event.
    pub(super) fn of(&self, event: u32) -> &[Cause] {
        let at = event as usize;
        &self.all[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Finds all causes.
    pub(super) fn find(history: &History, asked: &Requests) -> Causes {
        let mut finder = Finder::new(history, asked);
        let mut causes = Causes {
            starts: vec![0],
            all: Vec::with_capacity(history.events.len() * 2),
            notices: BTreeMap::new(),
            armed: BTreeMap::new(),
        };
        for (index, event) in history.events.iter().enumerate() {
            finder.index = index as u32;
            finder.found.clear();
            finder.event(event, &mut causes);
            // A cause precedes its effect, also if a recorded history claims otherwise.
            finder.found.retain(|cause| cause.event < index as u32);
            finder.found.sort_by_key(|cause| (cause.event, cause.tie));
            finder.found.dedup_by_key(|cause| cause.event);
            causes.all.extend_from_slice(&finder.found);
            causes.starts.push(causes.all.len() as u32);
        }
        causes
    }
}

/// The maximal number of changes below a directory from which a list of its children follows.
const LISTED: usize = 4;

struct Finder<'a> {
    history: &'a History,
    asked: &'a Requests,
    index: u32,
    found: Vec<Cause>,
    /// The last event of each client, and of each operation at its client and at a server.
    last_of_client: BTreeMap<u16, u32>,
    last_of_op: BTreeMap<(u16, OpId), u32>,
    last_served: BTreeMap<OpId, u32>,
    /// The last notification or session event at each client.
    last_heard: BTreeMap<u16, u32>,
    /// The last fault of each victim, and the last fault of all.
    last_fault: BTreeMap<Victim, u32>,
    /// The event of each transaction, by zxid, and by the low half of the zxid.
    txns: BTreeMap<u64, u32>,
    /// The changes of each znode, and of the children of each directory.
    changed: BTreeMap<Sym, Vec<(u64, u32)>>,
    below: BTreeMap<Sym, Vec<(u64, u32)>>,
    /// Armed watches.
    arms: BTreeMap<(Session, Conn, Sym, Table), u32>,
    /// Notifications in flight.
    flying: BTreeMap<(Session, Sym, u8), VecDeque<(Conn, u32)>>,
    /// The last event of each session at the servers.
    sessions: BTreeMap<Session, u32>,
    believed: BTreeMap<OpId, u32>,
}

impl<'a> Finder<'a> {
    fn new(history: &'a History, asked: &'a Requests) -> Finder<'a> {
        Finder {
            history,
            asked,
            index: 0,
            found: Vec::new(),
            last_of_client: BTreeMap::new(),
            last_of_op: BTreeMap::new(),
            last_served: BTreeMap::new(),
            last_heard: BTreeMap::new(),
            last_fault: BTreeMap::new(),
            txns: BTreeMap::new(),
            changed: BTreeMap::new(),
            below: BTreeMap::new(),
            arms: BTreeMap::new(),
            flying: BTreeMap::new(),
            sessions: BTreeMap::new(),
            believed: BTreeMap::new(),
        }
    }

    fn add(&mut self, event: Option<u32>, tie: Tie) {
        self.found.extend(event.map(|event| Cause { event, tie }));
    }

    fn event(&mut self, event: &Event, causes: &mut Causes) {
        match event.who {
            Who::Client(client) => self.of_client(client, event, causes),
            Who::Server(_) => self.of_server(event, causes),
            Who::World => self.of_world(event),
        }
    }

    /// Step 1: earlier steps of the operation, and notifications at its client since.
    fn program(&mut self, client: u16, op: OpId) {
        let before = self.last_of_op.get(&(client, op)).copied();
        self.add(before, Tie::Program);
        let heard = self.last_heard.get(&client).copied();
        self.add(heard.filter(|heard| before.is_none_or(|before| *heard > before)), Tie::Program);
    }

    /// The last fault of a client.
    fn struck(&mut self, client: u16) {
        let fault = self.last_fault.get(&Victim::Process { client }).copied();
        self.add(fault, Tie::Fault);
    }

    /// The last fault of any server.
    fn struck_servers(&mut self) {
        let servers = self.last_fault.iter().filter(|(victim, _)| !matches!(victim, Victim::Process { .. }));
        let last = servers.map(|(_, at)| *at).max();
        self.add(last, Tie::Fault);
    }

    fn of_client(&mut self, client: u16, event: &Event, causes: &mut Causes) {
        let (op, index) = (event.op, self.index);
        match event.what {
            What::Call { .. } => {
                let before = self.last_of_client.get(&client).copied();
                self.add(before, Tie::Before);
            }
            What::Reply { req, .. } => {
                let asked = self.asked.get(req);
                self.add(asked.and_then(|asked| asked.handled), Tie::Message);
                self.add(asked.map(|asked| asked.sent), Tie::Program);
            }
            What::Made { .. } | What::Expects { .. } => self.add(index.checked_sub(1), Tie::Same),
            What::Lost { req } => {
                let sent = self.asked.get(req).map(|asked| asked.sent);
                self.add(sent, Tie::Program);
                self.struck(client);
            }
            What::Notice { session, kind, path, conn } => {
                let fired = self.arrives((session, path, kind as u8), conn);
                if let Some(fired) = fired {
                    causes.notices.insert(fired, index);
                }
                self.add(fired, Tie::Message);
            }
            What::State { session, state, .. } => match state {
                SessionState::Suspended => self.struck(client),
                SessionState::Closed => self.program(client, op),
                SessionState::Connected | SessionState::Expired => {
                    let known = self.sessions.get(&session).copied();
                    self.add(known, Tie::Message);
                }
            },
            What::Disarm { session, table, path, conn } => {
                self.disarmed((session, conn, path, table), causes)
            }
            What::Resource { .. } => {
                let believed = self.believed.get(&op).copied();
                self.add(believed, Tie::Program);
                self.program(client, op);
            }
            What::Unbelieve { .. } => {
                let believed = self.believed.get(&op).copied();
                self.add(believed, Tie::Program);
                self.program(client, op);
            }
            What::Return { outcome, .. } => {
                self.program(client, op);
                if outcome == Outcome::Cancelled {
                    self.struck(client);
                }
            }
            _ => self.program(client, op),
        }
        if let What::Believe { .. } = event.what {
            self.believed.insert(op, index);
        }
        self.last_of_client.insert(client, index);
        match event.what {
            What::Notice { .. } | What::State { .. } => _ = self.last_heard.insert(client, index),
            _ => _ = self.last_of_op.insert((client, op), index),
        }
    }

    /// Step 2, the end of a notification: matches the oldest of its kind on that connection.
    fn arrives(&mut self, which: (Session, Sym, u8), conn: Conn) -> Option<u32> {
        let flying = self.flying.get_mut(&which)?;
        let at = flying.iter().position(|(on, _)| *on == conn || conn.is_none())?;
        flying.remove(at).map(|(_, fired)| fired)
    }

    fn disarmed(&mut self, which: (Session, Conn, Sym, Table), causes: &mut Causes) {
        let armed = self.arms.remove(&which);
        if let Some(armed) = armed {
            causes.armed.insert(self.index, armed);
        }
        self.add(armed, Tie::Watch);
    }

    fn of_server(&mut self, event: &Event, causes: &mut Causes) {
        let (op, index) = (event.op, self.index);
        match event.what {
            What::Txn { zxid, session, kind, .. } => {
                self.add(self.asked.sender(index), Tie::Message);
                if kind == Request::CloseSession {
                    let known = self.sessions.get(&session).copied();
                    self.add(known, Tie::Program);
                }
                self.txns.insert(zxid, index);
                self.txns.entry(zxid & 0xffff_ffff).or_insert(index);
            }
            What::Created { zxid, path, .. }
            | What::Deleted { zxid, path, .. }
            | What::Written { zxid, path }
            | What::Restricted { zxid, path } => {
                let txn = self.txns.get(&zxid).copied();
                self.add(txn, Tie::Same);
                self.changes(
                    zxid,
                    path,
                    !matches!(event.what, What::Written { .. } | What::Restricted { .. }),
                );
            }
            What::Data { .. } | What::Found { .. } => self.add(index.checked_sub(1), Tie::Same),
            What::Applied { zxid } => {
                let txn = self.txns.get(&zxid).copied();
                self.add(txn, Tie::Message);
            }
            What::Served { req, zxid, .. } => {
                let asked = self.asked.get(req);
                self.add(asked.map(|asked| asked.sent), Tie::Message);
                if let Some(asked) = asked {
                    self.shows(asked.kind, asked.path, zxid);
                }
            }
            What::Barrier { req, .. } => {
                let sent = self.asked.get(req).map(|asked| asked.sent);
                self.add(sent, Tie::Message);
            }
            What::Arm { session, table, path, conn, .. } => {
                let served = self.last_served.get(&op).copied();
                self.add(served, Tie::Same);
                self.arms.insert((session, conn, path, table), index);
            }
            What::Fire { session, kind, path, zxid, conn } => {
                let txn = (zxid > 0).then(|| self.txns.get(&u64::from(zxid)).copied()).flatten();
                self.add(txn, Tie::Same);
                self.fires(session, conn, path, kind, causes);
            }
            What::Disarm { session, table, path, conn } => {
                self.disarmed((session, conn, path, table), causes)
            }
            _ => self.presides(event),
        }
        if matches!(event.what, What::Served { .. }) && op != OpId(0) {
            self.last_served.insert(op, index);
        }
    }

    fn presides(&mut self, event: &Event) {
        match event.what {
            What::Opened { session, zxid, .. } | What::Ended { session, zxid } => {
                let txn = self.txns.get(&zxid).copied();
                self.add(txn, Tie::Same);
                self.sessions.insert(session, self.index);
            }
            What::Attached { session, .. } | What::Moved { session, .. } => {
                let known = self.sessions.insert(session, self.index);
                self.add(known, Tie::Before);
            }
            What::Marked { session, .. } => {
                let known = self.sessions.insert(session, self.index);
                self.add(known, Tie::Program);
                if let Some(client) = self.asked.client_of(session) {
                    self.struck(client);
                }
            }
            What::Elected { .. } | What::Ceased | What::Serving => self.struck_servers(),
            _ => {}
        }
    }

    fn of_world(&mut self, event: &Event) {
        match event.what {
            What::Fault { victim, .. } => _ = self.last_fault.insert(victim, self.index),
            What::Mended { victim, .. } => {
                let fault = self.last_fault.get(&victim).copied();
                self.add(fault, Tie::Fault);
            }
            What::Crash { client } => self.struck(client),
            What::Left { path, .. } => {
                let made = self.changed.get(&path).and_then(|changes| changes.last()).map(|(_, at)| *at);
                self.add(made, Tie::Seen);
            }
            _ => {}
        }
    }

    /// Records a change of a znode, and of its parent's children if the list changed.
    fn changes(&mut self, zxid: u64, path: Sym, in_list: bool) {
        self.changed.entry(path).or_default().push((zxid, self.index));
        if let Some(parent) = self.asked.parent(self.history, path).filter(|_| in_list) {
            self.below.entry(parent).or_default().push((zxid, self.index));
        }
    }

    /// Step 3: the latest changes of what was read, up to the zxid at which the read was served.
    fn shows(&mut self, kind: Request, path: Sym, zxid: u64) {
        let latest = |changes: Option<&Vec<(u64, u32)>>, most: usize| -> Vec<u32> {
            let seen = changes.into_iter().flat_map(|all| all.iter().rev());
            seen.filter(|(at, _)| *at <= zxid).take(most).map(|(_, event)| *event).collect()
        };
        let found = match kind {
            Request::Children => latest(self.below.get(&path), LISTED),
            _ => latest(self.changed.get(&path), 1),
        };
        found.into_iter().for_each(|event| self.add(Some(event), Tie::Seen));
    }

    /// Step 2, the beginning of a notification.
    fn fires(&mut self, session: Session, conn: Conn, path: Sym, kind: Notify, causes: &mut Causes) {
        let tables: &[Table] = match kind {
            Notify::Created | Notify::DataChanged => &[Table::Data],
            Notify::ChildrenChanged => &[Table::Child],
            Notify::Deleted => &[Table::Data, Table::Child],
        };
        for table in tables {
            let which = (session, conn, path, *table);
            // Persistent watches stay armed and in the table.
            let armed = match self.arms.get(&which).copied() {
                Some(at) if self.is_one_shot(at) => self.arms.remove(&which),
                other => other,
            };
            if let Some(armed) = armed {
                causes.armed.entry(self.index).or_insert(armed);
            }
            self.add(armed, Tie::Watch);
        }
        let flying = self.flying.entry((session, path, kind as u8)).or_default();
        flying.push_back((conn, self.index));
    }

    fn is_one_shot(&self, armed: u32) -> bool {
        matches!(self.history.events[armed as usize].what, What::Arm { mode, .. } if mode.is_one_shot())
    }
}
