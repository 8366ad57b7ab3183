//! The semaphore: how many clients hold at once, and in which order they are granted.

mod dropped;
mod number;

use crate::common::bent::Bent;
use crate::common::{Client, DIRECTORY, Stage, play};
use futures_util::FutureExt;
use futures_util::future::join;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::guard::Permits;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper, path};
use zk_recipes::{
    Guard, HoldState, LostReason, Parents, PermitHolder, Released, Semaphore, SemaphoreOptions, Stop,
};

const LINE: &str = "/locks/a/line";
const HELD: &str = "/locks/a/held";

type Held = Guard<SimClient, Permits>;
type Asking = Pin<Box<dyn Future<Output = Result<Held, Error>> + Send>>;

fn semaphore_with(client: &Client, permits: u32, options: SemaphoreOptions) -> Semaphore<SimClient> {
    Semaphore::new(&client.zk, DIRECTORY, permits, options).expect("the input is good")
}

/// The semaphore with that number of permits if this client is the first.
fn semaphore(client: &Client, permits: u32) -> Semaphore<SimClient> {
    semaphore_with(client, permits, SemaphoreOptions::default())
}

/// A founder who has made a semaphore with that number of permits, to stay.
async fn founder(stage: &Stage, permits: u32) -> Client {
    let founder = stage.founder().await;
    founder.makes(LINE).await;
    semaphore(&founder, permits).set_permits(permits).await.expect("the network is calm");
    founder
}

/// Acquires from a semaphore that exists.
async fn acquires(client: &Client, permits: u32) -> Held {
    semaphore(client, 1).acquire(permits).await.expect("it is granted")
}

/// Begins to wait, in its own process.
fn asks(client: &Client, permits: u32) -> Asking {
    let semaphore = semaphore(client, 1);
    let asking = client.process.spawn(async move { semaphore.acquire(permits).await });
    Box::pin(async move { asking.await.expect("its process lives") })
}

/// The znodes that tell a number of permits.
fn totals(stage: &Stage) -> Vec<String> {
    stage.names(HELD).into_iter().filter(|name| name.starts_with("permits-")).collect()
}

/// How many permits the holders' znodes stand for.
async fn taken(client: &Client) -> u32 {
    let holders = semaphore(client, 1).holders().await.expect("they can be listed");
    holders.iter().map(|holder| holder.permits).sum()
}

#[test]
fn free_permits_cost_four_requests_in_two_round_trips() {
    play(|stage| async move {
        let a = founder(&stage, 2).await;
        stage.settle().await;
        for permits in [1, 2] {
            let (mark, before) = (stage.mark(), stage.sim.now());
            let held = acquires(&a, permits).await;
            assert_eq!(a.sent(&stage, mark), [Kind::Create, Kind::Children, Kind::Children, Kind::Multi]);
            assert_eq!(stage.sim.now().since(before), Duration::from_millis(20));
            assert_eq!(stage.names(HELD), [path::split(held.path()).1, "permits-2"]);
            assert!(held.path().ends_with(&format!("-{permits}-permits")), "{held:?}");
            assert_eq!(stage.names(LINE), [""; 0], "it has left the line");
            let mark = stage.mark();
            assert_eq!(held.release().await, Ok(Released::Clean));
            assert_eq!(a.sent(&stage, mark), [Kind::Delete]);
            stage.settle().await;
            a.has_left_nothing(&stage, "after the release");
        }
    });
}

#[test]
fn no_more_permits_are_held_than_there_are() {
    let mut most = 0;
    for half_ms in 0..60 {
        let reached = play(move |stage| async move {
            let founder = founder(&stage, 3).await;
            // The permits that are held now, and the most so far.
            let held = Arc::new(Mutex::new((0, 0)));
            let hold = async |client: Client, permits: u32, delay: Duration| {
                stage.pass(&client, delay).await;
                let guard = acquires(&client, permits).await;
                {
                    let mut held = held.lock().unwrap();
                    held.0 += permits;
                    held.1 = held.1.max(held.0);
                }
                stage.pass(&client, Duration::from_millis(20)).await;
                held.lock().unwrap().0 -= permits;
                guard.release().await.expect("it is released");
            };
            let late = Duration::from_micros(half_ms * 500);
            let all = [(1, Duration::ZERO), (2, late), (3, 2 * late), (1, late), (2, Duration::ZERO)];
            let mut holds = Vec::new();
            for (permits, delay) in all {
                holds.push(hold(stage.client("c").await, permits, delay));
            }
            futures_util::future::join_all(holds).await;
            stage.settle().await;
            assert_eq!((stage.names(HELD), stage.names(LINE)), (vec!["permits-3".to_owned()], vec![]));
            drop(founder);
            let held = held.lock().unwrap();
            assert!(held.1 <= 3, "{} are held, {half_ms} half milliseconds apart", held.1);
            held.1
        });
        most = most.max(reached);
    }
    assert_eq!(most, 3, "all of them are used");
}

