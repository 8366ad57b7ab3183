//! What an operator is told of a session's life: spans, events and metrics.
//!
//! No request and no decision depends on this module. Without the features `tracing` and `metrics` its functions are empty.
//!
//! At level INFO a session with a connection says nothing. While it has none, each server's failure is told once and again
//! when it changes, and the outage as a whole after one, two, four, ... seconds, and from then on once a minute, over all sessions of
//! one connector. Every attempt is told at level DEBUG.

#![cfg_attr(not(feature = "tracing"), allow(unused_variables, unused_macros, dead_code))]

mod loss;
#[cfg(feature = "metrics")]
mod meters;
#[cfg(not(feature = "metrics"))]
#[path = "life/meters_off.rs"]
mod meters;
mod outage;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use super::address::Address;
use super::core::Shared;
use super::handshake::Opened;
use zk_recipes::zk::{ConnectFailure, Over, SessionId, Time, Unreachable};

pub(super) use loss::Loss;
#[cfg(feature = "metrics")]
pub use meters::describe_metrics;
pub(super) use meters::{Flow, bytes_arrived, bytes_left, replied};
pub(crate) use outage::Outage;

/// The target of the spans and events.
#[cfg(feature = "tracing")]
const TARGET: &str = "zk_client";

macro_rules! event {
    ($level:ident, $($fields:tt)*) => {
        #[cfg(feature = "tracing")]
        tracing::$level!(target: TARGET, $($fields)*);
    };
}

/// The longest silence about an outage.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// Of one session, from the side of the task that drives it.
pub(super) struct Life {
    servers: Vec<Address>,
    session: SessionId,
    /// The server of the latest connection, and since when it stood, or since when there is none.
    server: Option<usize>,
    since: Time,
    is_connected: bool,
    is_over: bool,
    rounds: u32,
    outage: Outage,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
    /// Of the time without a connection.
    #[cfg(feature = "tracing")]
    connecting: tracing::Span,
}

impl Life {
    pub(super) fn begin(servers: &[Address], outage: &Outage, now: Time) -> Life {
        #[cfg(feature = "tracing")]
        let span = {
            let names: Vec<_> = servers.iter().map(Address::name).collect();
            tracing::info_span!(target: TARGET, parent: None, "session", servers = names.join(","))
        };
        let mut life = Life {
            servers: servers.to_vec(),
            session: SessionId(0),
            server: None,
            since: now,
            is_connected: false,
            is_over: false,
            rounds: 0,
            outage: outage.clone(),
            #[cfg(feature = "tracing")]
            connecting: tracing::Span::none(),
            #[cfg(feature = "tracing")]
            span,
        };
        life.is_away(now);
        life
    }

    pub(super) fn has_connected(&self) -> bool {
        self.server.is_some()
    }

    /// The span of the session.
    #[cfg(feature = "tracing")]
    pub(super) fn span(&self) -> tracing::Span {
        self.span.clone()
    }

