//! The sessions of a supervisor, one after the other.

use super::hold::Session;
use super::policy::{Ended, Policy};
use crate::observe;
use crate::parts::claim::Claims;
use crate::parts::select::first;
use crate::parts::watched::Watched;
use crate::zk::{Error, Over, SessionId, State, Status, Time, ZooKeeper};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, Shared as SharedFuture, WeakShared};
use futures_util::stream::{Stream, unfold};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Opens sessions, and is what a supervisor has of its process between two of them. `zk_client::Connector` is one, for a real
/// ensemble.
pub trait Connect: Send + Sync + 'static {
    /// The handle of a session.
    type Zk: ZooKeeper;

    /// Opens a session; resolves when it is connected.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`] and [`Error::is_auth_failed`] end the supervisor's calls; after any other error another attempt
    /// follows.
    fn open(&self) -> impl Future<Output = Result<Self::Zk, Error>> + Send + use<Self>;

    /// Waits for `by`.
    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send + use<Self>;

    /// A random number, which spreads the pauses of many clients.
    fn random(&self) -> u64;
}

/// What the clones of a supervisor share.
pub(super) struct Shared<C: Connect> {
    pub connect: Arc<C>,
    pub state: Watched<Sessions<C::Zk>>,
}

type Opening<Z> = BoxFuture<'static, Result<Z, Error>>;

/// The sessions so far.
pub(super) struct Sessions<Z> {
    /// The number of the last session that began.
    number: u32,
    pub present: Option<Z>,
    /// The names that are claimed in it: a claim that was given up is in the way of the next one until it is cleaned up.
    pub claims: Claims,
    /// The attempt to open the next one: its number, and its future, which lives as long as a call waits for it.
    attempt: u64,
    opening: Option<WeakShared<Opening<Z>>>,
    /// Failures of attempts in a row.
    failures: u32,
    pub is_stopping: bool,
    /// The calls that have not ended.
    pub calls: BTreeMap<u64, String>,
    pub next_call: u64,
}

/// Where a call gets its session from.
enum Next<Z> {
    ShutDown,
    Present(Z, u32),
    Opening(SharedFuture<Opening<Z>>, u64),
}

impl<C: Connect> Shared<C> {
    pub(super) fn new(connect: C) -> Self {
        let state = Sessions {
            number: 0,
            present: None,
            claims: Claims::default(),
            attempt: 0,
            opening: None,
            failures: 0,
            is_stopping: false,
            calls: BTreeMap::new(),
            next_call: 0,
        };
        Shared { connect: Arc::new(connect), state: Watched::new(state) }
    }

    /// The claims of the session of that number.
    pub(super) fn claims(&self, number: u32) -> Claims {
        self.state.with(|state| if state.number == number { state.claims.clone() } else { Claims::default() })
    }

    pub(super) fn number(&self) -> u32 {
        self.state.with(|state| state.number)
    }

    /// Resolves when the supervisor is to shut down.
    pub(super) async fn stopping(&self) {
        self.state.until(|state| state.is_stopping.then_some(())).await;
    }

    /// The present session, or the next one.
    pub(super) async fn session(&self, policy: &Policy) -> Result<Session<C::Zk>, Ended<Infallible>> {
        let mut failures = 0;
        loop {
            let next = self.state.with(|state| {
                if state.is_stopping {
                    return Next::ShutDown;
                }
                if let Some(zk) = state.present.as_ref().filter(|zk| zk.status().over().is_none()) {
                    return Next::Present(zk.clone(), state.number);
                }
                let opening = state.opening.as_ref().and_then(WeakShared::upgrade);
                Next::Opening(opening.unwrap_or_else(|| self.begin(state, policy)), state.attempt)
            });
            let (opening, attempt) = match next {
                Next::ShutDown => return Err(Ended::ShutDown),
                Next::Present(zk, number) => {
                    return Ok(Session::new(zk, number, policy.on_suspect, policy.margin));
                }
                Next::Opening(opening, attempt) => (opening, attempt),
            };
            match first(self.stopping(), opening).await {
                Either::Left(()) => return Err(Ended::ShutDown),
                Either::Right(Ok(zk)) => self.opened(attempt, zk),
                Either::Right(Err(error)) => {
                    self.failed(attempt);
                    failures += 1;
                    let gives_up = policy.max_failures.is_some_and(|most| failures >= most);
                    if gives_up || error.is_bad_input() || error.is_auth_failed() {
                        return Err(Ended::NoSession(error));
                    }
                }
            }
        }
    }

