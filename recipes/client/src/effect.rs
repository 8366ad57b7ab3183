//! What a request does to the ephemerals of its session.

use std::hash::{DefaultHasher, Hasher};

/// The digits that a server appends to a sequential name.
const DIGITS: usize = 10;

/// What a request does to the ephemerals of its session.
#[derive(Clone, Debug, Default)]
pub(super) enum Effect {
    #[default]
    Nothing,
    /// Creates one, of so many bytes.
    Creates(usize),
    /// Deletes a path.
    Deletes(PathNumber),
    /// One for each operation of a transaction.
    Several(Vec<Effect>),
}

/// Stands for the text of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathNumber(u64);

impl PathNumber {
    /// The number of a path, which may come in two pieces.
    pub(super) fn of(root: &str, path: &str) -> PathNumber {
        let mut hasher = DefaultHasher::new();
        hasher.write(root.as_bytes());
        hasher.write(path.as_bytes());
        PathNumber(hasher.finish())
    }
}

impl Effect {
    /// Of the create of an ephemeral.
    pub(super) fn creates(path_bytes: usize, is_sequential: bool) -> Effect {
        Effect::Creates(path_bytes + if is_sequential { DIGITS } else { 0 })
    }

    /// Of a transaction.
    pub(super) fn several(all: impl Iterator<Item = Effect> + Clone) -> Effect {
        if all.clone().all(|effect| effect.is_nothing()) {
            Effect::Nothing
        } else {
            Effect::Several(all.collect())
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Effect::Nothing)
    }

    pub(super) fn creates_any(&self) -> bool {
        match self {
            Effect::Creates(_) => true,
            Effect::Several(all) => all.iter().any(Effect::creates_any),
            Effect::Nothing | Effect::Deletes(_) => false,
        }
    }
}
