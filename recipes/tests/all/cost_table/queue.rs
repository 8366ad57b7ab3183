//! Queues: puts, takes, claims, batches, and an item that comes to consumers who wait.

use super::{Cost, Meter, Row, cost, row};
use crate::common::{Client, Stage, play};
use sim_zk::SimClient;
use zk_recipes::{
    Claimed, Consumer, ConsumerOptions, Delivery, Idle, Order, Priority, PriorityQueue, PriorityQueueOptions,
    Producer, Queue, QueueOptions,
};

const QUEUE: &str = "queue";
const BATCH: usize = 16;

fn open(client: &Client, delivery: Delivery, idle: Idle) -> Queue<SimClient> {
    let options = QueueOptions::new(delivery).with_idle(idle);
    Queue::new(&client.zk, "/q", options).expect("the path is good")
}

/// A producer and a consumer that have been at work before.
async fn at_work(
    stage: &Stage,
    delivery: Delivery,
    prefetch: usize,
) -> (Client, Producer<SimClient>, Client, Consumer<SimClient>) {
    let (a, b) = (stage.client("a").await, stage.client("b").await);
    let mut producer = open(&a, delivery, Idle::HerdFree).producer();
    let mut consumer = open(&b, delivery, Idle::HerdFree)
        .consumer_with(ConsumerOptions::default().with_prefetch(prefetch))
        .expect("it takes something");
    producer.put(b"before").await.expect("it is put");
    match delivery {
        Delivery::AtMostOnce => drop(consumer.take().await.expect("there is one")),
        Delivery::AtLeastOnce => {
            consumer.claim().await.expect("there is one").done().await.expect("it is ours");
        }
    }
    stage.settle().await;
    (a, producer, b, consumer)
}

fn items(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| number.to_string().into_bytes()).collect()
}

pub fn rows() -> Vec<Row> {
    let (put, put_all, take, take_all) = play(|stage| async move {
        let (a, mut producer, b, mut consumer) = at_work(&stage, Delivery::AtMostOnce, 1).await;
        let meter = Meter::begins(&stage);
        producer.put(b"one").await.expect("it is put");
        let put = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        consumer.take().await.expect("there is one");
        let take = meter.of(&stage, &b);
        let meter = Meter::begins(&stage);
        producer.put_all(&items(BATCH)).await.expect("they are put");
        let put_all = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        assert_eq!(consumer.take_up_to(BATCH).await.expect("they are there").len(), BATCH);
        (put, put_all, take, meter.of(&stage, &b))
    });
    let (claim, done, claim_all, done_all) = play(|stage| async move {
        let (_a, mut producer, b, mut consumer) = at_work(&stage, Delivery::AtLeastOnce, 1).await;
        producer.put(b"one").await.expect("it is put");
        let meter = Meter::begins(&stage);
        let claimed = consumer.claim().await.expect("there is one");
        let claim = meter.of(&stage, &b);
        let meter = Meter::begins(&stage);
        claimed.done().await.expect("it is ours");
        let done = meter.of(&stage, &b);
        producer.put_all(&items(BATCH)).await.expect("they are put");
        let meter = Meter::begins(&stage);
        let claimed = consumer.claim_up_to(BATCH).await.expect("they are there");
        let claim_all = meter.of(&stage, &b);
        let meter = Meter::begins(&stage);
        Claimed::done_all(claimed, vec![]).await.expect("they are ours");
        (claim, done, claim_all, meter.of(&stage, &b))
    });
    let (urgent_put, urgent_take) = urgent();
    let mut rows = vec![
        row(QUEUE, "put", put, cost(1, 1, 0, 0)),
        row(QUEUE, "put 16 together", put_all, cost(1, 1, 0, 0)),
        row(QUEUE, "take, with a new list", take, cost(3, 3, 0, 0)),
        row(QUEUE, "take 16 together", take_all, cost(3, 3, 0, 0)),
        row(QUEUE, "claim, with new lists", claim, cost(4, 3, 0, 0)),
        row(QUEUE, "done", done, cost(1, 1, 0, 0)),
        row(QUEUE, "claim 16 together", claim_all, cost(4, 3, 0, 0)),
        row(QUEUE, "done with 16 together", done_all, cost(1, 1, 0, 0)),
        row("priority queue", "put", urgent_put, cost(1, 1, 0, 0)),
        row("priority queue", "take", urgent_take, cost(3, 3, 0, 0)),
    ];
    for (idle, name) in [(Idle::HerdFree, "in line"), (Idle::Textbook, "all watching")] {
        for consumers in [1, 8] {
            let notified = match idle {
                Idle::HerdFree => 1 + usize::from(consumers > 1),
                Idle::Textbook => consumers,
            };
            let case = format!("an item for {consumers} idle {name}, notifications to all");
            rows.push(row(QUEUE, case, wakes(idle, consumers), cost(0, 0, notified, consumers)));
        }
    }
    rows
}

fn urgent() -> (Cost, Cost) {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let open = |client: &Client| {
            let options =
                PriorityQueueOptions::new(Order::Strict, Delivery::AtMostOnce).with_idle(Idle::HerdFree);
            PriorityQueue::new(&client.zk, "/jobs", options).expect("the path is good")
        };
        let (mut producer, mut consumer) = (open(&a).producer(), open(&b).consumer());
        producer.put(Priority(5), b"before").await.expect("it is put");
        consumer.take().await.expect("there is one");
        let meter = Meter::begins(&stage);
        producer.put(Priority(5), b"one").await.expect("it is put");
        let put = meter.of(&stage, &a);
        let meter = Meter::begins(&stage);
        consumer.take().await.expect("there is one");
        (put, meter.of(&stage, &b))
    })
}

/// An item comes to so many idle consumers: how many notifications that sends, and how many watches there were.
fn wakes(idle: Idle, consumers: usize) -> Cost {
    play(move |stage| async move {
        let a = stage.client("a").await;
        let mut producer = open(&a, Delivery::AtMostOnce, idle).producer();
        producer.put(b"before").await.expect("it is put");
        let mut before = open(&a, Delivery::AtMostOnce, idle).consumer();
        before.take().await.expect("there is one");
        stage.settle().await;
        let mut clients = Vec::new();
        for number in 0..consumers {
            let client = stage.client(&format!("c{number}")).await;
            let mut consumer = open(&client, Delivery::AtMostOnce, idle).consumer();
            client.process.spawn(async move { consumer.take().await });
            stage.settle().await;
            clients.push(client);
        }
        let watches = clients.iter().map(|client| client.watches(&stage).len()).sum();
        let mark = stage.mark();
        producer.put(b"one").await.expect("it is put");
        stage.settle().await;
        cost(0, 0, stage.fired(mark), watches)
    })
}
