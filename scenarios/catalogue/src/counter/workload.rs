//! Clients that add to a counter, read it and set it.
//!
//! Each round: add a few; or many, or a negative number; or read the count, as fresh as drawn; or read it and set another one
//! on the condition that it is unchanged; or set it whatever it is; or follow the count for a while. In the last round clients follow
//! for so long that every follower must have the last count.

use crate::config::workload::{Follows, follow_updates};
use crate::prelude::*;
use crate::recipe::Make;
use std::future::Future;
use std::time::Duration;
use zk_checker::history::Names as Texts;
use zk_recipes::{Counter, CounterOptions, Freshness, Updates};

/// Counters under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients add to a counter, read it and set it",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Ct1, Ct2, Ct3, Ct4],
    ..Workload::own("counter", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload = RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(90),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a count is set on a condition, and loses a race",
        "an addition is applied, and its count is lost",
    ],
};

/// The znode of the counter.
pub const PATH: &str = "/counters/orders";
/// The counter, among the objects of its run.
pub const COUNTER: ObjectId = ObjectId(0);

/// The counter, as it is declared to the checker.
pub fn objects(names: &mut Texts, _: &Setting) -> Vec<Object> {
    vec![Object::plain(Kind::SharedCounter, names.intern(PATH))]
}

/// The counter over a session.
pub fn new<Z: ZooKeeper>(zk: &Z) -> Counter<Z> {
    Counter::new(zk, PATH, CounterOptions::default()).expect("a good path")
}

/// The methods of a counter, which a mutant has too.
pub trait Counting: Clone + Send + Sync + 'static {
    /// Adds a number.
    fn add(&self, number: i64) -> impl Future<Output = Result<Option<i64>, Error>> + Send;

    /// Reads the count.
    fn get(&self, freshness: Freshness) -> impl Future<Output = Result<i64, Error>> + Send;

    /// Sets the count.
    fn set(&self, count: i64) -> impl Future<Output = Result<(), Error>> + Send;

    /// Sets the count on a condition.
    fn compare_and_set(&self, expected: i64, new: i64) -> impl Future<Output = Result<(), Error>> + Send;

    /// The type of a follower.
    type Updates: Follows;

    /// Follows the count.
    fn follow(&self) -> Self::Updates;
}

impl<Z: ZooKeeper> Counting for Counter<Z> {
    fn add(&self, number: i64) -> impl Future<Output = Result<Option<i64>, Error>> + Send {
        Counter::add(self, number)
    }

    fn get(&self, freshness: Freshness) -> impl Future<Output = Result<i64, Error>> + Send {
        Counter::get(self, freshness)
    }

    fn set(&self, count: i64) -> impl Future<Output = Result<(), Error>> + Send {
        Counter::set(self, count)
    }

    fn compare_and_set(&self, expected: i64, new: i64) -> impl Future<Output = Result<(), Error>> + Send {
        Counter::compare_and_set(self, expected, new)
    }

    type Updates = Updates<Z>;

    fn follow(&self) -> Updates<Z> {
        Counter::follow(self)
    }
}

/// One client's part.
pub async fn client<C: Client, K: Counting>(task: Task<C>, make: Make<C::Zk, K>) {
    let (client, pace) = (&task.client, task.setting.pace);
    let mut present = OfSession::default();
    let round = |zk: C::Zk, number| {
        let counter = present.of(&zk, || make(&zk));
        async move {
            let is_last = number + 1 == task.setting.rounds;
            client.sleep(pace.think * client.choose(4)).await;
            match client.choose(12) {
                5 | 6 => {
                    let many = 100 * (1 + i64::from(client.choose(3)));
                    let number = if client.choose(2) == 1 { -many } else { many };
                    over(&adds(client, &counter, number).await)
                }
                7 => {
                    let freshness = client.choose(3);
                    over(&reads(client, &counter, freshness).await)
                }
                8 => replaces(client, &counter).await,
                9 => {
                    let count = 1_000 * i64::from(client.choose(4));
                    over(&sets(client, &counter, count).await)
                }
                choice @ 10.. => {
                    let time = if choice == 11 && is_last { LONG } else { 4 };
                    follows(client, &counter, pace.think * time * (1 + client.choose(4))).await
                }
                _ => over(&adds(client, &counter, 1 + i64::from(client.choose(3))).await),
            }
        }
    };
    rounds(&task, round).await;
}

/// Within this time every fault is over and the last count must have arrived.
const LONG: u32 = 2000;

/// The end of a round after an operation.
fn over<T>(ended: &Ended<T>) -> Round {
    if ended.is_session_over() { Round::Again } else { Round::Over }
}

/// Adds a number.
pub(crate) async fn adds<C: Client, K: Counting>(client: &C, counter: &K, number: i64) -> Ended<Option<i64>> {
    let told = |journal: &mut Journal, at, op, count: &Option<i64>| {
        if let Some(count) = count {
            journal.observed(at, client.number(), op, COUNTER, Seen::Value, &count.to_string(), 0);
        }
    };
    let (_, ended) = observed_operation(
        client,
        Call::new(COUNTER, Verb::Add),
        |journal, at, op| journal.given(at, client.number(), op, &number.to_string(), 0),
        || counter.add(number),
        told,
    )
    .await;
    sometimes!(client, "an addition is applied, and its count is lost", matches!(ended, Ended::Done(None)));
    ended
}

/// Reads the count.
pub(crate) async fn reads<C: Client, K: Counting>(client: &C, counter: &K, freshness: u32) -> Ended<i64> {
    let (freshness, text) =
        [(Freshness::Local, "local"), (Freshness::Synced, "synced"), (Freshness::Latest, "latest")]
            [freshness as usize];
    observed_operation(
        client,
        Call::new(COUNTER, Verb::Get),
        |journal, at, op| journal.given(at, client.number(), op, text, 0),
        || counter.get(freshness),
        |journal, at, op, count| {
            journal.observed(at, client.number(), op, COUNTER, Seen::Value, &count.to_string(), 0);
        },
    )
    .await
    .1
}

/// Sets the count.
pub(crate) async fn sets<C: Client, K: Counting>(client: &C, counter: &K, count: i64) -> Ended<()> {
    operation(
        client,
        Call::new(COUNTER, Verb::Overwrite),
        |journal, at, op| journal.given(at, client.number(), op, &count.to_string(), 0),
        || counter.set(count),
    )
    .await
    .1
}

/// Reads the count, and sets another one on the condition that it is unchanged.
pub(crate) async fn replaces<C: Client, K: Counting>(client: &C, counter: &K) -> Round {
    let expected = match reads(client, counter, 0).await {
        Ended::Done(expected) => expected,
        ended => return over(&ended),
    };
    let new = expected + 10_000;
    let (_, ended) = operation(
        client,
        Call::new(COUNTER, Verb::CompareAndSet),
        |journal, at, op| {
            journal.given(at, client.number(), op, &new.to_string(), expected.cast_unsigned());
        },
        || counter.compare_and_set(expected, new),
    )
    .await;
    let is_conflict = matches!(&ended, Ended::Failed(error) if error.is_conflict());
    sometimes!(client, "a count is set on a condition, and loses a race", is_conflict);
    over(&ended)
}

/// Follows the count for a while.
pub(crate) async fn follows<C: Client, K: Counting>(client: &C, counter: &K, time: Duration) -> Round {
    follow_updates(client, COUNTER, counter.follow(), time, || ()).await
}
