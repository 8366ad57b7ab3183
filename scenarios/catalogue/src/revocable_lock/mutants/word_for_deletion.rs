//! A revocable lock whose waiters watch the data of the one ahead, and take any notification for its deletion: who is asked
//! to go lets the next one in beside itself.
//!
//! Caught by RV-4 (a request to go is no grant) within a few seeds; the harm is RW-1 (readers and writers).

use super::bend::{BendRevocable, BentRevocable};
use crate::revocable_lock::workload::client;
use crate::session::{Twist, Watch};
use futures_util::FutureExt;
use std::future::Future;
use std::sync::{Arc, Mutex};
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{Error, EventKind, Listing, ZooKeeper, path};

pub(super) static TARGET: Target = Target {
    name: "revocable-lock-word-for-deletion",
    about: "a waiter takes a change of its predecessor's data for its deletion",
    caught_by: Some(
        Caught::by(RuleId::Rv4)
            .or(&[(RuleId::Rw5, "whoever takes the word for a deletion goes on to watch the next one ahead, beside whoever watches that one by right: its deletion notifies both")])
            .within(5)
            .harm(&[RuleId::Rw1])
            .seen("follows from the watch rules"),
    ),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, BentRevocable<_, AnyEventIsItsEnd>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::revocable_lock::workload::TARGET)
};

/// The wrong step.
#[derive(Clone, Default)]
struct AnyEventIsItsEnd(Arc<Mutex<Believed>>);

#[derive(Default)]
struct Believed {
    last: Option<Listing>,
    /// Whose data have just changed.
    gone: Option<String>,
}

impl<Z: ZooKeeper> Twist<Z> for AnyEventIsItsEnd {
    fn list(&self, list: Listing) -> Listing {
        self.0.lock().expect("nobody panics in there").last = Some(list.clone());
        list
    }

    fn remembered(&self) -> Option<Listing> {
        let mut believed = self.0.lock().expect("nobody panics in there");
        let gone = believed.gone.take()?;
        let mut last = believed.last.clone()?;
        last.names.retain(|name| *name != gone);
        Some(last)
    }

    fn children_watch(
        &self,
        zk: &Z,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Z> {
        let (believed, name) = (self.0.clone(), path::split(path).1.to_owned());
        let get = zk.get_watch(path);
        async move {
            let (data, watch) = get.await?;
            let told = watch.inspect(move |event| {
                if event.as_ref().is_ok_and(|event| event.kind == EventKind::NodeDataChanged) {
                    believed.lock().expect("nobody panics in there").gone = Some(name);
                }
            });
            Ok((Listing { names: Vec::new(), stat: data.stat }, told.boxed()))
        }
    }
}

impl<Z: ZooKeeper> BendRevocable<Z> for AnyEventIsItsEnd {}
