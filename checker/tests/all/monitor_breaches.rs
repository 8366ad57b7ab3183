//! All breaches that monitors find in a history, with their witnesses; and certificates that prove nothing.

use zk_checker::Verdict;
use zk_checker::history::Share;
use zk_checker::monitor::{
    Breach, Certificate, Fifo, Holds, Judged, Locking, Monitor, MostUrgent, Number, Operations, Queue,
    Register, Urgent, Variable, Wrong,
};
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

fn breach(at: u32, wrong: Wrong) -> Breach {
    Breach { at, wrong }
}

/// A result with this one breach, right or wrong.
fn told(wrong: Wrong) -> Judged {
    Judged { verdict: Verdict::Fail, breaches: vec![breach(0, wrong)], why: None }
}

fn certificate(wrong: Wrong) -> Certificate {
    Certificate::Breach { breach: breach(0, wrong), chain: vec![] }
}

const HIGH: Urgent = Urgent::Put { item: 1, urgency: 1 };
const LOW: Urgent = Urgent::Put { item: 9, urgency: 9 };

#[test]
fn each_breach_is_told_once_and_where_it_shows() {
    let (put, take) = (Queue::Put, |item| Queue::Take(Some(item)));
    let passed = one_by_one([put(1), put(2), take(2), take(1)]);
    let wrong = Wrong::Passed { put: Number(0), take: Number(2) };
    assert_eq!(Fifo.judge(&passed).breaches, [breach(5, wrong)]);

    let early = one_by_one([Urgent::Take(Some(1)), HIGH, Urgent::Take(None)]);
    let invented = Wrong::Invented { get: Number(0) };
    assert_eq!(
        MostUrgent.judge(&early).breaches,
        [breach(1, invented)],
        "what came out before it was put was never there"
    );

    // The first value is current from its write to the read, and the second one was written in between.
    let between = one_by_one([Register::Write(1), Register::Write(2), Register::Read(Some(1))]);
    let (one, other) = ((Some(Number(0)), Number(2)), (Some(Number(1)), Number(1)));
    let wrong = Wrong::Between { one, other };
    assert_eq!(Variable.judge(&between).breaches, [breach(4, wrong)]);
}

#[test]
fn a_value_that_nobody_wrote_is_invented_and_in_nobodys_way() {
    let (write, read) = (Register::Write, |value| Register::Read(Some(value)));
    let history = one_by_one([read(7), write(1), read(1), read(7)]);
    let invented = |get: u32| Wrong::Invented { get: Number(get) };
    assert_eq!(Variable.judge(&history).breaches, [breach(1, invented(0)), breach(7, invented(3))]);
}

#[test]
fn a_value_stands_on_when_another_one_within_it_is_gone() {
    let (write, read) = (Register::Write, |value| Register::Read(Some(value)));
    let history = one_by_one([write(1), write(2), read(2), write(3), read(1)]);
    let one = (Some(Number(0)), Number(4));
    let between =
        |first: u32, last: u32| breach(8, Wrong::Between { one, other: (Some(Number(first)), Number(last)) });
    assert_eq!(Variable.judge(&history).breaches, [between(1, 2), between(3, 3)]);
}

#[test]
fn a_token_that_comes_again_is_told_with_the_one_who_had_it_first() {
    let acquire = Locking::Acquire { share: Share::Exclusive, token: 5 };
    let hold = [acquire, Locking::Release];
    let history = one_by_one([hold, hold, hold].concat());
    let again = |second: u32| Wrong::Token { first: Number(0), second: Number(second) };
    assert_eq!(Holds::LOCK.judge(&history).breaches, [breach(5, again(2)), breach(9, again(4))]);
}

#[test]
fn who_is_least_urgent_is_wrong_whatever_takes_without_an_answer_took() {
    let taken = |item| Urgent::Take(Some(item));
    let mut history = one_by_one([LOW, HIGH, taken(9), taken(1), Urgent::Put { item: 5, urgency: 5 }]);
    let judged = MostUrgent.judge(&history);
    assert_eq!(judged.breaches, [breach(5, Wrong::LessUrgent { take: Number(2) })]);
    // Item 5 may be the result of this take, which changes nothing.
    history.call(1, Urgent::Take(None));
    assert_eq!(MostUrgent.judge(&history), judged);
    let certificate = MostUrgent.certify(&history, &judged);
    verify::certificate(&MostUrgent, &history, &certificate).expect("it is proved");
    // Here it matters.
    let mut doubt = one_by_one([LOW, HIGH, taken(9)]);
    assert_eq!(MostUrgent.judge(&doubt).verdict, Verdict::Fail);
    doubt.call(1, Urgent::Take(None));
    assert_eq!(MostUrgent.judge(&doubt).verdict, Verdict::Unknown);
}

#[test]
fn of_items_that_stay_the_first_one_is_the_proof() {
    let history = one_by_one([Queue::Put(1), Queue::Put(2), Queue::Take(None)]);
    let certificate = Fifo.certify(&history, &Fifo.judge(&history));
    let wrong = Wrong::NotEmpty { take: Number(2) };
    assert_eq!(certificate, Certificate::Breach { breach: breach(5, wrong), chain: vec![Number(0)] });
}

#[test]
fn a_breach_that_is_none_gets_no_chain() {
    let mut history = one_by_one([Queue::Put(1)]);
    let empty = history.call(0, Queue::Take(None));
    let take = history.call(1, Queue::Take(None));
    history.done_with(take, Queue::Take(Some(1)));
    history.done(empty);
    let wrong = Wrong::NotEmpty { take: empty };
    let certificate = Fifo.certify(&history, &told(wrong));
    assert_eq!(certificate, Certificate::Breach { breach: breach(0, wrong), chain: vec![] });
    assert!(verify::certificate(&Fifo, &history, &certificate).is_err());
}

#[test]
fn permits_that_were_given_back_prove_nothing() {
    let one = Holds::semaphore(1);
    let history = one_by_one([Locking::SHARED, Locking::Release, Locking::SHARED]);
    assert_eq!(one.judge(&history).verdict, Verdict::Pass);
    let too_many = certificate(Wrong::TooMany { acquire: Number(2) });
    assert!(verify::certificate(&one, &history, &too_many).is_err());
}

#[test]
fn an_acquire_that_never_returned_is_no_hold() {
    // A process stops waiting and continues.
    let mut history = one_by_one([Locking::EXCLUSIVE]);
    history.call(0, Locking::EXCLUSIVE);
    let release = history.call(0, Locking::Release);
    history.done(release);
    let other = history.call(1, Locking::EXCLUSIVE);
    history.done(other);
    assert_eq!(Holds::LOCK.judge(&history).verdict, Verdict::Pass);
    let together = certificate(Wrong::Together { first: Number(0), second: other });
    assert!(verify::certificate(&Holds::LOCK, &history, &together).is_err(), "the first one was given back");

    let mut unheld = Operations::new();
    unheld.call(0, Locking::EXCLUSIVE);
    let release = unheld.call(0, Locking::Release);
    unheld.done(release);
    let judged = Holds::LOCK.judge(&unheld);
    assert_eq!(judged.breaches, [breach(1, Wrong::NotHeld { release })]);
    let certificate = Holds::LOCK.certify(&unheld, &judged);
    verify::certificate(&Holds::LOCK, &unheld, &certificate).expect("nobody held");
}
