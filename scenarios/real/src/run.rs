//! One run of a workload on real servers: seeded clients in this process, a leak check, the verdict.
//!
//! 1. Prepare: create a directory for the run, and measure the round trip.
//! 2. Work: every client, on a thread of its own, makes round after round, and sometimes drops an operation, until the
//!    time is over. Meanwhile the nemesis injects faults, if wanted.
//! 3. Heal: all servers serve, no further operation is dropped; all clients finish the round.
//! 4. Wait until all duties are discharged.
//! 5. Leak check: list the remaining znodes in a new session while the sessions of the clients are open.
//! 6. Close the sessions, clean up, judge.

use crate::bell::Bell;
use crate::client::{Common, RealClient};
use crate::durable::Witness;
use crate::faults::{Injection, Scope};
use crate::leak_check::{Left, left};
use crate::nemesis::{Harm, Nemesis, Owned};
use crate::process::Process;
use crate::recorder::Recorder;
use crate::stalls::Observer;
use crate::time::sleep;
use crate::tree::tree;
use crate::workload::RealWorkload;
use futures_util::future::join_all;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;
use zk_checker::history::{Header, History, Mode, Names, Object, ObjectId, OpId, What, Who};
use zk_checker::{Report, RuleSet};
use zk_client::{Client, Options};
use zk_harness::journal::Journal;
use zk_harness::pace::Pace;
use zk_harness::workload::{Begins, Rounds, Setting, Task, TaskFn};
use zk_recipes::zk::{CreateMode, Error, Runtime, SessionId, ZooKeeper};

/// The time limit for clients to finish beyond what their workload states, and for their duties to be discharged. If
/// clients wait for each other, a client that has lost its session may wait in vain for several others.
const FINISH_LIMIT: Duration = Duration::from_secs(60);

/// The time limit for a server to accept a session.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// The time limit for our own session to close.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// The time limit of the clean-up, and the pause before a retry: servers may have to elect a leader first.
const TIDY_LIMIT: Duration = Duration::from_secs(10);
const TIDY_AGAIN: Duration = Duration::from_millis(100);

/// The interval of progress reports.
const TELL: Duration = Duration::from_millis(100);

/// The most rounds of a recipe that needs new objects in each: all are declared in advance.
const MOST_ROUNDS: u32 = 500;

/// The number of measured round trips.
const MEASURED: u32 = 20;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The workload.
    pub workload: &'static RealWorkload,
    /// The number of clients.
    pub clients: u8,
    /// The seed of their draws.
    pub seed: u64,
    /// The length of the run.
    pub length: Duration,
    /// The servers' connect string, possibly with a path at its end.
    pub address: String,
    /// The number of servers, if they are our own.
    pub servers: Option<u8>,
    /// Our own servers.
    pub owned: Option<Owned>,
    /// The faults to inject.
    pub harm: Option<Harm>,
    /// The server's tick.
    pub tick: Duration,
    /// The session timeout to ask for.
    pub timeout: Duration,
    /// The source of the run, for its history.
    pub source: String,
    /// Set from outside to end the run early.
    pub stop: Arc<AtomicBool>,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The verdicts of the rules.
    pub report: Report,
    /// The history.
    pub history: History,
    /// The number of completed rounds.
    pub rounds: u64,
    /// How long the clients worked.
    pub worked: Duration,
    /// The unfinished part of the run, if any: then the run is no evidence.
    pub unfinished: Option<String>,
    /// Acknowledged writes that the servers lost, if any: then the recipe is not to blame, and the run is no evidence.
    pub lost_by_servers: Option<String>,
    /// The remains when the clients were done, while their sessions were open.
    pub left: Left,
}

impl Outcome {
    /// The leak of a run that finished well: clients left something on the servers that would grow for ever. Rules
    /// judge znodes.
    pub fn leak(&self) -> Option<String> {
        let well = self.unfinished.is_none() && self.lost_by_servers.is_none();
        let watches = self.left.watches.filter(|&watches| well && watches > 0)?;
        Some(format!("{watches} watches of finished clients remain on the servers"))
    }
}

