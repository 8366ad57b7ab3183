//! The double barrier: who is counted, who gets in, who may go, and what becomes of it under faults.

mod dropped;
mod strangers;

use crate::common::bent::Bent;
use crate::common::every_await::at_every_await;
use crate::common::{Client, Drops, RECONNECT, Stage, TIMEOUT, dropping, play, play_struck};
use futures_util::FutureExt;
use futures_util::future::join_all;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SimEvent};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper};
use zk_recipes::{
    DoubleBarrier, DoubleBarrierOptions, HoldState, Inside, Leave, LostReason, Parents, Released, Reuse, Stop,
};

const STEP: &str = "/step";
const WAYS: [Leave; 2] = [Leave::Keeper, Leave::Chain];

type Place = Inside<SimClient>;
type Entering = Pin<Box<dyn Future<Output = Result<Place, Error>> + Send>>;
type Leaving = Pin<Box<dyn Future<Output = Result<Released, Error>> + Send>>;

fn options(participants: usize) -> DoubleBarrierOptions {
    DoubleBarrierOptions::new(participants, Reuse::Generations, Leave::Keeper)
}

fn named(participants: usize, id: &str) -> DoubleBarrierOptions {
    options(participants).with_id(id)
}

fn step(on: &Client, options: DoubleBarrierOptions) -> DoubleBarrier<SimClient> {
    DoubleBarrier::new(&on.zk, STEP, options).expect("the input is good")
}

/// Enters, in a process of its own.
fn enters(on: &Client, options: DoubleBarrierOptions) -> Entering {
    let barrier = step(on, options);
    let entering = on.process.spawn(async move { barrier.enter().await });
    Box::pin(async move { entering.await.expect("its process lives") })
}

fn leaves(on: &Client, inside: Place) -> Leaving {
    let leaving = on.process.spawn(inside.leave());
    Box::pin(async move { leaving.await.expect("its process lives") })
}

async fn clients<const N: usize>(stage: &Stage) -> [Client; N] {
    let mut all = Vec::new();
    for number in 0..N {
        all.push(stage.client(&char::from(b'a' + number as u8).to_string()).await);
    }
    all.try_into().unwrap_or_else(|_| unreachable!("there are as many as asked for"))
}

/// All enter, one after the other; the last one opens it, and so is the keeper.
async fn all_inside(stage: &Stage, all: &[Client], how: Leave) -> Vec<Place> {
    let mut entering = Vec::new();
    for (number, client) in all.iter().enumerate() {
        let id = number.to_string();
        entering.push(enters(client, named(all.len(), &id).with_leave(how)));
        // Long enough to register. To wait until all is quiet would end the time of faults.
        stage.pass(client, Duration::from_millis(100)).await;
    }
    join_all(entering).await.into_iter().map(|entered| entered.expect("it is in")).collect()
}

#[test]
fn all_begin_together_and_end_together() {
    for how in WAYS {
        play(move |stage| async move {
            let [a, b, c] = clients(&stage).await;
            let participant = |id| named(3, id).with_leave(how);
            let (mut first, mut second) = (enters(&a, participant("a")), enters(&b, participant("b")));
            stage.settle().await;
            assert!(first.as_mut().now_or_never().is_none() && second.as_mut().now_or_never().is_none());
            let third = enters(&c, participant("c")).await.expect("it is in");
            let (first, second) = (first.await.expect("it is in"), second.await.expect("it is in"));
            for inside in [&first, &second, &third] {
                assert_eq!((inside.roster(), inside.generation()), (vec!["a", "b", "c"], 0));
                assert_eq!(inside.state(), HoldState::Held);
            }
            let (mut first, mut third) = (leaves(&a, first), leaves(&c, third));
            stage.settle().await;
            assert!(first.as_mut().now_or_never().is_none() && third.as_mut().now_or_never().is_none());
            leaves(&b, second).await.expect("it is out");
            first.await.expect("it is out");
            third.await.expect("it is out");
            stage.settle().await;
            for client in [&a, &b, &c] {
                client.has_left_nothing(&stage, "after leaving");
            }
        });
    }
}

