//! Herds: how many sessions are told of what one transaction does, while 2, 32 or 256 of them wait.

use super::lock::{armed, crowd};
use crate::common::{Client, DIRECTORY, Stage, play};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use sim_zk::SimClient;
use sim_zk::observer::SimEvent;
use std::collections::BTreeMap;
use zk_recipes::two_phase_commit::{Coordinator, Form, Site, Transaction, Vote};
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{
    Barrier, BarrierOptions, Delivery, DoubleBarrier, DoubleBarrierOptions, Election, ElectionOptions, Idle,
    Inside, Leave, Lock, LockOptions, Parents, Priority, PriorityLock, PriorityLockOptions, Queue,
    QueueOptions, Reuse, RevocableLock, RevocableLockOptions, Semaphore, SemaphoreOptions, SharedLock,
    SharedLockOptions,
};

/// How many wait.
const SIZES: [usize; 3] = [2, 32, 256];

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Notifications to others than whose write caused them, in all.
    pub others: usize,
    /// The most of them that one transaction causes: the herd index, where it lets one go on.
    pub most: usize,
    /// Notifications to whoever wrote, of its own watches.
    pub oneself: usize,
    /// Watches, when all wait.
    pub watches: usize,
}

/// One case of one recipe with so many who wait.
pub struct Herd {
    pub recipe: &'static str,
    pub case: &'static str,
    pub waiters: usize,
    pub counted: Told,
    pub budget: Told,
}

const fn told(others: usize, most: usize, oneself: usize, watches: usize) -> Told {
    Told { others, most, oneself, watches }
}

pub fn herds() -> Vec<Herd> {
    let mut herds = Vec::new();
    for n in SIZES {
        let mut herd = |recipe, case, counted, budget| {
            herds.push(Herd { recipe, case, waiters: n, counted, budget });
        };
        let line = told(n - 1, 1, 0, n - 1);
        herd("lock", "all in turn", in_turn(n, lock), line);
        herd("shared lock", "writers, all in turn", in_turn(n, writer), line);
        herd("shared lock", "readers behind a writer that goes", readers(n), told(n, n, 0, n));
        // Each is told of the end of its own znode besides.
        let watched = told(n - 1, 1, n, 2 * n - 1);
        herd("revocable lock", "all in turn", in_turn(n, revocable), watched);
        herd("election", "all in turn", in_turn(n, candidate), watched);
        // Who waits is told when the one ahead leaves the line, and when it releases.
        herd("priority lock", "all in turn", in_turn(n, urgent), told(2 * (n - 1), 1, 2 * n, 2 * n - 1));
        // All but the first are notified by a release, and all but two when the one ahead leaves the line.
        herd("semaphore", "one permit, all in turn", in_turn(n, permit), told(2 * n - 3, 1, 0, n - 1));
        herd("semaphore", "all permits are released at once", many_permits(n), told(n, 1, 0, n));
        herd("barrier", "it is lowered", lowered(n), told(n, n, 0, n));
        let [entered, left] = together(n, Leave::Keeper);
        herd("double barrier", "it opens", entered, told(n - 1, n - 1, 0, n - 1));
        herd("double barrier", "all leave", left, told(2 * (n - 1), n - 1, 0, n));
        let [_, left] = together(n, Leave::Chain);
        herd("double barrier", "all leave in a chain", left, told(2 * (n - 1), n - 1, 0, n));
        herd("queue", "an item for the idle, in line", item(n, Idle::HerdFree), told(2, 1, 0, n));
        herd("queue", "an item for the idle, all watching", item(n, Idle::Textbook), told(n, n, 0, n));
        herd("two-phase commit", "the last vote decides", decided(n), told(n - 1, n - 1, 1, n));
    }
    herds.sort_by_key(|herd| (herd.recipe, herd.case, herd.waiters));
    herds
}

/// Who was told since a mark. What belongs to no transaction is a reconnect's, and there is none.
fn since(stage: &Stage, mark: usize, watches: usize) -> Told {
    let (mut writers, mut by_write, mut oneself) = (BTreeMap::new(), BTreeMap::<i64, usize>::new(), 0);
    for (_, happening) in stage.since(mark) {
        match happening {
            SimEvent::Txn { zxid, session, .. } => drop(writers.insert(zxid, session)),
            SimEvent::Fired { session, zxid, .. } if writers.get(&zxid) == Some(&session) => oneself += 1,
            SimEvent::Fired { zxid, .. } => *by_write.entry(zxid).or_default() += 1,
            _ => {}
        }
    }
    told(by_write.values().sum(), by_write.values().copied().max().unwrap_or(0), oneself, watches)
}

