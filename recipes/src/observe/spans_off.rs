//! Nothing: the feature `tracing` is off.

use crate::zk::{SessionId, ZooKeeper};
use std::future::Future;
use std::time::Duration;

/// No span.
pub(crate) struct Span;

macro_rules! span {
    ($target:expr, $zk:expr, $recipe:expr, $name:literal, $path:expr) => {{
        let _: (&str, &str) = ($target, $path);
        $crate::observe::Span
    }};
}

pub(crate) use span;

impl Span {
    pub(super) fn within<F: Future>(&self, work: F) -> F {
        work
    }

    pub(super) fn ended(&self, _: &'static str) {}

    pub(super) fn event_cleaning_up(&self) {}

    pub(super) fn event_cleaned_up(&self, _: &'static str) {}
}

pub(super) fn granted(_: &'static str, _: &str, _: SessionId, _: i64) {}

pub(super) fn lost(_: &'static str, _: &str, _: SessionId, _: i64, _: &'static str) {}

pub(super) fn suspect(_: &'static str, _: &str, _: SessionId, _: i64, _: Duration) {}

pub(super) fn revoked<Z: ZooKeeper>(_: &Z, _: &str) {}

pub(super) fn waits(_: &str) {}

pub(super) fn second_try<Z: ZooKeeper>(_: &Z) {}

pub(super) fn session_over<Z: ZooKeeper>(_: &Z, _: &'static str) {}

pub(super) fn session_began<Z: ZooKeeper>(_: &Z, _: u32) {}

pub(super) fn supervised(_: &str, _: u32, _: &'static str, _: Option<&dyn std::fmt::Display>) {}
