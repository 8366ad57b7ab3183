//! A lock over a client library that counts the replies to its own requests, but not those to pings: a holder that
//! sends no request learns after one session timeout that the session may be over, on a connection without faults.
//!
//! It does no other harm, so no rule but MX-16 sees it: a holder that stops too early violates no exclusion.

use crate::lock::workload::new;
use crate::prelude::*;
use crate::session::{Interceptor, Reply, Watch, over, watched_list};
use crate::variations::long_holds::client;
use std::sync::{Arc, Mutex, PoisonError};
use zk_recipes::zk::{CreateMode, Created, Listing, Time};

pub(super) static WORKLOAD: Workload = crate::variations::long_holds::WORKLOAD.mutant(
    "long-holds-without-pings",
    "only replies to requests, and not to pings, prove that the session lives",
    Caught::by(Mx16),
    &[],
    |_| Plan::calm(),
    |task| client(task, over(|| Arc::new(WithoutPings::default()), new)).boxed(),
);

/// The wrong step: it counts from the last request that has a reply.
#[derive(Default)]
struct WithoutPings {
    answered: Arc<Mutex<Time>>,
}

impl WithoutPings {
    /// Counts the reply to a request that is sent now.
    fn counts<T: 'static, Z: ZooKeeper>(&self, zk: &Z, request: Reply<T>) -> Reply<T> {
        let (answered, sent) = (self.answered.clone(), zk.now());
        let counting = request.inspect(move |answer| {
            if answer.is_ok() {
                let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
                *answered = sent.max(*answered);
            }
        });
        counting.boxed()
    }
}

impl<Z: ZooKeeper> Interceptor<Z> for WithoutPings {
    fn safe_until(&self, zk: &Z) -> Time {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) + zk.timeout()
    }

    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        self.counts(zk, zk.create(path, data, mode).boxed())
    }

    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        self.counts(zk, watched_list(zk, path))
    }
}
