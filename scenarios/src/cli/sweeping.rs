//! `sweep`: many seeds, counted.

use super::single::{read_plan, run_line, target};
use super::{Output, failure, progress, shapes, shrinking, status, word};
use crate::run::{self, Run};
use crate::sweep::{self, Order, Tally};
use crate::target::Target;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use zk_checker::Verdict;

/// How many kinds of failure are told in full.
const TOLD: usize = 2;

/// How many seeds a workload gets if nothing else is said.
const SEEDS: u64 = 20_000;

#[derive(Args)]
pub(super) struct Sweep {
    /// Workloads or broken recipes; all workloads if none is named
    names: Vec<String>,
    /// How many seeds of each workload
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Threads; all cores if not given
    #[arg(long)]
    jobs: Option<usize>,
    /// Stop after this long, such as 60s or 5m
    #[arg(long, value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Only every n-th seed, beginning with the i-th: i/n, i from 0
    #[arg(long, value_parser = parse_shard, default_value = "0/1")]
    shard: (u64, u64),
    /// One plan for all seeds, instead of one drawn by each: a JSON file
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Require whatever a workload must be able to reach, also of fewer than 10,000 seeds
    #[arg(long)]
    require_probes: bool,
    /// How many runs may go into making the first failure of each rule small, of those that are told in full; 0 for none
    #[arg(long, value_name = "RUNS", default_value_t = crate::shrink::RUNS)]
    shrink: u32,
    /// With `--format json`: a line for every run, not only for failures
    #[arg(long)]
    each: bool,
    #[command(flatten)]
    output: Output,
}

/// Reads 500ms, 60s or 5m.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a duration such as 500ms, 60s or 5m");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    match &text[digits.len()..] {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(60 * number)),
        _ => Err(wrong()),
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

/// One workload's part of a sweep.
struct Part {
    order: Order,
    tally: Tally,
    seconds: f64,
}

impl Sweep {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let targets = match self.names.as_slice() {
            [] => Target::workloads().collect(),
            names => names.iter().map(|name| target(name, &[])).collect::<anyhow::Result<Vec<_>>>()?,
        };
        if self.seeds == 0 {
            bail!("--seeds 0 would prove nothing; give at least one");
        }
        let plan = self.plan.as_deref().map(read_plan).transpose()?;
        let jobs = match self.jobs {
            Some(0) => bail!("--jobs 0 would do nothing; give at least one"),
            Some(jobs) => jobs,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let end =
            self.from.checked_add(self.seeds).ok_or_else(|| anyhow!("there are no seeds beyond 2^64"))?;
        // A run that panics is told as a failure, with its seed; the hook would tell it a thousand times.
        super::silence_panics();
        let stop = AtomicBool::new(false);
        let started = now();
        let mut parts = Vec::new();
        for target in targets {
            let (seeds, shard, plan) = (self.from..end, self.shard, plan.clone());
            let order = Order { target, seeds, shard, plan, jobs, require_probes: self.require_probes };
            parts.push(self.part(order, &stop, started));
        }
        for part in &parts {
            self.tell_failures(part)?;
        }
        let verdict =
            parts.iter().map(|part| part.tally.verdict(&part.order)).max().unwrap_or(Verdict::Vacuous);
        let vacuous = parts.iter().any(|part| part.tally.verdict(&part.order) == Verdict::Vacuous);
        self.summary(&parts, verdict, started.elapsed().as_secs_f64());
        // A sweep that proved nothing of one workload proved nothing, unless it broke a promise.
        Ok(if vacuous && verdict < Verdict::Unknown { status(Verdict::Vacuous) } else { status(verdict) })
    }

