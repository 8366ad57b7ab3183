//! Locks of all kinds, and elections.

use super::told;
use crate::common::{DIRECTORY, Drops, dropping};
use insta::assert_snapshot;
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{
    Election, ElectionOptions, LockOptions, Priority, PriorityLock, PriorityLockOptions, RevocableLock,
    RevocableLockOptions, SharedLock, SharedLockOptions,
};

#[test]
fn a_lock_is_waited_for_and_given_up() {
    assert_snapshot!(told(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let held = a.acquires().await;
        let tried = b.lock().try_acquire().await.expect("it can be tried");
        assert!(tried.is_none(), "it is held");
        let impatient = b.lock();
        let late = impatient.acquire().within(Duration::from_secs(1)).await;
        assert!(late.expect_err("it is held").is_timed_out());
        let dropped = dropping(Drops::Later(100), &stage, &b, impatient.acquire()).await;
        assert!(dropped.is_none(), "it is held");
        let asking = b.asks();
        stage.settle().await;
        held.release().await.expect("it is released");
        drop(asking.await.expect("it is granted"));
        stage.settle().await;
    }));
}

#[test]
fn a_lost_answer_and_a_lost_session() {
    assert_snapshot!(told(|stage| async move {
        let a = stage.founder().await;
        a.process.order(Fault::ReplyLost);
        let held = a.acquires_with(LockOptions::default()).await;
        a.is_disconnected().await;
        let _ = held.lost().await;
        held.resumed().await.expect("the session lives");
        a.zk.close(Duration::ZERO).await.expect("it can be closed");
        let _ = (held.state(), held.state());
        let _ = held.release().await;
    }));
}

#[test]
fn a_holder_is_deleted() {
    assert_snapshot!(told(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let held = a.acquires().await;
        let contenders = b.lock().contenders().await.expect("they can be listed");
        b.lock().evict(&contenders[0]).await.expect("it can be evicted");
        let _ = held.lost().await;
        let _ = held.release().await;
    }));
}

#[test]
fn a_writer_goes_on_as_a_reader() {
    assert_snapshot!(told(|stage| async move {
        let a = stage.client("a").await;
        let lock = SharedLock::new(&a.zk, DIRECTORY, SharedLockOptions::default()).expect("a good path");
        let writer = lock.write().await.expect("it is granted");
        let reader = writer.downgrade().await.expect("it is downgraded");
        reader.transact_once(Vec::new()).await.expect("it is applied");
        reader.release().await.expect("it is released");
        drop(lock.try_read().await.expect("it can be tried"));
        stage.settle().await;
    }));
}

#[test]
fn a_holder_is_asked_to_go() {
    assert_snapshot!(told(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let on =
            |zk| RevocableLock::new(zk, DIRECTORY, RevocableLockOptions::default()).expect("a good path");
        let writer = on(&a.zk).write().await.expect("it is granted");
        let contenders = on(&b.zk).contenders().await.expect("they can be listed");
        on(&b.zk).ask(&contenders[0]).await.expect("it can be asked");
        writer.revoked().await.expect("it is held");
        writer.release().await.expect("it is released");
    }));
}

#[test]
fn the_urgent_make_a_holder_go() {
    assert_snapshot!(told(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let on = |zk| PriorityLock::new(zk, DIRECTORY, PriorityLockOptions::default()).expect("a good path");
        let reader = on(&a.zk).read(Priority(5)).await.expect("it is granted");
        let contenders = on(&b.zk).contenders().await.expect("they can be listed");
        on(&b.zk).force(&contenders[0], Duration::from_millis(10)).await.expect("it can be forced");
        on(&b.zk).write(Priority(1)).await.expect("it is granted").release().await.expect("it is released");
        let _ = reader.release().await;
    }));
}

#[test]
fn a_leader_begins_and_resigns() {
    assert_snapshot!(told(|stage| async move {
        let a = stage.client("a").await;
        let election = Election::new(&a.zk, "/leader", ElectionOptions::default()).expect("a good path");
        let term = election.stand().await.expect("nobody else stands");
        term.acknowledge(b"a:1").await.expect("it is put on record");
        let _ = election.follow().next().await.expect("somebody leads");
        term.resign().await.expect("it resigns");
    }));
}

#[test]
fn a_leader_with_a_record_is_dropped() {
    assert_snapshot!(told(|stage| async move {
        let a = stage.client("a").await;
        let election = Election::new(&a.zk, "/leader", ElectionOptions::default()).expect("a good path");
        let term = election.stand().await.expect("nobody else stands");
        term.acknowledge(b"a:1").await.expect("it is put on record");
        drop(term);
        stage.settle().await;
    }));
}
