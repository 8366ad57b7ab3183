//! The crate zookeeper-client, whose only recipe is `Client::lock`. Dropping its guard releases in the background, and nothing
//! says when that is done.

use super::shared::HandOvers;
use super::{Measured, Orders, Task};
use crate::clock::{micros, now, sleep};
use anyhow::{Context, bail};
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
    let zk = only(task).await?;
    let root = task.text("root")?;
    let cycles = async |count: usize| {
        let (mut acquires, mut whole) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let begun = now();
            let held = acquire(&zk, root).await?;
            acquires.push(micros(begun, now()));
            drop(held);
            whole.push(micros(begun, now()));
        }
        anyhow::Ok((acquires, whole))
    };
    cycles(task.number("warm")?).await?;
    let mut orders = Orders;
    while let Some(ops) = block_in_place(|| orders.next()) {
        let begun = now();
        let (acquires, whole) = cycles(ops).await?;
        orders.report(Measured::between(ops, begun, now()).with("acquire", acquires).with("whole", whole));
    }
    Ok(())
}

async fn hand_over(task: &Task) -> anyhow::Result<()> {
    let (clients, hold) = (task.number("clients")?, task.millis("hold_ms"));
    let root: Arc<str> = task.text("root")?.into();
    let mut sessions = Vec::new();
    for _ in 0..clients {
        sessions.push(only(task).await?);
    }
    let hand_overs = Arc::<HandOvers>::default();
    let contend = async |each: usize| {
        let mut tasks = JoinSet::new();
        for zk in &sessions {
            let (zk, root, hand_overs) = (zk.clone(), root.clone(), hand_overs.clone());
            tasks.spawn(async move {
                for _ in 0..each {
                    let held = acquire(&zk, &root).await?;
                    hand_overs.entered();
                    if !hold.is_zero() {
                        sleep(hold).await;
                    }
                    hand_overs.leaving();
                    drop(held);
                }
                anyhow::Ok(())
            });
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        anyhow::Ok(())
    };
    contend(task.number("warm")?.div_ceil(clients)).await?;
    hand_overs.take(0);
    let mut orders = Orders;
    while let Some(ops) = block_in_place(|| orders.next()) {
        contend(ops.div_ceil(clients)).await?;
        orders.report(hand_overs.take(ops.div_ceil(clients) * clients));
    }
    Ok(())
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
