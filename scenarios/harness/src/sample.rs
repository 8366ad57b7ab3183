//! Sample code for the tests of this crate: clients take turns with an ephemeral znode, without waiting.

use crate::client::{Client, SimProcess};
use crate::plan::Plan;
use crate::rounds::{Round, rounds};
use crate::workload::{Stated, Task, Workload};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::SimClient;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, ZooKeeper};

static STATED: Stated = Stated { finishes_within: Duration::from_secs(60), rules: None, sometimes: &[] };

/// The sample under all kinds of fault.
pub static SAMPLE: Workload =
    Workload { plan: Plan::drawn, ..Workload::own("sample", |_, _| Vec::new(), client, &STATED) };

/// The same under another name.
pub static OTHER: Workload =
    Workload { name: "other", ..Workload::own("", |_, _| Vec::new(), client, &STATED) };

/// Finds one of the two by name.
pub fn find(name: &str) -> Option<&'static Workload> {
    [&SAMPLE, &OTHER].into_iter().find(|workload| workload.name == name)
}

fn client(task: Task<SimProcess>) -> BoxFuture<'static, ()> {
    async move {
        let (client, pace) = (&task.client, task.setting.pace);
        let round = |zk: SimClient, _| async move {
            if zk.create("/turn", b"", CreateMode::Ephemeral).await.is_ok() {
                client.sleep(pace.work).await;
                drop(zk.delete("/turn", None).await);
            }
            if zk.status().over().is_some() { Round::Again } else { Round::Over }
        };
        rounds(&task, round).await;
    }
    .boxed()
}
