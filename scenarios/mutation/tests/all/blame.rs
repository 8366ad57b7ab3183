//! An error of the compiler is some mutant's: that whose text has the span in it, or those of the smallest switch.

use crate::common::{mutant, rewritten, source};
use std::collections::BTreeSet;
use std::ops::Range;
use zk_mutation::mutant::Genre;
use zk_mutation::schemata::Schemata;

fn example() -> Schemata {
    let source = source("fn f() -> u8 { g(1 + 2); a }");
    rewritten(
        &source,
        vec![
            mutant(&source, Genre::BinaryOperator, "+", "&&"),
            mutant(&source, Genre::DeleteStatement, "g(1 + 2);", ""),
            mutant(&source, Genre::RepeatStatement, "g(1 + 2);", ""),
        ],
    )
}

fn span(schemata: &Schemata, text: &str) -> Range<usize> {
    let start = schemata.text.rfind(text).expect("the text is there");
    start..start + text.len()
}

fn blamed(primary: &str, others: &str) -> BTreeSet<u32> {
    let schemata = example();
    let others = (!others.is_empty()).then(|| span(&schemata, others));
    schemata.blamed(&[span(&schemata, primary)], others.as_slice())
}

#[test]
fn a_span_in_a_branch_blames_its_mutant() {
    assert_eq!(blamed("1 && 2", ""), BTreeSet::from([0]));
}

#[test]
fn a_span_in_original_code_blames_the_smallest_switch() {
    assert_eq!(blamed("{ 1 + 2 }", ""), BTreeSet::from([0]));
}

#[test]
fn a_further_span_in_a_mutant_is_better_than_the_switch_around() {
    assert_eq!(blamed("{ 1 + 2 }", "is(2) { g(1 + 2); }"), BTreeSet::from([2]));
}

#[test]
fn a_span_outside_of_all_switches_blames_nobody() {
    assert_eq!(blamed("-> u8", ""), BTreeSet::new());
}
