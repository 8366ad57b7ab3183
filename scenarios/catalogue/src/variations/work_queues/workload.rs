//! Workers that claim items in batches, keep them for several rounds, and confirm them together with other writes.
//!
//! All clients use the same queue for two rounds: with and without priorities, of each order and each way to wait, one
//! that must already exist, and one whose sequence counter is exhausted. Some put, one item or several; the others
//! claim: one item, several, or all that the queue has. A batch is confirmed at once or some rounds later, as a whole
//! or item by item, with other writes in the same transaction or without, some of which are refused; part of it is
//! given back or dropped. Occasionally an operator deletes a claim by hand, and occasionally a call is invalid.
//! Producers and consumers live as long as their session.

use super::calls::{Calls, Puts, Right};
use super::worn::{Plain, Worn};
use crate::prelude::*;
use crate::queue::workload::{Way, asks, declared, settles};
use crate::session::Intercepted;
use crate::two_phase_commit::workload::seat;
use std::sync::Arc;
use std::time::Duration;
use zk_checker::history::{Failure, Outcome};
use zk_harness::operation::{in_no_operation, observed_attempt, patient_operation};
use zk_harness::rounds::Sessions;
use zk_recipes::zk::{CreateMode, SessionId, path};
use zk_recipes::{
    Claimed, Consumer, ConsumerOptions, Delivery, Idle, Item, Order, Parents, PriorityQueue,
    PriorityQueueOptions, Queue, QueueOptions,
};

/// Queues of work under load.
pub static WORKLOAD: Workload = Workload {
    about: "workers claim items in batches, keep them for rounds, and confirm them together with other writes",
    plan: |seed| Plan { clients: 4, rounds: 10, ..Plan::drawn(seed) },
    required: &[Qu1, Qu2, Qu3, Qu4, Qu5, Qu6, Qu7, Qu8, Qu9, Qu10, An1, An2, An3],
    ..Workload::own("work-queues", objects, |task| client(task, Arc::new(Right)).boxed(), &STATED)
};

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "the counter of a queue has run out",
        "one of several claims is lost",
        "a write beside a confirmation is refused",
        "an item is delivered again",
        "a batch is confirmed rounds after it was claimed",
        "a claim is confirmed whose session is over",
        "a queue that must exist is missing",
        "a queue has another mode",
        "bad input is refused",
        "a try finds nothing to claim",
    ],
};

/// The queues.
pub(super) static QUEUES: [Way; 5] = [
    Way { path: "/work/jobs", delivery: Delivery::AtLeastOnce, idle: Idle::HerdFree, order: None },
    Way {
        path: "/work/urgent",
        delivery: Delivery::AtLeastOnce,
        idle: Idle::HerdFree,
        order: Some(Order::Fresh),
    },
    Way { path: "/work/founded", delivery: Delivery::AtLeastOnce, idle: Idle::Textbook, order: None },
    Way {
        path: "/work/strict",
        delivery: Delivery::AtLeastOnce,
        idle: Idle::Textbook,
        order: Some(Order::Strict),
    },
    Way { path: "/work/worn", delivery: Delivery::AtMostOnce, idle: Idle::HerdFree, order: None },
];

/// The queue that must exist: the first client creates its directory.
const FOUNDED: usize = 2;

/// The queue whose counter is exhausted.
pub(super) const WORN: usize = 4;

/// How missing directories of a queue are created.
fn parents(number: usize) -> Parents {
    match number {
        0 => Parents::Container,
        FOUNDED => Parents::MustExist,
        _ => Parents::Persistent,
    }
}

/// The directory of the results that are written when an item is done.
pub(super) const RESULTS: &str = "/results";

/// The queues, as they are declared to the checker.
pub fn objects(names: &mut Names, _: &Setting) -> Vec<Object> {
    declared(&QUEUES, names)
}

/// A session.
pub(super) type Zk<C> = Intercepted<<C as Client>::Zk>;

/// The calls of a worker: the right ones, or those of a mutant.
pub(super) type Make<C> = Arc<dyn Calls<Zk<C>>>;

