//! The parts of the list.

use super::docs::Key;

/// Public items with the same docs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The list to which it belongs.
    pub recipe: &'static str,
    /// The items, such as `Lock::acquire`; a case of the page of costs is a sentence of `COST.md: lock`.
    pub subjects: Vec<String>,
    /// The workloads that call the method; empty if none does, or for other items than methods.
    pub called_by: Vec<String>,
    /// The judgement of the method itself, besides its sentences. `None` for other items.
    pub judgement: Option<Judgement>,
    /// The sentences.
    pub promises: Vec<Promise>,
}

/// A sentence of the docs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// What stands in the list for the sentence.
    pub key: Key,
    /// The sentence; empty until it is looked up in the docs.
    pub says: String,
    /// How it is judged.
    pub judgement: Judgement,
}

/// How a promise is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Rules and tests that fail when it is broken.
    By {
        /// Ids of rules, and tests as [`judges`](super) are named.
        judges: Vec<String>,
        /// Mutants that one of the rules kills.
        mutants: Vec<String>,
    },
    /// The docs refer to another method, whose entry has the judgement.
    As(String),
    /// Nothing judges it, for this reason.
    Nobody(String),
    /// The sentence promises nothing.
    NoPromise,
}

impl Entry {
    /// The methods to which sentences refer.
    pub fn references(&self) -> impl Iterator<Item = &String> {
        self.judgements().filter_map(|judgement| match judgement {
            Judgement::As(reference) => Some(reference),
            _ => None,
        })
    }

    /// All judgements: that of the method, then those of the sentences.
    pub fn judgements(&self) -> impl Iterator<Item = &Judgement> {
        self.judgement.iter().chain(self.promises.iter().map(|promise| &promise.judgement))
    }
}
