//! Revocable locks: shared locks whose contenders are asked to release by a word in their znodes.

use super::{Recipe, shared_lock};
use crate::history::Verb;
use crate::view::Protocol;

pub(super) static REVOCABLE_LOCK: Recipe = Recipe {
    protocol: Protocol { revoked_by: &[Verb::Ask, Verb::Force], watches_own: true, ..shared_lock::PROTOCOL },
};
