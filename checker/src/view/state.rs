//! The state of operations, requests, sessions and clients.

use super::causes::Struck;
use super::initial::initial;
use super::stop::Stop;
use crate::history::{Conn, ObjectId, OpId, Outcome, Request, Session, Share, Sym, Verb, Why};
use crate::recent::Aged;

/// The time of an event that has not happened.
pub(crate) const NEVER: u64 = u64::MAX;

/// The number that stands for no contender.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A time and the index of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) at: u64,
    pub(crate) index: u32,
}

impl Moment {
    pub(crate) const NEVER: Moment = Moment { at: NEVER, index: u32::MAX };

    pub(crate) fn came(self) -> bool {
        self.index != u32::MAX
    }

    /// Its time, or the start of the history if it has not happened.
    pub(crate) fn at_or_start(self) -> u64 {
        if self.came() { self.at } else { 0 }
    }
}

/// The progress of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Unborn,
    Open,
    Over(Outcome),
    /// Its client died before it was over.
    Dead,
}

/// The progress of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Not granted so far.
    None,
    Believed,
    /// The holder stopped because of a suspected loss; it may go on.
    Suspended,
    Over,
}

initial! {
    /// An operation, and the hold that it was granted.
    #[derive(Clone, Debug)]
    Op::UNBORN {
        phase: Phase = Phase::Unborn,
        verb: Verb = Verb::Acquire,
        client: u16 = 0,
        object: ObjectId = ObjectId(0),
        called: Moment = Moment::NEVER,
        limit: u32 = 0,
        over: Moment = Moment::NEVER,
        /// For a release: the acquire whose hold it gives back. For an acquire: its release.
        partner: OpId = OpId(0),
        /// For a downgrade: the writer's hold.
        former: OpId = OpId(0),
        /// For a writer's hold: its downgrade, once that was called.
        downgrade: OpId = OpId(0),
        /// Exclusive or shared; a writer's hold is shared from the call of its downgrade on.
        share: Share = Share::Exclusive,
        /// The argument of the call.
        given: Sym = Sym(u32::MAX),
        number: u64 = 0,
        /// The znode that it created last.
        node: u32 = NOBODY,
        nodes: u32 = 0,
        /// The number of its live znodes.
        live: u32 = 0,
        /// Whether the client knows its znode's name.
        answered: bool = false,
        /// In a capture: the path of a create whose reply was lost.
        lost_create: Option<Sym> = None,
        /// In a capture: its znode, if a reply other than that to the create showed it.
        shown: Option<Sym> = None,
        /// The last list of children that it was served.
        list: Option<List> = None,
        /// Requests in flight, without those of clean-up.
        in_flight: u32 = 0,
        /// The time of the last refusal of one of its requests (clean-up included) without a look at the tree; 0:
        /// never.
        refused: u64 = 0,
        /// The end of the pause before it retries that request or searches for its own znode.
        pauses_until: u64 = 0,
        /// The end of the flight of requests in which one was refused: the client pauses after the last reply of that
        /// flight. `None`: no request was refused, or the client has continued since.
        flight_until: Option<u64> = None,
        /// The largest number of round trips among its replies.
        depth: u32 = 0,
        sends: u32 = 0,
        wakes: u32 = 0,
        /// Whether there was no fault, no lost reply and no refusal so far.
        calm: bool = false,
        /// The same, except that a read of a missing znode does not count as a refusal.
        undisturbed: bool = false,
        /// Whether a contender was ahead when its znode was created, or at any time since.
        found_somebody: bool = false,
        hold: Hold = Hold::None,
        session: Session = Session(0),
        token: u64 = 0,
        /// The znode of the hold.
        own: u32 = NOBODY,
        granted: Moment = Moment::NEVER,
        /// The latest begin of belief.
        believed: Moment = Moment::NEVER,
        unbelieved: Moment = Moment::NEVER,
        why: Why = Why::Released,
        /// Whether the end of belief was recorded, and not only inferred.
        end_told: bool = false,
        stop: Stop = Stop::NEVER,
    }
}

impl Aged for Op {
    const BLANK: &'static Op = &Op { client: u16::MAX, ..Op::UNBORN };

    fn is_done(&self) -> bool {
        let over = matches!(self.phase, Phase::Over(_) | Phase::Dead);
        let holds = matches!(self.hold, Hold::Believed | Hold::Suspended);
        over && !holds && self.live == 0 && self.in_flight == 0 && !self.is_of_transaction()
    }
}

/// A list of children that was served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) zxid: u64,
    pub(crate) sent: Moment,
    pub(crate) reply: u32,
}

impl Op {
    /// Notes a fault, a lost reply or a refusal.
    pub(super) fn disturb(&mut self) {
        (self.calm, self.undisturbed) = (false, false);
    }

    /// Whether it belongs to a two-phase commit, whose operations are kept until the end of the transaction.
    fn is_of_transaction(&self) -> bool {
        matches!(self.verb, Verb::Begin | Verb::Vote | Verb::Decide | Verb::Finish)
    }

    pub(crate) fn is_acquire(&self) -> bool {
        self.phase != Phase::Unborn && (self.verb.asks_for().is_some() || self.verb == Verb::Downgrade)
    }

