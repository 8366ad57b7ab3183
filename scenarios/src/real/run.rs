//! One run of a workload on a real server: seeded clients in this process, a last look at what is left, the verdict.
//!
//! 1. Prepare: a directory of our own, and how long a round trip takes.
//! 2. Work: every client goes round after round, and now and then drops an operation, until the time is over.
//! 3. Heal: nothing more is dropped; everybody finishes the round.
//! 4. Wait until all duties are discharged.
//! 5. Look, in a fresh session, what is left of the line while the clients' sessions still live.
//! 6. Close the sessions, tidy up, judge.

use super::client::{Ensemble, RealClient, sleep};
use super::tape::Tape;
use crate::broken::WatchAll;
use crate::journal::Journal;
use crate::recorded::Recorded;
use crate::run::{Target, lock_object};
use crate::workloads::lock::{self, DIRECTORY, Exclusive, Pace};
use futures_util::future::{join_all, try_join_all};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use tokio::time::timeout;
use zk_checker::history::{Header, History, Mode, Names, ObjectId, OpId, What, Who};
use zk_checker::{Report, RuleId, RuleSet};
use zk_recipes::Lock;
use zk_recipes::client::{Client, Options};
use zk_recipes::zk::{CreateMode, Error, SessionId, ZooKeeper, path};

/// How long the clients may take to finish, and their duties to be discharged, each.
const FINISH_LIMIT: Duration = Duration::from_secs(60);

/// How long a server may take to accept a session.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// How long a session of ours may take to close.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// How often whoever watches is told.
const TELL: Duration = Duration::from_millis(100);

/// How many round trips are measured.
const MEASURED: u32 = 20;

/// What takes how long: a server near by answers in about a millisecond, and works in the meantime.
pub const PACE: Pace = Pace {
    think: Duration::from_millis(1),
    work: Duration::from_millis(1),
    write: Duration::from_millis(1),
    limit: Duration::from_millis(20),
};

/// What to run.
#[derive(Clone, Debug)]
pub struct Order {
    /// The workload.
    pub target: Target,
    /// How many clients.
    pub clients: u8,
    /// What they draw from.
    pub seed: u64,
    /// How long to go on.
    pub length: Duration,
    /// The server's connect string, maybe with a path at its end.
    pub address: String,
    /// Whether others may use that server: then everything happens in a directory of its own, which goes in the end.
    pub shared: bool,
    /// The server's tick.
    pub tick: Duration,
    /// The session timeout to ask for.
    pub timeout: Duration,
    /// What produced the run, for its history.
    pub source: String,
    /// Set from outside when the time is over before it is.
    pub stop: Arc<AtomicBool>,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// What was judged.
    pub report: Report,
    /// What happened.
    pub history: History,
    /// How often a client went through the recipe.
    pub rounds: u64,
    /// How long the clients worked.
    pub worked: Duration,
    /// What did not come to its end, if anything: then the run proves nothing.
    pub unfinished: Option<&'static str>,
}

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Not every broken recipe breaks without the simulation's faults.
    #[error("{0} breaks under faults that only a simulation makes; `cargo sim run {0}` shows it")]
    NotReal(&'static str),
    /// Nobody is there, or it is no ZooKeeper server.
    #[error("no ZooKeeper server answers at {0}")]
    Unreachable(String),
    /// There is one, and it refuses.
    #[error("the server at {0} refuses: {1}")]
    Refused(String, Error),
    /// The workload panicked.
    #[error("client {0} panicked; what it said stands above")]
    Panicked(usize),
    /// The operating system refused something.
    #[error("cannot start a runtime: {0}")]
    Runtime(std::io::Error),
}

/// Runs. `tell` hears every now and then how many rounds have been made.
///
/// # Errors
///
/// One sentence each.
pub fn run(order: &Order, tell: &dyn Fn(u64)) -> Result<Outcome, RunError> {
    let runtime = tokio::runtime::Runtime::new().map_err(RunError::Runtime)?;
    match order.target {
        Target::Lock => runtime.block_on(drive::<Lock<Recorded<Client>>>(order, tell)),
        Target::LockWatchAll => runtime.block_on(drive::<WatchAll<Recorded<Client>>>(order, tell)),
        other => Err(RunError::NotReal(other.card().name)),
    }
}

async fn drive<L: Exclusive<Recorded<Client>>>(
    order: &Order,
    tell: &dyn Fn(u64),
) -> Result<Outcome, RunError> {
    let own = Own::prepare(order).await.map_err(|error| match error {
        Error::Unreachable => RunError::Unreachable(order.address.clone()),
        error => RunError::Refused(order.address.clone(), error),
    })?;
    let worked = work::<L>(order, &own, tell).await;
    own.tidy().await;
    worked
}

