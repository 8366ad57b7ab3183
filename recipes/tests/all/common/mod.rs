//! Where the tests play: a few clients on a small simulated network, and somebody who counts.

pub mod bent;
pub mod every_await;
pub mod left_alone;

use sim_zk::choose::{Calm, Chooser, Point};
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, Observer, SimEvent};
use sim_zk::paths::Paths;
use sim_zk::{Config, End, Process, Sim, SimClient};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use zk_recipes::guard::Exclusive;
use zk_recipes::zk::{Code, CreateMode, Error, ErrorKind, SessionId, Stat, Time, ZooKeeper};
use zk_recipes::{Lock, LockOptions};

/// Every session's timeout.
pub const TIMEOUT: Duration = Duration::from_secs(6);
/// The margin that follows from it, unless a test says otherwise.
pub const MARGIN: Duration = Duration::from_millis(600);
/// How long a client of the simulation waits before it connects again, and a little more.
pub const RECONNECT: Duration = Duration::from_millis(1550);
/// The lock's directory.
pub const DIRECTORY: &str = "/locks/a";

const LIMIT: Duration = Duration::from_secs(600);

pub type Guard = zk_recipes::Guard<SimClient, Exclusive>;

/// Remembers everything.
#[derive(Default)]
pub struct Seen {
    pub log: Vec<(u64, SimEvent<'static>)>,
}

impl Observer for Seen {
    fn on_event(&mut self, at: u64, happening: &SimEvent<'_>, _: &Paths) {
        self.log.push((at, happening.without_content()));
    }
}

/// Plays a script on a calm network.
pub fn play<T, F>(script: impl FnOnce(Stage) -> F) -> T
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    play_with(Config::default(), Calm, script).0
}

/// Plays a script under a chooser; gives that back too.
pub fn play_with<T, C, F>(config: Config, chooser: C, script: impl FnOnce(Stage) -> F) -> (T, C)
where
    T: Send + 'static,
    C: Chooser + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let run = Sim::run(config, LIMIT, chooser, Seen::default(), |sim| script(Stage { sim }));
    assert_eq!(run.end, End::Done, "the script comes to its end");
    (run.output.expect("a run that is done has an output"), run.chooser)
}

/// Plays a script in which one fault strikes: at the `nth` place where it fits, counted from 0, after the script has
/// called [`Danger::begins`]. Says whether it struck.
pub fn play_struck<T, F>(fault: Fault, nth: usize, script: impl FnOnce(Stage, Danger) -> F) -> (T, bool)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    play_storm(fault, nth, 1, script)
}

/// The same, in which the fault strikes at so many places in a row. Says whether it struck at all.
pub fn play_storm<T, F>(
    fault: Fault,
    nth: usize,
    times: u32,
    script: impl FnOnce(Stage, Danger) -> F,
) -> (T, bool)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let then = std::iter::repeat_n((fault, 0), times as usize - 1);
    play_faults(std::iter::once((fault, nth)).chain(then), script)
}

/// The same, in which faults strike one after the other, each after so many places where it fits. Says whether the first of
/// them struck.
pub fn play_faults<T, F>(
    faults: impl IntoIterator<Item = (Fault, usize)>,
    script: impl FnOnce(Stage, Danger) -> F,
) -> (T, bool)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let danger = Danger::default();
    let faults: VecDeque<_> = faults.into_iter().collect();
    let count = faults.len();
    let config = Config { faults: count as u32, hostile_until: 500_000_000, ..Config::default() };
    let strike = Strike { faults, danger: danger.clone() };
    let (output, strike) = play_with(config, strike, |stage| script(stage, danger));
    (output, strike.faults.len() < count)
}

