//! Scenes of queues, names, configuration and groups.

use super::{Call, PATIENCE, Script};
use crate::common::Client;
use sim_zk::SimClient;
use std::collections::BTreeMap;
use zk_recipes::group::WithData;
use zk_recipes::names::Freshness;
use zk_recipes::{
    Config, ConfigOptions, ConfigSet, ConfigSetOptions, Counter, CounterOptions, Delivery, Group,
    GroupOptions, Idle, IfTaken, Names, NamesOptions, Order, Priority, PriorityQueue, PriorityQueueOptions,
    Queue, QueueOptions,
};

fn open(on: &Client, delivery: Delivery) -> Queue<SimClient> {
    let options = QueueOptions::new(delivery).with_idle(Idle::HerdFree);
    Queue::new(&on.zk, "/q", options).expect("the path is good")
}

pub async fn queue(mut script: Script) -> Vec<Call> {
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    let mut producer = open(&a, Delivery::AtMostOnce).producer();
    let mut consumer = open(&b, Delivery::AtMostOnce).consumer();
    script.danger.begins();
    script.tell(&a, "put", producer.put(b"one")).await;
    script.tell(&a, "put_all", producer.put_all(&[b"two".to_vec(), b"three".to_vec()])).await;
    for _ in 0..3 {
        script.tell(&b, "try_take", consumer.try_take()).await;
    }
    drop((producer, consumer));
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let mut producer = open(&late, Delivery::AtMostOnce).producer();
    producer.put(b"late").await.expect("another client gets through");
    let mut consumer = open(&late, Delivery::AtMostOnce).consumer();
    while consumer.take().await.expect("another client gets through").data != b"late" {}
    drop((producer, consumer));
    script.ends(&[&a, &b, &late], &["/q", "/q/receipts", "/q/takers"]).await
}

pub async fn claims(mut script: Script) -> Vec<Call> {
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    let mut producer = open(&a, Delivery::AtLeastOnce).producer();
    for item in [b"one", b"two", b"six"] {
        producer.put(item).await.expect("it is put");
    }
    let mut consumer = open(&b, Delivery::AtLeastOnce).consumer();
    script.danger.begins();
    if let Some(claimed) = script.tell(&b, "claim", consumer.claim()).await {
        script.tell(&b, "done", claimed.done()).await;
    }
    if let Some(claimed) = script.tell(&b, "claim", consumer.claim()).await {
        script.tell(&b, "give_back", claimed.give_back()).await;
    }
    // Dropped: the duty gives it back.
    drop(script.tell(&b, "claim", consumer.claim()).await);
    drop((producer, consumer));
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let mut consumer = open(&late, Delivery::AtLeastOnce).consumer();
    for _ in 0..2 {
        let claimed = consumer.claim().await.expect("what was given back is there");
        claimed.done().await.expect("it is ours");
    }
    drop(consumer);
    // An item that was not confirmed stays.
    let mut stays = vec!["/q", "/q/receipts", "/q/takers", "/q/claims"];
    stays.extend((!script.all_is_well()).then_some("/q/queue-*"));
    script.ends(&[&a, &b, &late], &stays).await
}

pub async fn priority_queue(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| {
        let options =
            PriorityQueueOptions::new(Order::Strict, Delivery::AtMostOnce).with_idle(Idle::HerdFree);
        PriorityQueue::new(&on.zk, "/jobs", options).expect("the path is good")
    };
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    let (mut producer, mut consumer) = (of(&a).producer(), of(&b).consumer());
    script.danger.begins();
    script.tell(&a, "put", producer.put(Priority(5), b"one")).await;
    let taken = script.tell(&b, "try_take", consumer.try_take()).await.flatten();
    drop((producer, consumer));
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let (mut producer, mut consumer) = (of(&late).producer(), of(&late).consumer());
    producer.put(Priority(1), b"late").await.expect("another client gets through");
    consumer.take().await.expect("another client gets through");
    drop((producer, consumer));
    // An item that was not taken stays: the late one comes before it.
    let mut stays = vec!["/jobs", "/jobs/receipts", "/jobs/takers"];
    stays.extend(taken.is_none().then_some("/jobs/queue-*"));
    script.ends(&[&a, &b, &late], &stays).await
}

