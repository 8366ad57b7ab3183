//! The priority lock's contender in line: who is deleted at the last moment is told so, and a holder is asked to go once.

use crate::common::bent::Bent;
use crate::common::{Client, DIRECTORY, MARGIN, RECONNECT, Stage, play, play_faults};
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::guard::{Read, Revocable};
use zk_recipes::zk::{Runtime, ZooKeeper, path};
use zk_recipes::{Guard, Preempt, Priority, PriorityLock, PriorityLockOptions};

const LINE: &str = "/locks/a/line";

/// Somebody who has made the directories, to stay.
async fn founder(stage: &Stage) -> Client {
    let founder = stage.founder().await;
    founder.makes(LINE).await;
    founder.makes("/locks/a/held").await;
    founder
}

fn lock<Z: ZooKeeper>(zk: &Z, preempt: Preempt) -> PriorityLock<Z> {
    let options = PriorityLockOptions::default().with_preempt(preempt);
    PriorityLock::new(zk, DIRECTORY, options).expect("the path is good")
}

#[test]
fn who_is_deleted_right_before_its_grant_is_told_so() {
    play(|stage| async move {
        let stranger = founder(&stage).await;
        let a = stage.client("a").await;
        let bent = Bent::straight(&a.zk);
        let zk = stranger.zk.clone();
        bent.waits_before(Kind::Multi, async move {
            for name in zk.children(LINE).await.expect("it is there").names {
                zk.delete(&path::join(LINE, &name), None).await.expect("it stands in line");
            }
        });
        let asked = lock(&bent, Preempt::Never).write(Priority(5)).await;
        assert!(asked.expect_err("its znode is gone").is_removed());
    });
}

/// The founder, a client that is about to want the lock, and two readers of little urgency that have it.
async fn behind_readers(stage: &Stage) -> (Client, Client, [Guard<SimClient, Revocable<Read>>; 2]) {
    let founder = founder(stage).await;
    let [one, two, urgent] = [stage.client("one").await, stage.client("two").await, stage.client("c").await];
    let reads = |on: &Client| {
        let lock = lock(&on.zk, Preempt::Never);
        async move { lock.read(Priority(9)).await.expect("readers share it") }
    };
    let readers = [reads(&one).await, reads(&two).await];
    (founder, urgent, readers)
}

#[test]
fn a_holder_is_asked_to_go_once_however_often_the_other_looks() {
    play(|stage| async move {
        let (founder, urgent, [first, second]) = behind_readers(&stage).await;
        let mark = stage.mark();
        let asks = lock(&urgent.zk, Preempt::Ask);
        let asking = urgent.process.spawn(async move { asks.write(Priority(1)).await });
        stage.pass(&founder, RECONNECT).await;
        // It looks again when the first of them goes.
        first.release().await.expect("it is given back");
        stage.pass(&founder, RECONNECT).await;
        let sent = urgent.sent(&stage, mark);
        assert_eq!(sent.iter().filter(|kind| **kind == Kind::Set).count(), 2, "{sent:?}");
        second.release().await.expect("it is given back");
        drop(asking.await.expect("its process lives").expect("it is free"));
    });
}

#[test]
fn the_grace_of_a_holder_begins_when_it_is_asked_and_not_when_the_other_looks_again() {
    const GRACE: Duration = Duration::from_secs(5);
    for goes in [0, 1] {
        play(move |stage| async move {
            let (founder, urgent, readers) = behind_readers(&stage).await;
            // The one of them that the other watches, and the one that it does not.
            let mut readers = Vec::from(readers);
            let begun = urgent.zk.now();
            let forces = lock(&urgent.zk, Preempt::Force { grace: GRACE });
            let forcing = urgent.process.spawn(async move { forces.write(Priority(1)).await });
            stage.pass(&founder, GRACE / 2).await;
            readers.remove(goes).release().await.expect("it is given back");
            let granted = forcing.await.expect("its process lives").expect("the other is made to go");
            let waited = urgent.zk.now().since(begun);
            assert!((GRACE..GRACE + GRACE / 4).contains(&waited), "{goes}: {waited:?}");
            drop((readers, granted));
        });
    }
}

/// The look after the znode that stands for the hold is refused, and the connection ends before the caller has come to that.
#[test]
fn a_refusal_on_a_connection_that_is_gone_holds_nobody_up() {
    let mut granted = 0;
    for (level, refused, cut) in
        (0..32).flat_map(|n| (0..6).flat_map(move |m| (0..4).map(move |k| (n, m, k))))
    {
        let faults = [(Fault::AccessDenied, level), (Fault::AccessDenied, refused), (Fault::Disconnect, cut)];
        let (waited, _) = play_faults(faults, |stage, danger| async move {
            let (founder, a) = (stage.founder().await, stage.client("a").await);
            founder.makes(LINE).await;
            danger.begins();
            let (zk, connected) = (a.zk.clone(), Arc::new(Mutex::new(None)));
            let follows = connected.clone();
            let _following = a.process.spawn(async move {
                let mut status = zk.status();
                loop {
                    status = zk.changed(status).await;
                    if status.is_connected() {
                        *follows.lock().expect("nobody panics") = Some(zk.now());
                    }
                }
            });
            let _granted = lock(&a.zk, Preempt::Never).write(Priority(5)).await.ok()?;
            let connected = (*connected.lock().expect("nobody panics"))?;
            Some(a.zk.now().since(connected))
        });
        granted += u32::from(waited.is_some());
        // A few round trips, and no pause.
        assert!(waited.is_none_or(|waited| waited < MARGIN), "{level}, {refused}, {cut}: {waited:?}");
    }
    assert!(granted >= 30, "{granted} times there was another connection");
}
