//! Clients that make mistakes.
//!
//! Each round is one call, of any recipe, with an input that is invalid in one part: a path that breaks ZooKeeper's
//! rules or is inside its own directory, a name that cannot be a component of a path, data that exceed the size of a
//! request, or that have another meaning, a margin that no hold could survive, no item at all. The recipe refuses it
//! before it sends a request, and leaves nothing behind. Occasionally a client writes a value, in a valid call.

use super::calls::{CALLS, Input, Mistaken, calls, kinds, path_of};
use crate::election::workload as election;
use crate::group::workload as group;
use crate::prelude::*;
use crate::priority_lock::workload as priority_lock;
use crate::revocable_lock::workload as revocable_lock;
use std::sync::Arc;
use std::time::Duration;

/// Mistakes, one after the other.
pub(super) static WORKLOAD: Workload = Workload {
    about: "clients make calls of every recipe whose input makes no sense",
    plan: |_| plan(),
    faults: &[],
    required: &[An2],
    ..Workload::own("invalid-input", objects, |task| client(task, Arc::new(Right)).boxed(), &STATED)
};

/// A plan without faults: no request is sent that a fault could affect.
pub(super) fn plan() -> Plan {
    Plan { clients: 2, rounds: 24, ..Plan::calm() }
}

/// What its runs must fulfil.
static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &["a value is written beside the mistakes", "bad input is refused"],
};

/// The objects, as they are declared to the checker.
pub(super) fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    let object = |kind: Kind| {
        let path = names.intern(&path_of(kind));
        match kind {
            Kind::Lock | Kind::SharedLock => setting.held(kind, path),
            Kind::RevocableLock => revocable_lock::object(path, setting),
            Kind::PriorityLock => priority_lock::object(path, setting),
            Kind::Election => election::object(path, setting),
            Kind::Group => group::object(path, setting),
            _ => Object::plain(kind, path),
        }
    };
    kinds().into_iter().map(object).collect()
}

/// How a call is made: the right way, or a mutant's.
pub(super) trait Makes<Z: ZooKeeper>: Send + Sync {
    /// Makes a call with an invalid input.
    fn make<'a>(
        &'a self,
        zk: &'a Z,
        call: &'static Mistaken,
        input: Input,
    ) -> BoxFuture<'a, Result<(), Error>>;
}

/// The right way.
struct Right;

impl<Z: ZooKeeper> Makes<Z> for Right {
    fn make<'a>(
        &'a self,
        zk: &'a Z,
        call: &'static Mistaken,
        input: Input,
    ) -> BoxFuture<'a, Result<(), Error>> {
        calls(zk, call, input).boxed()
    }
}

/// A valid call: a client that has made mistakes still works.
async fn writes<C: Client>(client: &C, zk: &C::Zk, number: u32) -> Round {
    let value = format!("{} {number}", client.number());
    let call = CALLS.iter().find(|call| call.verb == Verb::Overwrite).expect("a value can be written");
    let input = Input { data: value.clone().into_bytes(), ..call.good() };
    let given = |journal: &mut Journal, at, op| journal.given(at, client.number(), op, &value, 0);
    let journaled = Call::new(call.object(), call.verb);
    let ended = operation(client, journaled, given, || calls(zk, call, input)).await.1;
    sometimes!(client, "a value is written beside the mistakes", matches!(ended, Ended::Done(())));
    if ended.is_session_over() { Round::Again } else { Round::Over }
}

/// One client's part.
pub(super) async fn client<C: Client>(task: Task<C>, makes: Arc<dyn Makes<C::Zk>>) {
    let (client, makes) = (&task.client, &*makes);
    let round = |zk: C::Zk, number: u32| async move {
        if client.choose(6) == 5 {
            return writes(client, &zk, number).await;
        }
        let call = &CALLS[client.choose(CALLS.len() as u32) as usize];
        let flaws: Vec<_> = call.flaws().collect();
        let flaw = flaws[client.choose(flaws.len() as u32) as usize];
        let input = call.input(flaw, zk.timeout());
        let journaled = Call::new(call.object(), call.verb).by_mistake();
        let about = format!("{flaw:?}");
        let given = |journal: &mut Journal, at, op| journal.given(at, client.number(), op, &about, 0);
        let ended = operation(client, journaled, given, || makes.make(&zk, call, input)).await.1;
        let is_bad_input = matches!(&ended, Ended::Failed(error) if error.is_bad_input());
        sometimes!(client, "bad input is refused", is_bad_input);
        if ended.is_session_over() { Round::Again } else { Round::Over }
    };
    rounds(&task, round).await;
}
