//! A lock over a client library that considers the session in danger after half of its timeout without a reply: a
//! holder stops although the ensemble cannot have expired the session.
//!
//! Pings are sent three times in a session timeout, so only a lost or late ping shows it: under a fault that excuses a
//! disconnect, but without a loss of the connection. MX-16 knows when the last request that has a reply was sent.

use crate::lock::workload::new;
use crate::prelude::*;
use crate::session::{Interceptor, over};
use crate::variations::long_holds::client;
use std::sync::Arc;
use zk_recipes::zk::Time;

pub(super) static WORKLOAD: Workload = crate::variations::long_holds::WORKLOAD.mutant(
    "long-holds-deadline-too-early",
    "a session counts as in danger after half of its timeout without an answer",
    Caught::by(Mx16),
    FAULTS,
    |_| Plan::calm().with(FAULTS, 0.2),
    |task| client(task, over(|| Arc::new(TooEarly), new)).boxed(),
);

/// Faults under which a client receives no packets for a while, or its packets do not arrive.
const FAULTS: &[Fault] = &[Fault::ClientDeafened, Fault::ClientMuted];

/// The wrong step: it gives up half of the time.
struct TooEarly;

impl<Z: ZooKeeper> Interceptor<Z> for TooEarly {
    fn safe_until(&self, zk: &Z) -> Time {
        zk.safe_until().before(zk.timeout() / 2)
    }
}
