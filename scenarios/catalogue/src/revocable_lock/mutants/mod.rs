//! Mutants of the revocable lock.

mod copy;
pub(super) mod lies;

use super::workload::{WORKLOAD, client};
use crate::prelude::*;
use crate::session::{Intercepted, Interceptor, Reply, Watch};
use copy::{MutantRevocableLock, Mutation};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use zk_harness::workload::TaskFn;
use zk_recipes::zk::{Data, EventKind, Listing, path};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[&DEAF, &WORD_FOR_DELETION, &NO_GRACE, &WAITS_ON];

/// A mutant of the revocable lock: all need four clients, and no faults.
const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    let plan = |_| Plan { clients: 4, ..Plan::calm() };
    WORKLOAD.mutant(name, about, caught, &[], plan, sim)
}

/// One client's part, with an interceptor for each lock.
fn run<C: Client>(
    task: Task<C>,
    interceptor: fn() -> Arc<dyn Interceptor<C::Zk>>,
    mutation: &'static Mutation,
) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk| {
        MutantRevocableLock::new(zk, &Intercepted::new(zk, interceptor()), mutation)
    });
    client(task, make).boxed()
}

/// A revocable lock whose owners discard the data that the arming read of their own znode returns: a request to go that
/// was written before the watch is lost (Apache Curator, by reading).
static DEAF: Workload = mutant(
    "revocable-lock-deaf",
    "an owner discards the data of the read that arms its watch",
    Caught::by(Rv1).within(100).seen("Curator"),
    |task| run(task, || Arc::new(ThrowsAway::default()), &Mutation::RIGHT),
);

/// The znodes that were already read.
#[derive(Default)]
struct ThrowsAway(Mutex<BTreeSet<String>>);

impl<Z: ZooKeeper> Interceptor<Z> for ThrowsAway {
    fn watched(&self, path: &str, data: Data) -> Data {
        let is_first = self.0.lock().expect("nobody panics in there").insert(path.to_owned());
        if is_first { Data { data: Vec::new(), ..data } } else { data }
    }
}

/// A revocable lock that deletes a contender's znode at once, without asking first: the "freaking laser beams" of
/// ZooKeeper's recipes page.
static NO_GRACE: Workload = mutant(
    "revocable-lock-no-grace",
    "a forced revocation removes at once, without a grace period",
    Caught::by(Rv2).within(1).seen("the recipes page"),
    |task| run(task, || Arc::new(Unaltered), &Mutation { has_grace: false, ..Mutation::RIGHT }),
);

/// A revocable lock whose waiters report that they were asked to release, and wait on: their acquire does not end.
static WAITS_ON: Workload = mutant(
    "revocable-lock-waits-on",
    "a waiter reports that it was asked to release, and waits on",
    Caught::by(Mx7)
        .or(&[
            (Rw4, "the waiter is a reader, and no writer is ahead of it"),
            (Rv3, "the waiter still has a znode ahead of it"),
        ])
        .harm(&[Rv3]),
    |task| run(task, || Arc::new(Unaltered), &Mutation { ends: false, ..Mutation::RIGHT }),
);

struct Unaltered;

impl<Z: ZooKeeper> Interceptor<Z> for Unaltered {}

/// A revocable lock whose waiters watch the predecessor's data, and take any notification for its deletion: a holder
/// that is asked to go lets the next client in beside itself.
static WORD_FOR_DELETION: Workload = mutant(
    "revocable-lock-word-for-deletion",
    "a waiter takes a change of its predecessor's data for its deletion",
    Caught::by(Rv4)
        .or(&[(
            Rw5,
            "whoever takes the word for a deletion goes on to watch the next one ahead, beside whoever watches that one by right: its deletion notifies both",
        )])
        .within(5)
        .harm(&[Rw1])
        .seen("follows from the watch rules"),
    |task| run(task, || Arc::new(AnyEventIsItsEnd::default()), &Mutation::RIGHT),
);

#[derive(Default)]
struct AnyEventIsItsEnd(Arc<Mutex<Believed>>);

#[derive(Default)]
struct Believed {
    last: Option<Listing>,
    /// The name of the contender whose data have just changed.
    gone: Option<String>,
}

impl<Z: ZooKeeper> Interceptor<Z> for AnyEventIsItsEnd {
    fn list(&self, _: &str, list: Listing) -> Listing {
        self.0.lock().expect("nobody panics in there").last = Some(list.clone());
        list
    }

    fn remembered(&self) -> Option<Listing> {
        let mut believed = self.0.lock().expect("nobody panics in there");
        let gone = believed.gone.take()?;
        let mut last = believed.last.clone()?;
        last.names.retain(|name| *name != gone);
        Some(last)
    }

    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        let (believed, name) = (self.0.clone(), path::split(path).1.to_owned());
        let get = zk.get_watch(path);
        async move {
            let (data, watch) = get.await?;
            let told = watch.inspect(move |event| {
                if event.as_ref().is_ok_and(|event| event.kind == EventKind::NodeDataChanged) {
                    believed.lock().expect("nobody panics in there").gone = Some(name);
                }
            });
            Ok((Listing { names: Vec::new(), stat: data.stat }, told.boxed()))
        }
        .boxed()
    }
}
