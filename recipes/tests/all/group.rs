//! Groups: who is a member, what a lost reply means, what observers see.

use crate::common::every_await::at_every_await;
use crate::common::{Client, RECONNECT, Stage, TIMEOUT, dropping, play, play_faults, play_struck, play_with};
use futures_util::FutureExt;
use sim_zk::choose::Calm;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use sim_zk::{Config, Settings, SimClient};
use std::time::Duration;
use zk_recipes::group::{Group, GroupOptions, IfTaken, Membership, Views, WithData};
use zk_recipes::names::NamesOptions;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, ZooKeeper};
use zk_recipes::{HoldState, LostReason, Parents, Released, Stop};

const GROUP: &str = "/workers";

fn group_with(client: &Client, options: GroupOptions) -> Group<SimClient> {
    Group::new(&client.zk, GROUP, options).expect("the path is good")
}

fn group(client: &Client) -> Group<SimClient> {
    group_with(client, GroupOptions::default().with_parents(Parents::Persistent).with_if_taken(IfTaken::Wait))
}

async fn joins(client: &Client, id: &str) -> Membership<SimClient> {
    group(client).join(Some(id), id.as_bytes()).await.expect("it joins")
}

async fn founder(stage: &Stage) -> Client {
    let founder = stage.client("founder").await;
    founder.makes(GROUP).await;
    founder
}

async fn ids(views: &mut Views<SimClient>) -> Vec<String> {
    let view = views.next().await.expect("the session lives");
    view.members.into_iter().map(|member| member.id).collect()
}

#[test]
fn observers_see_who_comes_and_goes_at_one_request_a_change() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let mut views = group(&b).follow(WithData::No);
        assert_eq!(ids(&mut views).await, [""; 0]);
        let mark = stage.mark();
        let one = joins(&a, "one").await;
        assert_eq!(ids(&mut views).await, ["one"]);
        assert_eq!(a.sent(&stage, mark), [Kind::Create]);
        assert_eq!((b.sent(&stage, mark), b.noticed(&stage, mark)), (vec![Kind::Children], 1));
        let two = joins(&b, "two").await;
        assert_eq!(ids(&mut views).await, ["one", "two"]);
        let mark = stage.mark();
        assert_eq!(one.leave().await, Ok(Released::Clean));
        assert_eq!(a.sent(&stage, mark), [Kind::Delete]);
        assert_eq!(ids(&mut views).await, ["two"]);
        drop(two);
        assert_eq!(ids(&mut views).await, [""; 0]);
        assert_eq!(views.next().now_or_never(), None);
    });
}

#[test]
fn a_view_with_data_shows_a_member_that_was_replaced() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let mut views = group(&b).follow(WithData::Yes);
        assert_eq!(views.next().await.expect("there").members.len(), 0);
        let one = joins(&a, "one").await;
        let view = views.next().await.expect("there");
        assert_eq!(view.members[0].data.as_deref(), Some(&b"one"[..]));
        one.leave().await.expect("it leaves");
        let again = group(&a).join(Some("one"), b"uno").await.expect("it joins");
        loop {
            let next = views.next().await.expect("there");
            assert!(next.zxid > view.zxid);
            if next.members.first().is_some_and(|member| member.data.as_deref() == Some(b"uno")) {
                break;
            }
        }
        again.set(b"due").await.expect("it is a member");
        let _other = joins(&b, "two").await;
        let next = views.next().await.expect("there");
        assert_eq!(next.members[0].data.as_deref(), Some(&b"due"[..]), "the next view has it");
    });
}

