//! Interned texts.

use super::Sym;
use std::collections::BTreeMap;

/// Interned texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    texts: Vec<String>,
    index: BTreeMap<String, Sym>,
}

impl Names {
    /// The symbol of a text, created if need be.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.index.get(text) {
            return *sym;
        }
        let sym = Sym(u32::try_from(self.texts.len()).expect("fewer than 2^32 names in a history"));
        self.texts.push(text.to_owned());
        self.index.insert(text.to_owned(), sym);
        sym
    }

    /// The text of a symbol.
    ///
    /// # Panics
    ///
    /// If the symbol is not of this table.
    pub fn text(&self, sym: Sym) -> &str {
        &self.texts[sym.0 as usize]
    }

    /// The symbol of a text, if it has one.
    pub fn find(&self, text: &str) -> Option<Sym> {
        self.index.get(text).copied()
    }

    /// The text of a symbol, if the symbol is of this table.
    pub fn get(&self, sym: Sym) -> Option<&str> {
        self.texts.get(sym.0 as usize).map(String::as_str)
    }

    /// All texts, in the order of their symbols.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }
}
