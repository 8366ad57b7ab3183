//! Drawn plans, or one plan, tried with many seeds.

use super::{Hunt, write_tried};
use crate::cli::interrupt::Interrupt;
use crate::cli::progress::bar_of;
use crate::text_table::text_table;
use anyhow::{Context, anyhow};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zk_checker::history::Tables;
use zk_hunt::attempt::{Attempt, Broken, attempt};
use zk_hunt::draw;
use zk_hunt::findings::{About, Finding};
use zk_hunt::page::Tried;
use zk_hunt::plan::Plan;
use zk_hunt::program::{Prepared, Program, Promise, Scenario};
use zk_hunt::shrink::{Effort, shrink};
use zk_report::whole_file::{self, WholeFile};
use zk_report::{Shown, Source};

/// The maximal number of refused lines shown per try.
const MOST_REFUSED: usize = 3;

/// The program and the scenario to try.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub prepared: &'a Prepared<'a>,
    pub scenario: &'a Scenario,
}

/// A try with its plan.
pub(super) struct Trial {
    pub seed: u64,
    pub plan: Plan,
    pub attempt: Attempt,
}

impl Trial {
    /// Whether the try broke that rule.
    pub fn breaks(&self, rule: &str) -> bool {
        self.attempt.broken().iter().any(|broken| broken.rule == rule)
    }
}

