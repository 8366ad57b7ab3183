//! `zoo`: every broken recipe on many seeds: is it caught, by the right rule, soon enough, and by nothing but its own fault?

use super::lines::new_file;
use super::sweeping::{now, parse_strategy};
use super::{Output, junit, nearest, progress, shrinking};
use crate::zoo::kills::{self, Kills};
use crate::zoo::measure::{Measured, Outcome, measure_by};
use crate::zoo::shrunk::{self, Small};
use crate::zoo::table;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use zk_harness::strategy::{Search, Strategy};
use zk_harness::target::Target;

/// How many seeds an entry gets if nothing else is said.
const SEEDS: u64 = 1000;

/// Whose table it is.
const README: &str = "scenarios/README.md";

#[derive(Args)]
pub(super) struct Zoo {
    /// Broken recipes, or the beginnings of their names; all if none is named
    names: Vec<String>,
    /// How many seeds of each, and of the right recipe beside it
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// Threads; all cores if not given
    #[arg(long)]
    jobs: Option<usize>,
    /// In what order runs are searched: uniform, swarm, systematic or portfolio
    #[arg(long, value_parser = parse_strategy, default_value = "swarm")]
    strategy: Strategy,
    /// Show instead how many runs each of the strategies takes to catch each of them
    #[arg(long, conflicts_with_all = ["strategy", "junit"])]
    strategies: bool,
    /// Write the results into this new file as a JUnit report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the table into this file, between its two marks
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = README)]
    write_readme: Option<PathBuf>,
    /// Shrink the first failure of each, and show how small it gets
    #[arg(long)]
    shrink: bool,
    #[command(flatten)]
    output: Output,
}