#[test]
fn several_permits_are_granted_together_or_not_at_all() {
    play(|stage| async move {
        let (a, b) = (founder(&stage, 3).await, stage.client("b").await);
        let held = acquires(&a, 2).await;
        let mut asking = asks(&b, 2);
        stage.settle().await;
        assert!((&mut asking).now_or_never().is_none(), "one of the two is free");
        assert_eq!(taken(&a).await, 2);
        assert_eq!(held.release().await, Ok(Released::Clean));
        let held = asking.await.expect("three are free");
        let holder = PermitHolder { path: held.path().to_owned(), permits: 2 };
        assert_eq!(semaphore(&a, 1).holders().await, Ok(vec![holder]));
    });
}

#[test]
fn grants_follow_the_order_of_the_requests_and_tokens_grow() {
    play(|stage| async move {
        let a = founder(&stage, 3).await;
        let (b, c, d) = (stage.client("b").await, stage.client("c").await, stage.client("d").await);
        let one = acquires(&a, 1).await;
        let two = acquires(&a, 1).await;
        let mut line = Vec::new();
        for (client, permits) in [(&b, 3), (&c, 1), (&d, 2)] {
            line.push(asks(client, permits));
            stage.settle().await;
        }
        let mut tokens = vec![one.token(), two.token()];
        for held in [one, two] {
            for asking in &mut line {
                assert!(asking.now_or_never().is_none(), "the first in line wants all three");
            }
            assert_eq!(held.release().await, Ok(Released::Clean));
            stage.settle().await;
        }
        let held = (&mut line[0]).await.expect("all three are free");
        tokens.push(held.token());
        stage.settle().await;
        for asking in &mut line[1..] {
            assert!(asking.now_or_never().is_none(), "all three are held");
        }
        assert_eq!(held.release().await, Ok(Released::Clean));
        // Both are granted at once.
        let (second, third) = ((&mut line[1]).await.expect("one is free"), (&mut line[2]).await);
        let third = third.expect("the other two are free");
        tokens.extend([second.token(), third.token()]);
        assert!(tokens.is_sorted_by(|earlier, later| earlier < later), "{tokens:?}");
        assert_eq!(taken(&a).await, 3);
    });
}

#[test]
fn tokens_grow_also_when_the_directory_is_made_again() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let held = acquires(&a, 1).await;
        let token = held.token();
        let stat = a.zk.exists(held.path()).await.expect("it can be read").expect("it is there");
        assert_eq!(token, stat.czxid);
        assert_eq!(held.release().await, Ok(Released::Clean));
        for path in [path::join(HELD, "permits-1").as_str(), HELD, LINE, DIRECTORY] {
            a.zk.delete(path, None).await.expect("it is empty");
        }
        assert!(acquires(&a, 1).await.token() > token);
    });
}

#[test]
fn waiters_whose_numbers_have_run_out_are_granted_in_the_order_of_their_requests() {
    play(|stage| async move {
        let a = founder(&stage, 1).await;
        let held = acquires(&a, 1).await;
        let mut line = Vec::new();
        for number in [i32::MAX - 1, i32::MAX, i32::MAX, -5, i32::MIN] {
            let client = stage.client("c").await;
            let bent = Bent::counting(&client.zk, &[number]);
            let semaphore =
                Semaphore::new(&bent, DIRECTORY, 1, SemaphoreOptions::default()).expect("the input is good");
            let asking = client.process.spawn(async move { semaphore.acquire(1).await });
            line.push(Box::pin(async move { asking.await.expect("its process lives") }));
            stage.settle().await;
        }
        assert_eq!(held.release().await, Ok(Released::Clean));
        for place in 0..line.len() {
            let held = (&mut line[place]).await.expect("it is the first in line");
            stage.settle().await;
            for waiting in &mut line[place + 1..] {
                assert!(waiting.now_or_never().is_none(), "there is one permit");
            }
            assert_eq!(held.release().await, Ok(Released::Clean));
        }
    });
}

