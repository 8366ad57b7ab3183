//! The margin: how long before the deadline of its session a holder must have stopped.
//!
//! 1. Creating a recipe refuses a margin that an idle hold could not survive.
//! 2. So does every acquire, before and after the wait, since a reconnect may shorten the session timeout.

use crate::zk::{Error, ErrorKind, PINGS_PER_TIMEOUT, ZooKeeper};
use std::time::Duration;

/// The part of a timeout that the answer to a ping may take before an idle hold with the greatest margin is lost.
const ANSWERS_PER_TIMEOUT: u32 = 6;

/// The greatest margin: the rest of the timeout when a ping is answered late. Until that answer the deadline counts from
/// the previous ping, one ping interval earlier.
fn greatest(timeout: Duration) -> Duration {
    timeout - timeout / PINGS_PER_TIMEOUT - timeout / ANSWERS_PER_TIMEOUT
}

/// Returns the margin: the caller's, or a tenth of the session timeout.
///
/// # Errors
///
/// `BadInput` for a margin above half of the timeout: an idle hold would be lost between two pings.
pub(crate) fn margin_in<Z: ZooKeeper>(zk: &Z, margin: Option<Duration>) -> Result<Duration, Error> {
    let timeout = zk.timeout();
    match margin {
        None => Ok(timeout / 10),
        Some(margin) if margin <= greatest(timeout) => Ok(margin),
        Some(margin) => Err(ErrorKind::BadInput(format!(
            "a margin of {margin:?} is too great for a session timeout of {timeout:?}: an idle hold would be lost between two \
             pings; {:?} is the greatest",
            greatest(timeout)
        )).into()),
    }
}
