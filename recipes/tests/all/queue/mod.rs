//! The queue: what is put comes out, once, in order, whatever is lost, dropped, deleted or set up otherwise.

mod ahead;
mod basics;
mod batches;
mod counted;
mod denied;
mod done_all;
mod ends;
mod left_alone;
mod long;
mod relaxed;
mod strangers;

use crate::common::every_await::at_every_await;
use crate::common::{
    Client, Drops, RECONNECT, Stage, TIMEOUT, dropping, play, play_faults, play_struck, play_with,
};
use futures_util::FutureExt;
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use sim_zk::{Config, SimClient};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper};
use zk_recipes::{
    Claimed, Consumer, ConsumerOptions, Delivery, Idle, Item, Parents, Producer, Queue, QueueOptions,
};

const QUEUE: &str = "/q";

const LOSSES: [Fault; 3] = [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect];

fn options(delivery: Delivery) -> QueueOptions {
    QueueOptions::new(delivery).with_idle(Idle::HerdFree)
}

fn queue(client: &Client, delivery: Delivery) -> Queue<SimClient> {
    Queue::new(&client.zk, QUEUE, options(delivery)).expect("the path is good")
}

fn producer(client: &Client, delivery: Delivery) -> Producer<SimClient> {
    queue(client, delivery).producer()
}

fn taker(client: &Client, prefetch: usize) -> Consumer<SimClient> {
    queue(client, Delivery::AtMostOnce)
        .consumer_with(ConsumerOptions::default().with_prefetch(prefetch))
        .expect("it takes something")
}

fn claimer(client: &Client, prefetch: usize) -> Consumer<SimClient> {
    queue(client, Delivery::AtLeastOnce)
        .consumer_with(ConsumerOptions::default().with_prefetch(prefetch))
        .expect("it takes something")
}

fn texts(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| String::from_utf8(item.data.clone()).expect("items are texts")).collect()
}

fn bytes(items: &[&str]) -> Vec<Vec<u8>> {
    items.iter().map(|item| item.as_bytes().to_vec()).collect()
}

/// Everything that is left.
async fn empties(client: &Client) -> Vec<String> {
    let mut consumer = taker(client, 1);
    let mut all = Vec::new();
    while let Some(item) = consumer.try_take().await.expect("the network is calm") {
        all.push(item);
    }
    texts(&all)
}

async fn names_left(client: &Client) -> Vec<String> {
    let names = match client.zk.children(QUEUE).await {
        Ok(list) => list.names,
        Err(e) if e.is_no_node() => Vec::new(),
        Err(e) => panic!("it can be listed: {e}"),
    };
    names.into_iter().filter(|name| name.starts_with("queue-")).collect()
}

/// So many idle consumers; gives how many notifications each of so many puts sends, and whether all items arrive.
fn wakes(idle: Idle, consumers: usize, puts: usize) -> Vec<usize> {
    play(move |stage| async move {
        let a = stage.client("a").await;
        let options = options(Delivery::AtMostOnce).with_idle(idle);
        let open =
            |client: &Client| Queue::new(&client.zk, QUEUE, options.clone()).expect("the path is good");
        let mut producer = open(&a).producer();
        producer.put(b"first").await.expect("it is put");
        assert_eq!(empties(&a).await, ["first"]);
        stage.settle().await;
        let mut waiting = Vec::new();
        for number in 0..consumers {
            let client = stage.client(&format!("c{number}")).await;
            let mut consumer = open(&client).consumer();
            waiting.push(client.process.spawn(async move { consumer.take().await }));
            stage.settle().await;
        }
        let mut fired = Vec::new();
        for number in 0..puts {
            let mark = stage.mark();
            producer.put(number.to_string().as_bytes()).await.expect("it is put");
            stage.settle().await;
            fired.push(stage.fired(mark));
        }
        let mut got: Vec<String> = Vec::new();
        for taking in waiting {
            got.extend(texts(&[taking.await.expect("its process lives").expect("it got one")]));
        }
        got.sort();
        assert_eq!(got, (0..puts).map(|number| number.to_string()).collect::<Vec<_>>());
        fired
    })
}

async fn delete_all(by: &Client, path: &str) {
    let list = match by.zk.children(path).await {
        Ok(list) => list,
        Err(e) if e.is_no_node() => return,
        Err(e) => panic!("it can be listed: {e}"),
    };
    for name in list.names {
        Box::pin(delete_all(by, &format!("{path}/{name}"))).await;
    }
    drop(by.zk.delete(path, None).await);
}

