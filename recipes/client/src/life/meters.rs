//! The metrics of sessions, through the facade `metrics`. Labels have few values: servers of the connect string, and kinds.

use std::time::Duration;

use metrics::{Unit, counter, gauge, histogram};

const CONNECTED: &str = "zk_client_sessions_connected";
const CHANGES: &str = "zk_client_session_changes_total";
const ATTEMPTS: &str = "zk_client_connect_attempts_total";
const AWAY: &str = "zk_client_session_disconnected_seconds";
const BACKOFF: &str = "zk_client_connect_backoff_seconds";
const BYTES: &str = "zk_client_bytes_total";
const IN_FLIGHT: &str = "zk_client_requests_in_flight";
const WATCHES: &str = "zk_client_watches_armed";
const REPLIES: &str = "zk_client_reply_duration_seconds";
const LATE_PINGS: &str = "zk_client_late_pings_total";

/// Tells the installed recorder what the crate's metrics mean, and in which units they are. Call it once, after the recorder
/// is installed. Those of the recipes have a function of the same name in `zk-recipes`.
pub fn describe_metrics() {
    metrics::describe_gauge!(CONNECTED, Unit::Count, "Sessions that have a connection");
    metrics::describe_counter!(CHANGES, Unit::Count, "Changes in the life of sessions");
    metrics::describe_counter!(ATTEMPTS, Unit::Count, "Attempts to connect, by server and result");
    metrics::describe_histogram!(
        AWAY,
        Unit::Seconds,
        "How long sessions had no connection, until they had one"
    );
    metrics::describe_histogram!(BACKOFF, Unit::Seconds, "Pauses between rounds of attempts");
    metrics::describe_counter!(BYTES, Unit::Bytes, "Bytes sent and received");
    metrics::describe_gauge!(IN_FLIGHT, Unit::Count, "Requests without an answer yet");
    metrics::describe_gauge!(WATCHES, Unit::Count, "Watches that are armed");
    metrics::describe_histogram!(
        REPLIES,
        Unit::Seconds,
        "From the call of a request, or a ping, to its answer"
    );
    metrics::describe_counter!(LATE_PINGS, Unit::Count, "Pings that were sent or answered late");
}

pub(super) fn attempted(server: &str, error: &'static str) {
    counter!(ATTEMPTS, "server" => server.to_owned(), "error_type" => error).increment(1);
}

pub(super) fn backed_off(pause: Duration) {
    histogram!(BACKOFF).record(pause.as_secs_f64());
}

pub(super) fn changed(change: &'static str) {
    counter!(CHANGES, "change" => change).increment(1);
}

pub(super) fn connected(away: Duration) {
    gauge!(CONNECTED).increment(1);
    histogram!(AWAY).record(away.as_secs_f64());
}

pub(super) fn disconnected() {
    gauge!(CONNECTED).decrement(1);
}

pub(super) fn late_ping(what: &'static str) {
    counter!(LATE_PINGS, "delayed" => what).increment(1);
}

pub(crate) fn bytes_arrived(bytes: usize) {
    counter!(BYTES, "direction" => "received").increment(bytes as u64);
}

pub(crate) fn bytes_left(bytes: usize) {
    counter!(BYTES, "direction" => "sent").increment(bytes as u64);
}

/// A request, or a ping, was answered.
pub(crate) fn replied(took: Duration, is_ping: bool) {
    histogram!(REPLIES, "kind" => if is_ping { "ping" } else { "request" }).record(took.as_secs_f64());
}

/// What a connection adds to the gauges.
#[derive(Default)]
pub(crate) struct Flow {
    in_flight: usize,
    watches: usize,
}

impl Flow {
    pub(crate) fn show(&mut self, in_flight: usize, watches: usize) {
        shift(IN_FLIGHT, &mut self.in_flight, in_flight);
        shift(WATCHES, &mut self.watches, watches);
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.show(0, 0);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and no client has 2^53 requests")]
fn shift(name: &'static str, shown: &mut usize, now: usize) {
    if *shown != now {
        gauge!(name).increment(now as f64 - *shown as f64);
        *shown = now;
    }
}
