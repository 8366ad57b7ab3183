//! Which statements are left out, and which stand twice.

use crate::common::source;
use zk_mutation::mutant::Genre;
use zk_mutation::statements::statements;

/// The genres and texts of a body's mutants.
fn edits(body: &str) -> Vec<String> {
    let source = source(&format!("fn f() {{ {body} }}"));
    let mutants = statements(&source).into_iter();
    mutants.map(|mutant| mutant.description.replace(" statement", "")).collect()
}

#[test]
fn a_call_is_deleted_and_repeated() {
    assert_eq!(edits("a.b().await?;"), ["delete `a.b().await?;`", "repeat `a.b().await?;`"]);
    assert_eq!(edits("let _ = f();"), ["delete `let _ = f();`", "repeat `let _ = f();`"]);
}

#[test]
fn an_assignment_is_deleted() {
    assert_eq!(edits("a = b; c += 1;"), ["delete `a = b;`", "delete `c += 1;`"]);
}

#[test]
fn a_value_that_is_used_stays() {
    assert!(edits("let a = b(); c()").is_empty());
}

#[test]
fn an_early_exit_is_deleted_where_a_value_follows_without_it() {
    assert_eq!(edits("if a { return; } b()"), ["delete `return;`"]);
    assert_eq!(edits("loop { a(); break; }").last().map(String::as_str), Some("delete `break;`"));
    assert!(edits("let Some(a) = b else { return; };").is_empty());
    assert!(edits("if a { return; } else { return; }").is_empty());
}

#[test]
fn spans_and_metrics_stay() {
    assert!(edits("observe::second_try(a);").is_empty());
}

#[test]
fn tests_and_text_forms_stay() {
    let tests = "#[cfg(test)] mod tests { fn f() { a(); } } #[test] fn g() { a(); }";
    assert!(statements(&source(tests)).is_empty());
    let text_form = "impl fmt::Debug for A { fn fmt(&self) { a(); } }";
    assert!(statements(&source(text_form)).is_empty());
    let other = "impl A { fn fmt(&self) { a(); } }";
    let genres: Vec<Genre> = statements(&source(other)).iter().map(|mutant| mutant.genre).collect();
    assert_eq!(genres, [Genre::DeleteStatement, Genre::RepeatStatement]);
}
