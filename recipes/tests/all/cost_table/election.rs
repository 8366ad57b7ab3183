//! The election: standing, acknowledging, resigning, taking over; what an observer spends.

use super::{Meter, Row, cost, row};
use crate::common::{Client, DIRECTORY, play};
use futures_util::FutureExt;
use sim_zk::SimClient;
use zk_recipes::{Election, ElectionOptions};

const ELECTION: &str = "election";

fn election(client: &Client) -> Election<SimClient> {
    Election::new(&client.zk, DIRECTORY, ElectionOptions::default()).expect("the path is good")
}

pub fn rows() -> Vec<Row> {
    play(|stage| async move {
        let (a, b, c) = (stage.founder().await, stage.client("b").await, stage.client("c").await);
        let meter = Meter::begins(&stage);
        let term = election(&a).stand().await.expect("it is elected");
        stage.settle().await;
        let stands = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        assert!(term.lost().now_or_never().is_none(), "it leads");
        stage.settle().await;
        let asks = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        let next = election(&b);
        let standing = b.process.spawn(async move { next.stand().await });
        stage.settle().await;
        let waits = meter.of(&stage, &b);
        let meter = Meter::begins(&stage);
        let mut sees = election(&c).follow();
        sees.next().await.expect("it looks");
        let observes = meter.of(&stage, &c);

        let meter = Meter::begins(&stage);
        term.acknowledge(b"a").await.expect("it leads");
        let acknowledges = meter.of(&stage, &a);
        sees.next().await.expect("it is told");
        let told = meter.of(&stage, &c);
        stage.settle().await;
        let meter = Meter::begins(&stage);
        term.resign().await.expect("it resigns");
        stage.settle().await;
        let resigns = meter.of(&stage, &a);
        let next = standing.await.expect("its process lives").expect("it is elected");
        stage.settle().await;
        let takes_over = meter.of(&stage, &b);
        drop((next, sees));
        vec![
            row(ELECTION, "stand, uncontended", stands, cost(2, 1, 0, 0)),
            row(ELECTION, "ask whether it is lost, the first time", asks, cost(1, 1, 0, 1)),
            row(ELECTION, "stand, contended, until it waits", waits, cost(3, 2, 0, 1)),
            row(ELECTION, "its turn comes", takes_over, cost(1, 1, 1, 0)),
            row(ELECTION, "acknowledge", acknowledges, cost(1, 1, 0, 1)),
            row(ELECTION, "resign, with the notification of its own watch", resigns, cost(1, 1, 1, 0)),
            row(ELECTION, "observe, without a record", observes, cost(3, 2, 0, 1)),
            row(ELECTION, "an observer is notified of a leader", told, cost(2, 1, 1, 1)),
        ]
    })
}