/// Steps 2 to 6.
async fn work<L: Exclusive<Recorded<Client>>>(
    order: &Order,
    own: &Own,
    tell: &dyn Fn(u64),
) -> Result<Outcome, RunError> {
    let tape = Tape::new(own.journal(order));
    let healed = Arc::new(AtomicBool::new(false));
    let ensemble = Ensemble { address: own.address.clone(), timeout: order.timeout, healed: healed.clone() };
    let clients: Vec<RealClient> =
        (0..order.clients).map(|n| RealClient::new(ensemble.clone(), &tape, n, order.seed)).collect();
    let rounds = Arc::new(AtomicU64::new(0));
    let parts = clients.iter().map(|client| {
        let (client, over, rounds) = (client.clone(), healed.clone(), rounds.clone());
        tokio::spawn(async move {
            for round in 0.. {
                let done = |_| _ = rounds.fetch_add(1, SeqCst);
                lock::client::<_, L>(client.clone(), round..round + 1, PACE, done).await;
                if over.load(SeqCst) {
                    return;
                }
            }
        })
    });
    let parts: Vec<_> = parts.collect();
    let begun = own.zk.now();
    let is_over = || own.zk.now().since(begun) >= order.length || order.stop.load(SeqCst);
    while !is_over() && !parts.iter().any(|part| part.is_finished()) {
        sleep(TELL.min(order.length)).await;
        tell(rounds.load(SeqCst));
    }
    tape.write(|journal, at| journal.note(at, Who::World, OpId(0), What::Heal));
    healed.store(true, SeqCst);
    let stoppers: Vec<_> = parts.iter().map(|part| part.abort_handle()).collect();
    let finished = timeout(FINISH_LIMIT, join_all(parts)).await;
    let worked = own.zk.now().since(begun);
    stoppers.iter().for_each(|part| part.abort());
    let panicked = finished.iter().flatten().position(|part| part.is_err());
    let mut unfinished = finished.is_err().then_some("the clients did not finish their rounds");
    if unfinished.is_none() {
        let discharged = join_all(clients.iter().map(RealClient::discharged));
        if timeout(FINISH_LIMIT, discharged).await.is_err() {
            unfinished = Some("the clients' duties were not discharged");
        } else if look(own, &tape, &clients).await.is_err() {
            unfinished = Some("what is left could not be looked at");
        }
    }
    if unfinished.is_some() {
        tape.write(|journal, at| journal.note(at, Who::World, OpId(0), What::Stopped));
    }
    let (history, _) = tape.change(own.journal(order)).finish();
    join_all(clients.iter().map(RealClient::close)).await;
    if let Some(client) = panicked {
        return Err(RunError::Panicked(client));
    }
    let rules = RuleSet::all().requiring(RuleId::Mx1).requiring(RuleId::Mx13);
    let report = zk_checker::judge(&history, &rules);
    Ok(Outcome { report, history, rounds: rounds.load(SeqCst), worked, unfinished })
}

/// Step 5: whatever stands in line now has been left behind.
async fn look(own: &Own, tape: &Tape, clients: &[RealClient]) -> Result<(), Error> {
    let zk = Client::open(&own.address, own.options.clone()).await?;
    zk.sync(DIRECTORY).await?;
    let names = match zk.children(DIRECTORY).await {
        Ok(list) => list.names,
        Err(Error::NoNode) => Vec::new(),
        Err(error) => return Err(error),
    };
    let left = names.iter().map(|name| path::join(DIRECTORY, name)).map(|path| {
        let stat = zk.exists(&path);
        async move { Ok::<_, Error>(stat.await?.map(|stat| (path, stat.ephemeral_owner))) }
    });
    let left = try_join_all(left).await?;
    tape.write(|journal, at| {
        for (path, owner) in left.into_iter().flatten() {
            let known = clients.iter().any(|client| client.session() == Some(owner));
            let owner = journal.session(if known { owner } else { SessionId(0) });
            let what = What::Left { object: ObjectId(0), path: journal.sym(&path), owner };
            journal.note(at, Who::World, OpId(0), what);
        }
        journal.quiesce(at);
    });
    zk.close(CLOSE_LIMIT).await
}

/// What is ours on the server.
struct Own {
    zk: Client,
    /// Made for this run, below which everything happens, unless the server is all ours.
    folder: Option<String>,
    /// The connect string that leads there.
    address: String,
    options: Options,
    round_trip: Duration,
}

impl Own {
    /// Step 1.
    async fn prepare(order: &Order) -> Result<Own, Error> {
        let probe = Options { session_timeout: CONNECT_LIMIT };
        let zk = Client::open(&order.address, probe).await?;
        let mut own = Own {
            zk,
            folder: None,
            address: order.address.clone(),
            options: Options { session_timeout: order.timeout },
            round_trip: Duration::ZERO,
        };
        if order.shared {
            // Containers, so that the server removes them if we cannot.
            let folder = format!("/zksim-{}", own.zk.guid());
            own.zk.create(&folder, b"", CreateMode::Container).await?;
            own.address.push_str(&folder);
            own.folder = Some(folder);
        }
        for level in own.levels() {
            own.zk.create(&level, b"", CreateMode::Container).await?;
        }
        for _ in 0..MEASURED {
            let sent = own.zk.now();
            own.zk.exists("/").await?;
            own.round_trip = own.round_trip.max(own.zk.now().since(sent));
        }
        Ok(own)
    }

    /// The levels of the lock's directory, from the top.
    fn levels(&self) -> Vec<String> {
        let ends = DIRECTORY.match_indices('/').map(|(at, _)| at).skip(1).chain([DIRECTORY.len()]);
        let folder = self.folder.as_deref().unwrap_or_default();
        ends.map(|end| format!("{folder}{}", &DIRECTORY[..end])).collect()
    }

    fn journal(&self, order: &Order) -> Journal {
        let micros = |time: Duration| time.as_micros() as u64;
        let header = Header {
            format: 1,
            mode: Mode::Client,
            clients: Vec::new(),
            tick: micros(order.tick),
            timeout: micros(order.timeout),
            election: 0,
            round_trip: micros(self.round_trip),
            settle: 250_000,
            sync_limit: zk_checker::history::SYNC_LIMIT,
            source: order.source.clone(),
        };
        let mut names = Names::default();
        let object = lock_object(&mut names, order.timeout);
        Journal::new(header, names, vec![object])
    }

    /// Takes everything away and closes. What cannot be taken away the server removes by itself in a while.
    async fn tidy(&self) {
        if let Some(folder) = &self.folder {
            for level in self.levels().iter().rev().chain([folder]) {
                let _ = timeout(CLOSE_LIMIT, self.zk.delete(level, None)).await;
            }
        }
        let _ = self.zk.close(CLOSE_LIMIT).await;
    }
}
