//! A lock over a client library that counts the answers to its own requests, and not those to pings: whoever holds and asks
//! for nothing is told after one session timeout that the session may be over, on a connection on which nothing went wrong.
//!
//! Caught by MX-16 (no false loss) in nearly every run of long holds. It does no other harm, which is why nothing else sees
//! it: whoever stops too early excludes nobody.

use crate::lock::mutants::over::LockOver;
use crate::long_holds::client;
use crate::session::{Twist, Watch};
use futures_util::FutureExt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{CreateMode, Created, Error, Listing, Time, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "long-holds-without-pings",
    about: "only answered requests, and not answered pings, count as a sign that the session lives",
    caught_by: Some(Caught::by(RuleId::Mx16)),
    faults: &[],
    plan: |_| Plan::calm(),
    sim: |c, setting, rounds, done| client::<_, LockOver<_, WithoutPings>>(c, setting, rounds, done).boxed(),
    ..Target::mutant_of(&crate::long_holds::TARGET)
};

/// The wrong step: it knows when the last request was sent that was answered.
#[derive(Clone, Default)]
struct WithoutPings {
    answered: Arc<Mutex<Time>>,
}

impl WithoutPings {
    /// Counts an answer to what is sent now.
    fn counts<T, Z: ZooKeeper, F: Future<Output = Result<T, Error>> + Send>(
        &self,
        zk: &Z,
        request: F,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T, Z, F> {
        let (answered, sent) = (self.answered.clone(), zk.now());
        request.inspect(move |answer| {
            if answer.is_ok() {
                let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
                *answered = sent.max(*answered);
            }
        })
    }
}

impl<Z: ZooKeeper> Twist<Z> for WithoutPings {
    fn safe_until(&self, zk: &Z) -> Time {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) + zk.timeout()
    }

    fn create(
        &self,
        zk: &Z,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<Z> {
        self.counts(zk, zk.create(path, data, mode))
    }

    fn children_watch(
        &self,
        zk: &Z,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Z> {
        let list = self.counts(zk, zk.children_watch(path));
        async move { list.await.map(|(list, watch)| (list, watch.boxed())) }
    }
}
