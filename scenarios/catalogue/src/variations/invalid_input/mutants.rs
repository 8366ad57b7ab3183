//! Recipes that accept invalid input.

use super::calls::{Input, Mistaken, calls};
use super::workload::{Makes, WORKLOAD, client, plan};
use crate::prelude::*;
use std::sync::Arc;
use zk_checker::RuleId;
use zk_harness::workload::TaskFn;

/// All mutants.
pub(super) static ALL: &[&Workload] =
    &[&MENDS_PATHS, &MENDS_NAMES, &CUTS_DATA, &CUTS_MARGINS, &DOES_NOTHING, &ASKS_FIRST];

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| plan(), sim)
}

/// Another rule knows the effect of such a call, or the call fails.
const OTHERWISE: &[(RuleId, &str)] = &[
    (An2, "the call that is made fails for another reason, and has sent requests"),
    (Qu3, "items are put that were not given"),
    (Gm4, "the member that joins is not the one that was asked for"),
];

/// A call whose input is corrected first.
struct Mends(fn(&mut Input, good: Input));

impl<Z: ZooKeeper> Makes<Z> for Mends {
    fn make<'a>(
        &'a self,
        zk: &'a Z,
        call: &'static Mistaken,
        mut input: Input,
    ) -> BoxFuture<'a, Result<(), Error>> {
        self.0(&mut input, call.good());
        calls(zk, call, input).boxed()
    }
}

fn mends<C: Client>(task: Task<C>, mend: fn(&mut Input, Input)) -> BoxFuture<'static, ()> {
    client(task, Arc::new(Mends(mend))).boxed()
}

/// A typing error in a path makes a second object, which no other client uses.
static MENDS_PATHS: Workload = mutant(
    "invalid-input-mends-paths",
    "a path that breaks the rules is taken for another one",
    Caught::by(An1).or(OTHERWISE),
    |task| mends(task, |input, good| input.path = good.path),
);

/// A name that cannot be a component of a path is written differently: no client finds it.
static MENDS_NAMES: Workload = mutant(
    "invalid-input-mends-names",
    "a name, an id, a key or a site that is no part of a path is taken for another one",
    Caught::by(An1).or(OTHERWISE),
    |task| mends(task, |input, good| input.name = good.name),
);

/// Data that exceed the size of a request, or that revoke a hold, are replaced.
static CUTS_DATA: Workload = mutant(
    "invalid-input-cuts-data",
    "data that fit into no request, or that mean something else, are cut",
    Caught::by(An1).or(OTHERWISE),
    |task| mends(task, |input, good| input.data = good.data),
);

/// A holder relies on a margin that it does not have.
static CUTS_MARGINS: Workload = mutant(
    "invalid-input-cuts-margins",
    "a margin that no hold could survive is cut",
    Caught::by(An1).or(OTHERWISE),
    |task| mends(task, |input, good| input.margin = good.margin),
);

/// A call with bad input returns done: its caller never learns that it had no effect.
static DOES_NOTHING: Workload = mutant(
    "invalid-input-does-nothing",
    "a call with bad input returns done",
    Caught::by(An1).or(OTHERWISE),
    |task| client(task, Arc::new(DoesNothing)).boxed(),
);

struct DoesNothing;

impl<Z: ZooKeeper> Makes<Z> for DoesNothing {
    fn make<'a>(
        &'a self,
        zk: &'a Z,
        call: &'static Mistaken,
        input: Input,
    ) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            match calls(zk, call, input).await {
                Err(error) if error.is_bad_input() => Ok(()),
                ended => ended,
            }
        }
        .boxed()
    }
}

/// Bad input is refused only after a request to the servers: a mistake in a loop loads them.
static ASKS_FIRST: Workload = mutant(
    "invalid-input-asks-first",
    "bad input is refused when a request has been sent",
    Caught::by(An2),
    |task| client(task, Arc::new(AsksFirst)).boxed(),
);

struct AsksFirst;

impl<Z: ZooKeeper> Makes<Z> for AsksFirst {
    fn make<'a>(
        &'a self,
        zk: &'a Z,
        call: &'static Mistaken,
        input: Input,
    ) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            zk.exists(&call.good().path).await?;
            calls(zk, call, input).await
        }
        .boxed()
    }
}