/// Why the run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No server listens there, or it is not a ZooKeeper server.
    #[error("no ZooKeeper server answers at {0}")]
    Unreachable(String),
    /// The server refuses.
    #[error("the server at {0} refuses: {1}")]
    Refused(String, Error),
    /// The workload panicked.
    #[error("client {0} panicked; its message is above")]
    Panicked(usize),
    /// The operating system refused something.
    #[error("cannot start a thread: {0}")]
    Runtime(#[from] std::io::Error),
}

/// Runs. `tell` is called regularly with the number of completed rounds.
///
/// # Errors
///
/// One sentence each.
pub fn run(order: &RunRequest, tell: &dyn Fn(u64)) -> Result<Outcome, RunError> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(drive(order, order.workload.part, tell))
}

async fn drive(
    order: &RunRequest,
    part: TaskFn<RealClient>,
    tell: &dyn Fn(u64),
) -> Result<Outcome, RunError> {
    let mut own = Own::prepare(order).await.map_err(|error| match error {
        error if error.is_unreachable() => RunError::Unreachable(order.address.clone()),
        error => RunError::Refused(order.address.clone(), error),
    })?;
    let worked = work(order, part, &own, tell).await;
    own.tidy(order).await;
    worked
}

/// The progress of the clients. All make the same rounds, since some recipes need all clients in each.
#[derive(Default)]
struct Progress {
    far: Mutex<Far>,
}

#[derive(Default)]
struct Far {
    begun: u32,
    last: Option<u32>,
}

impl Progress {
    /// Whether a client still has to make that round.
    fn begin(&self, round: u32) -> bool {
        let mut far = self.far.lock().unwrap_or_else(PoisonError::into_inner);
        far.begun = far.begun.max(round);
        far.last.is_none_or(|last| round <= last)
    }

    /// Ends the run: every round that one client has begun, the others make, too.
    fn end(&self) {
        let mut far = self.far.lock().unwrap_or_else(PoisonError::into_inner);
        far.last = Some(far.begun);
    }
}

/// Steps 2 to 6.
async fn work(
    order: &RunRequest,
    part: TaskFn<RealClient>,
    own: &Own,
    tell: &dyn Fn(u64),
) -> Result<Outcome, RunError> {
    let tape = Recorder::new(own.journal(order));
    let over = Arc::<Bell>::default();
    let processes: Arc<[Process]> =
        (0..order.clients).map(|n| Process::start(&format!("client-{n}"))).collect::<Result<_, _>>()?;
    let clients = own.clients(order, &tape, &over);
    let rounds = Arc::new(AtomicU64::new(0));
    let far = Arc::new(Progress::default());
    let (setting, workload) = (order.setting(), order.workload.name());
    let parts = clients.iter().zip(&*processes).map(|(client, process)| {
        let (client, far, made) = (client.clone(), far.clone(), rounds.clone());
        let begins: Begins = Arc::new(move |round| far.begin(round));
        process.spawn(async move {
            let mut next = 0;
            while next < setting.rounds && begins(next) {
                // One session claims a name through one object, and objects last for a stretch. The last session stays
                // open, so that its leaks show.
                client.close().await;
                let end = setting.rounds.min(next.saturating_add(client.stretch()));
                let (rounds, made) = (Rounds::while_begun(next..end, begins.clone()), made.clone());
                let done = Box::new(move |_| _ = made.fetch_add(1, SeqCst));
                part(Task { client: client.clone(), workload, setting, rounds, done }).await;
                next = end;
            }
        })
    });
    let parts: Vec<_> = parts.collect();
    // The faults of foreign servers are unknown, so only this process is observed.
    let servers = order.owned.as_ref().map_or("", |_| &order.address);
    let observer = Observer::begin(&tape, servers, order.timeout)?;
    let decided = (order.seed, &order.scope());
    let hurting = Nemesis::begin(order.harm.as_ref(), order.owned.as_ref(), decided, &processes, &tape);
    let witness = own.witness(order).await;
    let begun = own.zk.now();
    let is_over = || own.zk.now().since(begun) >= order.length || order.stop.load(SeqCst);
    while !is_over() && !parts.iter().any(|part| part.is_finished()) {
        sleep(TELL.min(order.length)).await;
        tell(rounds.load(SeqCst));
    }
    let mut unfinished = hurting.end().await.err();
    tape.write(|journal, at| journal.note(at, Who::World, OpId(0), What::Heal));
    over.ring();
    far.end();
    let stoppers: Vec<_> = parts.iter().map(|part| part.abort_handle()).collect();
    let limit = order.workload.workload.stated.finishes_within + FINISH_LIMIT;
    let finished = timeout(limit, join_all(parts)).await;
    let worked = own.zk.now().since(begun);
    stoppers.iter().for_each(|part| part.abort());
    let panicked = finished.iter().flatten().position(|part| part.is_err());
    if finished.is_err() {
        unfinished.get_or_insert("the clients did not finish their rounds".to_owned());
    }
    if unfinished.is_none() {
        let discharged = join_all(clients.iter().map(RealClient::discharged));
        if timeout(FINISH_LIMIT, discharged).await.is_err() {
            unfinished = Some("the clients' clean-up duties did not finish".to_owned());
        } else if look(order, own, &tape, &clients).await.is_err() {
            unfinished = Some("the leftovers could not be counted".to_owned());
        }
    }
    if unfinished.is_some() {
        tape.write(|journal, at| journal.note(at, Who::World, OpId(0), What::Stopped));
    }
    let lost_by_servers = match witness {
        Some(witness) => witness.end().await.err(),
        None => None,
    };
    drop(observer);
    let left = left(order.owned.as_ref(), &processes).await;
    let (history, _) = tape.change(own.journal(order)).finish();
    join_all(clients.iter().map(RealClient::close)).await;
    if let Some(client) = panicked {
        return Err(RunError::Panicked(client));
    }
    let required = order.workload.required.iter();
    let rules = required.fold(RuleSet::all(), |rules, rule| rules.requiring(*rule));
    let report = zk_checker::judge(&history, &rules);
    Ok(Outcome { report, history, rounds: rounds.load(SeqCst), worked, unfinished, lost_by_servers, left })
}

