//! Waits that end: whoever waits for what will not come any more says so, and fails.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::time::Duration;
use zk_recipes::zk::{Over, State, Status, ZooKeeper};

/// Longer than any of these tests takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// On a runtime of its own.
///
/// # Panics
///
/// If the work does not end.
pub fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    run_on(&runtime, work)
}

/// On that runtime, which outlives the work.
///
/// # Panics
///
/// If the work does not end.
pub fn run_on<T>(runtime: &tokio::runtime::Runtime, work: impl Future<Output = T>) -> T {
    let ended = runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await });
    ended.unwrap_or_else(|_| panic!("the test hangs: it has not ended within {PATIENCE:?}"))
}

/// Waits until a session has a connection of that number, or a later one.
///
/// # Panics
///
/// If the session is over: there will be none.
pub async fn connection(zk: &impl ZooKeeper, number: u32) -> Status {
    let mut status = zk.status();
    while !status.is_connected() || status.connection < number {
        assert_eq!(status.over(), None, "it waits for a connection, and its session is over");
        status = zk.changed(status).await;
    }
    status
}

/// Waits until a session has a connection.
///
/// # Panics
///
/// If the session is over: there will be none.
pub async fn connected(zk: &impl ZooKeeper) -> Status {
    connection(zk, 0).await
}

/// Waits until a session is over, and says why it is.
pub async fn over(zk: &impl ZooKeeper) -> Over {
    let mut status = zk.status();
    loop {
        if let State::Over(over) = status.state {
            return over;
        }
        status = zk.changed(status).await;
    }
}
