//! Calls that only the table of costs has: those that give up when their limit is over, double barriers in which nobody waits in the end,
//! and guards that are to tell when they are over.

use super::waits::{behind_another, gate, step};
use super::writes::{PLAIN, begun, election, priority, revocable, semaphore, shared, votes};
use super::{Ready, Row, alone, of};
use crate::common::{Client, DIRECTORY};
use futures_util::FutureExt;
use sim_zk::SimClient;
use std::time::Duration;
use zk_recipes::two_phase_commit::Vote;
use zk_recipes::zk::{Runtime, ZooKeeper};
use zk_recipes::{
    DoubleBarrier, DoubleBarrierOptions, Group, GroupOptions, IfTaken, Leave, Names, NamesOptions, Priority,
    Reuse,
};

/// Longer than a call takes to come to rest, and shorter than a reconnect.
const LIMIT: Duration = Duration::from_millis(300);

fn names_that_wait(on: &Client) -> Names<SimClient> {
    let options = NamesOptions::default().with_if_taken(IfTaken::Wait);
    Names::new(&on.zk, "/names", options).expect("the path is good")
}

fn group(on: &Client) -> Group<SimClient> {
    Group::new(&on.zk, "/group", GroupOptions::default().with_if_taken(IfTaken::Wait))
        .expect("the path is good")
}

fn once(on: &Client) -> DoubleBarrier<SimClient> {
    let options = DoubleBarrierOptions::new(1, Reuse::Once, Leave::Keeper);
    DoubleBarrier::new(&on.zk, "/once", options).expect("the input is good")
}

/// Writes to a znode, and then deletes it.
async fn disturbs(zk: SimClient, path: String) {
    zk.sleep_until(zk.now() + LIMIT).await;
    let _ = zk.set(&path, b"?", None).await;
    zk.sleep_until(zk.now() + LIMIT).await;
    let _ = zk.delete(&path, None).await;
}

/// A guard that waits for its end. A stranger writes to its znode first, and deletes it then.
macro_rules! told {
    ($name:literal, |$a:ident| $held:expr, $tells:ident) => {
        Row {
            name: $name,
            prepare: |stage, $a| {
                async move {
                    let b = stage.client("b").await;
                    $a.makes("/locks").await;
                    $a.makes(DIRECTORY).await;
                    let held = $held.await.expect("it is granted");
                    let path = held.path().to_owned();
                    b.process.spawn(disturbs(b.zk.clone(), path));
                    of(held, |held| async move {
                        let _ = held.$tells().await;
                        Ok(())
                    })
                }
                .boxed()
            },
        }
    };
}

/// All of them.
pub const ALL: &[Row] = &[
    behind_another!(
        "Lock::acquire, limited",
        async |b: Client| b.lock().acquire().await,
        async |a: Client| { a.lock().acquire().within(LIMIT).await.map(drop) }
    ),
    behind_another!(
        "SharedLock::write, limited",
        async |b: Client| shared(&b).read().await,
        async |a: Client| shared(&a).write().within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "RevocableLock::read, limited",
        async |b: Client| revocable(&b).write().await,
        async |a: Client| revocable(&a).read().within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "PriorityLock::write, limited",
        async |b: Client| priority(&b).write(Priority(5)).await,
        async |a: Client| priority(&a).write(Priority(7)).within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "Semaphore::acquire, limited",
        async |b: Client| semaphore(&b).acquire(2).await,
        async |a: Client| semaphore(&a).acquire(2).within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "Election::stand, limited",
        async |b: Client| election(&b).stand().await,
        async |a: Client| election(&a).stand().within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "Names::register, limited",
        async |b: Client| names_that_wait(&b).register("db", b"").await,
        async |a: Client| names_that_wait(&a).register("db", b"").within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "Group::join, limited",
        async |b: Client| group(&b).join(Some("one"), b"").await,
        async |a: Client| group(&a).join(Some("one"), b"").within(LIMIT).await.map(drop)
    ),
    behind_another!("Barrier::wait, limited", async |b: Client| gate(&b).raise().await, async |a: Client| {
        gate(&a).wait().within(LIMIT).await
    }),
    behind_another!(
        "Barrier::wait_until_down, limited",
        async |b: Client| gate(&b).raise().await,
        async |a: Client| gate(&a).wait_until_down().within(LIMIT).await
    ),
    Row {
        name: "DoubleBarrier::enter, limited",
        prepare: |_, a| {
            async move { alone(async move { step(&a).enter().within(LIMIT).await.map(drop) }) }.boxed()
        },
    },
    Row {
        name: "DoubleBarrier::enter, the last one",
        prepare: |stage, a| {
            async move {
                let b = stage.client("b").await;
                let first = b.clone();
                let waits = b.process.spawn(async move { step(&first).enter().await });
                stage.pass(&b, LIMIT).await;
                let step = step(&a);
                let call = async move { step.enter().await };
                Ready { keeps: Box::new(waits), ..alone(call) }
            }
            .boxed()
        },
    },
    Row {
        name: "DoubleBarrier::enter, of a round that is over",
        prepare: |stage, a| {
            async move {
                let b = stage.client("b").await;
                let inside = once(&b).enter().await.expect("it is alone");
                Ready { keeps: Box::new(inside), ..alone(async move { once(&a).enter().await }) }
            }
            .boxed()
        },
    },
    Row {
        name: "Inside::leave, the last one",
        prepare: |_, a| {
            async move {
                let inside = once(&a).enter().await.expect("it is alone");
                alone(inside.leave())
            }
            .boxed()
        },
    },
    Row {
        name: "Coordinator::decision, limited",
        prepare: |_, a| {
            async move {
                of(begun(&a, PLAIN).await, |begun| async move { begun.decision().within(LIMIT).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Voted::decision, limited",
        prepare: |_, a| {
            async move {
                drop(begun(&a, PLAIN).await);
                let voted = votes(&a, "x", Vote::Commit).await;
                of(voted, |voted| async move { voted.decision().within(LIMIT).await })
            }
            .boxed()
        },
    },
    told!("Guard<Exclusive>::lost", |a| a.lock().acquire(), lost),
    told!("Guard<Revocable<Write>>::lost", |a| revocable(&a).write(), lost),
    told!("Guard<Revocable<Write>>::revoked", |a| revocable(&a).write(), revoked),
    told!("Guard<Revocable<Exclusive>>::lost", |a| priority(&a).write(Priority(5)), lost),
    told!("Guard<Permits>::lost", |a| semaphore(&a).acquire(2), lost),
    told!("Term::lost", |a| election(&a).stand(), lost),
    told!("Registration::lost", |a| names_that_wait(&a).register("db", b""), lost),
    told!("Membership::lost", |a| group(&a).join(Some("one"), b""), lost),
    told!("Inside::lost", |a| once(&a).enter(), lost),
];
