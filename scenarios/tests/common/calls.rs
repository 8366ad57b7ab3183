//! What somebody who uses a recipe may be in the middle of: one list, for the simulation and for real servers.

use futures_util::FutureExt;
use std::any::Any;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Coordinator, Form, Site, Transaction, Vote};
use zk_recipes::zk::Error;
use zk_recipes::{
    Barrier, BarrierOptions, Config, ConfigOptions, ConfigSet, ConfigSetOptions, Delivery, DoubleBarrier,
    DoubleBarrierOptions, Election, ElectionOptions, Freshness, Group, GroupOptions, Idle, IfTaken, Leave,
    Lock, LockOptions, LostReason, Names, NamesOptions, Order, Parents, Priority, PriorityLock,
    PriorityLockOptions, PriorityQueue, PriorityQueueOptions, Queue, QueueOptions, Reuse, RevocableLock,
    RevocableLockOptions, SharedLock, SharedLockOptions, WithData, ZooKeeper,
};

/// Something that somebody has called: its name, and its end.
pub type Call = (&'static str, Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>);

/// Something that somebody holds: its name, and why it is lost.
pub type Held = (&'static str, Pin<Box<dyn Future<Output = LostReason> + Send>>);

fn call<T>(name: &'static str, work: impl Future<Output = Result<T, Error>> + Send + 'static) -> Call {
    (name, Box::pin(work.map(|done| done.map(drop))))
}

/// Calls of one set of objects, each with a share of it.
macro_rules! calls {
    ($all:expr; $($name:literal: $me:ident => $work:expr,)*) => {
        vec![$({ let $me = $all.clone(); call($name, async move { $work.await }) },)*]
    };
}

/// One object of each recipe, all in one directory.
#[derive(Clone)]
pub struct Objects<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    pub names: Names<Z>,
    pub config: Config<Z>,
    pub config_set: ConfigSet<Z>,
    pub group: Group<Z>,
    pub barrier: Barrier<Z>,
    pub double_barrier: DoubleBarrier<Z>,
    pub queue: Queue<Z>,
    pub priority_queue: PriorityQueue<Z>,
    pub lock: Lock<Z>,
    pub shared_lock: SharedLock<Z>,
    pub revocable_lock: RevocableLock<Z>,
    pub priority_lock: PriorityLock<Z>,
    pub election: Election<Z>,
}

impl<Z: ZooKeeper> Objects<Z> {
    /// Those in that directory. Names that are taken are waited for, and a double barrier opens for so many.
    pub fn new(zk: &Z, directory: &str, participants: usize) -> Result<Self, Error> {
        let at = |name: &str| format!("{directory}/{name}");
        let if_taken = IfTaken::Wait;
        let (idle, parents) = (Idle::HerdFree, Parents::Container);
        let double_barrier =
            DoubleBarrierOptions::new(participants, Reuse::Generations, Leave::Keeper).with_parents(parents);
        let queue = QueueOptions::new(Delivery::AtLeastOnce).with_idle(idle).with_parents(parents);
        let priority_queue = PriorityQueueOptions::new(Order::Strict, Delivery::AtMostOnce)
            .with_idle(idle)
            .with_parents(parents);
        Ok(Objects {
            zk: zk.clone(),
            directory: directory.to_owned(),
            names: Names::new(zk, &at("names"), NamesOptions::default().with_if_taken(if_taken))?,
            config: Config::new(zk, &at("config"), ConfigOptions::default())?,
            config_set: ConfigSet::new(zk, &at("config"), ConfigSetOptions::default())?,
            group: Group::new(zk, &at("group"), GroupOptions::default().with_if_taken(if_taken))?,
            barrier: Barrier::new(zk, &at("barrier"), BarrierOptions::default())?,
            double_barrier: DoubleBarrier::new(zk, &at("double-barrier"), double_barrier)?,
            queue: Queue::new(zk, &at("queue"), queue)?,
            priority_queue: PriorityQueue::new(zk, &at("priority-queue"), priority_queue)?,
            lock: Lock::new(zk, &at("lock"), LockOptions::default())?,
            shared_lock: SharedLock::new(zk, &at("shared-lock"), SharedLockOptions::default())?,
            revocable_lock: RevocableLock::new(zk, &at("revocable-lock"), RevocableLockOptions::default())?,
            priority_lock: PriorityLock::new(zk, &at("priority-lock"), PriorityLockOptions::default())?,
            election: Election::new(zk, &at("election"), ElectionOptions::default())?,
        })
    }

    fn transaction(&self, name: &str) -> (String, Transaction) {
        let form = Form::Decentralised { follow_votes: false };
        let sites = vec!["mine".to_owned(), "theirs".to_owned()];
        (format!("{}/{name}", self.directory), Transaction { sites, payload: vec![], form })
    }

    /// Makes every object, and takes what there is to be had: whoever comes next has to wait.
    pub async fn all_taken(&self) -> Result<Vec<Box<dyn Any + Send>>, Error> {
        let taken: Vec<Box<dyn Any + Send>> = vec![
            Box::new(self.names.register("name", b"").await?),
            Box::new(self.config.put(b"value").await?),
            Box::new(self.group.join(Some("member"), b"").await?),
            Box::new(self.lock.acquire().await?),
            Box::new(self.shared_lock.write().await?),
            Box::new(self.revocable_lock.write().await?),
            Box::new(self.priority_lock.write(Priority(1)).await?),
            Box::new(self.election.stand().await?),
        ];
        self.barrier.raise().await?;
        // Nobody else comes: it is made all the same.
        let alone = self.double_barrier.enter().within(Duration::from_millis(10)).await;
        assert!(alone.is_err_and(|e| e.is_timed_out()), "nobody else has come");
        self.queue.consumer().try_claim().await?;
        self.priority_queue.consumer().try_take().await?;
        let (path, transaction) = self.transaction("transaction");
        Coordinator::begin(&self.zk, &path, transaction).await?;
        Ok(taken)
    }

    /// Calls that wait for somebody else, when all is taken.
    pub fn waits(&self) -> Vec<Call> {
        let Objects { queue, priority_queue, .. } = self.clone();
        let mut consumer = queue.consumer();
        let mut taker = priority_queue.consumer();
        let (mut values, mut views) = (self.config.follow(), self.group.follow(WithData::Yes));
        let mut leadership = self.election.follow();
        let (zk, transaction, own) =
            (self.zk.clone(), self.transaction("transaction").0, self.transaction("own"));
        let begun = self.zk.clone();
        let mut all = calls![
            self;
            "Names::register": me => me.names.register("name", b""),
            "Group::join": me => me.group.join(Some("member"), b""),
            "Barrier::wait": me => me.barrier.wait(),
            "Barrier::wait_until_down": me => me.barrier.wait_until_down(),
            "DoubleBarrier::enter": me => me.double_barrier.enter(),
            "Lock::acquire": me => me.lock.acquire(),
            "SharedLock::read": me => me.shared_lock.read(),
            "SharedLock::write": me => me.shared_lock.write(),
            "RevocableLock::read": me => me.revocable_lock.read(),
            "RevocableLock::write": me => me.revocable_lock.write(),
            "PriorityLock::read": me => me.priority_lock.read(Priority(2)),
            "PriorityLock::write": me => me.priority_lock.write(Priority(2)),
            "Election::stand": me => me.election.stand(),
        ];
        all.extend([
            call("Config::follow", async move {
                Err::<(), _>(loop {
                    if let Err(end) = values.next().await {
                        break end;
                    }
                })
            }),
            call("Group::follow", async move {
                Err::<(), _>(loop {
                    if let Err(end) = views.next().await {
                        break end;
                    }
                })
            }),
            call("Election::follow", async move {
                Err::<(), _>(loop {
                    if let Err(end) = leadership.next().await {
                        break end;
                    }
                })
            }),
            call("Queue: Consumer::claim", async move { consumer.claim().await }),
            call("PriorityQueue: Consumer::take", async move { taker.take().await }),
            call("TwoPhaseCommit: Voted::decision", async move {
                let site = Site::open(&zk, &transaction, "mine").await?;
                site.vote(Vote::Commit).await?.decision().await
            }),
            call("TwoPhaseCommit: Coordinator::decision", async move {
                Coordinator::begin(&begun, &own.0, own.1).await?.decision().await
            }),
        ]);
        all
    }

    /// The same with a limit, of those that have one.
    pub fn waits_within(&self, limit: Duration) -> Vec<Call> {
        calls![
            self;
            "Names::register, limited": me => me.names.register("name", b"").within(limit),
            "Group::join, limited": me => me.group.join(Some("member"), b"").within(limit),
            "Barrier::wait, limited": me => me.barrier.wait().within(limit),
            "Barrier::wait_until_down, limited": me => me.barrier.wait_until_down().within(limit),
            "DoubleBarrier::enter, limited": me => me.double_barrier.enter().within(limit),
            "Lock::acquire, limited": me => me.lock.acquire().within(limit),
            "SharedLock::read, limited": me => me.shared_lock.read().within(limit),
            "SharedLock::write, limited": me => me.shared_lock.write().within(limit),
            "RevocableLock::read, limited": me => me.revocable_lock.read().within(limit),
            "RevocableLock::write, limited": me => me.revocable_lock.write().within(limit),
            "PriorityLock::read, limited": me => me.priority_lock.read(Priority(2)).within(limit),
            "PriorityLock::write, limited": me => me.priority_lock.write(Priority(2)).within(limit),
            "Election::stand, limited": me => me.election.stand().within(limit),
        ]
    }

    /// Calls that make something.
    pub fn makes(&self) -> Vec<Call> {
        let begin = self.transaction("another-transaction");
        let set = BTreeMap::from([("key".to_owned(), b"value".to_vec())]);
        calls![
            self;
            "Names::register": me => me.names.register("another-name", b""),
            "Names::register_permanent": me => me.names.register_permanent("a-third-name", b""),
            "Names::unique": me => me.names.unique("job"),
            "Config::put": me => me.config.put(b"value"),
            "ConfigSet::publish": me => me.config_set.publish(&set, None),
            "Group::join": me => me.group.join(None, b""),
            "Barrier::raise": me => me.barrier.raise(),
            "DoubleBarrier::enter": me => me.double_barrier.enter(),
            "Queue: Producer::put": me => async move { me.queue.producer().put(b"item").await },
            "Queue: Consumer::claim": me => async move { me.queue.consumer().claim().await },
            "PriorityQueue: Producer::put": me => async move {
                me.priority_queue.producer().put(Priority(1), b"item").await
            },
            "PriorityQueue: Consumer::take": me => async move { me.priority_queue.consumer().take().await },
            "Lock::acquire": me => me.lock.acquire(),
            "SharedLock::read": me => me.shared_lock.read(),
            "SharedLock::write": me => me.shared_lock.write(),
            "RevocableLock::read": me => me.revocable_lock.read(),
            "RevocableLock::write": me => me.revocable_lock.write(),
            "PriorityLock::read": me => me.priority_lock.read(Priority(2)),
            "PriorityLock::write": me => me.priority_lock.write(Priority(2)),
            "Coordinator::begin": me => Coordinator::begin(&me.zk, &begin.0, begin.1),
            "Election::stand": me => me.election.stand(),
        ]
    }

    /// Calls that look at what is there, or take it away, and do not wait.
    pub fn asks(&self) -> Vec<Call> {
        calls![
            self;
            "Names::resolve": me => me.names.resolve("name", Freshness::Latest),
            "Config::get": me => me.config.get(),
            "ConfigSet::snapshot": me => me.config_set.snapshot(),
            "Config::follow": me => async move { me.config.follow().next().await },
            "Group::follow": me => async move { me.group.follow(WithData::Yes).next().await },
            "Barrier::wait": me => me.barrier.wait(),
            "Barrier::lower": me => me.barrier.lower(),
            "Lock::try_acquire": me => me.lock.try_acquire(),
            "Lock::contenders": me => me.lock.contenders(),
            "SharedLock::contenders": me => me.shared_lock.contenders(),
            "RevocableLock::contenders": me => me.revocable_lock.contenders(),
            "PriorityLock::contenders": me => me.priority_lock.contenders(),
            "Election::candidates": me => me.election.candidates(),
            "Election::follow": me => async move { me.election.follow().next().await },
            "Site::open": me => async move {
                Site::open(&me.zk, &me.transaction("transaction").0, "mine").await
            },
            "Coordinator::resume": me => async move {
                Coordinator::resume(&me.zk, &me.transaction("transaction").0).await
            },
        ]
    }

    /// Everything that can be held: each resolves when it is lost for good. A double barrier must be for one.
    pub async fn holds(&self) -> Result<Vec<Held>, Error> {
        macro_rules! holds {
            ($($name:literal: $held:expr,)*) => {
                vec![$({
                    let held = $held.await?;
                    (
                        $name,
                        Box::pin(async move {
                            held.lost().await;
                            held.resumed().await.expect_err("what is lost does not come back")
                        }) as Pin<Box<dyn Future<Output = LostReason> + Send>>,
                    )
                },)*]
            };
        }
        Ok(holds![
            "Registration": self.names.register("name", b""),
            "Membership": self.group.join(None, b""),
            "Inside": self.double_barrier.enter(),
            "Guard<Exclusive>": self.lock.acquire(),
            "Guard<Write>": self.shared_lock.write(),
            "Guard<Revocable<Write>>": self.revocable_lock.write(),
            "Guard<Revocable<Exclusive>>": self.priority_lock.write(Priority(1)),
            "Term": self.election.stand(),
        ])
    }
}