impl Hunt {
    /// Tries drawn plans, or the given plan. Returns whether a rule was broken.
    pub(super) fn try_drawn(&self, programs: &[&Program], interrupt: &Interrupt) -> anyhow::Result<bool> {
        let plan = self.plan.as_deref().map(|path| {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("the plan {} cannot be read", path.display()))?;
            Plan::read(&text).map_err(|why| anyhow!("{}: {why}", path.display()))
        });
        let plan = plan.transpose()?;
        let mut tried = Vec::new();
        for program in programs {
            let scenarios = self.scenarios(program)?;
            let Some(prepared) = unless_interrupted(interrupt, program.prepare(&self.out))? else { break };
            for scenario in scenarios {
                if !interrupt.has_come() {
                    let target = Target { prepared: &prepared, scenario };
                    tried.push(self.try_scenario(target, plan.as_ref(), interrupt)?);
                }
            }
        }
        if self.write_page && !interrupt.has_come() {
            write_tried(&self.findings, &tried)?;
        }
        self.summary(&tried, interrupt);
        Ok(tried.iter().any(|one| !one.broken.is_empty()))
    }

    fn try_scenario(
        &self,
        target: Target<'_>,
        plan: Option<&Plan>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Tried> {
        let (program, scenario) = (target.prepared.program(), target.scenario);
        let drawn = |seed| plan.cloned().unwrap_or_else(|| draw::plan(scenario, seed));
        let trials = self.trials(target, self.seeds, drawn, interrupt)?;
        let mut tried = Tried {
            program: program.name.clone(),
            version: program.version.clone(),
            scenario: scenario.name.clone(),
            ..Tried::default()
        };
        // The plan with the fewest steps shows each rule best.
        let mut smallest: BTreeMap<String, &Trial> = BTreeMap::new();
        for trial in &trials {
            tried.tries += 1;
            tried.faults += u32::try_from(trial.attempt.struck.len()).unwrap_or(u32::MAX);
            tried.restless += u32::from(!trial.attempt.restless.is_empty());
            let rules = rules(&trial.attempt.broken());
            for rule in rules {
                *tried.broken.entry(rule.clone()).or_default() += 1;
                let best = smallest.entry(rule).or_insert(trial);
                if trial.plan.steps.len() < best.plan.steps.len() {
                    *best = trial;
                }
            }
            self.tell(target, trial)?;
        }
        for (rule, trial) in smallest {
            if (self.shrink || self.keep.is_some()) && !interrupt.has_come() {
                self.make_smaller(target, &rule, trial, interrupt)?;
            }
        }
        Ok(tried)
    }

    /// Runs tries in parallel. Returns the trials in the order of their seeds, up to an interruption.
    pub(super) fn trials(
        &self,
        target: Target<'_>,
        seeds: u64,
        plan: impl Fn(u64) -> Plan + Sync,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Vec<Trial>> {
        let (next, trials) = (AtomicU64::new(0), Mutex::new(BTreeMap::new()));
        let name = format!("{} {}", target.prepared.program().name, target.scenario.name);
        let bar = bar_of(seeds, &name, "tries");
        std::thread::scope(|scope| {
            for _ in 0..self.jobs() {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= seeds || interrupt.has_come() {
                            return;
                        }
                        let seed = self.from + index;
                        let plan = plan(seed);
                        let tried = self.try_once(target, &plan, seed, interrupt.stop());
                        // An interrupted try is no evidence.
                        let Some(tried) = unless_interrupted(interrupt, tried).transpose() else { return };
                        let tried = tried.map(|attempt| Trial { seed, plan, attempt });
                        // An error ends all tries; with `--until-found`, so does a broken rule.
                        let is_found = |trial: &Trial| self.until_found && !trial.attempt.broken().is_empty();
                        if tried.as_ref().map_or(true, is_found) {
                            next.store(seeds, Ordering::Relaxed);
                        }
                        bar.inc(1);
                        trials.lock().expect("no trial panics").insert(index, tried);
                    }
                });
            }
        });
        bar.finish_and_clear();
        trials.into_inner().expect("no trial panics").into_values().collect()
    }

    fn try_once(
        &self,
        target: Target<'_>,
        plan: &Plan,
        seed: u64,
        stop: &AtomicBool,
    ) -> anyhow::Result<Attempt> {
        let folder = self.folder(target)?;
        attempt(target.prepared, target.scenario, plan, seed, &folder.join(format!("seed-{seed}.log")), stop)
    }

    fn folder(&self, target: Target<'_>) -> anyhow::Result<PathBuf> {
        let folder = self.out.join(&target.prepared.program().name).join(&target.scenario.name);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }

    /// Prints a try, and writes the files of one that failed.
    pub(super) fn tell(&self, target: Target<'_>, trial: &Trial) -> anyhow::Result<()> {
        let broken = trial.attempt.broken();
        if !broken.is_empty() {
            self.write_files(target, trial)?;
        }
        let (program, scenario) = (&target.prepared.program().name, &target.scenario.name);
        if self.output.is_json() {
            let broken: Vec<_> = broken
                .iter()
                .map(|one| json!({"rule": one.rule, "object": one.object, "text": one.text}))
                .collect();
            println!(
                "{}",
                json!({"kind": "try", "program": program, "scenario": scenario, "seed": trial.seed,
                    "steps": trial.plan.steps.len(), "struck": trial.attempt.struck.len(), "broken": broken,
                    "restless": trial.attempt.restless, "troubles": trial.attempt.troubles,
                    "refused": trial.attempt.refused, "seconds": trial.attempt.took.as_secs_f64()})
            );
            return Ok(());
        }
        if broken.is_empty() && trial.attempt.restless.is_empty() && trial.attempt.refused.is_empty() {
            return Ok(());
        }
        println!("{program} {scenario}, seed {}: {}", trial.seed, summary_of(trial));
        print!("{}", indented(&trial.plan.to_string()));
        for (one, alike) in first_of_each(&broken, trial.attempt.history.tables()) {
            print!("{}", indented(&one.text));
            if alike > 0 {
                println!("  {}", zk_checker::shape::and_alike(&one.rule, alike));
            }
        }
        let refused = &trial.attempt.refused;
        for text in refused.iter().take(MOST_REFUSED) {
            println!("  refused: {text}");
        }
        if refused.len() > MOST_REFUSED {
            println!("  and {} more were refused", refused.len() - MOST_REFUSED);
        }
        Ok(())
    }

    fn write_files(&self, target: Target<'_>, trial: &Trial) -> anyhow::Result<()> {
        let (folder, seed) = (self.folder(target)?, trial.seed);
        let path = |end: &str| folder.join(format!("seed-{seed}.{end}"));
        whole_file::write(&path("plan.jsonl"), trial.plan.to_string())?;
        WholeFile::over(&path("history.jsonl"))?
            .fill(|out| zk_checker::jsonl::write(&trial.attempt.history, out))?;
        let (program, scenario) = (&target.prepared.program().name, &target.scenario.name);
        let source = Source {
            title: format!("{program} {scenario}, seed {seed}"),
            about: target.scenario.hold.clone(),
            command: format!("cargo sim hunt {program} {scenario} --from {seed} --seeds 1"),
            plan: Some(trial.plan.to_string()),
            ..Source::default()
        };
        let judged = &trial.attempt.judged;
        let page = zk_report::page(&Shown {
            history: &trial.attempt.history,
            report: judged.report(),
            verdict: judged.verdict(),
            source: &source,
            beside: None,
        });
        whole_file::write(&path("html"), page)?;
        Ok(())
    }

    /// Shrinks the plan of a broken rule, prints it, and keeps it if requested.
    fn make_smaller(
        &self,
        target: Target<'_>,
        rule: &str,
        trial: &Trial,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let fails = |plan: &Plan| {
            let attempt = self.try_once(target, plan, trial.seed, interrupt.stop())?;
            anyhow::Ok(attempt.broken().iter().any(|broken| broken.rule == rule))
        };
        let smaller = shrink(&trial.plan, Effort::default(), fails);
        let Some(plan) = unless_interrupted(interrupt, smaller)? else { return Ok(()) };
        println!("{rule} of seed {}, shrunk:", trial.seed);
        print!("{}", indented(&plan.to_string()));
        let Some(id) = &self.keep else { return Ok(()) };
        let promise = target.scenario.promises.first().cloned();
        let about = About {
            scenario: target.scenario.name.clone(),
            title: rule.to_owned(),
            promise: promise.unwrap_or(Promise { quote: String::new(), source: String::new() }),
            happens: String::new(),
            upstream: None,
            upstream_note: None,
            rule: Some(rule.to_owned()),
            rate: None,
            seconds: None,
            ours: None,
            ours_struck: None,
            ours_scenario: None,
            said: None,
        };
        let finding = Finding::new(&self.findings, &target.prepared.program().name, id, about, plan);
        finding.write()?;
        println!("kept in {}: write its title and its cause there", finding.folder().display());
        Ok(())
    }

    fn summary(&self, tried: &[Tried], interrupt: &Interrupt) {
        if self.output.is_json() {
            for one in tried {
                let summary = json!({"kind": "summary", "program": one.program, "scenario": one.scenario,
                    "tries": one.tries, "faults": one.faults, "broken": one.broken, "restless": one.restless});
                println!("{}", interrupt.mark(summary));
            }
            return;
        }
        let head = ["program", "scenario", "tries", "faults", "rules broken", "not at rest"];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(tried.iter().map(|one| {
            let broken: Vec<String> =
                one.broken.iter().map(|(rule, count)| format!("{rule} in {count}")).collect();
            let broken = if broken.is_empty() { "none".to_owned() } else { broken.join(", ") };
            let (tries, faults, restless) =
                (one.tries.to_string(), one.faults.to_string(), one.restless.to_string());
            [one.program.clone(), one.scenario.clone(), tries, faults, broken, restless]
        }));
        println!("\n{}", text_table(&rows));
        interrupt.say(&format!("{} tries of {} scenarios were made", sum(tried), tried.len()));
    }
}

