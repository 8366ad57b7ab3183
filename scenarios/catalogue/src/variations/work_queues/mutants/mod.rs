//! Workers that make one call wrong, over right queues.

use super::calls::{Calls, Pending, Puts};
use super::workload::{WORKLOAD, client};
use crate::prelude::*;
use std::sync::Arc;
use zk_harness::workload::TaskFn;
use zk_recipes::zk::Op;
use zk_recipes::{Claimed, Consumer};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &WRITES_FIRST,
    &CONFIRMS_ONE_BY_ONE,
    &BLIND_TO_LOST_CLAIMS,
    &COUNTS_FROM_ZERO,
    &FINDS_NOTHING,
    &HANDS_OUT_ONE,
    &PUTS_ONE_BY_ONE,
    &IGNORES_EXHAUSTION,
    &GIVES_UP_TOO_EARLY,
    &ACCEPTS_NOTHING,
    &REFUSES_GOOD_INPUT,
    &HANDS_OUT_MORE,
];

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { clients: 4, rounds: 10, ..Plan::calm() }, sim)
}

/// The results are written in a separate transaction, ahead of the confirmation: other clients see them while the item
/// is in the queue, and if the claim is lost they stay although nothing was confirmed.
static WRITES_FIRST: Workload = mutant(
    "work-queues-writes-first",
    "the writes beside a confirmation are made before it",
    Caught::by(An1).or(&[(An3, "the writes stand although the confirmation has failed")]),
    |task| client(task, Arc::new(WritesFirst)).boxed(),
);

struct WritesFirst;

impl<Z: ZooKeeper> Calls<Z> for WritesFirst {
    fn confirm(&self, zk: &Z, claims: Vec<Claimed<Z>>, writes: Vec<Op>) -> Pending<'static, ()> {
        let zk = zk.clone();
        async move {
            if !writes.is_empty() {
                zk.multi(writes).await?;
            }
            Claimed::done_all(claims, Vec::new()).await
        }
        .boxed()
    }
}

/// A batch is confirmed item by item: if the worker dies in between, or a claim is lost, half of the batch is
/// confirmed.
static CONFIRMS_ONE_BY_ONE: Workload = mutant(
    "work-queues-confirms-one-by-one",
    "each item of a batch is confirmed in a transaction of its own",
    Caught::by(An1).or(&[
        (An3, "some items are gone although the confirmation has failed"),
        (Qu2, "some items are gone although the confirmation has failed"),
    ]),
    |task| client(task, Arc::new(ConfirmsOneByOne)).boxed(),
);

struct ConfirmsOneByOne;

impl<Z: ZooKeeper> Calls<Z> for ConfirmsOneByOne {
    fn confirm(&self, _: &Z, claims: Vec<Claimed<Z>>, mut writes: Vec<Op>) -> Pending<'static, ()> {
        if claims.is_empty() {
            return Claimed::done_all(claims, writes).boxed();
        }
        async move {
            for claim in claims {
                claim.done_with(std::mem::take(&mut writes)).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

/// The confirmation of a batch is not checked: with one claim lost no item is confirmed, and other workers do all of it
/// again.
static BLIND_TO_LOST_CLAIMS: Workload = mutant(
    "work-queues-blind-to-lost-claims",
    "a confirmation that failed because a claim is lost is taken for done",
    Caught::by(Qu1),
    |task| client(task, Arc::new(BlindToLostClaims)).boxed(),
);

struct BlindToLostClaims;

impl<Z: ZooKeeper> Calls<Z> for BlindToLostClaims {
    fn confirm(&self, _: &Z, claims: Vec<Claimed<Z>>, writes: Vec<Op>) -> Pending<'static, ()> {
        let done = Claimed::done_all(claims, writes);
        async move {
            match done.await {
                Err(e) if e.is_claim_lost() => Ok(()),
                done => done,
            }
        }
        .boxed()
    }
}

/// The current delivery is not counted: an item that is given up after so many attempts is tried once more.
static COUNTS_FROM_ZERO: Workload = mutant(
    "work-queues-counts-from-zero",
    "attempts are counted without the present one",
    Caught::by(Qu1),
    |task| client(task, Arc::new(CountsFromZero)).boxed(),
);

struct CountsFromZero;

impl<Z: ZooKeeper> Calls<Z> for CountsFromZero {
    fn attempts(&self, claim: &Claimed<Z>) -> u32 {
        claim.attempts() - 1
    }
}

/// An attempt reports that there is nothing to claim, without reading the queue: the items wait in the queue.
static FINDS_NOTHING: Workload = mutant(
    "work-queues-finds-nothing",
    "a try to claim says that there is nothing, and does not look",
    Caught::by(An2),
    |task| client(task, Arc::new(FindsNothing)).boxed(),
);

struct FindsNothing;

impl<Z: ZooKeeper> Calls<Z> for FindsNothing {
    fn try_claim<'a>(&'a self, _: &'a mut Consumer<Z>) -> Pending<'a, Option<Claimed<Z>>> {
        async { Ok(None) }.boxed()
    }
}

/// Only one item of a claimed batch is handed out: no other consumer gets the rest for as long as the session lives.
static HANDS_OUT_ONE: Workload = mutant(
    "work-queues-hands-out-one",
    "of several claims the first is handed out, and the others stand",
    Caught::by(Qu9),
    |task| client(task, Arc::new(HandsOutOne)).boxed(),
);

struct HandsOutOne;

impl<Z: ZooKeeper> Calls<Z> for HandsOutOne {
    fn claim_up_to<'a>(
        &'a self,
        consumer: &'a mut Consumer<Z>,
        count: usize,
    ) -> Pending<'a, Vec<Claimed<Z>>> {
        async move {
            let mut claims = consumer.claim_up_to(count).await?;
            claims.drain(1..).for_each(std::mem::forget);
            Ok(claims)
        }
        .boxed()
    }
}