/// Past 2,147,483,647 changes of its children a znode's `pzxid` stays (ZOOKEEPER-4372), so a watch that is armed again reports nothing.
#[test]
fn an_observer_of_a_worn_directory_looks_again_behind_every_reconnect() {
    for first_number in [0, i32::MAX] {
        let settings = Settings { first_number, ..Settings::default() };
        let config = Config { settings, ..Config::default() };
        play_with(config, Calm, |stage| async move {
            let (a, b) = (founder(&stage).await, stage.client("b").await);
            let mut views = group(&b).follow(WithData::No);
            assert_eq!(ids(&mut views).await, [""; 0]);
            b.is_disconnected().await;
            let _one = joins(&a, "one").await;
            assert_eq!(ids(&mut views).await, ["one"]);
            // And also when nothing happens meanwhile.
            let mut waits = Box::pin(ids(&mut views));
            assert!((&mut waits).now_or_never().is_none());
            let mark = stage.mark();
            b.is_disconnected().await;
            b.is_connected_again().await;
            stage.settle().await;
            assert!((&mut waits).now_or_never().is_none(), "the same members are no news");
            stage.settle().await;
            let lists = b.sent(&stage, mark).into_iter().filter(|kind| *kind == Kind::Children).count();
            assert_eq!(lists, usize::from(first_number > 0), "only there it has to look");
            let _two = joins(&a, "two").await;
            assert_eq!(waits.await, ["one", "two"]);
        });
    }
}

#[test]
fn an_id_is_joined_once_a_session_and_waited_for_otherwise() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let group_of_a = group(&a);
        let one = group_of_a.join(Some("one"), b"").await.expect("it joins");
        let twice = group_of_a.clone().join(Some("one"), b"").await.unwrap_err();
        assert_eq!(twice, ErrorKind::AlreadyJoined("/workers/one".into()));
        let twice = group(&a).join(Some("one"), b"").await.unwrap_err();
        assert_eq!(twice, ErrorKind::AlreadyJoined("/workers/one".into()), "also through another object");
        assert_eq!(a.znodes(&stage), ["/workers/one"]);
        let strict = GroupOptions::default();
        assert!(group_with(&b, strict).join(Some("one"), b"").await.is_err_and(|e| e.is_taken()));
        let patient = group(&b);
        let mut waits = Box::pin(patient.join(Some("one"), b""));
        assert!((&mut waits).now_or_never().is_none());
        stage.settle().await;
        assert!((&mut waits).now_or_never().is_none());
        one.leave().await.expect("it leaves");
        let next = waits.await.expect("it is free");
        assert_eq!(next.id(), "one");
        let nameless = group_of_a.join(None, b"").await.expect("it joins");
        assert_eq!(nameless.id().len(), 32);
    });
}

/// Nobody gives it up: a join that waited for that would never return.
#[test]
fn an_id_whose_znode_belongs_to_no_session_is_taken() {
    play(|stage| async move {
        let a = founder(&stage).await;
        for (id, mode) in [("left", CreateMode::Persistent), ("contains", CreateMode::Container)] {
            a.zk.create(&format!("{GROUP}/{id}"), b"", mode).await.expect("created");
            let joined = group(&a).join(Some(id), b"").await;
            assert_eq!(
                joined.err(),
                Some(ErrorKind::Taken(format!("{GROUP}/{id}")).into()),
                "who waits is told as well"
            );
        }
        assert_eq!(GroupOptions::default().if_taken, IfTaken::Fail);
        assert_eq!(NamesOptions::default().if_taken, IfTaken::Fail, "it means the same for names");
        a.zk.delete("/workers/left", None).await.expect("deleted");
        assert!(group(&a).join(Some("left"), b"").await.is_ok());
    });
}

#[test]
fn ones_own_former_session_is_waited_for() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let first = joins(&a, "one").await;
        // As after a quick restart: the former session lives on for a while.
        let again = Client { process: a.process.clone(), zk: a.process.open(TIMEOUT).await };
        let group = group(&again);
        let mut waits = Box::pin(group.join(Some("one"), b""));
        assert!((&mut waits).now_or_never().is_none());
        stage.settle().await;
        assert!((&mut waits).now_or_never().is_none(), "the former session's znode is not ours");
        a.zk.close(Duration::from_secs(1)).await.expect("closed");
        let second = waits.await.expect("it is free");
        assert_eq!(first.state(), HoldState::Lost(LostReason::SessionOver));
        assert_eq!(first.lost().await, Stop::Lost(LostReason::SessionOver));
        assert_eq!(first.leave().await, Ok(Released::WasLost(LostReason::SessionOver)));
        stage.settle().await;
        assert_eq!(again.znodes(&stage), [second.path()]);
    });
}