/// Plays a script in which every request of one kind is refused, from the script's call of [`Danger::begins`] on or, if a message is to
/// be lost, from that loss on: the `nth` one at which that fault fits.
pub fn play_refusing<T, F>(
    lost: Option<(Fault, usize)>,
    refusal: Refusal,
    script: impl FnOnce(Stage, Danger) -> F,
) -> (T, Refused)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let danger = Danger::default();
    let config = Config { faults: u32::MAX, hostile_until: 500_000_000, ..Config::default() };
    let refused = Refused { is_lost: false, requests: 0, operations: 1 };
    let refuses = Refuses { lost, refusal, next: Kind::Ping, refused, danger: danger.clone() };
    let (output, refuses) = play_with(config, refuses, |stage| script(stage, danger));
    (output, Refused { is_lost: refuses.lost.is_none(), ..refuses.refused })
}

/// What is refused, and how.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    pub fault: Fault,
    pub kind: Kind,
    /// The operation of a transaction that is refused: of those that can be, or the last of them.
    pub at: u32,
}

/// What was refused.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// Whether a message was lost before, if one was to be.
    pub is_lost: bool,
    /// The number of requests.
    pub requests: usize,
    /// The number of operations of which one was refused, at most.
    pub operations: u32,
}

/// Calm, but for a message that is lost, and then all requests of a kind that are refused.
struct Refuses {
    /// The message that is still to be lost.
    lost: Option<(Fault, usize)>,
    refusal: Refusal,
    /// The kind of the request that leaves.
    next: Kind,
    refused: Refused,
    danger: Danger,
}

impl Chooser for Refuses {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        if point == Point::Operation {
            self.refused.operations = self.refused.operations.max(n);
            return self.refusal.at.min(n - 1);
        }
        let Point::Fault(place) = point else { return 0 };
        if !self.danger.0.load(Ordering::Relaxed) {
            return 0;
        }
        let index = |fault| place.faults().iter().position(|fits| *fits == fault).map(|at| at as u32 + 1);
        if let Some((fault, left)) = &mut self.lost {
            let Some(index) = index(*fault) else { return 0 };
            if *left > 0 {
                *left -= 1;
                return 0;
            }
            self.lost = None;
            return index;
        }
        match index(self.refusal.fault).filter(|_| self.next == self.refusal.kind) {
            Some(index) => {
                self.refused.requests += 1;
                index
            }
            None => 0,
        }
    }

    fn asks(&mut self, kind: Kind) {
        self.next = kind;
    }
}

/// From when on a fault may strike.
#[derive(Clone, Default)]
pub struct Danger(Arc<AtomicBool>);

