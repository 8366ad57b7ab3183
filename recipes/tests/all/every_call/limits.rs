//! Calls that give up when their limit is over, and double barriers in which nobody waits in the end.

use super::waits::{behind_another, gate, step};
use super::writes::{PLAIN, begun, election, priority, revocable, shared, votes};
use super::{Ready, Row, alone, of};
use crate::common::{Client, DIRECTORY};
use futures_util::FutureExt;
use std::time::Duration;
use zk_recipes::two_phase_commit::Vote;
use zk_recipes::{
    DoubleBarrier, DoubleBarrierOptions, Group, GroupOptions, IfTaken, Leave, Names, NamesOptions, Parents,
    Priority, Reuse,
};

/// Longer than a call takes to come to rest, and shorter than a reconnect.
const LIMIT: Duration = Duration::from_millis(300);

fn names_that_wait(on: &Client) -> Names<sim_zk::SimClient> {
    let options = NamesOptions { if_taken: IfTaken::Wait, ..NamesOptions::default() };
    Names::new(&on.zk, "/names", options).expect("the path is good")
}

fn group(on: &Client) -> Group<sim_zk::SimClient> {
    Group::new(&on.zk, "/group", GroupOptions::default()).expect("the path is good")
}

fn once(on: &Client) -> DoubleBarrier<sim_zk::SimClient> {
    let options = DoubleBarrierOptions {
        participants: 1,
        id: None,
        reuse: Reuse::Once,
        leave: Leave::Keeper,
        parents: Parents::Container,
    };
    DoubleBarrier::new(&on.zk, "/once", options).expect("the input is good")
}

/// All of them.
pub const ALL: &[Row] = &[
    behind_another!("Lock::acquire_within", async |b: Client| b.lock().acquire().await, async |a: Client| {
        a.lock().acquire_within(LIMIT).await.map(drop)
    }),
    behind_another!(
        "SharedLock::write_within",
        async |b: Client| shared(&b).read().await,
        async |a: Client| shared(&a).write_within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "RevocableLock::read_within",
        async |b: Client| revocable(&b).write().await,
        async |a: Client| revocable(&a).read_within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "PriorityLock::write_within",
        async |b: Client| priority(&b).write(Priority(5)).await,
        async |a: Client| priority(&a).write_within(Priority(7), LIMIT).await.map(drop)
    ),
    behind_another!(
        "Election::stand_within",
        async |b: Client| election(&b).stand().await,
        async |a: Client| election(&a).stand_within(LIMIT).await.map(drop)
    ),
    behind_another!(
        "Names::register_within",
        async |b: Client| names_that_wait(&b).register("db", b"").await,
        async |a: Client| names_that_wait(&a).register_within(LIMIT, "db", b"").await.map(drop)
    ),
    behind_another!(
        "Group::join_within",
        async |b: Client| group(&b).join(Some("one"), b"").await,
        async |a: Client| group(&a).join_within(LIMIT, Some("one"), b"").await.map(drop)
    ),
    behind_another!("Barrier::wait_within", async |b: Client| gate(&b).raise().await, async |a: Client| {
        gate(&a).wait_within(LIMIT).await
    }),
    behind_another!(
        "Barrier::wait_until_down_within",
        async |b: Client| gate(&b).raise().await,
        async |a: Client| gate(&a).wait_until_down_within(LIMIT).await
    ),
    Row {
        name: "DoubleBarrier::enter_within",
        prepare: |_, a| {
            async move { alone(async move { step(&a).enter_within(LIMIT).await.map(drop) }) }.boxed()
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
        name: "Coordinator::decision_within",
        prepare: |_, a| {
            async move {
                of(begun(&a, PLAIN).await, |begun| async move { begun.decision_within(LIMIT).await })
            }
            .boxed()
        },
    },
    Row {
        name: "Voted::decision_within",
        prepare: |_, a| {
            async move {
                drop(begun(&a, PLAIN).await);
                let voted = votes(&a, "x", Vote::Commit).await;
                of(voted, |voted| async move { voted.decision_within(LIMIT).await })
            }
            .boxed()
        },
    },
];
