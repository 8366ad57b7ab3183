//! Real servers as a place to try the behaviour suite: each session has a proxy of its own, whose connections can be cut.

use super::open;
use super::proxy::Proxy;
use super::waits::over;
use futures_util::{StreamExt, stream};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use zk_client::{Client, Options};
use zk_recipes::ZooKeeper;
use zk_recipes::zk::{CreateMode, SessionId};
use zk_suite::{self as suite, Site};

/// One server or an ensemble, and a proxy for each session.
pub struct Real {
    ways: ClientLinks,
}

/// How many rules are tried at once.
const AT_ONCE: usize = 4;

/// Counted for all sites together: several of them may share a server.
static DIRECTORIES: AtomicU64 = AtomicU64::new(0);

impl Real {
    /// The servers at these addresses, with everything below a path of theirs; or the empty one for the root.
    pub fn new(servers: String, below: &str, options: Options) -> &'static Real {
        Real::with(ClientLinks::new(servers, below, options, None))
    }

    /// The same, but connections break all the time.
    pub fn under_faults(servers: String, options: Options, seed: u64) -> &'static Real {
        Real::with(ClientLinks::new(servers, "", options, Some(seed)))
    }

    fn with(ways: ClientLinks) -> &'static Real {
        Box::leak(Box::new(Real { ways }))
    }

    /// Tries every rule, some at once, and says which do not hold.
    pub async fn broken_rules(&'static self) -> Vec<&'static str> {
        self.broken_of(suite::CASES.iter().map(|(name, _)| *name)).await
    }

    /// Tries these rules, and says which do not hold.
    pub async fn broken_of(&'static self, rules: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
        let tried = stream::iter(rules).map(|name| async move {
            eprintln!("{name}");
            // Each in a task of its own, so that one that panics does not hide the others.
            let holds = tokio::spawn(suite::run(self, name)).await.is_ok();
            (!holds).then_some(name)
        });
        // Most of them wait for a session timeout.
        tried.buffered(AT_ONCE).filter_map(std::future::ready).collect().await
    }

    /// The proxy of a session.
    pub fn with_way<T>(&self, zk: &Client, work: impl FnOnce(&Proxy) -> T) -> T {
        work(&self.ways.of(zk))
    }
}

impl Site for Real {
    type Zk = Client;

    async fn open(&self) -> Client {
        self.ways.open(|zk| zk).await
    }

    async fn cut(&self, zk: &Client) {
        self.ways.cut(zk).await;
    }

    async fn expire(&self, zk: &Client) {
        self.ways.expire(zk).await;
    }

    fn directory(&self) -> String {
        format!("/suite-{}", DIRECTORIES.fetch_add(1, SeqCst))
    }
}

/// A proxy for each session, and what a site does with it.
pub struct ClientLinks {
    servers: String,
    below: String,
    options: Options,
    seed: Option<u64>,
    proxies: Mutex<BTreeMap<SessionId, Arc<Proxy>>>,
    expired: AtomicU64,
}

impl ClientLinks {
    pub fn new(servers: String, below: &str, options: Options, seed: Option<u64>) -> ClientLinks {
        let (below, proxies) = (below.to_owned(), Mutex::default());
        ClientLinks { servers, below, options, seed, proxies, expired: AtomicU64::new(0) }
    }

    /// A session with a proxy of its own.
    pub async fn open<Z: ZooKeeper>(&self, wrap: impl FnOnce(Client) -> Z) -> Z {
        let number = self.proxies.lock().expect("no case panics within").len() as u64;
        let proxy = match self.seed {
            Some(seed) => Proxy::breaking(&self.servers, (seed + number) << 32 | 1),
            None if self.options.tls.is_some() => Proxy::to(&self.servers),
            None => Proxy::reading(&self.servers),
        };
        let zk = wrap(open(&format!("{}{}", proxy.address(), self.below), self.options.clone()).await);
        self.proxies.lock().expect("no case panics within").insert(zk.session(), Arc::new(proxy));
        zk
    }

    /// The proxy of a session.
    pub fn of<Z: ZooKeeper>(&self, zk: &Z) -> Arc<Proxy> {
        self.proxies.lock().expect("no case panics within")[&zk.session()].clone()
    }

    /// Cuts a session's connection.
    pub async fn cut<Z: ZooKeeper>(&self, zk: &Z) {
        let before = zk.status();
        self.of(zk).cut();
        zk.changed(before).await;
    }

    /// Keeps a session away until another one is told that its ephemerals are gone.
    pub async fn expire<Z: ZooKeeper>(&self, zk: &Z) {
        let other = open(&format!("{}{}", self.servers, self.below), self.options.clone()).await;
        let path = format!("/expires-{}", self.expired.fetch_add(1, SeqCst));
        zk.create(&path, b"", CreateMode::Ephemeral).await.expect("the session lives");
        let gone = loop {
            let (found, watch) = other.exists_watch(&path).await.expect("the other session is not disturbed");
            if found.is_some() {
                break watch;
            }
            // Its server lags, and tells when it has caught up.
            watch.await.expect("the other session lives");
        };
        let proxy = self.of(zk);
        proxy.refuse(true);
        proxy.cut();
        gone.await.expect("the other session lives");
        proxy.refuse(false);
        over(zk).await;
    }
}
