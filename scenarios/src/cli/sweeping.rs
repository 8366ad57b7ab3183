//! `sweep`: many seeds of workloads, and a table of verdicts.

use super::interrupt::Interrupt;
use super::lines::{Files, InOrder, Lines, new_file};
use super::progress::Watched;
use super::single::{panic_line, read_plan, run_line, workload};
use super::{Output, determinism, exercised, failure, fingerprints, junit, number, shrinking};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zk_checker::Verdict;
use zk_harness::exercised::Exercised;
use zk_harness::panics::Panic;
use zk_harness::run::Run;
use zk_harness::shard::Sheet;
use zk_harness::strategy::{Search, Strategy, Variations};
use zk_harness::sweep::{self, SweepRequest, Tally};
use zk_report::whole_file::WholeFile;
use zk_serve::parse_duration;

/// The number of kinds of failure that are printed in full.
const IN_FULL: usize = 2;

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

/// What a run draws in addition to its strategy.
#[derive(Args)]
pub(super) struct Drawn {
    /// Draw the sizes of each run too: servers, clients, rounds and session timeout
    #[arg(long)]
    vary: bool,
    /// Let a foreign client interfere in every second run: it deletes znodes, writes into them, or adds some
    #[arg(long, alias = "strangers")]
    interference: bool,
}

impl Drawn {
    pub(super) fn variations(&self) -> Variations {
        Variations { sizes: self.vary, interference: self.interference }
    }
}

fn parse_shard(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("{text:?} is not a shard such as 0/4: i/n with i from 0 to n-1");
    let (i, n) = text.split_once('/').ok_or_else(wrong)?;
    match (i.parse(), n.parse()) {
        (Ok(i), Ok(n)) if i < n => Ok((i, n)),
        _ => Err(wrong()),
    }
}

/// Reads the name of a strategy.
pub(super) fn parse_strategy(text: &str) -> Result<Strategy, String> {
    let names = Strategy::ALL.map(Strategy::name);
    Strategy::from_name(text).ok_or_else(|| super::no_such("strategy", text, names.into_iter()))
}

/// The arguments of `run` that reproduce a run of a search, except for `--plan`.
pub(super) fn numbered(search: &Search, seed: u64) -> String {
    let name = search.workload.name;
    let strategy = match search.strategy {
        Strategy::Swarm => String::new(),
        strategy => format!(" --strategy {}", strategy.name()),
    };
    let vary = if search.variations.sizes { " --vary" } else { "" };
    let interference = if search.variations.interference { " --interference" } else { "" };
    format!("{name}{strategy}{vary}{interference} --seed {seed}")
}

/// The command that reproduces a run of a search.
pub(super) fn again(search: &Search, seed: u64) -> String {
    let plan = if search.plan.is_some() { " with the same --plan" } else { "" };
    format!("cargo sim run {} --trace{plan}", numbered(search, seed))
}

/// The part of a sweep that belongs to one workload.
pub(super) struct WorkloadSweep {
    pub request: SweepRequest,
    pub tally: Tally,
    pub seconds: f64,
    /// Further lines of output.
    pub notes: Vec<String>,
}

/// Writes the results of a sweep.
pub(super) struct Telling {
    output: Output,
    pub lines: Lines,
    junit: Option<WholeFile>,
    /// The budget for shrinking a failure, in runs.
    shrink: u32,
    interrupt: Interrupt,
}

impl Sweep {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let workloads = match self.names.as_slice() {
            [] => zk_catalogue::workloads().collect(),
            names => names.iter().map(|name| workload(name, &[])).collect::<anyhow::Result<Vec<_>>>()?,
        };
        if self.seeds == 0 {
            bail!("--seeds must be at least 1: no seeds are no evidence");
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
        let mut telling = Telling::open(self.output, &self.files, self.shrink, interrupt.clone())?;
        let stop = AtomicBool::new(false);
        let started = now();
        let (mut parts, count) = (Vec::new(), workloads.len());
        for workload in workloads {
            if interrupt.has_come() {
                break;
            }
            let search =
                Search::new(workload, self.strategy, plan.clone()).drawing(self.variations.variations());
            let require_probes = self.require_probes || self.until_covered;
            let (seeds, shard, count_transitions) = (self.from..end, self.shard, self.until_covered);
            let request = SweepRequest { search, seeds, shard, jobs, require_probes, count_transitions };
            parts.push(self.part(request, &mut telling, &stop, started)?);
        }
        telling.conclude(&parts, count, started.elapsed().as_secs_f64())
    }

