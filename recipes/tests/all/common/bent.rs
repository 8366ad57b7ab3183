//! A session that is as good as any other, but for what a test bends.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use sim_zk::SimClient;
use sim_zk::driver::{SimTreeWatch, SimWatch};
use sim_zk::observer::Kind;
use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use zk_recipes::zk::{
    Armed, CreateMode, Created, Data, Duty, ErrorKind, Guid, InFlight, Listing, OnSessionOver, Op, OpResult,
    Runtime, SessionId, Stat, Status, Time, ZooKeeper,
};

/// A session under which counters stand where the test wants them.
#[derive(Clone, Debug)]
pub struct Bent {
    pub inner: SimClient,
    bends: Arc<Mutex<Bends>>,
}

/// What happens before a request leaves.
struct Before {
    kind: Kind,
    /// How many of that kind leave at once.
    spared: usize,
    happens: BoxFuture<'static, ()>,
}

impl std::fmt::Debug for Before {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Before").field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Bends {
    numbers: VecDeque<i32>,
    made: Vec<(String, CreateMode)>,
    denies_watches: bool,
    denies_deletes: bool,
    before: Option<Before>,
    timeout: Option<Duration>,
    /// A znode, and by how much its version is greater than the server's.
    aged: Option<(String, i32)>,
}

impl Bent {
    /// Sequential creates get these numbers, then the last of them again and again.
    pub fn counting(inner: &SimClient, numbers: &[i32]) -> Self {
        let bends = Bends { numbers: numbers.iter().copied().collect(), ..Bends::default() };
        Bent { inner: inner.clone(), bends: Arc::new(Mutex::new(bends)) }
    }

    /// Nothing is bent, but creates are remembered.
    pub fn straight(inner: &SimClient) -> Self {
        Self::counting(inner, &[])
    }

    /// A znode looks as if it had been written so many more times, in reads and in the conditions of transactions.
    pub fn aged(inner: &SimClient, path: &str, writes: i32) -> Self {
        let aged = Self::straight(inner);
        aged.bends.lock().unwrap().aged = Some((path.to_owned(), writes));
        aged
    }

    fn age(&self, of: &str) -> i32 {
        let aged = &self.bends.lock().unwrap().aged;
        aged.as_ref().map_or(0, |(path, writes)| if path == of { *writes } else { 0 })
    }

    /// From now on no watch on children is granted.
    pub fn denies_watches(&self) {
        self.bends.lock().unwrap().denies_watches = true;
    }

    /// From now on no transaction that deletes is granted: an access list denies its first delete.
    pub fn denies_deletes(&self) {
        self.bends.lock().unwrap().denies_deletes = true;
    }

    /// The next request of a kind, a `get` without a watch, an `exists` or a transaction, leaves only after that.
    pub fn waits_before(&self, kind: Kind, happens: impl Future<Output = ()> + Send + 'static) {
        self.waits_later(kind, 0, happens);
    }

    /// The same for a later request of the kind: so many leave at once.
    pub fn waits_later(&self, kind: Kind, spared: usize, happens: impl Future<Output = ()> + Send + 'static) {
        self.bends.lock().unwrap().before = Some(Before { kind, spared, happens: happens.boxed() });
    }

    fn before(&self, kind: Kind) -> Option<BoxFuture<'static, ()>> {
        let before = &mut self.bends.lock().unwrap().before;
        let waits = |before: &mut Before| {
            let is_spared = before.kind == kind && before.spared > 0;
            before.spared -= usize::from(is_spared);
            before.kind == kind && !is_spared
        };
        before.take_if(waits).map(|before| before.happens)
    }

    /// From now on that is the session timeout, as if a reconnect had negotiated it.
    pub fn times_out_after(&self, timeout: Duration) {
        self.bends.lock().unwrap().timeout = Some(timeout);
    }

    /// What it was asked to create.
    pub fn made(&self) -> Vec<(String, CreateMode)> {
        self.bends.lock().unwrap().made.clone()
    }

    fn number(&self) -> Option<i32> {
        let numbers = &mut self.bends.lock().unwrap().numbers;
        if numbers.len() > 1 { numbers.pop_front() } else { numbers.front().copied() }
    }
}

fn older(stat: Stat, age: i32) -> Stat {
    Stat { version: stat.version.wrapping_add(age), ..stat }
}

/// A request that leaves at once, or behind something.
fn behind<F: Future>(
    before: Option<BoxFuture<'static, ()>>,
    asks: impl FnOnce() -> F,
) -> impl Future<Output = F::Output> {
    match before {
        None => asks().left_future(),
        Some(before) => async move {
            before.await;
            asks().await
        }
        .right_future(),
    }
}

impl Runtime for Bent {
    fn now(&self) -> Time {
        self.inner.now()
    }

    fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<> {
        self.inner.sleep_until(until)
    }

    fn guid(&self) -> Guid {
        self.inner.guid()
    }

