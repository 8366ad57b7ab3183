//! Directories of names: each name is a znode.

use super::{Recipe, child};
use crate::view::Protocol;

pub(super) static NAMES: Recipe = Recipe { protocol: Protocol::uncontended(child) };
