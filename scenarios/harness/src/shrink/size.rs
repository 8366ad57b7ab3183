//! The size of a run, for a human reader.

use super::Failure;
use crate::interference::is_foreign;

/// The size of a run. Earlier fields weigh more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Size {
    /// Client processes.
    pub clients: u8,
    /// Rounds of each.
    pub rounds: u32,
    /// Servers.
    pub servers: u8,
    /// The acts of foreign clients.
    pub acts: u32,
    /// Injected faults.
    pub faults: u32,
    /// Choices that are not the default.
    pub choices: usize,
    /// The sum of all choices.
    pub sum: u64,
    /// Events.
    pub events: usize,
}

impl Size {
    /// Whether no figure that matters to a reader exceeds that of another run.
    pub fn is_within(&self, other: &Size) -> bool {
        self.clients <= other.clients
            && self.rounds <= other.rounds
            && self.servers <= other.servers
            && self.acts <= other.acts
            && self.faults <= other.faults
            && self.choices <= other.choices
    }

    /// Whether it is small enough to read.
    pub fn is_small(&self) -> bool {
        self.clients <= 3 && self.choices <= 12
    }
}

impl Failure {
    /// Its size.
    pub fn size(&self) -> Size {
        let acts = self.run.faults().filter(|kind| is_foreign(*kind)).count();
        Size {
            clients: self.plan.clients,
            rounds: self.plan.rounds,
            servers: self.plan.servers,
            acts: acts as u32,
            faults: self.deviations.iter().filter(|deviation| deviation.is_fault()).count() as u32,
            choices: self.deviations.len(),
            sum: self.deviations.iter().map(|deviation| u64::from(deviation.choice)).sum(),
            events: self.run.history.events.len(),
        }
    }
}