/// Step 5: every znode below an object now was left behind.
async fn look(order: &RunRequest, own: &Own, tape: &Recorder, clients: &[RealClient]) -> Result<(), Error> {
    let zk = Client::open(&own.address, own.options.clone()).await?;
    let (names, objects) = order.objects();
    let mut left = Vec::new();
    for (number, object) in (0..).zip(&objects) {
        let directory = names.text(object.path);
        zk.sync(directory).await?;
        left.extend(
            tree(&zk, directory).await?.into_iter().map(|(path, stat)| (ObjectId(number), path, stat)),
        );
    }
    tape.write(|journal, at| {
        for (object, path, stat) in left {
            let owner = stat.ephemeral_owner;
            let known = clients.iter().any(|client| client.session() == Some(owner));
            let owner = journal.session(if known { owner } else { SessionId(0) });
            let what = What::Left { object, path: journal.sym(&path), owner };
            journal.note(at, Who::World, OpId(0), what);
        }
        journal.quiesce(at);
    });
    zk.close(CLOSE_LIMIT).await
}

impl RunRequest {
    /// The scope of fault injection.
    fn scope(&self) -> Scope {
        Scope {
            kinds: self.harm.as_ref().map(|harm| harm.kinds.clone()).unwrap_or_default(),
            servers: self.servers.unwrap_or_default(),
            clients: self.clients,
            timeout: self.timeout,
        }
    }

    fn setting(&self) -> Setting {
        let setting =
            |rounds| Setting { clients: self.clients, rounds, timeout: self.timeout, pace: Pace::REAL };
        let declared =
            |rounds| (self.workload.workload.objects)(&mut Names::default(), &setting(rounds)).len();
        setting(if declared(1) == declared(2) { u32::MAX } else { MOST_ROUNDS })
    }

    fn objects(&self) -> (Names, Vec<Object>) {
        let mut names = Names::default();
        let objects = (self.workload.workload.objects)(&mut names, &self.setting());
        (names, objects)
    }
}

/// The directory of the run on the servers.
struct Own {
    zk: Client,
    /// Created for this run; everything happens below it, so that leftovers affect no other run.
    folder: String,
    /// The connect string with that folder.
    address: String,
    options: Options,
    round_trip: Duration,
}

