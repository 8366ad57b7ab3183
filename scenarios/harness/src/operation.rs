//! One operation of a recipe, recorded in the journal from its call to its return.

use crate::client::Client;
use crate::journal::{Journal, failure};
use futures_util::future::{Either, select};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::{Failure, ObjectId, OpId, Outcome, Verb, What};
use zk_recipes::zk::Error;

/// A call of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The object.
    pub object: ObjectId,
    /// The operation.
    pub verb: Verb,
    /// The caller's own time limit, or zero: none.
    pub limit: Duration,
    /// Whether its input is bad and the caller expects a refusal.
    pub is_mistake: bool,
}

impl Call {
    /// A call without a time limit.
    pub fn new(object: ObjectId, verb: Verb) -> Call {
        Call { object, verb, limit: Duration::ZERO, is_mistake: false }
    }

    /// The same call with bad input, which the recipe must refuse.
    #[must_use]
    pub fn by_mistake(self) -> Call {
        Call { is_mistake: true, ..self }
    }

    /// The same call with a time limit.
    #[must_use]
    pub fn within(self, limit: Duration) -> Call {
        Call { limit, ..self }
    }
}

/// How an operation ended.
#[derive(Debug)]
#[must_use]
pub enum Ended<T> {
    /// It succeeded, with this result.
    Done(T),
    /// It failed with this error.
    Failed(Error),
    /// The caller dropped it.
    Cancelled,
}

impl<T> Ended<T> {
    /// The result, if the operation succeeded.
    pub fn done(self) -> Option<T> {
        match self {
            Ended::Done(value) => Some(value),
            Ended::Failed(_) | Ended::Cancelled => None,
        }
    }

    /// Maps the result of an operation that succeeded.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Ended<U> {
        match self {
            Ended::Done(value) => Ended::Done(change(value)),
            Ended::Failed(error) => Ended::Failed(error),
            Ended::Cancelled => Ended::Cancelled,
        }
    }

    /// Whether the caller must begin again after a failure or a drop: only if the session is over.
    pub fn is_session_over(&self) -> bool {
        matches!(self, Ended::Failed(error) if error.is_session_over())
    }

    /// Whether its time limit passed before it was done.
    pub fn is_timed_out(&self) -> bool {
        matches!(self, Ended::Failed(e) if e.is_timed_out())
    }

    fn answer(&self) -> (Outcome, Failure) {
        match self {
            Ended::Done(_) => (Outcome::Done, Failure::None),
            Ended::Failed(error) if error.is_outcome_unknown() => (Outcome::Unknown, failure(error)),
            Ended::Failed(error) => (Outcome::Refused, failure(error)),
            Ended::Cancelled => (Outcome::Cancelled, Failure::None),
        }
    }
}

/// For an operation without arguments that the checker needs.
pub fn nothing(_: &mut Journal, _: u64, _: OpId) {}

/// Makes an operation: call, work, return.
///
/// 1. The journal records the call, and `given`, right after it, the arguments.
/// 2. `work` begins: the requests that it sends from here on belong to the operation.
/// 3. If the client is cancelled, the future is dropped.
/// 4. The journal records how the operation ended.
pub async fn operation<C: Client, T, F: Future<Output = Result<T, Error>>>(
    client: &C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId),
    work: impl FnOnce() -> F,
) -> (OpId, Ended<T>) {
    observed_operation(client, call, given, work, |_, _, _, _: &T| {}).await
}

/// As [`operation`], and `observed` records the result right before the journal records the end.
pub async fn observed_operation<C: Client, T, F: Future<Output = Result<T, Error>>>(
    client: &C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId),
    work: impl FnOnce() -> F,
    observed: impl FnOnce(&mut Journal, u64, OpId, &T),
) -> (OpId, Ended<T>) {
    let op = begin(client, call, given);
    let ended = ended(unless_cancelled(client, work).await);
    if let Ended::Done(value) = &ended {
        client.journal(|journal, at| observed(journal, at, op, value));
    }
    end(client, op, ended.answer());
    (op, ended)
}

/// As [`observed_operation`], and the caller drops the future after waiting for that long.
pub async fn patient_operation<C: Client, T, F: Future<Output = Result<T, Error>>>(
    client: &C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId),
    patience: Duration,
    work: impl FnOnce() -> F,
    observed: impl FnOnce(&mut Journal, u64, OpId, &T),
) -> (OpId, Ended<T>) {
    let op = begin(client, call, given);
    let patient = || async {
        match select(pin!(work()), pin!(client.sleep(patience))).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    };
    let ended = ended(unless_cancelled(client, patient).await.flatten());
    if let Ended::Done(value) = &ended {
        client.journal(|journal, at| observed(journal, at, op, value));
    }
    end(client, op, ended.answer());
    (op, ended)
}

