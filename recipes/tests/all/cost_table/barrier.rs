//! The barrier: raising, waiting, passing; the double barrier: entering and leaving, as one of three and as the last of them.

use super::{Cost, Meter, Row, cost, row};
use crate::common::{Client, Stage, play};
use futures_util::future::join_all;
use std::future::Future;
use std::pin::Pin;
use zk_recipes::zk::Error;
use zk_recipes::{
    Barrier, BarrierOptions, DoubleBarrier, DoubleBarrierOptions, Inside, Leave, Released, Reuse,
};

const BARRIER: &str = "barrier";
const DOUBLE: &str = "double barrier";

pub fn rows() -> Vec<Row> {
    let mut rows = barrier();
    rows.extend(double(Leave::Keeper));
    rows.extend(double(Leave::Chain));
    rows
}

fn barrier() -> Vec<Row> {
    let [raise, wait, pass, open] = play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let gate =
            |on: &Client| Barrier::new(&on.zk, "/gate", BarrierOptions::default()).expect("a good path");
        let meter = Meter::begins(&stage);
        gate(&a).raise().await.expect("it is raised");
        let raise = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        let waiter = gate(&b);
        let waiting = b.process.spawn(async move { waiter.wait().await });
        stage.settle().await;
        let wait = meter.of(&stage, &b);
        let meter = Meter::begins(&stage);
        gate(&a).lower().await.expect("it is lowered");
        waiting.await.expect("its process lives").expect("it passes");
        stage.settle().await;
        let pass = meter.of(&stage, &b);
        let meter = Meter::begins(&stage);
        gate(&b).wait().await.expect("none stands");
        [raise, wait, pass, meter.of(&stage, &b)]
    });
    vec![
        row(BARRIER, "raise", raise, cost(1, 1, 0, 0)),
        row(BARRIER, "wait, until it waits", wait, cost(1, 1, 0, 1)),
        row(BARRIER, "it is lowered", pass, cost(0, 0, 1, 0)),
        row(BARRIER, "wait, the barrier is down", open, cost(1, 1, 0, 0)),
    ]
}

type Entering = Pin<Box<dyn Future<Output = Result<Inside<sim_zk::SimClient>, Error>> + Send>>;
type Leaving = Pin<Box<dyn Future<Output = Result<Released, Error>> + Send>>;

fn enters(on: &Client, leave: Leave) -> Entering {
    let options = DoubleBarrierOptions::new(3, Reuse::Generations, leave);
    let barrier = DoubleBarrier::new(&on.zk, "/step", options).expect("the input is good");
    let entering = on.process.spawn(async move { barrier.enter().await });
    Box::pin(async move { entering.await.expect("its process lives") })
}

fn leaves(on: &Client, inside: Inside<sim_zk::SimClient>) -> Leaving {
    let leaving = on.process.spawn(inside.leave());
    Box::pin(async move { leaving.await.expect("its process lives") })
}

/// One round to make the directories, then the round that counts.
fn double(how: Leave) -> Vec<Row> {
    let counted = play(move |stage| async move {
        let all = [stage.client("a").await, stage.client("b").await, stage.client("c").await];
        let first = join_all(all.iter().map(|client| enters(client, how))).await;
        let first = first.into_iter().zip(&all).map(|(inside, client)| leaves(client, inside.expect("in")));
        join_all(first).await.into_iter().for_each(|out| assert_eq!(out, Ok(Released::Clean)));
        stage.settle().await;
        round(&stage, &all, how).await
    });
    let [waits, told, opens, waiter_leaves, keeper_leaves] = counted;
    let (what, of) = match how {
        Leave::Keeper => ("", "the keeper"),
        Leave::Chain => (" in a chain", "the last"),
    };
    let mut rows = Vec::new();
    if how == Leave::Keeper {
        rows.push(row(DOUBLE, "enter, the first of its round, until it waits", waits, cost(4, 3, 0, 1)));
        rows.push(row(DOUBLE, "it has opened", told, cost(1, 1, 1, 1)));
        rows.push(row(DOUBLE, "enter, the opener", opens, cost(4, 4, 0, 0)));
    }
    let budget = if how == Leave::Keeper { cost(2, 2, 1, 0) } else { cost(7, 4, 1, 0) };
    rows.push(row(DOUBLE, format!("leave{what}, the first of three"), waiter_leaves, budget));
    let budget = if how == Leave::Keeper { cost(2 * 2 + 1, 3, 2, 0) } else { cost(7, 4, 2, 0) };
    rows.push(row(DOUBLE, format!("leave{what}, {of}"), keeper_leaves, budget));
    rows
}

async fn round(stage: &Stage, all: &[Client; 3], how: Leave) -> [Cost; 5] {
    let [a, b, c] = all;
    let meter = Meter::begins(stage);
    let first = enters(a, how);
    stage.settle().await;
    let waits = meter.of(stage, a);
    let second = enters(b, how);
    stage.settle().await;
    let (meter, third) = (Meter::begins(stage), enters(c, how).await.expect("in"));
    let (first, second) = (first.await.expect("in"), second.await.expect("in"));
    stage.settle().await;
    let (told, opens) = (meter.of(stage, a), meter.of(stage, c));
    let meter = Meter::begins(stage);
    let mut out = vec![leaves(a, first)];
    stage.settle().await;
    out.push(leaves(c, third));
    stage.settle().await;
    out.push(leaves(b, second));
    join_all(out).await.into_iter().for_each(|out| assert_eq!(out, Ok(Released::Clean)));
    stage.settle().await;
    [waits, told, opens, meter.of(stage, a), meter.of(stage, c)]
}