/// Deletes the queue and makes it again at once, with another item for each that was in it, under the same name; if there is
/// none, under the first name.
async fn make_again(by: &Client, item: &[u8]) {
    let directories = [QUEUE.to_owned()]
        .into_iter()
        .chain(["receipts", "takers", "claims"].map(|directory| format!("{QUEUE}/{directory}")));
    let directories: Vec<String> = directories.collect();
    loop {
        // One flight, so that whoever takes at the time has not gone on by much.
        let mode = by.zk.get(QUEUE);
        let lists: Vec<_> = directories.iter().map(|directory| by.zk.children(directory)).collect();
        let (mut deletes, mut creates) = (Vec::new(), Vec::new());
        let mode = mode.await.expect("the queue is there").data;
        for (directory, list) in directories.iter().zip(lists) {
            let Ok(list) = list.await else { continue };
            deletes.push(Op::Delete { path: directory.clone(), version: None });
            let data = if directory == QUEUE { mode.clone() } else { Vec::new() };
            creates.push(Op::Create { path: directory.clone(), data, mode: CreateMode::Persistent });
            for path in list.names.iter().map(|name| format!("{directory}/{name}")) {
                if directories.contains(&path) {
                    continue;
                }
                deletes.push(Op::Delete { path: path.clone(), version: None });
                if directory == QUEUE {
                    creates.push(Op::Create { path, data: item.to_vec(), mode: CreateMode::Persistent });
                }
            }
        }
        // From below, and from above.
        deletes.reverse();
        deletes.extend(creates);
        if by.zk.multi(deletes).await.is_ok() {
            break;
        }
    }
    if names_left(by).await.is_empty() {
        let first = format!("{QUEUE}/queue-");
        by.zk.create(&first, item, CreateMode::PersistentSequential).await.expect("the queue is there");
    }
}

// Dropped at every await.

/// A claim that ends in a way that may be dropped: the item is done with or handed out again.
fn ends_a_claim(confirms: bool) {
    at_every_await(|stage, danger, drops| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        producer(&a, Delivery::AtLeastOnce).put(b"1").await.expect("it is put");
        let mut claims = claimer(&b, 1);
        let claim = claims.claim().await.expect("there is one");
        danger.begins();
        let ended = if confirms {
            dropping(drops, &stage, &b, claim.done()).await
        } else {
            dropping(drops, &stage, &b, claim.give_back()).await
        };
        assert!(ended.is_none() || ended == Some(Ok(())), "dropped {drops:?}: {ended:?}");
        stage.pass(&b, 3 * RECONNECT).await;
        stage.settle().await;
        let again = claimer(&a, 1).try_claim().await.expect("it can be tried");
        let is_left = !names_left(&a).await.is_empty();
        assert_eq!(again.is_some(), is_left, "what is left can be had, dropped {drops:?}");
        if ended.is_some() {
            assert_eq!(is_left, !confirms, "dropped {drops:?}");
        }
        drop(claims);
        stage.settle().await;
        b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        ended.is_some()
    });
}

// What it costs.

trait Leaves {
    fn has_left_nothing_but(&self, stage: &Stage, znodes: usize);
}

impl Leaves for Client {
    fn has_left_nothing_but(&self, stage: &Stage, znodes: usize) {
        assert_eq!(self.znodes(stage).len(), znodes, "its receipt");
        assert_eq!(self.watches(stage), Vec::<String>::new());
    }
}

// Whatever happens.

#[derive(Default)]
struct Books {
    acknowledged: BTreeSet<String>,
    doubtful: BTreeSet<String>,
    got: BTreeMap<String, usize>,
    /// How many items may have gone with a take whose end is unknown.
    may_be_lost: usize,
}

type Shared = std::sync::Arc<std::sync::Mutex<Books>>;

