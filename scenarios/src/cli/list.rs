//! `list`: workloads, stories, mutants and rules; or the promises of the recipes, or what sweeps exercise.

use super::Output;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use zk_checker::RuleId;

/// The arguments of `list`.
#[derive(Args)]
pub(super) struct ListArgs {
    /// List the promises of the recipes instead, each with the rules and tests that judge it, the workloads that call the method and
    /// the mutants that break it
    #[arg(long)]
    promises: bool,
    /// Write the promises and the sentences of the docs into this file instead, as a page in Markdown
    #[arg(long, value_name = "FILE", requires = "promises")]
    page: Option<PathBuf>,
    /// List what sweeps exercise instead: operations and how they end, options and the workloads that set them, and the methods that
    /// no workload calls
    #[arg(long, conflicts_with = "promises")]
    coverage: bool,
    #[command(flatten)]
    output: Output,
}

pub(super) fn list(ListArgs { promises, page, coverage, output }: ListArgs) -> anyhow::Result<ExitCode> {
    if promises {
        return super::promises::list(output, page.as_deref());
    }
    if coverage {
        return Ok(super::exercised::print_list(output));
    }
    if output.is_json() {
        for workload in zk_catalogue::all() {
            let kind = if workload.is_mutant() { "mutant" } else { "workload" };
            let rule = workload.caught_by.map(|caught| caught.by.name());
            println!("{}", json!({"kind": kind, "id": workload.name, "about": workload.about, "rule": rule}));
        }
        for story in zk_catalogue::stories() {
            println!("{}", json!({"kind": "story", "id": story.name, "about": story.title}));
        }
        for rule in RuleId::ALL {
            println!("{}", json!({"kind": "rule", "id": rule.name(), "about": rule.promise()}));
        }
        return Ok(ExitCode::SUCCESS);
    }
    println!("Workloads (sweep, run, real)");
    for workload in zk_catalogue::workloads() {
        println!("  {:<18} {}", workload.name, workload.about);
    }
    println!("\nStories (run)");
    for story in zk_catalogue::stories() {
        println!("  {:<18} {}", story.name, story.title);
    }
    println!("\nMutants, each with the rule that kills it (mutants, sweep, run)");
    for workload in zk_catalogue::mutants() {
        let rule = workload.caught_by.map_or("", |caught| caught.by.name());
        println!("  {:<18} {rule}: {}", workload.name, workload.about);
    }
    println!("\nRules");
    for rule in RuleId::ALL {
        println!("  {:<6} {}", rule.name(), rule.promise());
    }
    Ok(ExitCode::SUCCESS)
}
