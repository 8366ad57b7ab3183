//! The state of clients, sessions, contests, watches and servers after the events so far: the input of all rules.

mod ahead;
mod causes;
mod contenders;
mod contest;
mod initial;
mod operations;
mod oracle;
mod protocol;
mod requests;
mod servers;
mod state;
mod stop;
mod update;
mod watches;
mod world;

pub(crate) use ahead::{HandOver, Unjust};
pub(crate) use causes::Struck;
pub(crate) use contenders::is_child;
pub(crate) use contest::{At, Contender, Contest, Turn, conflict};
pub(crate) use oracle::{Effect, Odd, Oracle, is_unjudged};
pub(crate) use protocol::{Order, Part, Protocol, ProtocolOf, Room};
pub(crate) use servers::ServerView;
pub(crate) use state::{Client, Hold, List, Moment, NEVER, NOBODY, Op, Phase, Req, SessionView, Txn};
pub(crate) use stop::StopWhy;
pub(crate) use update::Taken;
pub(crate) use watches::{Watch, Watches, fires};

use crate::history::{Event, Mode, ObjectId, OpId, ReqId, Session, Sym, Tables, Who};
use crate::recent::Recent;

/// The state after the events so far. Tables are indexed by the dense numbers of the history.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) mode: Mode,
    pub(crate) settle: u64,
    pub(crate) tick: u64,
    pub(crate) timeout: u64,
    pub(crate) election: u64,
    pub(crate) round_trip: u64,
    /// The current event, or the last one.
    pub(crate) now: Moment,
    pub(crate) ops: Recent<Op>,
    pub(crate) requests: Recent<Req>,
    pub(crate) sessions: Vec<SessionView>,
    pub(crate) clients: Vec<Client>,
    /// By object: the contest for it.
    pub(crate) contests: Vec<Contest>,
    /// Every znode that an acquire made, in the order of creation.
    pub(crate) contenders: Recent<Contender>,
    /// By path: the contender whose znode it is.
    contender_at: Recent<At>,
    /// No believed hold has to stop before this time.
    pub(crate) first_stop: u64,
    /// No believed hold ends before this time for lack of answers.
    first_silence: u64,
    pub(crate) watches: Watches,
    pub(crate) servers: Vec<ServerView>,
    /// By connection: its session.
    conns: Vec<Session>,
    /// The tree that the transactions made; only kept for the rules about ZooKeeper itself.
    pub(crate) oracle: Oracle,
    keeps_oracle: bool,
    protocol_of: ProtocolOf,
    pub(crate) sync_limit: u64,
    pub(crate) txn: Txn,
    pub(crate) healed: bool,
    /// The time since which no fault is injected and none lasts; meaningful once healed.
    pub(crate) calm_since: u64,
    /// In a capture: whether everything that can break a connection was recorded.
    faults_recorded: bool,
    /// Whether the time at which the last answered request or ping was sent is known.
    pub(crate) pings_recorded: bool,
    pub(crate) foreign_clients: bool,
    /// Faults of servers and of links between servers, which may affect any client.
    struck: Struck,
    pub(crate) quiet: bool,
    /// Contenders that a foreign client is about to delete, with the number of that client.
    foreign_deletes: Vec<(u32, u16)>,
    /// Foreign deletes that were announced and have not been seen yet.
    pub(crate) foreign_due: u32,
    /// In a capture: requests that may force out a contender before its own client gets the reply to the create.
    early_forces: Vec<Req>,
    /// Paths that foreign clients have created, written or deleted.
    foreign: Vec<Sym>,
    /// Whether an event can excuse an overlap: expiry, pause, foreign delete.
    pub(crate) excusable: bool,
    /// The contender that the current event created or deleted.
    pub(crate) touched: u32,
    /// The number of waiting operations that the current deletion enables.
    pub(crate) enabled: u32,
    /// The number of waiting operations that it may wake: the enabled ones, and those whose nearest contender it was.
    pub(crate) concerned: u32,
    /// The contender that the current event asks to release.
    pub(crate) asked: u32,
    /// The contender whose data another client has just written.
    writing: u32,
    /// Digests of the words that ask a contender to release.
    words: [u64; 2],
    /// Priority locks: lists of holds that were served, and the lists that grants were made from.
    held_lists: Vec<(OpId, List)>,
    pub(crate) hand_overs: Vec<HandOver>,
    /// The operation that the current notification wakes, if that is known.
    pub(crate) woken: OpId,
}

/// The words that ask a contender to release, written into its znode: this project's, and Curator's.
pub(crate) const WORDS: [&str; 2] = ["unlock", "__REVOKE__"];

/// The longest time in a header for which sums still do not overflow.
const LONGEST: u64 = 1 << 40;