/// Waits, in the client's process, and then holds; the inner future gives it back.
type Turn = BoxFuture<'static, BoxFuture<'static, ()>>;

fn turn<H, G, R>(client: &Client, granted: G, ends: fn(H) -> R) -> Turn
where
    H: Send + 'static,
    G: Future<Output = Result<H, Error>> + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let granted = client.process.spawn(granted);
    let held = async move { granted.await.expect("its process lives").expect("it is granted") };
    held.map(move |held| ends(held).boxed()).boxed()
}

fn lock(client: &Client) -> Turn {
    let lock = Lock::new(&client.zk, DIRECTORY, LockOptions::default()).expect("the path is good");
    turn(client, async move { lock.acquire().await }, |held| async move {
        held.release().await.expect("it is released");
    })
}

fn shared<Z: ZooKeeper>(zk: &Z) -> SharedLock<Z> {
    SharedLock::new(zk, DIRECTORY, SharedLockOptions::default()).expect("the path is good")
}

fn writer(client: &Client) -> Turn {
    let lock = shared(&client.zk);
    turn(client, async move { lock.write().await }, |held| async move {
        held.release().await.expect("it is released");
    })
}

fn reader(client: &Client) -> Turn {
    let lock = shared(&client.zk);
    turn(client, async move { lock.read().await }, |held| async move {
        held.release().await.expect("it is released");
    })
}

fn revocable(client: &Client) -> Turn {
    let options = RevocableLockOptions::default();
    let lock = RevocableLock::new(&client.zk, DIRECTORY, options).expect("the path is good");
    turn(client, async move { lock.write().await }, |held| async move {
        held.release().await.expect("it is released");
    })
}

fn urgent(client: &Client) -> Turn {
    let options = PriorityLockOptions::default();
    let lock = PriorityLock::new(&client.zk, DIRECTORY, options).expect("the path is good");
    turn(client, async move { lock.write(Priority(5)).await }, |held| async move {
        held.release().await.expect("it is released");
    })
}

fn permit(client: &Client) -> Turn {
    let semaphore =
        Semaphore::new(&client.zk, DIRECTORY, 1, SemaphoreOptions::default()).expect("the input is good");
    turn(client, async move { semaphore.acquire(1).await }, |held| async move {
        held.release().await.expect("it is released");
    })
}

fn candidate(client: &Client) -> Turn {
    let election =
        Election::new(&client.zk, DIRECTORY, ElectionOptions::default()).expect("the path is good");
    turn(client, async move { election.stand().await }, |term| async move {
        term.resign().await.expect("it resigns");
    })
}

/// All queue, then each holds and gives back.
fn in_turn(waiters: usize, asks: fn(&Client) -> Turn) -> Told {
    play(move |stage| async move {
        let founder = stage.founder().await;
        founder.makes("/locks/a/line").await;
        founder.makes("/locks/a/held").await;
        let mark = stage.mark();
        let mut line = Vec::new();
        for client in crowd(&stage, waiters).await {
            line.push(asks(&client));
            stage.settle().await;
        }
        let watches = armed(&stage);
        for turn in line {
            turn.await.await;
            stage.settle().await;
        }
        since(&stage, mark, watches)
    })
}

fn readers(waiters: usize) -> Told {
    play(move |stage| async move {
        let founder = stage.founder().await;
        let written = writer(&founder).await;
        let turns: Vec<Turn> = crowd(&stage, waiters).await.iter().map(reader).collect();
        stage.settle().await;
        let (mark, watches) = (stage.mark(), armed(&stage));
        written.await;
        for ends in join_all(turns).await {
            ends.await;
        }
        stage.settle().await;
        since(&stage, mark, watches)
    })
}

/// As many waiters for one permit each as there are permits, which one holder releases.
fn many_permits(waiters: usize) -> Told {
    play(move |stage| async move {
        let founder = stage.founder().await;
        let all = u32::try_from(waiters).expect("they are few");
        let semaphore = Semaphore::new(&founder.zk, DIRECTORY, all, SemaphoreOptions::default())
            .expect("the input is good");
        let held = semaphore.acquire(all).await.expect("they are free");
        let mut turns = Vec::new();
        for client in crowd(&stage, waiters).await {
            turns.push(permit(&client));
            stage.settle().await;
        }
        let (mark, watches) = (stage.mark(), armed(&stage));
        held.release().await.expect("it is released");
        stage.settle().await;
        let told = since(&stage, mark, watches);
        for ends in join_all(turns).await {
            ends.await;
        }
        told
    })
}

