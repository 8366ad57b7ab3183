//! Fault injection on real ensembles: the kinds of fault, and the [`FaultSchedule`] of their targets, times and
//! durations.
//!
//! A schedule is a function of its seed and scope. A run has two schedules at the same time, one for servers and one
//! for clients, each with one fault at a time; so a client may be partitioned while a server is down, and three servers
//! keep a quorum.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;
use std::time::Duration;

sim_zk::named! {
    /// The kinds of fault that can be done to real servers, and to clients in this process.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Injection {
        /// A server is killed at once, and started again later.
        Kill = "kill",
        /// A server is asked to stop, and started again.
        Restart = "restart",
        /// Every server in turn is asked to stop, and started again: as for a new version.
        RollingRestart = "rolling-restart",
        /// A server is paused.
        Pause = "pause",
        /// A server is cut off from all others for a while, and not from its clients.
        Partition = "partition",
        /// The link from one server to another is delayed for a while.
        LinkHeld = "link-held",
        /// A client is paused.
        ClientPause = "client-pause",
        /// A client is cut off from all servers for a while.
        ClientPartition = "client-partition",
        /// A client is cut off until the ensemble has ended its session.
        SessionExpiry = "session-expiry",
        /// A client's connection breaks.
        Disconnect = "disconnect",
        /// A client's connection breaks before its next write reaches the server.
        RequestLost = "request-lost",
        /// A client's connection breaks when its next write was applied, before the reply reaches it.
        ReplyLost = "reply-lost",
    }
}

impl Injection {
    /// Whether it affects servers, or the links between them: then the run needs servers of our own, and a majority
    /// that continues without the target.
    pub fn strikes_servers(self) -> bool {
        use Injection::{Kill, LinkHeld, Partition, Pause, Restart, RollingRestart};
        matches!(self, Kill | Restart | RollingRestart | Pause | Partition | LinkHeld)
    }

    /// Whether it needs a link of our own between a client and its servers.
    pub fn strikes_connections(self) -> bool {
        !self.strikes_servers() && self != Injection::ClientPause
    }

    /// The range of its duration in milliseconds, for sessions with that timeout; 0..1 if it is instantaneous.
    fn lasts_ms(self, timeout_ms: u64) -> Range<u64> {
        match self {
            // A server needs about a second to come back.
            Injection::Kill | Injection::Restart => 50..1000,
            // The pause between two members: clients have hardly moved, or have settled elsewhere.
            Injection::RollingRestart => 50..2000,
            // Up to well beyond the ticks after which the other members disconnect it.
            Injection::Pause | Injection::Partition | Injection::LinkHeld => 100..4000,
            // From a short pause to beyond the session's end.
            Injection::ClientPause => timeout_ms / 40..timeout_ms * 5 / 4,
            Injection::ClientPartition => timeout_ms / 40..timeout_ms * 3 / 4,
            // Expiry is up to a tick late, and a tick is at most a quarter of the shortest timeout.
            Injection::SessionExpiry => timeout_ms * 5 / 4..timeout_ms * 3 / 2,
            Injection::Disconnect | Injection::RequestLost | Injection::ReplyLost => 0..1,
        }
    }
}

/// The target of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The leader at that time; if there is none, this server.
    Leader(u8),
    /// That server.
    Server(u8),
    /// The link from the first server to the second.
    Link(u8, u8),
    /// That client.
    Client(u8),
}

/// One planned fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The time since the end of the previous fault.
    pub after: Duration,
    /// The kind.
    pub hurt: Injection,
    /// The target.
    pub whom: Whom,
    /// The duration.
    pub lasts: Duration,
}

/// The possible kinds and targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The kinds of fault.
    pub kinds: Vec<Injection>,
    /// The number of servers.
    pub servers: u8,
    /// The number of clients.
    pub clients: u8,
    /// The timeout of their sessions.
    pub timeout: Duration,
}

/// An endless list of decisions.
#[derive(Clone, Debug)]
pub struct FaultSchedule {
    rng: Xoshiro256PlusPlus,
    scope: Scope,
    after_ms: Range<u64>,
}

impl FaultSchedule {
    /// The schedule for servers, if any kind affects them.
    pub fn for_servers(seed: u64, scope: &Scope) -> Option<FaultSchedule> {
        Self::of(seed ^ 0x7365_7276, scope, Injection::strikes_servers, 300..1500)
    }

