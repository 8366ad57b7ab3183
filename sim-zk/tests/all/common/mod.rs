//! What the tests share: short worlds, and a tape of what happened in them.

pub mod chaos;
pub mod hand;
pub mod tapes;

use sim_zk::choose::{Calm, Chooser, Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::message::{Answer, Ask, Refusal};
use sim_zk::observer::{Observer, SimEvent};
use sim_zk::paths::{PathId, Paths};
use sim_zk::{Config, End, Finished, Process, Sim, SimClient};
use std::collections::BTreeMap;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Created, Error, ErrorKind, Time, ZooKeeper};

pub const TICK: Duration = Duration::from_secs(2);
pub const TIMEOUT: Duration = Duration::from_secs(6);
pub const LIMIT: Duration = Duration::from_secs(600);

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Everything that happened, with its time in microseconds, and the names of the paths.
#[derive(Default)]
pub struct Tape {
    pub seen: Vec<(u64, SimEvent<'static>)>,
    /// What was read: the place in `seen` where it is told, the question, the answer.
    pub read: Vec<(usize, Ask, Result<Answer, Refusal>)>,
    pub paths: BTreeMap<PathId, String>,
}

impl Observer for Tape {
    fn on_event(&mut self, at: u64, event: &SimEvent<'_>, paths: &Paths) {
        if let SimEvent::Served { ask, result, .. } = event {
            self.read.push((self.seen.len(), (*ask).clone(), (*result).clone()));
        }
        self.seen.push((at, event.without_content()));
        for id in self.paths.len()..paths.len() {
            let id = PathId(id as u32);
            self.paths.insert(id, paths.text(id).to_owned());
        }
    }
}

impl Tape {
    /// A hash over all that happened, in order, with names instead of numbers.
    pub fn hash(&self) -> u64 {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        format!("{:?}{:?}", self.seen, self.read).hash(&mut hasher);
        self.paths.hash(&mut hasher);
        hasher.finish()
    }

    /// All of it, a line a event, for a complaint.
    pub fn text(&self) -> String {
        let lines: Vec<String> = self.seen.iter().map(|(at, what)| format!("{at:>10} {what:?}")).collect();
        lines.join("\n")
    }

    pub fn path(&self, id: PathId) -> &str {
        &self.paths[&id]
    }

    pub fn count(&self, which: impl Fn(&SimEvent<'static>) -> bool) -> usize {
        self.seen.iter().filter(|(_, event)| which(event)).count()
    }

    pub fn find<T>(&self, which: impl Fn(&SimEvent<'static>) -> Option<T>) -> Option<(u64, T)> {
        self.seen.iter().find_map(|(at, event)| Some((*at, which(event)?)))
    }

    /// How often a fault of that kind struck.
    pub fn struck(&self, kind: Fault) -> usize {
        self.count(|event| matches!(event, SimEvent::Injected { fault, .. } if *fault == kind))
    }
}

/// A hash that is the same everywhere.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Runs a story on the calm network.
pub fn calm<T, F>(story: impl FnOnce(Sim) -> F) -> (T, Tape)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    chosen(Calm, story)
}

/// Runs a story for which `chooser` decides.
pub fn chosen<T, F>(chooser: impl Chooser + 'static, story: impl FnOnce(Sim) -> F) -> (T, Tape)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let Finished { output, end, observer, .. } =
        Sim::run(Config::default(), LIMIT, chooser, Tape::default(), story);
    assert_eq!(end, End::Done, "the story ends");
    (output.expect("it ended"), observer)
}

/// Runs a story on a network of random latencies, without faults.
pub fn unsteady<T, F>(seed: u64, story: impl FnOnce(Sim) -> F) -> Finished<T, Seeded, Tape>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    Sim::run(Config::default(), LIMIT, Seeded::new(seed, Rates::NONE), Tape::default(), story)
}

/// Every kind of fault, each at this rate.
pub fn everything(rate: f64) -> Rates {
    Fault::ALL.into_iter().fold(Rates::NONE, |rates, fault| rates.with(fault, rate))
}

/// A hostile world: that many faults within the first minute.
pub fn hostile(faults: u32) -> Config {
    Config { faults, hostile_until: 60_000_000, ..Config::default() }
}

/// The same with so many servers.
pub fn hostile_ensemble(servers: u8, faults: u32) -> Config {
    hostile(faults).with_servers(servers)
}

/// Runs a story in a hostile world with somebody who decides.
pub fn run_hostile<T, C, F>(faults: u32, chooser: C, story: impl FnOnce(Sim) -> F) -> Finished<T, C, Tape>
where
    T: Send + 'static,
    C: Chooser + 'static,
    F: Future<Output = T> + Send + 'static,
{
    Sim::run(hostile(faults), LIMIT, chooser, Tape::default(), story)
}

/// A process with one session.
pub async fn client(sim: &Sim, name: &str) -> (Process, SimClient) {
    let process = sim.process(name);
    let zk = process.open(TIMEOUT).await;
    (process, zk)
}

pub async fn make(zk: &SimClient, path: &str) -> Created {
    zk.create(path, b"data", CreateMode::Persistent).await.expect("the create succeeds")
}

pub async fn make_ephemeral(zk: &SimClient, path: &str) -> Created {
    zk.create(path, b"data", CreateMode::Ephemeral).await.expect("the create succeeds")
}

/// Waits by the world's clock.
pub async fn wait(zk: &SimClient, by: Duration) {
    zk.sleep_until(zk.now() + by).await;
}

/// Waits until a session's status is as wanted.
pub async fn until(zk: &SimClient, wanted: impl Fn(zk_recipes::zk::Status) -> bool) -> Time {
    let mut status = zk.status();
    while !wanted(status) {
        status = zk.changed(status).await;
    }
    zk.now()
}

pub async fn until_suspended(zk: &SimClient) -> Time {
    until(zk, |status| !status.is_connected()).await
}

pub async fn until_over(zk: &SimClient) -> Error {
    until(zk, |status| status.over().is_some()).await;
    zk.status().over().expect("it is over")
}

/// Waits for the next connection after a loss.
pub async fn until_back(zk: &SimClient, connection: u32) -> Time {
    until(zk, |status| status.is_connected() && status.connection > connection).await
}

/// Breaks a client's connection, and lets others do something before it comes back.
pub async fn away(process: &Process, zk: &SimClient, meanwhile: impl Future<Output = ()>) {
    let connection = zk.status().connection;
    process.order(Fault::RequestLost);
    assert_eq!(zk.sync("/").await, Err(ErrorKind::ConnectionLoss.into()));
    meanwhile.await;
    assert!(!zk.status().is_connected(), "the others were quicker");
    until_back(zk, connection).await;
    // What was missed is told before the answer to the re-registration, and so before this one.
    zk.sync("/").await.expect("the sync succeeds");
}
