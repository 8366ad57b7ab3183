//! Scenes of locks and of the election: one holds, another waits, a third gives up, and a fourth comes later.

use super::{Call, PATIENCE, Script};
use crate::common::{Client, DIRECTORY, Stage};
use sim_zk::SimClient;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Op};
use zk_recipes::{
    Election, ElectionOptions, Preempt, Priority, PriorityLock, PriorityLockOptions, RevocableLock,
    RevocableLockOptions, Semaphore, SemaphoreOptions, SharedLock, SharedLockOptions,
};

/// A while in which others come to wait.
const A_WHILE: Duration = Duration::from_millis(100);

async fn three(stage: &Stage) -> [Client; 3] {
    [stage.founder().await, stage.client("b").await, stage.client("c").await]
}

fn write(path: &str) -> Vec<Op> {
    vec![Op::Create { path: path.to_owned(), data: vec![], mode: CreateMode::Persistent }]
}

pub async fn lock(mut script: Script) -> Vec<Call> {
    let [a, b, c] = three(&script.stage).await;
    script.danger.begins();
    let held = script.tell(&a, "acquire", a.lock().acquire()).await;
    let (waits, gives_up) = (b.lock(), c.lock());
    let waiting = b.process.spawn(async move { waits.acquire().await });
    script.stage.pass(&a, A_WHILE).await;
    let gave_up = c.process.spawn(async move { gives_up.acquire().within(A_WHILE).await });
    script.stage.pass(&a, 2 * A_WHILE).await;
    script.tell(&a, "contenders", a.lock().contenders()).await;
    if let Some(held) = held {
        script.tell(&a, "transact", held.transact(write("/one"))).await;
        script.tell(&a, "transact_once", held.transact_once(write("/two"))).await;
        script.tell(&a, "release", held.release()).await;
    }
    let gave_up = gave_up.await.expect("its process lives");
    script.took("acquire, limited", gave_up).into_iter().for_each(drop);
    let held = script.tell(&b, "acquire", async { waiting.await.expect("its process lives") }).await;
    // Dropped: the duty releases it.
    drop(held);
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let held = late.lock().acquire().within(PATIENCE).await.expect("another client gets through");
    held.release().await.expect("it is released");
    script.ends(&[&a, &b, &c, &late], &["/locks", DIRECTORY, "/one", "/two"]).await
}

pub async fn shared(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| {
        SharedLock::new(&on.zk, DIRECTORY, SharedLockOptions::default()).expect("the path is good")
    };
    let [a, b, c] = three(&script.stage).await;
    script.danger.begins();
    let held = script.tell(&a, "write", of(&a).write()).await;
    let (waits, gives_up) = (of(&b), of(&c));
    let waiting = b.process.spawn(async move { waits.read().await });
    script.stage.pass(&a, A_WHILE).await;
    let gave_up = c.process.spawn(async move { gives_up.write().within(A_WHILE).await });
    script.stage.pass(&a, 2 * A_WHILE).await;
    if let Some(held) = held
        && let Some(held) = script.tell(&a, "downgrade", held.downgrade()).await
    {
        script.tell(&a, "release", held.release()).await;
    }
    let gave_up = gave_up.await.expect("its process lives");
    script.took("write, limited", gave_up).into_iter().for_each(drop);
    let held = script.tell(&b, "read", async { waiting.await.expect("its process lives") }).await;
    drop(held);
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let held = of(&late).write().within(PATIENCE).await.expect("another client gets through");
    held.release().await.expect("it is released");
    script.ends(&[&a, &b, &c, &late], &["/locks", DIRECTORY]).await
}

pub async fn revocable(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| {
        RevocableLock::new(&on.zk, DIRECTORY, RevocableLockOptions::default()).expect("the path is good")
    };
    let [a, b, c] = three(&script.stage).await;
    script.danger.begins();
    let held = script.tell(&a, "write", of(&a).write()).await;
    let waits = of(&b);
    let waiting = b.process.spawn(async move { waits.read().await });
    script.stage.pass(&a, A_WHILE).await;
    let contenders = script.tell(&c, "contenders", of(&c).contenders()).await.unwrap_or_default();
    if let (Some(held), Some(holder)) = (held, contenders.first()) {
        script.tell(&c, "ask", of(&c).ask(holder)).await;
        let told = script.stage.pass(&a, PATIENCE);
        let heard = futures_util::future::select(Box::pin(held.revoked()), Box::pin(told)).await;
        drop(heard);
        script.tell(&a, "release", held.release()).await;
    }
    let held = script.tell(&b, "read", async { waiting.await.expect("its process lives") }).await;
    if let (Some(held), Some(holder)) =
        (held, of(&c).contenders().await.ok().as_ref().and_then(|all| all.first()))
    {
        script.tell(&c, "force", of(&c).force(holder, A_WHILE)).await;
        drop(held);
    }
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let held = of(&late).write().within(PATIENCE).await.expect("another client gets through");
    held.release().await.expect("it is released");
    script.ends(&[&a, &b, &c, &late], &["/locks", DIRECTORY]).await
}

