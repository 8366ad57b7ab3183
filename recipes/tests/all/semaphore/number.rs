//! The number of permits: made by the first client, changed for all clients, and modified by clients outside the recipe.

use super::{HELD, LINE, acquires, asks, founder, semaphore, taken, totals};
use crate::common::{DIRECTORY, RECONNECT, Stage, play, play_with};
use futures_util::FutureExt;
use futures_util::future::join;
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SimEvent};
use sim_zk::{Config, SimClient};
use std::time::Duration;
use zk_recipes::zk::{ZooKeeper, path};
use zk_recipes::{HoldState, Released, Semaphore};

#[test]
fn a_larger_number_of_permits_wakes_the_first_waiter() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage, 1).await, stage.client("b").await, stage.client("c").await);
        let _held = acquires(&a, 1).await;
        let mut first = asks(&b, 1);
        stage.settle().await;
        let mut second = asks(&c, 1);
        stage.settle().await;
        let mark = stage.mark();
        assert_eq!(semaphore(&a, 1).set_permits(2).await, Ok(()));
        stage.settle().await;
        assert_eq!((b.noticed(&stage, mark), c.noticed(&stage, mark)), (1, 1), "one for each step");
        let _first = (&mut first).now_or_never().expect("it is woken").expect("it is granted");
        assert!((&mut second).now_or_never().is_none(), "two are held");
        assert_eq!(totals(&stage), ["permits-2"]);
        assert_eq!(semaphore(&a, 1).set_permits(3).await, Ok(()));
        drop(second.await.expect("it is granted"));
    });
}

#[test]
fn a_smaller_number_of_permits_leaves_the_holders_theirs_and_ends_requests_for_more() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage, 3).await, stage.client("b").await, stage.client("c").await);
        let held = acquires(&a, 3).await;
        let many = asks(&b, 2);
        stage.settle().await;
        let mut one = asks(&c, 1);
        stage.settle().await;
        assert_eq!(semaphore(&c, 9).set_permits(1).await, Ok(()));
        assert!(many.await.expect_err("there is one").is_bad_input());
        stage.settle().await;
        b.has_left_nothing(&stage, "after its request has failed");
        assert_eq!((held.state(), taken(&c).await), (HoldState::Held, 3));
        assert!((&mut one).now_or_never().is_none(), "three are held, and there is one");
        assert!(semaphore(&b, 9).acquire(2).within(RECONNECT).await.expect_err("behind c").is_timed_out());
        assert_eq!(held.release().await, Ok(Released::Clean));
        let one = one.await.expect("one is free");
        assert!(semaphore(&b, 9).acquire(2).await.expect_err("there is one").is_bad_input());
        assert_eq!(one.release().await, Ok(Released::Clean));
    });
}

#[test]
fn a_number_that_changes_at_any_moment_of_an_acquire_is_kept_to() {
    let mut granted = 0;
    for half_ms in 0..60 {
        let is_granted = play(move |stage| async move {
            let (a, b) = (founder(&stage, 2).await, stage.client("b").await);
            let _held = acquires(&a, 1).await;
            let changes = async {
                stage.pass(&a, Duration::from_micros(half_ms * 500)).await;
                semaphore(&a, 1).set_permits(1).await.expect("the network is calm");
                a.zk.exists(&path::join(HELD, "permits-1")).await.expect("it can be read")
            };
            let semaphore = semaphore(&b, 1);
            let acquires = async {
                stage.pass(&b, Duration::from_millis(20)).await;
                semaphore.acquire(1).within(Duration::from_secs(1)).await
            };
            let (granted, changed) = join(acquires, changes).await;
            let changed = changed.expect("it is there").czxid;
            if let Ok(held) = &granted {
                assert!(held.token() < changed, "granted after the change, {half_ms} half milliseconds");
            }
            granted.is_ok()
        });
        granted += u32::from(is_granted);
    }
    assert!(granted > 0 && granted < 60, "the change comes before the grant, and behind it");
}

