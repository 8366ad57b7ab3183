//! The table of the lying mutants: the rule that must kill each of them, for every operation of every recipe.
//!
//! All are killed within the first runs, so the table has a row for each operation instead of each mutant.

use std::fmt::Write as _;
use zk_catalogue::lies::How;
use zk_harness::workload::Workload;
use zk_report::place::Place;

/// The place of the table in a README.
pub const PLACE: Place = Place {
    begin: "<!-- lies: written by `cargo sim mutants --write-readme` -->",
    end: "<!-- end of the lies -->",
};

/// Whether it is a lying mutant.
pub fn lies(workload: &Workload) -> bool {
    zk_catalogue::lying().any(|lying| lying == workload)
}

/// The table: a row for each operation, a column for each lie.
pub fn markdown() -> String {
    const COLUMNS: usize = How::NAMES.len();
    let mut rows: Vec<(&str, [&str; COLUMNS])> = Vec::new();
    for mutant in zk_catalogue::lies::all() {
        let at = rows.iter().position(|(known, _)| *known == mutant.operation).unwrap_or_else(|| {
            rows.push((&mutant.operation, [""; COLUMNS]));
            rows.len() - 1
        });
        rows[at].1[mutant.lie.how.column()] = mutant.workload.caught_by.map_or("", |caught| caught.by.name());
    }
    let mut text = format!("| operation | {} |\n|---|{}\n", How::NAMES.join(" | "), "---|".repeat(COLUMNS));
    for (operation, cells) in rows {
        let _ = writeln!(text, "| `{operation}` | {} |", cells.join(" | "));
    }
    text
}
