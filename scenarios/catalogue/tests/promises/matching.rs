//! The sentences of the docs against the rows of the lists.

use zk_catalogue::promises::Entry;
use zk_catalogue::promises::docs::{Documented, Key};

const UPDATE: &str = "UPDATE_PROMISES=1 cargo test -p zk-catalogue --test promises";

/// What the docs have and the lists lack, and the other way round.
pub(crate) fn problems(docs: &[Documented], entries: &[Entry]) -> Vec<String> {
    let mut problems = Vec::new();
    for item in docs {
        match entries.iter().find(|entry| entry.subjects.contains(&item.subject)) {
            Some(entry) => compare(item, entry, &mut problems),
            None => problems.push(format!(
                "{} has no section: {UPDATE} adds one beside those of its type; for a new type, begin it in the promises.txt of its recipe.",
                item.subject
            )),
        }
    }
    for entry in entries {
        let is_gone = |subject: &&String| docs.iter().all(|item| item.subject != **subject);
        problems.extend(entry.subjects.iter().filter(is_gone).map(|subject| {
            format!(
                "The list of {} has a section for {subject}, which is not public in the sources: delete it.",
                entry.recipe
            )
        }));
    }
    problems
}

fn compare(item: &Documented, entry: &Entry, problems: &mut Vec<String>) {
    let subject = &item.subject;
    let is_same = |a: &Key, b: &Key| a.heading == b.heading && a.words == b.words;
    for (key, says) in &item.sentences {
        let same = entry.promises.iter().find(|row| is_same(&row.key, key));
        let others =
            || entry.promises.iter().any(|row| row.key.heading == key.heading && row.key.words == "*");
        match same {
            Some(row) if row.key.hash == key.hash => {}
            Some(_) => problems.push(format!(
                "The sentence `{key}` of {subject} has changed: read its judges again, then {UPDATE}. It says now: {says}"
            )),
            None if others() => {}
            None => problems.push(format!(
                "The sentence `{key}` of {subject} has no row: {UPDATE}, and give it judges. It says: {says}"
            )),
        }
    }
    for row in entry.promises.iter().filter(|row| row.key.words != "*") {
        if !item.sentences.iter().any(|(key, _)| is_same(&row.key, key)) {
            problems.push(format!(
                "The row `{}` of {subject} has no sentence in the docs: {UPDATE} if the sentence has other words, or delete the row.",
                row.key
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::docs;
    use std::path::Path;
    use zk_catalogue::promises;

    #[test]
    fn a_new_method_and_a_changed_sentence_are_found() {
        let source = "pub struct Lock; impl Lock {
            /// Acquires.
            /// # Errors
            /// One; two.
            pub fn acquire(&self) {}
            fn private(&self) {}
        }";
        let documented = |source: &str| {
            promises::docs::read(&docs::lines(&docs::of_texts([(Path::new("lock.rs"), source)].into_iter())))
        };
        let problems = |source: &str, list: &str| {
            super::problems(&documented(source), &promises::parse("lock", list).expect("a list"))
        };
        let keys: Vec<String> =
            documented(source)[0].sentences.iter().map(|(key, _)| key.to_string()).collect();
        let list = format!("## Lock::acquire | lock | MX-4\n{} | MX-5\n{} | MX-5\n", keys[0], keys[1]);
        assert_eq!(problems(source, &list), [""; 0]);
        let begins = |problems: Vec<String>, sentences: &[&str]| {
            assert_eq!(problems.len(), sentences.len(), "{problems:?}");
            let all = problems.iter().zip(sentences).all(|(problem, sentence)| problem.starts_with(sentence));
            assert!(all, "{problems:?}");
        };
        begins(problems(source, ""), &["Lock::acquire has no section: UPDATE_PROMISES=1 "]);
        let changed = source.replace("two.", "two!");
        begins(problems(&changed, &list.replace("two ", "two! ")), &["The sentence `Errors: two! "]);
        let other = source.replace("two.", "three.");
        begins(problems(&other, &list), &["The sentence `Errors: three ", "The row `Errors: two "]);
        let private = source.replace("pub fn", "fn");
        begins(problems(&private, &list), &["The list of lock has a section for Lock::acquire, "]);
    }
}
