//! The calls of a supervisor that have not ended, and its shutdown.

use super::sessions::{Connect, Shared};
use crate::parts::select::first;
use crate::zk::{Error, Runtime, ZooKeeper};
use futures_util::future::Either;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A call that has not ended. Dropped with its work and its hold.
pub(super) struct Call<C: Connect> {
    shared: Arc<Shared<C>>,
    id: u64,
}

impl<C: Connect> Drop for Call<C> {
    fn drop(&mut self) {
        self.shared.state.change(|state| _ = state.calls.remove(&self.id));
    }
}

impl<C: Connect> Shared<C> {
    /// Notes a call.
    pub(super) fn enter(self: &Arc<Self>, name: &str) -> Call<C> {
        let id = self.state.change(|state| {
            state.next_call += 1;
            state.calls.insert(state.next_call, name.to_owned());
            state.next_call
        });
        Call { shared: self.clone(), id }
    }

    /// See [`Supervisor::shutdown`](super::Supervisor::shutdown).
    pub(super) async fn shutdown(&self, limit: Duration) -> Result<(), NotShutDown> {
        let now = |zk: &C::Zk| zk.now() + limit;
        let until = self.state.change(|state| {
            state.is_stopping = true;
            state.present.as_ref().map(now)
        });
        let ended = self.state.until(|state| state.calls.is_empty().then_some(()));
        if let Either::Right(()) = first(ended, self.connect.sleep(limit)).await {
            let running = self.state.with(|state| state.calls.values().cloned().collect());
            return Err(NotShutDown { running, close: None });
        }
        let Some(zk) = self.state.change(|state| state.present.take()) else { return Ok(()) };
        let left = until.map_or(limit, |until| until.since(zk.now()));
        zk.close(left).await.map_err(|error| NotShutDown { running: Vec::new(), close: Some(error) })
    }
}

/// What a shutdown could not end within its limit.
#[derive(Clone, Debug)]
pub struct NotShutDown {
    running: Vec<String>,
    close: Option<Error>,
}

impl NotShutDown {
    /// The names of the calls that have not ended, in the order in which they began. The session stays open, and with it what
    /// they hold.
    pub fn running(&self) -> &[String] {
        &self.running
    }

    /// Why the close of the session was not confirmed: its znodes go when it expires, at the latest.
    pub fn close(&self) -> Option<&Error> {
        self.close.as_ref()
    }
}

impl fmt::Display for NotShutDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.close {
            Some(error) => write!(f, "the close of the session was not confirmed: {error}"),
            None => write!(f, "still running: {}", self.running.join(", ")),
        }
    }
}

impl std::error::Error for NotShutDown {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.close.as_ref().map(|error| error as _)
    }
}

impl From<NotShutDown> for Error {
    fn from(not: NotShutDown) -> Error {
        not.close.clone().unwrap_or_else(|| Error::from(crate::zk::ErrorKind::TimedOut).caused_by(not))
    }
}
