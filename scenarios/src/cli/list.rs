//! `list`: what there is.

use super::Output;
use crate::run::Target;
use crate::stories;
use serde_json::json;
use std::process::ExitCode;
use zk_checker::RuleId;

pub(super) fn list(output: Output) -> anyhow::Result<ExitCode> {
    if output.is_json() {
        for target in Target::ALL {
            let card = target.card();
            let kind = if card.caught_by.is_some() { "broken" } else { "workload" };
            println!(
                "{}",
                json!({"kind": kind, "id": card.name, "about": card.about, "rule": card.caught_by})
            );
        }
        for story in stories::ALL {
            println!("{}", json!({"kind": "story", "id": story.name, "about": story.title}));
        }
        for rule in RuleId::ALL {
            println!("{}", json!({"kind": "rule", "id": rule.name(), "about": rule.promise()}));
        }
        return Ok(ExitCode::SUCCESS);
    }
    println!("Workloads (sweep, run, real)");
    for target in Target::workloads() {
        println!("  {:<18} {}", target.card().name, target.card().about);
    }
    println!("\nStories (run)");
    for story in stories::ALL {
        println!("  {:<18} {}", story.name, story.title);
    }
    println!("\nBroken recipes, and the rule that catches each (sweep, run)");
    for target in Target::broken() {
        let card = target.card();
        println!("  {:<18} {}: {}", card.name, card.caught_by.unwrap_or_default(), card.about);
    }
    println!("\nRules");
    for rule in RuleId::ALL {
        println!("  {:<6} {}", rule.name(), rule.promise());
    }
    Ok(ExitCode::SUCCESS)
}
