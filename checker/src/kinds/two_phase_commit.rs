//! Two-phase commit: sites with their votes below the transaction, and `decision`, its record.

use super::Recipe;
use crate::view::{Part, Protocol};

pub(super) static TWO_PHASE_COMMIT: Recipe = Recipe { protocol: Protocol::uncontended(part) };

fn part(below: &str) -> Part {
    match below {
        "" => Part::Itself,
        "decision" => Part::Record,
        "tally" => Part::Other,
        _ if below.contains('/') => Part::Other,
        _ => Part::Site,
    }
}
