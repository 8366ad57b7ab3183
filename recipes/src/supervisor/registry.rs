//! The calls of a supervisor that have not ended, and its shutdown.

use super::sessions::{Connect, Shared};
use crate::parts::locked::locked;
use crate::parts::select::first;
use crate::zk::{Error, ZooKeeper};
use futures_util::future::Either;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A call that has not ended. Dropped with its work and its hold.
pub(super) struct Call<C: Connect> {
    shared: Arc<Shared<C>>,
    id: u64,
    pub name: String,
}

impl<C: Connect> Drop for Call<C> {
    fn drop(&mut self) {
        self.shared.change(|state| _ = state.calls.remove(&self.id));
    }
}

impl<C: Connect> Shared<C> {
    /// Notes a call.
    pub(super) fn enter(self: &Arc<Self>, name: &str) -> Call<C> {
        let id = self.change(|state| {
            state.next_call += 1;
            state.calls.insert(state.next_call, name.to_owned());
            state.next_call
        });
        Call { shared: self.clone(), id, name: name.to_owned() }
    }

    /// See [`Supervisor::shutdown`](super::Supervisor::shutdown).
    pub(super) async fn shutdown(&self, limit: Duration) -> Result<(), NotShutDown> {
        self.change(|state| state.is_stopping = true);
        let mut over = std::pin::pin!(self.connect.sleep(limit));
        let ended = self.until(|state| state.calls.is_empty().then_some(()));
        if let Either::Right(()) = first(ended, over.as_mut()).await {
            let running = locked(&self.state).calls.values().cloned().collect();
            return Err(NotShutDown { running, close: None });
        }
        let Some(zk) = self.change(|state| state.present.take()) else { return Ok(()) };
        match first(zk.close(limit), over).await {
            Either::Left(Ok(())) => Ok(()),
            Either::Left(Err(error)) => Err(NotShutDown { running: Vec::new(), close: Some(error) }),
            Either::Right(()) => {
                let error = crate::zk::ErrorKind::TimedOut.into();
                Err(NotShutDown { running: Vec::new(), close: Some(error) })
            }
        }
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
