//! The shared lock: readers and writers, free and waited for, a downgrade, and a round of one writer and 32 readers.

use super::lock::crowd;
use super::{Cost, Meter, Row, cost, row};
use crate::common::{DIRECTORY, play};
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{SharedLock, SharedLockOptions};

const SHARED: &str = "shared lock";

fn lock<Z: ZooKeeper>(zk: &Z) -> SharedLock<Z> {
    SharedLock::new(zk, DIRECTORY, SharedLockOptions::default()).expect("the path is good")
}

pub fn rows() -> Vec<Row> {
    let (reads, again, downgrade, release) = play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let meter = Meter::begins(&stage);
        let one = lock(&a.zk).read().await.expect("it is granted");
        stage.settle().await;
        let reads = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        let other = lock(&b.zk).read().await.expect("it is granted");
        stage.settle().await;
        let again = meter.of(&stage, &b);
        drop((one, other));
        stage.settle().await;
        let write = lock(&a.zk).write().await.expect("it is granted");
        let meter = Meter::begins(&stage);
        let read = write.downgrade().await.expect("it goes on as a reader");
        stage.settle().await;
        let downgrade = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        read.release().await.expect("it is released");
        stage.settle().await;
        (reads, again, downgrade, meter.of(&stage, &a))
    });
    let (counted, budget) = a_round(32);
    vec![
        row(SHARED, "read, uncontended", reads, cost(2, 1, 0, 0)),
        row(SHARED, "read, a reader ahead", again, cost(2, 1, 0, 0)),
        row(SHARED, "downgrade", downgrade, cost(1, 1, 0, 0)),
        row(SHARED, "release", release, cost(1, 1, 0, 0)),
        row(SHARED, "a writer and 32 readers behind it, in all", counted, budget),
    ]
}

/// A writer holds, all others want to read; it goes, they read and go.
fn a_round(readers: usize) -> (Cost, Cost) {
    let counted = play(move |stage| async move {
        let founder = stage.founder().await;
        let crowd = crowd(&stage, readers).await;
        let meter = Meter::begins(&stage);
        let write = lock(&founder.zk).write().await.expect("it is granted");
        let mut reading = Vec::new();
        for client in crowd {
            let lock = lock(&client.zk);
            reading.push(client.process.spawn(async move { lock.read().await }));
        }
        stage.settle().await;
        write.release().await.expect("it is released");
        for reading in reading {
            let read = reading.await.expect("its process lives").expect("it is granted");
            read.release().await.expect("it is released");
        }
        stage.settle().await;
        let (requests, notifications) = meter.of_all(&stage);
        cost(requests, 0, notifications, 0)
    });
    // The writer: create and list, a delete. Each reader: create and list, a watch, a list, a delete.
    (counted, cost(3 + 5 * readers, 0, readers, 0))
}
