//! Names, configuration and groups: one operation each, and one change that is followed.

use super::{Cost, Meter, Row, cost, row};
use crate::common::{Client, Stage, play};
use sim_zk::SimClient;
use std::collections::BTreeMap;
use std::future::Future;
use zk_recipes::group::WithData;
use zk_recipes::names::Freshness;
use zk_recipes::{
    Config, ConfigOptions, ConfigSet, ConfigSetOptions, Group, GroupOptions, Names, NamesOptions,
};

const NAMES: &str = "names";
const CONFIG: &str = "config";
const GROUP: &str = "group";

pub fn rows() -> Vec<Row> {
    let mut rows = of_names();
    rows.extend(of_config());
    rows.extend(of_group());
    rows
}

/// What `work` costs a client, until everything has come to rest.
async fn counted<T>(stage: &Stage, client: &Client, work: impl Future<Output = T>) -> (T, Cost) {
    let meter = Meter::begins(stage);
    let output = work.await;
    stage.settle().await;
    (output, meter.of(stage, client))
}

fn names(client: &Client) -> Names<SimClient> {
    Names::new(&client.zk, "/names", NamesOptions::default()).expect("a good path")
}

fn of_names() -> Vec<Row> {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        a.makes("/names").await;
        let (names_a, names_b) = (names(&a), names(&b));
        let (registered, register) = counted(&stage, &a, names_a.register("db", b"1")).await;
        let registered = registered.expect("it is free");
        let (_, local) = counted(&stage, &b, names_b.resolve("db", Freshness::Local)).await;
        let (_, latest) = counted(&stage, &b, names_b.resolve("db", Freshness::Latest)).await;
        let (_, unique) = counted(&stage, &b, names_b.unique("job")).await;
        let mut follows = names_b.follow("db").expect("a good name");
        follows.next().await.expect("it is there");
        stage.settle().await;
        let meter = Meter::begins(&stage);
        registered.set(b"2").await.expect("it is ours");
        follows.next().await.expect("it has changed");
        let change = meter.of(&stage, &b);
        drop(follows);
        stage.settle().await;
        let (_, release) = counted(&stage, &a, registered.release()).await;
        vec![
            row(NAMES, "register", register, cost(1, 1, 0, 0)),
            row(NAMES, "resolve, local", local, cost(1, 1, 0, 0)),
            row(NAMES, "resolve, latest", latest, cost(2, 1, 0, 0)),
            row(NAMES, "unique name", unique, cost(1, 1, 0, 0)),
            row(NAMES, "a change, a follower", change, cost(1, 1, 1, 1)),
            row(NAMES, "unregister", release, cost(2, 2, 0, 0)),
        ]
    })
}

fn of_config() -> Vec<Row> {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        a.makes("/config").await;
        let config = |client: &Client, path| {
            Config::new(&client.zk, path, ConfigOptions::default()).expect("a good path")
        };
        let (writes, reads) = (config(&a, "/config/value"), config(&b, "/config/value"));
        let first = writes.put(b"1").await.expect("written");
        let mut follows = reads.follow();
        follows.next().await.expect("it is there");
        stage.settle().await;
        let meter = Meter::begins(&stage);
        let (second, set) = counted(&stage, &a, writes.compare_and_set(Some(&first), b"2")).await;
        follows.next().await.expect("it has changed");
        let change = meter.of(&stage, &b);
        drop(follows);
        stage.settle().await;
        second.expect("nobody else writes");
        let (_, put) = counted(&stage, &a, writes.put(b"3")).await;
        let of =
            |on: &Client| ConfigSet::new(&on.zk, "/config/set", ConfigSetOptions::default()).expect("good");
        let (publishes, sees) = (of(&a), of(&b));
        let values = BTreeMap::from([("a".to_owned(), b"1".to_vec()), ("b".to_owned(), b"2".to_vec())]);
        let (_, publish) = counted(&stage, &a, publishes.publish(&values, None)).await;
        let (_, snapshot) = counted(&stage, &b, sees.snapshot()).await;
        vec![
            row(CONFIG, "a change, a follower", change, cost(1, 1, 1, 1)),
            row(CONFIG, "write on a condition", set, cost(1, 1, 0, 0)),
            row(CONFIG, "write", put, cost(1, 1, 0, 0)),
            row(CONFIG, "publish a set", publish, cost(1, 1, 0, 0)),
            row(CONFIG, "snapshot of a set", snapshot, cost(2, 2, 0, 0)),
        ]
    })
}

fn of_group() -> Vec<Row> {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        a.makes("/group").await;
        let of =
            |client: &Client| Group::new(&client.zk, "/group", GroupOptions::default()).expect("a good path");
        let (joins, sees) = (of(&a), of(&b));
        let mut views = sees.follow(WithData::No);
        views.next().await.expect("it is there");
        stage.settle().await;
        let meter = Meter::begins(&stage);
        let (member, join) = counted(&stage, &a, joins.join(Some("one"), b"")).await;
        views.next().await.expect("it has changed");
        let change = meter.of(&stage, &b);
        drop(views);
        stage.settle().await;
        let (_, leave) = counted(&stage, &a, member.expect("it has joined").leave()).await;
        let mut views = sees.follow(WithData::Yes);
        views.next().await.expect("it is there");
        stage.settle().await;
        let meter = Meter::begins(&stage);
        let _member = joins.join(Some("two"), b"").await.expect("it has joined");
        views.next().await.expect("it has changed");
        let with_data = meter.of(&stage, &b);
        vec![
            row(GROUP, "join", join, cost(1, 1, 0, 0)),
            row(GROUP, "leave", leave, cost(1, 1, 0, 0)),
            row(GROUP, "a change, an observer", change, cost(1, 1, 1, 1)),
            row(GROUP, "a change, an observer with data", with_data, cost(2, 2, 1, 1)),
        ]
    })
}