    fn arm(&self, duty: Duty) -> Armed {
        self.inner.arm(duty)
    }
}

impl ZooKeeper for Bent {
    type Watch = SimWatch;
    type TreeWatch = SimTreeWatch;

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> impl InFlight<Created> + use<> {
        self.bends.lock().unwrap().made.push((path.to_owned(), mode));
        let number = if mode == CreateMode::EphemeralSequential { self.number() } else { None };
        match number {
            Some(number) => self.inner.create(&format!("{path}{number:010}"), data, CreateMode::Ephemeral),
            None => self.inner.create(path, data, mode),
        }
    }

    fn delete(&self, path: &str, version: Option<i32>) -> impl InFlight<()> + use<> {
        self.inner.delete(path, version)
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> impl InFlight<Stat> + use<> {
        self.inner.set(path, data, version)
    }

    fn exists(&self, path: &str) -> impl InFlight<Option<Stat>> + use<> {
        let (inner, path, age) = (self.inner.clone(), path.to_owned(), self.age(path));
        let found = behind(self.before(Kind::Exists), move || inner.exists(&path));
        found.map(move |found| found.map(|found| found.map(|stat| older(stat, age))))
    }

    fn exists_watch(&self, path: &str) -> impl InFlight<(Option<Stat>, SimWatch)> + use<> {
        self.inner.exists_watch(path)
    }

    fn get(&self, path: &str) -> impl InFlight<Data> + use<> {
        let (inner, path, age) = (self.inner.clone(), path.to_owned(), self.age(path));
        let found = behind(self.before(Kind::Get), move || inner.get(&path));
        found.map(move |found| found.map(|Data { data, stat }| Data { data, stat: older(stat, age) }))
    }

    fn get_watch(&self, path: &str) -> impl InFlight<(Data, SimWatch)> + use<> {
        self.inner.get_watch(path)
    }

    fn children(&self, path: &str) -> impl InFlight<Listing> + use<> {
        self.inner.children(path)
    }

    fn children_watch(&self, path: &str) -> impl InFlight<(Listing, SimWatch)> + use<> {
        let denied = self.bends.lock().unwrap().denies_watches;
        let answer = self.inner.children_watch(path);
        async move { if denied { answer.await.and(Err(ErrorKind::NoAuth.into())) } else { answer.await } }
    }

    fn get_many(&self, all: &[String]) -> impl InFlight<Vec<Option<Data>>> + use<> {
        self.inner.get_many(all)
    }

    fn multi(&self, ops: Vec<Op>) -> impl InFlight<Vec<OpResult>> + use<> {
        let numbered = |op| match op {
            Op::Create { path, data, mode: CreateMode::PersistentSequential } => match self.number() {
                Some(number) => {
                    let path = format!("{path}{number:010}");
                    Op::Create { path, data, mode: CreateMode::Persistent }
                }
                None => Op::Create { path, data, mode: CreateMode::PersistentSequential },
            },
            op => op,
        };
        let younger = |mut op| {
            if let Op::Set { path, version: Some(version), .. }
            | Op::Check { path, version: Some(version) }
            | Op::Delete { path, version: Some(version) } = &mut op
            {
                *version = version.wrapping_sub(self.age(path));
            }
            op
        };
        let ops: Vec<Op> = ops.into_iter().map(numbered).map(younger).collect();
        let denied = match self.bends.lock().unwrap().denies_deletes {
            true => ops.iter().position(|op| matches!(op, Op::Delete { .. })),
            false => None,
        };
        let inner = self.inner.clone();
        match denied {
            Some(index) => {
                ready(Err(ErrorKind::Multi { index, cause: Box::new(ErrorKind::NoAuth.into()) }.into()))
                    .left_future()
            }
            None => behind(self.before(Kind::Multi), move || inner.multi(ops)).right_future(),
        }
    }

    fn sync(&self, path: &str) -> impl InFlight<()> + use<> {
        self.inner.sync(path)
    }

    fn watch_tree(&self, path: &str) -> impl InFlight<SimTreeWatch> + use<> {
        self.inner.watch_tree(path)
    }

    fn session(&self) -> SessionId {
        self.inner.session()
    }

    fn status(&self) -> Status {
        self.inner.status()
    }

    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<> {
        self.inner.changed(seen)
    }

    fn safe_until(&self) -> Time {
        self.inner.safe_until()
    }

    fn added_bytes(&self) -> usize {
        self.inner.added_bytes()
    }

    fn on_session_over(&self, listener: Weak<dyn OnSessionOver>) {
        self.inner.on_session_over(listener);
    }

    fn timeout(&self) -> Duration {
        self.bends.lock().unwrap().timeout.unwrap_or_else(|| self.inner.timeout())
    }

    fn max_request_bytes(&self) -> usize {
        self.inner.max_request_bytes()
    }

    fn close(&self, limit: Duration) -> impl InFlight<()> + use<> {
        self.inner.close(limit)
    }
}
