//! Clients that write, publish and follow a configuration with options of their own, and occasionally make a mistake.
//!
//! As the [workload of configurations](crate::config::workload), on a value and a set in directories of their own. Each
//! client draws how missing parents are created, or that they must exist, and how many sets are kept. Occasionally a
//! key is invalid, or the data exceed the size of a request.

use crate::config::workload::{Configuration, SET, VALUE, follow, over, overwrite, publish, write};
use crate::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use zk_checker::history::{Names as Texts, PARENTS_MUST_EXIST};
use zk_recipes::config::{ConfigSet, ConfigSetOptions};
use zk_recipes::zk::path;
use zk_recipes::{Parents, Versioned};

/// Configurations with other options, under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients write, publish and follow a configuration with options of their own",
    plan: |seed| Plan { rounds: 6, ..Plan::drawn(seed) },
    required: &[Cf1, Cf2, Cf3, Cf4, Cf6, Cf7, An1, An2, An3],
    ..Workload::own("varied-options", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

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
        "a directory that must exist is missing",
        "bad input is refused",
    ],
};

const VALUE_PATH: &str = "/settings/of/value";
const SET_PATH: &str = "/settings/of/set";

/// Value and set, as they are declared to the checker.
pub fn objects(names: &mut Texts, _: &Setting) -> Vec<Object> {
    let object = |path| Object::plain(Kind::Config, path);
    vec![object(names.intern(VALUE_PATH)), object(names.intern(SET_PATH))]
}

/// The constructor of a configuration at a path with these options: of the right one, or of a mutant.
pub(super) type MakeConfig<Z, F> = Box<dyn Fn(&Z, &str, ConfigSetOptions) -> F + Send + Sync>;

/// The right configuration.
pub(super) fn new<Z: ZooKeeper>(zk: &Z, path: &str, options: ConfigSetOptions) -> ConfigSet<Z> {
    ConfigSet::new(zk, path, options).expect("a good path, and enough sets")
}

/// One client's part.
pub(super) async fn client<C: Client, F: Configuration>(task: Task<C>, make: MakeConfig<C::Zk, F>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    let mut count = 0;
    let round = |zk: C::Zk, _| {
        count += 1;
        let value = format!("{}-{count}", client.number());
        async move {
            let (config, set) = (open(client, make, &zk, VALUE_PATH), open(client, make, &zk, SET_PATH));
            match client.choose(8) {
                1 | 2 => write(client, &config, &value).await,
                3 => overwrite(client, &config, &value).await,
                4 | 5 => publish(client, &set, &value).await,
                6 => makes_a_mistake(client, &config, &set).await,
                7 => overwrites_what_must_exist(client, make, &zk, &value).await,
                _ => {
                    let time = if client.choose(8) == 7 { 4000 } else { 8 };
                    follow(client, &config, pace.think * time).await
                }
            }
        }
    };
    rounds(&task, round).await;
}

/// A configuration with options of its own.
fn open<C: Client, F>(client: &C, make: &MakeConfig<C::Zk, F>, zk: &C::Zk, path: &str) -> F {
    let parents = [Parents::Container, Parents::Persistent][client.choose(2) as usize];
    let options = ConfigSetOptions::default().with_parents(parents).with_keep(2 + client.choose(3) as usize);
    make(zk, path, options)
}

/// Writes where the parents must exist.
async fn overwrites_what_must_exist<C: Client, F: Configuration>(
    client: &C,
    make: &MakeConfig<C::Zk, F>,
    zk: &C::Zk,
    value: &str,
) -> Round {
    let config =
        make(zk, VALUE_PATH, ConfigSetOptions::default().with_parents(Parents::MustExist).with_keep(2));
    let given = |journal: &mut Journal, at, op| {
        journal.given(at, client.number(), op, value, 0);
        journal.given(at, client.number(), op, PARENTS_MUST_EXIST, 0);
    };
    let call = Call::new(VALUE, Verb::Overwrite);
    let ended = operation(client, call, given, || config.put(value.as_bytes())).await.1;
    let is_missing = matches!(&ended, Ended::Failed(e) if e.is_no_node());
    sometimes!(client, "a directory that must exist is missing", is_missing);
    over(&ended)
}

/// A key that cannot be a component of a path, or data that exceed the servers' limit.
async fn makes_a_mistake<C: Client, F: Configuration>(client: &C, config: &F, set: &F) -> Round {
    let large = vec![b'x'; path::MAX_REQUEST_BYTES];
    let given = |journal: &mut Journal, at, op| journal.given(at, client.number(), op, "a mistake", 0);
    let (object, verb, key, data) = [
        (VALUE, Verb::Overwrite, "", &large[..]),
        (VALUE, Verb::CompareAndSet, "", &large),
        (SET, Verb::Publish, "", b"x"),
        (SET, Verb::Publish, "a/b", b"x"),
        (SET, Verb::Publish, "large", &large),
    ][client.choose(5) as usize];
    let work = || async {
        match verb {
            Verb::Overwrite => config.put(data).await,
            Verb::CompareAndSet => config.compare_and_set(None, data).await,
            _ => {
                let values: BTreeMap<String, Vec<u8>> = [(key.to_owned(), data.to_vec())].into();
                set.publish(&values, None::<&Versioned>).await
            }
        }
    };
    let ended = operation(client, Call::new(object, verb).by_mistake(), given, work).await.1;
    let is_bad_input = matches!(&ended, Ended::Failed(error) if error.is_bad_input());
    sometimes!(client, "bad input is refused", is_bad_input);
    over(&ended)
}
