//! The recipes of this workspace on its own client, as the README shows them: one client is one session, every call is awaited,
//! guards are released.

use super::ours_queue;
use super::ours_sessions::{SESSION, session, sessions};
use super::shared::{Rounds, all, contention, dropped, lock_cycles, shares};
use super::{Measured, Orders, Task};
use crate::clock::{micros, now, sleep};
use anyhow::{Context, bail};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Barrier, mpsc};
use tokio::task::{JoinSet, block_in_place};
use zk_client::Client;
use zk_recipes::group::{Group, GroupOptions, Membership, Views, WithData};
use zk_recipes::guard::Exclusive;
use zk_recipes::zk::{CreateMode, ZooKeeper};
use zk_recipes::{
    Counter, CounterOptions, DoubleBarrier, DoubleBarrierOptions, Election, ElectionOptions, Freshness,
    Guard, Leave, Lock, LockOptions, Parents, Reuse, Semaphore, SemaphoreOptions, SharedLock,
    SharedLockOptions,
};

/// How often an observer looks.
const LOOK: Duration = Duration::from_millis(5);

/// A client of a semaphore: how many permits there are, how many are held, and how many were granted beyond them.
type Contender = (Semaphore<Client>, usize, Arc<AtomicUsize>, Arc<AtomicUsize>);

/// Does the work of a row.
pub async fn run(task: Task) -> anyhow::Result<()> {
    match task.text("workload")? {
        "requests" => requests(&task).await,
        "lock" => lock(&task).await,
        "hand-over" => hand_over(&task).await,
        "shared-lock" => shared_lock(&task).await,
        "election" => election(&task).await,
        "barrier" => barrier(&task).await,
        "queue" => ours_queue::queue(&task).await,
        "backlog" => ours_queue::backlog(&task).await,
        "counter" => counter(&task).await,
        "semaphore" => semaphore(&task).await,
        "idle" if task.text("recipe")? == "Group" => members(&task).await,
        "idle" => idle(&task).await,
        other => bail!("there is no workload {other}"),
    }
}

async fn only(task: &Task) -> anyhow::Result<Client> {
    session(task.text("connect")?).await
}

/// Waits until so many children stand there, over a session that is not measured.
async fn until_children(observer: &Client, path: &str, count: usize) -> anyhow::Result<()> {
    while observer.exists(path).await?.is_none_or(|stat| (stat.num_children as usize) < count) {
        sleep(LOOK).await;
    }
    Ok(())
}

