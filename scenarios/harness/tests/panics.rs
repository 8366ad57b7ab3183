//! Who hears of a panic: of the code under test, its run; of anybody else, whoever did before. In a process of its own, since
//! there is one hook in each.

use futures_util::future::{BoxFuture, FutureExt};
use sim_zk::SimClient;
use std::future::{Future, poll_fn};
use std::panic::{catch_unwind, set_hook, take_hook};
use std::pin::pin;
use std::sync::{Mutex, Once};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use zk_harness::panics::{caught, caught_future};
use zk_harness::run::PANIC;
use zk_harness::testing::prelude::*;
use zk_harness::testing::{first_failure, holds};
use zk_recipes::ZooKeeper;

/// What reaches the hook that was there before.
static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Listens as a program or a test does, before the harness has run anything.
fn eavesdrop() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            let said = panic.payload_as_str().unwrap_or_default().to_owned();
            HEARD.lock().expect("nobody panics while it holds this").push(said);
            usual(panic);
        }));
    });
}

fn heard(word: &str) -> usize {
    let heard = HEARD.lock().expect("nobody panics while it holds this");
    heard.iter().filter(|said| said.contains(word)).count()
}

#[test]
fn a_panic_that_is_caught_says_where_it_was_and_nothing_is_printed() {
    eavesdrop();
    let panic = caught(|| panic!("lamp {} is dark", 3)).expect_err("it panics");
    assert_eq!((panic.said.as_str(), panic.words().as_str()), ("lamp 3 is dark", "lamp # is dark"));
    let place = panic.place.as_deref().expect("it has a place");
    assert!(place.contains("panics.rs:"), "{place}");
    assert_eq!(panic.to_string(), format!("lamp 3 is dark, at {place}"));
    assert_eq!(heard("lamp"), 0);
}

#[test]
fn a_panic_of_somebody_else_is_told_as_ever() {
    eavesdrop();
    let _ = caught(|| panic!("the first bell"));
    // Beside a run that is caught, and after it.
    let other = || std::thread::spawn(|| panic!("the second bell")).join();
    assert!(caught(other).expect("a thread of its own has its own panics").is_err());
    assert!(catch_unwind(|| panic!("the third bell")).is_err());
    assert_eq!([heard("first bell"), heard("second bell"), heard("third bell")], [0, 1, 1]);
}

#[test]
fn a_future_that_panics_between_two_waits_is_caught() {
    eavesdrop();
    let mut turns = 0;
    let part = poll_fn(move |context| {
        turns += 1;
        assert!(turns < 2, "the door is locked");
        context.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    let mut part = pin!(caught_future(part));
    let mut context = Context::from_waker(Waker::noop());
    assert!(part.as_mut().poll(&mut context).is_pending());
    let Poll::Ready(Err(panic)) = part.as_mut().poll(&mut context) else { panic!("it goes on") };
    assert!(panic.said.contains("the door is locked"), "{panic}");
    assert_eq!(heard("door"), 0);
}

/// Cannot stand that an answer is lost.
fn brittle(task: Task<SimProcess>) -> BoxFuture<'static, ()> {
    async move {
        let round = |zk: SimClient, number| async move {
            assert!(zk.exists("/").await.is_ok(), "the kettle is cold in round {number}");
            Round::Over
        };
        rounds(&task, round).await;
    }
    .boxed()
}

static BRITTLE: Workload = Workload {
    faults: &[Fault::ReplyLost],
    plan: |_| Plan::calm().with(&[Fault::ReplyLost], 0.02),
    ..Workload::own("brittle", |_, _| Vec::new(), brittle, &CALM)
};
static CALM: Stated = Stated { finishes_within: Duration::from_secs(60), rules: Some(&[]), sometimes: &[] };

#[test]
fn however_many_runs_panic_one_failure_tells_of_it() {
    eavesdrop();
    let failure = first_failure(&BRITTLE, 0..200).expect("an answer is lost");
    assert_eq!(failure.what, PANIC);
    assert!(failure.finding.contains("panics.rs:"), "it says where: {}", failure.finding);
    let before = heard("kettle");
    assert!(catch_unwind(|| holds(&BRITTLE, 0..200)).is_err());
    assert_eq!(heard("kettle") - before, 1, "of two hundred runs, and of those that make one small");
    let heard = HEARD.lock().expect("nobody panics while it holds this");
    let told = heard.iter().find(|said| said.contains("kettle")).expect("it was heard");
    assert!(told.starts_with(&format!("brittle, seed {}: panic\n", failure.seed)), "{told}");
    assert!(told.contains(" panicked: the kettle is cold in round "), "{told}");
}
