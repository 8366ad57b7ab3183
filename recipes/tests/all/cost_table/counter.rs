//! Counters: each change, and many clients at once.

use super::{Cost, Meter, Row, cost, row};
use crate::common::{Client, Stage, play};
use futures_util::future::join_all;
use sim_zk::SimClient;
use std::future::Future;
use zk_recipes::{Counter, CounterOptions, Freshness};

const COUNTER: &str = "counter";

fn counter(client: &Client) -> Counter<SimClient> {
    Counter::new(&client.zk, "/counter", CounterOptions::default()).expect("a good path")
}

pub fn rows() -> Vec<Row> {
    let mut rows = alone();
    rows.push(together());
    rows
}

fn alone() -> Vec<Row> {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        assert_eq!(counter(&b).add(1).await, Ok(Some(1)));
        stage.settle().await;
        let counter = counter(&a);
        let (_, first) = counted(&stage, &a, counter.add(1)).await;
        let (_, one) = counted(&stage, &a, counter.add(1)).await;
        let (_, few) = counted(&stage, &a, counter.add(64)).await;
        let (_, many) = counted(&stage, &a, counter.add(-1_000)).await;
        let (_, set) = counted(&stage, &a, counter.set(5)).await;
        let (replaced, replace) = counted(&stage, &a, counter.compare_and_set(5, 6)).await;
        assert_eq!(replaced, Ok(()));
        let (_, local) = counted(&stage, &a, counter.get(Freshness::Local)).await;
        let (_, latest) = counted(&stage, &a, counter.get(Freshness::Latest)).await;
        vec![
            row(COUNTER, "add 1, the first change of an object", first, cost(4, 3, 0, 0)),
            row(COUNTER, "add 1", one, cost(1, 1, 0, 0)),
            row(COUNTER, "add 64", few, cost(1, 1, 0, 0)),
            row(COUNTER, "subtract 1000", many, cost(1, 1, 0, 0)),
            row(COUNTER, "set", set, cost(1, 1, 0, 0)),
            row(COUNTER, "compare and set", replace, cost(1, 1, 0, 0)),
            row(COUNTER, "get, local", local, cost(1, 1, 0, 0)),
            row(COUNTER, "get, latest", latest, cost(2, 1, 0, 0)),
        ]
    })
}

/// What `work` costs a client.
async fn counted<T>(stage: &Stage, client: &Client, work: impl Future<Output = T>) -> (T, Cost) {
    let meter = Meter::begins(stage);
    let output = work.await;
    stage.settle().await;
    (output, meter.of(stage, client))
}

/// Of 32 clients that add 1 at the same time, again and again, the one that sends most.
fn together() -> Row {
    play(|stage| async move {
        let mut clients = Vec::new();
        for number in 0..32 {
            clients.push(stage.client(&format!("c{number}")).await);
        }
        let counters: Vec<_> = clients.iter().map(counter).collect();
        let add = || join_all(counters.iter().map(|counter| counter.add(1)));
        add().await;
        stage.settle().await;
        let meter = Meter::begins(&stage);
        for _ in 0..10 {
            add().await;
        }
        stage.settle().await;
        let most = clients.iter().map(|client| meter.of(&stage, client)).max_by_key(|cost| cost.requests);
        let mut most = most.expect("there are clients");
        most.round_trips = 0;
        assert_eq!(counters[0].get(Freshness::Latest).await, Ok(32 * 11));
        row(COUNTER, "32 clients add 1 ten times each, the one that sends most", most, cost(10, 0, 0, 0))
    })
}
