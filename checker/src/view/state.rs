//! The parts of a view.

use super::causes::Struck;
use super::stop::Stop;
use crate::history::{Conn, Kind, ObjectId, OpId, Outcome, Request, Session, Share, Sym, Verb, Why};
use crate::recent::{Aged, Recent};

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

/// An operation, and the hold that it was granted.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) phase: Phase,
    pub(crate) verb: Verb,
    pub(crate) client: u16,
    pub(crate) object: ObjectId,
    pub(crate) called: Moment,
    pub(crate) limit: u32,
    pub(crate) over: Moment,
    /// For a release: the acquire whose hold it gives back. For an acquire: the release.
    pub(crate) partner: OpId,
    /// For a downgrade: the writer's hold that it turns into its own.
    pub(crate) former: OpId,
    /// For a hold: the downgrade that turns it into a reader's, once that was called.
    pub(crate) downgrade: OpId,
    /// How its hold gets on with others: a writer's is a reader's from the call of its downgrade on.
    pub(crate) share: Share,
    /// What its caller gave to it.
    pub(crate) given: Sym,
    pub(crate) number: u64,

    /// The latest place in line that it made.
    pub(crate) node: u32,
    pub(crate) nodes: u32,
    /// How many of its znodes live.
    pub(crate) live: u32,
    /// Whether the client knows its znode.
    pub(crate) answered: bool,
    /// The last list it was served.
    pub(crate) list: Option<List>,
    /// Requests on their way, without those of clean-up.
    pub(crate) in_flight: u32,
    /// When a server last refused a request of it, clean-up included, without a look at the tree; 0: never.
    pub(crate) refused: u64,
    /// Until when its client may pause before it repeats that one, or asks after its own znode again.
    pub(crate) pauses_until: u64,
    /// One of its requests was refused, and it pauses when the last is answered of those that belong to the same flight: until
    /// when what is sent belongs to it. `None`: none was refused, or it has gone on since.
    pub(crate) flight_until: Option<u64>,
    /// The largest depth among its replies.
    pub(crate) depth: u32,
    pub(crate) sends: u32,
    pub(crate) wakes: u32,
    /// No fault, no loss, no refusal so far.
    pub(crate) calm: bool,
    /// Whether anybody was ahead when its znode was made, or ever since.
    pub(crate) found_somebody: bool,

    pub(crate) hold: Hold,
    pub(crate) session: Session,
    pub(crate) token: u64,
    /// The znode of the hold.
    pub(crate) own: u32,
    pub(crate) granted: Moment,
    /// The latest begin of belief.
    pub(crate) believed: Moment,
    pub(crate) unbelieved: Moment,
    pub(crate) why: Why,
    /// Whether the end of belief was told, and not only concluded.
    pub(crate) end_told: bool,
    pub(crate) stop: Stop,
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
    pub(crate) const UNBORN: Op = Op {
        phase: Phase::Unborn,
        verb: Verb::Acquire,
        client: 0,
        object: ObjectId(0),
        called: Moment::NEVER,
        limit: 0,
        over: Moment::NEVER,
        partner: OpId(0),
        former: OpId(0),
        downgrade: OpId(0),
        share: Share::Exclusive,
        given: Sym(u32::MAX),
        number: 0,
        node: NOBODY,
        nodes: 0,
        live: 0,
        answered: false,
        list: None,
        in_flight: 0,
        refused: 0,
        pauses_until: 0,
        flight_until: None,
        depth: 0,
        sends: 0,
        wakes: 0,
        calm: false,
        found_somebody: false,
        hold: Hold::None,
        session: Session(0),
        token: 0,
        own: NOBODY,
        granted: Moment::NEVER,
        believed: Moment::NEVER,
        unbelieved: Moment::NEVER,
        why: Why::Released,
        end_told: false,
        stop: Stop::NEVER,
    };

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

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Req {
    pub(crate) op: OpId,
    pub(crate) client: u16,
    pub(crate) session: Session,
    pub(crate) kind: Request,
    pub(crate) path: Sym,
    pub(crate) sent: Moment,
    pub(crate) depth: u32,
    pub(crate) cleanup: bool,
    pub(crate) watch: bool,
    pub(crate) answered: bool,
    /// On which connection it was sent.
    pub(crate) conn: Conn,
    /// In which state a server answered it, if that was told.
    pub(crate) served: u64,
}