#[test]
fn a_member_whose_reply_was_lost_has_one_znode() {
    for fault in [Fault::ReplyLost, Fault::RequestLost, Fault::Disconnect] {
        for nth in 0.. {
            let (_, struck) = play_struck(fault, nth, |stage, danger| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                danger.begins();
                let one = joins(&a, "one").await;
                let nameless = group(&a).join(None, b"").await.expect("it joins");
                assert_eq!(a.znodes(&stage).len(), 2);
                let mut views = group(&b).follow(WithData::Yes);
                while views.next().await.expect("the session lives").members.len() != 2 {}
                one.set(b"1").await.expect("it is a member");
                one.leave().await.expect("it leaves");
                nameless.leave().await.expect("it leaves");
                while !ids(&mut views).await.is_empty() {}
                assert_eq!(a.znodes(&stage), [""; 0]);
            });
            if !struck {
                break;
            }
        }
    }
}

#[test]
fn a_member_is_told_that_it_is_out() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let one = joins(&a, "one").await;
        assert_eq!(one.lost().now_or_never(), None);
        stage.settle().await;
        b.zk.delete("/workers/one", None).await.expect("it has no manners");
        assert_eq!(one.lost().await, Stop::Lost(LostReason::Removed));
        assert_eq!(one.state(), HoldState::Lost(LostReason::Removed));
        // Who comes next under that id is not harmed.
        let next = joins(&b, "one").await;
        assert_eq!(one.leave().await, Ok(Released::WasLost(LostReason::Removed)));
        assert_eq!(b.znodes(&stage), [next.path()]);
        let two = joins(&a, "two").await;
        a.process.order(Fault::Disconnect);
        assert!(a.zk.exists("/").await.is_err());
        assert!(matches!(two.lost().await, Stop::Suspect { .. }));
        assert_eq!(two.resumed().await, Ok(()));
        assert_eq!(two.run(async { 7 }).await, Ok(7));
    });
}

#[test]
fn an_observer_whose_session_ends_does_not_see_an_empty_group() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let _one = joins(&a, "one").await;
        let mut views = group(&b).follow(WithData::No);
        assert_eq!(ids(&mut views).await, ["one"]);
        b.zk.close(Duration::from_secs(1)).await.expect("closed");
        for _ in 0..2 {
            assert!(views.next().await.is_err_and(|e| e.is_session_over()));
        }
        assert!(group(&b).join(Some("two"), b"").await.is_err_and(|e| e.is_session_over()));
    });
}

#[test]
fn a_directory_that_vanishes_is_an_empty_group_until_it_is_there_again() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut views = group(&b).follow(WithData::Yes);
        assert_eq!(ids(&mut views).await, [""; 0]);
        for round in ["one", "two"] {
            let member = joins(&a, round).await;
            assert_eq!(ids(&mut views).await, [round]);
            member.leave().await.expect("it leaves");
            assert_eq!(ids(&mut views).await, [""; 0]);
            a.zk.delete(GROUP, None).await.expect("it is empty");
            stage.settle().await;
            assert_eq!(views.next().now_or_never(), None, "empty is empty");
            stage.settle().await;
        }
    });
}

#[test]
fn views_do_not_go_back_over_reconnects() {
    play_with(Config::default().with_servers(3), Calm, |stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let mut views = group(&b).follow(WithData::No);
        let (mut last, mut all) = (0, Vec::new());
        for round in 0..6 {
            all.push(joins(&a, &format!("m{round}")).await);
            b.is_disconnected().await;
            loop {
                let view = views.next().await.expect("the session lives");
                assert!(view.zxid >= last);
                last = view.zxid;
                if view.members.len() == all.len() {
                    break;
                }
            }
        }
    });
}