impl Own {
    /// Step 1.
    async fn prepare(order: &RunRequest) -> Result<Own, Error> {
        let probe = Options::new(CONNECT_LIMIT);
        let zk = Client::open(&order.address, probe).await?;
        let folder = format!("/zksim-{}", zk.guid());
        let mut own = Own {
            zk,
            address: order.address.clone() + &folder,
            folder,
            options: Options::new(order.timeout),
            round_trip: Duration::ZERO,
        };
        // Containers, so that the server removes them if the clean-up fails.
        own.zk.create(&own.folder, b"", CreateMode::Container).await?;
        for level in own.levels(order) {
            match own.zk.create(&level, b"", CreateMode::Container).await {
                Ok(_) => {}
                Err(e) if e.is_node_exists() => {}
                Err(error) => return Err(error),
            }
        }
        for _ in 0..MEASURED {
            let sent = own.zk.now();
            own.zk.exists("/").await?;
            own.round_trip = own.round_trip.max(own.zk.now().since(sent));
        }
        Ok(own)
    }

    /// Starts the durability check if servers are under faults.
    async fn witness(&self, order: &RunRequest) -> Option<Witness> {
        let harm = order.harm.as_ref()?;
        if !harm.kinds.iter().copied().any(Injection::strikes_servers) {
            return None;
        }
        let path = format!("{}/acknowledged", self.folder);
        // Without the check, writes lost by the servers go unreported; errors of the clients are reported anyway.
        Witness::begin(&order.address, &self.options, &path).await.ok()
    }

    /// The clients of a run, each with its links to the folder.
    fn clients(&self, order: &RunRequest, tape: &Arc<Recorder>, over: &Arc<Bell>) -> Vec<RealClient> {
        let common = Common { timeout: order.timeout, over: over.clone() };
        let ways = order.harm.as_ref().and_then(|harm| harm.ways.as_ref());
        let address = |client: u8| match ways {
            Some(ways) => ways.address(client.into()).to_owned() + &self.folder,
            None => self.address.clone(),
        };
        let client = |n: u8| RealClient::new(common.clone(), address(n), tape, n.into(), order.seed);
        (0..order.clients).map(client).collect()
    }

    /// All ancestors of the objects, from the top. The recipe decides about the object's own znode.
    fn levels(&self, order: &RunRequest) -> Vec<String> {
        let folder = &self.folder;
        let (names, objects) = order.objects();
        let mut levels = Vec::new();
        for object in &objects {
            let path = names.text(object.path);
            let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
            levels.extend(ends.map(|end| format!("{folder}{}", &path[..end])));
        }
        levels
    }

    fn journal(&self, order: &RunRequest) -> Journal {
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
            // The faults of foreign servers are unknown.
            faults_recorded: order.owned.is_some(),
            pings_recorded: false,
            foreign_clients: false,
            first_number: 0,
            source: order.source.clone(),
        };
        let (names, objects) = order.objects();
        Journal::new(header, names, objects)
    }

    /// Deletes everything and closes. Servers delete the rest by themselves after a while.
    async fn tidy(&mut self, order: &RunRequest) {
        let _ = timeout(TIDY_LIMIT, async {
            while !self.take_away(order).await {
                sleep(TIDY_AGAIN).await;
            }
        })
        .await;
        let _ = self.zk.close(CLOSE_LIMIT).await;
    }

    /// Whether everything is deleted. False if the connection was lost, or a client's late write came in between.
    async fn take_away(&mut self, order: &RunRequest) -> bool {
        if self.zk.status().over().is_some()
            && let Ok(zk) = Client::open(&order.address, Options::new(CONNECT_LIMIT)).await
        {
            self.zk = zk;
        }
        let Ok(below) = tree(&self.zk, &self.folder).await else { return false };
        let deepest_first = below.iter().rev().map(|(path, _)| path);
        let deletes = deepest_first.chain([&self.folder]).map(|path| self.zk.delete(path, None));
        join_all(deletes).await.last().is_some_and(|last| last.as_ref().err().is_none_or(Error::is_no_node))
    }
}
