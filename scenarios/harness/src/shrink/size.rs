//! The size of a run, for a human reader.

/// The size of a run. Earlier fields weigh more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Size {
    /// The number of client processes.
    pub clients: u8,
    /// The number of rounds of each.
    pub rounds: u32,
    /// The number of servers.
    pub servers: u8,
    /// The number of acts of foreign clients.
    pub acts: u32,
    /// The number of injected faults.
    pub faults: u32,
    /// The number of choices that are not the default.
    pub choices: usize,
    /// The sum of all choices.
    pub sum: u64,
    /// The number of events.
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