/// The numbers of permits that were made since a mark.
fn made(stage: &Stage, mark: usize) -> usize {
    let prefix = path::join(HELD, "permits-");
    stage.count(mark, |event| match event {
        SimEvent::Created { path, .. } => {
            stage.sim.look(|world| world.paths().text(*path).starts_with(&prefix))
        }
        _ => false,
    })
}

#[test]
fn of_clients_that_make_a_semaphore_with_different_numbers_one_succeeds() {
    for half_ms in 0..80 {
        for has_directory in [false, true] {
            for [first_sets, second_sets] in [[false, false], [true, false], [false, true], [true, true]] {
                let number = play(move |stage| async move {
                    let (a, b) = (stage.client("a").await, stage.client("b").await);
                    if has_directory {
                        for path in ["/locks", DIRECTORY, LINE, HELD] {
                            a.makes(path).await;
                        }
                    }
                    let begins = async |of: &Semaphore<SimClient>, number: u32, sets: bool| {
                        if sets {
                            of.set_permits(number).await.expect("the network is calm");
                            return None;
                        }
                        Some(of.acquire(1).await.expect("it is granted"))
                    };
                    let mark = stage.mark();
                    let (of_a, of_b) = (semaphore(&a, 3), semaphore(&b, 5));
                    let late = async {
                        stage.pass(&b, Duration::from_micros(half_ms * 500)).await;
                        begins(&of_b, 5, second_sets).await
                    };
                    let _held = join(begins(&of_a, 3, first_sets), late).await;
                    assert_eq!(totals(&stage).len(), 1, "{half_ms}");
                    // One that is set is made once, also if it is the first.
                    let made = made(&stage, mark);
                    let most = 1 + usize::from(first_sets || second_sets);
                    assert!(made <= most, "{made} numbers, {half_ms} half milliseconds apart");
                    let number = of_a.permits().await.expect("it can be read");
                    assert_eq!(of_b.permits().await, Ok(number));
                    number
                });
                assert!([3, 5].contains(&number), "{number}");
            }
        }
    }
}

#[test]
fn the_number_of_permits_is_that_of_the_first_client_until_it_is_changed() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let (of_a, of_b) = (semaphore(&a, 3), semaphore(&b, 5));
        assert_eq!((of_a.permits().await, of_b.permits().await), (Ok(3), Ok(5)), "there is none");
        assert_eq!(of_a.holders().await, Ok(vec![]));
        assert_eq!(stage.names("/locks"), [""; 0], "reads make nothing");
        let held = of_a.acquire(2).await.expect("it is granted");
        assert_eq!((of_a.permits().await, of_b.permits().await), (Ok(3), Ok(3)));
        assert_eq!(of_b.set_permits(7).await, Ok(()));
        assert_eq!((of_a.permits().await, of_b.permits().await), (Ok(7), Ok(7)));
        drop((held, of_b.acquire(5).await.expect("seven less two")));
    });
}

#[test]
fn the_first_number_may_be_set_without_an_acquire() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let mark = stage.mark();
        assert_eq!(semaphore(&a, 3).set_permits(5).await, Ok(()));
        let directories = [Kind::Create, Kind::Create];
        assert_eq!(a.sent(&stage, mark), [&[Kind::Children][..], &directories, &[Kind::Multi]].concat());
        assert_eq!(totals(&stage), ["permits-5"]);
        let mark = stage.mark();
        assert_eq!(semaphore(&a, 3).set_permits(5).await, Ok(()));
        assert_eq!(
            a.sent(&stage, mark),
            [Kind::Children, Kind::Multi],
            "it may have been changed since the list"
        );
        assert_eq!(totals(&stage), ["permits-5"]);
        drop(semaphore(&a, 3).acquire(5).await.expect("it is granted"));
    });
}

