//! The tables in the README of this folder.

use anyhow::Context;
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

/// Puts the text into its place.
///
/// # Errors
///
/// There is no README, or it has no such place.
pub fn write(text: &str) -> anyhow::Result<PathBuf> {
    let path = path();
    let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let page = TABLES.filled(&page, text).with_context(|| format!("the README has no place {TABLES:?}"))?;
    whole_file::write(&path, page)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_a_place_for_the_tables() {
        assert!(TABLES.text(&std::fs::read_to_string(path()).unwrap()).is_some());
    }
}
