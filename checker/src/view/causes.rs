//! Causes of connection loss in a capture: faults that affect one client, and faults that may affect any.
//!
//! A simulation needs none of this: its history contains the cause of each connection loss.

use super::{Moment, View};
use crate::history::{FaultKind, ObjectId, Victim};

/// The number of session timeouts after the end of a fault in which it may still break connections: servers that were
/// cut off or killed elect a leader, and sessions expire.
const AFTERMATH: u64 = 2;

/// The faults that affect one client, or any client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Struck {
    /// The number of active faults.
    lasting: u32,
    /// The latest end of the finished ones.
    until: Option<u64>,
}

impl Struck {
    pub(crate) const NONE: Struck = Struck { lasting: 0, until: None };

    fn begins(&mut self, now: u64, lasts: u64) {
        match lasts {
            0 => self.until = Some(now),
            _ => self.lasting += 1,
        }
    }

    fn ends(&mut self, now: u64, matters: bool) {
        self.lasting = self.lasting.saturating_sub(1);
        if matters {
            self.until = Some(now);
        }
    }

    /// The time since the last fault, if there ever was one.
    fn calm_for(self, now: u64) -> Option<u64> {
        if self.lasting > 0 { Some(0) } else { self.until.map(|until| now.saturating_sub(until)) }
    }
}

/// Whether a fault can break a connection, or delay a client's pings.
fn breaks_connections(kind: FaultKind) -> bool {
    !matches!(
        kind,
        FaultKind::Cancel | FaultKind::ForeignDelete | FaultKind::ForeignWrite | FaultKind::ForeignCreate
    )
}

impl View {
    /// A fault begins.
    pub(super) fn strikes(&mut self, kind: FaultKind, victim: Victim, lasts: u64) {
        if self.is_sim() || !breaks_connections(kind) {
            return;
        }
        let now = self.now.at;
        match victim {
            Victim::Process { client } => self.client_mut(client).struck.begins(now, lasts),
            Victim::Server { .. } | Victim::Link { .. } => self.struck.begins(now, lasts),
        }
    }

    /// Ends a fault. For a pause, `paused` is its begin.
    pub(super) fn spares(&mut self, kind: FaultKind, victim: Victim, paused: Moment) {
        if self.is_sim() || !breaks_connections(kind) {
            return;
        }
        let now = self.now.at;
        let Victim::Process { client } = victim else { return self.struck.ends(now, true) };
        // A client pings three times in a timeout, and drops a connection after two thirds of it without a reply: a
        // process that was paused for less than the last third has missed nothing.
        let slack = (self.timeout / 3).saturating_sub(self.settle + self.round_trip);
        let matters = kind != FaultKind::ClientPause || !paused.came() || now - paused.at.min(now) >= slack;
        self.client_mut(client).struck.ends(now, matters);
    }

    /// The time since the last fault that may affect a client; none if there never was one.
    pub(crate) fn calm_for(&self, client: u16) -> Option<u64> {
        let now = self.now.at;
        let both = [self.struck.calm_for(now), self.client(client).struck.calm_for(now)];
        both.into_iter().flatten().min()
    }

    /// Whether a loss of this client's connection now would have no fault as its cause.
    pub(crate) fn is_unstruck(&self, client: u16) -> bool {
        let aftermath = AFTERMATH * self.timeout + self.settle;
        self.faults_recorded && self.calm_for(client).is_none_or(|calm| calm > aftermath)
    }

    /// Whether a capture shows why a contender was deleted: a client has sent a request to delete it, or may have done
    /// so within a transaction, of which only the first operation is recorded.
    pub(crate) fn may_have_been_deleted(&self, object: ObjectId, delete_sent: bool) -> bool {
        delete_sent || self.protocol(object).is_revocable()
    }
}
