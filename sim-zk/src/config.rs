//! The configuration of a simulated ensemble and its network.

use crate::injected_bug::InjectedBug;
use crate::server::Settings;

/// The rule that decides which event is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// By the clock: packets have latencies, and the event with the earliest due time is next.
    #[default]
    Timed,
    /// Interleaving mode: a chooser picks the next event. See [`Config::interleaving`].
    Interleaving(Reorderings),
}

/// The reorderings that interleaving mode allows beyond requests that overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reorderings {
    /// Whether replies and notifications can be late. Without it they reach the client at once, unless client code
    /// could act in between.
    pub late_answers: bool,
    /// Whether a timer can expire while packets are in flight. Each use counts as a fault.
    pub overtaking: bool,
}

/// The configuration of a world. All times but the wall clock are in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The number of servers, from 1 to 9.
    pub servers: u8,
    /// The tick of the servers: sessions expire at multiples of it, and session timeouts are 2 to 20 ticks.
    pub tick: u64,
    /// The number of silent ticks after which a server closes the connection with another one (`syncLimit`).
    pub sync_limit: u64,
    /// The base one-way latency between clients and servers.
    pub latency: u64,
    /// The base one-way latency between servers.
    pub link_latency: u64,
    /// The configuration of each server.
    pub settings: Settings,
    /// The period at which the leader deletes empty containers and expired TTL znodes
    /// (`znode.container.checkIntervalMs`); `None` if it never does.
    pub reap_every: Option<u64>,
    /// The wall clock of the servers when the world starts, in milliseconds since 1970: the origin of the `ctime` and
    /// `mtime` of znodes. Session expiry does not depend on it.
    pub wall_clock_ms: i64,
    /// What stands in the session numbers below that of the server, and above the counter: another ensemble must not have it
    /// that takes the place of this one, or clients would resume sessions of each other.
    pub session_base: i64,
    /// The end of the phase in which faults are injected.
    pub hostile_until: u64,
    /// The fault budget of the run.
    pub faults: u32,
    /// The injected bug, if any.
    pub injected_bug: Option<InjectedBug>,
    /// The rule that decides which event is next.
    pub scheduling: Scheduling,
}

impl Default for Config {
    /// One server with ZooKeeper's default tick of two seconds and `syncLimit` of 5, 5 ms one way to it, and no
    /// faults.
    fn default() -> Self {
        Config {
            servers: 1,
            tick: 2_000_000,
            sync_limit: 5,
            latency: 5_000,
            link_latency: 500,
            settings: Settings::default(),
            reap_every: Some(60_000_000),
            // 2020-01-01, so that times look plausible.
            wall_clock_ms: 1_577_836_800_000,
            session_base: 0,
            hostile_until: 0,
            faults: 0,
            injected_bug: None,
            scheduling: Scheduling::Timed,
        }
    }
}

impl Config {
    /// Returns the configuration with that many servers.
    #[must_use]
    pub fn with_servers(self, servers: u8) -> Self {
        assert!((1..=9).contains(&servers), "an ensemble has from 1 to 9 servers");
        Config { servers, ..self }
    }

    /// Returns the configuration in interleaving mode: only timers of seconds take time, everything in flight can
    /// happen now, and the next event is a choice ([`Point::Next`](crate::choose::Point::Next)). Time passes only
    /// when nothing is in flight.
    ///
    /// One run represents all runs with the same order of events, whatever their latencies. The mode supports one
    /// server, whose stages take no time.
    #[must_use]
    pub fn interleaving(self, reorderings: Reorderings) -> Self {
        assert_eq!(self.servers, 1, "interleaving mode knows one server");
        Config { scheduling: Scheduling::Interleaving(reorderings), latency: 0, link_latency: 0, ..self }
    }

    /// Returns whether interleaving mode is on.
    pub(crate) fn is_interleaving(&self) -> bool {
        self.scheduling != Scheduling::Timed
    }

    /// Returns the size of a quorum.
    pub(crate) fn majority(&self) -> u8 {
        self.servers / 2 + 1
    }

    /// Returns how long a server waits for a sign of life of another one.
    pub(crate) fn patience(&self) -> u64 {
        let limit = self.sync_limit * self.tick;
        if self.has(InjectedBug::ServesOn) { 4 * limit } else { limit }
    }

    /// Returns whether that bug is injected.
    pub(crate) fn has(&self, bug: InjectedBug) -> bool {
        self.injected_bug == Some(bug)
    }
}
