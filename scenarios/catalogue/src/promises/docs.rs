//! What the docs of the recipes promise, and the keys by which the lists know their sentences.

use std::fmt;

/// A public item of the recipes, with the sentences of its docs that promise something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documented {
    /// The item, such as `Lock::acquire`.
    pub subject: String,
    /// The sentences and their keys, in the order of the docs.
    pub sentences: Vec<(Key, String)>,
}

/// Stands for a sentence: `Errors: Error::is_taken with IfTaken::Fail 3f2a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The heading above the sentence.
    pub heading: String,
    /// The words with which the sentence begins, as many as no other below that heading has.
    pub words: String,
    /// A hash of the sentence: another one must be judged again. Empty if the words are all of it, or `*`.
    pub hash: String,
}

/// As many words tell most sentences apart.
const WORDS: usize = 5;

/// Stands for each sentence below a heading that has no row of its own.
pub(super) const OTHERS: &str = "*";

impl Key {
    /// Reads the key of a row.
    pub fn read(text: &str, has_hash: bool) -> Option<Key> {
        let (heading, rest) = text.split_once(": ")?;
        let (words, hash) = if has_hash { rest.rsplit_once(' ')? } else { (rest, "") };
        Some(Key { heading: heading.to_owned(), words: words.to_owned(), hash: hash.to_owned() })
    }

    /// Of a sentence that is as short as a case of the page of costs.
    fn whole(heading: &str, says: &str) -> Key {
        Key { heading: heading.to_owned(), words: says.to_owned(), hash: String::new() }
    }

    /// Of the sentence at `at`.
    fn of(at: usize, sentences: &[(&str, &str)]) -> Key {
        let (heading, says) = sentences[at];
        let begins_alike = |words: &str| {
            let other = |&(of, other): &(&str, &str)| of == heading && bare(other).starts_with(words);
            sentences.iter().filter(|sentence| other(sentence)).count() > 1
        };
        let bare = bare(says);
        let ends = bare.match_indices(' ').map(|(end, _)| end).skip(WORDS - 1).chain([bare.len()]);
        let mut heads = ends.map(|end| bare[..end].trim_end_matches([',', ';', ':', '.']));
        let words = match label(says) {
            Some(label) => label,
            None => heads.find(|head| !begins_alike(head)).unwrap_or(&bare),
        };
        Key { heading: heading.to_owned(), words: words.to_owned(), hash: hash(says) }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = if self.hash.is_empty() { "" } else { " " };
        write!(out, "{}: {}{gap}{}", self.heading, self.words, self.hash)
    }
}

/// What the docs promise.
pub fn docs() -> Vec<Documented> {
    read(include_str!(concat!(env!("OUT_DIR"), "/docs.txt")))
}

/// Whether the sentences of an item are cases of the page of costs.
pub fn are_cases(subject: &str) -> bool {
    subject.starts_with("COST.md")
}

/// Reads the text that the build script has written: a line for each item, and an indented one for each sentence.
pub fn read(text: &str) -> Vec<Documented> {
    let mut items: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix('\t').and_then(|rest| rest.split_once('\t')), items.last_mut()) {
            (Some(sentence), Some((_, sentences))) => sentences.push(sentence),
            _ => items.push((line, Vec::new())),
        }
    }
    items.into_iter().map(|(subject, sentences)| documented(subject, &sentences)).collect()
}

fn documented(subject: &str, sentences: &[(&str, &str)]) -> Documented {
    let key = |at: usize| match are_cases(subject) {
        true => Key::whole(sentences[at].0, sentences[at].1),
        false => Key::of(at, sentences),
    };
    let keyed = sentences.iter().enumerate().map(|(at, (_, says))| (key(at), (*says).to_owned()));
    Documented { subject: subject.to_owned(), sentences: keyed.collect() }
}

/// The name of a promise: what stands between asterisks where its sentence begins.
fn label(says: &str) -> Option<&str> {
    let rest = says.strip_prefix('*')?.trim_start_matches('*');
    let name = rest[..rest.find('*')?].trim_end_matches(['.', ':']);
    (!name.contains('[')).then_some(name)
}

/// Returns a sentence without the marks of Markdown.
fn bare(says: &str) -> String {
    plain(says).replace(['*', '`', '|'], "")
}

/// Returns a sentence without the targets of its links, which are only valid inside the docs.
pub fn plain(says: &str) -> String {
    let mut out = String::new();
    let mut rest = says;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']').map(|at| open + at) else { break };
        out += &rest[..open];
        out += &rest[open + 1..close];
        rest = &rest[close + 1..];
        if let Some(end) = rest.strip_prefix('(').and_then(|_| rest.find(')')) {
            rest = &rest[end + 1..];
        }
    }
    out += rest;
    out
}

/// FNV-1a, folded to four digits.
fn hash(says: &str) -> String {
    let of = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = says.bytes().fold(0x811c_9dc5, of);
    format!("{:04x}", (hash >> 16) ^ (hash & 0xffff))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lose_their_targets() {
        assert_eq!(
            plain("As [`read`](Self::read), or [`Error::is_no_node`]; n(n)."),
            "As `read`, or `Error::is_no_node`; n(n)."
        );
    }

    #[test]
    fn a_key_has_as_many_words_as_tell_sentences_apart() {
        let text = "Lock\n\tPromises\t*No herd.* One wakes.\n\tErrors\t[`E::a`]: one two three four;\n\tErrors\t[`E::a`]: one two three five.\n\tCost\tOne.\nCOST.md: lock\n\tcost\tacquire, uncontended\n";
        let keys = |item: &Documented| -> Vec<String> {
            item.sentences.iter().map(|(key, _)| key.to_string()).collect()
        };
        let docs = read(text);
        assert_eq!(
            keys(&docs[0]),
            [
                "Promises: No herd 87e0",
                "Errors: E::a: one two three four 074d",
                "Errors: E::a: one two three five e143",
                "Cost: One 6cc9"
            ]
        );
        assert_eq!(keys(&docs[1]), ["cost: acquire, uncontended"]);
        assert_eq!(Key::read("Cost: One 6cc9", true).expect("a key"), docs[0].sentences[3].0);
    }
}