async fn requests(task: &Task) -> anyhow::Result<()> {
    let zk = only(task).await?;
    let root = task.text("root")?;
    zk.create(root, b"", CreateMode::Persistent).await?;
    let prefix = format!("{root}/n-");
    let cycles = async |count: usize| {
        for _ in 0..count {
            let made = zk.create(&prefix, b"", CreateMode::EphemeralSequential).await?;
            zk.children(root).await?;
            zk.delete(&made.path, None).await?;
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

fn acquire(lock: Lock<Client>) -> BoxFuture<'static, anyhow::Result<Guard<Client, Exclusive>>> {
    async move { Ok(lock.acquire().await?) }.boxed()
}

fn release(held: Guard<Client, Exclusive>) -> BoxFuture<'static, anyhow::Result<()>> {
    async move { Ok(held.release().await.map(drop)?) }.boxed()
}

async fn lock(task: &Task) -> anyhow::Result<()> {
    let zk = only(task).await?;
    let lock = Lock::new(&zk, task.text("root")?, LockOptions::default())?;
    let is_dropped = task.text("recipe")?.ends_with("dropped");
    lock_cycles(task, lock, acquire, if is_dropped { dropped } else { release }).await
}

async fn hand_over(task: &Task) -> anyhow::Result<()> {
    let sessions = sessions(task, task.number("clients")?).await?;
    let root = task.text("root")?;
    let locks = sessions.iter().map(|zk| Lock::new(zk, root, LockOptions::default()));
    let locks: Vec<_> = locks.collect::<Result<_, _>>()?;
    contention(task, &locks, acquire, release).await
}

async fn shared_lock(task: &Task) -> anyhow::Result<()> {
    let (readers, root) = (task.number("clients")?, task.text("root")?.to_owned());
    let settle = task.millis("settle_ms");
    let sessions = sessions(task, readers).await?;
    let (writing, observer) = (only(task).await?, session(task.text("direct")?).await?);
    let of = |zk: &Client| SharedLock::new(zk, &root, SharedLockOptions::default());
    let writer = of(&writing)?;
    let locks: Vec<_> = sessions.iter().map(of).collect::<Result<_, _>>()?;
    let rounds = async |count: usize| {
        let mut latencies = Vec::with_capacity(count);
        for _ in 0..count {
            let held = writer.write().await?;
            let (tell, mut told) = mpsc::unbounded_channel();
            let together = Arc::new(Barrier::new(readers));
            let mut tasks = JoinSet::new();
            for lock in &locks {
                let (lock, tell, together) = (lock.clone(), tell.clone(), together.clone());
                tasks.spawn(async move {
                    let held = lock.read().await?;
                    let _ = tell.send(now());
                    together.wait().await;
                    held.release().await?;
                    Ok(())
                });
            }
            until_children(&observer, &root, readers + 1).await?;
            sleep(settle).await;
            let begun = now();
            held.release().await?;
            all(tasks).await?;
            drop(tell);
            let mut last = begun;
            while let Some(at) = told.recv().await {
                last = last.max(at);
            }
            latencies.push(micros(begun, last));
        }
        anyhow::Ok(latencies)
    };
    rounds(task.number("warm")?).await?;
    let mut orders = Orders;
    while let Some(ops) = block_in_place(|| orders.next()) {
        orders.report(Measured::of("readers in", rounds(ops).await?));
    }
    Ok(())
}

/// The leader's session is closed while its term is held: nothing of the recipe resigns.
async fn election(task: &Task) -> anyhow::Result<()> {
    let (candidates, root) = (task.number("clients")?, task.text("root")?.to_owned());
    let settle = task.millis("settle_ms");
    let recipe = task.text("recipe")?;
    let (acknowledges, watches) = (recipe.ends_with("acknowledged"), recipe.ends_with("watched"));
    let observer = session(task.text("direct")?).await?;
    let (tell, mut told) = mpsc::unbounded_channel();
    let stand = |zk: Client| {
        let (tell, root) = (tell.clone(), root.clone());
        tokio::spawn(async move {
            let term = Election::new(&zk, &root, ElectionOptions::default())?.stand().await?;
            if acknowledges {
                term.acknowledge(b"here").await?;
            }
            let _ = tell.send((zk.clone(), now()));
            if watches {
                term.lost().await;
            }
            while zk.status().over().is_none() {
                zk.changed(zk.status()).await;
            }
            drop(term);
            anyhow::Ok(())
        })
    };
    let mut standing = 0;
    let mut leader = None;
    let mut orders = Orders;
    loop {
        // Those that closed are replaced.
        for zk in sessions(task, candidates - standing).await? {
            stand(zk);
        }
        // The acknowledgement's record is a child as well.
        until_children(&observer, &root, candidates).await?;
        standing = candidates;
        if leader.is_none() {
            leader = told.recv().await;
        }
        sleep(settle).await;
        let Some(ops) = block_in_place(|| orders.next()) else { return Ok(()) };
        let mut latencies = Vec::with_capacity(ops);
        for _ in 0..ops {
            let (zk, _) = leader.take().context("nobody leads")?;
            let begun = now();
            tokio::spawn(async move { zk.close(SESSION).await });
            let (next, at) = told.recv().await.context("nobody leads")?;
            latencies.push(micros(begun, at));
            leader = Some((next, at));
            standing -= 1;
            sleep(settle).await;
        }
        orders.report(Measured::of("fail-over", latencies));
    }
}

async fn barrier(task: &Task) -> anyhow::Result<()> {
    let (participants, root) = (task.number("clients")?, task.text("root")?.to_owned());
    let recipe = task.text("recipe")?;
    let is_reused = recipe.contains("Generations");
    let options = DoubleBarrierOptions::new(
        participants,
        if is_reused { Reuse::Generations } else { Reuse::Once },
        if recipe.contains("Chain") { Leave::Chain } else { Leave::Keeper },
    )
    .with_parents(Parents::Persistent);
    let sessions = sessions(task, participants).await?;
    // Directories above barriers are no part of a round.
    let made = sessions[0].create(&root, b"", CreateMode::Persistent).await;
    made?;
    let reused = sessions.iter().map(|zk| DoubleBarrier::new(zk, &format!("{root}/all"), options.clone()));
    let reused: Vec<_> = reused.collect::<Result<_, _>>()?;
    let mut next = 0;
    let mut rounds = async |count: usize| {
        let first = next;
        next += count;
        let slowest = Arc::new(Rounds::new(2, count));
        let together = Arc::new(Barrier::new(participants));
        let mut tasks = JoinSet::new();
        for (zk, reused) in sessions.iter().zip(&reused) {
            let (zk, reused, root, options) = (zk.clone(), reused.clone(), root.clone(), options.clone());
            let (slowest, together) = (slowest.clone(), together.clone());
            tasks.spawn(async move {
                for round in 0..count {
                    let barrier = match is_reused {
                        true => reused.clone(),
                        false => {
                            DoubleBarrier::new(&zk, &format!("{root}/{}", first + round), options.clone())?
                        }
                    };
                    together.wait().await;
                    let begun = now();
                    let inside = barrier.enter().await?;
                    slowest.took(0, round, micros(begun, now()));
                    together.wait().await;
                    let begun = now();
                    inside.leave().await?;
                    slowest.took(1, round, micros(begun, now()));
                }
                Ok(())
            });
        }
        all(tasks).await?;
        anyhow::Ok(slowest)
    };
    rounds(task.number("warm")?.max(1)).await?;
    let mut orders = Orders;
    while let Some(ops) = block_in_place(|| orders.next()) {
        let slowest = rounds(ops).await?;
        let (enters, leaves) = (slowest.of(0), slowest.of(1));
        let whole = enters.iter().zip(&leaves).map(|(enter, leave)| enter + leave).collect();
        let measured = Measured::of("whole", whole).with("enter", enters).with("leave", leaves);
        orders.report(measured);
    }
    Ok(())
}

/// Clients add one each, as often as each order says. What the count then lacks, or has too much, is a violation.
async fn counter(task: &Task) -> anyhow::Result<()> {
    let root = task.text("root")?;
    let of = |zk: &Client| Counter::new(zk, root, CounterOptions::default());
    let audited = of(&session(task.text("direct")?).await?)?;
    let sessions = sessions(task, task.number("clients")?).await?;
    let counters: Vec<_> = sessions.iter().map(of).collect::<Result<_, _>>()?;
    let add = async |count: usize| {
        shares("add", &counters, count, |counter| async move { Ok(counter.add(1).await.map(drop)?) }.boxed())
            .await
    };
    add(task.number("warm")?).await?;
    let mut orders = Orders;
    while let Some(ops) = block_in_place(|| orders.next()) {
        let before = audited.get(Freshness::Latest).await?;
        let measured = add(ops).await?;
        let added = audited.get(Freshness::Latest).await? - before;
        let wanted = (ops.div_ceil(counters.len()) * counters.len()) as i64;
        orders.report(measured.violations(added.abs_diff(wanted) as usize));
    }
    Ok(())
}

/// Clients acquire one permit and release it, as often as each order says. A permit that is granted while all are held is a
/// violation.
async fn semaphore(task: &Task) -> anyhow::Result<()> {
    let (root, permits) = (task.text("root")?, task.number("permits")?);
    let sessions = sessions(task, task.number("clients")?).await?;
    let (held, violations) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let mut contenders = Vec::with_capacity(sessions.len());
    for zk in &sessions {
        let semaphore = Semaphore::new(zk, root, u32::try_from(permits)?, SemaphoreOptions::default())?;
        contenders.push((semaphore, permits, held.clone(), violations.clone()));
    }
    let cycles = async |count: usize| {
        let cycle = |(semaphore, permits, held, violations): Contender| {
            async move {
                let permit = semaphore.acquire(1).await?;
                if held.fetch_add(1, Ordering::SeqCst) >= permits {
                    violations.fetch_add(1, Ordering::SeqCst);
                }
                held.fetch_sub(1, Ordering::SeqCst);
                permit.release().await?;
                Ok(())
            }
            .boxed()
        };
        shares("whole", &contenders, count, cycle).await
    };
    cycles(task.number("warm")?).await?;
    violations.store(0, Ordering::SeqCst);
    let mut orders = Orders;
    while let Some(ops) = block_in_place(|| orders.next()) {
        let measured = cycles(ops).await?;
        orders.report(measured.violations(violations.swap(0, Ordering::SeqCst)));
    }
    Ok(())
}

/// The first order: so many waiters join. The second: all of them take over and release in turn.
async fn idle(task: &Task) -> anyhow::Result<()> {
    let root = task.text("root")?;
    let (holding, zk) = (session(task.text("direct")?).await?, only(task).await?);
    let of = |zk: &Client| Lock::new(zk, root, LockOptions::default());
    let held = of(&holding)?.acquire().await?;
    let mut orders = Orders;
    let Some(waiters) = block_in_place(|| orders.next()) else { return Ok(()) };
    let begun = now();
    let mut tasks = JoinSet::new();
    for _ in 0..waiters {
        let lock = of(&zk)?;
        tasks.spawn(async move {
            lock.acquire().await?.release().await?;
            Ok(())
        });
    }
    until_children(&holding, root, waiters + 1).await?;
    orders.report(Measured::between(waiters, begun, now()));
    if block_in_place(|| orders.next()).is_none() {
        return Ok(());
    }
    let begun = now();
    held.release().await?;
    all(tasks).await?;
    orders.report(Measured::between(waiters, begun, now()));
    block_in_place(|| orders.next());
    Ok(())
}

/// Members join a group all at once, and leave it, while an observer follows until it has seen all.
async fn members(task: &Task) -> anyhow::Result<()> {
    let root = task.text("root")?;
    let (observing, zk) = (only(task).await?, only(task).await?);
    let of = |zk: &Client| Group::new(zk, root, GroupOptions::default());
    let mut views = of(&observing)?.follow(WithData::No);
    let group = of(&zk)?;
    // Its directory is there.
    group.join(None, b"").await?.leave().await?;
    let mut orders = Orders;
    let Some(count) = block_in_place(|| orders.next()) else { return Ok(()) };
    let begun = now();
    let joining = try_join_all((0..count).map(|number| {
        let group = group.clone();
        async move { group.join(Some(&format!("member-{number:05}")), b"").await }
    }));
    let (members, ()) = tokio::try_join!(joining, until_seen(&mut views, count))?;
    orders.report(Measured::between(count, begun, now()));
    if block_in_place(|| orders.next()).is_none() {
        return Ok(());
    }
    let begun = now();
    let leaving = try_join_all(members.into_iter().map(Membership::leave));
    tokio::try_join!(leaving, until_seen(&mut views, 0))?;
    orders.report(Measured::between(count, begun, now()));
    block_in_place(|| orders.next());
    Ok(())
}

async fn until_seen(views: &mut Views<Client>, count: usize) -> Result<(), zk_recipes::Error> {
    while views.next().await?.members.len() != count {}
    Ok(())
}
