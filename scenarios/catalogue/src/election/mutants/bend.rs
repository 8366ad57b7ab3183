//! The election over a session in which something is altered: all steps are the recipe's, but for what a
//! [`Twist`](crate::session::Twist) makes of them.

use crate::election::workload::Electing;
use crate::session::{Twist, Twisted};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Created, Error, ZooKeeper};
use zk_recipes::{Election, ElectionOptions, Leadership, Term};

/// The candidates that were made over a session, which tells them from those of others.
#[derive(Clone, Default)]
pub struct Own(Arc<Mutex<Vec<String>>>);

impl Own {
    /// Creates, and remembers what.
    pub fn create<Z: ZooKeeper>(
        &self,
        zk: &Z,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<Z> {
        let (create, own) = (zk.create(path, data, mode), self.0.clone());
        async move {
            let created = create.await?;
            own.lock().expect("nobody panics while holding this").push(created.path.clone());
            Ok(created)
        }
    }

    /// Whether it is one's own.
    pub fn has(&self, path: &str) -> bool {
        self.0.lock().expect("nobody panics while holding this").iter().any(|own| own == path)
    }
}

/// The election, bent.
pub struct Bent<Z: ZooKeeper, T: Twist<Z>> {
    election: Election<Twisted<Z, T>>,
}

impl<Z: ZooKeeper, T: Twist<Z>> Clone for Bent<Z, T> {
    fn clone(&self) -> Self {
        Bent { election: self.election.clone() }
    }
}

impl<Z: ZooKeeper, T: Twist<Z>> Bent<Z, T> {
    /// With what is altered in hand.
    pub fn with(zk: &Z, directory: &str, twist: T) -> Result<Self, Error> {
        let zk = Twisted::with(zk, twist);
        Ok(Bent { election: Election::new(&zk, directory, ElectionOptions::default())? })
    }
}

impl<Z: ZooKeeper, T: Twist<Z>> Electing<Z> for Bent<Z, T> {
    type Office = Term<Twisted<Z, T>>;
    type Follower = Leadership<Twisted<Z, T>>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Self::with(zk, directory, T::default())
    }

    fn stand(&self) -> impl Future<Output = Result<Self::Office, Error>> + Send {
        self.election.stand()
    }

    fn stand_within(&self, limit: Duration) -> impl Future<Output = Result<Self::Office, Error>> + Send {
        self.election.stand_within(limit)
    }

    fn observe(&self) -> Self::Follower {
        self.election.observe()
    }
}
