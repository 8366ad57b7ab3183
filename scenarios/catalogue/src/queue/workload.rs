//! Clients that put items into queues and take them out.
//!
//! In each round all clients use the same queue: one where items are taken, one where they are claimed, and one where
//! idle consumers all watch. Some put, one item or several; the others take or claim, one by one or together, at once
//! or after a wait with a time limit. A claimed item is confirmed, given back, or just dropped. A client whose session
//! ends hands out the items that it has taken, and opens another session.

use crate::prelude::*;
use std::future::Future;
use std::time::Duration;
use zk_checker::history::Outcome;
use zk_harness::operation::{observed_attempt, patient_operation};
use zk_harness::rounds::Sessions;
use zk_recipes::zk::SessionId;
use zk_recipes::{
    Claimed, Consumer, ConsumerOptions, Delivery, Idle, Item, Order, Producer, Queue, QueueOptions,
};

/// Queues under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients put items into queues, take them, or claim and confirm them",
    plan: |seed| Plan { clients: 4, rounds: 6, ..Plan::drawn(seed) },
    required: &[Qu1, Qu2, Qu3, Qu4, Qu6, Qu7, Qu8, Qu9, Qu10],
    ..Workload::own("queue", objects, |task| client(task, &QUEUES, Box::new(open)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, &QUEUES, Box::new(open)).boxed(), &[Qu1, Qu2]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[SESSIONS[0], SESSIONS[1], "what was taken outlives its session", "a taker gives up"],
};

/// How a queue is used.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Its directory.
    pub path: &'static str,
    /// Whether an item is lost when its consumer dies.
    pub delivery: Delivery,
    /// How consumers wait.
    pub idle: Idle,
    /// `None`: first in, first out.
    pub order: Option<Order>,
}

/// The queues of the workload.
pub static QUEUES: [Way; 3] = [
    Way { path: "/queues/once", delivery: Delivery::AtMostOnce, idle: Idle::HerdFree, order: None },
    Way { path: "/queues/claims", delivery: Delivery::AtLeastOnce, idle: Idle::HerdFree, order: None },
    Way { path: "/queues/textbook", delivery: Delivery::AtMostOnce, idle: Idle::Textbook, order: None },
];

/// The queues, as they are declared to the checker.
pub fn objects(names: &mut Names, _: &Setting) -> Vec<Object> {
    declared(&QUEUES, names)
}

/// Queues, as they are declared to the checker.
pub fn declared(ways: &[Way], names: &mut Names) -> Vec<Object> {
    let declare = |way: &Way| {
        let kind = if way.order.is_some() { Kind::PriorityQueue } else { Kind::Queue };
        let manner = Manner {
            at_least_once: way.delivery == Delivery::AtLeastOnce,
            strict: way.order == Some(Order::Strict),
            textbook: way.idle == Idle::Textbook,
            ..Manner::default()
        };
        Object { manner, ..Object::plain(kind, names.intern(way.path)) }
    };
    ways.iter().map(declare).collect()
}

/// The constructor of a producer and of a consumer that takes so many at a time: the right queue's, or a mutant's.
pub type Open<Z, P, G> = Box<dyn Fn(&Z, &Way, usize) -> (P, G) + Send + Sync>;

/// A producer.
pub trait Puts: Send {
    /// Puts items, all or none.
    fn put(&mut self, priority: u16, items: &[Vec<u8>]) -> impl Future<Output = Result<(), Error>> + Send;
}

/// A consumer, which takes or claims.
pub trait Gets: Send {
    /// The type of a claim.
    type Claim: Claims;

    /// Whether it can settle the outcome of its takes.
    const SETTLES: bool = true;

    /// Settles the outcome of its takes, and returns the number of items that it has not handed out.
    fn settle(&mut self) -> impl Future<Output = Result<usize, Error>> + Send {
        async { Ok(0) }
    }

    /// The number of items that it has taken and not handed out, as far as it knows.
    fn in_hand(&self) -> usize {
        0
    }

    /// Waits for items and takes at most so many.
    fn take(&mut self, count: usize) -> impl Future<Output = Result<Vec<Item>, Error>> + Send;

    /// Takes an item if there is one.
    fn try_take(&mut self) -> impl Future<Output = Result<Option<Item>, Error>> + Send;

    /// Waits for an item and claims it.
    fn claim(&mut self) -> impl Future<Output = Result<Self::Claim, Error>> + Send;
}

/// A claimed item.
pub trait Claims: Send {
    /// The item.
    fn item(&self) -> &Item;

    /// Confirms the item.
    fn done(self) -> impl Future<Output = Result<(), Error>> + Send;

