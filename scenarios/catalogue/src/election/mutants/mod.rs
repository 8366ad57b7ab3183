//! Mutants of the election: the right recipe over an [intercepted](crate::session) session.

mod acknowledgement;
mod candidates;
mod leader;
pub(super) mod lies;
mod observing;

use super::workload::WORKLOAD;
use crate::prelude::*;
use crate::session::Reply;
use std::sync::{Arc, Mutex};
use zk_recipes::zk::{CreateMode, Created};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &acknowledgement::ACK_EXISTS,
    &acknowledgement::CLEARS_RECORD,
    &leader::DEAF_LEADER,
    &candidates::FORMER_SESSION,
    &candidates::NEW_CANDIDATE,
    &acknowledgement::PERSISTENT_ACK,
    &acknowledgement::UNCHECKED_ACK,
    &acknowledgement::WAITS_FOR_ACK,
    &candidates::WATCH_LEADER,
    &leader::DEAF_WHEN_DEPOSED,
    &observing::TELLS_NOBODY,
];

/// The mutants that real servers kill, without the simulation's faults.
pub(super) static REAL: &[&RealWorkload] = &[&candidates::WATCH_LEADER_REAL];

/// The candidates created over a session; identifies them among those of other clients.
#[derive(Default)]
struct Own(Arc<Mutex<Vec<String>>>);

impl Own {
    /// Creates a candidate and remembers its path.
    fn create<Z: ZooKeeper>(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        let (create, own) = (zk.create(path, data, mode), self.0.clone());
        async move {
            let created = create.await?;
            own.lock().expect("nobody panics while holding this").push(created.path.clone());
            Ok(created)
        }
        .boxed()
    }

    /// Whether a path is that of an own candidate.
    fn has(&self, path: &str) -> bool {
        self.0.lock().expect("nobody panics while holding this").iter().any(|own| own == path)
    }
}
