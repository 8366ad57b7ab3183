//! The lists of promises against the sources: public methods, sentences of the docs, and all names that the lists use.

#[path = "../../build/docs/mod.rs"]
mod docs;
mod evidence;
mod matching;
mod options;
mod update;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use zk_catalogue::promises::{self, Entry};

/// The list of a recipe, beside its workload or in the folder of the module.
fn file_of(recipe: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let own = source.join(recipe.replace('-', "_")).join("promises.txt");
    if own.exists() { own } else { source.join("promises").join(recipe).with_extension("txt") }
}

/// The folder of a workload, or its file without the ending.
fn place_of(workload: &str) -> PathBuf {
    let (source, name) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), workload.replace('-', "_"));
    let variation = source.join("variations").join(&name);
    if variation.exists() || variation.with_extension("rs").exists() { variation } else { source.join(name) }
}

/// The lists as they are on the disk.
fn lists() -> Vec<(&'static str, String)> {
    let read = |recipe| std::fs::read_to_string(file_of(recipe)).expect("a list can be read");
    promises::lists().map(|(recipe, _)| (recipe, read(recipe))).collect()
}

fn check(problems: impl IntoIterator<Item = String>) {
    let problems: Vec<String> = problems.into_iter().collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The pages that name every recipe, each with the words by which it does.
#[test]
fn every_page_of_all_recipes_names_each_of_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lacks = |(page, words): &(String, String)| {
        let text = std::fs::read_to_string(root.join(page)).unwrap_or_default();
        // In prose a name has its hyphens, or spaces.
        !text.replace('-', " ").contains(words.as_str())
    };
    let pages = zk_catalogue::RECIPES.iter().flat_map(|recipe| {
        let (module, name) = (recipe.workload.name.replace('-', "_"), recipe.workload.name.replace('-', " "));
        [
            ("README.md".to_owned(), format!("| `{module}`: ")),
            ("recipes/src/lib.rs".to_owned(), format!("| [`{module}`] |")),
            ("recipes/COST.md".to_owned(), format!("| {name} |")),
            (format!("recipes/client/examples/{module}.rs"), "fn main()".to_owned()),
        ]
    });
    check(pages.filter(lacks).map(|(page, words)| format!("{page} lacks {words:?}.")));
}

/// With `UPDATE_PROMISES=1` the lists are rewritten first.
#[test]
fn every_public_method_and_every_sentence_has_a_row() {
    let documented = promises::docs::docs();
    let mut lists = lists();
    if std::env::var_os("UPDATE_PROMISES").is_some() {
        for change in update::update(&mut lists, &documented) {
            println!("{change}");
        }
        for (recipe, text) in &lists {
            std::fs::write(file_of(recipe), text).expect("a list can be written");
        }
    }
    let parse = |(recipe, text): &(&'static str, String)| promises::parse(recipe, text).expect("a list");
    let entries: Vec<Entry> = lists.iter().flat_map(parse).collect();
    check(matching::problems(&documented, &entries));
}

#[test]
fn the_crate_has_what_the_docs_promise_now() {
    let recipes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    assert_eq!(promises::docs::docs(), promises::docs::read(&docs::lines(&docs::read(&recipes))));
}

#[test]
fn no_item_has_two_sections() {
    let mut seen = BTreeSet::new();
    let subjects = promises::all().into_iter().flat_map(|entry| entry.subjects);
    check(
        subjects
            .filter(|subject| !seen.insert(subject.clone()))
            .map(|subject| format!("{subject} has two sections.")),
    );
}

#[test]
fn every_rule_test_workload_and_mutant_of_the_lists_exists() {
    check(promises::all().iter().flat_map(evidence::wrong_names));
}

#[test]
fn every_mutant_is_killed_by_a_rule_that_the_sentence_names() {
    check(promises::all().iter().flat_map(evidence::unrelated_mutants));
}

#[test]
fn every_mutant_of_a_recipe_breaks_a_promise_of_the_lists() {
    let entries = promises::all();
    let named: BTreeSet<&str> = entries.iter().flat_map(evidence::mutants).collect();
    let mutants = zk_catalogue::recipes().flat_map(|recipe| recipe.mutants);
    let missing = mutants.filter(|mutant| !named.contains(mutant.name));
    check(missing.map(|mutant| format!("No promise is shown by {}: {}.", mutant.name, mutant.about)));
}

#[test]
fn every_workload_calls_the_methods_that_it_is_named_for() {
    check(promises::all().iter().flat_map(evidence::uncalled));
}

#[test]
fn a_sentence_that_refers_to_another_method_refers_to_one_of_the_lists() {
    let entries = promises::all();
    let subjects: BTreeSet<&String> = entries.iter().flat_map(|entry| &entry.subjects).collect();
    let references = entries.iter().flat_map(|entry| entry.references().map(move |of| (entry, of)));
    let wrong = references.filter(|(_, reference)| !subjects.contains(reference));
    check(wrong.map(|(entry, reference)| {
        format!("{} refers to {reference}, which has no section.", entry.subjects.join(", "))
    }));
}
