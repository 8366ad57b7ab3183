//! Tests that the vocabulary of stories does what it says.

use crate::lock::words as lock;
use crate::lock::workload::{DIRECTORY, LOCK};
use crate::stage::Stage;
use sim_zk::End;
use zk_checker::history::{FaultKind, Outcome, SessionState, Verb, What, Why};
use zk_harness::operation::{Call, Ended};
use zk_harness::stage::{Script, Story, StoryRun, tell};
use zk_recipes::zk::{CreateMode, ZooKeeper};
use zk_recipes::{Lock, LockOptions};

fn told(servers: u8, script: fn(zk_harness::stage::Stage) -> Script) -> StoryRun {
    let story = Story {
        name: "a-test",
        title: "",
        about: "",
        objects: lock::objects,
        servers,
        script,
        point: |_| Vec::new(),
        verdicts: &[],
    };
    let (told, wrong) = tell(&story);
    assert_eq!(wrong, [] as [String; 0]);
    told
}

fn returned(told: &StoryRun, wanted: Outcome) -> usize {
    told.count(|what| matches!(what, What::Return { outcome, .. } if *outcome == wanted))
}

#[test]
fn who_gives_up_is_cancelled_and_leaves_nothing_in_line() {
    let told = told(1, |w| {
        Box::pin(async move {
            let w = Stage::from(w);
            let (a, b) = (w.client("a").await, w.client("b").await);
            let held = a.acquires().await;
            let waiting = b.asks();
            w.settle().await;
            b.gives_up();
            assert!(waiting.await.is_none());
            a.releases(held).await;
        })
    });
    assert_eq!((returned(&told, Outcome::Cancelled), returned(&told, Outcome::Done)), (1, 2));
}

#[test]
fn any_operation_can_be_made_and_gives_back_what_the_recipe_gave() {
    let told = told(1, |w| {
        Box::pin(async move {
            let w = Stage::from(w);
            let a = w.client("a").await;
            let trying = a.does(Call::new(LOCK, Verb::TryAcquire).by_mistake(), |zk| async move {
                Lock::new(&zk, "nowhere", LockOptions::default())?.try_acquire().await
            });
            assert!(matches!(trying.await, Ended::Failed(error) if error.is_bad_input()));
        })
    });
    assert_eq!(returned(&told, Outcome::Refused), 1);
}

#[test]
fn who_dies_is_cancelled() {
    let told = told(1, |w| {
        Box::pin(async move {
            let w = Stage::from(w);
            let (a, b) = (w.client("a").await, w.client("b").await);
            let held = a.acquires().await;
            let waiting = b.asks();
            w.settle().await;
            b.dies();
            assert!(waiting.await.is_none());
            a.releases(held).await;
        })
    });
    assert!(told.struck(FaultKind::ClientCrash));
}

#[test]
fn a_holder_that_is_cut_off_is_told_to_stop_and_one_whose_session_expires_has_lost() {
    let told = told(1, |w| {
        Box::pin(async move {
            let w = Stage::from(w);
            let (a, b) = (w.client("a").await, w.client("b").await);
            let held = a.acquires().await;
            let acting = a.acts_until_told_to_stop(held);
            a.is_cut_off(0.9);
            a.releases(acting.await.0).await;
            w.settle().await;

            let held = b.acquires().await;
            let acting = b.acts_until_told_to_stop(held);
            b.session_expires();
            drop(acting.await);
            w.settle().await;
        })
    });
    assert!(told.struck(FaultKind::ClientPartition) && told.struck(FaultKind::SessionExpiry));
    let stopped = |why: Why| told.count(|what| matches!(what, What::Unbelieve { why: of } if *of == why));
    assert_eq!((stopped(Why::Released), stopped(Why::Suspect)), (0, 2));
    let expired = |what: &What| matches!(what, What::State { state: SessionState::Expired, .. });
    assert_eq!(told.count(expired), 1);
}

#[test]
fn a_request_can_be_lost_and_a_connection_can_break() {
    let told = told(1, |w| {
        Box::pin(async move {
            let w = Stage::from(w);
            let a = w.client("a").await;
            a.loses_its_next_request();
            let held = a.acquires().await;
            a.disconnects();
            a.releases(held).await;
            w.settle().await;
        })
    });
    assert!(told.struck(FaultKind::RequestLost) && told.struck(FaultKind::Disconnect));
}

#[test]
fn a_stranger_deletes_and_writes_and_the_holder_learns_it() {
    let told = told(1, |w| {
        Box::pin(async move {
            let w = Stage::from(w);
            let a = w.client("a").await;
            w.writes("/config", b"1").await;
            w.writes("/config", b"2").await;
            assert_eq!(a.zk().get("/config").await.expect("it is there").data, b"2");
            let held = a.acquires().await;
            let acting = a.acts_until_told_to_stop(held);
            let names = a.zk().children(DIRECTORY).await.expect("it is there").names;
            w.deletes(&format!("{DIRECTORY}/{}", names[0])).await;
            let _ = a.begins_to_release(acting.await.0).await;
        })
    });
    assert!(told.struck(FaultKind::ForeignDelete));
    assert_eq!(told.count(|what| matches!(what, What::Unbelieve { why: Why::Lost })), 1);
}

#[test]
fn a_server_lags_stands_still_or_dies_and_the_others_go_on() {
    let told = told(3, |w| {
        Box::pin(async move {
            let w = Stage::from(w);
            let (a, b) = (w.client("a").await, w.client("b").await);
            let leader = w.leader().expect("the servers have a leader");
            // Clients connect to the servers in turn.
            let (quick, slow) = if leader == 1 { (&b, &a) } else { (&a, &b) };
            let server = u8::from(leader != 1);
            w.lags(server, 0.5);
            quick.zk().create("/x", b"", CreateMode::Persistent).await.expect("a quorum serves");
            let shown = slow.zk().exists("/x").await.expect("it answers, late");
            assert!(shown.is_none(), "what it has not applied it does not show");
            w.settle().await;
            assert!(slow.zk().exists("/x").await.expect("it answers").is_some());

            w.server_stands_still(server, 0.2);
            quick.zk().delete("/x", None).await.expect("a quorum serves");
            w.server_dies(leader, 1.0);
            w.settle().await;
            a.zk().sync("/").await.expect("there is a leader again");
        })
    });
    for kind in [FaultKind::ApplyStall, FaultKind::ServerPause, FaultKind::ServerCrash] {
        assert!(told.struck(kind), "{kind:?}");
    }
    assert_eq!(told.end, End::Done);
}