    /// Gives the item back.
    fn give_back(self) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The right queue.
pub fn right<Z: ZooKeeper>(zk: &Z, way: &Way) -> Queue<Z> {
    let options = QueueOptions::new(way.delivery).with_idle(way.idle);
    Queue::new(zk, way.path, options).expect("the directory is a good path")
}

/// A producer of the right queue, and a consumer that takes so many at a time.
pub fn open<Z: ZooKeeper>(zk: &Z, way: &Way, prefetch: usize) -> (Producer<Z>, Consumer<Z>) {
    let queue = right(zk, way);
    (
        queue.producer(),
        queue.consumer_with(ConsumerOptions::default().with_prefetch(prefetch)).expect("it takes something"),
    )
}

impl<Z: ZooKeeper> Puts for Producer<Z> {
    async fn put(&mut self, _: u16, items: &[Vec<u8>]) -> Result<(), Error> {
        match items {
            [item] => Producer::put(self, item).await,
            items => self.put_all(items).await,
        }
    }
}

impl<Z: ZooKeeper> Gets for Consumer<Z> {
    type Claim = Claimed<Z>;

    fn settle(&mut self) -> impl Future<Output = Result<usize, Error>> + Send {
        Consumer::settle(self)
    }

    fn in_hand(&self) -> usize {
        Consumer::in_hand(self)
    }

    async fn take(&mut self, count: usize) -> Result<Vec<Item>, Error> {
        match count {
            1 => Ok(vec![Consumer::take(self).await?]),
            count => self.take_up_to(count).await,
        }
    }

    fn try_take(&mut self) -> impl Future<Output = Result<Option<Item>, Error>> + Send {
        Consumer::try_take(self)
    }

    fn claim(&mut self) -> impl Future<Output = Result<Claimed<Z>, Error>> + Send {
        Consumer::claim(self)
    }
}

impl<Z: ZooKeeper> Claims for Claimed<Z> {
    fn item(&self) -> &Item {
        Claimed::item(self)
    }

    fn done(self) -> impl Future<Output = Result<(), Error>> + Send {
        Claimed::done(self)
    }

    fn give_back(self) -> impl Future<Output = Result<(), Error>> + Send {
        Claimed::give_back(self)
    }
}

/// A client's producers and consumers in one session.
struct Hands<P, G> {
    session: SessionId,
    queues: Vec<(P, G)>,
}

/// One client's part.
pub async fn client<C: Client, P: Puts, G: Gets>(
    task: Task<C>,
    ways: &'static [Way],
    open: Open<C::Zk, P, G>,
) {
    let Task { client, setting, rounds, done, .. } = task;
    let mut part = QueueClient { client, ways, pace: setting.pace, serial: 0, round: 0 };
    let mut sessions = Sessions::default();
    let mut hands: Option<Hands<P, G>> = None;
    for round in rounds {
        part.client.sleep(part.pace.think * part.client.choose(8)).await;
        part.round = round;
        loop {
            let zk = sessions.live(&part.client).await;
            if hands.as_ref().is_none_or(|hands| hands.session != zk.session()) {
                if let Some(old) = hands.take() {
                    part.empties(old, false).await;
                }
                let prefetch = [1, 2, 4][part.client.choose(3) as usize];
                let queues = ways.iter().map(|way| open(&zk, way, prefetch)).collect();
                hands = Some(Hands { session: zk.session(), queues });
            }
            let Some(hands) = &mut hands else { continue };
            part.takes_turn(hands).await;
            if zk.status().over().is_none() {
                break;
            }
        }
        done(round + 1);
    }
    if let Some(hands) = hands {
        part.empties(hands, true).await;
    }
}

/// A client, and the numbers that make its items unique.
struct QueueClient<C> {
    client: C,
    ways: &'static [Way],
    pace: Pace,
    round: u32,
    serial: u32,
}

impl<C: Client> QueueClient<C> {
    /// One put, or one take and the end of its claims. By default the first client puts, and the others take.
    async fn takes_turn<P: Puts, G: Gets>(&mut self, hands: &mut Hands<P, G>) {
        let number = self.round as usize % self.ways.len();
        let object = ObjectId(number as u16);
        let (puts, gets) = &mut hands.queues[number];
        let is_put = match self.client.choose(4) {
            0 => self.client.number() == 0,
            draw => draw % 2 == 1,
        };
        if is_put {
            self.puts(object, puts).await;
        } else if self.ways[number].delivery == Delivery::AtMostOnce {
            self.takes(object, gets).await;
        } else {
            self.claims(object, gets).await;
        }
    }

    async fn puts(&mut self, object: ObjectId, puts: &mut impl Puts) {
        let me = self.client.number();
        let items: Vec<String> = (0..=self.client.choose(3))
            .map(|_| {
                self.serial += 1;
                format!("c{me}-{}-{}", self.round, self.serial)
            })
            .collect();
        let is_urgent = self.ways[usize::from(object.0)].order.is_some();
        let priority = if is_urgent { self.client.choose(12) as u16 } else { 0 };
        let bytes: Vec<Vec<u8>> = items.iter().map(|item| item.clone().into_bytes()).collect();
        let given = |journal: &mut Journal, at, op| {
            for item in &items {
                journal.given(at, me, op, item, u64::from(priority));
            }
        };
        let _ =
            operation(&self.client, Call::new(object, Verb::Put), given, || puts.put(priority, &bytes)).await;
    }

