//! Each genre has its switch, and switches stand inside each other.

use crate::common::{mutant, rewritten, source, text};
use zk_mutation::mutant::Genre;
use zk_mutation::source::Source;

#[test]
fn a_body_returns_early() {
    let source = source("fn f() -> bool { g() }");
    let mutants =
        vec![mutant(&source, Genre::FnValue, "g()", "true"), mutant(&source, Genre::FnValue, "g()", "false")];
    let schemata = rewritten(&source, mutants);
    assert_eq!(
        text(&schemata),
        "fn f() -> bool { if is(0) { return true; } if is(1) { return false; } g() }"
    );
    assert!(schemata.missing.is_empty());
}

#[test]
fn operators_have_a_branch_each_and_only_the_original_holds_inner_switches() {
    let source = source("fn f() -> bool { a == b && !c }");
    let mutants = vec![
        mutant(&source, Genre::BinaryOperator, "&&", "||"),
        mutant(&source, Genre::BinaryOperator, "==", "!="),
        mutant(&source, Genre::UnaryOperator, "!", ""),
    ];
    assert_eq!(
        text(&rewritten(&source, mutants)),
        "fn f() -> bool { (if is(0) { a == b || !c } else \
         { (if is(1) { a != b } else { a == b }) && (if is(2) { c } else { !c }) }) }"
    );
}

#[test]
fn a_statement_is_left_out_or_stands_twice() {
    let source = source("fn f() { g(a == b)?; h() }");
    let mutants = vec![
        mutant(&source, Genre::DeleteStatement, "g(a == b)?;", ""),
        mutant(&source, Genre::RepeatStatement, "g(a == b)?;", ""),
        mutant(&source, Genre::BinaryOperator, "==", "!="),
    ];
    assert_eq!(
        text(&rewritten(&source, mutants)),
        "fn f() { if is(1) { g(a == b)?; } if !is(0) { g((if is(2) { a != b } else { a == b }))?; } h() }"
    );
}

#[test]
fn an_arm_is_switched_off_by_a_guard() {
    let source = source("fn f() { match a { 1 => b, 2 if c == d => e, _ => g } }");
    let mutants = vec![
        mutant(&source, Genre::MatchArm, "1 => b,", ""),
        mutant(&source, Genre::MatchArm, "2 if c == d => e,", ""),
        mutant(&source, Genre::MatchArmGuard, "c == d", "true"),
        mutant(&source, Genre::BinaryOperator, "==", "!="),
    ];
    assert_eq!(
        text(&rewritten(&source, mutants)),
        "fn f() { match a { 1 if true && !is(0) => b, \
         2 if !is(1) && (if is(2) { true } else { (if is(3) { c != d } else { c == d }) }) => e, _ => g } }"
    );
}

#[test]
fn a_condition_that_binds_has_no_switch_and_its_parts_have() {
    let source = source("fn f() { if a == b && let Some(c) = d { e() } }");
    let mutants = vec![
        mutant(&source, Genre::BinaryOperator, "&&", "||"),
        mutant(&source, Genre::BinaryOperator, "==", "!="),
    ];
    let schemata = rewritten(&source, mutants);
    assert_eq!(schemata.missing, [0]);
    assert!(text(&schemata).contains("if (if is(1) { a != b } else { a == b }) && let Some(c) = d {"));
}

#[test]
fn a_file_without_mutants_is_as_it_was() {
    let text = "//! A module.\n\nfn f() -> u8 {\n    // Why.\n    1 + 2\n}\n";
    assert_eq!(rewritten(&source(text), Vec::new()).text, text);
}

#[test]
fn a_mutant_of_another_place_is_missing() {
    let source = source("fn f() -> u8 { 1 + 2 }");
    let mutants = vec![mutant(&source, Genre::BinaryOperator, "2", "-")];
    let schemata = rewritten(&source, mutants);
    assert_eq!((schemata.missing.as_slice(), schemata.text.as_str()), ([0].as_slice(), source.text.as_str()));
}

#[test]
fn a_rewritten_file_parses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sites.rs");
    let source = source(&std::fs::read_to_string(path).expect("the file is there"));
    let mutants = zk_mutation::statements::statements(&source);
    assert!(mutants.len() > 20, "{} statements", mutants.len());
    let schemata = rewritten(&source, mutants);
    assert!(schemata.missing.is_empty(), "{:?}", schemata.missing);
    Source::parse("sites.rs", schemata.text).expect("it parses");
}

#[test]
fn a_broken_file_is_refused() {
    let refused = Source::parse("recipes/src/broken.rs", "fn f( {".to_owned()).err().expect("it is not Rust");
    assert_eq!(refused.to_string(), "recipes/src/broken.rs does not parse");
}
