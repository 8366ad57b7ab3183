//! Groups: each member is a znode.

use super::{Recipe, child};
use crate::view::Protocol;

pub(super) static GROUP: Recipe = Recipe { protocol: Protocol::uncontended(child) };