impl Req {
    pub(crate) const NONE: Req = Req {
        op: OpId(0),
        client: 0,
        session: Session(0),
        kind: Request::Sync,
        path: Sym(0),
        sent: Moment::NEVER,
        depth: 0,
        cleanup: false,
        watch: false,
        answered: false,
        conn: Conn(0),
        served: 0,
    };

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

/// A session, as the servers and as its client know it.
#[derive(Clone, Debug)]
pub(crate) struct SessionView {
    pub(crate) client: Option<u16>,
    /// In microseconds, or zero if not known.
    pub(crate) timeout: u64,
    pub(crate) connected: Moment,
    /// The latest disconnect.
    pub(crate) suspended: Moment,
    pub(crate) is_suspended: bool,
    /// The client knows that it is over.
    pub(crate) known_over: Moment,
    /// In a capture: whether the latest disconnect, or the expiry, came without any fault that may have caused it.
    pub(crate) broke_unstruck: bool,
    /// The latest time that a leader marked it as expired.
    pub(crate) marked: Moment,
    /// Whether its server, or the one that marked it, may not have passed on what it was told before.
    pub(crate) may_be_unheard: bool,
    /// Whether it still is: a new leader begins anew.
    pub(crate) is_marked: bool,
    pub(crate) heard: u64,
    /// The connection that its client used last, and whose it is.
    pub(crate) conn: Conn,
    pub(crate) server: u8,
    pub(crate) ended: Moment,
    /// Notifications fired and not delivered.
    pub(crate) undelivered: u32,
    /// When the latest request that was answered had been sent.
    pub(crate) answered_sent: u64,
    /// A server has told that it took the session in. Where that is told, so is everything else that servers do for it;
    /// a history without it is of somebody who told less.
    pub(crate) is_attached: bool,
}

impl SessionView {
    pub(crate) const NEW: SessionView = SessionView {
        client: None,
        timeout: 0,
        connected: Moment::NEVER,
        suspended: Moment::NEVER,
        is_suspended: false,
        known_over: Moment::NEVER,
        broke_unstruck: false,
        marked: Moment::NEVER,
        may_be_unheard: false,
        is_marked: false,
        heard: 0,
        conn: Conn(0),
        server: 0,
        ended: Moment::NEVER,
        undelivered: 0,
        answered_sent: 0,
        is_attached: false,
    };

    pub(crate) fn is_over(&self) -> bool {
        self.known_over.came() || self.is_marked || self.ended.came()
    }
}

/// A client process.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) died: Moment,
    /// Since when it stands still, if it does.
    pub(crate) paused: Moment,
    /// Pauses that last, one beside another: it goes on when the last of them ends.
    pub(crate) pauses: u32,
    /// When it was stopped last, also if that was at once after it had gone on.
    pub(crate) stopped: Moment,
    /// Begin and end of the latest pause that is over.
    pub(crate) last_pause: (Moment, Moment),
    /// Its latest session.
    pub(crate) session: Session,
    /// Operations that it waits for, without releases.
    pub(crate) open: Vec<OpId>,
    /// Releases that it waits for.
    pub(crate) releases: Vec<OpId>,
    /// Holds that are believed or suspended.
    pub(crate) holds: Vec<OpId>,
    /// The latest hold, which a release gives back.
    pub(crate) last_hold: OpId,
    /// When its clock began to run fast or slow, if it ever did.
    pub(crate) drifts: Moment,
    /// It keeps to no recipe: it has told of an act of its own as of a fault.
    pub(crate) is_stranger: bool,
    /// Faults that broke its connections, or stopped it for long enough to miss pings.
    pub(crate) struck: Struck,
}

impl Client {
    pub(crate) const NEW: Client = Client {
        died: Moment::NEVER,
        paused: Moment::NEVER,
        pauses: 0,
        stopped: Moment::NEVER,
        last_pause: (Moment::NEVER, Moment::NEVER),
        session: Session(0),
        open: Vec::new(),
        releases: Vec::new(),
        holds: Vec::new(),
        last_hold: OpId(0),
        drifts: Moment::NEVER,
        is_stranger: false,
        struck: Struck::NONE,
    };

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

/// A znode that an acquire made: a place in line.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    pub(crate) path: Sym,
    pub(crate) object: ObjectId,
    pub(crate) op: OpId,
    /// The owner of an ephemeral, or zero.
    pub(crate) owner: Session,
    /// The session that asked for it.
    pub(crate) creator: Session,
    pub(crate) czxid: u64,
    pub(crate) created: u32,
    /// Its place among all contenders of its object.
    pub(crate) place: u32,
    /// The zxid of its end, or never.
    pub(crate) gone: u64,
    pub(crate) deleted: Moment,
    pub(crate) by: Session,
    /// Deleted by a third party, as announced by a fault.
    pub(crate) by_stranger: bool,
    /// Deleted by somebody who had asked it to go and waited for the grace, where that is allowed.
    pub(crate) by_force: bool,
    /// The operation that deleted it.
    pub(crate) by_op: OpId,
    /// Its rank in line: the czxid, or that of the writer's znode whose place it took.
    pub(crate) stamp: u64,
    /// Its rank before that one: smaller is more urgent. Zero where there are no priorities.
    pub(crate) priority: u64,
    pub(crate) share: Share,
    /// It stands for a hold, apart from the line: priority locks.
    pub(crate) is_held: bool,
    /// When somebody asked it to go.
    pub(crate) asked: Moment,
    /// In a capture: whether some client has sent a request to delete it.
    pub(crate) delete_sent: bool,
    /// In a capture: whether its client was told that it is gone.
    pub(crate) told_gone: bool,
}

