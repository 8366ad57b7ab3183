//! How long before the end of its session a holder has to have stopped.
//!
//! 1. A recipe is made: a margin that leaves nothing of the session timeout is refused.
//! 2. A hold is asked for, and won: the same again, since a client that reconnects may be given a shorter timeout.

use crate::zk::{Error, ZooKeeper};
use std::time::Duration;

/// The margin in this session: what the caller has said, or a tenth of the timeout.
///
/// # Errors
///
/// `BadInput` for one that is not shorter than the timeout: every hold would be lost as it is won.
pub(crate) fn margin_in<Z: ZooKeeper>(zk: &Z, margin: Option<Duration>) -> Result<Duration, Error> {
    let timeout = zk.timeout();
    match margin {
        None => Ok(timeout / 10),
        Some(margin) if margin < timeout => Ok(margin),
        Some(margin) => Err(Error::BadInput(format!(
            "a margin of {margin:?} is not shorter than the session timeout, {timeout:?}: every hold would be lost at once"
        ))),
    }
}
