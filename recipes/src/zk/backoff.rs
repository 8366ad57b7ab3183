//! The backoff before the retry of a request that a server has refused.
//!
//! Immediate retries would keep an overloaded server overloaded, so the pause doubles with every retry, up to a quarter of
//! the session timeout. Recipes draw no random numbers, so the session id provides the jitter.

use super::select::first;
use super::{SessionId, Status, ZooKeeper};
use std::time::Duration;

/// The first pause.
const FIRST: Duration = Duration::from_millis(50);

/// Waits before the next retry, after `refused` refusals; ends early at a change of the connection or the session.
pub(crate) async fn back_off<Z: ZooKeeper>(zk: &Z, refused: u32) {
    back_off_on(zk, zk.status(), refused).await;
}

/// As [`back_off`], after refusals on that connection: once there is another one, there is nothing to wait for.
pub(crate) async fn back_off_on<Z: ZooKeeper>(zk: &Z, on: Status, refused: u32) {
    let until = zk.now() + pause(zk.session(), zk.timeout(), refused);
    first(zk.changed(on), zk.sleep_until(until)).await;
}

/// Waits after `denied` refusals by an access list on that connection, which rarely changes: a quarter of the session timeout,
/// doubled up to the whole.
pub(crate) async fn back_off_denied<Z: ZooKeeper>(zk: &Z, on: Status, denied: u32) {
    let until = zk.now() + pause_denied(zk.session(), zk.timeout(), denied);
    first(zk.changed(on), zk.sleep_until(until)).await;
}

fn pause(session: SessionId, timeout: Duration, refused: u32) -> Duration {
    spread(session, doubled(FIRST, refused).min(timeout / 4))
}

fn pause_denied(session: SessionId, timeout: Duration, denied: u32) -> Duration {
    spread(session, doubled(timeout / 4, denied.min(3)))
}

fn doubled(first: Duration, tries: u32) -> Duration {
    first * 2u32.saturating_pow(tries.saturating_sub(1).min(16))
}

/// Jitter: from three quarters of a pause to the whole.
fn spread(session: SessionId, pause: Duration) -> Duration {
    // Multiples of the golden ratio spread consecutive session ids.
    let spread = (session.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    pause * 3 / 4 + pause * spread as u32 / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_quarter_of_the_timeout_and_sessions_differ() {
        let timeout = Duration::from_secs(6);
        let pauses: Vec<u128> = (1..9).map(|n| pause(SessionId(0), timeout, n).as_millis()).collect();
        assert_eq!(pauses, [37, 75, 150, 300, 600, 1125, 1125, 1125]);
        assert!(pause(SessionId(7), timeout, u32::MAX) <= timeout / 4);
        assert_ne!(pause(SessionId(1), timeout, 3), pause(SessionId(2), timeout, 3));
        let denied: Vec<u128> = (1..6).map(|n| pause_denied(SessionId(0), timeout, n).as_millis()).collect();
        assert_eq!(denied, [1125, 2250, 4500, 4500, 4500]);
        assert!(pause_denied(SessionId(7), timeout, u32::MAX) <= timeout);
    }
}
