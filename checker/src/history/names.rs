//! Interned texts.

use super::Sym;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Interned texts. A text keeps its symbol until it is forgotten; a symbol never gets another text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The first ones, which are never forgotten.
    fixed: Vec<Arc<str>>,
    /// Kept texts with symbols from the end of `fixed` to `base`.
    old: BTreeMap<usize, Arc<str>>,
    /// The texts of the symbols from `base` on.
    texts: VecDeque<Arc<str>>,
    base: usize,
    index: BTreeMap<Arc<str>, Sym>,
}

impl Names {
    /// The symbol of a text, created if missing.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.index.get(text) {
            return *sym;
        }
        self.add(text.into())
    }

    /// Gives the next symbol to a text, as in another table of the same history.
    pub fn add(&mut self, text: Arc<str>) -> Sym {
        let sym = Sym(u32::try_from(self.end()).expect("fewer than 2^32 names in a history"));
        self.texts.push_back(text.clone());
        self.index.insert(text, sym);
        sym
    }

    /// The text of a symbol.
    ///
    /// # Panics
    ///
    /// If the symbol is not of this table, or its text was forgotten.
    pub fn text(&self, sym: Sym) -> &str {
        self.get(sym).expect("a symbol of this table")
    }

    /// The symbol of a text, if it has one.
    pub fn find(&self, text: &str) -> Option<Sym> {
        self.index.get(text).copied()
    }

    /// The text of a symbol, if the symbol is of this table and its text was not forgotten.
    pub fn get(&self, sym: Sym) -> Option<&str> {
        self.shared(sym).map(|text| &**text)
    }

    /// The same, to be shared.
    pub fn shared(&self, sym: Sym) -> Option<&Arc<str>> {
        let at = sym.0 as usize;
        match at.checked_sub(self.base) {
            Some(at) => self.texts.get(at),
            None => self.fixed.get(at).or_else(|| self.old.get(&at)),
        }
    }

    /// All texts that were not forgotten, in the order of their symbols.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.fixed.iter().chain(self.old.values()).chain(&self.texts).map(|text| &**text)
    }

    /// The number of symbols that were given out.
    pub fn end(&self) -> usize {
        self.base + self.texts.len()
    }

    /// Keeps the current texts for good: later calls of [`forget`](Names::forget) do not drop them.
    pub fn keep_all(&mut self) {
        if self.base == self.fixed.len() {
            self.fixed.extend(self.texts.drain(..));
            self.base = self.fixed.len();
        }
    }

    /// Forgets texts of symbols before `end` that no later event will name. If such a text is added again, it gets another
    /// symbol.
    pub fn forget(&mut self, end: usize, mut is_kept: impl FnMut(Sym) -> bool) {
        let mut stays = |at: usize| is_kept(Sym(at as u32));
        for (_, text) in self.old.extract_if(..end, |at, _| !stays(*at)) {
            self.index.remove(&text);
        }
        while self.base < end
            && let Some(text) = self.texts.pop_front()
        {
            if stays(self.base) {
                self.old.insert(self.base, text);
            } else {
                self.index.remove(&text);
            }
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_forgotten_comes_again_as_another_symbol() {
        let mut names = Names::default();
        let all: Vec<Sym> = ["a", "b", "c", "d"].iter().map(|text| names.intern(text)).collect();
        names.forget(3, |sym| sym == all[1]);
        assert_eq!(
            all.iter().map(|sym| names.get(*sym)).collect::<Vec<_>>(),
            [None, Some("b"), None, Some("d")]
        );
        assert_eq!((names.find("b"), names.find("a")), (Some(all[1]), None));
        assert_eq!(names.intern("a"), Sym(4));
        assert_eq!(names.iter().collect::<Vec<_>>(), ["b", "d", "a"]);
        names.forget(3, |_| false);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["d", "a"]);
    }

    #[test]
    fn the_first_texts_may_be_kept_for_good() {
        let mut names = Names::default();
        names.intern("a");
        names.keep_all();
        names.intern("b");
        names.forget(2, |_| false);
        assert_eq!((names.get(Sym(0)), names.get(Sym(1)), names.find("a")), (Some("a"), None, Some(Sym(0))));
        assert_eq!(names.intern("b"), Sym(2));
    }
}
