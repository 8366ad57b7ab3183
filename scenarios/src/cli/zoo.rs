//! `zoo`: every broken recipe on many seeds: is it caught, by the right rule, soon enough, and by nothing but its own fault?

use super::sweeping::now;
use super::{Output, nearest, progress, shrinking};
use crate::target::Target;
use crate::zoo::measure::{Measured, Outcome, measure};
use crate::zoo::shrunk::{self, Small};
use crate::zoo::table;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

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
        super::silence_panics();
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
        let all = measured.iter().all(|one| one.outcome() == Outcome::Caught);
        Ok(ExitCode::from(u8::from(!all)))
    }

    /// Those of the names, in the order of the zoo. The beginning of a name stands for all that begin with it.
    fn entries(&self) -> anyhow::Result<Vec<&'static Target>> {
        let means = |name: &str, target: &Target| {
            target.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        for name in &self.names {
            if Target::broken().any(|target| means(name, target)) {
                continue;
            }
            match nearest(name, Target::broken().map(|target| target.name)) {
                Some(near) => bail!("there is no broken recipe called {name:?}; did you mean {near:?}?"),
                None => {
                    bail!("there is no broken recipe called {name:?}; `cargo sim list` shows what there is")
                }
            }
        }
        let wanted =
            |target: &&Target| self.names.is_empty() || self.names.iter().any(|name| means(name, target));
        Ok(Target::broken().filter(wanted).collect())
    }

    /// The text of the README, which must have a place for the table. Better told now than after all the work.
    fn readme(&self, path: &Path) -> anyhow::Result<String> {
        if !self.names.is_empty() {
            bail!("--write-readme is for the whole zoo: leave out the names");
        }
        let text =
            std::fs::read_to_string(path).map_err(|e| anyhow!("cannot read {}: {e}", path.display()))?;
        if table::placed(&text, "").is_none() {
            bail!(
                "{} has no place for the table, between {:?} and {:?}",
                path.display(),
                table::BEGIN,
                table::END
            );
        }
        Ok(text)
    }

    /// The first failure, as small as it gets.
    fn shrunk(&self, target: &'static Target) -> Option<Small> {
        let begun = now();
        let clock = || begun.elapsed().as_secs_f64() * 1000.0;
        Small::of(target, 0..self.seeds, crate::shrink::RUNS, clock)?.ok()
    }

    fn entry(&self, target: &'static Target, jobs: usize) -> Measured {
        let bar = progress::bar(self.seeds, target.name);
        let failed = AtomicU64::new(0);
        let measured = measure(target, 0..self.seeds, jobs, &|has_failed| {
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
