//! Histories: typed events in one total order.
//!
//! A [`History`] is a [`Header`], the [`Object`]s that were declared, a table of [`Names`], and [`Event`]s in one total
//! order that respects causality. An event is at most 32 bytes: paths and other texts are interned.
//!
//! In a simulation the order is the order of the world's steps. In a capture from a real ensemble all clients share one
//! process and one monotonic clock.

mod declared;
mod events;
mod kinds;
mod names;

pub use declared::*;
pub(crate) use events::event_table;
pub use events::{Event, What};
pub use kinds::*;
pub use names::Names;

pub use crate::ids::{Conn, ObjectId, OpId, ReqId, Session, Sym};

use serde::{Deserialize, Serialize};

/// The actor of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Who {
    /// The client process of that number (its name: [`Header::clients`]).
    Client(u16),
    /// The server of that number.
    Server(u8),
    /// The world: faults, and the harness itself.
    World,
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The run as a whole.
    pub header: Header,
    /// The declared objects.
    pub objects: Vec<Object>,
    /// Interned texts.
    pub names: Names,
    /// The events, in time order.
    pub events: Vec<Event>,
}

/// The tables that events refer to: all of a history except the events. They may grow while a run goes on.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// The run as a whole.
    pub header: &'a Header,
    /// The declared objects.
    pub objects: &'a [Object],
    /// Interned texts.
    pub names: &'a Names,
}

impl History {
    /// The tables that the events refer to.
    pub fn tables(&self) -> Tables<'_> {
        Tables { header: &self.header, objects: &self.objects, names: &self.names }
    }
}

/// Whether a value is the one that the written forms leave out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
