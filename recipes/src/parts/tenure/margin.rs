//! How long before the end of its session a holder has to have stopped.
//!
//! 1. A recipe is made: a margin that an idle hold could not survive is refused.
//! 2. A hold is asked for, and won: the same again, since a client that reconnects may be given a shorter timeout.

use crate::session::PINGS_PER_TIMEOUT;
use crate::zk::{Error, ZooKeeper};
use std::time::Duration;

/// How much of a timeout the answer to a ping may take before an idle hold with the greatest margin is lost: one sixth.
const ANSWERS_PER_TIMEOUT: u32 = 6;

/// The greatest margin: what is left of the timeout when a ping is answered late. Until then the session is known to be safe
/// from the sending of the ping before it, which was the time between two pings ago.
fn greatest(timeout: Duration) -> Duration {
    timeout - timeout / PINGS_PER_TIMEOUT - timeout / ANSWERS_PER_TIMEOUT
}

/// The margin in this session: what the caller has said, or a tenth of the timeout.
///
/// # Errors
///
/// `BadInput` for one that is greater than half of the timeout: a hold would be lost between two pings.
pub(crate) fn margin_in<Z: ZooKeeper>(zk: &Z, margin: Option<Duration>) -> Result<Duration, Error> {
    let timeout = zk.timeout();
    match margin {
        None => Ok(timeout / 10),
        Some(margin) if margin <= greatest(timeout) => Ok(margin),
        Some(margin) => Err(Error::BadInput(format!(
            "a margin of {margin:?} is too great for a session timeout of {timeout:?}: an idle hold would be lost between two \
             pings; {:?} is the greatest",
            greatest(timeout)
        ))),
    }
}
