//! What an operator sees of the recipes: spans and events (feature `tracing`), counters, gauges and histograms (feature
//! `metrics`).
//!
//! Every operation of every recipe passes [`Operation`]. What happens inside one passes the functions below, which are
//! called where all recipes come by: a hold is won or lost, somebody waits, a request was caught by a disconnect. Nothing
//! here is asked by anybody: no request and no decision depends on it, so a run is the same with it and without.
//!
//! Without its feature each half is empty.

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
use crate::zk::{Error, Over, ZooKeeper};
use futures_util::FutureExt;
use std::future::Future;

pub(crate) use meters::HoldGauge;
#[cfg(feature = "metrics")]
pub use meters::describe_metrics;
pub(crate) use spans::{Span, span};

/// An operation that begins here: `operation!(zk, recipe, name, path)`. A name has to be a literal, since it is a span's.
macro_rules! operation {
    ($zk:expr, $recipe:expr, $name:literal, $path:expr) => {
        $crate::observe::operation!(target: module_path!(), $zk, $recipe, $name, $path)
    };
    (target: $target:expr, $zk:expr, $recipe:expr, $name:literal, $path:expr) => {
        $crate::observe::Operation::begin(
            $zk,
            $recipe,
            $name,
            $crate::observe::span!($target, $zk, $recipe, $name, $path),
        )
    };
}

pub(crate) use operation;

/// One call of a recipe, from its beginning to its end. Dropped before that, it was dropped by the caller.
pub(crate) struct Operation<Z: ZooKeeper> {
    span: Span,
    meter: meters::Meter<Z>,
    outcome: Option<&'static str>,
}

impl<Z: ZooKeeper> Operation<Z> {
    pub(crate) fn begin(zk: &Z, recipe: &'static str, name: &'static str, span: Span) -> Self {
        Operation { span, meter: meters::Meter::begin(zk, recipe, name), outcome: None }
    }

    /// Drives the work, whose end is the operation's.
    pub(crate) fn of<T, E: Outcome>(
        self,
        work: impl Future<Output = Result<T, E>>,
    ) -> impl Future<Output = Result<T, E>> {
        self.named(work, |_| "done")
    }

    /// Drives work that may come back with nothing.
    pub(crate) fn attempt<T>(
        self,
        work: impl Future<Output = Result<Option<T>, Error>>,
    ) -> impl Future<Output = Result<Option<T>, Error>> {
        self.named(work, |found| if found.is_some() { "done" } else { "nothing" })
    }

    /// Drives work whose output says how it went.
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
        // By a combinator, so that the work is kept once: see `race`. Dropped here, the work goes first: what it leaves to be
        // cleaned up is told inside the span.
        self.span.within(work).map(move |result| {
            self.end(result.as_ref().map_or_else(E::outcome, done));
            result
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
        let operation = operation!(target: "zk_recipes::zk::duty", self, "duty", "clean_up", about);
        operation.clean_up(work)
    }
}

impl<Z: ZooKeeper> Drop for Operation<Z> {
    fn drop(&mut self) {
        let outcome = self.outcome.unwrap_or("dropped");
        self.span.ended(outcome);
        self.meter.ended(outcome);
    }
}

/// What an end is called, among few words: they are the values of a label.
pub(crate) trait Outcome {
    fn outcome(&self) -> &'static str;
}

impl Outcome for Error {
    fn outcome(&self) -> &'static str {
        match self {
            Error::NoNode => "no_node",
            Error::NodeExists => "node_exists",
            Error::BadVersion => "bad_version",
            Error::NotEmpty => "not_empty",
            Error::NoChildrenForEphemerals => "no_children_for_ephemerals",
            Error::NoAuth | Error::InvalidAcl => "denied",
            Error::Unimplemented => "unimplemented",
            Error::Refused(_) => "refused",
            Error::Unreachable => "unreachable",
            Error::ConnectionLoss => "connection_loss",
            Error::SessionOver(_) => "session_over",
            Error::BadInput(_) => "bad_input",
            Error::Multi { .. } => "transaction_refused",
            Error::TimedOut => "timed_out",
            Error::Removed(_) => "removed",
            Error::Unexpected(_) => "unexpected",
            Error::Mismatch(_) => "mismatch",
            Error::Taken(_) => "taken",
            Error::Conflict => "conflict",
            Error::Revoked => "revoked",
            Error::ClaimLost => "claim_lost",
            Error::Exhausted(_) => "exhausted",
            Error::Late => "late",
            Error::NoTransaction(_) => "no_transaction",
            Error::NotAParticipant(_) => "not_a_participant",
            Error::AlreadyVoted => "already_voted",
            Error::AlreadyJoined(_) => "already_joined",
        }
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

/// A hold was won.
pub(crate) fn granted<Z: ZooKeeper>(zk: &Z, recipe: &'static str, path: &str, token: i64) -> HoldGauge {
    spans::granted(zk, recipe, path, token);
    HoldGauge::new(recipe)
}

/// A hold is known to be lost, from here on.
pub(crate) fn lost<Z: ZooKeeper>(
    zk: &Z,
    recipe: &'static str,
    path: &str,
    token: i64,
    reason: &impl Outcome,
) {
    spans::lost(zk, recipe, path, token, reason.outcome());
    meters::lost(recipe, reason.outcome());
}

/// A holder must stop, since the connection is lost.
pub(crate) fn told_to_stop<Z: ZooKeeper>(zk: &Z, recipe: &'static str, path: &str, token: i64) {
    spans::suspect(zk, recipe, path, token);
}

/// The owner of a znode was asked to release.
pub(crate) fn revoked<Z: ZooKeeper>(zk: &Z, path: &str) {
    spans::revoked(zk, path);
}

/// Somebody waits for a notification about a znode.
pub(crate) fn waits(path: &str) {
    spans::waits(path);
}

/// A request was caught by a disconnect: what became of it is found out, or it is sent again.
pub(crate) fn second_try<Z: ZooKeeper>(zk: &Z) {
    spans::second_try(zk);
    meters::second_try();
}

/// An operation found its session at its end.
pub(crate) fn session_over<Z: ZooKeeper>(zk: &Z, over: &Error) {
    if let Error::SessionOver(why) = over {
        spans::session_over(zk, why.outcome());
    }
}