pub async fn names(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| Names::new(&on.zk, "/names", NamesOptions::default()).expect("a good path");
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    script.danger.begins();
    let registered = script.tell(&a, "register", of(&a).register("db", b"1")).await;
    script.tell(&b, "resolve", of(&b).resolve("db", Freshness::Latest)).await;
    script.tell(&b, "unique", of(&b).unique("job")).await;
    let mut follows = of(&b).follow("db").expect("a good name");
    script.tell(&b, "follow", follows.next()).await;
    drop(follows);
    if let Some(registered) = registered {
        script.tell(&a, "set", registered.set(b"2")).await;
        script.tell(&a, "release", registered.release()).await;
    }
    let permanent = script.tell(&a, "register_permanent", of(&a).register_permanent("stays", b"1")).await;
    if let Some(permanent) = permanent {
        script.tell(&a, "unregister", permanent.unregister()).await;
    }
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let registered = of(&late).register("db", b"late").await.expect("another client gets through");
    registered.release().await.expect("it is released");
    let made = script.stage.names("/names").iter().filter(|name| name.contains("-job-")).count();
    assert!(made <= 1, "a call for a unique name made {made}");
    // What was not unregistered stays.
    let mut stays = vec!["/names", "/names/*-job-"];
    stays.extend((!script.all_is_well()).then_some("/names/stays"));
    script.ends(&[&a, &b, &late], &stays).await
}

pub async fn config(mut script: Script) -> Vec<Call> {
    let of = |on: &Client, path| Config::new(&on.zk, path, ConfigOptions::default()).expect("a good path");
    let set = |on: &Client| ConfigSet::new(&on.zk, "/config/set", ConfigSetOptions::default()).expect("good");
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    script.danger.begins();
    let first = script.tell(&a, "put", of(&a, "/config/value").put(b"1")).await;
    let mut follows = of(&b, "/config/value").follow();
    script.tell(&b, "follow", follows.next()).await;
    drop(follows);
    let second = of(&a, "/config/value");
    if let Some(first) = first {
        script.tell(&a, "compare_and_set", second.compare_and_set(Some(&first), b"2")).await;
    }
    script.tell(&b, "get", of(&b, "/config/value").get()).await;
    let values = BTreeMap::from([("a".to_owned(), b"1".to_vec()), ("b".to_owned(), b"2".to_vec())]);
    script.tell(&a, "publish", set(&a).publish(&values, None)).await;
    script.tell(&b, "snapshot", set(&b).snapshot()).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    of(&late, "/config/value").put(b"late").await.expect("another client gets through");
    let sets = script.stage.names("/config/set").iter().filter(|name| !name.contains('/')).count();
    assert!(sets <= 1, "one call published {sets} sets");
    script.ends(&[&a, &b, &late], &["/config", "/config/value", "/config/set*"]).await
}

pub async fn counter(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| Counter::new(&on.zk, "/counter", CounterOptions::default()).expect("a good path");
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    let (of_a, of_b) = (of(&a), of(&b));
    script.danger.begins();
    let one = script.tell(&a, "add", of_a.add(1)).await.map_or(0, |_| 1);
    let two = script.tell(&b, "add", of_b.add(2)).await.map_or(0, |_| 2);
    let many = script.tell(&a, "add", of_a.add(1_000)).await.map_or(0, |_| 1_000);
    script.tell(&b, "get", of_b.get(Freshness::Latest)).await;
    if script.all_is_well() {
        script.tell(&b, "compare_and_set", of_b.compare_and_set(1_003, 7)).await;
    }
    script.tell(&a, "set", of_a.set(9)).await;
    let mut follows = of_b.follow();
    script.tell(&b, "follow", follows.next()).await;
    drop((follows, of_a, of_b));
    let is_well = script.all_is_well();
    script.danger.ends();
    let late = script.stage.client("late").await;
    let last = of(&late);
    let before = last.get(Freshness::Latest).await.expect("another client gets through");
    assert!(!is_well || before == 9, "{before} after {one} and {two} and {many}");
    assert_eq!(last.add(1).await, Ok(Some(before + 1)));
    drop(last);
    script.ends(&[&a, &b, &late], &["/counter", "/counter/value", "/counter/receipts"]).await
}

pub async fn group(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| {
        Group::new(&on.zk, "/group", GroupOptions::default().with_if_taken(IfTaken::Wait))
            .expect("a good path")
    };
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    script.danger.begins();
    let member = script.tell(&a, "join", of(&a).join(Some("one"), b"1")).await;
    let mut views = of(&b).follow(WithData::Yes);
    script.tell(&b, "views", views.next()).await;
    drop(views);
    if let Some(member) = member {
        script.tell(&a, "set", member.set(b"2")).await;
        script.tell(&a, "leave", member.leave()).await;
    }
    // Dropped: the duty leaves.
    drop(script.tell(&b, "join", of(&b).join(Some("two"), b"")).await);
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    for id in ["one", "two"] {
        let member =
            of(&late).join(Some(id), b"").within(PATIENCE).await.expect("another client gets through");
        member.leave().await.expect("it leaves");
    }
    script.ends(&[&a, &b, &late], &["/group"]).await
}
