//! A history as text: one event a line, which parses back exactly.
//!
//! ```text
//! run sim timeout 4 settle 0.001 clients a b
//! lock /lock stop margin 0.4 fenced
//! 0.000 a acquire#1 call /lock
//! 0.002 server:0 #1 created 0x3 /lock/x-0000000000 s1
//! 0.004 a #1 believe /lock s1 token 0x3
//! ```
//!
//! An event is: seconds since the start, the actor, the operation if there is one, the kind of event, and its fields.
//! The word before a `#` is a comment, except in `call`. A word with blanks is quoted, as in JSON. In the first lines
//! every field has a default. If the clients are left out, they are numbered in order of appearance.

mod abbreviated;
mod context;
mod event;
mod parse;
mod tokens;
mod write;

use crate::history::{Header, Kind, Manner};

pub use abbreviated::abbreviated;
pub use parse::parse;
pub use write::write;

/// The flags of a manner by name.
fn manner_flags(manner: &mut Manner) -> [(&'static str, &mut bool); 8] {
    [
        ("at_least_once", &mut manner.at_least_once),
        ("strict", &mut manner.strict),
        ("textbook", &mut manner.textbook),
        ("chain", &mut manner.chain),
        ("once", &mut manner.once),
        ("coordinated", &mut manner.coordinated),
        ("forced", &mut manner.forced),
        ("reported", &mut manner.reported),
    ]
}

/// The word that declares a kind of object. The word `names` already begins the line with the texts of a history.
fn kind_word(kind: Kind) -> &'static str {
    if kind == Kind::Names { "name_service" } else { kind.name() }
}

/// The times of a header by name.
fn header_times(header: &mut Header) -> [(&'static str, &mut u64); 5] {
    [
        ("tick", &mut header.tick),
        ("timeout", &mut header.timeout),
        ("election", &mut header.election),
        ("round_trip", &mut header.round_trip),
        ("settle", &mut header.settle),
    ]
}

/// A time in seconds with at least three places, exact to the microsecond.
pub fn seconds(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    if part % 1000 == 0 { format!("{whole}.{:03}", part / 1000) } else { format!("{whole}.{part:06}") }
}
