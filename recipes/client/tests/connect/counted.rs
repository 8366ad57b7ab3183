//! The metrics of a session's life.

use super::addresses::closed;
use super::script::greets;
use super::{open, run};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::collections::BTreeMap;
use std::time::Duration;
use zk_client::Options;
use zk_recipes::zk::ZooKeeper;

#[test]
fn a_life_is_counted_and_every_metric_is_described() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        zk_client::describe_metrics();
        run(async {
            // Connected, lost with a request, expired.
            let flaky = greets(|mut peer, hello| {
                peer.grants(if hello.is_new() { 2_000 } else { 0 });
                if let Some((xid, _)) = peer.request() {
                    peer.answers(xid, 0, &[]);
                    peer.request();
                }
            });
            let (_bound, closed) = closed();
            let zk = open(&format!("{closed},{flaky}"), Options::new(Duration::from_secs(2))).await;
            zk.sync("/").await.map_err(drop).unwrap_or_default();
            drop(zk.get("/").await);
            let mut status = zk.status();
            while status.over().is_none() {
                status = zk.changed(status).await;
            }
            tokio::task::yield_now().await;
        });
    });
    let mut counted = BTreeMap::new();
    for (key, _, about, value) in snapshotter.snapshot().into_vec() {
        let key = key.key();
        let labels: Vec<_> =
            key.labels().map(|label| format!(" {}={}", label.key(), label.value())).collect();
        assert!(about.is_some(), "{key:?} is described");
        let value = match value {
            DebugValue::Counter(count) => count as f64,
            DebugValue::Gauge(level) => level.0,
            DebugValue::Histogram(values) => values.len() as f64,
        };
        *counted.entry(format!("{}{}", key.name(), labels.concat())).or_insert(0.0) += value;
    }
    let of = |name: &str| counted.get(&format!("zk_client_{name}")).copied();
    for change in ["opened", "suspect", "expired"] {
        assert_eq!(of(&format!("session_changes_total change={change}")), Some(1.0), "{counted:?}");
    }
    for gauge in ["sessions_connected", "requests_in_flight"] {
        assert_eq!(of(gauge), Some(0.0), "{gauge} of {counted:?}");
    }
    assert_eq!(of("reply_duration_seconds kind=request"), Some(1.0), "{counted:?}");
    assert_eq!(of("session_disconnected_seconds"), Some(1.0), "{counted:?}");
    assert!(of("bytes_total direction=sent") > Some(0.0) && of("bytes_total direction=received") > Some(0.0));
}
