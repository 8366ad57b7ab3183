//! What a world is made of.

#[allow(unused_imports, reason = "the documentation speaks of it")]
use crate::choose::Point;
use crate::injected_bug::InjectedBug;
use crate::server::Settings;

/// In which order things happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// By the clock: packets have latencies, and what is due first happens first.
    #[default]
    Timed,
    /// Any: see [`Config::interleaving`].
    Interleaving(Reorderings),
}

/// What may happen in interleaving mode beside requests that overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reorderings {
    /// Whether answers and notifications can be late. Without it they reach a client at once, unless its user could act
    /// meanwhile.
    pub late_answers: bool,
    /// Whether a timer may run out although something is under way. That counts as a fault.
    pub overtaking: bool,
}

/// What a world is made of. All times in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How many servers there are, from 1 to 9.
    pub servers: u8,
    /// The servers' tick: sessions expire at multiples of it, and last 2 to 20 of them.
    pub tick: u64,
    /// After how many ticks without a word a server gives up another (`syncLimit`).
    pub sync_limit: u64,
    /// One-way latency between clients and servers on the calm network.
    pub latency: u64,
    /// One-way latency between servers on the calm network.
    pub link_latency: u64,
    /// How servers are configured.
    pub settings: Settings,
    /// How often the leader takes away empty containers and znodes whose time is over, if it does
    /// (`znode.container.checkIntervalMs`).
    pub reap_every: Option<u64>,
    /// Until when faults may strike.
    pub hostile_until: u64,
    /// How many faults may strike.
    pub faults: u32,
    /// What is wrong with it on purpose, if anything.
    pub injected_bug: Option<InjectedBug>,
    /// In which order things happen.
    pub scheduling: Scheduling,
}

impl Default for Config {
    /// One server with ZooKeeper's default tick of two seconds and syncLimit of 5, 5 ms one way to it, and no faults.
    fn default() -> Self {
        Config {
            servers: 1,
            tick: 2_000_000,
            sync_limit: 5,
            latency: 5_000,
            link_latency: 500,
            settings: Settings::default(),
            reap_every: Some(60_000_000),
            hostile_until: 0,
            faults: 0,
            injected_bug: None,
            scheduling: Scheduling::Timed,
        }
    }
}

impl Config {
    /// The same with so many servers.
    #[must_use]
    pub fn with_servers(self, servers: u8) -> Self {
        assert!((1..=9).contains(&servers), "an ensemble has from 1 to 9 servers");
        Config { servers, ..self }
    }

    /// The same world, untimed. Nothing takes time but what waits for a timer of seconds: whatever is under way can happen
    /// now, and which of it happens next is a choice ([`Point::Next`]). Time passes only when nothing is under way.
    ///
    /// So a run stands for all runs with the same order of events, whatever their latencies. Only for one server: its
    /// stages take no time.
    #[must_use]
    pub fn interleaving(self, reorderings: Reorderings) -> Self {
        assert_eq!(self.servers, 1, "interleaving mode knows one server");
        Config { scheduling: Scheduling::Interleaving(reorderings), latency: 0, link_latency: 0, ..self }
    }

    /// Whether it is untimed.
    pub(crate) fn is_interleaving(&self) -> bool {
        self.scheduling != Scheduling::Timed
    }

    /// How many servers are more than half of them.
    pub(crate) fn majority(&self) -> u8 {
        self.servers / 2 + 1
    }

    /// How long a server waits for a word of another.
    pub(crate) fn patience(&self) -> u64 {
        let limit = self.sync_limit * self.tick;
        if self.has(InjectedBug::ServesOn) { 4 * limit } else { limit }
    }

    /// Whether it is wrong in that way.
    pub(crate) fn has(&self, bug: InjectedBug) -> bool {
        self.injected_bug == Some(bug)
    }
}
