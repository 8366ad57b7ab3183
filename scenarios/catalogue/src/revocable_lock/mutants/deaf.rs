//! A revocable lock whose owners throw away the data that the arming read of their own znode returns: a word that was
//! written before the watch is lost (so in Apache Curator, by reading).
//!
//! Caught by RV-1 (no request to go is lost) within some 100 seeds.

use super::bend::{BendRevocable, BentRevocable};
use crate::revocable_lock::workload::client;
use crate::session::Twist;
use futures_util::FutureExt;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{Data, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "revocable-lock-deaf",
    about: "an owner throws away what the read that arms its watch returns",
    caught_by: Some(Caught::by(RuleId::Rv1).within(100).seen("Curator")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    sim: |c, setting, rounds, done| {
        client::<_, BentRevocable<_, ThrowsAway>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::revocable_lock::workload::TARGET)
};

/// The wrong step: of each znode, what was read first.
#[derive(Clone, Default)]
struct ThrowsAway(Arc<Mutex<BTreeSet<String>>>);

impl<Z: ZooKeeper> Twist<Z> for ThrowsAway {
    fn watched(&self, path: &str, data: Data) -> Data {
        let is_first = self.0.lock().expect("nobody panics in there").insert(path.to_owned());
        if is_first { Data { data: Vec::new(), ..data } } else { data }
    }
}

impl<Z: ZooKeeper> BendRevocable<Z> for ThrowsAway {}
