//! Helpers of all tests: short worlds, and a tape of their events.

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
use zk_recipes::zk::{CreateMode, Created, Error, ErrorKind, Runtime, Time, ZooKeeper};

pub const TICK: Duration = Duration::from_secs(2);
pub const TIMEOUT: Duration = Duration::from_secs(6);
pub const LIMIT: Duration = Duration::from_secs(600);

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// All events, with their times in microseconds, and the names of the paths.
#[derive(Default)]
pub struct Tape {
    pub seen: Vec<(u64, SimEvent<'static>)>,
    /// The reads: the index of the event in `seen`, the request, the reply.
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
    /// Returns a hash over all events in order, with path names instead of numbers.
    pub fn hash(&self) -> u64 {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        format!("{:?}{:?}", self.seen, self.read).hash(&mut hasher);
        self.paths.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns all events, a line each, for failure messages.
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

    /// Returns the number of injected faults of that kind.
    pub fn struck(&self, kind: Fault) -> usize {
        self.count(|event| matches!(event, SimEvent::Injected { fault, .. } if *fault == kind))
    }
}

/// FNV-1a: the same in every process.
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

/// Runs a story without faults.
pub fn calm<T, F>(story: impl FnOnce(Sim) -> F) -> (T, Tape)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    chosen(Calm, story)
}

/// Runs a story with a chooser.
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

/// Returns rates with every kind of fault at this rate.
pub fn everything(rate: f64) -> Rates {
    Fault::ALL.into_iter().fold(Rates::NONE, |rates, fault| rates.with(fault, rate))
}

/// A hostile world: that many faults within the first minute.
pub fn hostile(faults: u32) -> Config {
    Config { faults, hostile_until: 60_000_000, ..Config::default() }
}

/// The same with that many servers.
pub fn hostile_ensemble(servers: u8, faults: u32) -> Config {
    hostile(faults).with_servers(servers)
}

/// Runs a story in a hostile world with a chooser.
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

/// Waits by the clock of the world.
pub async fn wait(zk: &SimClient, by: Duration) {
    zk.sleep_until(zk.now() + by).await;
}

/// Waits until the status of a session satisfies `wanted`.
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

/// Breaks a client's connection, and lets other clients act before it reconnects.
pub async fn away(process: &Process, zk: &SimClient, meanwhile: impl Future<Output = ()>) {
    let connection = zk.status().connection;
    process.order(Fault::RequestLost);
    assert_eq!(zk.sync("/").await, Err(ErrorKind::ConnectionLoss.into()));
    meanwhile.await;
    assert!(!zk.status().is_connected(), "the others were quicker");
    until_back(zk, connection).await;
    // The notifications of missed changes precede the reply to the re-registration, and so the reply to this sync.
    zk.sync("/").await.expect("the sync succeeds");
}
