//! A set of kinds of fault.

use sim_zk::fault::{Fault, InjectionPoint};

/// A set of kinds of fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FaultSet(u32);

impl FaultSet {
    /// The set of these kinds.
    pub fn of(kinds: &[Fault]) -> FaultSet {
        FaultSet(kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u32))
    }

    /// The choices at an injection point that inject one of these kinds.
    pub fn choices_at(self, point: InjectionPoint) -> impl Iterator<Item = u32> {
        (1..).zip(point.faults()).filter(move |(_, kind)| self.0 & 1 << **kind as u32 != 0).map(|(n, _)| n)
    }
}
