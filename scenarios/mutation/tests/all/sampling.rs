//! A sample is a function of its seed.

use crate::common::{mutant, source};
use std::collections::BTreeMap;
use zk_mutation::mutant::{Genre, Mutant};
use zk_mutation::sample::sample;

fn mutants() -> BTreeMap<u32, Mutant> {
    let source = source("fn f() { 1 + 2 }");
    let of = |number: u32| mutant(&source, Genre::BinaryOperator, "+", &number.to_string());
    (0..500).map(|number| (number, of(number))).collect()
}

#[test]
fn the_same_seed_draws_the_same_mutants() {
    let first = sample(&mutants(), 100, 7);
    assert_eq!(first, sample(&mutants(), 100, 7));
    assert_ne!(first, sample(&mutants(), 100, 8));
    assert_eq!(first.keys().copied().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
}

#[test]
fn no_mutant_is_drawn_twice_and_there_are_no_more_than_all() {
    let all = sample(&mutants(), 10_000, 7);
    let mut texts: Vec<_> = all.values().map(|mutant| mutant.replacement.clone()).collect();
    texts.sort();
    texts.dedup();
    assert_eq!((all.len(), texts.len()), (500, 500));
}