    /// Drives a round of attempts within the span of the time without a connection.
    #[cfg(feature = "tracing")]
    pub(super) fn within<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        tracing::Instrument::instrument(work, self.connecting.clone())
    }

    #[cfg(not(feature = "tracing"))]
    pub(super) fn within<F: Future>(&self, work: F) -> F {
        work
    }

    /// A pause before the next round.
    pub(super) fn backs_off(&self, pause: Duration) {
        meters::backed_off(pause);
        event!(debug, parent: &self.connecting, pause = ?pause, "backoff");
    }

    pub(super) fn attempt_begins(&self, server: usize, peer: Option<SocketAddr>) {
        let Address { host, port, .. } = &self.servers[server];
        event!(
            debug,
            {
                server.address = host,
                server.port = port,
                network.peer.address = peer.map(|peer| tracing::field::display(peer.ip())),
            },
            "attempt"
        );
    }

    /// An attempt failed. It is news if the one before with that server did not, or failed otherwise.
    pub(super) fn attempt_failed(&self, failure: &ConnectFailure) {
        let ConnectFailure { server, peer, kind, message, .. } = failure;
        meters::attempted(server, kind.name());
        #[cfg(feature = "tracing")]
        {
            let (host, port) = server.rsplit_once(':').unwrap_or((server, ""));
            let (host, port) = (host.trim_matches(['[', ']']), port.parse::<u16>().ok());
            let peer = peer.map(|peer| tracing::field::display(peer.ip()));
            macro_rules! failed {
                ($level:ident) => {
                    event!(
                        $level,
                        {
                            server.address = host,
                            server.port = port,
                            network.peer.address = peer,
                            error.type = kind.name(),
                            error.message = message.as_str(),
                        },
                        "attempt failed"
                    )
                };
            }
            if self.outage.is_news(failure) {
                failed!(info);
            } else {
                failed!(debug);
            }
        }
    }

    /// A round ended without a connection.
    pub(super) fn round_failed(
        &mut self,
        late: &[ConnectFailure],
        failures: &Unreachable,
        safe_until: Time,
        now: Time,
    ) {
        #[cfg(feature = "tracing")]
        let _entered = self.connecting.clone().entered();
        late.iter().for_each(|failure| self.attempt_failed(failure));
        self.rounds += 1;
        let Some(away) = self.outage.is_due() else { return };
        event!(
            warn,
            session = %self.session,
            disconnected = ?away,
            rounds = self.rounds,
            safe_for = self.server.map(|_| tracing::field::debug(safe_until.since(now))),
            errors = failures.to_string(),
            "no server can be used"
        );
    }

    pub(super) fn connected(&mut self, opened: &Opened, shared: &Shared, now: Time) {
        let (session, timeout, asked) = {
            let core = shared.lock();
            (core.machine.session(), core.machine.timeout(), core.machine.asked_timeout())
        };
        let took = now.since(self.since);
        let Address { host, port, .. } = &self.servers[opened.server];
        meters::attempted(&self.servers[opened.server].name(), "");
        let peer = opened.peer;
        macro_rules! connected {
            ($away:ident, $message:literal) => {
                event!(
                    info,
                    session = %session,
                    server.address = host,
                    server.port = port,
                    network.peer.address = peer.map(|peer| tracing::field::display(peer.ip())),
                    timeout = ?Duration::from_micros(timeout),
                    $away = ?took,
                    $message
                )
            };
        }
        let change = match self.server {
            None => {
                connected!(took, "session opened");
                "opened"
            }
            Some(server) if server == opened.server => {
                connected!(disconnected, "session resumed");
                "resumed"
            }
            Some(_) => {
                connected!(disconnected, "session moved");
                "moved"
            }
        };
        if timeout != asked && self.server.is_none() {
            let (asked, granted) = (Duration::from_micros(asked), Duration::from_micros(timeout));
            event!(info, session = %session, asked = ?asked, granted = ?granted, "another timeout was granted");
        }
        meters::changed(change);
        meters::connected(took);
        self.record_outcome(change);
        self.session = session;
        self.server = Some(opened.server);
        self.outage.ends();
        self.is_connected = true;
        self.since = now;
    }

    /// The connection is lost, and the session lives on until its lease ends, if it does.
    pub(super) fn suspect(&mut self, loss: &Loss, safe_until: Time, now: Time) {
        let Some(Address { host, port, .. }) = self.server.map(|server| &self.servers[server]) else {
            return;
        };
        let (connected, safe_for) = (now.since(self.since), safe_until.since(now));
        event!(
            warn,
            session = %self.session,
            server.address = host,
            server.port = port,
            error.type = loss.kind,
            error.message = loss.message.as_str(),
            connected = ?connected,
            in_flight = loss.in_flight,
            safe_for = ?safe_for,
            "session suspect"
        );
        meters::changed("suspect");
        self.is_away(now);
    }

    /// The session is over.
    pub(super) fn over(&mut self, why: Over, now: Time) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let change = match why {
            Over::Closed if self.server.is_none() => {
                self.record_outcome("given_up");
                return;
            }
            Over::Closed if self.is_connected => {
                event!(info, session = %self.session, "session closed");
                "closed"
            }
            // No server was told: what it has created goes when it expires.
            Over::Closed => {
                event!(warn, session = %self.session, disconnected = ?now.since(self.since), "session left");
                "closed"
            }
            Over::Expired => {
                let away = if self.is_connected { Duration::ZERO } else { now.since(self.since) };
                event!(warn, session = %self.session, disconnected = ?away, "session expired");
                "expired"
            }
            Over::AuthFailed => {
                event!(error, session = %self.session, error.type = "auth_failed", "session refused");
                "auth_failed"
            }
        };
        meters::changed(change);
        self.record_outcome(change);
        if std::mem::take(&mut self.is_connected) {
            meters::disconnected();
        }
    }

    /// A ping left late, or its answer came late: this process, the network or the server stalls.
    pub(super) fn late_ping(&self, what: &'static str, by: Duration) {
        meters::late_ping(what);
        event!(warn, session = %self.session, delayed = what, by = ?by, "late ping");
    }

    /// A time without a connection begins.
    fn is_away(&mut self, now: Time) {
        if std::mem::take(&mut self.is_connected) {
            meters::disconnected();
        }
        self.since = now;
        self.rounds = 0;
        self.outage.begins();
        #[cfg(feature = "tracing")]
        {
            self.connecting = tracing::info_span!(
                target: TARGET,
                parent: &self.span,
                "connect",
                session = %self.session,
                outcome = tracing::field::Empty,
            );
        }
    }

    fn record_outcome(&mut self, outcome: &'static str) {
        #[cfg(feature = "tracing")]
        {
            self.connecting.record("outcome", outcome);
            self.connecting = tracing::Span::none();
        }
    }
}

/// The time for the first connection is over, or no waiting can help.
pub(super) fn not_opened(causes: &Unreachable, limit: Duration, outage: &Outage) {
    if outage.is_first_refusal() {
        event!(warn, limit = ?limit, errors = causes.to_string(), "no session opened");
    } else {
        event!(debug, limit = ?limit, errors = causes.to_string(), "no session opened");
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // Unless its runtime has ended before.
        self.over(Over::Closed, self.since);
    }
}
