//! Real time: foreign programs live in it.

use std::time::Instant;

/// The time.
#[expect(clippy::disallowed_methods, reason = "foreign programs run in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
