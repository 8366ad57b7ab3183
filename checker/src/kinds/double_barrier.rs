//! Double barriers: participants are znodes in the directory of a generation, which its `ready` opens.

use super::Recipe;
use crate::view::{Part, Protocol};

pub(super) static DOUBLE_BARRIER: Recipe = Recipe { protocol: Protocol::uncontended(part) };

fn part(below: &str) -> Part {
    match below.split_once('/') {
        None | Some((_, "ready")) => Part::Other,
        Some(_) => Part::Member,
    }
}
