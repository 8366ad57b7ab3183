//! Dense ids for values, so that tables can be indexed by them.

use super::{Number, Operation, Operations};

/// Ids from zero on, without large holes.
pub(super) enum Ids {
    /// The values are dense already.
    Same,
    /// By operation.
    Ranks(Vec<u32>),
}

impl Ids {
    /// The id of the value of an operation.
    pub(super) fn of(&self, number: Number, value: u32) -> usize {
        match self {
            Ids::Same => value as usize,
            Ids::Ranks(ranks) => ranks[number.at()] as usize,
        }
    }
}

/// An upper bound of the ids, and the ids of the values that operations have.
pub(super) fn dense<A: Copy>(
    history: &Operations<A>,
    value: impl Fn(&Operation<A>) -> Option<u32>,
) -> (usize, Ids) {
    let largest = history.iter().filter_map(|(_, operation)| value(operation)).max();
    let Some(largest) = largest else { return (0, Ids::Same) };
    if (largest as usize) < history.len().saturating_mul(4) + 1024 {
        return (largest as usize + 1, Ids::Same);
    }
    let mut values: Vec<(u32, Number)> =
        history.iter().filter_map(|(number, operation)| Some((value(operation)?, number))).collect();
    values.sort_unstable();
    let mut ranks = vec![u32::MAX; history.len()];
    let mut rank = 0;
    for (at, (value, number)) in values.iter().enumerate() {
        if at > 0 && values[at - 1].0 != *value {
            rank += 1;
        }
        ranks[number.at()] = rank;
    }
    (rank as usize + 1, Ids::Ranks(ranks))
}
