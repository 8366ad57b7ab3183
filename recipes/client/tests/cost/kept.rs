//! Nothing that is registered with a session outlives its use: ten thousand uses of every call, on a session whose status never
//! changes, keep nothing.

use super::{open, runtime};
use crate::stub::Stub;
use allocation_counter::measure;
use futures_util::future::{join_all, poll_immediate};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use zk_client::Client;
use zk_recipes::zk::{CreateMode, Duty, Op, Runtime as _, ZooKeeper};

const USES: usize = 10_000;

/// How many of them are in flight together.
const AT_ONCE: usize = 100;

/// What may be kept of all uses of a call: a buffer that grew.
const MOST_ALLOCATIONS: i64 = 30;

type Using = Pin<Box<dyn Future<Output = ()>>>;

/// One use of a call. The number makes its path another one each time.
type Use = fn(Client, String) -> Using;

/// A call of the client.
fn call<F: Future + 'static>(call: F) -> Using {
    Box::pin(async { drop(call.await) })
}

/// The same, of a call that is dropped before its answer, or before it was ever polled.
fn dropped<F: Future + 'static>(call: F, is_polled: bool) -> Using {
    Box::pin(async move {
        if is_polled {
            drop(poll_immediate(call).await);
        }
    })
}

/// Waits that end by being dropped, in a task of their own.
async fn given_up<F: Future + Send + 'static>(wait: F)
where
    F::Output: Send,
{
    let task = async {
        let mut wait = pin!(wait);
        assert!(poll_immediate(&mut wait).await.is_none(), "nothing happens on a calm session");
        tokio::task::yield_now().await;
    };
    tokio::spawn(task).await.expect("it ends");
}

const CALLS: &[(&str, Use)] = &[
    ("create", |zk, path| call(zk.create(&path, b"data", CreateMode::Persistent))),
    ("create, ephemeral", |zk, path| call(zk.create(&path, b"", CreateMode::EphemeralSequential))),
    ("create and delete", |zk, path| {
        call(async move {
            let created = zk.create(&path, b"", CreateMode::EphemeralSequential).await.expect("it is made");
            zk.delete(&created.path, None).await
        })
    }),
    ("delete", |zk, path| call(zk.delete(&path, None))),
    ("set", |zk, path| call(zk.set(&path, b"data", None))),
    ("exists", |zk, path| call(zk.exists(&path))),
    ("exists_watch", |zk, path| call(zk.exists_watch(&path))),
    ("exists_watch, dropped", |zk, path| dropped(zk.exists_watch(&path), false)),
    ("get", |zk, path| call(zk.get(&path))),
    ("get, dropped", |zk, path| dropped(zk.get(&path), true)),
    ("get_watch", |zk, path| call(zk.get_watch(&path))),
    ("get_watch, dropped", |zk, path| dropped(zk.get_watch(&path), true)),
    ("get_watch, awaited in a task", |zk, path| {
        call(async move { given_up(zk.get_watch(&path).await.expect("it is there").1).await })
    }),
    ("children", |zk, path| call(zk.children(&path))),
    ("children_watch", |zk, path| call(zk.children_watch(&path))),
    ("get_many", |zk, path| call(zk.get_many(&[path]))),
    ("multi", |zk, path| call(zk.multi(vec![Op::Check { path, version: None }]))),
    ("sync", |zk, path| call(zk.sync(&path))),
    ("watch_tree", |zk, path| call(zk.watch_tree(&path))),
    ("watch_tree, dropped", |zk, path| dropped(zk.watch_tree(&path), true)),
    ("bad input", |zk, _| call(zk.get_watch("not a path"))),
    ("changed", |zk, _| {
        let status = zk.status();
        call(given_up(zk.changed(status)))
    }),
    ("sleep_until", |zk, _| {
        let until = zk.now() + Duration::from_secs(3600);
        call(given_up(zk.sleep_until(until)))
    }),
    ("sleep_until, over", |zk, _| {
        let until = zk.now();
        call(zk.sleep_until(until))
    }),
    ("arm, done", |zk, path| call(async move { zk.arm(Duty::Path(path)).done() })),
    ("arm, dropped", |zk, path| call(async move { drop(zk.arm(Duty::Path(path))) })),
    ("close, dropped", |zk, _| dropped(zk.close(Duration::from_secs(5)), false)),
];

#[test]
fn ten_thousand_uses_of_every_call_on_a_calm_session_leave_nothing() {
    let (stub, runtime) = (Stub::start(), runtime());
    let (zk, lock) = runtime.block_on(open(&stub));
    let kept = CALLS.iter().map(|(name, uses)| {
        let uses = |number: usize| uses(zk.clone(), format!("/{name}-{number}").replace([' ', ','], ""));
        (*name, kept_by(&runtime, &zk, uses))
    });
    expect_little(kept.collect());
    drop(lock);
}

#[test]
fn ten_thousand_jobs_below_a_guard_leave_nothing() {
    let (stub, runtime) = (Stub::start(), runtime());
    let (zk, lock) = runtime.block_on(open(&stub));
    let guard = Arc::new(runtime.block_on(lock.acquire()).expect("it is free"));
    let jobs: [(&str, &dyn Fn() -> Using); 3] = [
        ("run", &|| {
            let guard = guard.clone();
            call(async move {
                let job = tokio::spawn(async move { guard.run(tokio::task::yield_now()).await });
                job.await.expect("it ends").expect("it is held");
            })
        }),
        ("run, dropped", &|| {
            let guard = guard.clone();
            call(given_up(async move { guard.run(std::future::pending::<()>()).await }))
        }),
        ("lost", &|| {
            let guard = guard.clone();
            call(given_up(async move { guard.lost().await }))
        }),
    ];
    let mut kept: Vec<_> =
        jobs.iter().map(|(name, job)| (*name, kept_by(&runtime, &zk, |_| job()))).collect();
    let acquire = || {
        let lock = lock.clone();
        call(given_up(async move { lock.acquire().await }))
    };
    kept.push(("acquire, dropped", kept_by(&runtime, &zk, |_| acquire())));
    expect_little(kept);
}

/// Numbers of allocations that were kept, by call.
fn expect_little(kept: Vec<(&str, i64)>) {
    let much: Vec<_> = kept.into_iter().filter(|(_, kept)| *kept > MOST_ALLOCATIONS).collect();
    assert!(much.is_empty(), "allocations are kept: {much:?}");
}

/// What is kept of ten thousand uses: a number of allocations.
fn kept_by(runtime: &Runtime, zk: &Client, uses: impl Fn(usize) -> Using) -> i64 {
    let mut next = 0;
    let mut go = |times: usize| {
        runtime.block_on(async {
            for _ in 0..times / AT_ONCE {
                next += AT_ONCE;
                join_all((next - AT_ONCE..next).map(&uses)).await;
                // What was dropped has been answered behind the second one.
                for _ in 0..2 {
                    zk.exists("/lock").await.expect("the stub answers");
                }
            }
        });
    };
    go(2 * AT_ONCE);
    measure(|| go(USES)).count_current
}