#[test]
fn one_may_be_enough() {
    for how in WAYS {
        play(move |stage| async move {
            let a = stage.client("a").await;
            for generation in 0..3 {
                let barrier = step(&a, options(1).with_leave(how));
                let inside = barrier.enter().await.expect("it is in");
                assert_eq!((inside.generation(), inside.roster().len()), (generation, 1));
                inside.leave().await.expect("it is out");
            }
            stage.settle().await;
            a.has_left_nothing(&stage, "after three rounds");
        });
    }
}

#[test]
fn round_after_round_with_one_object() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let (left, right) = (step(&a, options(2)), step(&b, options(2)));
        for round in 0..4 {
            let (one, other) = futures_util::join!(left.enter(), right.enter());
            let (one, other) = (one.expect("in"), other.expect("in"));
            assert_eq!((one.generation(), other.generation()), (round, round));
            let (one, other) = futures_util::join!(one.leave(), other.leave());
            one.and(other).expect("out");
        }
        stage.settle().await;
        a.has_left_nothing(&stage, "after four rounds");
        b.has_left_nothing(&stage, "after four rounds");
    });
}

#[test]
fn two_in_one_session_are_two() {
    for how in WAYS {
        play(move |stage| async move {
            let a = stage.client("a").await;
            let barrier = step(&a, options(2).with_leave(how));
            let (one, other) = futures_util::join!(barrier.enter(), barrier.enter());
            let (one, other) = (one.expect("in"), other.expect("in"));
            let (one, other) = futures_util::join!(one.leave(), other.leave());
            one.and(other).expect("out");
            stage.settle().await;
            a.has_left_nothing(&stage, "after leaving");
        });
    }
}

#[test]
fn who_comes_late_joins_the_next_round_or_is_told() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let inside = all_inside(&stage, std::slice::from_ref(&a), Leave::Keeper).await;
        let late = step(&b, named(1, "b")).enter().await.expect("the next one opens");
        assert_eq!(late.generation(), 1);
        drop((inside, late));

        let once = || options(1).with_reuse(Reuse::Once);
        let only = DoubleBarrier::new(&c.zk, "/once", once()).expect("a good path");
        let inside = only.enter().await.expect("it is in");
        let again = DoubleBarrier::new(&b.zk, "/once", once()).expect("a good path");
        assert_eq!(again.enter().await.map(drop), Err(ErrorKind::Late.into()));
        inside.leave().await.expect("it is out");
        assert_eq!(again.enter().await.map(drop), Err(ErrorKind::Late.into()), "also when all have left");
        // A container without children is reaped within minutes, and a barrier for one use is none.
        stage.pass(&b, Duration::from_secs(400)).await;
        assert_eq!(again.enter().await.map(drop), Err(ErrorKind::Late.into()), "also long after");
        let mark = stage.mark();
        stage.settle().await;
        assert_eq!(b.sent(&stage, mark), [], "nothing was made that a clean-up could find");
        b.has_left_nothing(&stage, "after it was told");
    });
}

#[test]
fn a_participant_that_was_there_when_a_single_use_opened_gets_in_and_the_next_is_late() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let once = || options(2).with_reuse(Reuse::Once);
        let waiting = enters(&a, once());
        stage.settle().await;
        // They join in one and the same moment: the first of them opens, the other one is counted or late.
        let (second, third) = futures_util::join!(enters(&b, once()), enters(&c, once()));
        let first = waiting.await.expect("it is in");
        let in_time = [&second, &third].iter().filter(|entered| entered.is_ok()).count();
        assert_eq!(first.roster().len(), in_time + 1);
        assert!(
            in_time == 2
                || [second, third].into_iter().any(|entered| matches!(entered, Err(e) if e.is_late()))
        );
    });
}