/// Puts and takes in ways that are drawn, until it has done enough or its session is over.
async fn lives(stage: &Stage, client: &Client, delivery: Delivery, name: &str, books: &Shared) {
    let draw = |n| stage.sim.choose(n);
    let mut puts = producer(client, delivery);
    let mut consumer = queue(client, delivery)
        .consumer_with(ConsumerOptions::default().with_prefetch(1 + draw(3) as usize))
        .expect("it takes something");
    for step in 0..8 {
        let drops = Drops::Later(u64::from(draw(200)) * 5);
        let drops = if draw(4) == 0 { drops } else { Drops::Later(8_000) };
        if draw(2) == 0 {
            let items: Vec<String> = (0..1 + draw(3)).map(|n| format!("{name}-{step}-{n}")).collect();
            let data: Vec<Vec<u8>> = items.iter().map(|item| item.clone().into_bytes()).collect();
            let put = dropping(drops, stage, client, puts.put_all(&data)).await;
            let mut books = books.lock().unwrap();
            match put {
                Some(Ok(())) => books.acknowledged.extend(items),
                _ => books.doubtful.extend(items),
            }
        } else if delivery == Delivery::AtMostOnce {
            let take = dropping(drops, stage, client, consumer.take_up_to(3)).await;
            let mut books = books.lock().unwrap();
            match take {
                Some(Ok(items)) => {
                    for item in texts(&items) {
                        *books.got.entry(item).or_default() += 1;
                    }
                }
                _ => books.may_be_lost += 3,
            }
        } else {
            let Some(Ok(claim)) = dropping(drops, stage, client, consumer.claim()).await else { continue };
            let text = String::from_utf8(claim.item().data.clone()).unwrap();
            match draw(4) {
                0 => drop(claim),
                1 => drop(dropping(drops, stage, client, claim.give_back()).await),
                _ => {
                    let done = dropping(drops, stage, client, claim.done()).await;
                    let mut books = books.lock().unwrap();
                    match done {
                        Some(Ok(())) => *books.got.entry(text).or_default() += 1,
                        Some(Err(e)) if e.is_claim_lost() => {}
                        _ => drop(books.doubtful.insert(text)),
                    }
                }
            }
        }
        if client.zk.status().over().is_some() {
            break;
        }
    }
    let in_hand = consumer.in_hand();
    if in_hand > 0 {
        let items = consumer.take_up_to(in_hand).await.expect("they are in hand");
        let mut books = books.lock().unwrap();
        for item in texts(&items) {
            *books.got.entry(item).or_default() += 1;
        }
    }
}

fn any_schedule(seed: u64, delivery: Delivery, servers: u8) -> usize {
    let rates = Fault::ALL.into_iter().fold(Rates::NONE, |rates, fault| {
        let probability = match fault {
            Fault::ClientCrash => 0.0,
            Fault::SessionExpiry | Fault::ClientPause => 0.005,
            _ => 0.02,
        };
        rates.with(fault, probability)
    });
    let config = Config { faults: 20, hostile_until: 60_000_000, ..Config::default() }.with_servers(servers);
    let books = Shared::default();
    let told = books.clone();
    play_with(config, Seeded::new(seed, rates), |stage| async move {
        let mut all = Vec::new();
        for name in ["a", "b", "c"] {
            let process = stage.sim.process(name);
            let (stage, books, process2) = (stage.clone(), told.clone(), process.clone());
            all.push(process.spawn(async move {
                for session in 0..2 {
                    let client = Client { process: process2.clone(), zk: process2.open(TIMEOUT).await };
                    lives(&stage, &client, delivery, &format!("{name}{session}"), &books).await;
                }
            }));
        }
        for one in all {
            drop(one.await);
        }
        stage.settle().await;
        let last = stage.client("last").await;
        stage.pass(&last, 3 * TIMEOUT).await;
        // A server that lagged has caught up when it has answered a write.
        let mut left = queue(&last, delivery)
            .consumer_with(ConsumerOptions::default().with_prefetch(3))
            .expect("it takes something");
        loop {
            let item = match delivery {
                Delivery::AtMostOnce => left.try_take().await.expect("it is calm"),
                Delivery::AtLeastOnce => {
                    let claim = left.try_claim().await.expect("it is calm");
                    match claim {
                        Some(claim) => {
                            let item = claim.item().clone();
                            claim.done().await.expect("it is ours");
                            Some(item)
                        }
                        None => None,
                    }
                }
            };
            let Some(item) = item else { break };
            *told.lock().unwrap().got.entry(texts(&[item]).remove(0)).or_default() += 1;
        }
    });
    let books = books.lock().unwrap();
    for (item, times) in &books.got {
        assert!(*times == 1, "seed {seed}: {item} came out {times} times");
        assert!(
            books.acknowledged.contains(item) || books.doubtful.contains(item),
            "seed {seed}: {item} was never put"
        );
    }
    let missing: Vec<_> = books
        .acknowledged
        .iter()
        .filter(|item| !books.got.contains_key(*item) && !books.doubtful.contains(*item))
        .collect();
    let excused = if delivery == Delivery::AtMostOnce { books.may_be_lost } else { 0 };
    assert!(missing.len() <= excused, "seed {seed}: {missing:?} are lost, {excused} may be");
    books.got.len()
}