#[test]
fn a_join_dropped_at_any_await_leaves_nothing() {
    for id in [Some("one"), None] {
        at_every_await(move |stage, danger, drops| async move {
            let (b, a) = (stage.client("b").await, stage.client("a").await);
            danger.begins();
            let group_of_a = group(&a);
            let work = async { group_of_a.join(id, b"").await.expect("it joins").leave().await };
            let ended = dropping(drops, &stage, &a, work).await.is_some();
            stage.pass(&a, 3 * RECONNECT).await;
            stage.settle().await;
            a.has_left_nothing(&stage, &format!("dropped {drops:?}"));
            let group_of_b = group(&b);
            assert!(group_of_b.join(id, b"").within(Duration::from_secs(30)).await.is_ok());
            ended
        });
    }
}

#[test]
fn an_observer_dropped_at_any_await_leaves_no_watch_and_misses_nothing() {
    at_every_await(|stage, danger, drops| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        danger.begins();
        let mut views = group(&b).follow(WithData::Yes);
        let (joining, looking) = (joins(&a, "one"), async { while ids(&mut views).await.is_empty() {} });
        let both = futures_util::future::join(joining, looking);
        let ended = dropping(drops, &stage, &b, both).await;
        let _one = match &ended {
            Some((member, ())) => Ok(member),
            None => {
                Err(group(&a).join(Some("two"), b"").within(Duration::from_secs(30)).await.expect("it joins"))
            }
        };
        if ended.is_none() {
            while !ids(&mut views).await.contains(&"two".to_owned()) {}
        }
        drop(views);
        stage.pass(&b, 3 * RECONNECT).await;
        stage.settle().await;
        b.has_left_nothing(&stage, &format!("dropped {drops:?}"));
        ended.is_some()
    });
}

#[test]
fn parents_and_bad_input() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let strict = group_with(&a, GroupOptions::default().with_parents(Parents::MustExist));
        assert_eq!(strict.join(Some("one"), b"").await.unwrap_err(), ErrorKind::NoNode);
        assert_eq!(strict.join(None, b"").await.unwrap_err(), ErrorKind::NoNode);
        for path in ["", "workers", "/", "/zookeeper/workers", "/workers/", "/a//b"] {
            let refused = Group::new(&a.zk, path, GroupOptions::default());
            assert!(refused.is_err_and(|e| e.is_bad_input()), "{path:?}");
        }
        let (group, mark) = (group(&a), stage.mark());
        for bad in ["", "a/b", ".", "..", "a\u{1}", "🔒"] {
            assert!(group.join(Some(bad), b"").await.is_err_and(|e| e.is_bad_input()), "{bad:?}");
        }
        assert!(group.join(Some("one"), &vec![0; 1 << 20]).await.is_err_and(|e| e.is_bad_input()));
        assert_eq!(a.sent(&stage, mark), []);
        a.makes_ephemeral("/eph").await;
        let below = Group::new(&a.zk, "/eph", GroupOptions::default()).expect("a good path");
        assert_eq!(below.join(None, b"").await.unwrap_err(), ErrorKind::NoChildrenForEphemerals);
        // A persistent znode of somebody else is a member like any other, and nobody gives it up.
        a.makes(GROUP).await;
        a.makes("/workers/foreign").await;
        let limit = Duration::from_secs(1);
        assert!(group.join(Some("foreign"), b"").within(limit).await.is_err_and(|e| e.is_taken()));
        assert_eq!(ids(&mut group.follow(WithData::No)).await, ["foreign"]);
    });
}

