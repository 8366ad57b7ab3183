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
}

/// The two directories of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Waiting contenders; without a second directory, holders too.
    Waiting,
    /// Holds of a priority lock.
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
        }
    }

    /// The directory of contenders of that path below the object's directory.
    pub(crate) fn room_of_directory(&self, below: &str) -> Option<Room> {
        self.rooms.iter().find(|(name, _)| *name == below).map(|(_, room)| *room)
    }

    /// The directory of contenders that a path lies in. A record is no contender.
    pub(crate) fn room(&self, below: &str) -> Option<Room> {
        let (directory, _) = below.rsplit_once('/').unwrap_or(("", below));
        self.room_of_directory(directory).filter(|_| !below.is_empty() && (self.part)(below) != Part::Record)
    }

    /// Whether readers go together, in the order of creation.
    pub(crate) fn has_readers(&self) -> bool {
        self.order == Order::Readers
    }

    /// Whether the more urgent contenders go first.
    pub(crate) fn has_priorities(&self) -> bool {
        self.order == Order::Priority
    }

    /// Whether contenders can be asked to release.
    pub(crate) fn is_revocable(&self) -> bool {
        (self.is_revoked_by)(Verb::Ask)
    }
}
