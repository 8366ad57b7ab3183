//! A source file as text and as a syntax tree whose spans are bytes of that text.

use anyhow::{Context, anyhow};
use std::ops::Range;
use syn::spanned::Spanned;

/// A parsed source file.
pub struct Source {
    /// The path, relative to the workspace.
    pub path: String,
    /// The text.
    pub text: String,
    /// The syntax tree.
    pub tree: syn::File,
    lines: Vec<usize>,
}

impl Source {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// The text is not Rust.
    pub fn parse(path: &str, text: String) -> anyhow::Result<Source> {
        let tree = syn::parse_file(&text).with_context(|| format!("{path} does not parse"))?;
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Ok(Source { path: path.to_owned(), text, tree, lines })
    }

    /// The byte at a line and a column, both counted from 1, the column in characters.
    ///
    /// # Errors
    ///
    /// There is no such place.
    pub fn offset(&self, line: usize, column: usize) -> anyhow::Result<usize> {
        let none = || anyhow!("{} has no place {line}:{column}", self.path);
        let start = *line.checked_sub(1).and_then(|line| self.lines.get(line)).ok_or_else(none)?;
        let ahead = column.checked_sub(1).ok_or_else(none)?;
        let rest = &self.text[start..];
        let within = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(ahead);
        Ok(start + within.ok_or_else(none)?)
    }

    /// The line of a byte, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    /// A piece of the text in one line of at most 60 characters.
    pub fn excerpt(&self, range: Range<usize>) -> String {
        let words: Vec<&str> = self.text[range].split_whitespace().collect();
        let line = words.join(" ").replace(" .", ".");
        match line.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

/// The bytes of a piece of the tree.
pub fn bytes(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}