fn lowered(waiters: usize) -> Told {
    play(move |stage| async move {
        let founder = stage.founder().await;
        let gate =
            |on: &Client| Barrier::new(&on.zk, "/gate", BarrierOptions::default()).expect("the path is good");
        gate(&founder).raise().await.expect("it is raised");
        let mut waiting = Vec::new();
        for client in crowd(&stage, waiters).await {
            let gate = gate(&client);
            waiting.push(client.process.spawn(async move { gate.wait().await }));
        }
        stage.settle().await;
        let (mark, watches) = (stage.mark(), armed(&stage));
        gate(&founder).lower().await.expect("it is lowered");
        for passed in join_all(waiting).await {
            passed.expect("its process lives").expect("it passes");
        }
        stage.settle().await;
        since(&stage, mark, watches)
    })
}

/// Entering and leaving together; nobody leaves before the last is in.
fn together(participants: usize, leave: Leave) -> [Told; 2] {
    play(move |stage| async move {
        let (reuse, parents) = (Reuse::Generations, Parents::Container);
        let options = DoubleBarrierOptions::new(participants, reuse, leave).with_parents(parents);
        let mut crowd = crowd(&stage, participants).await;
        let last = crowd.pop().expect("there is one");
        let enters = |client: &Client| {
            let barrier = DoubleBarrier::new(&client.zk, "/step", options.clone()).expect("good input");
            client.process.spawn(async move { barrier.enter().await })
        };
        let mut entering = Vec::new();
        for client in &crowd {
            entering.push(enters(client));
            stage.settle().await;
        }
        let mark = stage.mark();
        entering.push(enters(&last));
        stage.settle().await;
        let entered = since(&stage, mark, armed(&stage));
        let inside = join_all(entering).await.into_iter();
        let inside: Vec<Inside<SimClient>> =
            inside.map(|inside| inside.expect("its process lives").expect("it is in")).collect();
        let mark = stage.mark();
        let mut leaving = Vec::new();
        // The last to join goes first: that is who waits for all others.
        crowd.push(last);
        for (inside, client) in inside.into_iter().zip(&crowd).rev() {
            leaving.push(client.process.spawn(inside.leave()));
            stage.settle().await;
        }
        for out in join_all(leaving).await {
            out.expect("its process lives").expect("it is out");
        }
        stage.settle().await;
        let watches = entered.watches;
        [entered, since(&stage, mark, watches)]
    })
}

fn item(consumers: usize, idle: Idle) -> Told {
    play(move |stage| async move {
        let a = stage.client("a").await;
        let open = |client: &Client| {
            let options = QueueOptions::new(Delivery::AtMostOnce).with_idle(idle);
            Queue::new(&client.zk, "/q", options).expect("the path is good")
        };
        let mut producer = open(&a).producer();
        producer.put(b"before").await.expect("it is put");
        let mut before = open(&a).consumer();
        before.take().await.expect("there is one");
        for client in crowd(&stage, consumers).await {
            let mut consumer = open(&client).consumer();
            client.process.spawn(async move { consumer.take().await });
            stage.settle().await;
        }
        let (mark, watches) = (stage.mark(), armed(&stage));
        producer.put(b"one").await.expect("it is put");
        stage.settle().await;
        since(&stage, mark, watches)
    })
}

fn decided(sites: usize) -> Told {
    const TX: &str = "/app/tx";
    play(move |stage| async move {
        let founder = stage.client("founder").await;
        founder.makes("/app").await;
        let transaction = Transaction {
            sites: (0..sites).map(|site| format!("s{site}")).collect(),
            payload: vec![],
            form: Form::Decentralised { follow_votes: false },
        };
        drop(Coordinator::begin(&founder.zk, TX, transaction).await.expect("it begins"));
        let mut opened = Vec::new();
        for (site, client) in crowd(&stage, sites).await.iter().enumerate() {
            opened.push(Site::open(&client.zk, TX, &format!("s{site}")).await.expect("it opens"));
        }
        let (mark, watches) = (stage.mark(), armed(&stage));
        for site in opened {
            let voted = site.vote(Vote::Commit).await.expect("it votes");
            founder.process.spawn(async move { voted.decision().await });
            stage.settle().await;
        }
        since(&stage, mark, watches)
    })
}