#[test]
fn who_gives_up_is_not_counted() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let patient = step(&a, options(2));
        let limit = Duration::from_millis(50);
        let ended = patient.enter().within(limit).await;
        assert!(ended.expect_err("nobody else came").is_timed_out());
        stage.settle().await;
        a.has_left_nothing(&stage, "after the limit");
        let mut second = enters(&b, options(2));
        stage.settle().await;
        assert!(second.as_mut().now_or_never().is_none(), "one is not enough");
        let third = enters(&c, options(2)).await.expect("it is in");
        assert_eq!(third.roster().len(), 2);
        drop((second.await.expect("it is in"), third));
    });
}

#[test]
fn who_may_not_delete_its_znode_at_the_limit_does_not_say_that_somebody_removed_it() {
    play(|stage| async move {
        let [a] = clients(&stage).await;
        let bent = Bent::straight(&a.zk);
        bent.denies_deletes();
        let patient = DoubleBarrier::new(&bent, STEP, options(2)).expect("the input is good");
        let ended = patient.enter().within(Duration::from_millis(50)).await.expect_err("nobody else came");
        assert!(ended.is_outcome_unknown(), "{ended}");
    });
}

#[test]
fn a_participant_of_the_last_generation_knows_the_next_one() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let (first, second) = (step(&a, options(2)), step(&b, options(2)));
        let mut costs = Vec::new();
        for _ in 0..2 {
            let mark = stage.mark();
            let barrier = first.clone();
            let entering = a.process.spawn(async move { barrier.enter().await });
            stage.settle().await;
            costs.push(a.sent(&stage, mark));
            let inside = second.enter().await.expect("it opens");
            let waiting = entering.await.expect("its process lives").expect("it is in");
            let (one, other) = futures_util::join!(waiting.leave(), inside.leave());
            one.and(other).expect("both have left");
            stage.settle().await;
        }
        let first_time = [Kind::Get, Kind::Multi, Kind::Get, Kind::Multi, Kind::Get];
        assert_eq!(costs, [first_time.to_vec(), vec![Kind::Multi, Kind::Get]]);
    });
}

#[test]
fn a_limit_ends_also_while_there_is_no_connection() {
    play(|stage| async move {
        let [a] = clients(&stage).await;
        let patient = step(&a, options(2));
        let begin = stage.sim.now();
        let limited =
            a.process.spawn(async move { patient.enter().within(Duration::from_millis(200)).await });
        stage.pass(&a, Duration::from_millis(100)).await;
        a.is_disconnected().await;
        let ended = limited.await.expect("its process lives").expect_err("nobody else came");
        assert!(ended.is_outcome_unknown(), "{ended}");
        let lasted = stage.sim.now().since(begin);
        assert!(
            lasted < Duration::from_millis(250),
            "{lasted:?}, and the client reconnects after {RECONNECT:?}"
        );
    });
}

#[test]
fn a_limit_that_ends_when_it_has_opened_lets_in() {
    // Every moment at which the limit may end.
    let mut entered = [0, 0];
    for limit_ms in 0..80 {
        let is_in = play(move |stage| async move {
            let [a, b] = clients(&stage).await;
            let barrier = step(&a, options(2));
            let limited =
                a.process.spawn(async move { barrier.enter().within(Duration::from_millis(limit_ms)).await });
            stage.pass(&b, Duration::from_millis(17)).await;
            let other = step(&b, options(2)).enter().within(Duration::from_millis(300)).await;
            let limited = limited.await.expect("its process lives");
            match (&limited, &other) {
                (Ok(one), Ok(other)) => assert_eq!(one.generation(), other.generation()),
                (Err(e), Err(f)) => assert!(e.is_timed_out() && f.is_timed_out(), "{e} {f}"),
                _ => panic!("one is in without the other: {limited:?} {other:?}"),
            }
            limited.is_ok()
        });
        entered[usize::from(is_in)] += 1;
    }
    assert!(entered.iter().all(|times| *times > 10), "both happened: {entered:?}");
}

