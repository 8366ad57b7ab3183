//! A real server as a place to try the behaviour suite: each session has a way of its own to it, which can be cut.

use super::open;
use super::proxy::Proxy;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use zk_recipes::ZooKeeper;
use zk_recipes::client::{Client, Options};
use zk_recipes::zk::SessionId;
use zk_recipes::zk::suite::{self, Site};

/// One server, and a way to it for each session.
pub struct Real {
    address: String,
    below: String,
    options: Options,
    ways: Mutex<BTreeMap<SessionId, Proxy>>,
    directories: AtomicU64,
}

impl Real {
    /// The server at that address, with everything below a path of it; or the empty one for the root.
    pub fn new(address: String, below: &str, options: Options) -> &'static Real {
        let (below, ways) = (below.to_owned(), Mutex::default());
        Box::leak(Box::new(Real { address, below, options, ways, directories: AtomicU64::new(0) }))
    }

    /// Tries every rule, and says which do not hold.
    pub async fn broken_rules(&'static self) -> Vec<&'static str> {
        let mut broken = Vec::new();
        for (name, rule) in suite::CASES {
            eprintln!("{name}: {rule}");
            // Each in a task of its own, so that one that panics does not hide the others.
            if tokio::spawn(suite::run(self, name)).await.is_err() {
                broken.push(*name);
            }
        }
        broken
    }

    /// The way that a session goes.
    pub fn with_way<T>(&self, zk: &Client, work: impl FnOnce(&Proxy) -> T) -> T {
        work(&self.ways.lock().expect("no case panics within")[&zk.session()])
    }
}

impl Site for Real {
    type Zk = Client;

    async fn open(&self) -> Client {
        let way = Proxy::to(&self.address);
        let to = format!("{}{}", way.address(), self.below);
        let zk = open(&to, self.options.clone()).await;
        self.ways.lock().expect("no case panics within").insert(zk.session(), way);
        zk
    }

    async fn cut(&self, zk: &Client) {
        let before = zk.status();
        self.with_way(zk, Proxy::cut);
        zk.changed(before).await;
    }

    fn directory(&self) -> String {
        format!("/suite-{}", self.directories.fetch_add(1, SeqCst))
    }
}