#[test]
fn a_release_wakes_one_waiter() {
    play(|stage| async move {
        let a = founder(&stage, 2).await;
        let held = [acquires(&a, 1).await, acquires(&a, 1).await];
        let (mut waiters, mut line) = (Vec::new(), Vec::new());
        for name in ["b", "c", "d", "e"] {
            let client = stage.client(name).await;
            line.push(asks(&client, 1));
            stage.settle().await;
            waiters.push(client);
        }
        assert_eq!(waiters[0].watches(&stage), [HELD], "the first in line");
        for pair in waiters.windows(2) {
            assert_eq!(pair[1].watches(&stage), pair[0].znodes(&stage), "the znode just ahead");
        }
        let mark = stage.mark();
        let [one, two] = held;
        assert_eq!(one.release().await, Ok(Released::Clean));
        stage.settle().await;
        let noticed: Vec<_> = waiters.iter().map(|client| client.noticed(&stage, mark)).collect();
        assert_eq!(noticed, [1, 1, 0, 0], "the release wakes the first, and its leaving the line the second");
        assert_eq!(stage.fired(mark), 2);
        assert_eq!(waiters[0].sent(&stage, mark), [Kind::Children, Kind::Multi]);
        assert_eq!(waiters[1].watches(&stage), [HELD], "it is the first now");
        assert!((&mut line[0]).now_or_never().is_some_and(|held| held.is_ok()));
        assert!((&mut line[1]).now_or_never().is_none(), "both are held");
        drop(two);
    });
}

#[test]
fn directories_may_be_deleted_at_any_moment() {
    for half_ms in 0..120 {
        play(move |stage| async move {
            let (other, a) = (founder(&stage, 1).await, stage.client("a").await);
            let deletes = async {
                stage.pass(&other, Duration::from_micros(half_ms * 500)).await;
                // Refused while there are children, as to a server that removes containers.
                for path in [path::join(HELD, "permits-1").as_str(), HELD, LINE, DIRECTORY] {
                    let _ = other.zk.delete(path, None).await;
                }
            };
            let twice = async {
                assert_eq!(acquires(&a, 1).await.release().await, Ok(Released::Clean));
                drop(acquires(&a, 1).await);
            };
            join(twice, deletes).await;
            stage.settle().await;
            a.has_left_nothing(&stage, &format!("deleted after {half_ms} half milliseconds"));
        });
    }
}

#[test]
fn a_grant_whose_request_or_reply_was_lost_is_found_out() {
    for fault in [Fault::ReplyLost, Fault::RequestLost] {
        play(move |stage| async move {
            let (a, b) = (founder(&stage, 2).await, stage.client("b").await);
            let mark = stage.mark();
            let asking = asks(&a, 2);
            stage.pass(&a, Duration::from_millis(9)).await;
            a.process.order(fault);
            let held = asking.await.expect("it is granted");
            let joins = [Kind::Create, Kind::Children, Kind::Children, Kind::Multi];
            let finds_out = [Kind::Multi, Kind::Exists];
            let then = match fault {
                // Applied: it confirms the znode on the new connection.
                Fault::ReplyLost => &[Kind::Children][..],
                _ => &[Kind::Children, Kind::Multi],
            };
            assert_eq!(a.sent(&stage, mark), [&joins[..], &finds_out, then].concat(), "{fault:?}");
            let stat = a.zk.exists(held.path()).await.expect("it can be asked").expect("it is there");
            assert_eq!((held.token(), held.state()), (stat.czxid, HoldState::Held), "{fault:?}");
            assert_eq!((taken(&b).await, stage.names(LINE)), (2, vec![]), "{fault:?}");
            assert_eq!(held.release().await, Ok(Released::Clean));
            stage.settle().await;
            a.has_left_nothing(&stage, "after the release");
        });
    }
}

