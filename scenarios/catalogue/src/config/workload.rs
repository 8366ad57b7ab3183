//! Clients that follow a value, write it, publish sets of values and read them.
//!
//! Each round: follow the value for a while; or read and write it on the condition that no other client has written in
//! between; or write it without a condition; or read the set and publish another in its place. In the last round
//! clients follow for so long that every follower must have received the last value.

use crate::prelude::*;
use futures_util::future::{Either, select};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::Names as Texts;
use zk_recipes::config::{ConfigSet, ConfigSetOptions, Snapshot};
use zk_recipes::{Update, Updates, Versioned};

/// Configuration under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients follow a value, write it, publish sets of values and read them",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Cf1, Cf2, Cf3, Cf4, Cf5, Cf6, Cf7, Cf8],
    ..Workload::own("config", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[Cf1, Cf7]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(180),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a compare-and-set loses a race",
        "a follower finds nothing",
        "a publish loses a race",
    ],
};

/// The znode of the value.
pub const VALUE_PATH: &str = "/config/value";
/// The znode of the set.
pub const SET_PATH: &str = "/config/set";
/// The value, among the objects of its run.
pub const VALUE: ObjectId = ObjectId(0);
/// The set.
pub const SET: ObjectId = ObjectId(1);

/// Value and set, as they are declared to the checker.
pub fn objects(names: &mut Texts, _: &Setting) -> Vec<Object> {
    let object = |path| Object::plain(Kind::Config, path);
    vec![object(names.intern(VALUE_PATH)), object(names.intern(SET_PATH))]
}

/// The constructor of a configuration at a path: of the right one, or of a mutant.
pub type MakeConfig<Z, F> = Box<dyn Fn(&Z, &str) -> F + Send + Sync>;

/// The configuration at that path.
pub fn new<Z: ZooKeeper>(zk: &Z, path: &str) -> ConfigSet<Z> {
    ConfigSet::new(zk, path, ConfigSetOptions::default()).expect("a good path")
}

/// The methods of a set, and of its pointer as a value, which a mutant has too.
pub trait Configuration: Clone + Send + Sync + 'static {
    /// The follower's type.
    type Updates: Follows;

    /// Follows the value.
    fn follow(&self) -> Self::Updates;

    /// The value now.
    fn get(&self) -> impl Future<Output = Result<Option<Versioned>, Error>> + Send;

    /// Writes on a condition.
    fn compare_and_set(
        &self,
        expected: Option<&Versioned>,
        data: &[u8],
    ) -> impl Future<Output = Result<Versioned, Error>> + Send;

    /// Writes without a condition.
    fn put(&self, data: &[u8]) -> impl Future<Output = Result<Versioned, Error>> + Send;

    /// Publishes a set.
    fn publish(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> impl Future<Output = Result<Versioned, Error>> + Send;

    /// Reads the set.
    fn snapshot(&self) -> impl Future<Output = Result<Option<Snapshot>, Error>> + Send;
}

/// Something that follows a value.
pub trait Follows: Send + 'static {
    /// The next update.
    fn next(&mut self) -> impl Future<Output = Result<Update, Error>> + Send;
}

impl<Z: ZooKeeper> Follows for Updates<Z> {
    fn next(&mut self) -> impl Future<Output = Result<Update, Error>> + Send {
        Updates::next(self)
    }
}

impl<Z: ZooKeeper> Configuration for ConfigSet<Z> {
    type Updates = Updates<Z>;

    fn follow(&self) -> Updates<Z> {
        self.pointer().follow()
    }

    fn get(&self) -> impl Future<Output = Result<Option<Versioned>, Error>> + Send {
        self.pointer().get()
    }

    fn compare_and_set(
        &self,
        expected: Option<&Versioned>,
        data: &[u8],
    ) -> impl Future<Output = Result<Versioned, Error>> + Send {
        self.pointer().compare_and_set(expected, data)
    }

    fn put(&self, data: &[u8]) -> impl Future<Output = Result<Versioned, Error>> + Send {
        self.pointer().put(data)
    }

    fn publish(
        &self,
        values: &BTreeMap<String, Vec<u8>>,
        expected: Option<&Versioned>,
    ) -> impl Future<Output = Result<Versioned, Error>> + Send {
        ConfigSet::publish(self, values, expected)
    }

    fn snapshot(&self) -> impl Future<Output = Result<Option<Snapshot>, Error>> + Send {
        ConfigSet::snapshot(self)
    }
}

/// One client's part.
pub async fn client<C: Client, F: Configuration>(task: Task<C>, make: MakeConfig<C::Zk, F>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    let mut count = 0;
    let round = |zk: C::Zk, number| {
        count += 1;
        let value = format!("{}-{count}", client.number());
        async move {
            let config = make(&zk, VALUE_PATH);
            let is_last = number + 1 == task.setting.rounds;
            match client.choose(8) {
                2 | 3 => write(client, &config, &value).await,
                4 => overwrite(client, &config, &value).await,
                5 | 6 => publish(client, &make(&zk, SET_PATH), &value).await,
                choice => {
                    let time = if choice == 7 && is_last { LONG } else { 4 };
                    follow(client, &config, pace.think * time * (1 + client.choose(4))).await
                }
            }
        }
    };
    rounds(&task, round).await;
}

/// Within this time every fault is over and the last value must have arrived.
const LONG: u32 = 2000;

