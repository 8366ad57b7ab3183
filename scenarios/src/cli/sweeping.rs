//! `sweep`: many seeds of workloads, and a table of verdicts.

use super::interrupt::Interrupt;
use super::lines::{Files, InOrder, Lines};
use super::progress::Watched;
use super::results::Results;
use super::searching::{Drawn, parse_strategy};
use super::single::{panic_line, read_plan, run_line, workload};
use super::swept::Swept;
use super::{Output, determinism};
use anyhow::{anyhow, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zk_checker::Verdict;
use zk_harness::panics::Panic;
use zk_harness::run::Run;
use zk_harness::strategy::{Search, Strategy};
use zk_harness::sweep::{self, Each};
use zk_harness::tally::Tally;
use zk_serve::parse_duration;

/// The default number of seeds per workload.
const SEEDS: u64 = 20_000;

/// The number of runs between two checks of the coverage.
const BATCH: u64 = 500;

#[derive(Args)]
pub(super) struct Sweep {
    /// Workloads or mutants; all workloads if none is given
    names: Vec<String>,
    /// Number of seeds of each workload
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// First seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Number of threads; default: all cores
    #[arg(long)]
    jobs: Option<usize>,
    /// Stop after this time, such as 60s or 5m
    #[arg(long, value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Shard of the seeds, as i/n with i from 0: every n-th seed, beginning with the i-th
    #[arg(long, value_parser = parse_shard, default_value = "0/1")]
    shard: (u64, u64),
    /// Search strategy: uniform, swarm, systematic or portfolio
    #[arg(long, value_parser = parse_strategy, default_value = "swarm")]
    strategy: Strategy,
    #[command(flatten)]
    variations: Drawn,
    /// Plan for all seeds, a JSON file, instead of one that each seed draws
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Require every probe of a workload even with fewer than 10,000 seeds
    #[arg(long)]
    require_probes: bool,
    /// Budget, in runs, for shrinking each failure that is printed in full; 0 disables shrinking
    #[arg(long, value_name = "RUNS", default_value_t = zk_harness::shrink::RUNS)]
    shrink: u32,
    /// Stop when everything required was reached and no new transition came for a while; `--seeds` is the maximum
    #[arg(long, conflicts_with = "shard")]
    until_covered: bool,
    /// With `--until-covered`: number of runs without a new transition before the sweep stops
    #[arg(long, value_name = "RUNS", default_value_t = 4 * BATCH)]
    quiet_for: u64,
    /// Repeat this number of runs, each in a fresh process, and compare the hashes
    #[arg(long, value_name = "RUNS")]
    verify_determinism: Option<u64>,
    /// Write a JSON line for every run, not only for failures
    #[arg(long)]
    each: bool,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    output: Output,
}

fn parse_shard(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("{text:?} is not a shard such as 0/4: i/n with i from 0 to n-1");
    let (i, n) = text.split_once('/').ok_or_else(wrong)?;
    match (i.parse(), n.parse()) {
        (Ok(i), Ok(n)) if i < n => Ok((i, n)),
        _ => Err(wrong()),
    }
}

impl Sweep {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let workloads = match self.names.as_slice() {
            [] => zk_catalogue::workloads().collect(),
            names => names.iter().map(|name| workload(name, &[])).collect::<anyhow::Result<Vec<_>>>()?,
        };
        if self.seeds == 0 {
            bail!("--seeds must be at least 1");
        }
        let plan = self.plan.as_deref().map(read_plan).transpose()?;
        if plan.is_some() && matches!(self.strategy, Strategy::Uniform | Strategy::Portfolio) {
            bail!("--strategy {} draws its own rates; leave out --plan", self.strategy.name());
        }
        let jobs = match self.jobs {
            Some(0) => bail!("--jobs must be at least 1"),
            Some(jobs) => jobs,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let end =
            self.from.checked_add(self.seeds).ok_or_else(|| anyhow!("there are no seeds beyond 2^64"))?;
        let interrupt = Interrupt::listen()?;
        let mut results = Results::open(self.output, &self.files, self.shrink, interrupt.clone())?;
        let stop = AtomicBool::new(false);
        let started = now();
        let (mut all, count) = (Vec::new(), workloads.len());
        for workload in workloads {
            if interrupt.has_come() {
                break;
            }
            let search =
                Search::new(workload, self.strategy, plan.clone()).drawing(self.variations.variations());
            let require_probes = self.require_probes || self.until_covered;
            let (seeds, shard, count_transitions) = (self.from..end, self.shard, self.until_covered);
            let sweep = sweep::Sweep { search, seeds, shard, jobs, require_probes, count_transitions };
            all.push(self.sweep(sweep, &mut results, &stop, started)?);
        }
        results.conclude(&all, count, started.elapsed().as_secs_f64())
    }

    /// Sweeps one workload: all seeds, or until it is covered.
    fn sweep(
        &self,
        sweep: sweep::Sweep,
        results: &mut Results,
        stop: &AtomicBool,
        started: std::time::Instant,
    ) -> anyhow::Result<Swept> {
        let begun = now();
        let counted = sweep.search.counted(sweep.seeds.end, sweep.jobs);
        let runs = sweep.runs();
        let sampled = determinism::sampled(self.verify_determinism.unwrap_or(0), runs);
        let watched = Watched::new(&sweep);
        let (first, step) = (sweep.seeds.start.saturating_add(sweep.shard.0), sweep.shard.1);
        let marks = Mutex::new(BTreeMap::new());
        let interrupt = results.interrupt.clone();
        let ready = Mutex::new((InOrder::new(first, step), &mut results.lines, Ok(())));
        let each = |seed: u64, run: Result<&Run, &Panic>| {
            watched.saw(run);
            let mut ready = ready.lock().expect("no thread panics while it holds this");
            let (in_order, lines, written) = &mut *ready;
            for line in in_order.put(seed, self.line(&sweep, seed, run, lines)) {
                if written.is_ok() {
                    *written = lines.write(line);
                }
            }
            if let Ok(run) = run
                && sampled((seed - first) / step)
            {
                let mark = (run.hash, run.history.events.len() as u64);
                marks.lock().expect("no thread panics while it holds this").insert(seed, mark);
            }
            if interrupt.has_come() || self.budget.is_some_and(|budget| started.elapsed() >= budget) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let (tally, mut notes) = if self.until_covered {
            self.until_covered(&sweep, stop, &each)
        } else {
            (sweep.tally_until(stop, &each), Vec::new())
        };
        let (in_order, lines, written) = ready.into_inner().expect("all threads are done");
        written?;
        in_order.rest().try_for_each(|line| lines.write(line))?;
        watched.finish();
        if let Some(counted) = counted {
            notes.push(match sweep.search.strategy {
                Strategy::Portfolio => format!("systematic: {}", counted.done(tally.runs / 3)),
                _ => format!("systematic: {}", counted.done(tally.runs)),
            });
        }
        let seconds = begun.elapsed().as_secs_f64();
        if interrupt.has_come() {
            notes.push(format!("interrupted after {} of {}", tally.runs, zk_report::count(runs, "run")));
        }
        if self.verify_determinism.is_some() {
            let marks = marks.into_inner().expect("all threads are done");
            let again = determinism::compare(
                &sweep.search,
                self.plan.as_deref(),
                &marks,
                sweep.jobs,
                interrupt.stop(),
            )?;
            let again = zk_report::count(again, "run");
            notes
                .push(format!("deterministic: {again} repeated, each in a fresh process, with equal hashes"));
        }
        Ok(Swept { sweep, tally, seconds, notes })
    }

    /// The JSON line of a run, if requested.
    fn line(
        &self,
        sweep: &sweep::Sweep,
        seed: u64,
        run: Result<&Run, &Panic>,
        lines: &Lines,
    ) -> Option<String> {
        let failed = run.is_err() || run.is_ok_and(|run| run.verdict() >= Verdict::Unknown);
        if !lines.are_wanted() || !(self.each || failed) {
            return None;
        }
        Some(match run {
            Ok(run) => run_line(Some(seed), run).to_string(),
            Err(panic) => panic_line(sweep.search.workload.name, seed, panic).to_string(),
        })
    }

    /// Sweeps until everything required was reached and no new transition came for a number of runs. It checks after
    /// whole batches, so the last run does not depend on the number of threads.
    fn until_covered(
        &self,
        sweep: &sweep::Sweep,
        stop: &AtomicBool,
        each: &Each<'_>,
    ) -> (Tally, Vec<String>) {
        let (mut tally, mut quiet, mut last) = (Tally::default(), 0, 0);
        let mut next = sweep.seeds.start;
        while next < sweep.seeds.end && !stop.load(Ordering::Relaxed) {
            let end = next.saturating_add(BATCH).min(sweep.seeds.end);
            let batch = sweep::Sweep { seeds: next..end, ..sweep.clone() };
            tally.merge(batch.tally_until(stop, each));
            next = end;
            quiet = if tally.transitions.len() > last { 0 } else { quiet + BATCH };
            last = tally.transitions.len();
            if sweep.missing(&tally).is_empty() && quiet >= self.quiet_for {
                let note = format!("covered: {last} transitions, none of them new in the last {quiet} runs");
                return (tally, vec![note]);
            }
        }
        let note = format!(
            "not covered: {last} transitions, the latest new one within the last {} runs",
            quiet + BATCH
        );
        (tally, vec![note])
    }
}

/// The wall clock; it does not affect any run.
#[expect(clippy::disallowed_methods, reason = "the duration of a sweep is no part of any run")]
pub(super) fn now() -> std::time::Instant {
    std::time::Instant::now()
}
