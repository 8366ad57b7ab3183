//! The list of cargo-mutants is read, and files are of one scope at the most.

use crate::common::source;
use clap::ValueEnum as _;
use zk_mutation::listing::Listed;
use zk_mutation::mutant::Genre;
use zk_mutation::scope::Scope;

fn listed(genre: &str, function: &str) -> Listed {
    let place = |column: u32| serde_json::json!({"line": 2, "column": column});
    serde_json::from_value(serde_json::json!({
        "file": "recipes/src/small.rs", "genre": genre, "replacement": "!=",
        "name": "recipes/src/small.rs:2:9: replace == with != in f",
        "function": {"function_name": function},
        "span": {"start": place(9), "end": place(11)},
    }))
    .expect("it is a mutant of cargo-mutants")
}

#[test]
fn a_span_is_counted_in_characters() {
    let source = source("fn f(ä: u8) -> bool {\n  \"ä\" /*ä*/ == ä\n}");
    let mut read =
        listed("BinaryOperator", "f").mutant(&source).expect("the place is there").expect("it is one");
    assert_eq!(&source.text[read.span.start..read.span.end], "ä*");
    read.span = (0..0).into();
    assert_eq!((read.genre, read.line), (Genre::BinaryOperator, 2));
    assert_eq!(read.title(), "recipes/src/small.rs:2: replace == with != in f");
}

#[test]
fn text_forms_and_unknown_genres_are_left_out() {
    let source = source("fn f() -> bool {\n     a  == b\n}");
    assert!(listed("StructField", "f").mutant(&source).expect("the place is there").is_none());
    let debug = listed("BinaryOperator", "<impl Debug for A>::fmt");
    assert!(debug.mutant(&source).expect("the place is there").is_none());
}

#[test]
fn a_span_outside_of_the_file_is_an_error() {
    assert!(listed("BinaryOperator", "f").mutant(&source("fn f() {}")).is_err());
}

#[test]
fn a_file_is_of_one_scope_at_the_most() {
    let of = |file: &str| -> Vec<&str> {
        let scopes = Scope::value_variants().iter().filter(|scope| scope.contains(file));
        scopes.map(|scope| scope.name()).collect()
    };
    assert_eq!(of("recipes/src/lock.rs"), ["recipes"]);
    assert_eq!(of("recipes/client/src/core.rs"), ["client"]);
    assert_eq!(of("recipes/protocol/src/session/mod.rs"), ["protocol"]);
    assert_eq!(of("checker/src/judge.rs"), ["checker"]);
    assert!(of("recipes/suite/src/reads.rs").is_empty());
    assert!(of("recipes/src/observe/spans.rs").is_empty());
    assert!(of("recipes/tests/all/lock.rs").is_empty());
}
