//! The tables in the README of this folder.

use crate::rows::ROWS;
use anyhow::{Context, ensure};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use zk_report::place::Place;
use zk_report::whole_file;

const TABLES: Place = Place {
    begin: "<!-- The tables are made by `cargo peers --write-readme`. -->",
    end: "<!-- The end of the tables. -->",
};

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// Puts the tables of rows, each with its heading, into their place.
///
/// # Errors
///
/// There is no README, or it has no such place, or the tables that would stay were made under other conditions.
pub fn write(conditions: &str, tables: &[(&str, String)]) -> anyhow::Result<PathBuf> {
    let path = path();
    let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let no_place = || format!("the README has no place {TABLES:?}");
    let text = merged(TABLES.text(&page).with_context(no_place)?, conditions, tables)?;
    let page = TABLES.filled(&page, &text).with_context(no_place)?;
    whole_file::write(&path, page)?;
    Ok(path)
}

/// The tables of all rows: new ones, and those that are there already.
fn merged(old: &str, conditions: &str, tables: &[(&str, String)]) -> anyhow::Result<String> {
    let measured = |title: &str| tables.iter().find(|(of, _)| *of == title);
    ensure!(
        ROWS.iter().all(|row| measured(row.title).is_some()) || old.trim().starts_with(conditions.trim()),
        "the tables in the README were made under other conditions: measure all rows"
    );
    let mut text = format!("{}\n", conditions.trim());
    for row in ROWS {
        let stays = || old.split("\n### ").find(|section| section.lines().next() == Some(row.title));
        let table = match measured(row.title) {
            Some((_, table)) => table.trim().to_owned(),
            None => stays().map(|section| format!("### {}", section.trim())).unwrap_or_default(),
        };
        if !table.is_empty() {
            // A write to a string does not fail.
            let _ = writeln!(text, "\n{table}");
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_that_of_its_row_and_others_stay() {
        let (first, second, third) = (ROWS[0].title, ROWS[1].title, ROWS[2].title);
        let old = format!("\nMade here.\n\n### {first}\n\n| 1 |\n\n### {third}\n\n| 3 |\n");
        let new = [(second, format!("### {second}\n\n| 2 |\n")), (third, format!("### {third}\n\n| 4 |\n"))];
        let text = merged(&old, "Made here.\n", &new).unwrap();
        assert_eq!(
            text,
            format!("Made here.\n\n### {first}\n\n| 1 |\n\n### {second}\n\n| 2 |\n\n### {third}\n\n| 4 |\n")
        );
        assert_eq!(merged(&text, "Made here.\n", &[]).unwrap(), text);
        assert!(merged(&text, "Made there.\n", &new).is_err());
    }

    #[test]
    fn the_readme_has_a_place_for_the_tables() {
        assert!(TABLES.text(&std::fs::read_to_string(path()).unwrap()).is_some());
    }
}
