//! One operation of a recipe, recorded in the journal from its call to its return.

use crate::client::Client;
use crate::journal::{Journal, failure};
use futures_util::future::BoxFuture;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};
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
pub fn operation<'a, C: Client, T: Send + 'a, F: Future<Output = Result<T, Error>> + Send + 'a>(
    client: &'a C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId) + Send + 'a,
    work: impl FnOnce() -> F + Send + 'a,
) -> BoxFuture<'a, (OpId, Ended<T>)> {
    observed_operation(client, call, given, work, unobserved)
}

/// As [`operation`], and `observed` records the result right before the journal records the end.
pub fn observed_operation<'a, C: Client, T: Send + 'a, F: Future<Output = Result<T, Error>> + Send + 'a>(
    client: &'a C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId) + Send + 'a,
    work: impl FnOnce() -> F + Send + 'a,
    observed: impl FnOnce(&mut Journal, u64, OpId, &T) + Send + 'a,
) -> BoxFuture<'a, (OpId, Ended<T>)> {
    Parts::new(given, work, observed).run(client, call, Patience::Endless)
}

/// As [`observed_operation`], and the caller drops the future after waiting for that long.
pub fn patient_operation<'a, C: Client, T: Send + 'a, F: Future<Output = Result<T, Error>> + Send + 'a>(
    client: &'a C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId) + Send + 'a,
    patience: Duration,
    work: impl FnOnce() -> F + Send + 'a,
    observed: impl FnOnce(&mut Journal, u64, OpId, &T) + Send + 'a,
) -> BoxFuture<'a, (OpId, Ended<T>)> {
    Parts::new(given, work, observed).run(client, call, Patience::For(patience))
}

/// As [`operation`], and the caller drops the future when `over` resolves.
pub fn operation_until<'a, C: Client, T: Send + 'a, F: Future<Output = Result<T, Error>> + Send + 'a>(
    client: &'a C,
    call: Call,
    over: impl Future<Output = ()> + Send + 'a,
    work: impl FnOnce() -> F + Send + 'a,
) -> BoxFuture<'a, (OpId, Ended<T>)> {
    observed_operation_until(client, call, nothing, over, work, unobserved)
}

/// As [`observed_operation`], and the caller drops the future when `over` resolves.
pub fn observed_operation_until<
    'a,
    C: Client,
    T: Send + 'a,
    F: Future<Output = Result<T, Error>> + Send + 'a,
>(
    client: &'a C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId) + Send + 'a,
    over: impl Future<Output = ()> + Send + 'a,
    work: impl FnOnce() -> F + Send + 'a,
    observed: impl FnOnce(&mut Journal, u64, OpId, &T) + Send + 'a,
) -> BoxFuture<'a, (OpId, Ended<T>)> {
    Parts::new(given, work, observed).run(client, call, Patience::Until(Box::pin(over)))
}

/// As [`operation`], for one that may return `None`, such as a `try_acquire` of a lock that is held: it is recorded as refused.
pub fn attempt<'a, C: Client, T: Send + 'a, F: Future<Output = Result<Option<T>, Error>> + Send + 'a>(
    client: &'a C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId) + Send + 'a,
    work: impl FnOnce() -> F + Send + 'a,
) -> BoxFuture<'a, (OpId, Ended<Option<T>>)> {
    observed_attempt(client, call, given, work, unobserved)
}

/// As [`attempt`], and `observed` records the result, if there is one.
pub fn observed_attempt<
    'a,
    C: Client,
    T: Send + 'a,
    F: Future<Output = Result<Option<T>, Error>> + Send + 'a,
>(
    client: &'a C,
    call: Call,
    given: impl FnOnce(&mut Journal, u64, OpId) + Send + 'a,
    work: impl FnOnce() -> F + Send + 'a,
    observed: impl FnOnce(&mut Journal, u64, OpId, &T) + Send + 'a,
) -> BoxFuture<'a, (OpId, Ended<Option<T>>)> {
    let observed = |journal: &mut Journal, at, op, value: &Option<T>| {
        if let Some(value) = value {
            observed(journal, at, op, value);
        }
    };
    let parts = Parts { is_nothing: Option::is_none, ..Parts::new(given, work, observed) };
    parts.run(client, call, Patience::Endless)
}

