//! Calls that do not wait, on a server that is overloaded and stays so: they end, say why, and leave nothing behind.

use crate::common::{Client, DIRECTORY, Danger, Stage, TIMEOUT, play_storm};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_recipes::zk::{Error, ErrorKind, Runtime};
use zk_recipes::{
    Delivery, DoubleBarrier, DoubleBarrierOptions, Idle, Leave, Order, Priority, PriorityQueue,
    PriorityQueueOptions, Queue, QueueOptions, Reuse, RevocableLock, RevocableLockOptions, Semaphore,
    SemaphoreOptions, SharedLock, SharedLockOptions,
};

/// More refusals than any of these calls could wait for.
const LASTING: u32 = 100_000;

/// Beside the time for which a call asks again: a pause, and the requests themselves.
const MORE: Duration = Duration::from_millis(500);

type Tries = fn(Client) -> BoxFuture<'static, Result<bool, Error>>;

/// Every call that does not wait. Whether it got something; that is given back.
const TRIES: [(&str, Tries); 10] = [
    ("Lock::try_acquire", |a| async move { Ok(a.lock().try_acquire().await?.is_some()) }.boxed()),
    ("SharedLock::try_read", |a| async move { Ok(shared(&a).try_read().await?.is_some()) }.boxed()),
    ("SharedLock::try_write", |a| async move { Ok(shared(&a).try_write().await?.is_some()) }.boxed()),
    ("RevocableLock::try_read", |a| async move { Ok(revocable(&a).try_read().await?.is_some()) }.boxed()),
    ("RevocableLock::try_write", |a| async move { Ok(revocable(&a).try_write().await?.is_some()) }.boxed()),
    ("Semaphore::try_acquire", |a| async move { Ok(slots(&a).try_acquire(2).await?.is_some()) }.boxed()),
    ("Consumer::try_take", |a| async move { taken(queue(&a, Delivery::AtMostOnce)).await }.boxed()),
    ("Consumer::try_claim", |a| async move { claimed(queue(&a, Delivery::AtLeastOnce)).await }.boxed()),
    ("PriorityQueue: try_take", |a| async move { jobs_taken(&a, Delivery::AtMostOnce).await }.boxed()),
    ("PriorityQueue: try_claim", |a| async move { jobs_taken(&a, Delivery::AtLeastOnce).await }.boxed()),
];

fn shared(on: &Client) -> SharedLock<sim_zk::SimClient> {
    SharedLock::new(&on.zk, DIRECTORY, SharedLockOptions::default()).expect("the path is good")
}

fn revocable(on: &Client) -> RevocableLock<sim_zk::SimClient> {
    RevocableLock::new(&on.zk, DIRECTORY, RevocableLockOptions::default()).expect("the path is good")
}

fn slots(on: &Client) -> Semaphore<sim_zk::SimClient> {
    Semaphore::new(&on.zk, "/slots", 3, SemaphoreOptions::default()).expect("the input is good")
}

fn queue(on: &Client, delivery: Delivery) -> Queue<sim_zk::SimClient> {
    let options = QueueOptions::new(delivery).with_idle(Idle::HerdFree);
    let path = if delivery == Delivery::AtMostOnce { "/taken" } else { "/claimed" };
    Queue::new(&on.zk, path, options).expect("the path is good")
}

async fn taken(queue: Queue<sim_zk::SimClient>) -> Result<bool, Error> {
    Ok(queue.consumer().try_take().await?.is_some())
}

async fn claimed(queue: Queue<sim_zk::SimClient>) -> Result<bool, Error> {
    Ok(queue.consumer().try_claim().await?.is_some())
}

fn jobs(on: &Client, delivery: Delivery) -> PriorityQueue<sim_zk::SimClient> {
    let options = PriorityQueueOptions::new(Order::Strict, delivery).with_idle(Idle::HerdFree);
    let path = if delivery == Delivery::AtMostOnce { "/jobs/taken" } else { "/jobs/claimed" };
    PriorityQueue::new(&on.zk, path, options).expect("the path is good")
}

async fn jobs_taken(on: &Client, delivery: Delivery) -> Result<bool, Error> {
    let mut consumer = jobs(on, delivery).consumer();
    match delivery {
        Delivery::AtMostOnce => Ok(consumer.try_take().await?.is_some()),
        Delivery::AtLeastOnce => Ok(consumer.try_claim().await?.is_some()),
    }
}

/// Plays a call whose requests are all refused from the `nth` one on. Whether any was, and what the call came to, after how long.
fn throttled(nth: usize, call: Tries) -> (Result<bool, Error>, Duration, bool) {
    let ((result, took), was_refused) =
        play_storm(Fault::Throttled, nth, LASTING, |stage: Stage, danger: Danger| async move {
            let (a, b) = (stage.founder().await, stage.client("b").await);
            for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
                queue(&b, delivery).producer().put(b"item").await.expect("it is put");
                jobs(&b, delivery).producer().put(Priority(1), b"job").await.expect("it is put");
            }
            danger.begins();
            let begun = a.zk.now();
            let result = call(a.clone()).await;
            let took = a.zk.now().since(begun);
            // Clean-up is refused for a while, too.
            stage.pass(&a, TIMEOUT).await;
            danger.ends();
            stage.pass(&a, TIMEOUT).await;
            a.has_left_nothing(&stage, "after a call that does not wait");
            (result, took)
        });
    (result, took, was_refused)
}

#[test]
fn a_try_ends_with_the_refusal_when_the_overload_lasts() {
    for (name, call) in TRIES {
        let mut refused = 0;
        for nth in 0.. {
            let (result, took, _) = throttled(nth, call);
            match result {
                Ok(_) => break,
                Err(e) => assert!(e.is_retryable_refusal() && !e.is_outcome_unknown(), "{name}, {nth}: {e}"),
            }
            assert!(took >= TIMEOUT / 3, "{name}, {nth}: it asked again for {took:?} only");
            assert!(took <= TIMEOUT / 3 + MORE, "{name}, {nth}: it took {took:?}");
            refused += 1;
        }
        assert!(refused > 0, "{name} has a request that can be refused");
    }
}

#[test]
fn entering_a_double_barrier_keeps_its_limit_when_the_overload_lasts() {
    const WITHIN: Duration = Duration::from_secs(3);
    for nth in 0..8 {
        let ((ended, took), _) =
            play_storm(Fault::Throttled, nth, LASTING, |stage: Stage, danger: Danger| async move {
                let a = stage.founder().await;
                let options = DoubleBarrierOptions::new(2, Reuse::Generations, Leave::Keeper);
                let barrier = DoubleBarrier::new(&a.zk, "/step", options).expect("the input is good");
                danger.begins();
                let begun = a.zk.now();
                let ended = barrier.enter().within(WITHIN).await.map(drop);
                let took = a.zk.now().since(begun);
                stage.pass(&a, TIMEOUT).await;
                danger.ends();
                stage.pass(&a, TIMEOUT).await;
                a.has_left_nothing(&stage, "after the limit");
                (ended, took)
            });
        let error = ended.expect_err("nobody else enters");
        assert!(error.is_timed_out() || error == ErrorKind::ConnectionLoss, "{nth}: {error}");
        assert!(took >= WITHIN && took <= WITHIN + Duration::from_millis(100), "{nth}: it took {took:?}");
    }
}
