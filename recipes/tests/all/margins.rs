//! A margin that an idle hold could not survive is refused, in words, before anything is sent.

use crate::common::bent::Bent;
use crate::common::{Client, DIRECTORY, TIMEOUT, play};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::future::Future;
use std::time::Duration;
use zk_recipes::group::{Group, GroupOptions};
use zk_recipes::names::{Names, NamesOptions};
use zk_recipes::zk::Error;
use zk_recipes::{
    Election, ElectionOptions, Lock, LockOptions, Priority, PriorityLock, PriorityLockOptions, Released,
    RevocableLock, RevocableLockOptions, Semaphore, SemaphoreOptions, SharedLock, SharedLockOptions,
};

type Made = fn(&Client, Option<Duration>) -> Result<(), Error>;

/// All recipes whose holds have a margin.
const RECIPES: [(&str, Made); 8] = [
    ("lock", |a, margin| Lock::new(&a.zk, "/x", LockOptions::default().with_margin(margin)).map(drop)),
    ("shared lock", |a, margin| {
        SharedLock::new(&a.zk, "/x", SharedLockOptions::default().with_margin(margin)).map(drop)
    }),
    ("revocable lock", |a, margin| {
        let options = RevocableLockOptions::default().with_margin(margin);
        RevocableLock::new(&a.zk, "/x", options).map(drop)
    }),
    ("priority lock", |a, margin| {
        let options = PriorityLockOptions::default().with_margin(margin);
        PriorityLock::new(&a.zk, "/x", options).map(drop)
    }),
    ("semaphore", |a, margin| {
        let options = SemaphoreOptions::default().with_margin(margin);
        Semaphore::new(&a.zk, "/x", 3, options).map(drop)
    }),
    ("election", |a, margin| {
        Election::new(&a.zk, "/x", ElectionOptions::default().with_margin(margin)).map(drop)
    }),
    ("names", |a, margin| Names::new(&a.zk, "/x", NamesOptions::default().with_margin(margin)).map(drop)),
    ("group", |a, margin| Group::new(&a.zk, "/x", GroupOptions::default().with_margin(margin)).map(drop)),
];

#[test]
fn a_margin_of_more_than_half_of_the_session_timeout_is_refused() {
    for (recipe, made) in RECIPES {
        play(move |stage| async move {
            let a = stage.client("a").await;
            for margin in [TIMEOUT / 2 + Duration::from_micros(1), TIMEOUT * 2 / 3, TIMEOUT, Duration::MAX] {
                let refused = made(&a, Some(margin)).expect_err("an idle hold would be lost");
                assert!(refused.is_bad_input(), "{recipe}: {refused}");
                let said = refused.to_string();
                for figure in [format!("{margin:?}"), format!("{TIMEOUT:?}")] {
                    assert!(said.contains(&figure), "{recipe}: {said}");
                }
            }
            for margin in [None, Some(Duration::ZERO), Some(TIMEOUT / 2)] {
                assert_eq!(made(&a, margin), Ok(()), "{recipe}: {margin:?}");
            }
        });
    }
}

type Asks = fn(Bent, Option<Duration>) -> BoxFuture<'static, Result<(), Error>>;