    /// Whether it waits for the hold.
    pub(crate) fn is_waiting(&self) -> bool {
        self.phase == Phase::Open && self.verb.asks_for().is_some() && self.hold == Hold::None
    }

    /// Whether its znode is no longer needed.
    pub(crate) fn is_done_with(&self) -> bool {
        match self.hold {
            Hold::None => matches!(self.phase, Phase::Over(outcome) if outcome != Outcome::Done),
            Hold::Over => matches!(self.why, Why::Released | Why::Dropped),
            Hold::Believed | Hold::Suspended => false,
        }
    }
}

initial! {
    /// A request.
    #[derive(Clone, Copy, Debug)]
    Req::NONE {
        op: OpId = OpId(0),
        client: u16 = 0,
        session: Session = Session(0),
        kind: Request = Request::Sync,
        path: Sym = Sym(0),
        sent: Moment = Moment::NEVER,
        depth: u32 = 0,
        cleanup: bool = false,
        watch: bool = false,
        answered: bool = false,
        /// The connection it was sent on.
        conn: Conn = Conn(0),
        /// The zxid of the state in which a server answered it, if that is known.
        served: u64 = 0,
    }
}

impl Req {
    pub(crate) fn is_sent(&self) -> bool {
        self.sent.came()
    }
}

impl Aged for Req {
    const BLANK: &'static Req = &Req::NONE;

    fn is_done(&self) -> bool {
        self.answered
    }
}

initial! {
    /// A session, as its client and the servers know it.
    #[derive(Clone, Debug)]
    SessionView::NEW {
        client: Option<u16> = None,
        /// In microseconds, or zero if not known.
        timeout: u64 = 0,
        connected: Moment = Moment::NEVER,
        /// The latest disconnect.
        suspended: Moment = Moment::NEVER,
        is_suspended: bool = false,
        /// The time at which the client learned that it is over.
        known_over: Moment = Moment::NEVER,
        /// In a capture: whether the latest disconnect, or the expiry, came without a fault that may have caused it.
        broke_unstruck: bool = false,
        /// The latest time at which a leader marked it as expired.
        marked: Moment = Moment::NEVER,
        /// Whether its server, or the leader that marked it, may have failed to pass a touch on.
        may_be_unheard: bool = false,
        /// Whether that mark is still valid: a new leader starts every timeout again.
        is_marked: bool = false,
        heard: u64 = 0,
        /// The connection that its client used last, and the server of that connection.
        conn: Conn = Conn(0),
        server: u8 = 0,
        ended: Moment = Moment::NEVER,
        /// Notifications that fired and have not arrived.
        undelivered: u32 = 0,
        /// The time at which the latest answered request had been sent. Pings and the client library's own requests
        /// count only if they are recorded.
        answered_sent: u64 = 0,
        /// The event of that answer.
        answer: u32 = 0,
        /// Whether a server reported taking the session over. A history with such events reports everything else that
        /// servers do for a session; a history without them reports less.
        is_attached: bool = false,
    }
}

impl SessionView {
    pub(crate) fn is_over(&self) -> bool {
        self.known_over.came() || self.is_marked || self.ended.came()
    }
}

initial! {
    /// A client process.
    #[derive(Clone, Debug)]
    Client::NEW {
        died: Moment = Moment::NEVER,
        /// The begin of the pause that still lasts.
        paused: Moment = Moment::NEVER,
        /// Pauses that still last: the process goes on when the last of them ends.
        pauses: u32 = 0,
        /// The latest pause, even if it followed immediately on a resumption.
        stopped: Moment = Moment::NEVER,
        /// Begin and end of the latest pause that is over.
        last_pause: (Moment, Moment) = (Moment::NEVER, Moment::NEVER),
        /// Its latest session.
        session: Session = Session(0),
        /// Its open operations, without releases.
        open: Vec<OpId> = Vec::new(),
        /// Its open releases.
        releases: Vec<OpId> = Vec::new(),
        /// Holds that are believed or suspended.
        holds: Vec<OpId> = Vec::new(),
        /// The latest hold, which a release gives back.
        last_hold: OpId = OpId(0),
        /// The first time at which its clock ran fast or slow.
        drifts: Moment = Moment::NEVER,
        /// Whether it is a foreign client, which follows no recipe and reports its acts as faults.
        is_foreign: bool = false,
        /// Faults that broke its connections, or paused it for long enough to miss pings.
        struck: Struck = Struck::NONE,
    }
}

impl Client {
    pub(crate) fn is_dead(&self) -> bool {
        self.died.came()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused.came()
    }

    /// Whether its process can act in this session, and the session is connected.
    pub(crate) fn is_awake_in(&self, session: &SessionView) -> bool {
        !self.is_dead() && !self.is_paused() && !session.is_suspended && !session.is_over()
    }

    /// The end of its latest pause, or the start of the history.
    pub(crate) fn resumed(&self) -> u64 {
        self.last_pause.1.at_or_start()
    }

    /// The longest real time for a duration on its own clock: a clock drifts by up to a tenth.
    pub(crate) fn stretch(&self, time: u64) -> u64 {
        if self.drifts.came() { time.saturating_add(time / 9 + 1) } else { time }
    }
}

/// The latest transaction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Txn {
    pub(crate) zxid: u64,
    pub(crate) session: Session,
}
