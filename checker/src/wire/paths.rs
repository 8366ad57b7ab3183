//! Paths by number: each is parsed once.

use super::naming::{self, Name};
use crate::history::{Sym, Tables};
use std::collections::BTreeMap;

/// The number of a path, of a directory, or of a path without its sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TextId(u32);

impl TextId {
    /// The smallest one.
    pub(super) const FIRST: TextId = TextId(0);
}

/// A parsed path.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParsedPath {
    pub(super) path: TextId,
    pub(super) directory: TextId,
    /// The path without its sequence number: the path of the request that created it.
    pub(super) front: TextId,
    pub(super) name: Name,
}

/// The paths so far.
#[derive(Debug, Default)]
pub(super) struct Paths {
    numbers: BTreeMap<String, TextId>,
    texts: Vec<String>,
    /// By the number of the history's own symbol.
    places: Vec<Option<ParsedPath>>,
}

impl Paths {
    /// Parses the path of a symbol.
    pub(super) fn parsed(&mut self, tables: Tables<'_>, sym: Sym) -> ParsedPath {
        let at = sym.0 as usize;
        if let Some(Some(parsed)) = self.places.get(at) {
            return *parsed;
        }
        let path = tables.names.get(sym).unwrap_or_default();
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let name_length = name.len();
        let directory = self.number(if directory.is_empty() { "/" } else { directory });
        let name = naming::read(name);
        let front = name.front.map_or(path.len(), |front| path.len() - name_length + front);
        let parsed =
            ParsedPath { path: self.number(path), directory, front: self.number(&path[..front]), name };
        if self.places.len() <= at {
            self.places.resize(at + 1, None);
        }
        self.places[at] = Some(parsed);
        parsed
    }

    fn number(&mut self, text: &str) -> TextId {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = TextId(u32::try_from(self.texts.len()).expect("fewer than 2^32 paths in a history"));
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The text of a number.
    pub(super) fn text(&self, number: TextId) -> &str {
        &self.texts[number.0 as usize]
    }

    /// The number of a known text.
    pub(super) fn find(&self, text: &str) -> Option<TextId> {
        self.numbers.get(text).copied()
    }

    /// The name of a znode, without its directory.
    pub(super) fn name(&self, path: TextId) -> &str {
        self.text(path).rsplit('/').next().unwrap_or_default()
    }
}
