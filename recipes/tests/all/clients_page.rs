//! The page that compares the two clients names what holds each of its rows: rules of the behaviour suite, and tests.

use std::collections::BTreeMap;
use std::path::Path;
use zk_suite::{CASES, UNDER_FAULTS};

/// A name in the last column, and whether the page says that it holds under faults.
struct Named<'a> {
    name: &'a str,
    under_faults: bool,
}

/// The names in the last column of each row.
fn named(page: &str) -> Vec<Named<'_>> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| behaviour"));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [_, _, _, compared, held_by] = cells[..] else { panic!("a row has five cells: {row}") };
        let (word, why) = compared.split_once(' ').unwrap_or((compared, ""));
        assert!(
            word.starts_with("same") || (word == "differs:" || word == "differs") && !why.is_empty(),
            "{row}"
        );
        held_by.trim().split(", ").map(move |name| {
            let under_faults = name.starts_with('*');
            let name = name.trim_matches('*');
            let name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            Named { name: name.unwrap_or_else(|| panic!("a name in backticks: {row}")), under_faults }
        })
    })
    .collect()
}

#[test]
fn every_rule_stands_in_one_row_and_every_row_names_what_holds_it() {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(crate_root.join("CLIENTS.md")).expect("the page is there");
    // The last table has other columns, and a test on real servers compares it.
    let (page, _) = page.split_once("\n## What each failure looks like").expect("the page has that chapter");
    let mut rules: BTreeMap<&str, u32> = CASES.iter().map(|(name, _)| (*name, 0)).collect();
    for Named { name, under_faults } in named(page) {
        if let Some((file, test)) = name.split_once("::") {
            let source = std::fs::read_to_string(crate_root.join("..").join(file));
            let source = source.unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(source.contains(&format!("fn {test}(")), "there is no {test} in {file}");
            continue;
        }
        let rows = rules.get_mut(name).unwrap_or_else(|| panic!("there is no rule {name}"));
        *rows += 1;
        assert_eq!(under_faults, UNDER_FAULTS.contains(&name), "{name}: rules for faults are in italics");
    }
    let wrong: Vec<_> = rules.into_iter().filter(|(_, rows)| *rows != 1).collect();
    assert!(wrong.is_empty(), "a rule stands in one row; in so many: {wrong:?}");
}
