//! Configuration: a value is one znode; the values of a set are in directories that it names.

use super::{Recipe, itself};
use crate::view::Protocol;

pub(super) static CONFIG: Recipe = Recipe { protocol: Protocol::uncontended(itself) };
