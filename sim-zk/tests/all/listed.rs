//! The list of simulated behaviour in the crate's documentation: each line names its tests, and they exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the text of every file below a directory.
fn sources(directory: &Path) -> String {
    let mut entries: Vec<_> = fs::read_dir(directory)
        .expect("it is there")
        .map(|entry| entry.expect("it is readable").path())
        .collect();
    entries.sort();
    let texts = entries.iter().map(|path| match path.extension() {
        None => sources(path),
        Some(_) => fs::read_to_string(path).unwrap_or_default(),
    });
    texts.collect()
}

/// Returns the words in backticks that look like test names.
fn tests_named(text: &str) -> BTreeSet<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|word| {
            word.matches('_').count() >= 2 && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        })
        .collect()
}

/// Returns the lines of the list under that heading of the crate's documentation.
fn lines_under(heading: &str) -> Vec<String> {
    let lib =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("it is there");
    let documentation: Vec<&str> =
        lib.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let text = documentation.join("\n");
    let (_, section) = text.split_once(&format!("# {heading}\n")).expect("the heading is there");
    let section = section.split("\n# ").next().unwrap_or_default();
    section.split("\n* ").skip(1).map(|line| line.replace('\n', " ")).collect()
}

#[test]
fn everything_that_is_simulated_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Real clients run the same session machine.
    let machine = sources(&root.join("../recipes/protocol/src/session"));
    let all = sources(&root.join("tests")) + &sources(&root.join("src")) + &machine;
    let lines = lines_under("What is simulated");
    assert!(lines.len() > 10, "the list is found");
    for line in lines {
        let tests = tests_named(&line);
        assert!(!tests.is_empty(), "no test is named: {line}");
        for test in tests {
            assert!(all.contains(&format!("fn {test}(")), "{test} is no test");
        }
    }
}

#[test]
fn everything_that_is_not_simulated_is_said() {
    assert!(lines_under("What is not").len() > 5, "the list is found");
}