    /// Sweeps one workload: all seeds, or until it is covered.
    fn part(
        &self,
        request: SweepRequest,
        telling: &mut Telling,
        stop: &AtomicBool,
        started: std::time::Instant,
    ) -> anyhow::Result<WorkloadSweep> {
        let begun = now();
        let counted = request.search.counted(request.seeds.end, request.jobs);
        let runs = request.runs();
        let sampled = determinism::sampled(self.verify_determinism.unwrap_or(0), runs);
        let watched = Watched::new(&request);
        let (first, step) = (request.seeds.start.saturating_add(request.shard.0), request.shard.1);
        let marks = Mutex::new(BTreeMap::new());
        let interrupt = telling.interrupt.clone();
        let ready = Mutex::new((InOrder::new(first, step), &mut telling.lines, Ok(())));
        let each = |seed: u64, run: Result<&Run, &Panic>| {
            watched.saw(run);
            let mut ready = ready.lock().expect("no thread panics while it holds this");
            let (in_order, lines, written) = &mut *ready;
            for line in in_order.put(seed, self.line(&request, seed, run, lines)) {
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
        let (tally, mut notes) = match self.until_covered {
            true => self.until_covered(&request, stop, &each),
            false => (sweep::sweep(&request, stop, &each), Vec::new()),
        };
        let (in_order, lines, written) = ready.into_inner().expect("all threads are done");
        written?;
        in_order.rest().try_for_each(|line| lines.write(line))?;
        watched.finish();
        if let Some(counted) = counted {
            notes.push(match request.search.strategy {
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
                &request.search,
                self.plan.as_deref(),
                &marks,
                request.jobs,
                interrupt.stop(),
            )?;
            let again = zk_report::count(again, "run");
            notes
                .push(format!("deterministic: {again} repeated, each in a fresh process, with equal hashes"));
        }
        Ok(WorkloadSweep { request, tally, seconds, notes })
    }

    /// The JSON line of a run, if requested.
    fn line(
        &self,
        request: &SweepRequest,
        seed: u64,
        run: Result<&Run, &Panic>,
        lines: &Lines,
    ) -> Option<String> {
        let failed = run.is_err() || run.is_ok_and(|run| run.verdict() >= Verdict::Unknown);
        if !lines.are_wanted() || !(self.each || failed) {
            return None;
        }
        let workload = request.search.workload;
        Some(match run {
            Ok(run) => run_line(workload, Some(seed), run).to_string(),
            Err(panic) => panic_line(workload.name, seed, panic).to_string(),
        })
    }

    /// Sweeps until everything required was reached and no new transition came for a number of runs. It checks after
    /// whole batches, so the last run does not depend on the number of threads.
    fn until_covered(
        &self,
        request: &SweepRequest,
        stop: &AtomicBool,
        each: &sweep::Each<'_>,
    ) -> (Tally, Vec<String>) {
        let (mut tally, mut quiet, mut last) = (Tally::default(), 0, 0);
        let mut next = request.seeds.start;
        while next < request.seeds.end && !stop.load(Ordering::Relaxed) {
            let end = next.saturating_add(BATCH).min(request.seeds.end);
            let batch = SweepRequest { seeds: next..end, ..request.clone() };
            tally.merge(sweep::sweep(&batch, stop, each));
            next = end;
            quiet = if tally.transitions.len() > last { 0 } else { quiet + BATCH };
            last = tally.transitions.len();
            let is_proved = tally.never_injected(request).is_empty()
                && tally.required_untested(request).is_empty()
                && tally.unreached(request).is_empty()
                && tally.conditions_unreached(request).is_empty();
            if is_proved && quiet >= self.quiet_for {
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

impl Telling {
    /// Creates the files before the work, so that an error comes early.
    pub(super) fn open(
        output: Output,
        files: &Files,
        shrink: u32,
        interrupt: Interrupt,
    ) -> anyhow::Result<Telling> {
        let junit = files.junit.as_deref().map(new_file).transpose()?;
        let lines = Lines::open(output, files.out.as_deref())?;
        Ok(Telling { output, lines, junit, shrink, interrupt })
    }

    /// Writes failures, tables, JSON lines and the report, and returns the exit status. `count` is the number of
    /// workloads to sweep.
    pub(super) fn conclude(
        mut self,
        parts: &[WorkloadSweep],
        count: usize,
        seconds: f64,
    ) -> anyhow::Result<ExitCode> {
        for part in parts {
            self.tell_failures(part)?;
        }
        let verdict =
            parts.iter().map(|part| part.tally.verdict(&part.request)).max().unwrap_or(Verdict::Vacuous);
        let vacuous = parts.iter().any(|part| part.tally.verdict(&part.request) == Verdict::Vacuous);
        let gaps = gaps(parts);
        self.summary(parts, gaps.as_ref(), verdict, seconds)?;
        // Files come first: the reader of the tables may close the pipe early.
        self.lines.finish()?;
        if let Some(file) = self.junit {
            junit::write(&junit::of_sweep(parts), file)?;
        }
        if !self.output.is_json() {
            parts.iter().for_each(table);
            gaps.iter().for_each(exercised::Gaps::print);
            self.interrupt.say(&format!("{} of {count} workloads were begun", parts.len()));
        }
        // A sweep without evidence for one workload is vacuous, unless a rule failed.
        let is_long = parts.iter().all(|part| part.tally.runs >= sweep::REACHED_WITHIN);
        let vacuous = vacuous || is_long && gaps.is_some_and(|gaps| !gaps.missing.is_empty());
        let verdict = if vacuous && verdict < Verdict::Unknown { Verdict::Vacuous } else { verdict };
        Ok(self.interrupt.status(number(verdict)))
    }

    /// Repeats, stores and prints the first failure of each kind.
    fn tell_failures(&mut self, part: &WorkloadSweep) -> anyhow::Result<()> {
        let mut kinds: Vec<_> = part.tally.failures.iter().collect();
        kinds.sort_by_key(|(what, (_, count))| (u64::MAX - count, *what));
        for (what, (seed, count)) in kinds.iter().skip(IN_FULL) {
            if !self.output.is_json() {
                println!(
                    "✗ {} more failed by {what}, the first with seed {seed}",
                    zk_report::count(*count, "run")
                );
            }
        }
        let search = &part.request.search;
        let name = search.workload.name;
        for (what, (seed, count)) in kinds.into_iter().take(IN_FULL) {
            let Some(attempt) = search.attempt(*seed) else { continue };
            let (plan, placed) = (attempt.plan.clone(), attempt.placed.clone());
            let run = match attempt.run_caught(search.workload) {
                Ok(run) => run,
                Err(said) => {
                    if !self.output.is_json() {
                        print!("{}", failure::panicked(&format!("{name}, seed {seed}"), &said));
                        println!("  drawn     {plan}\n  again     {}", again(search, *seed));
                        println!("  {count} of {} panicked\n", zk_report::count(part.tally.runs, "run"));
                    }
                    continue;
                }
            };
            // `failure::tell` prints the command of a plain seed; the number of another search needs its arguments.
            let plain = search.is_plain().then_some(*seed);
            let kept = failure::keep(search.workload, plain, &plan, &run)
                .with_context(|| format!("keeping the failure of seed {seed}"))?;
            if !self.output.is_json() {
                print!("{}", failure::tell(search.workload, plain, &plan, &run, &kept));
                if plain.is_none() {
                    println!("  again     {}", again(search, *seed));
                }
                for spot in placed.iter().flatten() {
                    println!("  placed    {spot}");
                }
                println!("  {count} of {} failed by {what}", zk_report::count(part.tally.runs, "run"));
            }
            let shrunk = shrinking::also(search.workload, &plan, &run, self.shrink, &self.interrupt);
            if let (Some(shrunk), true) = (&shrunk, self.lines.are_wanted()) {
                self.lines.write(shrinking::line(shrunk))?;
            }
            if !self.output.is_json() {
                println!("{}", shrunk.as_ref().map_or(String::new(), shrinking::below));
            }
        }
        Ok(())
    }

    /// Writes the summary lines; the last one is the summary itself.
    fn summary(
        &mut self,
        parts: &[WorkloadSweep],
        gaps: Option<&exercised::Gaps>,
        verdict: Verdict,
        seconds: f64,
    ) -> anyhow::Result<()> {
        if self.lines.are_wanted() {
            for part in parts {
                let name = part.request.search.workload.name;
                for (rule, (premises, verdict)) in &part.tally.rules {
                    self.lines.write(json!({"kind": "rule", "workload": name, "id": rule.name(),
                        "verdict": verdict.name(), "premises": premises}))?;
                }
            }
            for part in parts {
                let name = part.request.search.workload.name;
                for (probe, count) in &part.tally.probes {
                    self.lines.write(json!({"kind": "probe", "workload": name, "id": probe.name(),
                        "count": count}))?;
                }
                for (operation, endings) in &part.tally.exercised.0 {
                    self.lines.write(json!({"kind": "operation", "workload": name, "id": operation,
                        "endings": endings}))?;
                }
                for (what, count) in &part.tally.sometimes {
                    self.lines.write(json!({"kind": "sometimes", "workload": name, "id": what,
                        "count": count}))?;
                }
            }
            for line in parts.iter().filter_map(unproved) {
                self.lines.write(line)?;
            }
            for part in parts {
                for line in fingerprints::lines(part) {
                    self.lines.write(line)?;
                }
            }
            for part in parts {
                self.lines.write(serde_json::to_string(&Sheet::of(&part.request, &part.tally))?)?;
            }
            if let Some(gaps) = gaps {
                self.lines.write(json!({"kind": "coverage", "not_exercised": gaps.missing,
                    "not_listed": gaps.unlisted}))?;
            }
            let runs: u64 = parts.iter().map(|part| part.tally.runs).sum();
            let failed: u64 = parts.iter().flat_map(|part| part.tally.failures.values()).map(|f| f.1).sum();
            let vacuous = parts.iter().filter(|p| p.tally.verdict(&p.request) == Verdict::Vacuous).count();
            self.lines.write(self.interrupt.mark(json!({"kind": "summary", "verdict": verdict.name(),
                "runs": runs, "failed": failed, "vacuous": vacuous, "seconds": seconds,
                "per_second": runs as f64 / seconds})))?;
        }
        Ok(())
    }
}

/// The gaps of all workloads together, if all were swept.
fn gaps(parts: &[WorkloadSweep]) -> Option<exercised::Gaps> {
    let swept = |name| parts.iter().any(|part| part.request.search.workload.name == name);
    let mut exercised = Exercised::default();
    parts.iter().for_each(|part| exercised.merge(part.tally.exercised.clone()));
    zk_catalogue::workloads().all(|workload| swept(workload.name)).then(|| exercised::Gaps::of(&exercised))
}

/// The missing evidence of a part, as JSON.
fn unproved(part: &WorkloadSweep) -> Option<serde_json::Value> {
    let faults: Vec<&str> =
        part.tally.never_injected(&part.request).iter().map(|fault| fault.name()).collect();
    let rules: Vec<&str> =
        part.tally.required_untested(&part.request).iter().map(|rule| rule.name()).collect();
    let probes: Vec<&str> = part.tally.unreached(&part.request).iter().map(|probe| probe.name()).collect();
    let sometimes = part.tally.conditions_unreached(&part.request);
    let name = part.request.search.workload.name;
    (!faults.is_empty() || !rules.is_empty() || !probes.is_empty() || !sometimes.is_empty()).then(|| {
        json!({"kind": "unproved", "workload": name, "faults": faults, "rules": rules, "probes": probes,
            "sometimes": sometimes})
    })
}

/// The missing evidence of a part, a clause for each kind.
pub(super) fn missing(part: &WorkloadSweep) -> Vec<String> {
    let WorkloadSweep { request, tally, .. } = part;
    let faults: Vec<&str> = tally.never_injected(request).iter().map(|fault| fault.name()).collect();
    let rules: Vec<&str> = tally.required_untested(request).iter().map(|rule| rule.name()).collect();
    let probes: Vec<&str> = tally.unreached(request).iter().map(|probe| probe.name()).collect();
    let sometimes = tally.conditions_unreached(request);
    let clause = |names: &[&str], what: &str| {
        let was = if names.len() == 1 { "was" } else { "were" };
        (!names.is_empty()).then(|| format!("{} {was} never {what}; run more seeds", names.join(", ")))
    };
    let clauses = [
        clause(&faults, "injected"),
        clause(&rules, "tested"),
        clause(&probes, "reached"),
        clause(&sometimes, "reached"),
    ];
    clauses.into_iter().flatten().collect()
}

fn table(part: &WorkloadSweep) {
    let WorkloadSweep { request, tally, seconds, notes } = part;
    println!(
        "{}: {} in {seconds:.1} s, {:.0} seeds/s on {}; {}, {:.0} s of simulated time",
        request.search.workload.name,
        zk_report::count(tally.runs, "run"),
        tally.runs as f64 / seconds,
        zk_report::count(request.jobs as u64, "thread"),
        zk_report::count(tally.events, "event"),
        tally.sim_us as f64 / 1e6
    );
    println!("  rule   verdict     premises  promise");
    for (rule, (premises, verdict)) in &tally.rules {
        println!("  {:<6} {:<11} {premises:>8}  {}", rule.name(), verdict.name(), rule.promise());
    }
    println!("  faults injected");
    for fault in sim_zk::fault::Fault::DRAWN {
        let count = tally.faults.get(&zk_harness::journal::fault_kind(*fault)).copied().unwrap_or(0);
        println!("    {:<16} {count:>9}", fault.name());
    }
    println!("  allowed anomalies observed");
    for (probe, count) in &tally.probes {
        println!("    {:<28} {count:>9}  {}", probe.name(), probe.about());
    }
    print!("{}", fingerprints::table(part));
    println!("  operations, and how they ended");
    for (operation, endings) in &tally.exercised.0 {
        println!("    {operation:<36} {}", exercised::endings(endings));
    }
    if !tally.sometimes.is_empty() {
        println!("  reached");
    }
    for (what, count) in &tally.sometimes {
        println!("    {count:>9}  {what}");
    }
    println!(
        "  after the last fault: progress within {:.1} s (limit {} s)",
        tally.longest_lull_us as f64 / 1e6,
        request.search.workload.stated.finishes_within.as_secs()
    );
    let count = |verdict| tally.verdicts.get(&verdict).copied().unwrap_or(0);
    println!(
        "  verdicts  {} pass, {} unavoidable, {} vacuous, {} unknown, {} fail",
        count(Verdict::Pass),
        count(Verdict::Unavoidable),
        count(Verdict::Vacuous),
        count(Verdict::Unknown),
        count(Verdict::Fail)
    );
    for clause in missing(part) {
        println!("  no evidence (vacuous): {clause}");
    }
    for note in notes {
        println!("  {note}");
    }
    let verdict = tally.verdict(request);
    println!("  {}: {}", verdict.name(), meaning(verdict));
}

/// The meaning of a verdict of a sweep.
fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Vacuous => "no rule failed, and evidence is missing",
        Verdict::Pass => "all rules held",
        Verdict::Unavoidable => {
            "all rules held, except for breaches that no program can avoid (such as by a client paused past its session expiry)"
        }
        Verdict::Unknown => "evidence is missing",
        Verdict::Fail => "a rule failed",
    }
}

/// The wall clock; it does not affect any run.
#[expect(clippy::disallowed_methods, reason = "the duration of a sweep is no part of any run")]
pub(super) fn now() -> std::time::Instant {
    std::time::Instant::now()
}