#[test]
fn a_waiter_that_was_evicted_is_told_when_it_looks() {
    play(|stage| async move {
        let a = founder(&stage, 1).await;
        let (b, c, d) = (stage.client("b").await, stage.client("c").await, stage.client("d").await);
        let held = acquires(&a, 1).await;
        let mut line = Vec::new();
        for client in [&b, &c, &d] {
            line.push(asks(client, 1));
            stage.settle().await;
        }
        for client in [&c, &b] {
            a.zk.delete(&client.znodes(&stage)[0], None).await.expect("it is there");
        }
        stage.settle().await;
        let second = (&mut line[1]).now_or_never().expect("the one ahead of it went");
        assert!(second.expect_err("it was evicted").is_removed());
        assert!((&mut line[0]).now_or_never().is_none(), "it watches the holders");
        assert_eq!(held.release().await, Ok(Released::Clean));
        assert!((&mut line[0]).await.expect_err("it was evicted").is_removed());
        drop((&mut line[2]).await.expect("it is the first in line"));
        stage.settle().await;
        for client in [&b, &c, &d] {
            client.has_left_nothing(&stage, "in the end");
        }
    });
}

#[test]
fn a_holder_that_was_evicted_has_lost_its_permits() {
    play(|stage| async move {
        let (a, b) = (founder(&stage, 1).await, stage.client("b").await);
        let held = acquires(&a, 1).await;
        let asking = asks(&b, 1);
        let mut lost = Box::pin(held.lost());
        assert_eq!((&mut lost).now_or_never(), None);
        stage.settle().await;
        b.zk.delete(held.path(), None).await.expect("it is there");
        assert_eq!(lost.await, Stop::Lost(LostReason::Removed));
        assert_eq!(held.state(), HoldState::Lost(LostReason::Removed));
        assert_eq!(held.release().await, Ok(Released::WasLost(LostReason::Removed)));
        drop(asking.await.expect("the permit is free"));
    });
}

#[test]
fn holders_tell_how_many_permits_each_holds() {
    play(|stage| async move {
        let (a, b) = (founder(&stage, 5).await, stage.client("b").await);
        for name in ["config", "x-permits", "-permits", "x-many-permits"] {
            b.makes(&path::join(HELD, name)).await;
        }
        let (one, three) = (acquires(&a, 1).await, acquires(&b, 3).await);
        let mut holders = semaphore(&b, 1).holders().await.expect("they can be listed");
        holders.sort_by_key(|holder| holder.permits);
        let expected = [(&one, 1), (&three, 3)];
        assert_eq!(
            holders,
            expected.map(|(held, permits)| PermitHolder { path: held.path().to_owned(), permits })
        );
    });
}

#[test]
fn a_try_takes_what_is_free_and_overtakes_nobody() {
    play(|stage| async move {
        let (a, b, c) = (founder(&stage, 3).await, stage.client("b").await, stage.client("c").await);
        let of_c = semaphore(&c, 1);
        let one = of_c.try_acquire(2).await.expect("it can be tried").expect("three are free");
        assert!(of_c.try_acquire(2).await.expect("it can be tried").is_none(), "one is free");
        let two = of_c.try_acquire(1).await.expect("it can be tried").expect("one is free");
        assert!(two.token() > one.token());
        assert!(of_c.try_acquire(4).await.expect_err("there are three").is_bad_input());
        assert_eq!(two.release().await, Ok(Released::Clean));
        let mut asking = asks(&b, 3);
        stage.settle().await;
        assert!(of_c.try_acquire(1).await.expect("it can be tried").is_none(), "b waits");
        stage.settle().await;
        assert_eq!(stage.names(LINE).len(), 1, "only b is in line");
        assert!((&mut asking).now_or_never().is_none());
        drop(one);
        drop(asking.await.expect("all three are free"));
        stage.settle().await;
        a.is_disconnected().await;
        assert!(semaphore(&a, 1).try_acquire(1).await.expect("it can be tried").is_none(), "not connected");
    });
}

