//! The crate zookeeper-client, whose only recipe is `Client::lock`. Dropping its guard releases in the background, and nothing
//! says when that is done.

use super::shared::{contention, dropped, lock_cycles};
use super::{Measured, Orders, Task};
use crate::clock::{micros, now, sleep};
use anyhow::{Context, bail};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinSet, block_in_place};
use zookeeper_client::{Acls, Client, CreateMode, LockOptions, LockPrefix, OwnedLockClient};

const SESSION: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(5);

/// Does the work of a row.
pub async fn run(task: Task) -> anyhow::Result<()> {
    match task.text("workload")? {
        "requests" => requests(&task).await,
        "lock" => lock(&task).await,
        "hand-over" => hand_over(&task).await,
        "election" => election(&task).await,
        "idle" => idle(&task).await,
        other => bail!("there is no workload {other}"),
    }
}

async fn session(address: &str) -> anyhow::Result<Client> {
    Ok(Client::connector().with_session_timeout(SESSION).connect(address).await?)
}

async fn only(task: &Task) -> anyhow::Result<Client> {
    session(task.text("connect")?).await
}

async fn acquire(zk: &Client, directory: &str) -> anyhow::Result<OwnedLockClient> {
    let options = LockOptions::new(Acls::anyone_all())
        .with_ancestor_options(CreateMode::Persistent.with_acls(Acls::anyone_all()))?;
    let prefix = LockPrefix::new_curator(directory, "lock-")?;
    Ok(zk.lock(prefix, b"", options).await?.into_owned())
}

async fn until_children(observer: &Client, path: &str, count: usize) -> anyhow::Result<()> {
    while observer.check_stat(path).await?.is_none_or(|stat| (stat.num_children as usize) < count) {
        sleep(LOOK).await;
    }
    Ok(())
}

async fn requests(task: &Task) -> anyhow::Result<()> {
    let zk = only(task).await?;
    let root = task.text("root")?;
    zk.create(root, b"", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await?;
    let prefix = format!("{root}/n-");
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let cycles = async |count: usize| {
        for _ in 0..count {
            let (_, number) = zk.create(&prefix, b"", &options).await?;
            zk.list_children(root).await?;
            zk.delete(&format!("{prefix}{number}"), None).await?;
        }
        anyhow::Ok(())
    };
    cycles(task.number("warm")?).await?;
    let mut orders = Orders;
    while let Some(ops) = block_in_place(|| orders.next()) {
        let begun = now();
        cycles(ops).await?;
        orders.report(Measured::between(ops, begun, now()));
    }
    Ok(())
}

async fn lock(task: &Task) -> anyhow::Result<()> {
    let handle = (only(task).await?, task.text("root")?.into());
    lock_cycles(task, handle, acquire_by, dropped).await
}

async fn hand_over(task: &Task) -> anyhow::Result<()> {
    let root: Arc<str> = task.text("root")?.into();
    let mut handles = Vec::new();
    for _ in 0..task.number("clients")? {
        handles.push((only(task).await?, root.clone()));
    }
    contention(task, &handles, acquire_by, dropped).await
}

/// As [`acquire`], by a session and a directory.
fn acquire_by((zk, root): (Client, Arc<str>)) -> BoxFuture<'static, anyhow::Result<OwnedLockClient>> {
    async move { acquire(&zk, &root).await }.boxed()
}

/// The leader is the holder of a lock. It ends by dropping its guard and its client.
async fn election(task: &Task) -> anyhow::Result<()> {
    let (candidates, root) = (task.number("clients")?, task.text("root")?.to_owned());
    let settle = task.millis("settle_ms");
    let observer = session(task.text("direct")?).await?;
    let (tell, mut told) = mpsc::unbounded_channel();
    let stand = |zk: Client| {
        let (tell, root) = (tell.clone(), root.clone());
        tokio::spawn(async move {
            let held = acquire(&zk, &root).await?;
            let (stop, stopped) = oneshot::channel::<()>();
            let _ = tell.send((stop, now()));
            let _ = stopped.await;
            drop(held);
            drop(zk);
            anyhow::Ok(())
        })
    };
    let (mut standing, mut leader) = (0, None);
    let mut orders = Orders;
    loop {
        for _ in standing..candidates {
            stand(only(task).await?);
        }
        standing = candidates;
        until_children(&observer, &root, candidates).await?;
        if leader.is_none() {
            leader = told.recv().await;
        }
        sleep(settle).await;
        let Some(ops) = block_in_place(|| orders.next()) else { return Ok(()) };
        let mut latencies = Vec::with_capacity(ops);
        for _ in 0..ops {
            let (stop, _): (oneshot::Sender<()>, _) = leader.take().context("nobody leads")?;
            let begun = now();
            let _ = stop.send(());
            let (next, at) = told.recv().await.context("nobody leads")?;
            latencies.push(micros(begun, at));
            leader = Some((next, at));
            standing -= 1;
            sleep(settle).await;
        }
        orders.report(Measured::of("fail-over", latencies));
    }
}

async fn idle(task: &Task) -> anyhow::Result<()> {
    let root: Arc<str> = task.text("root")?.into();
    let (holding, zk) = (session(task.text("direct")?).await?, only(task).await?);
    let held = acquire(&holding, &root).await?;
    let mut orders = Orders;
    let Some(waiters) = block_in_place(|| orders.next()) else { return Ok(()) };
    let begun = now();
    let mut tasks = JoinSet::new();
    for _ in 0..waiters {
        let (zk, root) = (zk.clone(), root.clone());
        tasks.spawn(async move {
            drop(acquire(&zk, &root).await?);
            anyhow::Ok(())
        });
    }
    until_children(&holding, &root, waiters + 1).await?;
    orders.report(Measured::between(waiters, begun, now()));
    if block_in_place(|| orders.next()).is_none() {
        return Ok(());
    }
    let begun = now();
    drop(held);
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    orders.report(Measured::between(waiters, begun, now()));
    block_in_place(|| orders.next());
    Ok(())
}
