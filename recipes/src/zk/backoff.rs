//! The pause before another try of a request that a server has refused.
//!
//! An overloaded server refuses requests instead of processing them, so clients that ask again at once keep it overloaded.
//! The pause doubles from try to try, up to a quarter of the session timeout. Sessions spread their tries by their numbers:
//! recipes draw no random numbers.

use super::{SessionId, ZooKeeper};
use crate::race::first;
use std::time::Duration;

/// The first pause.
const FIRST: Duration = Duration::from_millis(50);

/// Waits before the next try, after so many refused ones; ends early when the connection or the session does.
pub(crate) async fn back_off<Z: ZooKeeper>(zk: &Z, refused: u32) {
    let until = zk.now() + pause(zk.session(), zk.timeout(), refused);
    first(zk.changed(zk.status()), zk.sleep_until(until)).await;
}

fn pause(session: SessionId, timeout: Duration, refused: u32) -> Duration {
    let doubled = FIRST * 2u32.saturating_pow(refused.saturating_sub(1).min(16));
    let pause = doubled.min(timeout / 4);
    // The golden ratio's multiples spread numbers that follow each other.
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
    }
}