/// A worker's producers, consumers and claims in one session.
pub(super) struct Hands<Z: ZooKeeper> {
    session: SessionId,
    pub(super) zk: Z,
    pub(super) queues: Vec<(Puts<Z>, Consumer<Z>)>,
    /// Claims, each with the number of its queue and the round in which it was claimed.
    pub(super) kept: Vec<(usize, u32, Claimed<Z>)>,
}

impl<Z: ZooKeeper> Hands<Z> {
    /// Opens all queues in a session. Sends no request.
    fn open<Y: ZooKeeper>(zk: &Y, prefetch: usize) -> Hands<Intercepted<Y>> {
        let plain = Intercepted::new(zk, Arc::new(Plain));
        let worn = Intercepted::new(zk, Arc::new(Worn));
        let queues = (0..QUEUES.len())
            .map(|number| open(if number == WORN { &worn } else { &plain }, number, prefetch))
            .collect();
        Hands { session: zk.session(), zk: plain, queues, kept: Vec::new() }
    }
}

/// A producer of a queue, and a consumer that claims so many at a time.
fn open<Z: ZooKeeper>(zk: &Z, number: usize, prefetch: usize) -> (Puts<Z>, Consumer<Z>) {
    let Way { path, delivery, idle, order } = QUEUES[number];
    let parents = parents(number);
    if let Some(order) = order {
        let options = PriorityQueueOptions::new(order, delivery).with_idle(idle).with_parents(parents);
        let queue = PriorityQueue::new(zk, path, options).expect("the directory is a good path");
        return (Puts::ByPriority(queue.producer()), queue.consumer());
    }
    let options = QueueOptions::new(delivery).with_idle(idle).with_parents(parents);
    let queue = Queue::new(zk, path, options).expect("the directory is a good path");
    let consumer =
        queue.consumer_with(ConsumerOptions::default().with_prefetch(prefetch)).expect("it takes something");
    (Puts::InTurn(queue.producer()), consumer)
}

/// One client's part.
pub(super) async fn client<C: Client>(task: Task<C>, calls: Make<C>) {
    let Task { client, setting, rounds, done, .. } = task;
    let Setting { clients, pace, .. } = setting;
    let mut worker = Worker { client, calls, clients, pace, round: 0, serial: 0 };
    let mut sessions = Sessions::default();
    let mut hands: Option<Hands<Zk<C>>> = None;
    for round in rounds {
        worker.client.sleep(worker.pace.think * worker.client.choose(8)).await;
        worker.round = round;
        loop {
            if let Some(hands) = hands.as_mut().filter(|hands| hands.zk.status().over().is_some()) {
                worker.confirms_all(hands).await;
            }
            let zk = sessions.live(&worker.client).await;
            if hands.as_ref().is_none_or(|hands| hands.session != zk.session()) {
                if let Some(mut old) = hands.take() {
                    worker.drops_all(&mut old);
                    worker.empties(old, false).await;
                }
                let prefetch = 1 + worker.client.choose(4) as usize;
                hands = Some(Hands::<Zk<C>>::open(&zk, prefetch));
            }
            let Some(hands) = &mut hands else { continue };
            worker.turn(hands).await;
            if zk.status().over().is_none() {
                break;
            }
        }
        done(round + 1);
    }
    if let Some(mut hands) = hands {
        worker.confirms_all(&mut hands).await;
        worker.empties(hands, true).await;
    }
}

/// A client, and the numbers that make its items unique.
pub(super) struct Worker<C: Client> {
    pub(super) client: C,
    pub(super) calls: Make<C>,
    clients: u8,
    pace: Pace,
    pub(super) round: u32,
    serial: u32,
}