#[test]
fn without_the_right_to_make_parents_directories_must_exist() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let options = SemaphoreOptions::default().with_parents(Parents::MustExist);
        let semaphore = semaphore_with(&a, 2, options);
        for missing in ["/locks", DIRECTORY, LINE, HELD] {
            assert_eq!(semaphore.acquire(1).await.expect_err(missing), ErrorKind::NoNode);
            assert_eq!(semaphore.try_acquire(1).await.expect_err(missing), ErrorKind::NoNode);
            assert_eq!(semaphore.set_permits(4).await.expect_err(missing), ErrorKind::NoNode);
            stage.settle().await;
            a.has_left_nothing(&stage, "after it was refused");
            a.makes(missing).await;
        }
        drop(semaphore.acquire(2).await.expect("it is granted"));
        assert_eq!(semaphore.set_permits(4).await, Ok(()));
        assert_eq!(totals(&stage), ["permits-4"]);
    });
}

#[test]
fn directories_are_made_as_the_options_say() {
    for (parents, mode) in
        [(Parents::Container, CreateMode::Container), (Parents::Persistent, CreateMode::Persistent)]
    {
        play(move |stage| async move {
            let a = stage.client("a").await;
            let bent = Bent::straight(&a.zk);
            let options = SemaphoreOptions::default().with_parents(parents);
            let semaphore = Semaphore::new(&bent, DIRECTORY, 1, options).expect("the input is good");
            drop(semaphore.acquire(1).await.expect("it is granted"));
            let made: Vec<_> = bent.made().into_iter().filter(|(_, mode)| !mode.is_ephemeral()).collect();
            assert!(made.contains(&(LINE.to_owned(), mode)) && made.iter().all(|(_, made)| *made == mode));
            assert_eq!(stage.names(HELD).last().map(String::as_str), Some("permits-1"));
        });
    }
}

#[test]
fn writes_of_a_holder_are_fenced() {
    play(|stage| async move {
        let (a, b) = (founder(&stage, 2).await, stage.client("b").await);
        let held = acquires(&a, 2).await;
        let make =
            |path: &str| Op::Create { path: path.to_owned(), data: vec![], mode: CreateMode::Persistent };
        held.transact(vec![make("/one")]).await.expect("it is held");
        held.transact_once(vec![make("/two")]).await.expect("it is held");
        a.zk.multi(vec![held.fence(), make("/three")]).await.expect("it is held");
        b.zk.delete(held.path(), None).await.expect("it is there");
        for once in [false, true] {
            let ops = vec![make("/four")];
            let ended = match once {
                true => held.transact_once(ops).await,
                false => held.transact(ops).await.map(drop),
            };
            assert!(ended.expect_err("it is over").is_removed(), "{once}");
        }
        assert_eq!(a.zk.exists("/four").await, Ok(None));
    });
}

#[test]
fn bad_input_is_refused_and_nothing_is_sent() {
    play(|stage| async move {
        let a = founder(&stage, 1).await;
        let semaphore = semaphore(&a, 1);
        let mark = stage.mark();
        let options = SemaphoreOptions::default;
        for directory in ["", "locks", "/", "/locks/", "/zookeeper/l", "/a//b"] {
            let refused = Semaphore::new(&a.zk, directory, 1, options());
            assert!(refused.expect_err("it is bad").is_bad_input(), "{directory:?}");
        }
        assert!(Semaphore::new(&a.zk, DIRECTORY, 0, options()).expect_err("no permits").is_bad_input());
        let large = options().with_data(vec![0; 1 << 20]);
        assert!(Semaphore::new(&a.zk, DIRECTORY, 1, large).expect_err("it is bad").is_bad_input());
        assert!(semaphore.acquire(0).await.expect_err("no permits").is_bad_input());
        assert!(semaphore.try_acquire(0).await.expect_err("no permits").is_bad_input());
        assert!(semaphore.set_permits(0).await.expect_err("no permits").is_bad_input());
        assert_eq!(a.sent(&stage, mark), []);
    });
}

#[test]
fn the_largest_numbers_and_data_that_are_taken_can_be_granted() {
    play(|stage| async move {
        let a = founder(&stage, u32::MAX).await;
        let fits = (1_000_000..1 << 20).rev().find_map(|length| {
            let options = SemaphoreOptions::default().with_data(vec![7; length]);
            Semaphore::new(&a.zk, DIRECTORY, u32::MAX, options).ok()
        });
        let fits = fits.expect("some do");
        let held = fits.acquire(u32::MAX).await.expect("it is granted");
        assert!(fits.try_acquire(u32::MAX).await.expect("it can be tried").is_none(), "all are held");
        assert_eq!(held.release().await, Ok(Released::Clean));
    });
}