#[test]
fn data_that_do_not_fit_and_those_of_a_membership_that_is_lost_are_not_written() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let member = joins(&a, "one").await;
        let mark = stage.mark();
        assert!(member.set(&vec![0; 1 << 20]).await.is_err_and(|e| e.is_bad_input()));
        assert_eq!(a.sent(&stage, mark), []);
        assert_eq!(member.set(b"uno").await, Ok(()));
        b.zk.delete(member.path(), None).await.expect("it has no manners");
        assert_eq!(member.set(b"una").await, Err(ErrorKind::Removed(member.path().to_owned()).into()));
        let theirs = joins(&b, "one").await;
        assert_eq!(member.set(b"una").await, Err(ErrorKind::Removed(member.path().to_owned()).into()));
        assert_eq!(member.state(), HoldState::Lost(LostReason::Removed));
        let found = b.zk.get(theirs.path()).await.expect("it is there");
        assert_eq!((&found.data[..], found.stat.version), (&b"one"[..], 0), "the other's is left alone");
    });
}

#[test]
fn the_czxid_of_a_membership_is_its_znodes_and_grows_from_member_to_member() {
    play(|stage| async move {
        let (a, b) = (founder(&stage).await, stage.client("b").await);
        let mut last = 0;
        for client in [&a, &b, &a] {
            let member = joins(client, "one").await;
            let stat = b.zk.exists(member.path()).await.expect("it can be read").expect("it is there");
            assert_eq!(member.token(), stat.czxid);
            assert!(member.token() > last);
            last = member.token();
            assert_eq!(member.set(b"uno").await, Ok(()));
            assert_eq!(member.token(), last, "data do not change it");
            member.leave().await.expect("it leaves");
        }
    });
}

#[test]
fn a_join_that_was_never_polled_has_sent_nothing() {
    play(|stage| async move {
        let a = founder(&stage).await;
        let (group, mark) = (group(&a), stage.mark());
        drop(group.join(Some("one"), b""));
        drop(group.join(None, b""));
        drop(group.join(Some("one"), b"").within(TIMEOUT));
        stage.settle().await;
        assert_eq!(a.sent(&stage, mark), []);
        drop(group.join(Some("one"), b"").await.expect("nobody owns it"));
    });
}

#[test]
fn what_was_left_with_a_lost_reply_needs_no_clean_up() {
    for fault in [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect] {
        for nth in 0..3 {
            play_struck(fault, nth, |stage, danger| async move {
                let a = founder(&stage).await;
                let one = joins(&a, "one").await;
                danger.begins();
                assert_eq!(one.leave().await, Ok(Released::Clean), "{fault:?} at {nth}");
                danger.ends();
                let mark = stage.mark();
                stage.pass(&a, 3 * RECONNECT).await;
                assert_eq!(a.sent(&stage, mark), [], "{fault:?} at {nth}");
            });
        }
    }
}

/// The reply to the delete is lost, and the read that would tell is denied: whatever it comes to, nobody else is blamed.
#[test]
fn a_leave_that_may_not_look_whether_it_is_done_blames_nobody() {
    for nth in 0..3 {
        play_faults([(Fault::ReplyLost, 0), (Fault::AccessDenied, nth)], |stage, danger| async move {
            let a = founder(&stage).await;
            let one = joins(&a, "one").await;
            danger.begins();
            let left = one.leave().await;
            assert!(
                left == Ok(Released::Clean) || left.as_ref().is_err_and(Error::is_outcome_unknown),
                "at {nth}: {left:?}"
            );
        });
    }
}

/// The first request is refused by a server without time, or applied with its reply lost, so that the call goes on with a read;
/// then a request or a reply is lost.
#[test]
fn a_leave_that_is_struck_twice_is_clean() {
    for first in [Fault::Throttled, Fault::ReplyLost] {
        for (second, nth) in [Fault::ReplyLost, Fault::RequestLost]
            .into_iter()
            .flat_map(|one| (0..3).map(move |nth| (one, nth)))
        {
            play_faults([(first, 0), (second, nth)], |stage, danger| async move {
                let a = founder(&stage).await;
                let one = joins(&a, "one").await;
                danger.begins();
                assert_eq!(one.leave().await, Ok(Released::Clean), "{first:?}, then {second:?} at {nth}");
            });
        }
    }
}
