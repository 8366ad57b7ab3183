//! The events that programs report of an object, and the meaning of each for the calls of the program.

use crate::history::{Failure, Outcome, Seen, Verb};

/// An event that a program reports of an object.
#[derive(Clone, Copy, Debug)]
pub struct ReportedEvent {
    /// The word of the report.
    pub word: &'static str,
    /// The item of the report.
    pub item: ReportedItem,
    /// The meaning. Of two events with the same word, the first one counts whose item is reported and whose call is open.
    pub meaning: Meaning,
}

/// The item of a report: a name, a part, a number, a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedItem {
    /// It is not looked at.
    Any,
    /// It must be given.
    Given,
    /// The event has this item.
    Is(&'static str),
}

/// The meaning of an event for the calls of its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The object is declared, with the item as its size.
    Declares,
    /// A call begins.
    Begins(Verb),
    /// A call returns. If its begin was not reported, it begins here, too.
    Returns(Verb, Outcome, Failure),
    /// A call returns whose begin was reported: without it, a wait is no evidence.
    Closes(Verb, Outcome),
    /// A call returns, and its caller acts as holder from now on.
    Holds(Verb),
    /// A hold ends.
    Ends(Verb),
    /// A call begins and returns.
    Happens(Verb),
    /// A call returns a value.
    Tells(Verb, Seen),
    /// A call yields a value, and continues.
    Shows(Verb, Seen),
}

impl ReportedEvent {
    pub(super) const fn of(word: &'static str, meaning: Meaning) -> ReportedEvent {
        ReportedEvent { word, item: ReportedItem::Any, meaning }
    }

    /// An event whose report gives an item.
    pub(super) const fn with(word: &'static str, meaning: Meaning) -> ReportedEvent {
        ReportedEvent { word, item: ReportedItem::Given, meaning }
    }
}

pub(super) const fn done(verb: Verb) -> Meaning {
    Meaning::Returns(verb, Outcome::Done, Failure::None)
}

pub(super) const fn refused(verb: Verb) -> Meaning {
    Meaning::Returns(verb, Outcome::Refused, Failure::None)
}

pub(super) const fn unknown(verb: Verb) -> Meaning {
    Meaning::Returns(verb, Outcome::Unknown, Failure::None)
}

/// The events of holds that a verb asks for, by the words for the grant and the end.
pub(super) const fn holds(verb: Verb, granted: &'static str, ended: &'static str) -> [ReportedEvent; 4] {
    [
        ReportedEvent::of("asks", Meaning::Begins(verb)),
        ReportedEvent::of(granted, Meaning::Holds(verb)),
        ReportedEvent::of(ended, Meaning::Ends(verb)),
        ReportedEvent::of("refused", Meaning::Closes(verb, Outcome::Refused)),
    ]
}

/// Events, each with that item.
pub(super) const fn with_item<const N: usize>(
    item: &'static str,
    mut events: [ReportedEvent; N],
) -> [ReportedEvent; N] {
    let mut at = 0;
    while at < N {
        events[at].item = ReportedItem::Is(item);
        at += 1;
    }
    events
}
