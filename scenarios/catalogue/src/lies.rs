//! Recipes that lie: right recipes, of which one operation now and then answers what is not so.
//!
//! A [`Lie`] says which operation lies, and how; a [`Liar`] tells it in about half of the calls, as its client chooses, so that
//! a run goes on. All other calls are those of the right recipe. For each workload's trait a thin wrapper in `mutants/lies.rs`
//! asks a liar. The names of such mutants say the operation and the lie: `barrier-lower-pretends`.
//!
//! The mutants show that the rules about answers see every operation: AN-1 what is said to be done and is not, AN-2 a reason that
//! never occurred, AN-3 what was done and is said not to be, AN-4 what is done
//! twice. Where another rule names the wrong step as well, the mutant says so.

use crate::prelude::*;
use std::future::{Future, pending, poll_fn};
use std::task::Poll;
use zk_checker::history::Failure;
use zk_harness::operation::is_answered;
use zk_recipes::{Released, Stop};

/// An operation, and how it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lie {
    pub verb: Verb,
    pub how: How,
}

/// How an operation lies. Of several reasons one is drawn in each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It returns done, and does nothing.
    Pretends,
    /// It does its work, and returns an error that says that nothing was done.
    Denies(&'static [Failure]),
    /// It does nothing, and fails for a reason that never occurred.
    Refuses(&'static [Failure]),
    /// It does its work twice.
    Repeats,
    /// It returns done as soon as its first request is answered, and leaves the others out.
    StopsHalfway,
    /// An attempt that does not wait says that there is nothing to get, and asks nobody.
    FindsNothing,
    /// What is given back is said to have lasted until then, whatever has become of it.
    EndsClean,
}

/// A client's recipe that tells a lie.
#[derive(Clone)]
pub(crate) struct Liar<C> {
    client: C,
    lie: &'static Lie,
}

impl<C: Client> Liar<C> {
    pub(crate) fn new(client: &C, lie: &'static Lie) -> Self {
        Liar { client: client.clone(), lie }
    }

    /// Makes a call of the right recipe, or lies. `feigned` is what the caller gets of work that was not done; none if it cannot
    /// be feigned: then the call is a right one.
    ///
    /// `work` must send nothing before it is polled.
    pub(crate) async fn call<T: Send, F: Future<Output = Result<T, Error>> + Send>(
        &self,
        verb: Verb,
        work: impl Fn() -> F + Send,
        feigned: impl FnOnce() -> Option<T> + Send,
    ) -> Result<T, Error> {
        if self.lie.how == How::Repeats && self.lies_in(verb) {
            // What was granted first stays: whoever dropped it would give it back.
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
        if self.lie.how == How::Repeats || !self.lies_in(verb) {
            return work.await;
        }
        match self.lie.how {
            How::Pretends | How::FindsNothing => match feigned() {
                Some(value) => {
                    // A guard in there that was dropped would do in the background what is left undone here.
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
            How::Repeats | How::EndsClean => work.await,
        }
    }

    /// The same for a call that gives something back.
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

    /// The same for what a stream tells next. One that repeats tells once more what it has told.
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

    /// Whether a call lies. A call that is no operation of its client has no answer that is judged.
    pub(crate) fn lies_in(&self, verb: Verb) -> bool {
        verb == self.lie.verb && self.client.op() != 0 && self.client.choose(2) == 1
    }

    /// How its operation lies.
    pub(crate) fn how(&self) -> How {
        self.lie.how
    }

    /// The reason that a lie gives.
    pub(crate) fn reason_of(&self, how: How) -> Error {
        match how {
            How::Denies(reasons) | How::Refuses(reasons) => self.one_of(reasons),
            How::Pretends | How::Repeats | How::StopsHalfway | How::FindsNothing | How::EndsClean => {
                ErrorKind::Unimplemented.into()
            }
        }
    }

    /// Does the work until its first request is answered, and leaves the rest undone for good.
    async fn until_answered<T: Send>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send,
        feigned: T,
    ) -> Result<T, Error> {
        let mut work = Box::pin(work);
        let done = poll_fn(|context| {
            // Before it is polled: what comes next would leave with the poll.
            if is_answered(&self.client) {
                return Poll::Ready(None);
            }
            work.as_mut().poll(context).map(Some)
        })
        .await;
        done.unwrap_or_else(|| {
            // A future that is dropped cleans up in the background, and some finish what they began.
            std::mem::forget(work);
            Ok(feigned)
        })
    }

    fn one_of(&self, reasons: &[Failure]) -> Error {
        error(reasons[self.client.choose(reasons.len() as u32) as usize])
    }
}

/// An error that gives that reason.
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
        // A reason of which no rule can know whether it occurred.
        _ => ErrorKind::Unimplemented.into(),
    }
}

/// Reasons that deny a hold that was granted.
pub(crate) const NOT_HELD: &[Failure] =
    &[Failure::TimedOut, Failure::Removed, Failure::Denied, Failure::Other];

/// Reasons for which a call about a hold may fail, none of which has occurred.
pub(crate) const UNMET_OF_HOLDS: &[Failure] =
    &[Failure::TimedOut, Failure::Removed, Failure::Denied, Failure::ConnectionLoss];

/// A hold of a recipe that lies: of the right recipe, or a feigned one.
pub(crate) struct Hold<C, H> {
    pub liar: Liar<C>,
    pub held: Option<H>,
}

impl<C: Client, H: Held> Hold<C, H> {
    /// A hold that nothing stands for.
    pub(crate) fn feigned(liar: &Liar<C>) -> Option<Self> {
        Some(Hold { liar: liar.clone(), held: None })
    }

    /// A hold of the right recipe.
    pub(crate) fn of(liar: &Liar<C>, held: H) -> Self {
        Hold { liar: liar.clone(), held: Some(held) }
    }
}

impl<C: Client, H: Held> Held for Hold<C, H> {
    fn token(&self) -> i64 {
        self.held.as_ref().map_or(FEIGNED, Held::token)
    }

    fn fence(&self) -> i64 {
        self.held.as_ref().map_or(FEIGNED, Held::fence)
    }

    async fn lost(&self) -> Stop {
        match &self.held {
            Some(held) => held.lost().await,
            None => pending().await,
        }
    }

    async fn release(self) -> Result<Released, Error> {
        let Some(held) = self.held else { return Ok(Released::Clean) };
        self.liar.ends(Verb::Release, held.release(), Released::Clean).await
    }
}

/// Faults that end a session while its client lives: not every hold lasts until it is given back.
pub(crate) const LOSSES: &[Fault] = &[Fault::SessionExpiry, Fault::ClientPartition];

/// A plan with many of them.
pub(crate) fn lossy() -> Plan {
    Plan { clients: 4, rounds: 16, faults: 40, ..Plan::calm().with(LOSSES, 0.1) }
}

/// The token of a feigned hold.
pub(crate) const FEIGNED: i64 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use zk_harness::journal::failure;

    #[test]
    fn each_reason_of_a_lie_is_journaled_as_that_reason() {
        for &reason in Failure::ALL {
            let journaled = failure(&error(reason));
            assert!(journaled == reason || journaled == Failure::Other, "{reason:?} {journaled:?}");
        }
    }
}
