//! The list as a page.

use super::docs::plain;
use super::entry::{Entry, Judgement};
use super::lists;

/// How many promises are judged, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Public methods.
    pub methods: usize,
    /// Methods that a workload calls.
    pub called: usize,
    /// Sentences, counted once for each item whose docs have them.
    pub sentences: usize,
    /// Sentences that a rule or a test judges.
    pub judged: usize,
    /// Sentences that refer to another method.
    pub referring: usize,
    /// Sentences that promise nothing.
    pub no_promise: usize,
    /// Sentences and methods that nothing judges.
    pub not_judged: usize,
    /// Sentences and methods that a mutant shows.
    pub shown: usize,
}

/// Counts the promises of these entries.
pub fn counts<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Counts {
    let mut counts = Counts::default();
    for entry in entries {
        let items = entry.subjects.len();
        if entry.judgement.is_some() {
            counts.methods += items;
            counts.called += if entry.called_by.is_empty() { 0 } else { items };
        }
        counts.sentences += items * entry.promises.len();
        for promise in &entry.promises {
            match &promise.judgement {
                Judgement::By { .. } => counts.judged += items,
                Judgement::As(_) => counts.referring += items,
                Judgement::NoPromise => counts.no_promise += items,
                Judgement::Nobody(_) => {}
            }
        }
        for judgement in entry.judgements() {
            match judgement {
                Judgement::Nobody(_) => counts.not_judged += items,
                Judgement::By { mutants, .. } if !mutants.is_empty() => counts.shown += items,
                _ => {}
            }
        }
    }
    counts
}

const INTRODUCTION: &str = "# The promises of the recipes, and their judges

Every public method of the recipes and of the trait `ZooKeeper`, every sentence of their docs that promises something, and the cases of
`recipes/COST.md`: the rules and tests that fail when the promise is broken, the workloads that call the method, and the mutants that
break the promise. `cargo sim list --promises --page FILE` has made this page of the docs of the recipes and of the files `promises.txt`
in `scenarios/catalogue/src`, which tests compare with each other.

Tests stand in `recipes/tests/all`; those of `suite` are rules that every implementation of the trait keeps.
A method's own row judges what it does. The rules AN-1 to AN-4 judge every answer of every operation: that what is said to be done is
done, that an error has its reason, that a refused operation has left nothing, and that a call that nothing disturbs keeps to its
budget. *As* means that the docs refer to another method.
*Nothing* means that neither a rule nor a test fails when the promise is broken, for the reason given.
";

/// The page, in Markdown.
pub fn markdown(entries: &[Entry]) -> String {
    let mut out = format!("{INTRODUCTION}\n## How many\n\n");
    out += "| list | methods | called by a workload | sentences | judged | as another | no promise | not judged | shown by a mutant |\n";
    out += "|---|---|---|---|---|---|---|---|---|\n";
    for (recipe, _) in lists() {
        out += &count_row(recipe, counts(entries.iter().filter(|entry| entry.recipe == recipe)));
    }
    out += &count_row("all", counts(entries));
    out += "\n## What nothing judges\n\n";
    if counts(entries).not_judged == 0 {
        out += "Every promise of the list has a judge.\n";
    } else {
        out += "| promise | reason |\n|---|---|\n";
        for entry in entries {
            not_judged(&mut out, entry);
        }
    }
    for (recipe, _) in lists() {
        out +=
            &format!("\n## {recipe}\n\n| promise | judged by | called by | shown by |\n|---|---|---|---|\n");
        for entry in entries.iter().filter(|entry| entry.recipe == recipe) {
            rows(&mut out, entry);
        }
    }
    out
}

fn count_row(list: &str, counts: Counts) -> String {
    let Counts { methods, called, sentences, judged, referring, no_promise, not_judged, shown } = counts;
    format!(
        "| {list} | {methods} | {called} | {sentences} | {judged} | {referring} | {no_promise} | {not_judged} | {shown} |\n"
    )
}

fn subjects(entry: &Entry) -> String {
    entry.subjects.iter().map(|subject| format!("`{subject}`")).collect::<Vec<_>>().join(", ")
}

fn not_judged(out: &mut String, entry: &Entry) {
    let subjects = subjects(entry);
    if let Some(Judgement::Nobody(reason)) = &entry.judgement {
        *out += &format!("| {subjects} | {reason} |\n");
    }
    for promise in &entry.promises {
        if let Judgement::Nobody(reason) = &promise.judgement {
            *out += &format!("| {subjects}, {}: {} | {reason} |\n", promise.key.heading, cell(&promise.says));
        }
    }
}

fn rows(out: &mut String, entry: &Entry) {
    let called = if entry.called_by.is_empty() && entry.judgement.is_some() {
        "no workload".to_owned()
    } else {
        entry.called_by.join(", ")
    };
    let (judges, mutants) = entry.judgement.as_ref().map_or_else(Default::default, cells);
    *out += &format!("| **{}** | {judges} | {called} | {mutants} |\n", subjects(entry));
    for promise in &entry.promises {
        let (judges, mutants) = cells(&promise.judgement);
        *out += &format!("| {}: {} | {judges} | | {mutants} |\n", promise.key.heading, cell(&promise.says));
    }
}

/// The cells with the judges and with the mutants.
fn cells(judgement: &Judgement) -> (String, String) {
    match judgement {
        Judgement::By { judges, mutants } => (judges.join(", "), mutants.join(", ")),
        Judgement::As(reference) => (format!("as `{reference}`"), String::new()),
        Judgement::Nobody(reason) => (format!("nothing: {reason}"), String::new()),
        Judgement::NoPromise => ("no promise".to_owned(), String::new()),
    }
}

/// A sentence in a cell of a table.
fn cell(says: &str) -> String {
    plain(says).replace('|', "\\|")
}
