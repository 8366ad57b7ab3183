//! Barriers: one znode, which stands while the barrier is raised.

use super::{Recipe, itself};
use crate::view::Protocol;

pub(super) static BARRIER: Recipe = Recipe { protocol: Protocol::uncontended(itself) };
