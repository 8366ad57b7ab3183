//! The table of the mutants that lie: by which rule each of them must be killed, for every operation of every recipe.
//!
//! Their names are regular, and each is killed in the first runs: one row for each operation says more than one for each mutant.

use std::fmt::Write as _;
use zk_harness::workload::Workload;

/// Before the table in a README.
pub const BEGIN: &str = "<!-- lies: written by `cargo sim mutants --write-readme` -->";

/// After it.
pub const END: &str = "<!-- end of the lies -->";

/// The lies that the names of such mutants end with.
pub const LIES: [&str; 7] =
    ["pretends", "denies", "refuses", "repeats", "stops-halfway", "finds-nothing", "ends-clean"];

/// Whether it is such a mutant.
pub fn lies(workload: &Workload) -> bool {
    zk_catalogue::lying().any(|lying| lying == workload)
}

/// An operation, with the workload's name before it, and the lie; `None` if a name does not end with a lie.
pub fn parts(name: &str) -> Option<(&str, &'static str)> {
    LIES.iter().find_map(|lie| Some((name.strip_suffix(lie)?.strip_suffix('-')?, *lie)))
}

/// The table: a row for each operation, a column for each lie.
pub fn markdown() -> String {
    let mut rows: Vec<(&str, [&str; LIES.len()])> = Vec::new();
    for workload in zk_catalogue::lying() {
        let Some((operation, lie)) = parts(workload.name) else { continue };
        let rule = workload.caught_by.map_or("", |caught| caught.by.name());
        let column = LIES.iter().position(|known| *known == lie).unwrap_or_default();
        match rows.iter_mut().find(|(known, _)| *known == operation) {
            Some((_, cells)) => cells[column] = rule,
            None => {
                let mut cells = [""; LIES.len()];
                cells[column] = rule;
                rows.push((operation, cells));
            }
        }
    }
    let mut text = format!("\n| operation | {} |\n|---|{}\n", LIES.join(" | "), "---|".repeat(LIES.len()));
    for (operation, cells) in rows {
        let _ = writeln!(text, "| `{operation}` | {} |", cells.join(" | "));
    }
    text.push('\n');
    text
}
