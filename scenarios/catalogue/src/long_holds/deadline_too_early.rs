//! A lock over a client library that takes the session to be in danger when half of its timeout has passed without an answer: a holder
//! stops although the ensemble cannot have expired the session.
//!
//! Pings come three times in a session timeout, so it takes a ping that is lost or late to see it: with a fault that excuses a
//! disconnect, and no loss of a connection that is still there. MX-16 knows when what was answered had been sent.

use crate::lock::workload::new;
use crate::long_holds::client;
use crate::prelude::*;
use crate::session::{Interceptor, over};
use std::sync::Arc;
use zk_recipes::zk::Time;

pub(super) static WORKLOAD: Workload = crate::long_holds::WORKLOAD.mutant(
    "long-holds-deadline-too-early",
    "a session counts as in danger after half of its timeout without an answer",
    Caught::by(Mx16),
    FAULTS,
    |_| Plan::calm().with(FAULTS, 0.2),
    |task| client(task, over(|| Arc::new(TooEarly), new)).boxed(),
);

/// A client that hears nothing for a while, and whose packets get nowhere for a while.
const FAULTS: &[Fault] = &[Fault::ClientDeafened, Fault::ClientMuted];

/// The wrong step: it gives half of the time away.
struct TooEarly;

impl<Z: ZooKeeper> Interceptor<Z> for TooEarly {
    fn safe_until(&self, zk: &Z) -> Time {
        zk.safe_until().before(zk.timeout() / 2)
    }
}
