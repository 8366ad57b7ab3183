//! The monitors in typical use.

use std::collections::BTreeMap;
use zk_checker::Verdict;
use zk_checker::monitor::{
    Breach, Certificate, Fifo, Holds, Increasing, Locking, Monitor, MostUrgent, Numbered, Operation,
    Operations, Queue, Register, Urgent, Variable, Wrong,
};
use zk_checker::search::{Model, search};
use zk_checker::verify;

/// Operations one after the other.
fn one_by_one<A: Copy>(actions: impl IntoIterator<Item = A>) -> Operations<A> {
    let mut history = Operations::new();
    for action in actions {
        let number = history.call(0, action);
        history.done(number);
    }
    history
}

#[test]
fn nothing_is_vacuous() {
    assert_eq!(Fifo.judge(&Operations::new()).verdict, Verdict::Vacuous);
    let mut refused = Operations::new();
    let put = refused.call(0, Queue::Put(1));
    refused.refused(put);
    assert_eq!(Fifo.judge(&refused).verdict, Verdict::Vacuous);
}

#[test]
fn what_was_refused_is_no_part_of_it() {
    let mut history = Operations::new();
    let put = history.call(0, Queue::Put(1));
    let take = history.call(1, Queue::Take(None));
    history.done_with(take, Queue::Take(None));
    history.refused(put);
    let take = history.call(1, Queue::Take(None));
    history.done_with(take, Queue::Take(None));
    let judged = Fifo.judge(&history);
    assert_eq!(judged.verdict, Verdict::Pass);
    verify::certificate(&Fifo, &history, &Fifo.certify(&history, &judged)).expect("it is proved");
    let taken = history.call(1, Queue::Take(None));
    history.done_with(taken, Queue::Take(Some(1)));
    assert_eq!(Fifo.judge(&history).breaches[0].wrong, Wrong::Invented { get: taken });
}

#[test]
fn what_is_put_or_written_twice_is_not_judged() {
    let twice = one_by_one([Queue::Put(1), Queue::Put(1)]);
    assert_eq!(Fifo.judge(&twice).verdict, Verdict::Unknown);
    let twice = one_by_one([Urgent::Put { item: 1, urgency: 1 }, Urgent::Put { item: 1, urgency: 2 }]);
    assert_eq!(MostUrgent.judge(&twice).verdict, Verdict::Unknown);
    let twice = one_by_one([Register::Write(1), Register::Write(1)]);
    assert_eq!(Variable.judge(&twice).why, Some("a value is written twice"));
}

#[test]
fn times_that_are_alike_overlap() {
    let holds = |since: u64| {
        let release = |process, at| (process, Locking::Release, at, Some(at));
        let acquire = |process, from, to| (process, Locking::EXCLUSIVE, from, Some(to));
        Operations::of_times([acquire(1, 0, 10), release(1, 20), acquire(2, 0, since), release(2, 40)])
    };
    assert_eq!(Holds::LOCK.judge(&holds(20)).verdict, Verdict::Pass);
    assert_eq!(Holds::LOCK.judge(&holds(19)).verdict, Verdict::Fail);
    let pending = Operations::of_times([(1, Queue::Put(1), 5, None), (2, Queue::Take(Some(1)), 1, Some(9))]);
    assert_eq!(Fifo.judge(&pending).verdict, Verdict::Pass);
}

#[test]
fn a_hold_within_a_hold_is_one_hold() {
    let mut history = one_by_one([Locking::EXCLUSIVE, Locking::EXCLUSIVE, Locking::Release]);
    let other = history.call(1, Locking::EXCLUSIVE);
    assert_eq!(Holds::LOCK.judge(&history).verdict, Verdict::Pass);
    history.done(other);
    let judged = Holds::LOCK.judge(&history);
    assert!(matches!(judged.breaches[0].wrong, Wrong::Together { second, .. } if second == other));
}

#[test]
fn parts_are_judged_one_by_one() {
    // Two counters in one history, distinguished by the thousands.
    let history = one_by_one([1001, 2001, 1002, 2001].map(Numbered));
    assert_eq!(Increasing.judge(&history).verdict, Verdict::Fail);
    let parts = history.parts(|number| number.0 / 1000);
    let verdicts: BTreeMap<_, _> =
        parts.iter().map(|(part, history)| (*part, Increasing.judge(history).verdict)).collect();
    assert_eq!(verdicts, BTreeMap::from([(1, Verdict::Pass), (2, Verdict::Fail)]));
}

