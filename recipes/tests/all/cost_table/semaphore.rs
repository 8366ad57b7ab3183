//! The semaphore: free, waited for, handed over, tried in vain, and another number of permits.

use super::{Cost, Meter, Row, cost, row};
use crate::common::{Client, DIRECTORY, Stage, play};
use sim_zk::SimClient;
use std::future::Future;
use zk_recipes::{Semaphore, SemaphoreOptions};

const SEMAPHORE: &str = "semaphore";

fn semaphore(client: &Client) -> Semaphore<SimClient> {
    Semaphore::new(&client.zk, DIRECTORY, 2, SemaphoreOptions::default()).expect("the input is good")
}

/// A founder who has made a semaphore of two permits.
async fn founder(stage: &Stage) -> Client {
    let founder = stage.founder().await;
    founder.makes("/locks/a/line").await;
    semaphore(&founder).set_permits(2).await.expect("the network is calm");
    stage.settle().await;
    founder
}

/// What `work` costs a client.
async fn counted<T>(stage: &Stage, client: &Client, work: impl Future<Output = T>) -> (T, Cost) {
    let meter = Meter::begins(stage);
    let output = work.await;
    stage.settle().await;
    (output, meter.of(stage, client))
}

pub fn rows() -> Vec<Row> {
    let mut rows = of_one_client();
    rows.extend(of_waiters());
    rows
}

fn of_one_client() -> Vec<Row> {
    let first = play(|stage| async move {
        let a = stage.founder().await;
        a.makes("/locks/a/line").await;
        let (held, first) = counted(&stage, &a, semaphore(&a).acquire(1)).await;
        drop(held);
        first
    });
    play(move |stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let (held, acquires) = counted(&stage, &a, semaphore(&a).acquire(1)).await;
        let (_, releases) = counted(&stage, &a, held.expect("it is free").release()).await;
        let (held, all) = counted(&stage, &a, semaphore(&a).acquire(2)).await;
        let (none, tries) = counted(&stage, &b, semaphore(&b).try_acquire(1)).await;
        assert!(none.expect("it can be tried").is_none());
        drop(held);
        let (number, permits) = counted(&stage, &b, semaphore(&b).permits()).await;
        assert_eq!(number, Ok(2));
        let (_, holders) = counted(&stage, &b, semaphore(&b).holders()).await;
        let (_, sets) = counted(&stage, &b, semaphore(&b).set_permits(3)).await;
        let (_, sets_same) = counted(&stage, &b, semaphore(&b).set_permits(3)).await;
        vec![
            row(SEMAPHORE, "acquire, the first of an object", first, cost(8, 4, 0, 0)),
            row(SEMAPHORE, "acquire, free", acquires, cost(4, 2, 0, 0)),
            row(SEMAPHORE, "acquire of all permits, free", all, cost(4, 2, 0, 0)),
            row(SEMAPHORE, "release", releases, cost(1, 1, 0, 0)),
            row(SEMAPHORE, "try to acquire, in vain", tries, cost(4, 2, 0, 0)),
            row(SEMAPHORE, "read the number of permits", permits, cost(1, 1, 0, 0)),
            row(SEMAPHORE, "list the holders", holders, cost(1, 1, 0, 0)),
            row(SEMAPHORE, "change the number of permits", sets, cost(2, 2, 0, 0)),
            row(SEMAPHORE, "change the number of permits to the same", sets_same, cost(2, 2, 0, 0)),
        ]
    })
}

/// One client waits for permits, and another one behind it.
fn of_waiters() -> Vec<Row> {
    play(|stage| async move {
        let a = founder(&stage).await;
        let (b, c) = (stage.client("b").await, stage.client("c").await);
        let held = semaphore(&a).acquire(2).await.expect("they are free");
        let asks = async |client: &Client| {
            let semaphore = semaphore(client);
            let meter = Meter::begins(&stage);
            let asking = client.process.spawn(async move { semaphore.acquire(2).await });
            stage.settle().await;
            (asking, meter.of(&stage, client))
        };
        let (first, waits) = asks(&b).await;
        let (second, waits_behind) = asks(&c).await;
        let meter = Meter::begins(&stage);
        held.release().await.expect("it is released");
        stage.settle().await;
        let (granted, moves_up) = (meter.of(&stage, &b), meter.of(&stage, &c));
        let held = first.await.expect("its process lives").expect("it is granted");
        let meter = Meter::begins(&stage);
        held.release().await.expect("it is released");
        stage.settle().await;
        let granted_second = meter.of(&stage, &c);
        drop(second.await);
        vec![
            row(SEMAPHORE, "acquire, until it waits for permits", waits, cost(4, 2, 0, 1)),
            row(SEMAPHORE, "acquire, until it waits behind another waiter", waits_behind, cost(4, 2, 0, 1)),
            row(SEMAPHORE, "the permits that it waits for are released", granted, cost(2, 2, 1, 0)),
            row(
                SEMAPHORE,
                "the waiter ahead is granted, until it waits for permits",
                moves_up,
                cost(2, 2, 1, 1),
            ),
            row(SEMAPHORE, "its turn comes, behind another waiter", granted_second, cost(2, 2, 1, 0)),
        ]
    })
}
