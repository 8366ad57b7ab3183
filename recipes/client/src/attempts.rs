//! The attempts of a session that has no connection: what those of this round are doing, and why the latest ones failed.

use std::net::SocketAddr;
use std::time::Duration;

use super::failed::{Failed, Stage};
use zk_recipes::zk::{ConnectFailure, ConnectFailureKind, Unreachable};

/// An attempt in progress.
struct Running {
    id: u32,
    server: String,
    peer: Option<SocketAddr>,
    stage: Stage,
}

#[derive(Default)]
pub(super) struct Attempts {
    running: Vec<Running>,
    /// The latest failure with each server and address, in the order in which they occurred.
    failures: Vec<ConnectFailure>,
    next_id: u32,
    /// Every server has failed for a reason that waiting does not mend.
    pub(super) are_hopeless: bool,
}

impl Attempts {
    pub(super) fn begin(&mut self, server: String, peer: Option<SocketAddr>, stage: Stage) -> u32 {
        self.next_id += 1;
        self.running.push(Running { id: self.next_id, server, peer, stage });
        self.next_id
    }

    pub(super) fn at(&mut self, id: u32, stage: Stage) {
        if let Some(running) = self.running.iter_mut().find(|running| running.id == id) {
            running.stage = stage;
        }
    }

    /// The attempt is at its end.
    pub(super) fn end(&mut self, id: u32) {
        self.running.retain(|running| running.id != id);
    }

    /// The attempt has failed. Returns the failure.
    pub(super) fn fail(&mut self, id: u32, why: Failed) -> Option<ConnectFailure> {
        let at = self.running.iter().position(|running| running.id == id)?;
        let failure = self.running.remove(at).failed(why);
        replace(&mut self.failures, &failure);
        Some(failure)
    }

    /// The round is over: what is still running has taken too long.
    pub(super) fn time_out(&mut self, limit: Duration) -> Vec<ConnectFailure> {
        let late: Vec<_> = self.late(limit).collect();
        self.running.clear();
        late.iter().for_each(|failure| _ = replace(&mut self.failures, failure));
        late
    }

    /// Whether each failure is one that waiting does not mend; false without any.
    pub(super) fn are_lasting(&self) -> bool {
        !self.failures.is_empty() && self.failures.iter().all(|failure| failure.is_lasting)
    }

    pub(super) fn failures(&self) -> Unreachable {
        self.failures.iter().cloned().collect()
    }

    /// There is a connection.
    pub(super) fn succeed(&mut self) {
        self.running.clear();
        self.failures.clear();
    }

    /// The causes, if the time is over now. Where an attempt has failed before, nothing is said of the one that goes on: it
    /// may have begun a moment ago.
    pub(super) fn causes(&self, limit: Duration) -> Unreachable {
        let is_first =
            |late: &ConnectFailure| !self.failures.iter().any(|failure| has_same_target(failure, late));
        self.failures.iter().cloned().chain(self.late(limit).filter(is_first)).collect()
    }

    /// What is said of those that are running: of several with one server, the first has waited for the longest.
    fn late(&self, limit: Duration) -> impl Iterator<Item = ConnectFailure> {
        let same = |one: &Running, other: &Running| one.server == other.server && one.peer == other.peer;
        let firsts = self.running.iter().enumerate();
        let firsts =
            firsts.filter(move |(at, running)| !self.running[..*at].iter().any(|other| same(other, running)));
        firsts.map(move |(_, running)| running.late(limit))
    }
}

/// Keeps a failure as the latest one of its server. Returns whether it is another one than before.
pub(super) fn replace(failures: &mut Vec<ConnectFailure>, failure: &ConnectFailure) -> bool {
    let is_news = !failures.contains(failure);
    failures.retain(|old| !has_same_target(old, failure));
    failures.push(failure.clone());
    is_news
}

impl Running {
    fn failed(self, why: Failed) -> ConnectFailure {
        let Failed { kind, message, is_lasting } = why;
        let failure = ConnectFailure::new(self.server, self.peer, kind, message);
        if is_lasting { failure.lasting() } else { failure }
    }

    fn late(&self, limit: Duration) -> ConnectFailure {
        let message = format!("{} within {limit:?}", self.stage.awaits());
        ConnectFailure::new(self.server.clone(), self.peer, ConnectFailureKind::TimedOut, message)
    }
}

/// Whether two failures are of one server and address. A name that could not be resolved may have addresses by now, and the
/// other way round.
fn has_same_target(one: &ConnectFailure, other: &ConnectFailure) -> bool {
    one.server == other.server && (one.peer == other.peer || one.peer.is_none() || other.peer.is_none())
}