pub async fn priority(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| {
        let options = PriorityLockOptions::default().with_preempt(Preempt::Ask);
        PriorityLock::new(&on.zk, DIRECTORY, options).expect("the path is good")
    };
    let [a, b, c] = three(&script.stage).await;
    script.danger.begins();
    let held = script.tell(&a, "write", of(&a).write(Priority(9))).await;
    let (waits, gives_up) = (of(&b), of(&c));
    let waiting = b.process.spawn(async move { waits.write(Priority(1)).await });
    script.stage.pass(&a, A_WHILE).await;
    let gave_up = c.process.spawn(async move { gives_up.read(Priority(5)).within(A_WHILE).await });
    script.stage.pass(&a, 2 * A_WHILE).await;
    if let Some(held) = held {
        script.tell(&a, "release", held.release()).await;
    }
    let gave_up = gave_up.await.expect("its process lives");
    script.took("read, limited", gave_up).into_iter().for_each(drop);
    let held = script.tell(&b, "write", async { waiting.await.expect("its process lives") }).await;
    drop(held);
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let held = of(&late).write(Priority(9)).within(PATIENCE).await.expect("another client gets through");
    held.release().await.expect("it is released");
    script.ends(&[&a, &b, &c, &late], &["/locks", DIRECTORY, "/locks/a/line", "/locks/a/held"]).await
}

pub async fn semaphore(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| {
        Semaphore::new(&on.zk, DIRECTORY, 2, SemaphoreOptions::default()).expect("the input is good")
    };
    let [a, b, c] = three(&script.stage).await;
    script.danger.begins();
    let held = script.tell(&a, "acquire", of(&a).acquire(2)).await;
    let (waits, gives_up) = (of(&b), of(&c));
    let waiting = b.process.spawn(async move { waits.acquire(1).await });
    script.stage.pass(&a, A_WHILE).await;
    let gave_up = c.process.spawn(async move { gives_up.acquire(1).within(A_WHILE).await });
    script.stage.pass(&a, 2 * A_WHILE).await;
    script.tell(&a, "holders", of(&a).holders()).await;
    script.tell(&a, "permits", of(&a).permits()).await;
    if let Some(held) = held {
        script.tell(&a, "transact", held.transact(write("/one"))).await;
        script.tell(&a, "release", held.release()).await;
    }
    let gave_up = gave_up.await.expect("its process lives");
    script.took("acquire, limited", gave_up).into_iter().for_each(drop);
    let held = script.tell(&b, "acquire", async { waiting.await.expect("its process lives") }).await;
    script.tell(&c, "set_permits", of(&c).set_permits(3)).await;
    drop(script.tell(&c, "try_acquire", of(&c).try_acquire(1)).await);
    drop(held);
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let all = of(&late).permits().await.expect("it can be read");
    let held = of(&late).acquire(all).within(PATIENCE).await.expect("another client gets through");
    held.release().await.expect("it is released");
    let stays = ["/locks", DIRECTORY, "/locks/a/line", "/locks/a/held", "/locks/a/held/permits-*", "/one"];
    script.ends(&[&a, &b, &c, &late], &stays).await
}

pub async fn election(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| -> Election<SimClient> {
        Election::new(&on.zk, DIRECTORY, ElectionOptions::default()).expect("the path is good")
    };
    let [a, b, c] = three(&script.stage).await;
    script.danger.begins();
    let term = script.tell(&a, "stand", of(&a).stand()).await;
    let stands = of(&b);
    let waiting = b.process.spawn(async move { stands.stand().await });
    let mut sees = of(&c).follow();
    script.tell(&c, "observe", sees.next()).await;
    script.tell(&c, "candidates", of(&c).candidates()).await;
    if let Some(term) = term {
        script.tell(&a, "acknowledge", term.acknowledge(b"a")).await;
        script.tell(&a, "resign", term.resign()).await;
    }
    let term = script.tell(&b, "stand", async { waiting.await.expect("its process lives") }).await;
    if let Some(term) = term {
        script.tell(&b, "acknowledge", term.acknowledge(b"b")).await;
        // Dropped: the duties take candidate and record away.
        drop(term);
    }
    drop(sees);
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let term = of(&late).stand().within(PATIENCE).await.expect("another client gets through");
    term.acknowledge(b"late").await.expect("it leads");
    term.resign().await.expect("it resigns");
    script.ends(&[&a, &b, &c, &late], &["/locks", DIRECTORY]).await
}
