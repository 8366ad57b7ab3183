//! What the view has to know about a kind of object: which znode plays which part, and how clients contend.
//!
//! The descriptions are made above the view, in `kinds`, and handed to it; the view names no kind.

use crate::history::{Kind, Verb};

/// The protocol of a recipe.
#[derive(Debug)]
pub(crate) struct Protocol {
    /// The part of the znode with a path below the object's directory; the empty path is the directory itself.
    pub(crate) part: fn(&str) -> Part,
    /// The directories of contenders, by their paths below the object's directory.
    pub(crate) rooms: &'static [(&'static str, Room)],
    pub(crate) order: Order,
    /// Whether an operation may ask contenders to release.
    pub(crate) is_revoked_by: fn(Verb) -> bool,
    /// Whether a holder watches its own znode, so that it is notified of its deletion.
    pub(crate) watches_own: bool,
    /// The number of permits that a znode tells, by its path below the object's directory.
    pub(crate) permits: fn(&str) -> Option<u32>,
}

/// The protocol of a kind.
pub(crate) type ProtocolOf = fn(Kind) -> &'static Protocol;

/// The order in which contenders are granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The order of creation, as far as contenders exclude each other.
    Creation,
    /// The same, and readers go together.
    Readers,
    /// The more urgent contenders first. Holders have a directory of their own.
    Priority,
    /// The order of creation, as far as there are permits. Holders have a directory of their own.
    Permits,
}

/// The two directories of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Waiting contenders; without a second directory, holders too.
    Waiting,
    /// Holds.
    Held,
}

/// The part that a znode plays in its recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The recipe's main znode: the barrier, the value, the transaction.
    Itself,
    /// A znode that represents a client: a contender, a member, a name, a participant.
    Member,
    /// An item of a queue.
    Item,
    /// A claim on an item.
    Claim,
    /// The caller's own znode, which a confirmation creates or writes in the same transaction.
    Along,
    /// A site of a transaction, with its vote.
    Site,
    /// The record of a decision, or of a leader.
    Record,
    /// A number that all clients agree on, in the name of a znode.
    Number,
    /// A znode that is written under a hold.
    Guarded,
    /// The opening of a double barrier.
    Opening,
    /// An ephemeral beside a site, which shows that the site lives.
    Life,
    /// A receipt, by which a write happens once.
    Receipt,
    /// Anything else: a directory, a counter.
    Other,
}

impl Protocol {
    /// Nobody contends.
    pub(crate) const fn uncontended(part: fn(&str) -> Part) -> Protocol {
        Protocol {
            part,
            rooms: &[("", Room::Waiting)],
            order: Order::Creation,
            is_revoked_by: |_| false,
            watches_own: false,
            permits: |_| None,
        }
    }

    /// The directory of contenders of that path below the object's directory.
    pub(crate) fn room_of_directory(&self, below: &str) -> Option<Room> {
        self.rooms.iter().find(|(name, _)| *name == below).map(|(_, room)| *room)
    }

    /// The directory of contenders that a path lies in. A record is no contender, nor is a number.
    pub(crate) fn room(&self, below: &str) -> Option<Room> {
        let (directory, _) = below.rsplit_once('/').unwrap_or(("", below));
        let is_contender = || !matches!((self.part)(below), Part::Record | Part::Number);
        self.room_of_directory(directory).filter(|_| !below.is_empty() && is_contender())
    }

    /// Whether readers go together, in the order of creation.
    pub(crate) fn has_readers(&self) -> bool {
        self.order == Order::Readers
    }

    /// Whether the more urgent contenders go first.
    pub(crate) fn has_priorities(&self) -> bool {
        self.order == Order::Priority
    }

    /// Whether as many contenders are granted at once as there are permits.
    pub(crate) fn has_permits(&self) -> bool {
        self.order == Order::Permits
    }

    /// Whether holders have a directory of their own.
    pub(crate) fn has_rooms(&self) -> bool {
        self.has_priorities() || self.has_permits()
    }

    /// Whether contenders can be asked to release.
    pub(crate) fn is_revocable(&self) -> bool {
        (self.is_revoked_by)(Verb::Ask)
    }
}
