//! Calls that write, in one transaction each.

use super::{Ready, Row, alone, of};
use crate::common::{Client, DIRECTORY, Stage};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::SimClient;
use std::collections::BTreeMap;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, Vote, Voted};
use zk_recipes::zk::{CreateMode, Op};
use zk_recipes::{
    Barrier, BarrierOptions, Claimed, Config, ConfigOptions, ConfigSet, ConfigSetOptions, ConsumerOptions,
    Counter, CounterOptions, Delivery, Election, ElectionOptions, Group, GroupOptions, Idle, Names,
    NamesOptions, Order, Parents, Priority, PriorityLock, PriorityLockOptions, PriorityQueue,
    PriorityQueueOptions, Queue, QueueOptions, RevocableLock, RevocableLockOptions, Semaphore,
    SemaphoreOptions, SharedLock, SharedLockOptions, While,
};

type Preparing = BoxFuture<'static, Ready>;

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Row> {
    [VALUES, NAMES, LOCKS, QUEUES, TRANSACTIONS].into_iter().flatten()
}

pub fn config(on: &Client, path: &str) -> Config<SimClient> {
    Config::new(&on.zk, path, ConfigOptions::default()).expect("the path is good")
}

/// The set of values at a path.
pub fn set_of(on: &Client, path: &str) -> ConfigSet<SimClient> {
    ConfigSet::new(&on.zk, path, ConfigSetOptions::default()).expect("the path is good")
}

/// A counter that stands at 5, and knows it.
pub async fn counter(on: &Client) -> Counter<SimClient> {
    let counter = Counter::new(&on.zk, "/counter", CounterOptions::default()).expect("the path is good");
    assert_eq!(counter.add(5).await, Ok(Some(5)));
    counter
}

fn values(of: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    of.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect()
}

fn barrier(on: &Client, lives: While) -> Barrier<SimClient> {
    Barrier::new(&on.zk, "/gate", BarrierOptions::default().with_lives(lives)).expect("the path is good")
}