    fn part(&self, order: Order, stop: &AtomicBool, started: std::time::Instant) -> Part {
        let bar = progress::bar(order.runs(), order.target.name);
        let begun = now();
        let failed = AtomicU64::new(0);
        let each = |seed: u64, run: Result<&Run, &str>| {
            let what = match run {
                Ok(run) => (run.verdict() >= Verdict::Unknown).then(|| sweep::what_failed(run)),
                Err(_) => Some(sweep::PANIC.to_owned()),
            };
            if self.output.is_json() && (self.each || what.is_some()) {
                match run {
                    Ok(run) => println!("{}", run_line(order.target, Some(seed), run)),
                    Err(said) => println!(
                        "{}",
                        json!({"kind": "run", "workload": order.target.name, "seed": seed,
                            "verdict": "fail", "rule": sweep::PANIC, "said": said})
                    ),
                }
            }
            follow(&bar, &failed, what);
            if self.budget.is_some_and(|budget| started.elapsed() >= budget) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let tally = sweep::sweep(&order, stop, &each);
        bar.finish_and_clear();
        Part { order, tally, seconds: begun.elapsed().as_secs_f64() }
    }

    /// The first failure of each kind is run again, kept and told.
    fn tell_failures(&self, part: &Part) -> anyhow::Result<()> {
        let mut kinds: Vec<_> = part.tally.failures.iter().collect();
        kinds.sort_by_key(|(what, (_, count))| (u64::MAX - count, *what));
        for (what, (seed, count)) in kinds.iter().skip(TOLD) {
            if !self.output.is_json() {
                println!("✗ {count} more runs failed by {what}, the first with seed {seed}");
            }
        }
        for (what, (seed, count)) in kinds.into_iter().take(TOLD) {
            let plan = part.order.plan(*seed);
            let run = match run::seed_caught(part.order.target, &plan, *seed) {
                Ok(run) => run,
                Err(said) => {
                    if !self.output.is_json() {
                        let name = part.order.target.name;
                        println!("✗ {name}, seed {seed}: the code under test panicked: {said}");
                        println!("  drawn     {plan}\n  again     cargo sim run {name} --seed {seed}");
                        println!("  {count} of {} runs panicked\n", part.tally.runs);
                    }
                    continue;
                }
            };
            let kept = failure::keep(part.order.target, Some(*seed), &plan, &run)
                .with_context(|| format!("keeping the failure of seed {seed}"))?;
            if !self.output.is_json() {
                print!("{}", failure::tell(part.order.target, Some(*seed), &plan, &run, &kept));
                println!("  {count} of {} runs failed by {what}", part.tally.runs);
            }
            shrinking::also(part.order.target, &plan, &run, self.shrink, self.output);
            if !self.output.is_json() {
                println!();
            }
        }
        Ok(())
    }

    fn summary(&self, parts: &[Part], verdict: Verdict, seconds: f64) {
        if self.output.is_json() {
            for part in parts {
                for (rule, (premises, verdict)) in &part.tally.rules {
                    println!(
                        "{}",
                        json!({"kind": "rule", "workload": part.order.target.name, "id": rule.name(),
                            "verdict": word(*verdict), "premises": premises})
                    );
                }
            }
            for part in parts {
                for (probe, count) in &part.tally.probes {
                    println!(
                        "{}",
                        json!({"kind": "probe", "workload": part.order.target.name, "id": probe.name(),
                            "count": count})
                    );
                }
            }
            parts.iter().filter_map(unproved).for_each(|line| println!("{line}"));
            for Part { order, tally, .. } in parts {
                let lines = shapes::lines(order.target.name, tally, &|seed| self.again(order.target, seed));
                lines.iter().for_each(|line| println!("{line}"));
            }
            let runs: u64 = parts.iter().map(|part| part.tally.runs).sum();
            let failed: u64 = parts.iter().flat_map(|part| part.tally.failures.values()).map(|f| f.1).sum();
            let vacuous = parts.iter().filter(|p| p.tally.verdict(&p.order) == Verdict::Vacuous).count();
            println!(
                "{}",
                json!({"kind": "summary", "verdict": word(verdict), "runs": runs, "failed": failed,
                    "vacuous": vacuous, "seconds": seconds, "per_second": runs as f64 / seconds})
            );
            return;
        }
        for part in parts {
            let failures = shapes::told(&part.tally, &|seed| self.again(part.order.target, seed));
            table(part, &failures);
        }
    }

    /// What runs a seed again.
    fn again(&self, target: &Target, seed: u64) -> String {
        let plan = self.plan.as_ref().map_or(String::new(), |path| format!(" --plan {}", path.display()));
        format!("cargo sim run {} --seed {seed}{plan}", target.name)
    }
}

/// What a part of a sweep was to show and did not.
fn unproved(part: &Part) -> Option<serde_json::Value> {
    let faults: Vec<&str> = part.tally.never_struck(&part.order).iter().map(|fault| fault.name()).collect();
    let rules: Vec<&str> =
        part.tally.not_put_to_the_test(&part.order).iter().map(|rule| rule.name()).collect();
    let probes: Vec<&str> = part.tally.unreached(&part.order).iter().map(|probe| probe.name()).collect();
    let name = part.order.target.name;
    (!faults.is_empty() || !rules.is_empty() || !probes.is_empty()).then(
        || json!({"kind": "unproved", "workload": name, "faults": faults, "rules": rules, "probes": probes}),
    )
}

fn follow(bar: &ProgressBar, failed: &AtomicU64, what: Option<String>) {
    if let Some(what) = what {
        let failed = failed.fetch_add(1, Ordering::Relaxed) + 1;
        bar.set_message(format!("{failed} failed, last by {what}"));
    }
    bar.inc(1);
}

fn table(part: &Part, failures: &str) {
    let Part { order, tally, seconds } = part;
    println!(
        "{}: {} runs in {seconds:.1} s, {:.0} seeds/s on {} threads; {} events, {:.0} s of simulated time",
        order.target.name,
        tally.runs,
        tally.runs as f64 / seconds,
        order.jobs,
        tally.events,
        tally.sim_us as f64 / 1e6
    );
    println!("  rule   verdict     premises  promise");
    for (rule, (premises, verdict)) in &tally.rules {
        println!("  {:<6} {:<9} {premises:>10}  {}", rule.name(), word(*verdict), rule.promise());
    }
    println!("  faults struck");
    for fault in sim_zk::fault::Fault::ALL {
        let count = tally.faults.get(&crate::journal::fault_kind(fault)).copied().unwrap_or(0);
        println!("    {:<16} {count:>9}", fault.name());
    }
    println!("  seen of what ZooKeeper does not exclude");
    for (probe, count) in &tally.probes {
        println!("    {:<28} {count:>9}  {}", probe.name(), probe.about());
    }
    print!("{failures}");
    let count = |verdict| tally.verdicts.get(&verdict).copied().unwrap_or(0);
    println!(
        "  verdicts  {} pass, {} inherent, {} vacuous, {} unknown, {} fail",
        count(Verdict::Pass),
        count(Verdict::Inherent),
        count(Verdict::Vacuous),
        count(Verdict::Unknown),
        count(Verdict::Fail)
    );
    let never = tally.never_struck(order);
    if !never.is_empty() {
        let names: Vec<&str> = never.iter().map(|fault| fault.name()).collect();
        println!("  nothing was proved: {} never struck; run more seeds", names.join(", "));
    }
    let untested = tally.not_put_to_the_test(order);
    if !untested.is_empty() {
        let names: Vec<&str> = untested.iter().map(|rule| rule.name()).collect();
        println!("  nothing was proved: {} was never put to the test; run more seeds", names.join(", "));
    }
    let unreached = tally.unreached(order);
    if !unreached.is_empty() {
        let names: Vec<&str> = unreached.iter().map(|probe| probe.name()).collect();
        println!(
            "  nothing was proved: {} was never reached; run more seeds, or the simulation is too kind",
            names.join(", ")
        );
    }
    let verdict = tally.verdict(order);
    println!("  {}: {}", word(verdict), meaning(verdict));
}

/// What a verdict of a sweep means, for whoever meets it for the first time.
fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Vacuous => "nothing was broken, and nothing was proved",
        Verdict::Pass => "every promise held",
        Verdict::Inherent => {
            "every promise held, save for what no program can avoid: a process that is stopped past its session \
             believes until it runs again"
        }
        Verdict::Unknown => "evidence is missing",
        Verdict::Fail => "a promise was broken",
    }
}

/// The clock of the person who waits; no run sees it.
#[expect(clippy::disallowed_methods, reason = "how long a sweep took is no part of any run")]
pub(super) fn now() -> std::time::Instant {
    std::time::Instant::now()
}
