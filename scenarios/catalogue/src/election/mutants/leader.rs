//! Mutants whose leader does not notice that it is deposed.

use super::{Own, WORKLOAD};
use crate::election::workload::{client, new};
use crate::prelude::*;
use crate::session::{Interceptor, Reply, Watch, over, watched_list};
use std::sync::Arc;
use zk_recipes::zk::{CreateMode, Created, Listing};

/// An election whose leader does not watch its candidate after taking office: when another client deletes it, the next
/// candidate leads beside it (CURATOR-49).
pub(super) static DEAF_LEADER: Workload = WORKLOAD.mutant(
    "election-deaf-leader",
    "an election whose leader does not notice the deletion of its candidate",
    Caught::by(Le9).harm(&[Le1]).seen("CURATOR-49"),
    &[],
    |_| Plan { rounds: 6, ..Plan::calm() },
    |task| client(task, over(|| Arc::new(NeverLooks::default()), new)).boxed(),
);

/// The same mutant, and a foreign client that deletes candidates.
pub(super) static DEAF_WHEN_DEPOSED: Workload = Workload {
    name: "election-deaf-when-deposed",
    about: "an election whose leader does not notice that a foreign client deleted its candidate",
    plan: |_| Plan { rounds: 4, ..Plan::calm() }.with_interference(&[Act::Delete], 0.25, 6),
    ..DEAF_LEADER
};

#[derive(Default)]
struct NeverLooks(Own);

impl<Z: ZooKeeper> Interceptor<Z> for NeverLooks {
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        self.0.create(zk, path, data, mode)
    }

    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        let (zk, path, is_own) = (zk.clone(), path.to_owned(), self.0.has(path));
        async move {
            if is_own {
                // A watch that is not registered with the server never fires.
                return zk.children(&path).await.map(|list| (list, std::future::pending().boxed()));
            }
            watched_list(&zk, &path).await
        }
        .boxed()
    }
}
