//! The history that is read or written, and what the words of its lines refer to.

use super::tokens::{Read, Tokens};
use crate::actors::Actors;
use crate::history::{History, ObjectId, OpId, Sym, Verb};
use std::collections::BTreeMap;

/// The history read so far.
pub(super) struct Reader {
    pub(super) history: History,
    pub(super) actors: Actors,
    /// The verb before the number of the operation, in the current line.
    pub(super) verb: Option<Verb>,
    /// Whether clients are numbered in order of appearance.
    pub(super) open_clients: bool,
}

impl Reader {
    pub(super) fn sym(&mut self, tokens: &mut Tokens<'_>) -> Read<Sym> {
        let word = tokens.take("a path")?;
        if let (false, Some(number)) = (word.quoted, word.text.strip_prefix("sym:")) {
            return number.parse().map(Sym).map_err(|_| format!("{number:?} is no symbol"));
        }
        Ok(self.history.names.intern(&word.text))
    }

    pub(super) fn object_id(&mut self, tokens: &mut Tokens<'_>) -> Read<ObjectId> {
        let word = tokens.take("an object")?;
        if let (false, Some(number)) = (word.quoted, word.text.strip_prefix("object:")) {
            return number.parse().map(ObjectId).map_err(|_| format!("{number:?} is no object"));
        }
        let History { objects, names, .. } = &self.history;
        let at = objects.iter().position(|object| names.get(object.path) == Some(&word.text));
        let at = at.and_then(|at| u16::try_from(at).ok());
        at.map(ObjectId).ok_or_else(|| format!("{:?} is not declared", word.text))
    }

    pub(super) fn client(&mut self, tokens: &mut Tokens<'_>) -> Read<u16> {
        let name = tokens.next("a client")?;
        self.actors.client_of(&name).ok_or_else(|| format!("{name:?} is no client"))
    }
}

/// The text written so far.
pub(super) struct Writer<'a> {
    pub(super) history: &'a History,
    pub(super) actors: Actors,
    /// The verbs of the calls so far, which are written before the numbers of their operations.
    pub(super) verbs: BTreeMap<OpId, Verb>,
    pub(super) out: String,
}

/// The words of a path.
pub(super) fn path(history: &History, sym: Sym) -> String {
    match history.names.get(sym) {
        // A text that looks like the number of an object or a symbol is quoted.
        Some(text) if text.starts_with('/') => quoted(text),
        Some(text) => json(text),
        None => format!("sym:{}", sym.0),
    }
}

/// The text, quoted if it could be mistaken for another token.
pub(super) fn quoted(text: &str) -> String {
    let plain = !text.is_empty()
        && !text.starts_with('#')
        && text.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != '"' && c != '\\');
    if plain { text.to_owned() } else { json(text) }
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