    async fn takes(&self, object: ObjectId, gets: &mut impl Gets) {
        let (call, me) = (Call::new(object, Verb::Take), self.client.number());
        let one = |journal: &mut Journal, at, op, item: &Item| observe(journal, at, me, op, object, item);
        if self.client.choose(6) == 5 {
            let _ = observed_attempt(&self.client, call, nothing, || gets.try_take(), one).await;
            return;
        }
        let observed = |journal: &mut Journal, at, op, items: &Vec<Item>| {
            items.iter().for_each(|item| one(journal, at, op, item));
        };
        let count = if self.client.choose(3) == 2 { 2 } else { 1 };
        let (_, ended) = patient_operation(
            &self.client,
            call,
            asks(me, count),
            self.patience(),
            || gets.take(count),
            observed,
        )
        .await;
        sometimes!(&self.client, "a taker gives up", matches!(ended, Ended::Cancelled));
    }

    /// The time limit of a wait for an item.
    fn patience(&self) -> Duration {
        self.pace.limit * (1 + self.client.choose(8))
    }

    async fn claims(&self, object: ObjectId, gets: &mut impl Gets) {
        let (call, me) = (Call::new(object, Verb::Claim), self.client.number());
        let observed = |journal: &mut Journal, at, op, claim: &_| {
            observe(journal, at, me, op, object, Claims::item(claim));
        };
        let claimed =
            patient_operation(&self.client, call, asks(me, 1), self.patience(), || gets.claim(), observed)
                .await;
        let (_, Ended::Done(claim)) = claimed else { return };
        self.client.sleep(self.pace.work * self.client.choose(4)).await;
        let text = String::from_utf8_lossy(&claim.item().data).into_owned();
        let given = |journal: &mut Journal, at, op| journal.given(at, me, op, &text, 0);
        match self.client.choose(6) {
            4 => {
                let call = Call::new(object, Verb::GiveBack);
                let _ = operation(&self.client, call, given, || claim.give_back()).await;
            }
            5 => {
                // The dropped claim gives the item back in the background.
                give_up(&self.client, Call::new(object, Verb::GiveBack), given, claim);
            }
            _ => {
                let call = Call::new(object, Verb::Confirm);
                let _ = operation(&self.client, call, given, || claim.done()).await;
            }
        }
    }

    /// Hands out the items that were taken and not handed out, even if the session is over.
    async fn empties<P: Puts, G: Gets>(&self, mut hands: Hands<P, G>, is_in_its_session: bool) {
        for (number, (_, gets)) in hands.queues.iter_mut().enumerate() {
            let object = ObjectId(number as u16);
            let me = self.client.number();
            // A session that is over cannot settle anything more.
            let settled = if is_in_its_session && G::SETTLES {
                settles(&self.client, object, || gets.settle()).await
            } else {
                gets.settle().await.ok()
            };
            let in_hand = settled.unwrap_or_else(|| gets.in_hand());
            sometimes!(&self.client, "what was taken outlives its session", in_hand > 0);
            if in_hand == 0 {
                continue;
            }
            let observed = |journal: &mut Journal, at, op, items: &Vec<Item>| {
                for item in items {
                    observe(journal, at, me, op, object, item);
                }
            };
            // The items are in memory: no request is sent.
            let items = gets.take(in_hand).await.unwrap_or_default();
            self.client.journal(|journal, at| {
                let op = journal.call(at, me, object, Verb::Take, 0);
                observed(journal, at, op, &items);
                journal.returned(at, me, op, Outcome::Done);
            });
        }
    }
}

/// Records the maximum number of requested items.
pub(crate) fn asks(me: u16, count: usize) -> impl FnOnce(&mut Journal, u64, OpId) {
    move |journal, at, op| journal.given(at, me, op, "", count as u64)
}

/// Settles the outcome of a consumer's takes.
pub(crate) async fn settles<C: Client, F: Future<Output = Result<usize, Error>> + Send>(
    client: &C,
    object: ObjectId,
    work: impl FnOnce() -> F + Send,
) -> Option<usize> {
    let told = |journal: &mut Journal, at, op, count: &usize| {
        journal.observed(at, client.number(), op, object, Seen::InHand, "", *count as u64);
    };
    observed_operation(client, Call::new(object, Verb::Settle), nothing, work, told).await.1.done()
}

fn observe(journal: &mut Journal, at: u64, me: u16, op: OpId, object: ObjectId, item: &Item) {
    let text = String::from_utf8_lossy(&item.data);
    journal.observed(at, me, op, object, Seen::Item, &text, item.czxid.cast_unsigned());
}
