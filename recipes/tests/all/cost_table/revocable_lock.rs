//! The revocable lock: what being asked costs, and what asking does.

use super::{Meter, Row, cost, row};
use crate::common::{DIRECTORY, play};
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Contender, RevocableLock, RevocableLockOptions};

const REVOCABLE: &str = "revocable lock";

fn lock<Z: ZooKeeper>(zk: &Z) -> RevocableLock<Z> {
    RevocableLock::new(zk, DIRECTORY, RevocableLockOptions::default()).expect("the path is good")
}

pub fn rows() -> Vec<Row> {
    let (acquire, ask, told, bystander, release) = play(|stage| async move {
        let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
        let meter = Meter::begins(&stage);
        let held = lock(&a.zk).write().await.expect("it is granted");
        stage.settle().await;
        let acquire = meter.of(&stage, &a);
        let behind = lock(&b.zk);
        let waiting = b.process.spawn(async move { behind.write().await });
        stage.settle().await;
        let meter = Meter::begins(&stage);
        let whom = Contender { path: held.path().to_owned(), number: 0 };
        lock(&c.zk).ask(&whom).await.expect("it is asked");
        held.revoked().await.expect("it hears the word");
        stage.settle().await;
        let (ask, told, bystander) = (meter.of(&stage, &c), meter.of(&stage, &a), meter.of(&stage, &b));
        let meter = Meter::begins(&stage);
        held.release().await.expect("it is released");
        let release = meter.of(&stage, &a);
        drop(waiting.await);
        (acquire, ask, told, bystander, release)
    });
    let force = play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = lock(&a.zk).write().await.expect("it is granted");
        let whom = Contender { path: held.path().to_owned(), number: 0 };
        let meter = Meter::begins(&stage);
        lock(&b.zk).force(&whom, Duration::from_secs(1)).await.expect("it is made to go");
        stage.settle().await;
        meter.of(&stage, &b)
    });
    vec![
        row(REVOCABLE, "acquire, uncontended, and the own watch behind it", acquire, cost(3, 2, 0, 1)),
        row(REVOCABLE, "ask", ask, cost(1, 1, 0, 0)),
        row(REVOCABLE, "ask, the contender that is asked", told, cost(1, 1, 1, 1)),
        row(REVOCABLE, "ask, the waiter behind it", bystander, cost(0, 0, 0, 2)),
        row(REVOCABLE, "force, without the grace period", force, cost(3, 2, 1, 0)),
        row(REVOCABLE, "release", release, cost(1, 1, 1, 0)),
    ]
}
