//! A client's liar: it wraps the right recipe, whose calls it makes or leaves out.

use super::{How, Lie};
use futures_util::future::BoxFuture;
use std::future::{Future, pending, poll_fn};
use std::task::Poll;
use zk_checker::history::{Failure, Verb};
use zk_harness::client::Client;
use zk_harness::holding::Held;
use zk_harness::journal::failure;
use zk_harness::operation::is_answered;
use zk_recipes::zk::{Error, ErrorKind};
use zk_recipes::{Released, Stop};

/// A client's liar.
#[derive(Clone)]
pub(crate) struct Liar<C> {
    client: C,
    lie: &'static Lie,
}

impl<C: Client> Liar<C> {
    pub(crate) fn new(client: &C, lie: &'static Lie) -> Self {
        Liar { client: client.clone(), lie }
    }

    /// A recipe, or a part of one, behind this liar.
    pub(crate) fn over<R>(&self, right: R) -> Lying<C, R> {
        Lying { liar: self.clone(), right }
    }

    /// A stream behind this liar.
    pub(crate) fn follows<S, T>(&self, right: S) -> LyingStream<C, S, T> {
        LyingStream { liar: self.clone(), right, told: None }
    }

    /// Makes a call of the right recipe, or lies. `feigned` is the caller's result for work that was not done; if it
    /// returns none, the call is a right one.
    ///
    /// `work` must send nothing before it is polled.
    pub(crate) async fn call<T: Send, F: Future<Output = Result<T, Error>> + Send>(
        &self,
        verb: Verb,
        work: impl Fn() -> F + Send,
        feigned: impl FnOnce() -> Option<T> + Send,
    ) -> Result<T, Error> {
        if self.lie.how == How::Repeats && self.lies_in(verb) {
            // The first result stays, since dropping it would release it.
            std::mem::forget(work().await?);
            return work().await;
        }
        self.call_once(verb, work(), feigned).await
    }

    /// The same for work that cannot be repeated.
    pub(crate) async fn call_once<T: Send>(
        &self,
        verb: Verb,
        work: impl Future<Output = Result<T, Error>> + Send,
        feigned: impl FnOnce() -> Option<T> + Send,
    ) -> Result<T, Error> {
        let mut feigned = Some(feigned);
        self.call_of(verb, Box::pin(work), &mut || feigned.take().and_then(|feigned| feigned())).await
    }

    /// As [`call_once`](Self::call_once), for work of any type.
    async fn call_of<T: Send>(
        &self,
        verb: Verb,
        work: BoxFuture<'_, Result<T, Error>>,
        feigned: &mut (dyn FnMut() -> Option<T> + Send),
    ) -> Result<T, Error> {
        if self.lie.how == How::Repeats || !self.lies_in(verb) {
            return work.await;
        }
        match self.lie.how {
            How::Pretends | How::FindsNothing => match feigned() {
                Some(value) => {
                    // Dropping a guard inside would do the omitted work in the background.
                    std::mem::forget(work);
                    Ok(value)
                }
                None => work.await,
            },
            How::Denies(reasons) => {
                std::mem::forget(work.await?);
                Err(self.one_of(reasons))
            }
            How::Refuses(reasons) => {
                std::mem::forget(work);
                Err(self.one_of(reasons))
            }
            How::StopsHalfway => match feigned() {
                Some(value) => self.until_answered(work, value).await,
                None => work.await,
            },
            How::Hangs(reason) => {
                let ended = work.await;
                if ended.as_ref().err().map(failure) == reason {
                    std::mem::forget(ended);
                    return pending().await;
                }
                ended
            }
            How::Repeats | How::EndsClean | How::Distorts => work.await,
        }
    }

    /// The same for a call that grants something.
    pub(crate) async fn grants<H: Send, F: Future<Output = Result<H, Error>> + Send>(
        &self,
        verb: Verb,
        work: impl Fn() -> F + Send + Sync,
    ) -> Result<Hold<C, H>, Error> {
        let hold = || async { work().await.map(|held| Hold::of(self, held)) };
        self.call(verb, hold, || Some(Hold::feigned(self))).await
    }

    /// The same for a call that releases something.
    pub(crate) async fn ends<T: Send>(
        &self,
        verb: Verb,
        work: impl Future<Output = Result<T, Error>> + Send,
        clean: T,
    ) -> Result<T, Error> {
        if self.lie.how == How::EndsClean && self.lies_in(verb) {
            return work.await.map(|_| clean);
        }
        self.call_once(verb, work, || Some(clean)).await
    }

    /// The same for the next item of a stream. A stream that repeats returns its last item again.
    pub(crate) async fn next<T: Clone + Send>(
        &self,
        verb: Verb,
        told: &mut Option<T>,
        work: impl Future<Output = Result<T, Error>> + Send,
        feigned: impl FnOnce() -> Option<T> + Send,
    ) -> Result<T, Error> {
        if let Some(again) = told.take_if(|_| self.lie.how == How::Repeats && self.lies_in(verb)) {
            return Ok(again);
        }
        let news = self.call_once(verb, work, feigned).await?;
        Ok(told.insert(news).clone())
    }