/// Configuration and barriers.
pub const VALUES: &[Row] = &[
    Row {
        name: "Config::put, of a first value",
        prepare: |_, a| {
            let config = config(&a, "/value");
            async move { alone(async move { config.put(b"new").await }) }.boxed()
        },
    },
    Row {
        name: "Config::put, of a first value, without a directory",
        prepare: |_, a| {
            let config = config(&a, "/made/value");
            async move { alone(async move { config.put(b"new").await }) }.boxed()
        },
    },
    Row {
        name: "Config::put, over another value",
        prepare: |_, a| {
            async move {
                let config = config(&a, "/value");
                config.put(b"old").await.expect("it is written");
                alone(async move { config.put(b"new").await })
            }
            .boxed()
        },
    },
    Row {
        name: "Config::compare_and_set, of a first value",
        prepare: |_, a| {
            let config = config(&a, "/made/value");
            async move { alone(async move { config.compare_and_set(None, b"new").await }) }.boxed()
        },
    },
    Row {
        name: "Config::compare_and_set, over another value",
        prepare: |_, a| {
            async move {
                let config = config(&a, "/value");
                let old = config.put(b"old").await.expect("it is written");
                alone(async move { config.compare_and_set(Some(&old), b"new").await })
            }
            .boxed()
        },
    },
    Row {
        name: "ConfigSet::publish, of a first set",
        prepare: |_, a| {
            let config = set_of(&a, "/made/set");
            async move {
                alone(async move { config.publish(&values(&[("one", "1"), ("two", "2")]), None).await })
            }
            .boxed()
        },
    },
    Row {
        name: "ConfigSet::publish, over another set",
        prepare: |_, a| {
            async move {
                let config = set_of(&a, "/set");
                let old = config.publish(&values(&[("one", "0")]), None).await.expect("it is published");
                alone(async move { config.publish(&values(&[("one", "1"), ("two", "2")]), Some(&old)).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Counter::add",
        prepare: |_, a| {
            async move {
                let counter = counter(&a).await;
                alone(async move { counter.add(2).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Counter::add, of many",
        prepare: |_, a| {
            async move {
                let counter = counter(&a).await;
                alone(async move { counter.add(-1_000).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Counter::set",
        prepare: |_, a| {
            async move {
                let counter = counter(&a).await;
                alone(async move { counter.set(7).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Counter::compare_and_set",
        prepare: |_, a| {
            async move {
                let counter = counter(&a).await;
                alone(async move { counter.compare_and_set(5, 7).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Barrier::raise",
        prepare: |_, a| {
            let barrier = barrier(&a, While::Permanent);
            async move { alone(async move { barrier.raise().await }) }.boxed()
        },
    },
    Row {
        name: "Barrier::raise, for the session",
        prepare: |_, a| {
            let barrier = barrier(&a, While::SessionLives);
            async move { alone(async move { barrier.raise().await }) }.boxed()
        },
    },
    Row {
        name: "Barrier::lower",
        prepare: |_, a| {
            async move {
                let barrier = barrier(&a, While::Permanent);
                barrier.raise().await.expect("it is raised");
                alone(async move { barrier.lower().await })
            }
            .boxed()
        },
    },
];

pub fn names(on: &Client) -> Names<SimClient> {
    Names::new(&on.zk, "/names", NamesOptions::default()).expect("the path is good")
}

/// A directory that stays.
async fn names_to_stay(on: &Client) -> Names<SimClient> {
    on.makes("/names").await;
    names(on)
}

/// Names and members.
pub const NAMES: &[Row] = &[
    Row {
        name: "Names::register_permanent",
        prepare: |_, a| {
            async move {
                let names = names_to_stay(&a).await;
                alone(async move { names.register_permanent("db", b"new").await })
            }
            .boxed()
        },
    },
    Row {
        name: "Names::unique",
        prepare: |_, a| {
            async move {
                let names = names_to_stay(&a).await;
                alone(async move { names.unique("job").await })
            }
            .boxed()
        },
    },
    Row {
        name: "PermanentName::set",
        prepare: |_, a| {
            async move {
                let name = names_to_stay(&a).await.register_permanent("db", b"old").await;
                of(name.expect("it is free"), |name| async move { name.set(b"new").await })
            }
            .boxed()
        },
    },
    Row {
        name: "PermanentName::unregister",
        prepare: |_, a| {
            async move {
                let name = names_to_stay(&a).await.register_permanent("db", b"old").await;
                of(name.expect("it is free"), |name| async move { name.unregister().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Registration::set",
        prepare: |_, a| {
            async move {
                let name = names_to_stay(&a).await.register("db", b"old").await.expect("it is free");
                of(name, |name| async move { name.set(b"new").await })
            }
            .boxed()
        },
    },
    Row {
        name: "Membership::set",
        prepare: |_, a| {
            async move {
                let group = Group::new(&a.zk, "/group", GroupOptions::default()).expect("the path is good");
                let member = group.join(Some("one"), b"old").await.expect("it is free");
                of(member, |member| async move { member.set(b"new").await })
            }
            .boxed()
        },
    },
];

fn create(path: &str) -> Op {
    Op::Create { path: path.to_owned(), data: Vec::new(), mode: CreateMode::Persistent }
}

/// Two znodes.
fn two() -> Vec<Op> {
    vec![create("/one"), create("/two")]
}

/// Makes the directories of all locks.
async fn founds(on: &Client) {
    for path in ["/locks", DIRECTORY, "/locks/a/line", "/locks/a/held"] {
        on.makes(path).await;
    }
}

pub fn revocable(on: &Client) -> RevocableLock<SimClient> {
    RevocableLock::new(&on.zk, DIRECTORY, RevocableLockOptions::default()).expect("the path is good")
}

pub fn priority(on: &Client) -> PriorityLock<SimClient> {
    PriorityLock::new(&on.zk, DIRECTORY, PriorityLockOptions::default()).expect("the path is good")
}

pub fn shared(on: &Client) -> SharedLock<SimClient> {
    SharedLock::new(&on.zk, DIRECTORY, SharedLockOptions::default()).expect("the path is good")
}

fn semaphore_at(on: &Client, path: &str) -> Semaphore<SimClient> {
    Semaphore::new(&on.zk, path, 3, SemaphoreOptions::default()).expect("the input is good")
}

/// The semaphore, with three permits if this client is the first.
pub fn semaphore(on: &Client) -> Semaphore<SimClient> {
    semaphore_at(on, "/slots")
}

/// A semaphore of three permits, with its directories.
pub async fn semaphore_to_stay(on: &Client) -> Semaphore<SimClient> {
    let semaphore = semaphore(on);
    semaphore.set_permits(3).await.expect("it is set");
    on.makes("/slots/line").await;
    semaphore
}

pub fn election(on: &Client) -> Election<SimClient> {
    Election::new(&on.zk, DIRECTORY, ElectionOptions::default()).expect("the path is good")
}

/// What the call of a lock does to the holder, another client.
macro_rules! to_the_holder {
    ($name:literal, $open:ident, $acquire:ident($($arg:expr),*), $list:ident, $call:ident) => {
        Row {
            name: $name,
            prepare: |stage: Stage, a: Client| -> Preparing {
                async move {
                    founds(&a).await;
                    let b = stage.client("b").await;
                    let held = $open(&b).$acquire($($arg),*).await.expect("it is granted");
                    let lock = $open(&a);
                    let holder = lock.$list().await.expect("they can be listed").remove(0);
                    Ready { keeps: Box::new(held), ..alone(async move { lock.$call(&holder).await }) }
                }
                .boxed()
            },
        }
    };
}

fn lock(on: &Client) -> zk_recipes::Lock<SimClient> {
    on.lock()
}

/// Locks, the election among them.
pub const LOCKS: &[Row] = &[
    to_the_holder!("Lock::evict", lock, acquire(), contenders, evict),
    to_the_holder!("SharedLock::evict", shared, read(), contenders, evict),
    to_the_holder!("Election::evict", election, stand(), candidates, evict),
    to_the_holder!("RevocableLock::ask", revocable, write(), contenders, ask),
    to_the_holder!("PriorityLock::ask", priority, write(Priority(5)), contenders, ask),
    Row {
        name: "Guard::transact",
        prepare: |_, a| {
            async move {
                founds(&a).await;
                of(a.acquires().await, |held| async move { held.transact(two()).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Guard::transact_once",
        prepare: |_, a| {
            async move {
                founds(&a).await;
                let held = a.acquires().await;
                // The guard goes with the call, made or dropped.
                alone(async move { held.transact_once(two()).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Semaphore::set_permits, of a first number",
        prepare: |_, a| {
            async move {
                a.makes("/slots").await;
                alone(async move { semaphore(&a).set_permits(5).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Semaphore::set_permits, of a first number, without a directory",
        prepare: |_, a| {
            let semaphore = semaphore_at(&a, "/made");
            async move { alone(async move { semaphore.set_permits(5).await }) }.boxed()
        },
    },
    Row {
        name: "Semaphore::set_permits, over another number",
        prepare: |_, a| {
            async move {
                let semaphore = semaphore_to_stay(&a).await;
                alone(async move { semaphore.set_permits(5).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Guard<Permits>::transact_once",
        prepare: |_, a| {
            async move {
                let semaphore = semaphore_to_stay(&a).await;
                let held = semaphore.acquire(2).await.expect("they are free");
                alone(async move { held.transact_once(two()).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Term::acknowledge",
        prepare: |_, a| {
            async move {
                founds(&a).await;
                let term = election(&a).stand().await.expect("it is elected");
                of(term, |term| async move { term.acknowledge(b"10.0.0.7").await })
            }
            .boxed()
        },
    },
];

pub fn queue(on: &Client, delivery: Delivery) -> Queue<SimClient> {
    let options = QueueOptions::new(delivery).with_idle(Idle::HerdFree).with_parents(Parents::Persistent);
    Queue::new(&on.zk, "/q", options).expect("the path is good")
}

pub fn jobs(on: &Client, order: Order, delivery: Delivery) -> PriorityQueue<SimClient> {
    let options = PriorityQueueOptions::new(order, delivery)
        .with_idle(Idle::HerdFree)
        .with_parents(Parents::Persistent);
    PriorityQueue::new(&on.zk, "/q", options).expect("the path is good")
}

fn items() -> Vec<Vec<u8>> {
    vec![b"1".to_vec(), b"2".to_vec(), b"3".to_vec()]
}

/// The claims of three items of one consumer.
async fn claims(of: &Client) -> Vec<Claimed<SimClient>> {
    let queue = queue(of, Delivery::AtLeastOnce);
    queue.producer().put_all(&items()).await.expect("they are put");
    let mut consumer =
        queue.consumer_with(ConsumerOptions::default().with_prefetch(3)).expect("it takes something");
    consumer.claim_up_to(3).await.expect("they are there")
}

/// Queues.
pub const QUEUES: &[Row] = &[
    Row {
        name: "Producer::put_all",
        prepare: |_, a| {
            async move {
                let mut producer = queue(&a, Delivery::AtMostOnce).producer();
                producer.put(b"0").await.expect("it is put");
                alone(async move { producer.put_all(&items()).await })
            }
            .boxed()
        },
    },
    Row {
        name: "PriorityProducer::put_all",
        prepare: |_, a| {
            async move {
                let mut producer = jobs(&a, Order::Strict, Delivery::AtMostOnce).producer();
                producer.put(Priority(5), b"0").await.expect("it is put");
                alone(async move { producer.put_all(Priority(5), &items()).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Claimed::done_all",
        prepare: |_, a| {
            async move {
                let claims = claims(&a).await;
                alone(Claimed::done_all(claims, two()))
            }
            .boxed()
        },
    },
    Row {
        name: "Claimed::done_with",
        prepare: |_, a| {
            async move {
                let claim = claims(&a).await.remove(0);
                alone(claim.done_with(two()))
            }
            .boxed()
        },
    },
];

pub const TX: &str = "/tx";

/// Two sites.
pub fn transaction(form: Form) -> Transaction {
    Transaction { sites: vec!["x".to_owned(), "y".to_owned()], payload: b"pay".to_vec(), form }
}

pub const PLAIN: Form = Form::Decentralised { follow_votes: false };

pub async fn begun(by: &Client, form: Form) -> Coordinator<SimClient> {
    Coordinator::begin(&by.zk, TX, transaction(form)).await.expect("it is the first")
}

pub async fn votes(by: &Client, site: &str, vote: Vote) -> Voted<SimClient> {
    let site = Site::open(&by.zk, TX, site).await.expect("it takes part");
    site.vote(vote).await.expect("it has not voted")
}

/// A site that is to finish a decided transaction, alone or before the other one.
async fn finishes(a: Client, is_last: bool) -> Ready {
    drop(begun(&a, PLAIN).await);
    let (x, y) = (votes(&a, "x", Vote::Commit).await, votes(&a, "y", Vote::Commit).await);
    for site in [&x, &y] {
        assert_eq!(site.decision().await, Ok(Decision::Commit));
    }
    if is_last {
        y.finish().await.expect("it finishes");
    }
    alone(x.finish())
}

/// A vote of a site, the first or the last one.
async fn casts(a: Client, vote: Vote, is_last: bool) -> Ready {
    drop(begun(&a, PLAIN).await);
    if is_last {
        drop(votes(&a, "y", Vote::Commit).await);
    }
    let site = Site::open(&a.zk, TX, "x").await.expect("it takes part");
    alone(site.vote(vote))
}

/// Two-phase commit.
pub const TRANSACTIONS: &[Row] = &[
    Row {
        name: "Coordinator::begin",
        prepare: |_, a| {
            async move {
                alone(async move { Coordinator::begin(&a.zk, "/made/tx", transaction(PLAIN)).await })
            }
            .boxed()
        },
    },
    Row { name: "Site::vote, for commit", prepare: |_, a| casts(a, Vote::Commit, false).boxed() },
    Row {
        name: "Site::vote, for commit, the last one",
        prepare: |_, a| casts(a, Vote::Commit, true).boxed(),
    },
    Row { name: "Site::vote, for abort", prepare: |_, a| casts(a, Vote::Abort, false).boxed() },
    Row {
        name: "Coordinator::resume",
        prepare: |_, a| {
            async move {
                drop(begun(&a, Form::Coordinator).await);
                drop(votes(&a, "x", Vote::Commit).await);
                alone(async move { Coordinator::resume(&a.zk, TX).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Coordinator::decision",
        prepare: |_, a| {
            async move {
                let coordinator = begun(&a, Form::Coordinator).await;
                for site in ["x", "y"] {
                    drop(votes(&a, site, Vote::Commit).await);
                }
                of(coordinator, |coordinator| async move { coordinator.decision().await })
            }
            .boxed()
        },
    },
    Row { name: "Voted::finish", prepare: |_, a| finishes(a, false).boxed() },
    Row { name: "Voted::finish, the last one", prepare: |_, a| finishes(a, true).boxed() },
];
