//! A revocable lock whose owners throw away the data that the arming read of their own znode returns: a word that was
//! written before the watch is lost (so in Apache Curator, by reading).
//!
//! Caught by RV-1 (no request to go is lost) within some 100 seeds.

use super::bend::{BendRevocable, BentRevocable};
use crate::broken::session::Twist;
use crate::plan::Plan;
use crate::target::Target;
use crate::workloads::revocable_lock::{client, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use zk_checker::RuleId;
use zk_recipes::zk::{Data, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "revocable-lock-deaf",
    about: "an owner throws away what the read that arms its watch returns",
    caught_by: Some(Caught::by(RuleId::Rv1).within(100).seen("Curator")),
    faults: &[],
    plan: |_| Plan { clients: 4, ..Plan::calm() },
    objects,
    sim: |c, setting, rounds, done| {
        client::<_, BentRevocable<_, ThrowsAway>>(c, setting, rounds, done).boxed()
    },
    // A capture does not show what it takes to name it first.
    real: None,
    required: &[],
    required_on_real: &[],
    stated: &crate::workloads::revocable_lock::STATED,
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
