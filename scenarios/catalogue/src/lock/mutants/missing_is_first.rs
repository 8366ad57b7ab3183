//! A lock whose waiter takes it for granted that its own znode is in the list: when somebody has deleted it and nobody lower
//! is left, the lock is its own. Found by reading go-zookeeper/zk.
//!
//! Caught by MX-4 (granted without a right) when a stranger deletes a waiter's znode; the harm is MX-2 (mutual exclusion,
//! belief).

use super::over::LockOver;
use crate::lock::workload::client;
use crate::session::Twist;
use futures_util::FutureExt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Act;
use zk_harness::plan::Plan;
use zk_harness::target::Target;
use zk_recipes::zk::{CreateMode, Created, Error, Listing, ZooKeeper, path};

pub(super) static TARGET: Target = Target {
    name: "lock-missing-is-first",
    about: "a waiter whose znode is gone, and nobody is lower, holds the lock",
    caught_by: Some(Caught::by(RuleId::Mx4).harm(&[RuleId::Mx2]).within(100).seen("go-zookeeper/zk")),
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() }.with_strangers(&[Act::Delete], 0.25, 6),
    sim: |c, setting, rounds, done| {
        client::<_, LockOver<_, MissingIsFirst>>(c, setting, rounds, done).boxed()
    },
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

/// The wrong step: to every list one's own znode is added if it is not in it.
#[derive(Clone, Default)]
struct MissingIsFirst {
    own: Arc<Mutex<Option<String>>>,
}

impl<Z: ZooKeeper> Twist<Z> for MissingIsFirst {
    fn create(
        &self,
        zk: &Z,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<Z> {
        let (made, own) = (zk.create(path, data, mode), self.own.clone());
        async move {
            let made = made.await?;
            if mode == CreateMode::EphemeralSequential {
                *own.lock().unwrap_or_else(PoisonError::into_inner) = Some(made.path.clone());
            }
            Ok(made)
        }
    }

    fn list_of(&self, directory: &str, mut list: Listing) -> Listing {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((above, name)) = own.as_deref().map(path::split)
            && above == directory
            && !list.names.iter().any(|other| other == name)
        {
            list.names.push(name.to_owned());
        }
        list
    }
}