impl Danger {
    pub fn begins(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn ends(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Calm, but for faults that strike in their order.
struct Strike {
    /// What strikes next, and after how many places where it fits.
    faults: VecDeque<(Fault, usize)>,
    danger: Danger,
}

impl Chooser for Strike {
    fn choose(&mut self, point: Point, _: u32) -> u32 {
        let (Point::Fault(place), Some((fault, left))) = (point, self.faults.front_mut()) else { return 0 };
        let Some(index) = place.faults().iter().position(|fits| fits == fault) else { return 0 };
        if !self.danger.0.load(Ordering::Relaxed) {
            return 0;
        }
        if *left > 0 {
            *left -= 1;
            return 0;
        }
        self.faults.pop_front();
        index as u32 + 1
    }
}

/// Where a script is played.
#[derive(Clone)]
pub struct Stage {
    pub sim: Sim,
}

impl Stage {
    /// A process with a session.
    pub async fn client(&self, name: &str) -> Client {
        let process = self.sim.process(name);
        let zk = process.open(TIMEOUT).await;
        Client { process, zk }
    }

    /// A client that has made the lock's directory, to stay.
    pub async fn founder(&self) -> Client {
        let founder = self.client("founder").await;
        founder.makes("/locks").await;
        founder.makes(DIRECTORY).await;
        founder
    }

    /// Lets four clients live at once until each has ended or crashed, and everything has come to rest. A session that ends is
    /// followed by another, twice.
    pub async fn lets_four_live<F>(&self, live: impl Fn(Client) -> F + Clone + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let lives = ["a", "b", "c", "d"].map(|name| {
            let process = self.sim.process(name);
            let (live, one) = (live.clone(), process.clone());
            let life = process.spawn(async move {
                for _ in 0..3 {
                    let zk = one.open(TIMEOUT).await;
                    live(Client { process: one.clone(), zk: zk.clone() }).await;
                    if zk.status().over().is_none() {
                        return;
                    }
                }
            });
            (process, life)
        });
        for (process, life) in lives {
            futures_util::future::select(pin!(life), pin!(process.crashed())).await;
        }
        self.settle().await;
    }

    /// Lets everything that is under way come to rest. That ends all faults for good: a scene that waits for them lets time
    /// [pass](Self::pass) instead.
    pub async fn settle(&self) {
        self.sim.heal();
        loop {
            self.sim.quiet().await;
            // Whoever was woken last may have more to ask.
            self.sim.stalled().await;
            if self.sim.is_quiet() {
                return;
            }
        }
    }

    /// Lets time pass.
    pub async fn pass(&self, on: &Client, by: Duration) {
        self.sim.sleep(&on.process, by).await;
    }

    /// Lets time pass until an instant.
    pub async fn pass_until(&self, on: &Client, until: Time) {
        self.pass(on, until.since(self.sim.now())).await;
    }

    /// A place in the record.
    pub fn mark(&self) -> usize {
        self.sim.observer::<Seen, _>(|seen, _| seen.log.len())
    }

    /// What happened since.
    pub fn since(&self, mark: usize) -> Vec<(u64, SimEvent<'static>)> {
        self.sim.observer::<Seen, _>(|seen, _| seen.log[mark..].to_vec())
    }

    /// How many happenings since are like that.
    pub fn count(&self, mark: usize, like: impl Fn(&SimEvent<'_>) -> bool) -> usize {
        self.since(mark).iter().filter(|(_, happening)| like(happening)).count()
    }

    /// How many notifications servers have sent since.
    pub fn fired(&self, mark: usize) -> usize {
        self.count(mark, |happening| matches!(happening, SimEvent::Fired { .. }))
    }

    /// How many znodes sessions of their own have been given in the lock's directory since.
    pub fn joined(&self, mark: usize) -> usize {
        self.count(mark, |happening| matches!(happening, SimEvent::Created { owner, .. } if owner.0 != 0))
    }

    /// The names in a directory, in order.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let prefix = format!("{directory}/");
        self.sim.look(|world| {
            let mut names: Vec<String> = world
                .znodes()
                .filter_map(|(path, _)| path.strip_prefix(&prefix))
                .map(str::to_owned)
                .collect();
            names.sort();
            names
        })
    }
}

/// A client: a process with one session.
#[derive(Clone)]
pub struct Client {
    pub process: Process,
    pub zk: SimClient,
}

impl Client {
    pub async fn makes(&self, path: &str) -> Stat {
        self.zk.create(path, &[], CreateMode::Persistent).await.expect("it can be made").stat
    }

    pub async fn makes_ephemeral(&self, path: &str) -> Stat {
        self.zk.create(path, &[], CreateMode::Ephemeral).await.expect("it can be made").stat
    }

    pub fn lock(&self) -> Lock<SimClient> {
        self.lock_with(LockOptions::default())
    }

    pub fn lock_with(&self, options: LockOptions) -> Lock<SimClient> {
        Lock::new(&self.zk, DIRECTORY, options).expect("the path is good")
    }

    pub async fn acquires(&self) -> Guard {
        self.acquires_with(LockOptions::default()).await
    }

    pub async fn acquires_with(&self, options: LockOptions) -> Guard {
        self.lock_with(options).acquire().await.expect("the lock is granted")
    }

    /// Begins to wait, in its own process.
    pub fn asks(&self) -> Asking {
        let lock = self.lock();
        let asking = self.process.spawn(async move { lock.acquire().await });
        Box::pin(async move { asking.await.expect("its process lives") })
    }

    /// The connection breaks, for a request that means nothing.
    pub async fn is_disconnected(&self) {
        let (before, lost) = (self.zk.status(), self.zk.exists("/"));
        assert!(before.is_connected(), "there is a connection to break");
        drop(lost);
        self.process.order(Fault::Disconnect);
        let lost = self.zk.exists("/").await;
        assert_eq!(lost, Err(ErrorKind::ConnectionLoss.into()), "the connection broke");
        self.zk.changed(before).await;
    }

    pub async fn is_connected_again(&self) {
        let mut status = self.zk.status();
        while !status.is_connected() {
            status = self.zk.changed(status).await;
        }
    }

    /// The requests it has sent since a mark.
    pub fn sent(&self, stage: &Stage, mark: usize) -> Vec<Kind> {
        let mine = |(_, happening): &(u64, SimEvent<'_>)| match happening {
            SimEvent::Sent { process, kind, .. } if *process == self.process.id() => Some(*kind),
            _ => None,
        };
        stage.since(mark).iter().filter_map(mine).collect()
    }

    /// The notifications it has got since a mark.
    pub fn noticed(&self, stage: &Stage, mark: usize) -> usize {
        let me = self.process.id();
        stage
            .count(mark, |happening| matches!(happening, SimEvent::Noticed { process, .. } if *process == me))
    }

    /// The ephemerals of its session.
    pub fn znodes(&self, stage: &Stage) -> Vec<String> {
        let me = self.zk.session();
        let mine = |(path, owner): (&str, SessionId)| (owner == me).then(|| path.to_owned());
        stage.sim.look(|world| world.znodes().filter_map(mine).collect())
    }

    /// What its session watches.
    pub fn watches(&self, stage: &Stage) -> Vec<String> {
        let me = self.zk.session();
        let mine = |(path, of): (&str, SessionId)| (of == me).then(|| path.to_owned());
        stage.sim.look(|world| world.watches().filter_map(mine).collect())
    }

    /// Nothing of this session's is left, although it lives.
    pub fn has_left_nothing(&self, stage: &Stage, when: &str) {
        let me = self.zk.session();
        assert!(stage.sim.look(|world| world.lives(me)), "the session lives, {when}");
        assert_eq!(self.znodes(stage), Vec::<String>::new(), "no znode is left, {when}");
        assert_eq!(self.watches(stage), Vec::<String>::new(), "no watch is left, {when}");
    }
}

/// Whether a call came to nothing because of a refusal that does not pass: one for an overload ends no call.
pub fn is_refused_for_good(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Refused(Code::QuotaExceeded) | ErrorKind::NoAuth | ErrorKind::Unexpected(_) => true,
        ErrorKind::Multi { cause, .. } => is_refused_for_good(cause),
        _ => false,
    }
}

pub type Asking = std::pin::Pin<Box<dyn Future<Output = Result<Guard, Error>> + Send>>;

/// When a future is dropped.
#[derive(Clone, Copy, Debug)]
pub enum Drops {
    /// After so many polls.
    AfterPolls(usize),
    /// When it has been woken so many times, unpolled the last time.
    Awake(usize),
    /// After so many milliseconds and a half.
    Later(u64),
}

/// Drives `work`, and drops it before its end: then `None`.
pub async fn dropping<F: Future>(drops: Drops, stage: &Stage, on: &Client, work: F) -> Option<F::Output> {
    let mut work = Box::pin(work);
    let mut polls = 0;
    let mut alarm = match drops {
        Drops::Later(ms) => {
            Box::pin(stage.sim.sleep(&on.process, Duration::from_micros(ms * 1000 + 500))) as Alarm
        }
        _ => Box::pin(std::future::pending()),
    };
    std::future::poll_fn(move |context| {
        let at_once = matches!(drops, Drops::AfterPolls(0));
        let awake = matches!(drops, Drops::Awake(wakes) if polls > wakes);
        if at_once || awake || alarm.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        polls += 1;
        match work.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if matches!(drops, Drops::AfterPolls(limit) if polls >= limit) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

type Alarm = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