/// What an operation is made of, in boxes: it is compiled once for each type of result, and not for each of the hundreds
/// of operations in workloads.
struct Parts<'a, T> {
    given: Given<'a>,
    work: Box<dyn FnOnce() -> BoxFuture<'a, Result<T, Error>> + Send + 'a>,
    observed: Observed<'a, T>,
    /// Whether a result means that there was nothing to get.
    is_nothing: fn(&T) -> bool,
}

/// Records the arguments.
type Given<'a> = Box<dyn FnOnce(&mut Journal, u64, OpId) + Send + 'a>;

/// Records the result.
type Observed<'a, T> = Box<dyn FnOnce(&mut Journal, u64, OpId, &T) + Send + 'a>;

/// When the caller drops the future.
enum Patience<'a> {
    Endless,
    For(Duration),
    Until(BoxFuture<'a, ()>),
}

impl<'a, T: Send + 'a> Parts<'a, T> {
    fn new<F: Future<Output = Result<T, Error>> + Send + 'a>(
        given: impl FnOnce(&mut Journal, u64, OpId) + Send + 'a,
        work: impl FnOnce() -> F + Send + 'a,
        observed: impl FnOnce(&mut Journal, u64, OpId, &T) + Send + 'a,
    ) -> Self {
        Parts {
            given: Box::new(given),
            work: Box::new(|| Box::pin(work())),
            observed: Box::new(observed),
            is_nothing: |_| false,
        }
    }

    fn run<C: Client>(
        self,
        client: &'a C,
        call: Call,
        patience: Patience<'a>,
    ) -> BoxFuture<'a, (OpId, Ended<T>)> {
        Box::pin(async move {
            let op = begin(client, call, self.given);
            let ended = match patience.output(client, self.work).await {
                Some(Ok(value)) => {
                    client.journal(|journal, at| (self.observed)(journal, at, op, &value));
                    Ended::Done(value)
                }
                Some(Err(error)) => Ended::Failed(error),
                None => Ended::Cancelled,
            };
            let (outcome, failure) = match &ended {
                Ended::Done(value) if (self.is_nothing)(value) => (Outcome::Refused, Failure::Nothing),
                ended => ended.answer(),
            };
            client.journal(|journal, at| journal.returned_for(at, client.number(), op, outcome, failure));
            client.set_op(0);
            (op, ended)
        })
    }
}

impl<'a> Patience<'a> {
    /// The output of the work, or `None` if the caller dropped it first; then the future is dropped before this returns.
    async fn output<C: Client, T>(self, client: &'a C, work: impl FnOnce() -> BoxFuture<'a, T>) -> Option<T> {
        let mut work = work();
        let (mut before, mut after) = self.drops(client);
        poll_fn(|context| {
            if any_ready(&mut before, context) {
                return Poll::Ready(None);
            }
            match work.as_mut().poll(context) {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                Poll::Pending if any_ready(&mut after, context) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// What makes the caller drop the work: what counts before the output of that instant, and what counts after it.
    fn drops<C: Client>(self, client: &'a C) -> (Vec<BoxFuture<'a, ()>>, Vec<BoxFuture<'a, ()>>) {
        match self {
            Patience::Endless => (vec![Box::pin(client.cancelled())], Vec::new()),
            Patience::For(time) => {
                let over = Box::pin(client.sleep(time));
                (vec![Box::pin(client.cancelled())], vec![over])
            }
            Patience::Until(over) => (vec![over, Box::pin(client.cancelled())], Vec::new()),
        }
    }
}

/// Polls them in their order until one is ready.
fn any_ready(futures: &mut [BoxFuture<'_, ()>], context: &mut Context<'_>) -> bool {
    futures.iter_mut().any(|future| future.as_mut().poll(context).is_ready())
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

/// For a result that the checker does not need.
fn unobserved<T>(_: &mut Journal, _: u64, _: OpId, _: &T) {}

fn begin<C: Client>(client: &C, call: Call, given: Given<'_>) -> OpId {
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
