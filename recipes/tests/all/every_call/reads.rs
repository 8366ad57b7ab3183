//! Calls that read, or that wait for nothing but the replies to their own requests.

use super::writes::{
    PLAIN, TX, begun, config, counter, election, jobs, names, priority, queue, revocable, semaphore,
    semaphore_to_stay, set_of, shared, transaction, votes,
};
use super::{A_WHILE, Row, alone, of};
use crate::common::Client;
use futures_util::FutureExt;
use sim_zk::SimClient;
use std::collections::BTreeMap;
use std::time::Duration;
use zk_recipes::names::Freshness;
use zk_recipes::two_phase_commit::{Coordinator, Form, Site, Vote};
use zk_recipes::{
    Contender, Counter, CounterOptions, Delivery, Group, GroupOptions, Order, Priority, Queue, WithData,
};

fn group(on: &Client) -> Group<SimClient> {
    Group::new(&on.zk, "/group", GroupOptions::default()).expect("the path is good")
}

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Row> {
    [VALUES, LOCKS, QUEUES, TRANSACTIONS].into_iter().flatten()
}

/// Values, names and groups.
const VALUES: &[Row] = &[
    Row {
        name: "Config::get",
        prepare: |_, a| async move { alone(async move { config(&a, "/value").get().await }) }.boxed(),
    },
    Row {
        name: "ConfigSet::snapshot",
        prepare: |_, a| {
            async move {
                let config = set_of(&a, "/set");
                let set = BTreeMap::from([("one".to_owned(), b"1".to_vec())]);
                config.publish(&set, None).await.expect("it is published");
                alone(async move { config.snapshot().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Config::follow",
        prepare: |_, a| {
            async move {
                let mut updates = config(&a, "/value").follow();
                alone(async move { updates.next().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Counter::get",
        prepare: |_, a| {
            async move {
                let counter = counter(&a).await;
                alone(async move { counter.get(Freshness::Latest).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Counter::follow",
        prepare: |_, a| {
            async move {
                let mut updates = counter(&a).await.follow();
                alone(async move { updates.next().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Counter::add, the first time",
        prepare: |_, a| {
            let options = CounterOptions::default();
            let counter = Counter::new(&a.zk, "/counter", options).expect("the path is good");
            async move { alone(async move { counter.add(1).await }) }.boxed()
        },
    },
    Row {
        name: "Names::register",
        prepare: |_, a| async move { alone(async move { names(&a).register("db", b"new").await }) }.boxed(),
    },
    Row {
        name: "Names::resolve",
        prepare: |_, a| {
            async move { alone(async move { names(&a).resolve("db", Freshness::Local).await }) }.boxed()
        },
    },
    Row {
        name: "Names::registered",
        prepare: |_, a| {
            async move {
                let name = names(&a).register_permanent("db", b"new").await.expect("it is free");
                alone(async move { names(&a).registered("db", name.guid()).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Group::join",
        prepare: |_, a| async move { alone(async move { group(&a).join(None, b"").await }) }.boxed(),
    },
    Row {
        name: "Views::next",
        prepare: |_, a| {
            async move {
                let mut views = group(&a).follow(WithData::Yes);
                alone(async move { views.next().await })
            }
            .boxed()
        },
    },
];

/// Locks that are free, and lists.
const LOCKS: &[Row] = &[
    Row {
        name: "Lock::acquire",
        prepare: |_, a| async move { alone(async move { a.lock().acquire().await }) }.boxed(),
    },
    Row {
        name: "Lock::try_acquire",
        prepare: |_, a| async move { alone(async move { a.lock().try_acquire().await }) }.boxed(),
    },
    Row {
        name: "Lock::contenders",
        prepare: |_, a| async move { alone(async move { a.lock().contenders().await }) }.boxed(),
    },
    Row {
        name: "SharedLock::read",
        prepare: |_, a| async move { alone(async move { shared(&a).read().await }) }.boxed(),
    },
    Row {
        name: "SharedLock::contenders",
        prepare: |_, a| async move { alone(async move { shared(&a).contenders().await }) }.boxed(),
    },
    Row {
        name: "RevocableLock::write",
        prepare: |_, a| async move { alone(async move { revocable(&a).write().await }) }.boxed(),
    },
    Row {
        name: "RevocableLock::contenders",
        prepare: |_, a| async move { alone(async move { revocable(&a).contenders().await }) }.boxed(),
    },
    Row {
        name: "RevocableLock::force",
        prepare: |_, a| {
            async move {
                let path = "/locks/a/00000000000000000000000000000001-write-0000000000".to_owned();
                let holder = Contender { path, number: 0 };
                alone(async move { revocable(&a).force(&holder, Duration::from_secs(1)).await })
            }
            .boxed()
        },
    },
    Row {
        name: "PriorityLock::write",
        prepare: |_, a| async move { alone(async move { priority(&a).write(Priority(5)).await }) }.boxed(),
    },
    Row {
        name: "PriorityLock::contenders",
        prepare: |_, a| async move { alone(async move { priority(&a).contenders().await }) }.boxed(),
    },
    Row {
        name: "PriorityLock::force",
        prepare: |stage, a| {
            async move {
                let held =
                    priority(&stage.client("b").await).write(Priority(5)).await.expect("it is granted");
                let holder = priority(&a).contenders().await.expect("they can be listed").remove(0);
                let force = async move { priority(&a).force(&holder, Duration::from_secs(1)).await };
                super::Ready { keeps: Box::new(held), ..alone(force) }
            }
            .boxed()
        },
    },
    Row {
        name: "Semaphore::acquire, the first time",
        prepare: |_, a| async move { alone(async move { semaphore(&a).acquire(2).await }) }.boxed(),
    },
    Row {
        name: "Semaphore::acquire",
        prepare: |_, a| {
            async move {
                let semaphore = semaphore_to_stay(&a).await;
                alone(async move { semaphore.acquire(2).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Semaphore::try_acquire",
        prepare: |_, a| {
            async move {
                let semaphore = semaphore_to_stay(&a).await;
                alone(async move { semaphore.try_acquire(2).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Semaphore::permits",
        prepare: |_, a| async move { alone(async move { semaphore(&a).permits().await }) }.boxed(),
    },
    Row {
        name: "Semaphore::holders",
        prepare: |_, a| async move { alone(async move { semaphore(&a).holders().await }) }.boxed(),
    },
    Row {
        name: "Election::stand",
        prepare: |_, a| async move { alone(async move { election(&a).stand().await }) }.boxed(),
    },
    Row {
        name: "Election::candidates",
        prepare: |_, a| async move { alone(async move { election(&a).candidates().await }) }.boxed(),
    },
    Row {
        name: "Term::acknowledge",
        prepare: |_, a| {
            async move {
                let term = election(&a).stand().await.expect("it is elected");
                of(term, |term| async move { term.acknowledge(b"a").await })
            }
            .boxed()
        },
    },
    Row {
        name: "Leadership::next",
        prepare: |_, a| {
            async move {
                let mut sees = election(&a).follow();
                alone(async move { sees.next().await })
            }
            .boxed()
        },
    },
];

/// Puts three items.
async fn filled(on: &Client, delivery: Delivery) -> Queue<SimClient> {
    let queue = queue(on, delivery);
    let items = [b"1".to_vec(), b"2".to_vec(), b"3".to_vec()];
    queue.producer().put_all(&items).await.expect("they are put");
    queue
}

/// Queues with items.
const QUEUES: &[Row] = &[
    Row {
        name: "Consumer::take",
        prepare: |_, a| {
            async move {
                let mut takes = filled(&a, Delivery::AtMostOnce).await.consumer();
                alone(async move { takes.take().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Consumer::claim",
        prepare: |_, a| {
            async move {
                let mut claims = filled(&a, Delivery::AtLeastOnce).await.consumer();
                alone(async move { claims.claim().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Consumer::settle, of a take that was dropped",
        prepare: |stage, a| {
            async move {
                let mut takes = filled(&a, Delivery::AtMostOnce).await.consumer();
                takes.take().await.expect("there is one");
                let mut second = Box::pin(takes.take());
                for sent in ["the read", "the transaction"] {
                    assert!((&mut second).now_or_never().is_none(), "{sent} is on its way");
                    stage.pass(&a, A_WHILE).await;
                }
                drop(second);
                alone(async move { takes.settle().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Claimed::give_back",
        prepare: |_, a| {
            async move {
                let mut claims = filled(&a, Delivery::AtLeastOnce).await.consumer();
                let claim = claims.claim().await.expect("there is one");
                super::Ready { keeps: Box::new(claims), ..alone(claim.give_back()) }
            }
            .boxed()
        },
    },
    Row {
        name: "Consumer::claim, of a priority queue",
        prepare: |_, a| {
            async move {
                let jobs = jobs(&a, Order::Strict, Delivery::AtLeastOnce);
                jobs.producer().put(Priority(5), b"1").await.expect("it is put");
                let mut claims = jobs.consumer();
                alone(async move { claims.claim().await })
            }
            .boxed()
        },
    },
];

/// Two-phase commit.
const TRANSACTIONS: &[Row] = &[
    Row {
        name: "Coordinator::resume, of a decided transaction",
        prepare: |_, a| {
            async move {
                drop(begun(&a, PLAIN).await);
                drop(votes(&a, "x", Vote::Abort).await);
                alone(async move { Coordinator::resume(&a.zk, TX).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Site::open",
        prepare: |_, a| {
            async move {
                let form = Form::SiteEphemerals;
                Coordinator::begin(&a.zk, TX, transaction(form)).await.expect("it is the first");
                alone(async move { Site::open(&a.zk, TX, "x").await })
            }
            .boxed()
        },
    },
    Row {
        name: "Coordinator::forget",
        prepare: |_, a| {
            async move {
                let coordinator = begun(&a, Form::Coordinator).await;
                alone(coordinator.forget())
            }
            .boxed()
        },
    },
];
