//! The list of promises against the sources: public methods, sentences of the docs, and all names that the list uses.

mod evidence;
mod macros;
mod options;
mod sentences;
mod sources;

use sources::Promised;
use std::collections::{BTreeMap, BTreeSet};
use zk_catalogue::promises::{self, Entry};

/// Which sentences each subject has.
type Sentences = BTreeMap<String, BTreeSet<(String, String)>>;

fn listed(entries: &[Entry]) -> Sentences {
    let mut listed = Sentences::new();
    for entry in entries {
        for subject in &entry.subjects {
            let said = listed.entry(subject.clone()).or_default();
            said.extend(entry.promises.iter().map(|promise| (promise.heading.clone(), promise.says.clone())));
        }
    }
    listed
}

fn promised(sources: &[Promised]) -> Sentences {
    sources.iter().map(|item| (item.subject.clone(), item.sentences.iter().cloned().collect())).collect()
}

/// What the one has and the other lacks, in one sentence each.
fn missing(promised: &Sentences, listed: &Sentences) -> Vec<String> {
    let mut missing = Vec::new();
    for (subject, sentences) in promised {
        let Some(known) = listed.get(subject) else {
            missing.push(format!("{subject} is public, and no promises.txt has an entry for it."));
            continue;
        };
        for (heading, says) in sentences.difference(known) {
            missing.push(format!(
                "The docs of {subject} say a sentence that no promises.txt quotes: [{heading}] {says}"
            ));
        }
        for (heading, says) in known.difference(sentences) {
            missing.push(format!(
                "A promises.txt quotes a sentence that the docs of {subject} do not have: [{heading}] {says}"
            ));
        }
    }
    for subject in listed.keys().filter(|subject| !promised.contains_key(*subject)) {
        missing
            .push(format!("A promises.txt has an entry for {subject}, which is not public in the sources."));
    }
    missing
}

#[test]
fn every_public_method_and_every_sentence_has_an_entry() {
    let missing = missing(&promised(&sources::read()), &listed(&promises::all()));
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_new_method_and_a_changed_sentence_are_missed() {
    let source = "pub struct Lock; impl Lock {
        /// Acquires.
        /// # Errors
        /// One; two.
        pub fn acquire(&self) {}
        fn private(&self) {}
    }";
    let promised = promised(&sources::of_text(source));
    let list = |text| listed(&promises::parse("lock", text).expect("a list"));
    let full =
        "## Lock::acquire\ncalled by lock\njudged by MX-4\n[Errors] One;\n[Errors] two.\njudged by MX-5\n";
    assert_eq!(missing(&promised, &list(full)), [""; 0]);
    assert_eq!(
        missing(&promised, &list("")),
        ["Lock::acquire is public, and no promises.txt has an entry for it."]
    );
    let changed = full.replace("two", "three");
    assert_eq!(
        missing(&promised, &list(&changed)),
        [
            "The docs of Lock::acquire say a sentence that no promises.txt quotes: [Errors] two.",
            "A promises.txt quotes a sentence that the docs of Lock::acquire do not have: [Errors] three.",
        ]
    );
}

#[test]
fn each_sentence_of_a_subject_stands_once() {
    let mut seen = BTreeSet::new();
    let mut twice = Vec::new();
    for entry in promises::all() {
        for subject in &entry.subjects {
            if !seen.insert(subject.clone()) {
                twice.push(format!("{subject} has two entries."));
            }
        }
    }
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}

#[test]
fn every_rule_test_workload_and_mutant_of_the_list_exists() {
    let wrong: Vec<String> = promises::all().iter().flat_map(evidence::wrong_names).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mutant_is_killed_by_a_rule_that_the_sentence_names() {
    let wrong: Vec<String> = promises::all().iter().flat_map(evidence::unrelated_mutants).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mutant_of_a_recipe_breaks_a_promise_of_the_list() {
    let entries = promises::all();
    let named: BTreeSet<&str> = entries.iter().flat_map(evidence::mutants).collect();
    let mutants = zk_catalogue::RECIPES.iter().flat_map(|recipe| recipe.mutants);
    let missing: Vec<String> = mutants
        .filter(|mutant| !named.contains(mutant.name))
        .map(|mutant| format!("No promise is shown by {}: {}.", mutant.name, mutant.about))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_workload_calls_the_methods_that_it_is_named_for() {
    let wrong: Vec<String> = promises::all().iter().flat_map(evidence::uncalled).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sentence_that_refers_to_another_method_refers_to_one_of_the_list() {
    let entries = promises::all();
    let subjects: BTreeSet<&String> = entries.iter().flat_map(|entry| &entry.subjects).collect();
    let wrong: Vec<String> = entries
        .iter()
        .flat_map(|entry| entry.references().map(move |reference| (entry, reference)))
        .filter(|(_, reference)| !subjects.contains(reference))
        .map(|(entry, reference)| {
            format!("{} refers to {reference}, which has no entry.", entry.subjects.join(" "))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