#[test]
fn one_id_counts_once() {
    play(|stage| async move {
        let [a, again, b] = clients(&stage).await;
        let mut ghost = enters(&a, named(2, "a"));
        stage.settle().await;
        let mut reborn = enters(&again, named(2, "a"));
        stage.settle().await;
        assert!(ghost.as_mut().now_or_never().is_none() && reborn.as_mut().now_or_never().is_none());
        let other = enters(&b, named(2, "b")).await.expect("it is in");
        assert_eq!(other.roster(), ["a", "b"]);
        let reborn = reborn.await.expect("it is in");
        a.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
        let leaving = (leaves(&b, other), leaves(&again, reborn));
        leaving.0.await.and(leaving.1.await).expect("they are out when the ghost's session has ended");
        drop(ghost.await);
    });
}

#[test]
fn who_registers_and_dies_is_not_counted() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let doomed = step(&a, options(2));
        drop(a.process.spawn(async move { doomed.enter().await }));
        stage.settle().await;
        a.process.inflict(Fault::ClientCrash, Duration::ZERO);
        stage.pass(&b, 3 * TIMEOUT).await;
        let mut second = enters(&b, options(2));
        stage.settle().await;
        assert!(second.as_mut().now_or_never().is_none(), "one is not enough");
        drop((enters(&c, options(2)).await.expect("it is in"), second.await.expect("it is in")));
    });
}

#[test]
fn who_should_open_it_and_dies_leaves_that_to_another() {
    // The second of two crashes at every place; a third one comes.
    for nth in 0.. {
        let ((), struck) = play_struck(Fault::ClientCrash, nth, |stage, danger| async move {
            let [a, b, c] = clients(&stage).await;
            let waits = step(&a, options(2));
            let waiting = a.process.spawn(async move { waits.enter().await });
            // Until it is registered; to settle would end the time of faults.
            stage.pass(&c, Duration::from_millis(200)).await;
            danger.begins();
            let doomed = step(&b, options(2));
            let doomed = b.process.spawn(async move { doomed.enter().await.map(std::mem::forget) });
            drop(doomed.await);
            danger.ends();
            stage.pass(&c, 3 * TIMEOUT).await;
            let third = step(&c, options(2)).enter().within(Duration::from_secs(5)).await;
            // Until the notification of an opening has come, and its read is answered.
            stage.pass(&c, Duration::from_millis(200)).await;
            let Some(first) = waiting.now_or_never() else {
                panic!("a and c are enough, and a waits: {third:?}");
            };
            // Otherwise the crash was a's own, when b had opened it.
            if let (Ok(Ok(first)), Ok(third)) = (first, third) {
                let generations = (first.generation(), third.generation());
                assert!(generations == (0, 0) && third.roster().len() == 2, "{generations:?}");
            }
        });
        if !struck {
            break;
        }
    }
}

#[test]
fn when_the_keeper_dies_the_others_leave_all_the_same() {
    for how in WAYS {
        for dead in 0..3 {
            for first in [false, true] {
                play(move |stage| async move {
                    let all: [Client; 3] = clients(&stage).await;
                    let mut inside = all_inside(&stage, &all, how).await;
                    std::mem::forget(inside.remove(dead));
                    let mut living: Vec<&Client> = all.iter().collect();
                    let doomed = living.remove(dead);
                    let strike = || doomed.process.inflict(Fault::ClientCrash, Duration::ZERO);
                    if first {
                        strike();
                        stage.pass(living[0], 3 * TIMEOUT).await;
                    }
                    let mut leaving: Vec<Leaving> =
                        living.iter().zip(inside).map(|(client, inside)| leaves(client, inside)).collect();
                    if !first {
                        stage.settle().await;
                        let are_out =
                            leaving.iter_mut().any(|leaving| leaving.as_mut().now_or_never().is_some());
                        assert!(!are_out, "one is inside, {dead} {how:?}");
                        strike();
                    }
                    for leaving in leaving {
                        leaving.await.expect("it is out");
                    }
                    stage.settle().await;
                    living[0].has_left_nothing(&stage, "after leaving");
                    living[1].has_left_nothing(&stage, "after leaving");
                });
            }
        }
    }
}

