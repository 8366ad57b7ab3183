//! Persistent nodes: one znode, which its owners keep there.

use super::{Call, Recipe, itself};
use crate::history::Verb;

pub(super) static PERSISTENT_NODE: Recipe = Recipe::of_znodes(itself, &[CALLS]);

/// Rules of their own judge them. A client that evicts deletes the znode, whoever keeps it.
const CALLS: &[Call] = &[Call::of(Verb::Keep), Call::of(Verb::Replace), Call::of(Verb::Evict)];