    /// Begins an attempt: a pause, unless it is the very first, and a session.
    fn begin(&self, state: &mut Sessions<C::Zk>, policy: &Policy) -> SharedFuture<Opening<C::Zk>> {
        state.attempt += 1;
        let is_first = state.number == 0 && state.failures == 0;
        let pause = (!is_first).then(|| policy.backoff.pause(state.failures, self.connect.random()));
        let connect = self.connect.clone();
        let opening: Opening<C::Zk> = Box::pin(async move {
            if let Some(pause) = pause {
                connect.sleep(pause).await;
            }
            connect.open().await
        });
        let opening = opening.shared();
        state.opening = opening.downgrade();
        opening
    }

    /// The attempt of that number has opened a session. The first call that hears of it is the one that counts.
    fn opened(&self, attempt: u64, zk: C::Zk) {
        self.state.change(|state| {
            if state.attempt == attempt && state.opening.take().is_some() {
                (state.number, state.failures) = (state.number + 1, 0);
                observe::session_began(&zk, state.number);
                (state.present, state.claims) = (Some(zk), Claims::default());
            }
        });
    }

    fn failed(&self, attempt: u64) {
        self.state.change(|state| {
            if state.attempt == attempt && state.opening.take().is_some() {
                state.failures += 1;
            }
        });
    }

    /// An answer has said that the session of that number is over. Its handle may not know it yet.
    pub(super) fn is_over(&self, number: u32) {
        // Dropped outside of the lock: it may be the last handle.
        drop(self.state.change(|state| if state.number == number { state.present.take() } else { None }));
    }
}

/// What happens to the sessions of a supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionChange {
    /// The session of that number has begun.
    Began {
        /// Its number among the sessions of the supervisor, from 1.
        number: u32,
        /// Its id, as ZooKeeper's logs write it.
        id: SessionId,
    },
    /// The connection is lost.
    Suspect {
        /// The session's number.
        number: u32,
        /// Until when the session lives in any case.
        safe_until: Time,
    },
    /// There is a connection again.
    Resumed {
        /// The session's number.
        number: u32,
    },
    /// The session is over.
    Ended {
        /// The session's number.
        number: u32,
        /// The reason.
        why: Over,
    },
}

/// The changes of a supervisor's sessions: see [`Supervisor::changes`](super::Supervisor::changes).
pub struct SessionChanges<C: Connect> {
    shared: Arc<Shared<C>>,
    number: u32,
    present: Option<(C::Zk, Status)>,
}

impl<C: Connect> SessionChanges<C> {
    pub(super) fn new(shared: &Arc<Shared<C>>) -> Self {
        SessionChanges { shared: shared.clone(), number: 0, present: None }
    }

    /// Returns the next change; `None` when the supervisor was shut down and its session is over. A reader that is slow may miss a
    /// change that was taken back, and a session that was short.
    ///
    /// # Cancellation
    ///
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<SessionChange> {
        loop {
            let Some((zk, seen)) = &mut self.present else {
                let before = self.number;
                let next = self.shared.state.until(|state| match &state.present {
                    Some(zk) if state.number > before => Some(Some((state.number, zk.clone()))),
                    None if state.is_stopping => Some(None),
                    _ => None,
                });
                let (number, zk) = next.await?;
                let id = zk.session();
                let seen = Status { state: State::Connected, ..zk.status() };
                (self.number, self.present) = (number, Some((zk, seen)));
                return Some(SessionChange::Began { number, id });
            };
            let status = zk.changed(*seen).await;
            let (number, was) = (self.number, std::mem::replace(seen, status).state);
            match status.state {
                State::Over(why) => {
                    self.present = None;
                    return Some(SessionChange::Ended { number, why });
                }
                state if state == was => {}
                State::Suspended => {
                    return Some(SessionChange::Suspect { number, safe_until: zk.safe_until() });
                }
                State::Connected => return Some(SessionChange::Resumed { number }),
            }
        }
    }

    /// Returns the results of [`next`](Self::next) as a stream.
    pub fn into_stream(self) -> impl Stream<Item = SessionChange> + Send {
        unfold(self, |mut changes| async move { changes.next().await.map(|change| (change, changes)) })
    }
}

impl<C: Connect> fmt::Debug for SessionChanges<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionChanges").field("number", &self.number).finish_non_exhaustive()
    }
}

impl fmt::Display for SessionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionChange::Began { number, id } => write!(f, "session {number} began: {id}"),
            SessionChange::Suspect { number, .. } => {
                write!(f, "session {number} is suspect: the connection is lost")
            }
            SessionChange::Resumed { number } => write!(f, "session {number} resumed"),
            SessionChange::Ended { number, why } => write!(f, "session {number} ended: {why}"),
        }
    }
}
