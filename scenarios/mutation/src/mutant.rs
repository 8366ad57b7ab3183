//! A mutant: one small edit of one source file, and the kinds of edit that there are.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The kind of edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Genre {
    /// The body of a function is replaced by a value of its return type.
    FnValue,
    /// A binary operator is replaced by another one.
    BinaryOperator,
    /// A `!` or a `-` is left out.
    UnaryOperator,
    /// An arm of a match never matches; a later wildcard takes its cases.
    MatchArm,
    /// The guard of a match arm is always true, or always false.
    MatchArmGuard,
    /// A statement is left out: a call whose value is not used, an assignment, an early exit.
    DeleteStatement,
    /// A call whose value is not used is made twice.
    RepeatStatement,
}

impl Genre {
    /// All genres.
    pub const ALL: [Genre; 7] = [
        Genre::FnValue,
        Genre::BinaryOperator,
        Genre::UnaryOperator,
        Genre::MatchArm,
        Genre::MatchArmGuard,
        Genre::DeleteStatement,
        Genre::RepeatStatement,
    ];

    /// The genre in words, for tables.
    pub fn words(self) -> &'static str {
        match self {
            Genre::FnValue => "function body replaced by a value",
            Genre::BinaryOperator => "binary operator replaced",
            Genre::UnaryOperator => "unary operator deleted",
            Genre::MatchArm => "match arm deleted",
            Genre::MatchArmGuard => "match guard replaced by a constant",
            Genre::DeleteStatement => "statement deleted",
            Genre::RepeatStatement => "statement executed twice",
        }
    }
}

/// One edit of one source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mutant {
    /// The file, relative to the workspace.
    pub file: String,
    /// What is replaced, in bytes of the file.
    pub span: Bytes,
    /// The kind of edit.
    pub genre: Genre,
    /// The text that replaces the span; empty for a deletion.
    pub replacement: String,
    /// The line of the edit, from 1.
    pub line: usize,
    /// The edit in words.
    pub description: String,
}

/// A range of bytes that can be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bytes {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
}

impl From<Range<usize>> for Bytes {
    fn from(range: Range<usize>) -> Self {
        Bytes { start: range.start, end: range.end }
    }
}

impl From<Bytes> for Range<usize> {
    fn from(range: Bytes) -> Self {
        range.start..range.end
    }
}

impl Mutant {
    /// The place and the edit, in a line.
    pub fn title(&self) -> String {
        format!("{}:{}: {}", self.file, self.line, self.description)
    }
}
