//! The parts of a view.

use super::causes::Struck;
use super::initial::initial;
use super::stop::Stop;
use crate::history::{Conn, ObjectId, OpId, Outcome, Request, Session, Share, Sym, Verb, Why};
use crate::recent::Aged;

/// A time that does not come.
pub(crate) const NEVER: u64 = u64::MAX;

/// The number of no contender.
pub(crate) const NOBODY: u32 = u32::MAX;

/// When, and at which event.
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
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Unborn,
    Open,
    Over(Outcome),
    /// Its client died before it was over.
    Dead,
}

/// How far a hold is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Not granted, so far.
    None,
    Believed,
    /// The holder stopped because it may be lost; it may go on.
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
        /// For a release: the acquire whose hold it gives back. For an acquire: the release.
        partner: OpId = OpId(0),
        /// For a downgrade: the writer's hold that it turns into its own.
        former: OpId = OpId(0),
        /// For a hold: the downgrade that turns it into a reader's, once that was called.
        downgrade: OpId = OpId(0),
        /// How its hold gets on with others: a writer's is a reader's from the call of its downgrade on.
        share: Share = Share::Exclusive,
        /// What its caller gave to it.
        given: Sym = Sym(u32::MAX),
        number: u64 = 0,
        /// The latest place in line that it made.
        node: u32 = NOBODY,
        nodes: u32 = 0,
        /// How many of its znodes live.
        live: u32 = 0,
        /// Whether the client knows its znode.
        answered: bool = false,
        /// The last list it was served.
        list: Option<List> = None,
        /// Requests on their way, without those of clean-up.
        in_flight: u32 = 0,
        /// When a server last refused a request of it, clean-up included, without a look at the tree; 0: never.
        refused: u64 = 0,
        /// Until when its client may pause before it repeats that one, or asks after its own znode again.
        pauses_until: u64 = 0,
        /// One of its requests was refused, and it pauses when the last is answered of those that belong to the same flight: until
        /// when what is sent belongs to it. `None`: none was refused, or it has gone on since.
        flight_until: Option<u64> = None,
        /// The largest depth among its replies.
        depth: u32 = 0,
        sends: u32 = 0,
        wakes: u32 = 0,
        /// No fault, no loss, no refusal so far.
        calm: bool = false,
        /// Whether anybody was ahead when its znode was made, or ever since.
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
        /// Whether the end of belief was told, and not only concluded.
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

/// A list that was served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) zxid: u64,
    pub(crate) sent: Moment,
    pub(crate) reply: u32,
}

impl Op {
    /// Whether it belongs to a transaction: whatever was done for one is looked at until its end.
    fn is_of_transaction(&self) -> bool {
        matches!(self.verb, Verb::Begin | Verb::Vote | Verb::Decide | Verb::Finish)
    }

    pub(crate) fn is_acquire(&self) -> bool {
        self.phase != Phase::Unborn && (self.verb.asks_for().is_some() || self.verb == Verb::Downgrade)
    }

    /// Whether it asks for the hold and has not got it.
    pub(crate) fn is_waiting(&self) -> bool {
        self.phase == Phase::Open && self.verb.asks_for().is_some() && self.hold == Hold::None
    }

    /// Whether nobody has an interest in its znode any more.
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
        /// On which connection it was sent.
        conn: Conn = Conn(0),
        /// In which state a server answered it, if that was told.
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
    /// A session, as the servers and as its client know it.
    #[derive(Clone, Debug)]
    SessionView::NEW {
        client: Option<u16> = None,
        /// In microseconds, or zero if not known.
        timeout: u64 = 0,
        connected: Moment = Moment::NEVER,
        /// The latest disconnect.
        suspended: Moment = Moment::NEVER,
        is_suspended: bool = false,
        /// The client knows that it is over.
        known_over: Moment = Moment::NEVER,
        /// In a capture: whether the latest disconnect, or the expiry, came without any fault that may have caused it.
        broke_unstruck: bool = false,
        /// The latest time that a leader marked it as expired.
        marked: Moment = Moment::NEVER,
        /// Whether its server, or the one that marked it, may not have passed on what it was told before.
        may_be_unheard: bool = false,
        /// Whether it still is: a new leader begins anew.
        is_marked: bool = false,
        heard: u64 = 0,
        /// The connection that its client used last, and whose it is.
        conn: Conn = Conn(0),
        server: u8 = 0,
        ended: Moment = Moment::NEVER,
        /// Notifications fired and not delivered.
        undelivered: u32 = 0,
        /// When the latest request that was answered had been sent.
        answered_sent: u64 = 0,
        /// A server has told that it took the session in. Where that is told, so is everything else that servers do for it;
        /// a history without it is of somebody who told less.
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
        /// Since when it stands still, if it does.
        paused: Moment = Moment::NEVER,
        /// Pauses that last, one beside another: it goes on when the last of them ends.
        pauses: u32 = 0,
        /// When it was stopped last, also if that was at once after it had gone on.
        stopped: Moment = Moment::NEVER,
        /// Begin and end of the latest pause that is over.
        last_pause: (Moment, Moment) = (Moment::NEVER, Moment::NEVER),
        /// Its latest session.
        session: Session = Session(0),
        /// Operations that it waits for, without releases.
        open: Vec<OpId> = Vec::new(),
        /// Releases that it waits for.
        releases: Vec<OpId> = Vec::new(),
        /// Holds that are believed or suspended.
        holds: Vec<OpId> = Vec::new(),
        /// The latest hold, which a release gives back.
        last_hold: OpId = OpId(0),
        /// When its clock began to run fast or slow, if it ever did.
        drifts: Moment = Moment::NEVER,
        /// It keeps to no recipe: it has told of an act of its own as of a fault.
        is_stranger: bool = false,
        /// Faults that broke its connections, or stopped it for long enough to miss pings.
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

    /// How long a time of its own clock may be: a clock drifts by up to a tenth.
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
