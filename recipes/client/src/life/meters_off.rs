//! Nothing: the feature `metrics` is off.

use std::time::Duration;

pub(super) fn attempted(_: &str, _: &'static str) {}

pub(super) fn backed_off(_: Duration) {}

pub(super) fn changed(_: &'static str) {}

pub(super) fn connected(_: Duration) {}

pub(super) fn disconnected() {}

pub(super) fn late_ping(_: &'static str) {}

pub(crate) fn bytes_arrived(_: usize) {}

pub(crate) fn bytes_left(_: usize) {}

pub(crate) fn replied(_: Duration, _: bool) {}

/// No gauges.
#[derive(Default)]
pub(crate) struct Flow();

impl Flow {
    #[expect(clippy::unused_self, reason = "of the other half")]
    pub(crate) fn show(&mut self, _: usize, _: usize) {}
}