#[test]
fn without_a_keeper_nobody_leaves_before_the_others() {
    // The keeper is dropped; the others leave in every order.
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for how in WAYS {
            play(move |stage| async move {
                let all: [Client; 4] = clients(&stage).await;
                let mut inside = all_inside(&stage, &all, how).await;
                drop(inside.remove(3));
                stage.settle().await;
                let mut inside: Vec<Option<Place>> = inside.into_iter().map(Some).collect();
                let mut leaving = Vec::new();
                for number in order {
                    for earlier in &mut leaving {
                        let earlier: &mut Leaving = earlier;
                        assert!(earlier.as_mut().now_or_never().is_none(), "{order:?} {how:?}");
                    }
                    let place = inside[number].take().expect("it leaves once");
                    leaving.push(leaves(&all[number], place));
                    stage.settle().await;
                }
                for out in leaving {
                    out.await.expect("it is out");
                }
                stage.settle().await;
                for client in &all {
                    client.has_left_nothing(&stage, "after leaving");
                }
            });
        }
    }
}

#[test]
fn a_limit_ends_the_wait_of_who_leaves() {
    for how in WAYS {
        play(move |stage| async move {
            let [a, b] = clients(&stage).await;
            let mut inside = all_inside(&stage, &[a.clone(), b.clone()], how).await;
            let (keeper, other) = (inside.remove(1), inside.remove(0));
            let ended = other.leave().within(Duration::from_millis(60)).await;
            assert!(ended.expect_err("the other is inside").is_timed_out());
            stage.settle().await;
            a.has_left_nothing(&stage, "after the limit");
            keeper.leave().await.expect("it is out");
        });
    }
}

#[test]
fn bad_input_is_refused() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let new = |path: &str, options| DoubleBarrier::new(&a.zk, path, options).map(drop);
        for path in ["", "step", "/", "/zookeeper/x", "/a//b", "/a/./b"] {
            assert!(new(path, options(2)).is_err_and(|e| e.is_bad_input()), "{path:?}");
        }
        for id in ["", "a/b", "a\nb", "🔒"] {
            assert!(new(STEP, named(2, id)).is_err_and(|e| e.is_bad_input()), "{id:?}");
        }
        for many in [0, 8_000, usize::MAX] {
            assert!(new(STEP, options(many)).is_err_and(|e| e.is_bad_input()), "{many}");
        }
        assert_eq!(new(STEP, options(4_000)), Ok(()));
    });
}

#[test]
fn a_foreign_write_into_the_znode_of_a_participant_makes_it_look_once() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let entering = enters(&a, options(2));
        stage.pass(&b, Duration::from_millis(200)).await;
        let own = a.znodes(&stage).remove(0);
        let mark = stage.mark();
        b.zk.set(&own, b"who are you", None).await.expect("it is there");
        stage.pass(&b, Duration::from_secs(5)).await;
        let sent = a.sent(&stage, mark).len();
        assert!((1..=16).contains(&sent), "{sent} requests after one notification");
        let last = step(&b, options(2)).enter().await.expect("both are there");
        drop((entering.await.expect("both are there"), last));
    });
}

/// Both see that all are there, and send the opening. Who is refused knows that it has made nothing.
#[test]
fn who_loses_the_race_to_open_has_nothing_to_clean_up() {
    play(|stage| async move {
        let [a, b, c] = clients(&stage).await;
        let [one, two, three] = [&a, &b, &c].map(|on| enters(on, options(3)));
        let inside = join_all([one, two, three]).await;
        let asked =
            |kind: Kind| [&a, &b, &c].map(|on| on.sent(&stage, 0).iter().filter(|k| **k == kind).count());
        assert!(asked(Kind::Multi).iter().sum::<usize>() > 4, "three join, and two of them open");
        assert!(inside.iter().all(Result::is_ok), "{inside:?}");
        let mark = stage.mark();
        stage.pass(&a, 5 * RECONNECT).await;
        assert_eq!([&a, &b, &c].map(|on| on.sent(&stage, mark)), [const { Vec::new() }; 3]);
    });
}
