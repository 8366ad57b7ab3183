//! The loop below every call of a supervisor: acquire, run the work while it is held, give back.

use super::Supervisor;
use super::held::Held;
use super::hold::{Hold, Session};
use super::policy::{Ended, OnFailure, OnStop, Panicked};
use super::sessions::Connect;
use crate::observe;
use crate::parts::select::first;
use crate::parts::tenure::{LostReason, Stop};
use crate::zk::{Error, Runtime, ZooKeeper};
use futures_util::future::Either;
use futures_util::{FutureExt, TryFutureExt};
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};

/// Why a call's work ends its call, or is repeated.
pub(super) enum Failure<E> {
    /// By the policy.
    Work(E),
    Panicked(Panicked),
    /// Whatever the policy says.
    Recipe(Error),
}

impl<E> Failure<E> {
    /// The reason, unless only the work's own type knows it.
    fn why(&self) -> Option<&dyn fmt::Display> {
        match self {
            Failure::Work(_) => None,
            Failure::Panicked(panicked) => Some(panicked),
            Failure::Recipe(error) => Some(error),
        }
    }
}

impl<E> From<Failure<E>> for Ended<E> {
    fn from(failure: Failure<E>) -> Self {
        match failure {
            Failure::Work(error) => Ended::Work(error),
            Failure::Panicked(panicked) => Ended::Panicked(panicked),
            Failure::Recipe(error) => Ended::Recipe(error),
        }
    }
}

/// How the work of one hold ends.
enum End<T, E> {
    Done(T),
    Lost(LostReason),
    ShutDown,
    Failed(Failure<E>),
}

/// What ends a piece of work from outside.
enum Signal {
    ShutDown,
    Stop(Stop),
}

impl<C: Connect> Supervisor<C> {
    /// Acquires something in one session after the other, and runs `work` while it is held. When the work is done, gives it back
    /// and returns the value. What [`lead`](Self::lead) is for elections, this is for any recipe. `name` stands in logs and in
    /// [`NotShutDown`](super::NotShutDown).
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the work, and then gives back in the background.
    ///
    /// # Errors
    ///
    /// See [`Ended`].
    pub async fn keep<H: Hold, A, W, T, E>(
        &self,
        name: &str,
        mut acquire: impl FnMut(C::Zk) -> A,
        mut work: impl FnMut(Held<H>) -> W,
    ) -> Result<T, Ended<E>>
    where
        A: Future<Output = Result<H, Error>>,
        W: Future<Output = Result<T, E>>,
    {
        let work = move |hold| work(hold).map_ok(Some).map_err(Failure::Work);
        self.keeping(name, &AtomicU32::new(0), move |session| acquire(session.zk().clone()), work).await
    }

    /// The same, of work that knows more of its failures, and returns `None` when it has seen that it must stop. `failures` are
    /// those in a row.
    pub(super) async fn keeping<H: Hold, A, W, T, E>(
        &self,
        name: &str,
        failures: &AtomicU32,
        mut acquire: impl FnMut(Session<C::Zk>) -> A,
        mut work: impl FnMut(Held<H>) -> W,
    ) -> Result<T, Ended<E>>
    where
        A: Future<Output = Result<H, Error>>,
        W: Future<Output = Result<Option<T>, Failure<E>>>,
    {
        // Left last, when the work and the hold are gone.
        let _call = self.shared.enter(name);
        let mut before = 0;
        loop {
            let session =
                self.shared.session(&self.policy).await.map_err(|ended| ended.map(|no| match no {}))?;
            let (number, clock) = (session.number(), session.zk().clone());
            if std::mem::replace(&mut before, number) != number {
                failures.store(0, Ordering::Relaxed);
            }
            let hold = match first(self.shared.stopping(), acquire(session)).await {
                Either::Left(()) => return Err(Ended::ShutDown),
                Either::Right(Ok(hold)) => hold,
                Either::Right(Err(error)) if error.is_session_over() => {
                    self.shared.is_over(number);
                    continue;
                }
                Either::Right(Err(error)) if mends_itself(&error) => {
                    observe::supervised(name, number, "not acquired", Some(&error));
                    self.pause(failures, || Ended::Recipe(error)).await?;
                    continue;
                }
                Either::Right(Err(error)) => return Err(Ended::Recipe(error)),
            };
            observe::supervised(name, number, "work begins", None);
            let begun = clock.now();
            let (held, back) = Held::lend(hold);
            let end = self.works(name, (number, &clock), held, &mut work, failures).await;
            // Nothing else begins before the work is gone, wherever it has taken its hold to.
            let hold = back.hold().await;
            if clock.now().since(begun) > self.policy.backoff.longest {
                failures.store(0, Ordering::Relaxed);
            }
            match end {
                End::Done(value) => {
                    failures.store(0, Ordering::Relaxed);
                    observe::supervised(name, number, "work done", None);
                    // What could not be confirmed is left to the background, as the hold says.
                    let _ = hold.give_back(self.policy.give_back_within).await;
                    if !self.policy.stands_again {
                        return Ok(value);
                    }
                }
                End::Lost(reason) => {
                    observe::supervised(name, number, "hold lost", Some(&reason));
                    drop(hold);
                    if reason == LostReason::SessionOver {
                        self.shared.is_over(number);
                    }
                }
                End::ShutDown => {
                    observe::supervised(name, number, "work stopped", Some(&"shutdown"));
                    return Err(Ended::ShutDown);
                }
                End::Failed(failure) => {
                    let _ = hold.give_back(self.policy.give_back_within).await;
                    match failure {
                        Failure::Recipe(error) => return Err(Ended::Recipe(error)),
                        failure if self.policy.on_failure == OnFailure::Return => return Err(failure.into()),
                        failure => self.pause(failures, || Ended::from(failure)).await?,
                    }
                }
            }
        }
    }

