//! Real time, which a benchmark measures and waits for.

use std::time::{Duration, Instant};

/// The time.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub fn now() -> Instant {
    Instant::now()
}

/// Blocks this thread for that time.
#[expect(clippy::disallowed_methods, reason = "requests in flight are not announced to another process")]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Waits in a task for that time.
#[expect(clippy::disallowed_methods, reason = "a holder does its work in real time")]
pub async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Waits in a task until then.
pub async fn sleep_until(then: Instant) {
    tokio::time::sleep_until(then.into()).await;
}

/// The microseconds between two times.
pub fn micros(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64() * 1e6
}
