//! Tries the kept findings again, and our recipes under the same plans.

use super::Hunt;
use super::hunting::{Target, Trial, unless_interrupted};
use crate::cli::interrupt::Interrupt;
use crate::text_table::text_table;
use anyhow::{Context, bail};
use serde_json::json;
use zk_checker::history::History;
use zk_hunt::findings::Finding;
use zk_hunt::program::{Program, Scenario};
use zk_hunt::rate::Rate;

/// The program with our recipes.
const OURS: &str = "ours";

impl Hunt {
    /// Tries the findings. Returns whether a finding no longer fails, or our recipe fails.
    pub(super) fn try_kept(
        &self,
        programs: &[Program],
        chosen: &[&Program],
        interrupt: &Interrupt,
    ) -> anyhow::Result<bool> {
        let mut findings = Finding::all(&self.findings)?;
        findings.retain(|finding| {
            chosen.iter().any(|program| program.name == finding.program)
                && self.scenario.as_ref().is_none_or(|id| *id == finding.id)
        });
        if findings.is_empty() {
            bail!("no finding of that name is kept in {}", self.findings.display());
        }
        let ours = programs.iter().find(|program| program.name == OURS);
        let head = ["program", "finding", "rule", "fails", "seconds", "ours", "ours fails", "all struck"];
        let (mut rows, mut is_wrong) = (vec![head.map(str::to_owned)], false);
        let (count, mut done) = (findings.len(), 0);
        for mut finding in findings {
            let theirs = self.try_theirs(&mut finding, chosen, interrupt);
            let Some(shortest) = unless_interrupted(interrupt, theirs)? else { break };
            if let Some(ours) = ours {
                let tried = self.try_ours(&mut finding, ours, chosen, interrupt);
                unless_interrupted(interrupt, tried)?;
            }
            // An interrupted series gives no rate.
            if interrupt.has_come() {
                break;
            }
            done += 1;
            let about = &finding.about;
            is_wrong |= about.rate.is_none_or(|rate| rate.hits == 0);
            is_wrong |= about.ours.is_some_and(|rate| rate.hits > 0);
            let shown = |rate: Option<Rate>| rate.map(|rate| rate.to_string()).unwrap_or_default();
            let seconds = about.seconds.map(|most| most.to_string()).unwrap_or_default();
            if self.output.is_json() {
                println!(
                    "{}",
                    json!({"kind": "finding", "program": finding.program, "id": finding.id, "rule": about.rule,
                        "rate": about.rate, "seconds": about.seconds, "ours": about.ours,
                        "ours_struck": about.ours_struck})
                );
            }
            rows.push([
                finding.program.clone(),
                finding.id.clone(),
                about.rule.clone().unwrap_or_default(),
                shown(about.rate),
                seconds,
                about.ours_scenario.clone().unwrap_or_default(),
                shown(about.ours),
                about.ours_struck.map(|rate| format!("{} of {}", rate.hits, rate.tries)).unwrap_or_default(),
            ]);
            if self.write_page {
                finding.write()?;
                if let Some(history) = shortest {
                    finding.write_history(&history)?;
                }
            }
        }
        if !self.output.is_json() {
            print!("{}", text_table(&rows));
            interrupt.say(&format!("{done} of {count} findings were tried to the end"));
        } else if interrupt.has_come() {
            println!("{}", interrupt.mark(json!({"kind": "summary", "findings": count, "tried": done})));
        }
        Ok(is_wrong)
    }

    /// Tries the finding, and returns the shortest history of those that break its rule.
    fn try_theirs(
        &self,
        finding: &mut Finding,
        chosen: &[&Program],
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<History>> {
        let program = chosen.iter().find(|program| program.name == finding.program);
        let program = program.context("it was chosen")?;
        let trials =
            self.tried(finding, program, scenario_of(program, &finding.about.scenario)?, interrupt)?;
        let about = &mut finding.about;
        // A finding without a rule gets the rule that its tries break most often.
        let rule = about.rule.clone().or_else(|| most_frequent(&trials));
        let mut rate = Rate::default();
        for trial in &trials {
            rate.count(rule.as_deref().is_some_and(|rule| trial.breaks(rule)));
        }
        about.seconds = trials.iter().map(|trial| trial.attempt.took.as_secs_f64().ceil() as u64).max();
        let broken = |trial: &Trial| {
            let all = trial.attempt.broken();
            all.into_iter().find(|one| Some(&one.rule) == rule.as_ref())
        };
        let breaking = trials.iter().filter_map(|trial| Some((trial, broken(trial)?)));
        let shortest = breaking.min_by_key(|(trial, _)| trial.attempt.history.events.len());
        let shortest = shortest.map(|(trial, broken)| (trial.attempt.history.clone(), broken.text));
        let (history, said) = shortest.unzip();
        (about.rule, about.rate, about.said) = (rule, Some(rate), said);
        Ok(history)
    }

    /// Tries our recipe for the same kind of object, under the same plan.
    fn try_ours(
        &self,
        finding: &mut Finding,
        ours: &Program,
        chosen: &[&Program],
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let theirs =
            chosen.iter().find(|program| program.name == finding.program).context("it was chosen")?;
        let theirs = scenario_of(theirs, &finding.about.scenario)?;
        let same = |scenario: &&Scenario| match &theirs.like {
            Some(name) => scenario.name == *name,
            None => scenario.kind == theirs.kind && !scenario.name.ends_with("-broken"),
        };
        let Some(scenario) = ours.scenarios.iter().find(same) else { return Ok(()) };
        // The plan names the paths of their object.
        let scenario =
            Scenario { object: theirs.object.clone(), clients: theirs.clients, ..scenario.clone() };
        let trials = self.tried(finding, ours, &scenario, interrupt)?;
        let (mut rate, mut struck) = (Rate::default(), Rate::default());
        for trial in &trials {
            let broken = trial.attempt.broken();
            for one in &broken {
                println!("ours, under the plan of {} {}:\n{}", finding.program, finding.id, one.text);
            }
            rate.count(!broken.is_empty() || !trial.attempt.restless.is_empty());
            struck.count(trial.attempt.has_struck(&trial.plan));
        }
        finding.about.ours = Some(rate);
        finding.about.ours_struck = Some(struck);
        finding.about.ours_scenario = Some(scenario.name);
        Ok(())
    }

    fn tried(
        &self,
        finding: &Finding,
        program: &Program,
        scenario: &Scenario,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Vec<Trial>> {
        let prepared = program.prepare(&self.out)?;
        let target = Target { prepared: &prepared, scenario };
        self.trials(target, self.seeds, |_| finding.plan.with_requests(&scenario.sends), interrupt)
    }
}

fn scenario_of<'a>(program: &'a Program, name: &str) -> anyhow::Result<&'a Scenario> {
    program.scenario(name).with_context(|| format!("{} has no scenario {name:?}", program.name))
}

/// The rule that most tries broke.
fn most_frequent(trials: &[Trial]) -> Option<String> {
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    for trial in trials {
        let mut rules: Vec<String> = trial.attempt.broken().into_iter().map(|one| one.rule).collect();
        rules.sort();
        rules.dedup();
        rules.into_iter().for_each(|rule| *counts.entry(rule).or_default() += 1);
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(rule, _)| rule)
}
