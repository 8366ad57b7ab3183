//! Calls that wait for another client, which does not come.

use super::writes::{
    PLAIN, begun, config, election, names, priority, queue, revocable, semaphore, shared, votes,
};
use super::{Ready, Row, alone, of};
use crate::common::{Client, DIRECTORY};
use futures_util::FutureExt;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Form, Vote};
use zk_recipes::{
    Barrier, BarrierOptions, Delivery, DoubleBarrier, DoubleBarrierOptions, Group, GroupOptions, Idle,
    IfTaken, Leave, Names, NamesOptions, Priority, Queue, QueueOptions, Reuse, WithData,
};

/// Longer than every test waits.
const GRACE: Duration = Duration::from_secs(3600);

pub fn gate(on: &Client) -> Barrier<sim_zk::SimClient> {
    Barrier::new(&on.zk, "/gate", BarrierOptions::default()).expect("the path is good")
}

pub fn step(on: &Client) -> DoubleBarrier<sim_zk::SimClient> {
    let options = DoubleBarrierOptions::new(2, Reuse::Generations, Leave::Keeper);
    DoubleBarrier::new(&on.zk, "/step", options).expect("the input is good")
}

/// A call that waits for the end of what another client holds.
macro_rules! behind_another {
    ($name:literal, $holds:expr, $waits:expr) => {
        Row {
            name: $name,
            prepare: |stage, a| {
                async move {
                    let b = stage.client("b").await;
                    b.makes("/locks").await;
                    b.makes(DIRECTORY).await;
                    let held = $holds(b).await.expect("it is granted");
                    let waits = $waits;
                    Ready { keeps: Box::new(held), ..alone(async move { waits(a).await }) }
                }
                .boxed()
            },
        }
    };
}

pub(super) use behind_another;

/// All of them.
pub const ALL: &[Row] = &[
    behind_another!("Lock::acquire", async |b: Client| b.lock().acquire().await, async |a: Client| {
        a.lock().acquire().await.map(drop)
    }),
    behind_another!("SharedLock::write", async |b: Client| shared(&b).read().await, async |a: Client| {
        shared(&a).write().await.map(drop)
    }),
    behind_another!(
        "RevocableLock::read",
        async |b: Client| revocable(&b).write().await,
        async |a: Client| { revocable(&a).read().await.map(drop) }
    ),
    behind_another!(
        "RevocableLock::force",
        async |b: Client| revocable(&b).write().await,
        async |a: Client| {
            let holder = revocable(&a).contenders().await?.remove(0);
            revocable(&a).force(&holder, GRACE).await.map(drop)
        }
    ),
    behind_another!(
        "PriorityLock::write",
        async |b: Client| priority(&b).write(Priority(5)).await,
        async |a: Client| { priority(&a).write(Priority(7)).await.map(drop) }
    ),
    behind_another!(
        "PriorityLock::force",
        async |b: Client| priority(&b).write(Priority(5)).await,
        async |a: Client| {
            let holder = priority(&a).contenders().await?.remove(0);
            priority(&a).force(&holder, GRACE).await.map(drop)
        }
    ),
    behind_another!(
        "Semaphore::acquire",
        async |b: Client| semaphore(&b).acquire(2).await,
        async |a: Client| semaphore(&a).acquire(2).await.map(drop)
    ),
    behind_another!("Election::stand", async |b: Client| election(&b).stand().await, async |a: Client| {
        election(&a).stand().await.map(drop)
    }),
    behind_another!(
        "Names::register",
        async |b: Client| names(&b).register("db", b"").await,
        async |a: Client| {
            let options = NamesOptions::default().with_if_taken(IfTaken::Wait);
            Names::new(&a.zk, "/names", options)?.register("db", b"").await.map(drop)
        }
    ),
    behind_another!(
        "Group::join",
        async |b: Client| {
            Group::new(&b.zk, "/group", GroupOptions::default())?.join(Some("one"), b"").await
        },
        async |a: Client| {
            let options = GroupOptions::default().with_if_taken(IfTaken::Wait);
            Group::new(&a.zk, "/group", options)?.join(Some("one"), b"").await.map(drop)
        }
    ),
    behind_another!("Barrier::wait", async |b: Client| gate(&b).raise().await, async |a: Client| {
        gate(&a).wait().await
    }),
    behind_another!(
        "Barrier::wait_until_down",
        async |b: Client| gate(&b).raise().await,
        async |a: Client| { gate(&a).wait_until_down().await }
    ),
    Row {
        name: "DoubleBarrier::enter",
        prepare: |_, a| async move { alone(async move { step(&a).enter().await }) }.boxed(),
    },
    Row {
        name: "Inside::leave",
        prepare: |stage, a| {
            async move {
                let b = stage.client("b").await;
                let (one, two) = (step(&a), step(&b));
                let (one, two) = futures_util::future::join(one.enter(), two.enter()).await;
                let leaving = one.expect("both are there").leave();
                Ready { keeps: Box::new(two.expect("both are there")), ..alone(leaving) }
            }
            .boxed()
        },
    },
    Row {
        name: "Consumer::take",
        prepare: |_, a| {
            async move {
                let mut takes = queue(&a, Delivery::AtMostOnce).consumer();
                alone(async move { takes.take().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Consumer::claim, as in the textbook",
        prepare: |_, a| {
            async move {
                let options = QueueOptions::new(Delivery::AtLeastOnce).with_idle(Idle::Textbook);
                let queue = Queue::new(&a.zk, "/q", options).expect("the path is good");
                let mut claims = queue.consumer();
                alone(async move { claims.claim().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Updates::next",
        prepare: |_, a| {
            async move {
                let mut updates = config(&a, "/value").follow();
                updates.next().await.expect("the session lives");
                alone(async move { updates.next().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Views::next",
        prepare: |_, a| {
            async move {
                let group = Group::new(&a.zk, "/group", GroupOptions::default()).expect("the path is good");
                let mut views = group.follow(WithData::No);
                views.next().await.expect("the session lives");
                alone(async move { views.next().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Leadership::next",
        prepare: |_, a| {
            async move {
                let mut sees = election(&a).follow();
                sees.next().await.expect("the session lives");
                alone(async move { sees.next().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Coordinator::decision, without a coordinator's part",
        prepare: |_, a| {
            async move { of(begun(&a, PLAIN).await, |begun| async move { begun.decision().await }) }.boxed()
        },
    },
    Row {
        name: "Coordinator::decision, of a coordinator",
        prepare: |_, a| {
            async move { of(begun(&a, Form::Coordinator).await, |begun| async move { begun.decision().await }) }
                .boxed()
        },
    },
    Row {
        name: "Coordinator::decision, of a coordinator that watches the sites",
        prepare: |_, a| {
            async move {
                of(begun(&a, Form::SiteEphemerals).await, |begun| async move { begun.decision().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Voted::decision",
        prepare: |_, a| {
            async move {
                drop(begun(&a, PLAIN).await);
                of(votes(&a, "x", Vote::Commit).await, |voted| async move { voted.decision().await })
            }
            .boxed()
        },
    },
    Row {
        name: "Voted::next_vote",
        prepare: |_, a| {
            async move {
                drop(begun(&a, Form::Decentralised { follow_votes: true }).await);
                of(votes(&a, "x", Vote::Commit).await, |voted| async move { voted.next_vote().await })
            }
            .boxed()
        },
    },
];
