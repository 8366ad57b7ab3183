//! The handle's own monotonic clock.

use std::time::{Duration, Instant};

use crate::zk::Time;

/// A clock that continues during a suspend, where the operating system has one.
///
/// A session does not wait for a suspended laptop: by a clock that stands still meanwhile, as [`Instant`] does on Linux, a
/// hold would look safe after its session has expired.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Duration,
}

impl Clock {
    pub(super) fn start() -> Clock {
        Clock { start: reading() }
    }

    pub(super) fn now(self) -> Time {
        let since = reading().saturating_sub(self.start);
        Time::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }

    /// The duration until then; zero for the past.
    pub(super) fn until(self, time: Time) -> Option<Duration> {
        (time != Time::NEVER).then(|| time.since(self.now()))
    }
}

#[cfg(target_os = "linux")]
fn reading() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "a real session lives in real time")]
fn reading() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The instant that far away, for timers of the runtime.
#[expect(clippy::disallowed_methods, reason = "a real session lives in real time")]
pub(super) fn instant_in(by: Duration) -> tokio::time::Instant {
    let far = Duration::from_secs(86_400 * 365);
    tokio::time::Instant::from_std(Instant::now() + by.min(far))
}
