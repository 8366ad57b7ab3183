//! The lock: free, waited for, handed over among two, 32 and 256.

use super::{Cost, Meter, Row, cost, row};
use crate::common::{Client, Stage, TIMEOUT, play};

const LOCK: &str = "lock";

pub fn rows() -> Vec<Row> {
    let (acquire, release) = play(|stage| async move {
        let a = stage.founder().await;
        let meter = Meter::begins(&stage);
        let held = a.acquires().await;
        stage.settle().await;
        let acquire = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        held.release().await.expect("it is released");
        stage.settle().await;
        (acquire, meter.of(&stage, &a))
    });
    let (waits, granted) = play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let held = a.acquires().await;
        let meter = Meter::begins(&stage);
        let asking = b.asks();
        stage.settle().await;
        let waits = meter.of(&stage, &b);
        let meter = Meter::begins(&stage);
        held.release().await.expect("it is released");
        let held = asking.await.expect("it is granted");
        let granted = meter.of(&stage, &b);
        drop(held);
        (waits, granted)
    });
    let mut rows = vec![
        row(LOCK, "acquire, uncontended", acquire, cost(2, 1, 0, 0)),
        row(LOCK, "release", release, cost(1, 1, 0, 0)),
        row(LOCK, "acquire, contended, until it waits", waits, cost(3, 2, 0, 1)),
        row(LOCK, "its turn comes", granted, cost(1, 1, 1, 0)),
    ];
    for waiters in [2, 32, 256] {
        let (counted, budget) = hand_overs(waiters);
        rows.push(row(LOCK, format!("all hand-overs among {waiters}, in all"), counted, budget));
    }
    rows
}

/// All queue, then each releases in turn: one notification a hand-over.
fn hand_overs(clients: usize) -> (Cost, Cost) {
    let counted = play(move |stage| async move {
        let founder = stage.founder().await;
        let meter = Meter::begins(&stage);
        let mut line = Vec::new();
        for client in crowd(&stage, clients).await {
            line.push(client.asks());
            stage.settle().await;
        }
        let (watches, before) = (armed(&stage), meter.of_all(&stage).0);
        for asking in line {
            asking.await.expect("it is granted").release().await.expect("it is released");
        }
        stage.settle().await;
        let (after, notifications) = meter.of_all(&stage);
        drop(founder);
        cost(after - before, 0, notifications, watches)
    });
    // A list for each but the first, a delete for each.
    (counted, cost(2 * clients - 1, 0, clients - 1, clients - 1))
}

/// Many sessions, a few to a process.
pub async fn crowd(stage: &Stage, sessions: usize) -> Vec<Client> {
    let mut crowd: Vec<Client> = Vec::new();
    for number in 0..sessions {
        let client = match crowd.get(number / 8 * 8) {
            Some(Client { process, .. }) => {
                Client { process: process.clone(), zk: process.open(TIMEOUT).await }
            }
            None => stage.client(&format!("c{number}")).await,
        };
        crowd.push(client);
    }
    crowd
}

/// How many watches there are.
pub fn armed(stage: &Stage) -> usize {
    stage.sim.look(|world| world.watches().count())
}
