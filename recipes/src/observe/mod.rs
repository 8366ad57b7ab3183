//! Observability of the recipes: spans and events (feature `tracing`), counters, gauges and histograms (feature `metrics`).
//!
//! Every operation of every recipe passes through [`Operation`]; the functions below report what happens inside one: a
//! grant, a loss, a wait, a retry. No request and no decision depends on this module, so it does not affect a run. It names
//! no recipe's types: results implement [`Outcome`] in their own modules.
//!
//! Without its feature each half compiles to nothing.

mod hold;
#[cfg(feature = "metrics")]
mod meters;
#[cfg(not(feature = "metrics"))]
#[path = "meters_off.rs"]
mod meters;
#[cfg(feature = "tracing")]
mod spans;
#[cfg(not(feature = "tracing"))]
#[path = "spans_off.rs"]
mod spans;

use crate::zk::duty::ObserveCleanUp;
use crate::zk::{Error, ErrorKind, Over, ZooKeeper};
use futures_util::FutureExt;
use std::future::Future;

pub(crate) use hold::Hold;
#[cfg(feature = "metrics")]
pub use meters::describe_metrics;
pub(crate) use spans::{Span, span};

/// Begins an operation: `operation!(zk, recipe, name, path)`. The name of a span must be a literal. The target is the
/// calling module, unless `target:` names another one.
macro_rules! operation {
    // The operation does not borrow the path: work that borrows its owner mutably names its errors itself.
    (unnamed: $zk:expr, $recipe:expr, $name:literal, $path:expr) => {
        $crate::observe::operation!(unnamed: module_path!(), $zk, $recipe, $name, $path)
    };
    (unnamed: $target:expr, $zk:expr, $recipe:expr, $name:literal, $path:expr) => {
        $crate::observe::Operation::begin(
            $zk,
            $recipe,
            $name,
            None,
            $crate::observe::span!($target, $zk, $recipe, $name, $path),
        )
    };
    ($zk:expr, $recipe:expr, $name:literal, $path:expr) => {
        $crate::observe::operation!(target: module_path!(), $zk, $recipe, $name, $path)
    };
    (target: $target:expr, $zk:expr, $recipe:expr, $name:literal, $path:expr) => {
        $crate::observe::Operation::begin(
            $zk,
            $recipe,
            $name,
            Some($path),
            $crate::observe::span!($target, $zk, $recipe, $name, $path),
        )
    };
}

pub(crate) use operation;

/// One call of a recipe. Dropped before its end, it was cancelled by the caller. An error that does not say yet what it
/// happened to leaves it with the operation's name and path.
pub(crate) struct Operation<'p, Z: ZooKeeper> {
    name: &'static str,
    path: Option<&'p str>,
    span: Span,
    meter: meters::Meter<Z>,
    outcome: Option<&'static str>,
}

impl<'p, Z: ZooKeeper> Operation<'p, Z> {
    pub(crate) fn begin(
        zk: &Z,
        recipe: &'static str,
        name: &'static str,
        path: Option<&'p str>,
        span: Span,
    ) -> Self {
        Operation { name, path, span, meter: meters::Meter::begin(zk, recipe, name), outcome: None }
    }

    /// Drives the work of the operation.
    pub(crate) fn of<T, E: Outcome>(
        self,
        work: impl Future<Output = Result<T, E>>,
    ) -> impl Future<Output = Result<T, E>> {
        self.named(work, |_| "done")
    }

    /// Drives work that may return `None`.
    pub(crate) fn attempt<T>(
        self,
        work: impl Future<Output = Result<Option<T>, Error>>,
    ) -> impl Future<Output = Result<Option<T>, Error>> {
        self.named(work, |found| if found.is_some() { "done" } else { "nothing" })
    }

