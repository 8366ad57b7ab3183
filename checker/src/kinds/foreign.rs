//! Semaphores, counters, partitions and caches: rules judge the reports of programs, and no request.

use super::{HOLDERS, Recipe, SeenAs};
use crate::view::{Part, Protocol};

pub(super) static FOREIGN: Recipe = Recipe {
    protocol: Protocol::uncontended(|_| Part::Other),
    calls: &[],
    roles: HOLDERS,
    handle: None,
    seen_as: SeenAs::Nothing,
    is_replaceable: false,
};
