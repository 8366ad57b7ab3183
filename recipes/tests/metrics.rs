//! What is counted and measured: exactly, since time is the handle's own.

#[path = "all/common/mod.rs"]
#[allow(dead_code, reason = "this binary uses a part of it")]
mod common;

use common::{RECONNECT, play};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_recipes::{Group, GroupOptions, ZooKeeper};

/// The crate's metrics after a script, sorted, one a line.
fn counted<F>(script: impl FnOnce(common::Stage) -> F) -> Vec<String>
where
    F: Future<Output = ()> + Send + 'static,
{
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        zk_recipes::describe_metrics();
        play(script);
    });
    let line = |(key, _, about, value): (metrics_util::CompositeKey, _, Option<_>, DebugValue)| {
        assert!(about.is_some(), "{key:?} is described");
        let labels: Vec<String> =
            key.key().labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        let value = match value {
            DebugValue::Counter(count) => count.to_string(),
            DebugValue::Gauge(level) => level.to_string(),
            DebugValue::Histogram(values) => format!("{values:?}"),
        };
        format!("{}{{{}}} {value}", key.key().name(), labels.join(","))
    };
    let mut lines: Vec<String> = snapshotter.snapshot().into_vec().into_iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn a_lock_is_won_waited_for_given_up_and_lost() {
    let lines = counted(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        a.process.order(Fault::ReplyLost);
        let held = a.acquires().await;
        let asking = b.asks();
        stage.pass(&a, RECONNECT).await;
        held.release().await.expect("it is released");
        let held = asking.await.expect("it is granted");
        let late = a.lock();
        let late = late.acquire().within(Duration::from_secs(2)).await;
        assert!(late.expect_err("it is held").is_timed_out());
        b.zk.close(Duration::ZERO).await.expect("it can be closed");
        let _ = held.state();
        stage.settle().await;
    });
    insta::assert_snapshot!(lines.join("\n"));
}

/// The guard is not even dropped: what is counted is what is held, not who holds a guard.
#[test]
fn a_membership_that_nobody_polls_is_lost_with_its_session() {
    let lines = counted(|stage| async move {
        let a = stage.founder().await;
        let group = Group::new(&a.zk, "/group", GroupOptions::default()).expect("a good path");
        std::mem::forget(group.join(Some("a"), b"").await.expect("it is free"));
        a.zk.close(Duration::ZERO).await.expect("it can be closed");
        stage.settle().await;
    });
    let of_holds: Vec<_> = lines.iter().filter(|line| line.starts_with("zk_recipes_holds_")).collect();
    assert_eq!(
        of_holds,
        [
            "zk_recipes_holds_active{recipe=group} 0",
            "zk_recipes_holds_lost_total{recipe=group,reason=session_over} 1"
        ]
    );
}
