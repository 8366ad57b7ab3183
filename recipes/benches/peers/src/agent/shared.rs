//! What the peers in Rust measure alike.

use super::{Measured, Orders, Task};
use crate::clock::{micros, now, sleep};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, block_in_place};

/// Waits for tasks; the first error ends it.
pub async fn all(mut tasks: JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

/// Takes a lock.
type Acquire<L, H> = fn(L) -> BoxFuture<'static, anyhow::Result<H>>;

/// Releases it.
type Release<H> = fn(H) -> BoxFuture<'static, anyhow::Result<()>>;

/// Releases by dropping the guard.
pub fn dropped<H>(held: H) -> BoxFuture<'static, anyhow::Result<()>> {
    drop(held);
    async { Ok(()) }.boxed()
}

/// Takes a lock and releases it, as often as each order says.
pub async fn lock_cycles<L: Clone, H>(
    task: &Task,
    handle: L,
    acquire: Acquire<L, H>,
    release: Release<H>,
) -> anyhow::Result<()> {
    let cycles = async |count: usize| {
        let (mut acquires, mut whole) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let begun = now();
            let held = acquire(handle.clone()).await?;
            acquires.push(micros(begun, now()));
            release(held).await?;
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

/// Lets clients contend for a lock, each with its handle, as often as each order says.
pub async fn contention<L: Clone + Send + 'static, H: Send + 'static>(
    task: &Task,
    handles: &[L],
    acquire: Acquire<L, H>,
    release: Release<H>,
) -> anyhow::Result<()> {
    let (clients, hold) = (handles.len(), task.millis("hold_ms"));
    let hand_overs = Arc::<HandOvers>::default();
    let contend = async |each: usize| {
        let mut tasks = JoinSet::new();
        for handle in handles {
            let (handle, hand_overs) = (handle.clone(), hand_overs.clone());
            tasks.spawn(async move {
                for _ in 0..each {
                    let held = acquire(handle.clone()).await?;
                    hand_overs.entered();
                    if !hold.is_zero() {
                        sleep(hold).await;
                    }
                    hand_overs.leaving();
                    release(held).await?;
                }
                Ok(())
            });
        }
        all(tasks).await
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

/// Lets each client make its share of the operations, one after the other. The latencies are those of a step of that name.
pub async fn shares<L: Clone + Send + 'static>(
    step: &'static str,
    handles: &[L],
    ops: usize,
    act: fn(L) -> BoxFuture<'static, anyhow::Result<()>>,
) -> anyhow::Result<Measured> {
    let each = ops.div_ceil(handles.len());
    let (tell, mut told) = mpsc::unbounded_channel();
    let begun = now();
    let mut tasks = JoinSet::new();
    for handle in handles {
        let (handle, tell) = (handle.clone(), tell.clone());
        tasks.spawn(async move {
            for _ in 0..each {
                let begun = now();
                act(handle.clone()).await?;
                let _ = tell.send(micros(begun, now()));
            }
            Ok(())
        });
    }
    drop(tell);
    all(tasks).await?;
    let ended = now();
    let mut latencies = Vec::with_capacity(each * handles.len());
    while let Some(latency) = told.recv().await {
        latencies.push(latency);
    }
    Ok(Measured::between(each * handles.len(), begun, ended).with(step, latencies))
}

/// The hand-overs of a lock: from the call of a release until the next holder has it.
#[derive(Default)]
pub struct HandOvers {
    inside: AtomicUsize,
    violations: AtomicUsize,
    seen: Mutex<(Option<Instant>, Vec<f64>)>,
}

impl HandOvers {
    /// A client holds the lock.
    pub fn entered(&self) {
        let at = now();
        if self.inside.fetch_add(1, Ordering::SeqCst) != 0 {
            self.violations.fetch_add(1, Ordering::SeqCst);
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(released) = seen.0.take() {
            seen.1.push(micros(released, at));
        }
    }

    /// The holder is about to release.
    pub fn leaving(&self) {
        self.inside.fetch_sub(1, Ordering::SeqCst);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(now());
    }

    /// What was measured since the last call, for that many operations.
    pub fn take(&self, ops: usize) -> Measured {
        let (_, latencies) = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let violations = self.violations.swap(0, Ordering::SeqCst);
        Measured::of("hand-over", latencies).violations(violations).whole(ops)
    }
}

impl Measured {
    /// The rate over the measured latencies stays; requests are counted for all operations.
    fn whole(mut self, ops: usize) -> Measured {
        if self.ops > 0 {
            self.seconds *= ops as f64 / self.ops as f64;
        }
        self.ops = ops;
        self
    }
}

/// The slowest participant of each round, by step.
pub struct Rounds {
    steps: Vec<Mutex<Vec<f64>>>,
}

impl Rounds {
    pub fn new(steps: usize, rounds: usize) -> Rounds {
        Rounds { steps: (0..steps).map(|_| Mutex::new(vec![0.0; rounds])).collect() }
    }

    /// A participant took that long in a round's step.
    pub fn took(&self, step: usize, round: usize, latency: f64) {
        let mut slowest = self.steps[step].lock().unwrap_or_else(PoisonError::into_inner);
        slowest[round] = slowest[round].max(latency);
    }

    /// The slowest of each round.
    pub fn of(&self, step: usize) -> Vec<f64> {
        self.steps[step].lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
