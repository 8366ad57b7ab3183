//! What a supervisor keeps: something held in one session, until it is lost or given back.

use crate::election::Term;
use crate::group::Membership;
use crate::guard::{Guard, Mode};
use crate::names::Registration;
use crate::parts::select::first;
use crate::parts::tenure::{HoldState, LostReason, OnSuspect, Released, Stop, margin_in};
use crate::zk::{Error, ErrorKind, Over, State, Time, ZooKeeper};
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::time::Duration;

/// Something that is held in one session. The guards of this crate are; implement it for a hold of your own.
pub trait Hold: Send + Sync {
    /// Resolves when its work must stop. Cancel-safe.
    fn lost(&self) -> impl Future<Output = Stop> + Send;

    /// Resolves after [`Stop::Suspect`], when it is confirmed to be held.
    ///
    /// # Errors
    ///
    /// The reason, when it is lost.
    fn resumed(&self) -> impl Future<Output = Result<(), LostReason>> + Send;

    /// Gives it back, and waits until that is certain, or for `limit`: then the rest is left to the background.
    ///
    /// # Errors
    ///
    /// As the release of the recipe.
    fn give_back(self, limit: Duration) -> impl Future<Output = Result<Released, Error>> + Send;
}

macro_rules! holds {
    ($($hold:ident<Z $(, $mode:ident: $bound:ident)?> by $give_back:ident,)*) => {$(
        impl<Z: ZooKeeper $(, $mode: $bound)?> Hold for $hold<Z $(, $mode)?> {
            async fn lost(&self) -> Stop {
                $hold::lost(self).await
            }

            async fn resumed(&self) -> Result<(), LostReason> {
                $hold::resumed(self).await
            }

            async fn give_back(self, limit: Duration) -> Result<Released, Error> {
                self.$give_back().within(limit).await
            }
        }
    )*};
}

holds! {
    Guard<Z, M: Mode> by release,
    Term<Z> by resign,
    Membership<Z> by leave,
    Registration<Z> by release,
}

/// One of the sessions of a supervisor. It dereferences to the session's handle, from which recipes are made.
pub struct Session<Z> {
    zk: Z,
    number: u32,
    on_suspect: OnSuspect,
    margin: Option<Duration>,
}

impl<Z: ZooKeeper> Session<Z> {
    pub(super) fn new(zk: Z, number: u32, on_suspect: OnSuspect, margin: Option<Duration>) -> Self {
        Session { zk, number, on_suspect, margin }
    }

    /// Returns its handle.
    pub fn zk(&self) -> &Z {
        &self.zk
    }

    /// Returns its number among the sessions of its supervisor, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns whether the session lives, as a hold of it would say. Sends nothing.
    pub fn state(&self) -> HoldState {
        let (status, until) = (self.zk.status(), self.until());
        match status.state {
            State::Over(_) => HoldState::Lost(LostReason::SessionOver),
            _ if self.zk.now() >= until => HoldState::Lost(LostReason::DeadlinePassed),
            _ if status.is_connected() => HoldState::Held,
            _ => HoldState::Suspect { until },
        }
    }

    /// When its work must have stopped, unless a server answers before.
    fn until(&self) -> Time {
        let margin = self.margin.unwrap_or_else(|| self.zk.timeout() / 10);
        self.zk.safe_until().before(margin)
    }

    /// The session, once its work may begin.
    ///
    /// # Errors
    ///
    /// As of any hold: a margin that an idle session could not keep is refused.
    pub(super) async fn ready(self) -> Result<Self, Error> {
        margin_in(&self.zk, self.margin)?;
        match self.resumed().await {
            Ok(()) => Ok(self),
            // A session that its user closes answers nothing, and is not over before the close has ended.
            Err(_) => {
                Err(self.zk.status().over().unwrap_or_else(|| ErrorKind::SessionOver(Over::Closed).into()))
            }
        }
    }

    async fn next_news(&self) {
        first(self.zk.changed(self.zk.status()), self.zk.sleep_until(self.until())).await;
    }
}

impl<Z: ZooKeeper> Hold for Session<Z> {
    async fn lost(&self) -> Stop {
        loop {
            match self.state() {
                HoldState::Lost(reason) => return Stop::Lost(reason),
                HoldState::Suspect { until } if self.on_suspect == OnSuspect::Stop => {
                    return Stop::Suspect { until };
                }
                _ => self.next_news().await,
            }
        }
    }

    /// A session whose deadline has passed may live: it is over when a server says so.
    async fn resumed(&self) -> Result<(), LostReason> {
        loop {
            let status = self.zk.status();
            match status.state {
                State::Over(_) => return Err(LostReason::SessionOver),
                _ if self.state() == HoldState::Held => return Ok(()),
                // Any answer says that it lives, after a pause of this process, for example.
                State::Connected => match self.zk.exists("/").await {
                    Err(error) if error.is_session_over() => return Err(LostReason::SessionOver),
                    Err(error) if error.is_connection_loss() && self.zk.status() == status => {
                        self.zk.changed(status).await;
                    }
                    _ => {}
                },
                State::Suspended => _ = self.zk.changed(status).await,
            }
        }
    }

    async fn give_back(self, _: Duration) -> Result<Released, Error> {
        Ok(Released::Clean)
    }
}

impl<Z> Deref for Session<Z> {
    type Target = Z;

    fn deref(&self) -> &Z {
        &self.zk
    }
}

impl<Z: ZooKeeper> fmt::Debug for Session<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("number", &self.number).field("id", &self.zk.session()).finish()
    }
}