/// A batch is put item by item: other items come in between, and if the producer dies half of the batch is in the
/// queue.
static PUTS_ONE_BY_ONE: Workload = mutant(
    "work-queues-puts-one-by-one",
    "each item of a batch is put in a transaction of its own",
    Caught::by(An1)
        .or(&[(An3, "some items are in the queue although the put has failed"), (Qu3, "the same")]),
    |task| client(task, Arc::new(PutsOneByOne)).boxed(),
);

struct PutsOneByOne;

impl<Z: ZooKeeper> Calls<Z> for PutsOneByOne {
    fn put<'a>(&'a self, puts: &'a mut Puts<Z>, priority: u16, items: &'a [Vec<u8>]) -> Pending<'a, ()> {
        async move {
            for item in items {
                puts.put(priority, std::slice::from_ref(item)).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

/// A producer that ignores the error of an exhausted counter: its items are lost.
static IGNORES_EXHAUSTION: Workload = mutant(
    "work-queues-ignores-exhaustion",
    "a put that failed because the numbers have run out is taken for done",
    Caught::by(Qu3).or(&[(An1, "no item was created")]),
    |task| client(task, Arc::new(IgnoresExhaustion)).boxed(),
);

struct IgnoresExhaustion;

impl<Z: ZooKeeper> Calls<Z> for IgnoresExhaustion {
    fn put<'a>(&'a self, puts: &'a mut Puts<Z>, priority: u16, items: &'a [Vec<u8>]) -> Pending<'a, ()> {
        async move {
            match puts.put(priority, items).await {
                Err(e) if e.is_exhausted() => Ok(()),
                done => done,
            }
        }
        .boxed()
    }
}

/// Numbers are reported as exhausted although they are not: the queue is given up for no reason.
static GIVES_UP_TOO_EARLY: Workload = mutant(
    "work-queues-gives-up-too-early",
    "a put of several items fails as if the numbers had run out",
    Caught::by(An2),
    |task| client(task, Arc::new(GivesUpTooEarly)).boxed(),
);

struct GivesUpTooEarly;

impl<Z: ZooKeeper> Calls<Z> for GivesUpTooEarly {
    fn put<'a>(&'a self, puts: &'a mut Puts<Z>, priority: u16, items: &'a [Vec<u8>]) -> Pending<'a, ()> {
        if items.len() < 2 {
            return puts.put(priority, items).boxed();
        }
        async { Err(ErrorKind::Exhausted("/work".to_owned()).into()) }.boxed()
    }
}

/// A call without an item returns done: a caller that has lost its items before the call does not notice.
static ACCEPTS_NOTHING: Workload = mutant(
    "work-queues-accepts-nothing",
    "a put of no item, and a confirmation of no claim, return done",
    Caught::by(An1),
    |task| client(task, Arc::new(AcceptsNothing)).boxed(),
);

struct AcceptsNothing;

impl<Z: ZooKeeper> Calls<Z> for AcceptsNothing {
    fn put<'a>(&'a self, puts: &'a mut Puts<Z>, priority: u16, items: &'a [Vec<u8>]) -> Pending<'a, ()> {
        if items.is_empty() {
            return async { Ok(()) }.boxed();
        }
        puts.put(priority, items).boxed()
    }

    fn confirm(&self, _: &Z, claims: Vec<Claimed<Z>>, writes: Vec<Op>) -> Pending<'static, ()> {
        if claims.is_empty() {
            return async { Ok(()) }.boxed();
        }
        Claimed::done_all(claims, writes).boxed()
    }
}

/// A batch that fits is refused as too large: its producer splits it, or gives up.
static REFUSES_GOOD_INPUT: Workload = mutant(
    "work-queues-refuses-good-input",
    "a put of several items that fit is refused as bad input",
    Caught::by(An2),
    |task| client(task, Arc::new(RefusesGoodInput)).boxed(),
);

struct RefusesGoodInput;

impl<Z: ZooKeeper> Calls<Z> for RefusesGoodInput {
    fn put<'a>(&'a self, puts: &'a mut Puts<Z>, priority: u16, items: &'a [Vec<u8>]) -> Pending<'a, ()> {
        if items.len() < 2 {
            return puts.put(priority, items).boxed();
        }
        async { Err(ErrorKind::BadInput("the items are too large".to_owned()).into()) }.boxed()
    }
}

/// A consumer gets more than it can work on: other consumers wait for the items that it has claimed.
static HANDS_OUT_MORE: Workload = mutant(
    "work-queues-hands-out-more",
    "a claim of several items claims one more than was asked for",
    Caught::by(An1),
    |task| client(task, Arc::new(HandsOutMore)).boxed(),
);

struct HandsOutMore;

impl<Z: ZooKeeper> Calls<Z> for HandsOutMore {
    fn claim_up_to<'a>(
        &'a self,
        consumer: &'a mut Consumer<Z>,
        count: usize,
    ) -> Pending<'a, Vec<Claimed<Z>>> {
        consumer.claim_up_to(if count == 0 { 0 } else { count + 1 }).boxed()
    }
}