impl<C: Client> Worker<C> {
    /// One round. By default the first client puts, and the others claim and confirm.
    async fn turn(&mut self, hands: &mut Hands<Zk<C>>) {
        let number = self.round as usize / 2 % QUEUES.len();
        if number == FOUNDED && self.client.number() == 0 {
            self.founds(hands).await;
        }
        if !hands.kept.is_empty() && self.client.choose(2) == 1 {
            self.confirms_all(hands).await;
        }
        match self.client.choose(12) {
            10 => self.operates(number, hands).await,
            11 => self.makes_a_mistake(number, hands).await,
            _ => {}
        }
        let is_put = match self.client.choose(4) {
            0 => self.client.number() == 0,
            draw => draw % 2 == 1,
        };
        if is_put {
            self.puts(number, hands).await;
        } else if number == WORN {
            // The server returns the last number repeatedly, so only a sole consumer knows which item it has read.
            match seat(&self.client, self.clients) {
                0 => self.takes(number, hands).await,
                _ => self.puts(number, hands).await,
            }
        } else {
            self.claims(number, hands).await;
            self.client.sleep(self.pace.work * self.client.choose(4)).await;
            // Otherwise the batch is kept for a later round.
            if self.client.choose(3) != 2 {
                self.confirms_all(hands).await;
            }
        }
    }

    /// Creates the directory of the queue that must exist.
    async fn founds(&self, hands: &Hands<Zk<C>>) {
        let making = async {
            for path in ["/work", QUEUES[FOUNDED].path] {
                // A client that finds it missing reports that.
                let _ = hands.zk.create(path, &[], CreateMode::Persistent).await;
            }
        };
        in_no_operation(&self.client, making).await;
    }

    /// Acts as an operator that deletes a claim whose owner may live.
    async fn operates(&self, number: usize, hands: &Hands<Zk<C>>) {
        let claims = path::join(QUEUES[number].path, "claims");
        let deleting = async {
            let names = hands.zk.children(&claims).await.map(|list| list.names).unwrap_or_default();
            if let Some(name) = names.get(self.client.choose(names.len().max(1) as u32) as usize) {
                let _ = hands.zk.delete(&path::join(&claims, name), None).await;
            }
        };
        in_no_operation(&self.client, deleting).await;
    }

    /// The text of an item that was never put before.
    pub(super) fn text(&mut self) -> String {
        self.serial += 1;
        format!("c{}-{}-{}", self.client.number(), self.round, self.serial)
    }

    async fn puts(&mut self, number: usize, hands: &mut Hands<Zk<C>>) {
        let me = self.client.number();
        let items: Vec<String> = (0..=self.client.choose(3)).map(|_| self.text()).collect();
        let priority = if QUEUES[number].order.is_some() { self.client.choose(12) as u16 } else { 0 };
        let bytes: Vec<Vec<u8>> = items.iter().map(|item| item.clone().into_bytes()).collect();
        let given = |journal: &mut Journal, at, op| {
            for item in &items {
                journal.given(at, me, op, item, u64::from(priority));
            }
        };
        let call = Call::new(object(number), Verb::Put);
        let puts = &mut hands.queues[number].0;
        let (_, ended) =
            operation(&self.client, call, given, || self.calls.put(puts, priority, &bytes)).await;
        let is_worn = matches!(&ended, Ended::Failed(e) if e.is_exhausted());
        sometimes!(&self.client, "the counter of a queue has run out", is_worn);
        let is_missing = number == FOUNDED && matches!(&ended, Ended::Failed(e) if e.is_no_node());
        sometimes!(&self.client, "a queue that must exist is missing", is_missing);
    }

    async fn takes(&self, number: usize, hands: &mut Hands<Zk<C>>) {
        let (call, me) = (Call::new(object(number), Verb::Take), self.client.number());
        let consumer = &mut hands.queues[number].1;
        let count = 1 + self.client.choose(3) as usize;
        let observed = |journal: &mut Journal, at, op, items: &Vec<Item>| {
            items.iter().for_each(|item| hands_out(journal, at, (me, op), number, item));
        };
        let patience = self.patience();
        let _ = patient_operation(
            &self.client,
            call,
            asks(me, count),
            patience,
            || consumer.take_up_to(count),
            observed,
        )
        .await;
    }

    /// The time limit of a wait for an item.
    fn patience(&self) -> Duration {
        self.pace.limit * (1 + self.client.choose(8))
    }

