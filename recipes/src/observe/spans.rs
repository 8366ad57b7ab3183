//! Spans and events, by the crate `tracing`.
//!
//! Events belong to the current span, so an event of an operation stands in its span. Token and waiting are recorded into
//! that span once known, but only into spans of this crate: a caller's span may have fields of the same names.

use crate::zk::{SessionId, ZooKeeper};
use std::future::Future;
use std::time::Duration;
use tracing::Instrument;

/// The target of events. Spans have the module of their recipe as target.
const TARGET: &str = "zk_recipes";

/// The span of an operation.
pub(crate) struct Span(pub(crate) tracing::Span);

macro_rules! span {
    ($target:expr, $zk:expr, $recipe:expr, $name:literal, $path:expr) => {
        $crate::observe::Span(tracing::info_span!(
            target: $target,
            $name,
            recipe = $recipe,
            path = $path,
            session = %$zk.session(),
            token = tracing::field::Empty,
            waited = tracing::field::Empty,
            outcome = tracing::field::Empty,
        ))
    };
}

pub(crate) use span;

impl Span {
    pub(super) fn within<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.0.clone())
    }

    pub(super) fn ended(&self, outcome: &'static str) {
        self.0.record("outcome", outcome);
    }

    pub(super) fn event_cleaning_up(&self) {
        self.0.in_scope(|| tracing::debug!(target: TARGET, "clean-up begun"));
    }

    pub(super) fn event_cleaned_up(&self, outcome: &'static str) {
        self.0.in_scope(|| tracing::debug!(target: TARGET, outcome, "clean-up done"));
    }
}

/// Records into the current span, if it is an operation's.
fn record(field: &'static str, value: impl tracing::Value) {
    let span = tracing::Span::current();
    let is_ours = |metadata: &tracing::Metadata<'_>| {
        metadata.target().strip_prefix(TARGET).is_some_and(|rest| rest.starts_with("::"))
    };
    if span.metadata().is_some_and(is_ours) {
        span.record(field, value);
    }
}

pub(super) fn granted(recipe: &'static str, path: &str, session: SessionId, token: i64) {
    record("token", token);
    tracing::info!(target: TARGET, recipe, path, session = %session, token, "granted");
}

pub(super) fn lost(recipe: &'static str, path: &str, session: SessionId, token: i64, reason: &'static str) {
    tracing::warn!(target: TARGET, recipe, path, session = %session, token, reason, "lost");
}

pub(super) fn suspect(recipe: &'static str, path: &str, session: SessionId, token: i64, safe_for: Duration) {
    tracing::warn!(target: TARGET, recipe, path, session = %session, token, ?safe_for, "told to stop");
}

pub(super) fn revoked<Z: ZooKeeper>(zk: &Z, path: &str) {
    tracing::info!(target: TARGET, path, session = %zk.session(), "asked to go");
}

pub(super) fn waits(path: &str) {
    record("waited", true);
    tracing::debug!(target: TARGET, path, "waits");
}

pub(super) fn second_try<Z: ZooKeeper>(zk: &Z) {
    tracing::info!(target: TARGET, session = %zk.session(), "an answer was lost");
}

pub(super) fn session_over<Z: ZooKeeper>(zk: &Z, reason: &'static str) {
    tracing::warn!(target: TARGET, session = %zk.session(), reason, "session over");
}

pub(super) fn session_began<Z: ZooKeeper>(zk: &Z, number: u32) {
    tracing::info!(target: TARGET, session = %zk.session(), number, "session began");
}

pub(super) fn supervised(call: &str, number: u32, step: &'static str, why: Option<&dyn std::fmt::Display>) {
    let why = why.map(tracing::field::display);
    tracing::info!(target: TARGET, call, number, why, "{step}");
}
