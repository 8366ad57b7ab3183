//! The priority lock: free, waited for, handed over, asked for by somebody more urgent.

use super::{Meter, Row, cost, row};
use crate::common::{Client, DIRECTORY, Stage, play};
use sim_zk::SimClient;
use zk_recipes::{Preempt, Priority, PriorityLock, PriorityLockOptions};

const PRIORITY_LOCK: &str = "priority lock";

fn lock(client: &Client, preempt: Preempt) -> PriorityLock<SimClient> {
    let options = PriorityLockOptions::default().with_preempt(preempt);
    PriorityLock::new(&client.zk, DIRECTORY, options).expect("the path is good")
}

async fn founder(stage: &Stage) -> Client {
    let founder = stage.founder().await;
    founder.makes("/locks/a/line").await;
    founder.makes("/locks/a/held").await;
    founder
}

pub fn rows() -> Vec<Row> {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let meter = Meter::begins(&stage);
        let held = lock(&a, Preempt::Never).write(Priority(9)).await.expect("it is free");
        stage.settle().await;
        let acquires = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        let (waits, asks) = (lock(&b, Preempt::Never), lock(&b, Preempt::Ask));
        let asking = b.process.spawn(async move { waits.write(Priority(9)).await });
        stage.settle().await;
        let waits = meter.of(&stage, &b);
        let meter = Meter::begins(&stage);
        held.release().await.expect("it is released");
        stage.settle().await;
        let releases = meter.of(&stage, &a);
        let held = asking.await.expect("its process lives").expect("it is granted");
        stage.settle().await;
        let granted = meter.of(&stage, &b);
        held.release().await.expect("it is released");
        let held = lock(&a, Preempt::Never).write(Priority(9)).await.expect("it is free");
        stage.settle().await;
        let meter = Meter::begins(&stage);
        let asking = b.process.spawn(async move { asks.write(Priority(1)).await });
        stage.settle().await;
        let preempts = meter.of(&stage, &b);
        drop(held);
        drop(asking.await);
        vec![
            row(PRIORITY_LOCK, "acquire, uncontended", acquires, cost(6, 2, 0, 1)),
            row(PRIORITY_LOCK, "acquire, until it waits", waits, cost(6, 2, 0, 2)),
            row(PRIORITY_LOCK, "its turn comes, with its own place going", granted, cost(5, 2, 2, 1)),
            row(PRIORITY_LOCK, "acquire, until it has asked a holder to release", preempts, cost(7, 2, 0, 2)),
            row(PRIORITY_LOCK, "release, with the notification of its own watch", releases, cost(1, 1, 1, 0)),
        ]
    })
}