#[test]
fn a_false_certificate_proves_nothing() {
    let history = one_by_one([Queue::Put(1), Queue::Put(2), Queue::Take(Some(1)), Queue::Take(None)]);
    let judged = Fifo.judge(&history);
    assert_eq!(judged.breaches.len(), 1);
    let Certificate::Breach { breach, chain } = Fifo.certify(&history, &judged) else { panic!("{judged:?}") };
    assert_eq!(chain.len(), 1, "item 2 is there all the time");
    let without = Certificate::Breach { breach, chain: vec![] };
    assert!(verify::certificate(&Fifo, &history, &without).is_err());
    let right = one_by_one([Queue::Put(1), Queue::Put(2), Queue::Take(Some(1))]);
    let judged = Fifo.judge(&right);
    let Certificate::Order(order) = Fifo.certify(&right, &judged) else { panic!("{judged:?}") };
    for edit in [|o: &mut Vec<_>| o.truncate(2), |o: &mut Vec<_>| o.swap(0, 1), |o: &mut Vec<_>| o.push(o[2])]
    {
        let mut order = order.clone();
        edit(&mut order);
        assert!(verify::certificate(&Fifo, &right, &Certificate::Order(order)).is_err());
    }
    let mut late = order;
    late[2].gap += 1;
    assert!(verify::certificate(&Fifo, &right, &Certificate::Order(late)).is_err());
    assert!(verify::certificate(&Fifo, &right, &Certificate::Nothing).is_err());
}

#[test]
fn a_chain_with_a_hole_proves_nothing() {
    let mut history = Operations::new();
    let one = history.call(0, Queue::Put(1));
    history.done(one);
    let empty = history.call(1, Queue::Take(None));
    let two = history.call(0, Queue::Put(2));
    let take = history.call(2, Queue::Take(None));
    history.done(two);
    history.done_with(take, Queue::Take(Some(1)));
    history.done_with(empty, Queue::Take(None));
    assert_eq!(Fifo.judge(&history).verdict, Verdict::Pass);
    let breach = Breach { at: 7, wrong: Wrong::NotEmpty { take: empty } };
    let certificate = Certificate::Breach { breach, chain: vec![one, two] };
    assert!(verify::certificate(&Fifo, &history, &certificate).is_err(), "1 went before 2 was surely there");
}

/// A variable whose write must name the current value: compare and set.
struct Replace;

impl Model for Replace {
    type Action = (u32, u32);
    type State = u32;

    fn step(&self, state: &u32, operation: &Operation<(u32, u32)>) -> Option<u32> {
        let (from, to) = operation.action;
        (from == *state).then_some(to)
    }
}

#[test]
fn a_search_of_nothing_proves_nothing() {
    let nothing: Operations<(u32, u32)> = Operations::new();
    let searched = search(&Replace, &nothing, 100);
    assert_eq!((searched.verdict, searched.states), (Verdict::Vacuous, 0));
}

#[test]
fn a_search_ends_with_its_budget() {
    let right = one_by_one([(0, 1), (1, 2), (2, 0)]);
    assert_eq!(search(&Replace, &right, 100).verdict, Verdict::Pass);
    let wrong = one_by_one([(0, 1), (2, 0), (1, 2)]);
    let searched = search(&Replace, &wrong, 100);
    assert_eq!((searched.verdict, searched.stuck.map(|number| number.0)), (Verdict::Fail, Some(1)));
    // Ten at once, and the operation that would enable all of them was never called.
    let mut many = Operations::new();
    let numbers: Vec<_> = (1..=10).map(|at| many.call(at, (at, at))).collect();
    let begins = many.call(0, (0, 1));
    many.done(begins);
    numbers.into_iter().for_each(|number| many.done(number));
    let searched = search(&Replace, &many, 5);
    assert_ne!(searched.verdict, Verdict::Pass);
    let at_once: Operations<(u32, u32)> = {
        let mut history = Operations::new();
        let numbers: Vec<_> = (0..12).map(|process| history.call(process, (0, 0))).collect();
        let last = history.call(12, (1, 1));
        numbers.into_iter().chain([last]).for_each(|number| history.done(number));
        history
    };
    assert_eq!(search(&Replace, &at_once, 50).verdict, Verdict::Unknown);
    assert_eq!(search(&Replace, &at_once, 50).states, 50);
    assert_eq!(search(&Replace, &at_once, 1_000_000).verdict, Verdict::Fail);
}

#[test]
fn whether_there_is_an_operation() {
    let mut history = Operations::new();
    assert!(history.is_empty());
    history.call(0, Queue::Put(1));
    assert!(!history.is_empty());
}
