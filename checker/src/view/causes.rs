//! What may have broken a connection, as far as a capture tells: the faults that strike one client, and those that may
//! concern any.
//!
//! In a simulation a loss needs no such reason: whatever broke a connection is in the history itself.

use super::{Moment, View};
use crate::history::{FaultKind, Kind, ObjectId, Victim};

/// For how many session timeouts after its end a fault may still break connections: servers that were cut off or killed
/// elect a leader, and sessions expire.
const AFTERMATH: u64 = 2;

/// Faults of one victim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Struck {
    /// How many last.
    lasting: u32,
    /// When the latest of the others was over.
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

    /// For how long none of them has struck, if any ever did.
    fn calm_for(self, now: u64) -> Option<u64> {
        if self.lasting > 0 { Some(0) } else { self.until.map(|until| now.saturating_sub(until)) }
    }
}

/// Whether a fault can break a connection, or keep a client from its pings.
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

    /// A fault that lasted is over. `paused` is when the process stood still, if that was it.
    pub(super) fn spares(&mut self, kind: FaultKind, victim: Victim, paused: Moment) {
        if self.is_sim() || !breaks_connections(kind) {
            return;
        }
        let now = self.now.at;
        let Victim::Process { client } = victim else { return self.struck.ends(now, true) };
        // A client pings three times in a timeout, and gives a connection up when two thirds of it are silent: a process that
        // stood still for less than the last third has missed nothing.
        let slack = (self.timeout / 3).saturating_sub(self.settle + self.round_trip);
        let matters = kind != FaultKind::ClientPause || !paused.came() || now - paused.at.min(now) >= slack;
        self.client_mut(client).struck.ends(now, matters);
    }

    /// For how long no fault has struck that may concern that client; none if none ever did.
    pub(crate) fn calm_for(&self, client: u16) -> Option<u64> {
        let now = self.now.at;
        let both = [self.struck.calm_for(now), self.client(client).struck.calm_for(now)];
        both.into_iter().flatten().min()
    }

    /// Whether nothing that happens to the connection of that client now has a fault for its reason.
    pub(crate) fn is_unstruck(&self, client: u16) -> bool {
        let aftermath = AFTERMATH * self.timeout + self.settle;
        self.faults_recorded && self.calm_for(client).is_none_or(|calm| calm > aftermath)
    }

    /// Whether a capture shows why a contender went: some client has sent a request to delete it, or may have done so within
    /// a transaction, of which only the first operation is recorded.
    pub(crate) fn may_have_been_deleted(&self, object: ObjectId, delete_sent: bool) -> bool {
        delete_sent || matches!(self.contest(object).kind, Kind::PriorityLock | Kind::RevocableLock)
    }
}
