//! The contest for one object: contenders, those who wait and those who hold.

use super::initial::initial;
use super::state::{Moment, NEVER, NOBODY};
use crate::history::{Kind, ObjectId, OpId, Session, Share, Sym};
use crate::recent::{Aged, Recent};

initial! {
    /// A znode that an acquire made: a place in line.
    #[derive(Clone, Debug)]
    Contender::NONE {
        path: Sym = Sym(u32::MAX),
        object: ObjectId = ObjectId(0),
        op: OpId = OpId(0),
        /// The owner of an ephemeral, or zero.
        owner: Session = Session(0),
        /// The session that asked for it.
        creator: Session = Session(0),
        czxid: u64 = 0,
        created: u32 = u32::MAX,
        /// Its place among all contenders of its object.
        place: u32 = 0,
        /// The zxid of its end, or never.
        gone: u64 = 0,
        deleted: Moment = Moment::NEVER,
        by: Session = Session(0),
        /// Deleted by a third party, as announced by a fault.
        by_stranger: bool = false,
        /// Deleted by somebody who had asked it to go and waited for the grace, where that is allowed.
        by_force: bool = false,
        /// The operation that deleted it.
        by_op: OpId = OpId(0),
        /// Its rank in line: the czxid, or that of the writer's znode whose place it took.
        stamp: u64 = 0,
        /// Its rank before that one: smaller is more urgent. Zero where there are no priorities.
        priority: u64 = 0,
        share: Share = Share::Exclusive,
        /// It stands for a hold, apart from the line: priority locks.
        is_held: bool = false,
        /// When somebody asked it to go.
        asked: Moment = Moment::NEVER,
        /// In a capture: whether some client has sent a request to delete it.
        delete_sent: bool = false,
        /// In a capture: whether its client was told that it is gone.
        told_gone: bool = false,
    }
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
    const BLANK: &'static Contender = &Contender::NONE;

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
