//! A sample of the viable mutants, drawn by a seed, uniformly.

use crate::mutant::Mutant;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// Draws `count` mutants, or all if there are no more, and numbers them from 0 in their order.
pub fn sample(mutants: &BTreeMap<u32, Mutant>, count: usize, seed: u64) -> BTreeMap<u32, Mutant> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut all: Vec<&Mutant> = mutants.values().collect();
    let (drawn, _) = all.partial_shuffle(&mut generator, count);
    drawn.sort_unstable();
    (0..).zip(drawn.iter().map(|mutant| (*mutant).clone())).collect()
}
