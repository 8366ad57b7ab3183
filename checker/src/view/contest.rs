//! The contest for one object: its contenders, waiting operations and holders.

use super::initial::initial;
use super::protocol::Protocol;
use super::state::{Moment, NEVER, NOBODY};
use crate::history::{ObjectId, OpId, Session, Share, Sym};
use crate::recent::{Aged, Recent};

initial! {
    /// A contender: a znode that an acquire created.
    #[derive(Clone, Debug)]
    Contender::NONE {
        path: Sym = Sym(u32::MAX),
        object: ObjectId = ObjectId(0),
        op: OpId = OpId(0),
        /// The owner of an ephemeral, or zero.
        owner: Session = Session(0),
        /// The session that sent the create.
        creator: Session = Session(0),
        czxid: u64 = 0,
        created: u32 = u32::MAX,
        /// Its number among all contenders of its object.
        place: u32 = 0,
        /// The zxid of its deletion, or never.
        gone: u64 = 0,
        deleted: Moment = Moment::NEVER,
        by: Session = Session(0),
        /// Whether a foreign client deleted it, as a fault announced.
        by_foreign: bool = false,
        /// Whether an operation deleted it by force, after a request to release and the grace period.
        by_force: bool = false,
        /// The operation that deleted it.
        by_op: OpId = OpId(0),
        /// Its rank: the czxid, or the rank of the writer's znode that it replaced.
        stamp: u64 = 0,
        /// Its priority, which counts before the rank: smaller is more urgent. Zero without priorities.
        priority: u64 = 0,
        /// The number of permits that it asks for.
        permits: u32 = 1,
        share: Share = Share::Exclusive,
        /// Whether it stands for a hold in a directory of its own.
        is_held: bool = false,
        /// The time of a request to release.
        asked: Moment = Moment::NEVER,
        /// In a capture: whether a client has sent a request to delete it.
        delete_sent: bool = false,
        /// In a capture: whether its client learned that it does not exist any more.
        told_gone: bool = false,
    }
}

impl Contender {
    pub(crate) fn is_alive(&self) -> bool {
        self.gone == NEVER
    }

    /// Whether it existed in the state of a zxid.
    pub(crate) fn is_in(&self, zxid: u64) -> bool {
        self.czxid <= zxid && self.gone > zxid
    }

    pub(crate) fn rank(&self) -> (u64, u64) {
        (self.priority, self.stamp)
    }

    /// Whether it has to go before another waiting contender may be granted.
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

/// The contender whose znode has a path.
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

/// A contender in the order of creation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) number: u32,
    /// Once no contender up to this one is alive: the largest zxid at which one of them was deleted.
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

/// The contest for one object.
#[derive(Clone, Debug)]
pub(crate) struct Contest {
    pub(crate) protocol: &'static Protocol,
    /// Whether all contenders exclude each other and are served in the order of creation.
    pub(crate) is_plain: bool,
    /// Contenders by czxid.
    pub(crate) contenders: Recent<Turn>,
    /// The first live contender.
    pub(crate) first: usize,
    /// The largest zxid at which a contender before that was deleted.
    pub(crate) gone: u64,
    /// Acquires that wait.
    pub(crate) waiting: Vec<OpId>,
    /// Holds that are believed now.
    pub(crate) believers: Vec<OpId>,
    /// Holds that are believed or suspended.
    pub(crate) held: u32,
    /// The time since which there was no hold while an operation waited.
    pub(crate) unheld_since: u64,
    /// The last time at which a writer waited or held.
    pub(crate) last_writer: u64,
    /// Operations and holds that ended with the death of their clients.
    pub(crate) deaths: u32,
    /// The numbers of permits, each with the zxid from which on it counts.
    pub(crate) permits: Vec<(u64, u32)>,
}

impl Contest {
    pub(crate) fn new(protocol: &'static Protocol) -> Contest {
        Contest {
            protocol,
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
            permits: Vec::new(),
        }
    }

    /// The number of permits in the state of a zxid; none before the first one is told.
    pub(crate) fn permits_at(&self, zxid: u64) -> Option<u32> {
        self.permits.iter().rfind(|(from, _)| *from <= zxid).map(|(_, permits)| *permits)
    }

    /// The largest number of permits since a zxid.
    pub(crate) fn most_permits_since(&self, zxid: u64) -> Option<u32> {
        self.permits_since(zxid).max()
    }

    /// The smallest number of permits since a zxid.
    pub(crate) fn fewest_permits_since(&self, zxid: u64) -> Option<u32> {
        self.permits_since(zxid).min()
    }

    fn permits_since(&self, zxid: u64) -> impl Iterator<Item = u32> {
        let later = self.permits.iter().filter(move |(from, _)| *from > zxid).map(|(_, permits)| *permits);
        later.chain(self.permits_at(zxid))
    }

    /// How often the number of permits was changed since a zxid.
    pub(crate) fn changes_since(&self, zxid: u64) -> u32 {
        self.permits.iter().filter(|(from, _)| *from > zxid).count() as u32
    }

    /// The first contender that was deleted after a zxid, or is alive.
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

    /// The contenders from a number on.
    pub(crate) fn from(&self, place: usize) -> impl Iterator<Item = u32> {
        self.contenders.from(place).map(|place| place.number)
    }

    /// The contenders from the first live one on; some of them are deleted.
    pub(crate) fn standing(&self) -> impl Iterator<Item = u32> {
        self.from(self.first)
    }

    /// The first live contender.
    pub(crate) fn first(&self) -> Option<u32> {
        self.contenders.get(self.first).map(|place| place.number)
    }
}