/// The end of a round after an operation that did not succeed.
pub(crate) fn over<T>(ended: &Ended<T>) -> Round {
    if ended.is_session_over() { Round::Again } else { Round::Over }
}

/// Follows the value for a while.
pub async fn follow<C: Client, F: Configuration>(client: &C, config: &F, time: Duration) -> Round {
    let finds_nothing = || sometimes!(client, "a follower finds nothing", true);
    follow_updates(client, VALUE, config.follow(), time, finds_nothing).await
}

/// Follows an object for a while, and journals what comes.
pub async fn follow_updates<C: Client, U: Follows>(
    client: &C,
    object: ObjectId,
    mut updates: U,
    time: Duration,
    finds_nothing: impl Fn() + Sync,
) -> Round {
    let (updates, finds_nothing) = (&mut updates, &finds_nothing);
    let op = &std::sync::OnceLock::new();
    let following = move || async move {
        let following = async {
            loop {
                let (seen, text, number) = match updates.next().await? {
                    Update::Value(value) => {
                        (Seen::Value, String::from_utf8_lossy(&value.data).into_owned(), value.mzxid as u64)
                    }
                    Update::Missing => {
                        finds_nothing();
                        (Seen::Missing, String::new(), 0)
                    }
                };
                let op = *op.get().expect("it has been called");
                client.journal(|j, at| j.observed(at, client.number(), op, object, seen, &text, number));
            }
        };
        match select(pin!(following), pin!(client.sleep(time))).await {
            Either::Left((Err::<(), Error>(error), _)) => Err(error),
            _ => Ok(()),
        }
    };
    let called = |_: &mut zk_harness::journal::Journal, _, id| op.set(id).expect("it is called once");
    let (_, ended) = operation(client, Call::new(object, Verb::Follow), called, following).await;
    over(&ended)
}

/// Reads the value, and writes another one on the condition that it is unchanged.
pub(crate) async fn write<C: Client, F: Configuration>(client: &C, config: &F, value: &str) -> Round {
    let read = |journal: &mut Journal, at, op, value: &Option<Versioned>| {
        let (seen, data, number) = match value {
            Some(value) => (Seen::Value, String::from_utf8_lossy(&value.data), value.mzxid as u64),
            None => (Seen::Missing, Cow::default(), 0),
        };
        journal.observed(at, client.number(), op, VALUE, seen, &data, number);
    };
    let reading = || config.get();
    let (_, ended) = observed_operation(client, Call::new(VALUE, Verb::Get), nothing, reading, read).await;
    let expected = match ended {
        Ended::Done(expected) => expected,
        ended => return over(&ended),
    };
    let number = expected.as_ref().map_or(0, |expected| expected.mzxid as u64);
    let (_, ended) = operation(
        client,
        Call::new(VALUE, Verb::CompareAndSet),
        |journal, at, op| journal.given(at, client.number(), op, value, number),
        || config.compare_and_set(expected.as_ref(), value.as_bytes()),
    )
    .await;
    sometimes!(client, "a compare-and-set loses a race", is_conflict(&ended));
    over(&ended)
}

/// Writes without a condition.
pub(crate) async fn overwrite<C: Client, F: Configuration>(client: &C, config: &F, value: &str) -> Round {
    let (_, ended) = operation(
        client,
        Call::new(VALUE, Verb::Overwrite),
        |journal, at, op| journal.given(at, client.number(), op, value, 0),
        || config.put(value.as_bytes()),
    )
    .await;
    over(&ended)
}

fn is_conflict<T>(ended: &Ended<T>) -> bool {
    matches!(&ended, Ended::Failed(e) if e.is_conflict())
}

/// The values of a set, as the history records them.
fn listed(values: &BTreeMap<String, Vec<u8>>) -> String {
    let values: Vec<_> = values.values().map(|value| String::from_utf8_lossy(value)).collect();
    values.join(",")
}

/// Reads the set, and publishes another one on the condition that it is unchanged.
pub(crate) async fn publish<C: Client, F: Configuration>(client: &C, config: &F, value: &str) -> Round {
    let (_, ended) = observed_operation(
        client,
        Call::new(SET, Verb::Snapshot),
        |_, _, _| {},
        || config.snapshot(),
        |journal, at, op, found| match found {
            Some(found) => {
                let (text, number) = (listed(&found.values), found.pointer.mzxid as u64);
                journal.observed(at, client.number(), op, SET, Seen::Value, &text, number);
            }
            None => journal.observed(at, client.number(), op, SET, Seen::Missing, "", 0),
        },
    )
    .await;
    let Ended::Done(found) = ended else { return over(&ended) };
    let expected = found.map(|found| found.pointer);
    let number = expected.as_ref().map_or(0, |expected| expected.mzxid as u64);
    let keys = ["a", "b", "c"].into_iter().take(1 + client.choose(3) as usize);
    let values = keys.map(|key| (key.to_owned(), format!("{value}{key}").into_bytes())).collect();
    let (_, ended) = operation(
        client,
        Call::new(SET, Verb::Publish),
        |journal, at, op| journal.given(at, client.number(), op, &listed(&values), number),
        || config.publish(&values, expected.as_ref()),
    )
    .await;
    sometimes!(client, "a publish loses a race", is_conflict(&ended));
    over(&ended)
}
