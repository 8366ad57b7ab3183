//! Two-phase commit: a coordinator and each of the sites, in every form, and all of it together.

use super::{Cost, Meter, Row, cost, row};
use crate::common::{Client, Stage, play};
use zk_recipes::two_phase_commit::{Coordinator, Form, Site, Transaction, Vote};

const TWO_PHASES: &str = "two-phase commit";
const TX: &str = "/app/tx";
const PLAIN: Form = Form::Decentralised { follow_votes: false };

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    // In the table of budgets a site opens with four requests and three, votes, and learns.
    for (form, name, site, begins) in [
        (PLAIN, "decentralised", cost(6, 3, 1, 0), cost(1, 1, 0, 0)),
        (Form::Coordinator, "coordinator", cost(6, 3, 1, 0), cost(1, 1, 0, 0)),
        (Form::SiteEphemerals, "site ephemerals", cost(7, 4, 1, 0), cost(1, 1, 0, 0)),
    ] {
        let (begun, first, finished) = one_of_two(form);
        rows.push(row(TWO_PHASES, format!("{name}: begin"), begun, begins));
        rows.push(row(TWO_PHASES, format!("{name}: a site, from opening to the decision"), first, site));
        rows.push(row(TWO_PHASES, format!("{name}: finish"), finished, cost(2, 1, 0, 0)));
    }
    for sites in [2, 8, 32] {
        let budget = cost(6 * sites + 1, 0, sites, 0);
        rows.push(row(TWO_PHASES, format!("decentralised: {sites} sites, in all"), all(sites), budget));
    }
    rows
}

async fn founder(stage: &Stage) -> Client {
    let founder = stage.client("founder").await;
    founder.makes("/app").await;
    founder
}

fn of(form: Form, sites: usize) -> Transaction {
    Transaction { sites: (0..sites).map(|site| format!("s{site}")).collect(), payload: vec![], form }
}

/// Begin; the first site; its finish.
fn one_of_two(form: Form) -> (Cost, Cost, Cost) {
    play(move |stage| async move {
        let (c, a, b) = (founder(&stage).await, stage.client("a").await, stage.client("b").await);
        let meter = Meter::begins(&stage);
        let coordinator = Coordinator::begin(&c.zk, TX, of(form, 2)).await.expect("it begins");
        let begun = meter.of(&stage, &c);
        let deciding = c.process.spawn(async move {
            let decided = coordinator.decision().await;
            drop(coordinator);
            decided
        });
        stage.settle().await;
        let meter = Meter::begins(&stage);
        let opened = Site::open(&a.zk, TX, "s0").await.expect("it opens");
        let voted = opened.vote(Vote::Commit).await.expect("it votes");
        let waiting = a.process.spawn(async move {
            let decided = voted.decision().await;
            (voted, decided)
        });
        stage.settle().await;
        let last = Site::open(&b.zk, TX, "s1").await.expect("it opens");
        let last = last.vote(Vote::Commit).await.expect("it votes");
        let (voted, decided) = waiting.await.expect("its process lives");
        decided.expect("it is decided");
        let first = meter.of(&stage, &a);
        deciding.await.expect("its process lives").expect("it is decided");
        stage.settle().await;
        let meter = Meter::begins(&stage);
        voted.finish().await.expect("it finishes");
        let finished = meter.of(&stage, &a);
        drop(last);
        (begun, first, finished)
    })
}

/// From begin to the last decision.
fn all(sites: usize) -> Cost {
    play(move |stage| async move {
        let founder = founder(&stage).await;
        let crowd = super::lock::crowd(&stage, sites).await;
        let meter = Meter::begins(&stage);
        drop(Coordinator::begin(&founder.zk, TX, of(PLAIN, sites)).await.expect("it begins"));
        let mut waiting = Vec::new();
        for (site, client) in crowd.into_iter().enumerate() {
            let opened = Site::open(&client.zk, TX, &format!("s{site}")).await.expect("it opens");
            let voted = opened.vote(Vote::Commit).await.expect("it votes");
            waiting.push(client.process.spawn(async move {
                voted.decision().await.expect("it is decided");
                voted
            }));
            stage.settle().await;
        }
        let mut all = Vec::new();
        for voted in waiting {
            all.push(voted.await.expect("its process lives"));
        }
        let (requests, notifications) = meter.of_all(&stage);
        cost(requests, 0, notifications, 0)
    })
}
