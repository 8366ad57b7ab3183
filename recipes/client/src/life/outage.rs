//! A time without a connection, which may last over several sessions: what was told of it is not told anew by the next one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::MAX_SILENCE;
use crate::attempts::replace;
use crate::clock::Clock;
use zk_recipes::zk::{ConnectFailure, Time};

/// The longest silence about a new outage.
const FIRST_SILENCE: Duration = Duration::from_secs(1);

/// Shared by the sessions of one [`Connector`](crate::Connector).
#[derive(Clone, Debug)]
pub(crate) struct Outage {
    clock: Clock,
    told: Arc<Mutex<Option<Told>>>,
}

#[derive(Debug)]
struct Told {
    since: Time,
    /// When it is told next.
    next: Time,
    /// What was told of the servers.
    failures: Vec<ConnectFailure>,
    /// No session could be opened in it, and that was told.
    has_refused: bool,
}

impl Default for Outage {
    fn default() -> Self {
        Outage { clock: Clock::start(), told: Arc::default() }
    }
}

impl Outage {
    fn told(&self) -> MutexGuard<'_, Option<Told>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection was lost, or a session begins without one: then an outage goes on.
    pub(super) fn begins(&self) {
        let since = self.clock.now();
        let new = || Told { since, next: since + FIRST_SILENCE, failures: Vec::new(), has_refused: false };
        self.told().get_or_insert_with(new);
    }

    /// There is a connection.
    pub(super) fn ends(&self) {
        *self.told() = None;
    }

    /// How long it has lasted, if it is to be told now.
    pub(super) fn is_due(&self) -> Option<Duration> {
        let (now, mut told) = (self.clock.now(), self.told());
        let told = told.as_mut().filter(|told| now >= told.next)?;
        let lasts = now.since(told.since);
        told.next = now + lasts.clamp(FIRST_SILENCE, MAX_SILENCE);
        Some(lasts)
    }

    /// Whether this was not told yet.
    pub(super) fn is_news(&self, failure: &ConnectFailure) -> bool {
        self.told().as_mut().is_none_or(|told| replace(&mut told.failures, failure))
    }

    /// No session could be opened: whether that was not told yet.
    pub(super) fn is_first_refusal(&self) -> bool {
        self.told().as_mut().is_none_or(|told| !std::mem::replace(&mut told.has_refused, true))
    }
}
