//! The handle's own monotonic clock.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

use zk_recipes::zk::Time;

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

/// A timer by the handle's clock. Within a runtime with I/O and time.
///
/// Where the clock goes on during a suspend, so does the timer: it is due when the machine resumes. Without a descriptor to be
/// had it is as late as the suspend was long.
pub(super) struct Timer {
    clock: Clock,
    sleep: Pin<Box<Sleep>>,
    #[cfg(target_os = "linux")]
    descriptor: Option<boot_timer::Descriptor>,
    armed: Time,
}

impl Timer {
    pub(super) fn new(clock: Clock) -> Timer {
        Timer {
            clock,
            sleep: Box::pin(tokio::time::sleep_until(instant_in(Duration::ZERO))),
            #[cfg(target_os = "linux")]
            descriptor: boot_timer::Descriptor::new(),
            armed: Time::NEVER,
        }
    }

    /// Ready when that instant has come.
    pub(super) fn poll(&mut self, until: Time, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(rest) = self.clock.until(until) else { return Poll::Pending };
            if rest.is_zero() {
                return Poll::Ready(());
            }
            let is_armed = std::mem::replace(&mut self.armed, until) == until;
            #[cfg(target_os = "linux")]
            if let Some(descriptor) = &self.descriptor {
                if is_armed || descriptor.arm(self.clock.start + Duration::from_micros(until.as_micros())) {
                    ready!(descriptor.poll(context));
                    self.armed = Time::NEVER;
                    continue;
                }
                self.descriptor = None;
            }
            if !is_armed {
                self.sleep.as_mut().reset(instant_in(rest));
            }
            ready!(self.sleep.as_mut().poll(context));
            self.armed = Time::NEVER;
        }
    }
}

/// A timer of Linux that goes on during a suspend (`timerfd_create`, `CLOCK_BOOTTIME`).
#[cfg(target_os = "linux")]
mod boot_timer {
    use std::os::fd::OwnedFd;
    use std::task::{Context, Poll, ready};
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::unix::AsyncFd;

    pub(super) struct Descriptor(AsyncFd<OwnedFd>);

    impl Descriptor {
        #[allow(deprecated, reason = "the name that replaces `AsyncFd::new` needs the newest tokio")]
        pub(super) fn new() -> Option<Descriptor> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Boottime, flags).ok()?;
            AsyncFd::new(timer).ok().map(Descriptor)
        }

        /// By the reading of the clock. Returns whether it could be done.
        pub(super) fn arm(&self, at: Duration) -> bool {
            let none = Timespec { tv_sec: 0, tv_nsec: 0 };
            let at = Timespec {
                tv_sec: i64::try_from(at.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: at.subsec_nanos().into(),
            };
            let new = Itimerspec { it_interval: none, it_value: at };
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::ABSTIME, &new).is_ok()
        }

        /// Ready when it went off.
        pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
            loop {
                let Ok(mut guard) = ready!(self.0.poll_read_ready(context)) else { return Poll::Ready(()) };
                if rustix::io::read(self.0.get_ref(), &mut [0; 8]).is_ok() {
                    return Poll::Ready(());
                }
                // It was armed anew in between.
                guard.clear_ready();
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::os::fd::AsRawFd;

        /// The kernel wakes who sleeps by this clock when the machine resumes.
        #[test]
        fn a_timer_goes_on_while_the_machine_is_suspended() {
            const BOOTTIME: &str = "clockid: 7";
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
            let _entered = runtime.enter();
            let timer = Descriptor::new().expect("there is a timer");
            let path = format!("/proc/self/fdinfo/{}", timer.0.get_ref().as_raw_fd());
            let told = std::fs::read_to_string(path).expect("Linux tells");
            assert!(told.lines().any(|line| line == BOOTTIME), "{told}");
        }
    }
}