    /// Drives work whose output is an [`Outcome`].
    pub(crate) fn telling<T: Outcome>(
        self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> impl Future<Output = Result<T, Error>> {
        self.named(work, T::outcome)
    }

    fn named<T, E: Outcome>(
        self,
        work: impl Future<Output = Result<T, E>>,
        done: fn(&T) -> &'static str,
    ) -> impl Future<Output = Result<T, E>> {
        // A combinator keeps the work only once in the future: see `zk::select`. When dropped, the work goes before the
        // span, so its clean-up is recorded inside.
        self.span.within(work).map(move |result| {
            let (name, path) = (self.name, self.path);
            self.end(result.as_ref().map_or_else(E::outcome, done));
            result.map_err(|error| match path {
                Some(path) => error.at(name, path),
                None => error,
            })
        })
    }

    /// Drives a clean-up.
    async fn clean_up(self, work: impl Future<Output = Result<(), Error>>) {
        self.span.event_cleaning_up();
        let result = self.span.within(work).await;
        let outcome = result.as_ref().map_or_else(Outcome::outcome, |()| "done");
        self.span.event_cleaned_up(outcome);
        self.end(outcome);
    }

    fn end(mut self, outcome: &'static str) {
        self.outcome = Some(outcome);
    }
}

impl<Z: ZooKeeper> ObserveCleanUp for Z {
    fn observe_clean_up<W>(&self, about: &str, work: W) -> impl Future<Output = ()> + Send + use<Z, W>
    where
        W: Future<Output = Result<(), Error>> + Send,
    {
        let operation = operation!(unnamed: "zk_recipes::zk::duty", self, "duty", "clean_up", about);
        operation.clean_up(work)
    }
}

impl<Z: ZooKeeper> Drop for Operation<'_, Z> {
    fn drop(&mut self) {
        let outcome = self.outcome.unwrap_or("dropped");
        self.span.ended(outcome);
        self.meter.ended(outcome);
    }
}

/// The label of a result, from a small set of values.
pub(crate) trait Outcome: Sized {
    fn outcome(&self) -> &'static str;

    /// Adds the operation and the path, if it is an error that does not know them.
    fn at(self, _operation: &'static str, _path: &str) -> Self {
        self
    }
}

impl Outcome for Error {
    fn outcome(&self) -> &'static str {
        match &self.kind {
            ErrorKind::NoNode => "no_node",
            ErrorKind::NodeExists => "node_exists",
            ErrorKind::BadVersion => "bad_version",
            ErrorKind::NotEmpty => "not_empty",
            ErrorKind::NoChildrenForEphemerals => "no_children_for_ephemerals",
            ErrorKind::NoAuth | ErrorKind::InvalidAcl => "denied",
            ErrorKind::Unimplemented => "unimplemented",
            ErrorKind::Refused(_) => "refused",
            ErrorKind::Unreachable => "unreachable",
            ErrorKind::ConnectionLoss => "connection_loss",
            ErrorKind::SessionOver(_) => "session_over",
            ErrorKind::BadInput(_) => "bad_input",
            ErrorKind::Multi { .. } => "transaction_refused",
            ErrorKind::TimedOut => "timed_out",
            ErrorKind::Removed(_) => "removed",
            ErrorKind::Unexpected(_) => "unexpected",
            ErrorKind::Mismatch(_) => "mismatch",
            ErrorKind::Taken(_) => "taken",
            ErrorKind::Conflict => "conflict",
            ErrorKind::Revoked => "revoked",
            ErrorKind::ClaimLost => "claim_lost",
            ErrorKind::Exhausted(_) => "exhausted",
            ErrorKind::SessionFull { .. } => "session_full",
            ErrorKind::Late => "late",
            ErrorKind::NoTransaction(_) => "no_transaction",
            ErrorKind::NotAParticipant(_) => "not_a_participant",
            ErrorKind::AlreadyVoted => "already_voted",
            ErrorKind::AlreadyJoined(_) => "already_joined",
        }
    }

    fn at(self, operation: &'static str, path: &str) -> Error {
        Error::at(self, operation, path)
    }
}

impl Outcome for Over {
    fn outcome(&self) -> &'static str {
        match self {
            Over::Expired => "expired",
            Over::Closed => "closed",
            Over::AuthFailed => "auth_failed",
        }
    }
}

/// Records a revocation.
pub(crate) fn revoked<Z: ZooKeeper>(zk: &Z, path: &str) {
    spans::revoked(zk, path);
}

/// Records that an operation waits for a notification about a znode.
pub(crate) fn waits(path: &str) {
    spans::waits(path);
}

/// Records a connection loss: the request is settled or retried.
pub(crate) fn second_try<Z: ZooKeeper>(zk: &Z) {
    spans::second_try(zk);
    meters::second_try();
}

/// Records that an operation found its session over.
pub(crate) fn session_over<Z: ZooKeeper>(zk: &Z, over: &Error) {
    if let ErrorKind::SessionOver(why) = over.kind() {
        spans::session_over(zk, why.outcome());
    }
}

/// Records that a supervisor's session has begun.
pub(crate) fn session_began<Z: ZooKeeper>(zk: &Z, number: u32) {
    spans::session_began(zk, number);
}

/// Records a step of a supervised call, and its reason, if it has one.
pub(crate) fn supervised(call: &str, session: u32, step: &'static str, why: Option<&dyn std::fmt::Display>) {
    spans::supervised(call, session, step, why);
}