/// Somebody asks for a hold, after the timeout has become shorter. A group claims as names do.
const HOLDS: [(&str, Asks); 11] = [
    ("lock, at once", |a, margin| {
        let made = Lock::new(&a, "/x", LockOptions::default().with_margin(margin));
        asking(a, async move { made?.try_acquire().await.map(drop) })
    }),
    ("shared lock, at once", |a, margin| {
        let made = SharedLock::new(&a, "/x", SharedLockOptions::default().with_margin(margin));
        asking(a, async move { made?.try_read().await.map(drop) })
    }),
    ("priority lock, at once", |a, margin| {
        let options = PriorityLockOptions::default().with_margin(margin);
        let made = PriorityLock::new(&a, "/x", options);
        asking(a, async move { made?.read(Priority(1)).within(SHORTER).await.map(drop) })
    }),
    ("lock", |a, margin| {
        let made = Lock::new(&a, "/x", LockOptions::default().with_margin(margin));
        asking(a, async move { made?.acquire().await.map(drop) })
    }),
    ("shared lock", |a, margin| {
        let made = SharedLock::new(&a, "/x", SharedLockOptions::default().with_margin(margin));
        asking(a, async move { made?.read().await.map(drop) })
    }),
    ("revocable lock", |a, margin| {
        let options = RevocableLockOptions::default().with_margin(margin);
        let made = RevocableLock::new(&a, "/x", options);
        asking(a, async move { made?.write().await.map(drop) })
    }),
    ("priority lock", |a, margin| {
        let options = PriorityLockOptions::default().with_margin(margin);
        let made = PriorityLock::new(&a, "/x", options);
        asking(a, async move { made?.write(Priority(1)).await.map(drop) })
    }),
    ("semaphore, at once", |a, margin| {
        let made = Semaphore::new(&a, "/x", 3, SemaphoreOptions::default().with_margin(margin));
        asking(a, async move { made?.try_acquire(2).await.map(drop) })
    }),
    ("semaphore", |a, margin| {
        let made = Semaphore::new(&a, "/x", 3, SemaphoreOptions::default().with_margin(margin));
        asking(a, async move { made?.acquire(2).await.map(drop) })
    }),
    ("election", |a, margin| {
        let made = Election::new(&a, "/x", ElectionOptions::default().with_margin(margin));
        asking(a, async move { made?.stand().await.map(drop) })
    }),
    ("names", |a, margin| {
        let made = Names::new(&a, "/x", NamesOptions::default().with_margin(margin));
        asking(a, async move { made?.register("name", b"").await.map(drop) })
    }),
];

const SHORTER: Duration = Duration::from_secs(2);

fn asking(
    a: Bent,
    ask: impl Future<Output = Result<(), Error>> + Send + 'static,
) -> BoxFuture<'static, Result<(), Error>> {
    a.times_out_after(SHORTER);
    Box::pin(ask)
}

#[test]
fn a_margin_that_a_reconnect_has_made_too_long_is_refused_before_anything_is_sent() {
    for (recipe, asks) in HOLDS {
        play(move |stage| async move {
            let a = stage.client("a").await;
            let mark = stage.mark();
            let refused =
                asks(Bent::straight(&a.zk), Some(SHORTER)).await.expect_err("it would be lost while idle");
            assert!(refused.is_bad_input() && refused.to_string().contains("2s"), "{recipe}: {refused}");
            assert_eq!(a.sent(&stage, mark), [], "{recipe}");
            assert_eq!(asks(Bent::straight(&a.zk), Some(SHORTER / 2)).await, Ok(()), "{recipe}");
        });
    }
}

#[test]
fn a_margin_that_has_become_too_long_while_somebody_waited_is_told_and_leaves_nothing() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let held = b.acquires().await;
        let bent = Bent::straight(&a.zk);
        let options = LockOptions::default().with_margin(SHORTER);
        let lock = Lock::new(&bent, DIRECTORY, options).expect("the margin is short enough");
        let mut waits = Box::pin(lock.acquire());
        for _ in 0..3 {
            assert!((&mut waits).now_or_never().is_none(), "it is held");
            stage.settle().await;
        }
        bent.times_out_after(SHORTER);
        held.release().await.expect("it is held");
        assert!(waits.await.is_err_and(|e| e.is_bad_input()));
        stage.settle().await;
        a.has_left_nothing(&stage, "the hold would have been lost at once");
    });
}

#[test]
fn an_idle_hold_with_the_greatest_margin_is_held_for_ten_timeouts() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires_with(LockOptions::default().with_margin(TIMEOUT / 2)).await;
        let mut lost = Box::pin(held.lost());
        for _ in 0..100 {
            assert_eq!((&mut lost).now_or_never(), None);
            stage.pass(&a, TIMEOUT / 10).await;
        }
        drop(lost);
        assert_eq!(held.release().await, Ok(Released::Clean));
    });
}
