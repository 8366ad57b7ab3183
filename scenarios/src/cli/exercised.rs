//! The coverage of sweeps: operations and how they end, values of options, methods.

use super::Output;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;
use zk_catalogue::exercised::{Operation, OptionValue, differences, list};
use zk_catalogue::promises;
use zk_harness::exercised::Exercised;

/// The ways in which an operation ended, the most frequent first: `done 310, timed_out 4`.
pub(super) fn endings(endings: &BTreeMap<String, u64>) -> String {
    let mut sorted: Vec<(&String, &u64)> = endings.iter().collect();
    sorted.sort_by_key(|(_, count)| u64::MAX - **count);
    let texts: Vec<String> = sorted.into_iter().map(|(ending, count)| format!("{ending} {count}")).collect();
    texts.join(", ")
}

/// Listed endings that a sweep of all workloads did not exercise, and exercised endings that are not listed.
pub(super) struct Gaps {
    pub missing: Vec<String>,
    pub unlisted: Vec<String>,
}

impl Gaps {
    pub(super) fn of(exercised: &Exercised) -> Gaps {
        let (missing, unlisted) = differences(&list(), exercised);
        Gaps { missing, unlisted }
    }

    /// The lines that a sweep prints.
    pub(super) fn print(&self) {
        let operations = list().operations;
        let endings: usize = operations.iter().map(|operation| operation.endings.len()).sum();
        println!(
            "all workloads: {} operations, {} of {endings} endings were seen",
            operations.len(),
            endings - self.missing.len()
        );
        for missing in &self.missing {
            println!("  not exercised: {missing}");
        }
        for unlisted in &self.unlisted {
            println!("  not on the list of `list --coverage`: {unlisted}");
        }
    }
}

/// `list --coverage`.
pub(super) fn print_list(output: Output) -> ExitCode {
    let list = list();
    let uncalled: Vec<String> = uncalled().collect();
    if output.is_json() {
        for Operation { name, endings, rarely, never } in &list.operations {
            let never: BTreeMap<&String, &String> = never.iter().map(|(ending, why)| (ending, why)).collect();
            println!(
                "{}",
                json!({"kind": "operation", "id": name, "endings": endings, "rarely": rarely, "never": never})
            );
        }
        for OptionValue { value, set_by } in &list.options {
            let (workloads, why) = (set_by.as_ref().ok(), set_by.as_ref().err());
            println!("{}", json!({"kind": "option", "id": value, "set_by": workloads, "never": why}));
        }
        for method in &uncalled {
            println!("{}", json!({"kind": "not_called", "id": method}));
        }
        return ExitCode::SUCCESS;
    }
    println!("Operations, and how their calls end in a sweep of all workloads");
    for Operation { name, endings, rarely, never } in &list.operations {
        println!("  {name:<38} {}", endings.join(", "));
        if !rarely.is_empty() {
            println!("    rarely {}", rarely.join(", "));
        }
        for (ending, why) in never {
            println!("    never {ending}: {why}");
        }
    }
    println!("\nOptions, and the workloads that set them");
    for OptionValue { value, set_by } in &list.options {
        match set_by {
            Ok(workloads) => println!("  {value:<38} {}", workloads.join(", ")),
            Err(why) => println!("  {value:<38} none: {why}"),
        }
    }
    println!("\nPublic methods that recipes call, and no workload does");
    for method in &uncalled {
        println!("  {method}");
    }
    ExitCode::SUCCESS
}

fn uncalled() -> impl Iterator<Item = String> {
    let entries = promises::all().into_iter();
    let uncalled = entries.filter(|entry| entry.judgement.is_some() && entry.called_by.is_empty());
    uncalled.flat_map(|entry| entry.subjects)
}