    /// Whether a call lies. A call outside its client's operations has no result to judge.
    pub(crate) fn lies_in(&self, verb: Verb) -> bool {
        verb == self.lie.verb && self.client.op() != 0 && self.client.choose(2) == 1
    }

    /// How the operation lies.
    pub(crate) fn how(&self) -> How {
        self.lie.how
    }

    /// The reason of a lie.
    pub(crate) fn reason_of(&self, how: How) -> Error {
        match how {
            How::Denies(reasons) | How::Refuses(reasons) => self.one_of(reasons),
            _ => ErrorKind::Unimplemented.into(),
        }
    }

    /// Polls the work until its first request has a reply, and never resumes it.
    async fn until_answered<T: Send>(
        &self,
        mut work: BoxFuture<'_, Result<T, Error>>,
        feigned: T,
    ) -> Result<T, Error> {
        let done = poll_fn(|context| {
            // Before the poll: a poll would send the next request.
            if is_answered(&self.client) {
                return Poll::Ready(None);
            }
            work.as_mut().poll(context).map(Some)
        })
        .await;
        done.unwrap_or_else(|| {
            // A dropped future cleans up in the background, and some finish what they began.
            std::mem::forget(work);
            Ok(feigned)
        })
    }

    fn one_of(&self, reasons: &[Failure]) -> Error {
        error(reasons[self.client.choose(reasons.len() as u32) as usize])
    }
}

/// An error with that reason.
fn error(reason: Failure) -> Error {
    let named = || "/what/is/named".to_owned();
    match reason {
        Failure::TimedOut => ErrorKind::TimedOut.into(),
        Failure::ConnectionLoss => ErrorKind::ConnectionLoss.into(),
        Failure::Denied => ErrorKind::NoAuth.into(),
        Failure::BadInput => ErrorKind::BadInput("it is said to be bad".to_owned()).into(),
        Failure::NoNode => ErrorKind::NoNode.into(),
        Failure::NodeExists => ErrorKind::NodeExists.into(),
        Failure::BadVersion => ErrorKind::BadVersion.into(),
        Failure::NotEmpty => ErrorKind::NotEmpty.into(),
        Failure::Conflict => ErrorKind::Conflict.into(),
        Failure::Taken => ErrorKind::Taken(named()).into(),
        Failure::Removed => ErrorKind::Removed(named()).into(),
        Failure::Revoked => ErrorKind::Revoked.into(),
        Failure::ClaimLost => ErrorKind::ClaimLost.into(),
        Failure::Late => ErrorKind::Late.into(),
        Failure::NoTransaction => ErrorKind::NoTransaction(named()).into(),
        Failure::AlreadyVoted => ErrorKind::AlreadyVoted.into(),
        // A reason that no rule can refute.
        _ => ErrorKind::Unimplemented.into(),
    }
}

/// A recipe that lies: the right one, behind a liar.
#[derive(Clone)]
pub(crate) struct Lying<C, R> {
    pub liar: Liar<C>,
    pub right: R,
}

/// A stream that lies about what comes next.
pub(crate) struct LyingStream<C, S, T> {
    pub liar: Liar<C>,
    pub right: S,
    /// The last item that it returned.
    pub told: Option<T>,
}

/// The grant of a lying recipe: a hold of the right recipe, or a feigned one.
pub(crate) struct Hold<C, H> {
    pub liar: Liar<C>,
    pub held: Option<H>,
}

impl<C: Client, H> Hold<C, H> {
    /// A hold without a znode.
    pub(crate) fn feigned(liar: &Liar<C>) -> Self {
        Hold { liar: liar.clone(), held: None }
    }

    /// A hold of the right recipe.
    pub(crate) fn of(liar: &Liar<C>, held: H) -> Self {
        Hold { liar: liar.clone(), held: Some(held) }
    }

    /// Awaits an event of the right hold. A feigned hold has no events.
    pub(crate) async fn waits<'a, F: Future>(&'a self, wait: impl FnOnce(&'a H) -> F) -> F::Output {
        match &self.held {
            Some(held) => wait(held).await,
            None => pending().await,
        }
    }
}

impl<C: Client, H: Held> Held for Hold<C, H> {
    fn token(&self) -> i64 {
        let right = self.held.as_ref().filter(|_| self.liar.how() != How::Distorts);
        right.map_or(FEIGNED, Held::token)
    }

    fn fence(&self) -> i64 {
        self.held.as_ref().map_or(FEIGNED, Held::fence)
    }

    async fn lost(&self) -> Stop {
        self.waits(H::lost).await
    }

    async fn release(self) -> Result<Released, Error> {
        let Some(held) = self.held else { return Ok(Released::Clean) };
        self.liar.ends(Verb::Release, held.release(), Released::Clean).await
    }
}

/// The token of a feigned hold.
pub(crate) const FEIGNED: i64 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_of_a_lie_is_journaled_as_that_reason() {
        for &reason in Failure::ALL {
            let journaled = failure(&error(reason));
            assert!(journaled == reason || journaled == Failure::Other, "{reason:?} {journaled:?}");
        }
    }
}