impl Contender {
    pub(crate) fn is_alive(&self) -> bool {
        self.gone == NEVER
    }

    /// Whether it was there in the state of a zxid.
    pub(crate) fn is_in(&self, zxid: u64) -> bool {
        self.czxid <= zxid && self.gone > zxid
    }

    pub(crate) fn rank(&self) -> (u64, u64) {
        (self.priority, self.stamp)
    }

    /// Whether it has to go before another one, which stands in line, may be granted.
    pub(crate) fn stands_before(&self, other: &Contender) -> bool {
        conflict(self.share, other.share) && (self.is_held || self.rank() < other.rank())
    }
}

impl Aged for Contender {
    const BLANK: &'static Contender = &Contender {
        path: Sym(u32::MAX),
        object: ObjectId(0),
        op: OpId(0),
        owner: Session(0),
        creator: Session(0),
        czxid: 0,
        created: u32::MAX,
        place: 0,
        gone: 0,
        deleted: Moment::NEVER,
        by: Session(0),
        by_stranger: false,
        by_force: false,
        by_op: OpId(0),
        stamp: 0,
        priority: 0,
        share: Share::Exclusive,
        is_held: false,
        asked: Moment::NEVER,
        delete_sent: false,
        told_gone: false,
    };

    fn is_done(&self) -> bool {
        !self.is_alive()
    }
}

/// Which contender has a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) number: u32,
    pub(crate) is_gone: bool,
}

impl Aged for At {
    const BLANK: &'static At = &At { number: NOBODY, is_gone: true };

    fn is_done(&self) -> bool {
        self.is_gone
    }
}

/// A place in line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) number: u32,
    /// Once nobody lives up to and with this place: the largest zxid at which one of them went.
    pub(crate) gone: u64,
}

impl Aged for Turn {
    const BLANK: &'static Turn = &Turn { number: NOBODY, gone: 0 };

    fn is_done(&self) -> bool {
        self.gone != NEVER
    }
}

/// Whether two holds exclude each other.
pub(crate) fn conflict(one: Share, other: Share) -> bool {
    one == Share::Exclusive || other == Share::Exclusive
}

/// The line in front of one object.
#[derive(Debug)]
pub(crate) struct Contest {
    /// What kind of object it stands in front of.
    pub(crate) kind: Kind,
    /// Everybody excludes everybody, and stands in the order of creation.
    pub(crate) is_plain: bool,
    /// Contenders by czxid.
    pub(crate) contenders: Recent<Turn>,
    /// The place of the first that lives.
    pub(crate) first: usize,
    /// The largest zxid at which one before that went.
    pub(crate) gone: u64,
    /// Acquires that wait.
    pub(crate) waiting: Vec<OpId>,
    /// Holds that are believed now.
    pub(crate) believers: Vec<OpId>,
    /// Holds that are believed or suspended.
    pub(crate) held: u32,
    /// Since when nobody held while somebody waited.
    pub(crate) unheld_since: u64,
    /// When a writer last waited or held.
    pub(crate) last_writer: u64,
    /// Operations and holds whose clients died before they were over.
    pub(crate) deaths: u32,
}

impl Contest {
    pub(crate) fn new(kind: Kind) -> Contest {
        Contest {
            kind,
            is_plain: true,
            contenders: Recent::default(),
            first: 0,
            gone: 0,
            waiting: Vec::with_capacity(8),
            believers: Vec::with_capacity(4),
            deaths: 0,
            held: 0,
            unheld_since: 0,
            last_writer: 0,
        }
    }

    /// The place of the first that went after a zxid, or lives.
    pub(crate) fn first_after(&self, zxid: u64) -> usize {
        let (mut from, mut to) = (self.contenders.base().min(self.first), self.first);
        while from < to {
            let middle = usize::midpoint(from, to);
            match self.contenders.at(middle).gone <= zxid {
                true => from = middle + 1,
                false => to = middle,
            }
        }
        from
    }

    /// Who stands at a place, and behind it.
    pub(crate) fn from(&self, place: usize) -> impl Iterator<Item = u32> {
        self.contenders.from(place).map(|place| place.number)
    }

    /// Who stands in line, from the first that lives on; some of them are gone.
    pub(crate) fn standing(&self) -> impl Iterator<Item = u32> {
        self.from(self.first)
    }

    /// The first that lives.
    pub(crate) fn first(&self) -> Option<u32> {
        self.contenders.get(self.first).map(|place| place.number)
    }
}

/// The latest transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Txn {
    pub(crate) zxid: u64,
    pub(crate) session: Session,
}

impl Default for Txn {
    fn default() -> Txn {
        Txn { zxid: 0, session: Session(0) }
    }
}
