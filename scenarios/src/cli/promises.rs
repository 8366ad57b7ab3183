//! `list --promises`: the promises of the recipes, and the rules and tests that judge them.

use super::Output;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use zk_catalogue::promises::{self, Entry, Judgement, docs};
use zk_report::whole_file;

pub(super) fn list(output: Output, page: Option<&Path>) -> anyhow::Result<ExitCode> {
    let entries = promises::all();
    if let Some(page) = page {
        whole_file::write(page, promises::markdown(&entries))?;
        return Ok(ExitCode::SUCCESS);
    }
    for entry in &entries {
        if output.is_json() { print_json(entry) } else { print_text(entry) }
    }
    if !output.is_json() {
        let counts = promises::counts(&entries);
        println!(
            "{} public methods, {} of them called by a workload. {} sentences: {} judged, {} as another method's, {} without a \
             promise. Judged by nothing, methods and sentences: {}. Shown by a mutant: {}.",
            counts.methods,
            counts.called,
            counts.sentences,
            counts.judged,
            counts.referring,
            counts.no_promise,
            counts.not_judged,
            counts.shown
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn print_text(entry: &Entry) {
    println!("{}", entry.subjects.join(", "));
    if let Some(judgement) = &entry.judgement {
        let called =
            if entry.called_by.is_empty() { "no workload".to_owned() } else { entry.called_by.join(", ") };
        println!("  called by  {called}");
        print_judgement(judgement);
    }
    for promise in &entry.promises {
        println!("  {}: {}", promise.key.heading, docs::plain(&promise.says));
        print_judgement(&promise.judgement);
    }
    println!();
}

fn print_judgement(judgement: &Judgement) {
    match judgement {
        Judgement::By { judges, mutants } => {
            println!("    judged by  {}", judges.join(", "));
            if !mutants.is_empty() {
                println!("    shown by   {}", mutants.join(", "));
            }
        }
        Judgement::As(reference) => println!("    as         {reference}"),
        Judgement::Nobody(reason) => println!("    not judged: {reason}"),
        Judgement::NoPromise => println!("    no promise"),
    }
}

/// One object for the method itself, and one for each sentence.
fn print_json(entry: &Entry) {
    if let Some(judgement) = &entry.judgement {
        println!("{}", object(entry, judgement, Value::Null, Value::Null));
    }
    for promise in &entry.promises {
        let (heading, says) = (promise.key.heading.as_str(), promise.says.as_str());
        println!("{}", object(entry, &promise.judgement, heading.into(), says.into()));
    }
}

fn object(entry: &Entry, judgement: &Judgement, heading: Value, says: Value) -> Value {
    let none: &[String] = &[];
    let (how, judges, mutants, why) = match judgement {
        Judgement::By { judges, mutants } => ("judged", judges.as_slice(), mutants.as_slice(), None),
        Judgement::As(reference) => ("as_another", none, none, Some(reference)),
        Judgement::Nobody(reason) => ("not_judged", none, none, Some(reason)),
        Judgement::NoPromise => ("no_promise", none, none, None),
    };
    json!({
        "kind": "promise",
        "list": entry.recipe,
        "of": entry.subjects,
        "heading": heading,
        "says": says,
        "judgement": how,
        "judged_by": judges,
        "called_by": entry.called_by,
        "shown_by": mutants,
        "why": why,
    })
}
