//! Queues: a consumer and what it has handed out.

use crate::common::left_alone::{Call, Calling, Part, Scene, call, none_holds_up_another};
use crate::common::{Client, Stage};
use sim_zk::SimClient;
use zk_recipes::{Claimed, Consumer, Delivery, Idle, Producer, Queue, QueueOptions};

struct Claims {
    a: Client,
    queue: Part<Queue<SimClient>>,
    producer: Part<Producer<SimClient>>,
    consumer: Part<Consumer<SimClient>>,
    one: Part<Claimed<SimClient>>,
    two: Part<Claimed<SimClient>>,
}

/// A consumer that has claimed two items of `items`.
async fn claims(stage: Stage, items: usize) -> Claims {
    let a = stage.client("a").await;
    let options = QueueOptions::new(Delivery::AtLeastOnce).with_idle(Idle::HerdFree);
    let queue = Queue::new(&a.zk, "/q", options).expect("the path is good");
    let mut producer = queue.producer();
    for number in 0..items {
        producer.put(number.to_string().as_bytes()).await.expect("it is put");
    }
    let mut consumer = queue.consumer();
    let one = Part::new(consumer.claim().await.expect("there is one"));
    let two = Part::new(consumer.claim().await.expect("there is one"));
    let (queue, producer, consumer) = (Part::new(queue), Part::new(producer), Part::new(consumer));
    Claims { a, queue, producer, consumer, one, two }
}

impl Claims {
    fn put(&self) -> Calling {
        let mut producer = self.queue.share().expect("it is never taken").producer();
        Box::pin(async move { producer.put(b"more").await.expect("it is put") })
    }
}

macro_rules! calls_of_claims {
    () => {
        &[
            call!(change consumer.claim(), while put),
            call!(change consumer.claim_up_to(2), while put),
            call!(change consumer.try_claim()),
            call!(change consumer.settle()),
            call!(change producer.put(b"another")),
            call!(change producer.put_all(&[b"another".to_vec()])),
            call!(take one.done()),
            call!(take one.done_with(Vec::new())),
            call!(take one.give_back()),
            call!(take two.done()),
            call!(take two.done_with(Vec::new())),
            call!(take two.give_back()),
        ]
    };
}

/// There is more to claim.
struct More(Claims);

/// There is nothing: who claims waits.
struct Empty(Claims);

impl std::ops::Deref for More {
    type Target = Claims;
    fn deref(&self) -> &Claims {
        &self.0
    }
}

impl std::ops::Deref for Empty {
    type Target = Claims;
    fn deref(&self) -> &Claims {
        &self.0
    }
}

impl Scene for More {
    const CALLS: &'static [Call<Self>] = calls_of_claims!();

    async fn set(stage: Stage) -> Self {
        More(claims(stage, 4).await)
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

impl Scene for Empty {
    const CALLS: &'static [Call<Self>] = calls_of_claims!();

    async fn set(stage: Stage) -> Self {
        Empty(claims(stage, 2).await)
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

/// Two consumers for good, with nothing to take.
struct Takers {
    a: Client,
    queue: Part<Queue<SimClient>>,
    producer: Part<Producer<SimClient>>,
    consumer: Part<Consumer<SimClient>>,
    another: Part<Consumer<SimClient>>,
}

impl Takers {
    fn put(&self) -> Calling {
        let mut producer = self.queue.share().expect("it is never taken").producer();
        Box::pin(async move { producer.put(b"more").await.expect("it is put") })
    }
}

impl Scene for Takers {
    const CALLS: &'static [Call<Self>] = &[
        call!(change consumer.take(), while put),
        call!(change consumer.take_up_to(2), while put),
        call!(change consumer.try_take()),
        call!(change consumer.settle()),
        call!(change another.take(), while put),
        call!(change another.try_take()),
        call!(change producer.put(b"another")),
    ];

    fn inherent(left: &str, other: &str) -> Option<&'static str> {
        let waits = |call: &str| call.contains(".take");
        (waits(left) && waits(other)).then_some("idle consumers stand in line")
    }

    async fn set(stage: Stage) -> Self {
        let a = stage.client("a").await;
        let options = QueueOptions::new(Delivery::AtMostOnce).with_idle(Idle::HerdFree);
        let queue = Queue::new(&a.zk, "/q", options).expect("the path is good");
        let producer = Part::new(queue.producer());
        let consumer = || Part::new(queue.consumer());
        Takers { a, producer, consumer: consumer(), another: consumer(), queue: Part::new(queue.clone()) }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

#[test]
fn none_of_takers_but_by_their_line() {
    none_holds_up_another::<Takers>();
}

#[test]
fn none_of_a_consumer_that_finds_items() {
    none_holds_up_another::<More>();
}

#[test]
fn none_of_a_consumer_that_waits() {
    none_holds_up_another::<Empty>();
}