    /// Claims an item, several, or all that the queue has.
    async fn claims(&self, number: usize, hands: &mut Hands<Zk<C>>) {
        let call = Call::new(object(number), Verb::Claim);
        let consumer = &mut hands.queues[number].1;
        let (client, calls) = (&self.client, &self.calls);
        let observed = |journal: &mut Journal, at, op, claims: &Vec<Claimed<Zk<C>>>| {
            for claim in claims {
                let (by, text) = ((client.number(), op), text_of(claim.item()));
                hands_out(journal, at, by, number, claim.item());
                let attempts = u64::from(calls.attempts(claim));
                journal.observed(at, by.0, op, object(number), Seen::Attempts, &text, attempts);
            }
        };
        let ended = match client.choose(4) {
            0 => {
                let (_, ended) = patient_operation(
                    client,
                    call,
                    asks(client.number(), 1),
                    self.patience(),
                    || one(consumer),
                    observed,
                )
                .await;
                ended
            }
            1 | 2 => {
                let count = 1 + client.choose(4) as usize;
                let patience = self.patience();
                let asked = asks(client.number(), count);
                patient_operation(
                    client,
                    call,
                    asked,
                    patience,
                    || calls.claim_up_to(consumer, count),
                    observed,
                )
                .await
                .1
            }
            _ => {
                let (_, ended) =
                    observed_attempt(client, call, nothing, || what_there_is(calls, consumer), observed)
                        .await;
                sometimes!(client, "a try finds nothing to claim", matches!(ended, Ended::Done(None)));
                ended.map(Option::unwrap_or_default)
            }
        };
        let claims = ended.done().unwrap_or_default();
        let again = claims.iter().any(|claim| claim.attempts() > 1);
        sometimes!(client, "an item is delivered again", again);
        hands.kept.extend(claims.into_iter().map(|claim| (number, self.round, claim)));
    }

    /// Hands out the items that were taken and not handed out, even if the session is over.
    async fn empties(&self, mut hands: Hands<Zk<C>>, is_in_its_session: bool) {
        let consumer = &mut hands.queues[WORN].1;
        // A session that is over cannot settle anything more.
        let settled = if is_in_its_session {
            settles(&self.client, object(WORN), || consumer.settle()).await
        } else {
            consumer.settle().await.ok()
        };
        let in_hand = settled.unwrap_or_else(|| consumer.in_hand());
        if in_hand == 0 {
            return;
        }
        // The items are in memory: no request is sent.
        let items = consumer.take_up_to(in_hand).await.unwrap_or_default();
        let me = self.client.number();
        self.client.journal(|journal, at| {
            let op = journal.call(at, me, object(WORN), Verb::Take, 0);
            items.iter().for_each(|item| hands_out(journal, at, (me, op), WORN, item));
            journal.returned_for(at, me, op, Outcome::Done, Failure::None);
        });
    }
}

/// Waits for an item and claims it.
async fn one<Z: ZooKeeper>(consumer: &mut Consumer<Z>) -> Result<Vec<Claimed<Z>>, Error> {
    Ok(vec![consumer.claim().await?])
}

/// Claims an item if there is one.
async fn what_there_is<Z: ZooKeeper>(
    calls: &Arc<dyn Calls<Z>>,
    consumer: &mut Consumer<Z>,
) -> Result<Option<Vec<Claimed<Z>>>, Error> {
    Ok(calls.try_claim(consumer).await?.map(|claim| vec![claim]))
}

/// The object of a queue.
pub(super) fn object(number: usize) -> ObjectId {
    ObjectId(number as u16)
}

/// The text of an item.
pub(super) fn text_of(item: &Item) -> String {
    String::from_utf8_lossy(&item.data).into_owned()
}

/// Records that an operation hands an item out to a client.
fn hands_out(journal: &mut Journal, at: u64, (me, op): (u16, OpId), number: usize, item: &Item) {
    let czxid = item.czxid.cast_unsigned();
    journal.observed(at, me, op, object(number), Seen::Item, &text_of(item), czxid);
}