    /// Runs work while a hold lasts, again and again if the policy says so.
    async fn works<H: Hold, W, T, E>(
        &self,
        name: &str,
        (session, zk): (u32, &C::Zk),
        hold: Held<H>,
        work: &mut impl FnMut(Held<H>) -> W,
        failures: &AtomicU32,
    ) -> End<T, E>
    where
        W: Future<Output = Result<Option<T>, Failure<E>>>,
    {
        loop {
            let signal = async || match first(self.shared.stopping(), hold.lost()).await {
                Either::Left(()) => Signal::ShutDown,
                Either::Right(stop) => Signal::Stop(stop),
            };
            let ended = {
                let running = async { work(hold.clone()).await };
                let mut working = pin!(AssertUnwindSafe(running).catch_unwind());
                match first(signal(), working.as_mut()).await {
                    Either::Right(output) => Either::Right(output),
                    Either::Left(signal) if self.policy.on_stop == OnStop::Wait => match working.await {
                        Ok(Ok(Some(value))) => return End::Done(value),
                        Ok(Ok(None) | Err(_)) | Err(_) => Either::Left(signal),
                    },
                    Either::Left(signal) => Either::Left(signal),
                }
                // Here the work is dropped, before anything else begins.
            };
            // Work that has failed because its hold is lost, or may be, is not at fault.
            let ended = match ended {
                Either::Right(Ok(Err(Failure::Work(error)))) => match hold.lost().now_or_never() {
                    Some(stop) => Either::Left(Signal::Stop(stop)),
                    None => Either::Right(Ok(Err(Failure::Work(error)))),
                },
                Either::Right(Ok(Ok(None))) => match signal().now_or_never() {
                    Some(signal) => Either::Left(signal),
                    None => Either::Right(Ok(Ok(None))),
                },
                ended => ended,
            };
            let failure = match ended {
                Either::Left(Signal::ShutDown) => return End::ShutDown,
                Either::Left(Signal::Stop(Stop::Lost(reason))) => return End::Lost(reason),
                Either::Left(Signal::Stop(stop @ Stop::Suspect { .. })) => {
                    observe::supervised(name, session, "work stopped", Some(&stop));
                    match first(self.shared.stopping(), hold.resumed()).await {
                        Either::Left(()) => return End::ShutDown,
                        Either::Right(Err(reason)) => return End::Lost(reason),
                        Either::Right(Ok(())) => {
                            observe::supervised(name, session, "work begins again", None);
                            continue;
                        }
                    }
                }
                Either::Right(Ok(Ok(Some(value)))) => return End::Done(value),
                // The connection is there again.
                Either::Right(Ok(Ok(None))) => continue,
                Either::Right(Ok(Err(failure))) => failure,
                Either::Right(Err(payload)) => Failure::Panicked(Panicked::new(payload)),
            };
            if !matches!(failure, Failure::Recipe(_)) && self.has_ended(zk).await {
                return End::Lost(LostReason::SessionOver);
            }
            observe::supervised(name, session, "work failed", failure.why());
            if self.policy.on_failure != OnFailure::Restart || matches!(failure, Failure::Recipe(_)) {
                return End::Failed(failure);
            }
            // The hold may be lost meanwhile.
            let paused = first(self.pause(failures, || failure), hold.lost());
            match paused.await {
                Either::Left(Ok(())) | Either::Right(Stop::Suspect { .. }) => {}
                Either::Left(Err(failure)) => return End::Failed(failure),
                Either::Right(Stop::Lost(reason)) => return End::Lost(reason),
            }
        }
    }

    /// Whether a session has ended, by an answer: its status may not say so yet, and work that has failed is not at fault then.
    async fn has_ended(&self, zk: &C::Zk) -> bool {
        if !zk.status().is_connected() {
            return false;
        }
        let answer = first(self.shared.stopping(), zk.exists("/")).await;
        matches!(answer, Either::Right(Err(error)) if error.is_session_over())
    }

    /// Waits before a request that may succeed later is made again. No failure of the work.
    pub(super) async fn pause_once(&self) {
        let pause = self.policy.backoff.pause(1, self.shared.connect.random());
        self.shared.connect.sleep(pause).await;
    }

    /// Waits before the next attempt after a failure.
    ///
    /// # Errors
    ///
    /// What `failed` makes, when the policy has given up.
    async fn pause<F>(&self, failures: &AtomicU32, failed: impl FnOnce() -> F) -> Result<(), F> {
        let row = failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if self.policy.max_failures.is_some_and(|most| row >= most) {
            return Err(failed());
        }
        let pause = self.policy.backoff.pause(row, self.shared.connect.random());
        first(self.shared.stopping(), self.shared.connect.sleep(pause)).await;
        Ok(())
    }
}

/// Whether a recipe that fails so may succeed later, without anybody's help.
pub(super) fn mends_itself(error: &Error) -> bool {
    error.is_transient() || error.is_removed() || error.is_unreachable() || error.is_outcome_unknown()
}
