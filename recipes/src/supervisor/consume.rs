//! A consumer of a queue that outlasts a session.

use super::Supervisor;
use super::held::Held;
use super::hold::{Hold, Session};
use super::keep::{Failure, mends_itself};
use super::policy::Ended;
use super::sessions::Connect;
use crate::parts::select::first;
use crate::queue::{Claimed, Consumer};
use crate::zk::Error;
use futures_util::future::Either;
use std::convert::Infallible;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

impl<C: Connect> Supervisor<C> {
    /// Claims one item of a queue after the other, runs `work` for each, and confirms it. `make` makes the consumer in each
    /// session. `name` stands in logs and in [`NotShutDown`](super::NotShutDown).
    ///
    /// Work for an item is dropped when its session must be taken for lost, by the policy's
    /// [`on_suspect`](super::Policy::on_suspect): the item is delivered again, here or elsewhere
    /// ([`attempts`](Claimed::attempts) counts). Work that fails gives its item back, and ends the call; with
    /// [`OnFailure::GiveBack`](super::OnFailure::GiveBack) it goes on after a pause. An item that can never be worked off is the
    /// work's to recognize, by its attempts, and to put elsewhere.
    ///
    /// With [`OnStop::Wait`](super::OnStop::Wait) the work for an item is not dropped, and the item is confirmed when it is done: what a
    /// service wants that finishes its item at a shutdown. Another item is not claimed then. Between two items nothing is waited
    /// for.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the work, and gives the item back in the background.
    ///
    /// # Errors
    ///
    /// See [`Ended`]. It returns only with one.
    pub async fn consume<W, E>(
        &self,
        name: &str,
        mut make: impl FnMut(&C::Zk) -> Result<Consumer<C::Zk>, Error>,
        work: impl Fn(Held<Claimed<C::Zk>>) -> W,
    ) -> Result<Infallible, Ended<E>>
    where
        W: Future<Output = Result<(), E>>,
    {
        let (work, failures) = (&work, &AtomicU32::new(0));
        let consuming = |session: Held<Session<C::Zk>>| {
            let consumer = make(session.zk());
            async move { self.consuming(&session, consumer.map_err(Failure::Recipe)?, work, failures).await }
        };
        self.keeping(name, failures, Session::ready, consuming).await
    }

    /// In one session.
    async fn consuming<W, E>(
        &self,
        session: &Session<C::Zk>,
        mut consumer: Consumer<C::Zk>,
        work: impl Fn(Held<Claimed<C::Zk>>) -> W,
        failures: &AtomicU32,
    ) -> Result<Option<Infallible>, Failure<E>>
    where
        W: Future<Output = Result<(), E>>,
    {
        loop {
            let must_stop = first(self.shared.stopping(), session.lost());
            let claimed = match first(must_stop, consumer.claim()).await {
                Either::Left(_) => return Ok(None),
                Either::Right(Ok(claimed)) => claimed,
                Either::Right(Err(error)) => {
                    self.survives(session, error).await?;
                    continue;
                }
            };
            let (held, back) = Held::lend(claimed);
            let done = work(held).await;
            let claimed = back.hold().await;
            if let Err(error) = done {
                // What cannot be given back now is in the background.
                let _ = claimed.give_back().await;
                return Err(Failure::Work(error));
            }
            match claimed.done().await {
                Ok(()) => failures.store(0, Ordering::Relaxed),
                // It was delivered again, or will be.
                Err(error) if error.is_claim_lost() => {}
                Err(error) => self.survives(session, error).await?,
            }
        }
    }

    /// Waits after an error of the queue, until another attempt is worth it; if the session is over, until its work must stop.
    async fn survives<E>(&self, session: &Session<C::Zk>, error: Error) -> Result<(), Failure<E>> {
        if error.is_session_over() {
            self.shared.is_over(session.number());
            session.lost().await;
            return Ok(());
        }
        if !mends_itself(&error) {
            return Err(Failure::Recipe(error));
        }
        self.pause_once().await;
        Ok(())
    }
}