impl View {
    pub(crate) fn new(tables: Tables<'_>, keeps_oracle: bool, protocol_of: ProtocolOf) -> View {
        let header = tables.header;
        View {
            mode: header.mode,
            settle: header.settle.min(LONGEST),
            tick: header.tick.min(LONGEST),
            timeout: header.timeout.min(LONGEST),
            election: header.election.min(LONGEST),
            round_trip: header.round_trip.min(LONGEST),
            now: Moment { at: 0, index: 0 },
            ops: Recent::default(),
            requests: Recent::default(),
            sessions: Vec::with_capacity(8),
            clients: Vec::with_capacity(8),
            contests: Vec::with_capacity(tables.objects.len()),
            contenders: Recent::default(),
            contender_at: Recent::default(),
            first_stop: NEVER,
            first_silence: NEVER,
            watches: Watches::default(),
            servers: Vec::with_capacity(5),
            conns: Vec::with_capacity(16),
            oracle: Oracle::default(),
            keeps_oracle,
            protocol_of,
            sync_limit: header.sync_limit.into(),
            txn: Txn::default(),
            healed: false,
            calm_since: 0,
            faults_recorded: header.faults_recorded,
            pings_recorded: header.pings_recorded,
            foreign_clients: header.foreign_clients,
            struck: Struck::default(),
            quiet: false,
            foreign_deletes: Vec::new(),
            foreign_due: 0,
            early_forces: Vec::new(),
            foreign: Vec::new(),
            excusable: false,
            touched: NOBODY,
            enabled: 0,
            concerned: 0,
            asked: NOBODY,
            writing: NOBODY,
            words: WORDS.map(|word| crate::digest::data(Some(word.as_bytes()))),
            held_lists: Vec::new(),
            hand_overs: Vec::new(),
            woken: OpId(0),
        }
    }

    pub(crate) fn is_sim(&self) -> bool {
        self.mode == Mode::Sim
    }

    /// Keeps the tree up to date, if a rule looks at it.
    pub(crate) fn replay(&mut self, tables: Tables<'_>, event: &Event) {
        if self.keeps_oracle && self.is_sim() {
            self.oracle.update(tables, event);
        }
    }

    /// The operation of a number; `UNBORN` if it was never called.
    pub(crate) fn op(&self, id: OpId) -> &Op {
        self.ops.at(id.0 as usize)
    }

    pub(crate) fn client(&self, number: u16) -> &Client {
        static NEW: Client = Client::NEW;
        self.clients.get(usize::from(number)).unwrap_or(&NEW)
    }

    pub(crate) fn session(&self, session: Session) -> &SessionView {
        static NEW: SessionView = SessionView::NEW;
        self.sessions.get(usize::from(session.0)).unwrap_or(&NEW)
    }

    pub(crate) fn contest(&self, object: ObjectId) -> &Contest {
        &self.contests[usize::from(object.0)]
    }

    pub(crate) fn protocol(&self, object: ObjectId) -> &'static Protocol {
        self.contest(object).protocol
    }

    pub(crate) fn request(&self, req: ReqId) -> Option<&Req> {
        self.requests.get(req.0 as usize).filter(|req| req.is_sent())
    }

    pub(crate) fn contender(&self, number: u32) -> Option<&Contender> {
        self.contenders.get(number as usize)
    }

    /// Whether a session belongs to a foreign client, which reports its own acts as faults.
    pub(crate) fn is_foreign(&self, session: Session) -> bool {
        self.session(session).client.is_some_and(|client| self.client(client).is_foreign)
    }

    /// Whether a foreign client makes the current change.
    pub(crate) fn is_foreign_change(&self) -> bool {
        self.is_foreign(self.txn.session)
    }

    /// Whether the announcement of a foreign act is its only record, because the session that performs the act does not
    /// belong to a known foreign client.
    pub(crate) fn is_due(&self, announced_by: Who) -> bool {
        let is_known = |client| self.is_foreign(self.client(client).session);
        !self.is_sim() || !matches!(announced_by, Who::Client(client) if is_known(client))
    }

    /// Whether a foreign client has modified a path or anything below it.
    pub(crate) fn is_interfered_with(&self, tables: Tables<'_>, path: Sym) -> bool {
        let text = tables.names.get(path).unwrap_or_default();
        self.foreign.iter().any(|foreign| {
            let foreign = tables.names.get(*foreign).unwrap_or_default();
            foreign.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Whether a foreign client has modified this very znode.
    pub(crate) fn is_touched(&self, path: Sym) -> bool {
        self.foreign.contains(&path)
    }

    /// The number of the contender of a path.
    pub(crate) fn contender_of(&self, path: Sym) -> Option<u32> {
        let number = self.contender_at.at(path.0 as usize).number;
        self.contender(number).map(|_| number)
    }

    /// The session timeout in microseconds.
    pub(crate) fn timeout_of(&self, session: Session) -> u64 {
        match self.session(session).timeout {
            0 => self.timeout,
            timeout => timeout,
        }
    }

    /// The longest time that pending work may take once nothing is in its way.
    pub(crate) fn bound(&self, object: ObjectId) -> u64 {
        let open = self.contest(object).waiting.len() as u64;
        self.timeout + self.tick + self.election + (open + 1) * 4 * self.round_trip + self.settle
    }

    /// Whether an operation may wait for longer than the bound after the last fault. If not, the caller's time limit
    /// ends it earlier, and it is no evidence for a rule about the bound.
    pub(crate) fn can_be_overdue(&self, id: OpId) -> bool {
        let op = self.op(id);
        let ends = op.called.at.saturating_add(op.limit.into());
        op.limit == 0 || ends > self.calm_since.max(op.called.at).saturating_add(self.bound(op.object))
    }
}
