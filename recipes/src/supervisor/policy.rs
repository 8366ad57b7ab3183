//! What a supervisor does when something fails, and how its calls end.

use crate::parts::setters::setters;
use crate::parts::tenure::OnSuspect;
use crate::zk::Error;
use std::any::Any;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The policy of a [`Supervisor`](super::Supervisor).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// What to do when the work returns an error or panics.
    pub on_failure: OnFailure,
    /// What to do with work that must stop.
    pub on_stop: OnStop,
    /// The pauses before the next attempt: of work that has failed, of a recipe that has failed, of a session.
    pub backoff: Backoff,
    /// How many failures in a row end a call; `None`: no number does. Work that is done or has gone on for longer than the longest
    /// pause, a confirmed item, and a new session begin a new row.
    pub max_failures: Option<u32>,
    /// Whether a call whose work is done acquires again: Curator's `LeaderSelector` with `autoRequeue`. Then it returns only
    /// with an [`Ended`].
    pub stands_again: bool,
    /// When the work of [`run`](super::Supervisor::run) and [`consume`](super::Supervisor::consume) must stop. Recipes have an
    /// option of their own.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session that work must stop; `None` for a tenth of the timeout.
    pub margin: Option<Duration>,
    /// How long a call waits until it is certain that a hold is given back; then the rest is left to the background.
    pub give_back_within: Duration,
}

impl Default for Policy {
    /// Work that fails ends its call, work that must stop is dropped; pauses from 100 ms to 10 s, no limit of attempts; stop when
    /// the connection is lost, a tenth of the timeout, five seconds to give back.
    fn default() -> Self {
        Policy {
            on_failure: OnFailure::Return,
            on_stop: OnStop::Drop,
            backoff: Backoff::default(),
            max_failures: None,
            stands_again: false,
            on_suspect: OnSuspect::Stop,
            margin: None,
            give_back_within: Duration::from_secs(5),
        }
    }
}

setters!(Policy {
    with_on_failure(on_failure: OnFailure),
    with_on_stop(on_stop: OnStop),
    with_backoff(backoff: Backoff),
    with_max_failures(max_failures: Option<u32>, into),
    with_stands_again(stands_again: bool),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
    with_give_back_within(give_back_within: Duration),
});

/// What to do when the work returns an error or panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// Give the hold back, and return the failure.
    #[default]
    Return,
    /// Keep the hold, and start the work again after a pause.
    Restart,
    /// Give the hold back, and acquire again after a pause: another client may do better.
    GiveBack,
}

/// What to do with work whose holder must stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnStop {
    /// Drop its future, at once.
    #[default]
    Drop,
    /// Wait until it returns: it asks its hold for the [state](crate::Term::state), or waits for its
    /// [loss](crate::Term::lost), and has to stop in time by itself. Nothing else of the call begins before. Its value counts:
    /// work that returns `Ok` is done.
    Wait,
}

/// Pauses that double, with full jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The longest first pause.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Default for Backoff {
    /// 100 ms, up to 10 s.
    fn default() -> Self {
        Backoff { first: Duration::from_millis(100), longest: Duration::from_secs(10) }
    }
}

impl Backoff {
    /// The pause before an attempt, after `failures` in a row: drawn between zero and a bound that doubles ("Exponential Backoff
    /// And Jitter", AWS Architecture Blog, 2015: full jitter spreads clients best).
    pub(super) fn pause(self, failures: u32, random: u64) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1).min(16)));
        let longest = doubled.min(self.longest);
        let part = (random >> 32) as f64 / f64::from(u32::MAX);
        longest.mul_f64(part)
    }
}

/// Why a call of a supervisor has ended without a value.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ended<E> {
    /// The work has failed, and the policy says to return that.
    Work(E),
    /// The work has panicked, and the policy says to return that.
    Panicked(Panicked),
    /// The recipe has failed for a reason that no repetition mends: bad input, a denied path, a taken name.
    Recipe(Error),
    /// No session can be opened: the credentials are refused, the connect string is bad, or the policy has given up.
    NoSession(Error),
    /// The supervisor was shut down.
    ShutDown,
}

impl<E> Ended<E> {
    /// The same for work of another kind of error.
    pub(super) fn map<F>(self, work: impl FnOnce(E) -> F) -> Ended<F> {
        match self {
            Ended::Work(error) => Ended::Work(work(error)),
            Ended::Panicked(panicked) => Ended::Panicked(panicked),
            Ended::Recipe(error) => Ended::Recipe(error),
            Ended::NoSession(error) => Ended::NoSession(error),
            Ended::ShutDown => Ended::ShutDown,
        }
    }

    /// Nothing, if the supervisor was shut down: what a service wants, whose shutdown is no failure.
    ///
    /// # Errors
    ///
    /// Any other reason.
    pub fn unless_shut_down(self) -> Result<(), Ended<E>> {
        if self.is_shut_down() { Ok(()) } else { Err(self) }
    }

    /// Whether the supervisor was shut down.
    pub fn is_shut_down(&self) -> bool {
        matches!(self, Ended::ShutDown)
    }
}

impl<E: fmt::Display> fmt::Display for Ended<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Work(error) => write!(f, "the work has failed: {error}"),
            Ended::Panicked(panicked) => panicked.fmt(f),
            Ended::Recipe(error) => error.fmt(f),
            Ended::NoSession(error) => write!(f, "no session can be opened: {error}"),
            Ended::ShutDown => f.write_str("the supervisor was shut down"),
        }
    }
}

/// The source is that of the library's errors; the work's own is [`Ended::Work`], and need not be an error type: `anyhow` has one
/// that is none.
impl<E: fmt::Debug + fmt::Display> std::error::Error for Ended<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Ended::Recipe(error) | Ended::NoSession(error) => Some(error),
            Ended::Work(_) | Ended::Panicked(_) | Ended::ShutDown => None,
        }
    }
}

/// Work that has panicked.
pub struct Panicked {
    message: Option<String>,
    /// Behind a lock, so that an error with it can be shared.
    payload: Mutex<Box<dyn Any + Send>>,
}

impl Panicked {
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let message =
            text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).map(str::to_owned);
        Panicked { message, payload: Mutex::new(payload) }
    }

    /// The payload of the panic, for [`std::panic::resume_unwind`].
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.payload.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The message of the panic, if it has one.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }
}

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panicked").field(&self.message()).finish()
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the work has panicked: {}", self.message().unwrap_or("without a message"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_are_drawn_from_zero() {
        let backoff = Backoff::default();
        let longest: Vec<u128> = (0..10).map(|n| backoff.pause(n, u64::MAX).as_millis()).collect();
        assert_eq!(longest, [100, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
        assert_eq!(backoff.pause(u32::MAX, u64::MAX), backoff.longest);
        assert_eq!(backoff.pause(5, 0), Duration::ZERO);
    }
}