impl Zoo {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let entries = self.entries()?;
        if self.seeds == 0 {
            bail!("--seeds 0 would prove nothing; give at least one");
        }
        let jobs = match self.jobs {
            Some(0) => bail!("--jobs 0 would do nothing; give at least one"),
            Some(jobs) => jobs,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let readme = self.write_readme.as_deref().map(|path| self.readme(path)).transpose()?;
        let report = self.junit.as_deref().map(new_file).transpose()?;
        super::silence_panics();
        if self.strategies {
            return self.kill_table(&entries, jobs, readme.as_deref());
        }
        let (mut measured, mut small) = (Vec::new(), Vec::new());
        for target in entries {
            let one = self.entry(target, jobs);
            let shrunk = if self.shrink { self.shrunk(target) } else { None };
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
        self.sum_up(&measured);
        if self.shrink && !self.output.is_json() {
            print!("\n{}", shrunk::text(&small));
        }
        if let (Some(path), Some(text)) = (&self.write_readme, readme) {
            let placed = table::placed(&text, &table::markdown(&measured, self.seeds));
            let placed = placed.context("the marks were there before")?;
            std::fs::write(path, placed).with_context(|| format!("cannot write {}", path.display()))?;
        }
        if let Some(file) = report {
            junit::write(&junit::of_zoo(&measured), file)?;
        }
        let all = measured.iter().all(|one| one.outcome() == Outcome::Caught);
        Ok(ExitCode::from(u8::from(!all)))
    }

    /// How soon each strategy catches each entry. Each should be caught by one of them.
    fn kill_table(
        &self,
        entries: &[&'static Target],
        jobs: usize,
        readme: Option<&str>,
    ) -> anyhow::Result<ExitCode> {
        let bar = progress::bar_of(entries.len() as u64, "zoo", "entries");
        let mut all = Vec::new();
        for target in entries {
            bar.set_message(target.name);
            let one = Kills::of(target, self.seeds, jobs);
            if self.output.is_json() {
                println!("{}", kill_line(&one));
            }
            all.push(one);
            bar.inc(1);
        }
        bar.finish_and_clear();
        let caught = all.iter().filter(|one| one.is_caught()).count();
        if self.output.is_json() {
            let verdict = if caught == all.len() { "pass" } else { "fail" };
            println!(
                "{}",
                json!({"kind": "summary", "verdict": verdict, "entries": all.len(), "caught": caught,
                    "seeds": self.seeds})
            );
        } else {
            print!("{}", kills::text(&all, self.seeds));
        }
        if let (Some(path), Some(text)) = (&self.write_readme, readme) {
            let table = kills::markdown(&all, self.seeds);
            let placed = table::placed_between(text, &table, kills::BEGIN, kills::END);
            let placed = placed.context("the marks were there before")?;
            std::fs::write(path, placed).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(ExitCode::from(u8::from(caught < all.len())))
    }

    /// Those of the names, in the order of the zoo. The beginning of a name stands for all that begin with it.
    fn entries(&self) -> anyhow::Result<Vec<&'static Target>> {
        let means = |name: &str, target: &Target| {
            target.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        for name in &self.names {
            if zk_catalogue::mutants().any(|target| means(name, target)) {
                continue;
            }
            match nearest(name, zk_catalogue::mutants().map(|target| target.name)) {
                Some(near) => bail!("there is no broken recipe called {name:?}; did you mean {near:?}?"),
                None => {
                    bail!("there is no broken recipe called {name:?}; `cargo sim list` shows what there is")
                }
            }
        }
        let wanted =
            |target: &&Target| self.names.is_empty() || self.names.iter().any(|name| means(name, target));
        Ok(zk_catalogue::mutants().filter(wanted).collect())
    }

    /// The text of the README, which must have a place for the table. Better told now than after all the work.
    fn readme(&self, path: &Path) -> anyhow::Result<String> {
        if !self.names.is_empty() {
            bail!("--write-readme is for the whole zoo: leave out the names");
        }
        let text =
            std::fs::read_to_string(path).map_err(|e| anyhow!("cannot read {}: {e}", path.display()))?;
        let (begin, end) =
            if self.strategies { (kills::BEGIN, kills::END) } else { (table::BEGIN, table::END) };
        if table::placed_between(&text, "", begin, end).is_none() {
            bail!("{} has no place for the table, between {begin:?} and {end:?}", path.display());
        }
        Ok(text)
    }

    /// The first failure, as small as it gets.
    fn shrunk(&self, target: &'static Target) -> Option<Small> {
        let begun = now();
        let clock = || begun.elapsed().as_secs_f64() * 1000.0;
        Small::of(target, 0..self.seeds, zk_harness::shrink::RUNS, clock)?.ok()
    }

    fn entry(&self, target: &'static Target, jobs: usize) -> Measured {
        let bar = progress::bar(self.seeds, target.name);
        let failed = AtomicU64::new(0);
        let runs = Search::new(target, self.strategy, None);
        let measured = measure_by(&runs, 0..self.seeds, jobs, &|has_failed| {
            if has_failed {
                bar.set_message(format!("{} failed", failed.fetch_add(1, Ordering::Relaxed) + 1));
            }
            bar.inc(1);
        });
        bar.finish_and_clear();
        measured
    }

    fn sum_up(&self, measured: &[Measured]) {
        let caught = measured.iter().filter(|one| one.outcome() == Outcome::Caught).count();
        if self.output.is_json() {
            let verdict = if caught == measured.len() { "pass" } else { "fail" };
            println!(
                "{}",
                json!({"kind": "summary", "verdict": verdict, "entries": measured.len(), "caught": caught,
                    "seeds": self.seeds})
            );
            return;
        }
        print!("{}", table::text(measured));
        print!("\n{}", table::promises(measured));
        println!(
            "\n{caught} of {} are caught as they should be, on {} seeds each",
            measured.len(),
            self.seeds
        );
    }
}

/// How soon an entry is caught, for a script.
fn kill_line(one: &Kills) -> serde_json::Value {
    let medians: serde_json::Map<_, _> = (Strategy::ALL.iter().zip(one.medians))
        .map(|(strategy, median)| (strategy.name().to_owned(), json!(median)))
        .collect();
    json!({"kind": "kill", "id": one.target.name, "medians": medians})
}

/// An entry for a script.
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
        "id": one.target.name,
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
