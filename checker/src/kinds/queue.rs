//! Queues, with and without priorities: items below the queue, claims on them in `claims`.

use super::Recipe;
use crate::view::{Part, Protocol};

pub(super) static QUEUE: Recipe = Recipe { protocol: Protocol::uncontended(part) };

pub(super) static PRIORITY_QUEUE: Recipe = Recipe { protocol: Protocol::uncontended(part) };

fn part(below: &str) -> Part {
    match below.split_once('/') {
        None if ["", "receipts", "takers", "claims"].contains(&below) => Part::Other,
        None => Part::Item,
        Some(("claims", _)) => Part::Claim,
        Some(_) => Part::Other,
    }
}