/// A follower may be behind: a number that it still tells is no proof that it is set.
#[test]
fn a_change_counts_although_the_server_is_behind() {
    for seed in 0..100 {
        let config = Config::default().with_servers(3);
        play_with(config, Seeded::new(seed, Rates::NONE), |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            for _ in 0..4 {
                assert_eq!(semaphore(&a, 9).set_permits(3).await, Ok(()));
                assert_eq!(semaphore(&b, 9).set_permits(7).await, Ok(()));
                assert_eq!(semaphore(&a, 9).set_permits(3).await, Ok(()));
                assert_eq!(totals(&stage), ["permits-3"], "seed {seed}");
            }
        });
    }
}

#[test]
fn of_several_numbers_that_others_have_made_the_smallest_counts_and_a_change_leaves_one() {
    for permits in [3, 5, 7] {
        play(move |stage| async move {
            let (a, b) = (founder(&stage, 5).await, stage.client("b").await);
            for name in ["permits-3", "permits-02", "permits-+1", "permits-", "config"] {
                b.makes(&path::join(HELD, name)).await;
            }
            assert_eq!(semaphore(&a, 1).permits().await, Ok(3));
            let held = acquires(&a, 3).await;
            let mut asking = asks(&b, 1);
            stage.settle().await;
            assert!((&mut asking).now_or_never().is_none(), "three are held");
            assert_eq!(semaphore(&a, 1).set_permits(permits).await, Ok(()));
            let names = totals(&stage);
            let is_number = |name: &&String| ["permits-3", "permits-5", "permits-7"].contains(&name.as_str());
            let numbers: Vec<_> = names.iter().filter(is_number).collect();
            assert_eq!(numbers, [&format!("permits-{permits}")]);
            drop(held);
            drop(asking.await.expect("it is granted"));
        });
    }
}

#[test]
fn a_number_that_was_deleted_is_made_again() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage, 2).await, stage.client("b").await, stage.client("c").await);
        let held = acquires(&a, 2).await;
        let of_b = semaphore(&b, 3);
        let asking = b.process.spawn(async move { of_b.acquire(1).await });
        stage.settle().await;
        c.zk.delete(&path::join(HELD, "permits-2"), None).await.expect("it is there");
        let granted = asking.await.expect("its process lives").expect("b has made the number: three");
        assert_eq!(totals(&stage), ["permits-3"]);
        drop((held, granted));
        stage.settle().await;
        c.zk.delete(&path::join(HELD, "permits-3"), None).await.expect("it is there");
        assert_eq!(semaphore(&c, 4).permits().await, Ok(4), "there is none");
        assert_eq!(semaphore(&c, 4).set_permits(6).await, Ok(()));
        assert_eq!(totals(&stage), ["permits-6"]);
        for path in [path::join(HELD, "permits-6").as_str(), HELD] {
            c.zk.delete(path, None).await.expect("it is empty");
        }
        let held = semaphore(&c, 4).acquire(4).await.expect("it is made again");
        assert_eq!(totals(&stage), ["permits-4"]);
        drop(held);
    });
}

#[test]
fn a_change_whose_request_or_reply_was_lost_is_made_once() {
    for fault in [Fault::ReplyLost, Fault::RequestLost] {
        for nth in 0..2 {
            play(move |stage| async move {
                let (a, b) = (founder(&stage, 2).await, stage.client("b").await);
                let of_b = semaphore(&b, 1);
                let mark = stage.mark();
                let changing = b.process.spawn(async move { of_b.set_permits(5).await });
                stage.pass(&a, Duration::from_millis(10 * nth + 5)).await;
                if nth == 0 {
                    // The list is under way: the change is lost.
                    b.process.order(fault);
                    stage.pass(&a, Duration::from_millis(20)).await;
                }
                assert_eq!(changing.await.expect("its process lives"), Ok(()), "{fault:?}");
                assert_eq!(totals(&stage), ["permits-5"]);
                let look = [Kind::Children, Kind::Multi];
                let then = match fault {
                    Fault::ReplyLost => &[Kind::Multi, Kind::Children][..],
                    _ => &[Kind::Multi, Kind::Children, Kind::Multi],
                };
                let expected = if nth == 0 { [&look[..], then].concat() } else { look.to_vec() };
                assert_eq!(b.sent(&stage, mark), expected, "{fault:?}");
            });
        }
    }
}
