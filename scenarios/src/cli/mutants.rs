//! `mutants`: the mutation score. Each mutant runs on many seeds, and must be killed by its rule within its budget, while the
//! correct recipe passes on the same seeds.

use super::interrupt::Interrupt;
use super::lines::new_file;
use super::searching::parse_strategy;
use super::sweeping::now;
use super::{Output, junit, nearest, progress, shrinking};
use crate::mutation_score::kills::{self, Kills};
use crate::mutation_score::lies;
use crate::mutation_score::measure::{Measured, Outcome, measure_by};
use crate::mutation_score::shrunk::{self, Small};
use crate::mutation_score::table;
use crate::mutation_score::twins::Twins;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use zk_harness::strategy::{Search, Strategy};
use zk_harness::workload::Workload;
use zk_report::place::Place;
use zk_report::whole_file;

/// The default number of seeds per mutant.
const SEEDS: u64 = 1000;

/// The file with the table.
const README: &str = "scenarios/README.md";

#[derive(Args)]
pub(super) struct Mutants {
    /// Names of mutants, or beginnings of names such as `lock`; all mutants if none is given
    names: Vec<String>,
    /// Number of seeds for each mutant and its correct recipe
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// Number of threads; default: all cores
    #[arg(long)]
    jobs: Option<usize>,
    /// Search strategy: uniform, swarm, systematic or portfolio
    #[arg(long, value_parser = parse_strategy, default_value = "swarm")]
    strategy: Strategy,
    /// Show the kill table instead: the number of runs that each strategy needs to kill each mutant
    #[arg(long, conflicts_with_all = ["strategy", "junit"])]
    strategies: bool,
    /// Write a JUnit report to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the table into this file, between its two marks
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = README)]
    write_readme: Option<PathBuf>,
    /// Shrink the first failure of each mutant, and show its size
    #[arg(long)]
    shrink: bool,
    #[command(flatten)]
    output: Output,
}

impl Mutants {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let entries = self.entries()?;
        if self.seeds == 0 {
            bail!("--seeds must be at least 1");
        }
        let jobs = match self.jobs {
            Some(0) => bail!("--jobs must be at least 1"),
            Some(jobs) => jobs,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let readme = self.write_readme.as_deref().map(|path| self.readme(path)).transpose()?;
        let report = self.junit.as_deref().map(new_file).transpose()?;
        let interrupt = Interrupt::listen()?;
        if self.strategies {
            return self.kill_table(&entries, jobs, readme.as_deref(), &interrupt);
        }
        let (mut measured, mut small, twins) = (Vec::new(), Vec::new(), Twins::default());
        for workload in &entries {
            let Some(one) = self.entry(&twins, workload, jobs, &interrupt) else { break };
            let shrunk = if self.shrink { self.shrunk(workload, &interrupt) } else { None };
            if self.output.is_json() {
                let mut line = line(&one);
                if let Some(small) = &shrunk {
                    line["shrunk"] = shrinking::line(&small.shrunk);
                    line["shrunk"]["seed"] = json!(small.seed);
                    line["shrunk"]["ms"] = json!(small.ms);
                }
                println!("{line}");
            }
            measured.push(one);
            small.extend(shrunk);
        }
        self.sum_up(&measured, &interrupt);
        if self.shrink && !self.output.is_json() {
            print!("\n{}", shrunk::text(&small));
        }
        if !self.output.is_json() {
            interrupt.say(&format!("{} of {} mutants were measured", measured.len(), entries.len()));
        }
        // An incomplete table does not replace a complete one.
        if let (Some(path), Some(text), false) = (&self.write_readme, readme, interrupt.has_come()) {
            let listed: Vec<_> = measured.iter().filter(|one| !lies::lies(one.workload)).cloned().collect();
            let page = table::PLACE.filled(&text, &table::markdown(&listed, self.seeds));
            let page = page.context("the two marks of the table have disappeared")?;
            // Another file may have no place for the table of lies.
            let both = lies::PLACE.filled(&page, &lies::markdown());
            whole_file::write(path, both.unwrap_or(page))?;
        }
        if let Some(file) = report {
            junit::write(&junit::of_mutants(&measured), file)?;
        }
        let all = measured.iter().all(|one| one.outcome() == Outcome::Caught);
        Ok(interrupt.status(u8::from(!all)))
    }

