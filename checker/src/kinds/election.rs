//! Elections: candidates are contenders, and `leader` is the record of the leader that has begun.

use super::{Recipe, child, lock};
use crate::view::{Part, Protocol};

pub(super) static ELECTION: Recipe =
    Recipe { protocol: Protocol { part, watches_own: true, ..lock::PROTOCOL } };

fn part(below: &str) -> Part {
    if below == "leader" { Part::Record } else { child(below) }
}