/// The first finding of each group that differs only by names, with the number of further ones.
fn first_of_each<'a>(broken: &'a [Broken], tables: Tables<'_>) -> Vec<(&'a Broken, usize)> {
    let key = |one: &Broken| (one.rule.clone(), zk_checker::shape::shape(tables, &one.text));
    zk_checker::shape::first_of_each(broken, key)
}

/// The rules that were broken, each once.
pub(super) fn rules(broken: &[Broken]) -> Vec<String> {
    let mut rules: Vec<String> = broken.iter().map(|one| one.rule.clone()).collect();
    rules.sort();
    rules.dedup();
    rules
}

fn summary_of(trial: &Trial) -> String {
    let mut words = rules(&trial.attempt.broken());
    if words.is_empty() {
        words.push("no rule is broken".to_owned());
    }
    if !trial.attempt.restless.is_empty() {
        words.push(format!("{} did not finish", trial.attempt.restless.join(", ")));
    }
    words.join(", ")
}

fn sum(tried: &[Tried]) -> u32 {
    tried.iter().map(|one| one.tries).sum()
}

/// The result, or `None` if it was interrupted.
pub(super) fn unless_interrupted<T>(
    interrupt: &Interrupt,
    result: anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    match result {
        Err(_) if interrupt.has_come() => Ok(None),
        result => result.map(Some),
    }
}

/// Indents each line by two spaces.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