    /// Prints the kill table. Each mutant should be killed by some strategy.
    fn kill_table(
        &self,
        entries: &[&'static Workload],
        jobs: usize,
        readme: Option<&str>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<ExitCode> {
        let bar = progress::bar_of(entries.len() as u64, "mutants", "mutants");
        let mut all = Vec::new();
        for workload in entries {
            bar.set_message(workload.name);
            let Some(one) = Kills::of(workload, self.seeds, jobs, interrupt.stop()) else { break };
            if self.output.is_json() {
                println!("{}", kill_line(&one));
            }
            all.push(one);
            bar.inc(1);
        }
        bar.finish_and_clear();
        let caught = all.iter().filter(|one| one.is_caught()).count();
        if self.output.is_json() {
            let verdict = verdict(caught < all.len(), interrupt);
            let summary = json!({"kind": "summary", "verdict": verdict, "entries": all.len(), "caught": caught,
                "seeds": self.seeds});
            println!("{}", interrupt.mark(summary));
        } else {
            print!("{}", kills::text(&all, self.seeds));
            interrupt.say(&format!("{} of {} mutants were measured", all.len(), entries.len()));
        }
        if let (Some(path), Some(text), false) = (&self.write_readme, readme, interrupt.has_come()) {
            let listed: Vec<_> = all.iter().filter(|one| !lies::lies(one.workload)).copied().collect();
            let table = kills::markdown(&listed, self.seeds);
            let page = kills::PLACE.filled(text, &table);
            whole_file::write(path, page.context("the two marks of the table have disappeared")?)?;
        }
        Ok(interrupt.status(u8::from(caught < all.len())))
    }

    /// The named mutants, in the order of the catalogue. A prefix selects all mutants whose names begin with it.
    fn entries(&self) -> anyhow::Result<Vec<&'static Workload>> {
        let means = |name: &str, workload: &Workload| {
            let rest = workload.name.strip_prefix(&*zk_catalogue::present_name(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        for name in &self.names {
            if zk_catalogue::mutants().any(|workload| means(name, workload)) {
                continue;
            }
            if zk_catalogue::story(name).is_some() {
                bail!("{name} is a story, not a mutant: `cargo sim run {name}` runs it");
            }
            if zk_catalogue::find(name).is_some() {
                bail!("{name} is a workload without mutants; `cargo sim sweep {name}` runs it");
            }
            match nearest(name, zk_catalogue::mutants().map(|workload| workload.name)) {
                Some(near) => bail!("there is no mutant called {name:?}; did you mean {near:?}?"),
                None => {
                    bail!("there is no mutant called {name:?}; `cargo sim list` lists all of them")
                }
            }
        }
        let wanted = |workload: &&Workload| {
            self.names.is_empty() || self.names.iter().any(|name| means(name, workload))
        };
        Ok(zk_catalogue::mutants().filter(wanted).collect())
    }

    /// The text of the README. Fails before the work if it has no place for the table.
    fn readme(&self, path: &Path) -> anyhow::Result<String> {
        if !self.names.is_empty() {
            bail!("--write-readme needs all mutants: leave out the names");
        }
        let text =
            std::fs::read_to_string(path).map_err(|e| anyhow!("cannot read {}: {e}", path.display()))?;
        let place = if self.strategies { kills::PLACE } else { table::PLACE };
        if place.text(&text).is_none() {
            let Place { begin, end } = place;
            bail!(
                "{} has no place for the table: the marks {begin:?} and {end:?} are missing",
                path.display()
            );
        }
        Ok(text)
    }

    /// Shrinks the first failure.
    fn shrunk(&self, workload: &'static Workload, interrupt: &Interrupt) -> Option<Small> {
        let begun = now();
        let clock = || begun.elapsed().as_secs_f64() * 1000.0;
        Small::of(workload, 0..self.seeds, zk_harness::shrink::RUNS, interrupt.stop(), clock)?.ok()
    }

    /// Measures a mutant; `None` after an interruption.
    fn entry(
        &self,
        twins: &Twins,
        workload: &'static Workload,
        jobs: usize,
        interrupt: &Interrupt,
    ) -> Option<Measured> {
        let bar = progress::bar(self.seeds, workload.name);
        let failed = AtomicU64::new(0);
        let runs = Search::new(workload, self.strategy, None);
        let measured = measure_by(twins, &runs, 0..self.seeds, jobs, interrupt.stop(), &|has_failed| {
            if has_failed {
                bar.set_message(format!("{} failed", failed.fetch_add(1, Ordering::Relaxed) + 1));
            }
            bar.inc(1);
        });
        bar.finish_and_clear();
        measured
    }

    fn sum_up(&self, measured: &[Measured], interrupt: &Interrupt) {
        let caught = measured.iter().filter(|one| one.outcome() == Outcome::Caught).count();
        if self.output.is_json() {
            let verdict = verdict(caught < measured.len(), interrupt);
            let summary = json!({"kind": "summary", "verdict": verdict, "entries": measured.len(),
                "caught": caught, "seeds": self.seeds});
            println!("{}", interrupt.mark(summary));
            return;
        }
        print!("{}", table::text(measured));
        print!("\n{}", table::promises(measured));
        println!(
            "\nmutation score: {caught} of {} killed by their rule, on {} seeds each",
            measured.len(),
            self.seeds
        );
    }
}

/// The verdict on a table. An interrupted table can only show a survivor.
fn verdict(is_missed: bool, interrupt: &Interrupt) -> &'static str {
    match (is_missed, interrupt.has_come()) {
        (true, _) => "fail",
        (false, true) => "unknown",
        (false, false) => "pass",
    }
}

/// A row of the kill table as JSON.
fn kill_line(one: &Kills) -> serde_json::Value {
    let medians: serde_json::Map<_, _> = (Strategy::ALL.iter().zip(one.medians))
        .map(|(strategy, median)| (strategy.name().to_owned(), json!(median)))
        .collect();
    json!({"kind": "kill", "id": one.workload.name, "medians": medians})
}

/// A mutant as JSON.
fn line(one: &Measured) -> serde_json::Value {
    let names = |rules: &[zk_checker::RuleId]| rules.iter().map(|rule| rule.name()).collect::<Vec<_>>();
    let counts = |rules: &std::collections::BTreeMap<zk_checker::RuleId, u64>| {
        rules
            .iter()
            .map(|(rule, count)| (rule.name().to_owned(), json!(count)))
            .collect::<serde_json::Map<_, _>>()
    };
    let mut line = json!({
        "kind": "entry",
        "id": one.workload.name,
        "verdict": one.outcome().words(),
        "rule": one.caught.by.name(),
        "or": one.caught.or.iter().map(|(rule, why)| json!({"rule": rule.name(), "why": why})).collect::<Vec<_>>(),
        "harm": names(one.caught.harm),
        "within": one.caught.within,
        "seeds": one.seeds,
        "failed": one.failed,
        "first": one.first,
        "broken": counts(&one.broken),
        "outside": counts(&one.outside),
        "premises": one.premises,
    });
    if let Some(promise) = one.caught.breaks {
        line["breaks"] = json!(promise.name());
    }
    if let Some(search) = one.search {
        line["median"] = json!(search.median);
        line["p95"] = json!(search.p95);
    }
    if let Some((count, seed, what)) = &one.twin {
        line["twin"] = json!({"failed": count, "seed": seed, "first": what});
    }
    line
}
