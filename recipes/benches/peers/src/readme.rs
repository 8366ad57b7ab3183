//! The tables in the README of this folder.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- The tables are made by `cargo peers --write-readme`. -->\n";
const END: &str = "<!-- The end of the tables. -->\n";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// Puts the text between the marks.
///
/// # Errors
///
/// There is no README, or it has no marks.
pub fn write(text: &str) -> anyhow::Result<PathBuf> {
    let path = path();
    let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    std::fs::write(&path, within(&page, text)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

fn within(page: &str, text: &str) -> anyhow::Result<String> {
    let Some((before, rest)) = page.split_once(BEGIN) else { bail!("the README has no mark {BEGIN:?}") };
    let Some((_, after)) = rest.split_once(END) else { bail!("the README has no mark {END:?}") };
    Ok(format!("{before}{BEGIN}\n{}\n\n{END}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_between_the_marks_is_replaced() {
        let page = format!("top\n{BEGIN}old\n{END}bottom\n");
        let written = within(&page, "new\n").unwrap();
        assert_eq!(written, format!("top\n{BEGIN}\nnew\n\n{END}bottom\n"));
        assert_eq!(within(&written, "new\n").unwrap(), written);
        assert!(within("no marks", "new").is_err());
        within(&std::fs::read_to_string(path()).unwrap(), "new").unwrap();
    }
}