/// As [`operation`], and the caller drops the future when `over` resolves.
pub async fn operation_until<C: Client, T, F: Future<Output = Result<T, Error>>>(
    client: &C,
    call: Call,
    over: impl Future<Output = ()>,
    work: impl FnOnce() -> F,
) -> (OpId, Ended<T>) {
    observed_operation_until(client, call, nothing, over, work, |_, _, _, _: &T| {}).await
}

/// As [`observed_operation`], and the caller drops the future when `over` resolves.
pub async fn observed_operation_until<C: Client, T, F: Future<Output = Result<T, Error>>>(
    client: &C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId),
    over: impl Future<Output = ()>,
    work: impl FnOnce() -> F,
    observed: impl FnOnce(&mut Journal, u64, OpId, &T),
) -> (OpId, Ended<T>) {
    let op = begin(client, call, given);
    let output = match select(pin!(over), pin!(unless_cancelled(client, work))).await {
        Either::Left(_) => None,
        Either::Right((output, _)) => output,
    };
    let ended = ended(output);
    if let Ended::Done(value) = &ended {
        client.journal(|journal, at| observed(journal, at, op, value));
    }
    end(client, op, ended.answer());
    (op, ended)
}

/// As [`operation`], for one that may return `None`, such as a `try_acquire` of a lock that is held: it is recorded as refused.
pub async fn attempt<C: Client, T, F: Future<Output = Result<Option<T>, Error>>>(
    client: &C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId),
    work: impl FnOnce() -> F,
) -> (OpId, Ended<Option<T>>) {
    observed_attempt(client, call, given, work, |_, _, _, _: &T| {}).await
}

/// As [`attempt`], and `observed` records the result, if there is one.
pub async fn observed_attempt<C: Client, T, F: Future<Output = Result<Option<T>, Error>>>(
    client: &C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId),
    work: impl FnOnce() -> F,
    observed: impl FnOnce(&mut Journal, u64, OpId, &T),
) -> (OpId, Ended<Option<T>>) {
    let op = begin(client, call, given);
    let ended = ended(unless_cancelled(client, work).await);
    if let Ended::Done(Some(value)) = &ended {
        client.journal(|journal, at| observed(journal, at, op, value));
    }
    let is_nothing = matches!(ended, Ended::Done(None));
    end(client, op, if is_nothing { (Outcome::Refused, Failure::Nothing) } else { ended.answer() });
    (op, ended)
}

/// Drops a held value: its duty releases it in the background. The call has no answer.
pub fn give_up<C: Client, T>(client: &C, call: Call, given: impl FnOnce(&mut Journal, u64, OpId), held: T) {
    client.journal(|journal, at| {
        let op = journal.call(at, client.number(), call.object, call.verb, 0);
        given(journal, at, op);
        journal.returned(at, client.number(), op, Outcome::Cancelled);
    });
    drop(held);
}

/// Runs work beside the open operation: its requests belong to no operation.
pub async fn in_no_operation<C: Client, T>(client: &C, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let op = client.op();
        client.set_op(0);
        let polled = work.as_mut().poll(context);
        client.set_op(op);
        polled
    })
    .await
}

/// Whether a request of the open operation has been answered.
pub fn is_answered<C: Client>(client: &C) -> bool {
    let op = OpId(client.op());
    client.journal(|journal, _| {
        let events = journal.history().events.iter().rev().filter(|event| event.op == op);
        let mut since_the_call = events.take_while(|event| !matches!(event.what, What::Call { .. }));
        since_the_call.any(|event| matches!(event.what, What::Reply { .. }))
    })
}

fn begin<C: Client>(client: &C, call: Call, given: impl FnOnce(&mut Journal, u64, OpId)) -> OpId {
    let limit = u32::try_from(call.limit.as_micros()).unwrap_or(u32::MAX);
    let op = client.journal(|journal, at| {
        let op = journal.call(at, client.number(), call.object, call.verb, limit);
        if call.is_mistake {
            journal.mistaken(at, client.number(), op);
        }
        given(journal, at, op);
        op
    });
    client.set_op(op.0);
    op
}

fn end<C: Client>(client: &C, op: OpId, (outcome, failure): (Outcome, Failure)) {
    client.journal(|journal, at| journal.returned_for(at, client.number(), op, outcome, failure));
    client.set_op(0);
}

fn ended<T>(output: Option<Result<T, Error>>) -> Ended<T> {
    match output {
        Some(Ok(value)) => Ended::Done(value),
        Some(Err(error)) => Ended::Failed(error),
        None => Ended::Cancelled,
    }
}

/// The output, or `None` if the client was cancelled first; then the future is dropped before this returns.
async fn unless_cancelled<C: Client, F: Future>(client: &C, work: impl FnOnce() -> F) -> Option<F::Output> {
    let cancelled = client.cancelled();
    match select(pin!(cancelled), pin!(work())).await {
        Either::Left(_) => None,
        Either::Right((output, _)) => Some(output),
    }
}