    /// The schedule for clients, if any kind affects them.
    pub fn for_clients(seed: u64, scope: &Scope) -> Option<FaultSchedule> {
        Self::of(seed ^ 0x636c_6965, scope, |hurt| !hurt.strikes_servers(), 50..500)
    }

    fn of(
        seed: u64,
        scope: &Scope,
        which: impl Fn(Injection) -> bool,
        after_ms: Range<u64>,
    ) -> Option<FaultSchedule> {
        let kinds: Vec<Injection> = scope.kinds.iter().copied().filter(|kind| which(*kind)).collect();
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (!kinds.is_empty()).then(|| FaultSchedule { rng, scope: Scope { kinds, ..scope.clone() }, after_ms })
    }

    fn whom(&mut self, hurt: Injection) -> Whom {
        let Scope { servers, clients, .. } = self.scope;
        if !hurt.strikes_servers() {
            return Whom::Client(self.rng.random_range(0..clients));
        }
        let one = self.rng.random_range(0..servers);
        if hurt == Injection::LinkHeld {
            return Whom::Link(one, (one + self.rng.random_range(1..servers)) % servers);
        }
        if self.rng.random_bool(0.5) { Whom::Leader(one) } else { Whom::Server(one) }
    }
}

impl Iterator for FaultSchedule {
    type Item = Decision;

    fn next(&mut self) -> Option<Decision> {
        let after = Duration::from_millis(self.rng.random_range(self.after_ms.clone()));
        let hurt = self.scope.kinds[self.rng.random_range(0..self.scope.kinds.len())];
        let whom = self.whom(hurt);
        let lasts = hurt.lasts_ms(self.scope.timeout.as_millis() as u64);
        Some(Decision { after, hurt, whom, lasts: Duration::from_millis(self.rng.random_range(lasts)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(kinds: &[Injection]) -> Scope {
        Scope { kinds: kinds.to_vec(), servers: 3, clients: 4, timeout: Duration::from_secs(4) }
    }

    fn both(seed: u64, scope: &Scope) -> Vec<Decision> {
        let schedules = [FaultSchedule::for_servers(seed, scope), FaultSchedule::for_clients(seed, scope)];
        schedules.into_iter().flatten().flat_map(|schedule| schedule.take(500)).collect()
    }

    #[test]
    fn the_same_seed_decides_the_same_and_another_one_otherwise() {
        let all = scope(&Injection::ALL);
        assert_eq!(both(7, &all), both(7, &all));
        assert_ne!(both(7, &all), both(8, &all));
        let fewer = Scope { clients: 3, ..all.clone() };
        assert_ne!(both(7, &all), both(7, &fewer));
    }

    #[test]
    fn a_plan_comes_to_every_kind_that_is_asked_for_and_to_no_other() {
        for kinds in [&Injection::ALL[..], &[Injection::Pause, Injection::ReplyLost], &[Injection::Kill]] {
            let decided = both(1, &scope(kinds));
            let mut met: Vec<Injection> = decided.iter().map(|decision| decision.hurt).collect();
            met.sort_unstable();
            met.dedup();
            assert_eq!(met, kinds);
        }
        assert!(FaultSchedule::for_clients(1, &scope(&[Injection::Kill])).is_none());
        assert!(FaultSchedule::for_servers(1, &scope(&[Injection::Disconnect])).is_none());
    }

    #[test]
    fn everybody_is_struck_and_nobody_who_is_not_there() {
        let mut met: Vec<String> = Vec::new();
        for Decision { hurt, whom, lasts, .. } in both(3, &scope(&Injection::ALL)) {
            let fits = match whom {
                Whom::Leader(server) | Whom::Server(server) => hurt.strikes_servers() && server < 3,
                Whom::Link(from, to) => hurt == Injection::LinkHeld && from != to && from < 3 && to < 3,
                Whom::Client(client) => !hurt.strikes_servers() && client < 4,
            };
            assert!(fits, "{hurt:?} strikes {whom:?}");
            assert!(lasts <= Duration::from_secs(6), "{hurt:?} lasts for {lasts:?}");
            met.push(format!("{whom:?}"));
        }
        met.sort();
        met.dedup();
        assert_eq!(met.len(), 3 + 3 + 6 + 4, "{met:?}");
    }

    #[test]
    fn every_kind_is_known_by_its_name() {
        assert!(Injection::ALL.into_iter().all(|hurt| Injection::from_name(hurt.name()) == Some(hurt)));
        assert_eq!(Injection::from_name("kil"), None);
    }
}
