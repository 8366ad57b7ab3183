//! The results of a sweep: failures, tables, JSON lines and reports.

use super::interrupt::Interrupt;
use super::lines::{Files, Lines, new_file};
use super::searching::again;
use super::swept::Swept;
use super::{Output, exercised, failure, fingerprints, junit, number, shrinking};
use anyhow::Context;
use serde_json::json;
use std::process::ExitCode;
use zk_checker::Verdict;
use zk_harness::exercised::Exercised;
use zk_harness::shard::Sheet;
use zk_harness::sweep::REACHED_WITHIN;
use zk_report::whole_file::WholeFile;

/// The number of kinds of failure that are printed in full.
const IN_FULL: usize = 2;

/// Writes the results of a sweep.
pub(super) struct Results {
    output: Output,
    pub lines: Lines,
    junit: Option<WholeFile>,
    /// The budget for shrinking a failure, in runs.
    shrink: u32,
    pub interrupt: Interrupt,
}

impl Results {
    /// Creates the files before the work, so that an error comes early.
    pub(super) fn open(
        output: Output,
        files: &Files,
        shrink: u32,
        interrupt: Interrupt,
    ) -> anyhow::Result<Results> {
        let junit = files.junit.as_deref().map(new_file).transpose()?;
        let lines = Lines::open(output, files.out.as_deref())?;
        Ok(Results { output, lines, junit, shrink, interrupt })
    }

    /// Writes failures, tables, JSON lines and the report, and returns the exit status. `count` is the number of
    /// workloads to sweep.
    pub(super) fn conclude(mut self, all: &[Swept], count: usize, seconds: f64) -> anyhow::Result<ExitCode> {
        for swept in all {
            self.print_failures(swept)?;
        }
        let verdict = all.iter().map(|swept| swept.verdict()).max().unwrap_or(Verdict::Vacuous);
        let vacuous = all.iter().any(|swept| swept.verdict() == Verdict::Vacuous);
        let gaps = gaps(all);
        self.summary(all, gaps.as_ref(), verdict, seconds)?;
        // Files come first: the reader of the tables may close the pipe early.
        self.lines.finish()?;
        if let Some(file) = self.junit {
            junit::write(&junit::of_sweep(all), file)?;
        }
        if !self.output.is_json() {
            all.iter().for_each(table);
            gaps.iter().for_each(exercised::Gaps::print);
            self.interrupt.say(&format!("{} of {count} workloads were begun", all.len()));
        }
        // A sweep without evidence for one workload is vacuous, unless a rule failed.
        let is_long = all.iter().all(|swept| swept.tally.runs >= REACHED_WITHIN);
        let vacuous = vacuous || is_long && gaps.is_some_and(|gaps| !gaps.missing.is_empty());
        let verdict = if vacuous && verdict < Verdict::Unknown { Verdict::Vacuous } else { verdict };
        Ok(self.interrupt.status(number(verdict)))
    }

    /// Repeats, stores and prints the first failure of each kind.
    fn print_failures(&mut self, swept: &Swept) -> anyhow::Result<()> {
        let mut kinds: Vec<_> = swept.tally.failures.iter().collect();
        kinds.sort_by_key(|(what, (_, count))| (u64::MAX - count, *what));
        for (what, (seed, count)) in kinds.iter().skip(IN_FULL) {
            if !self.output.is_json() {
                println!(
                    "✗ {} more failed by {what}, the first with seed {seed}",
                    zk_report::count(*count, "run")
                );
            }
        }
        let search = &swept.sweep.search;
        let name = search.workload.name;
        for (what, (seed, count)) in kinds.into_iter().take(IN_FULL) {
            let Some(draw) = search.draw(*seed) else { continue };
            let (plan, spots) = (draw.plan.clone(), draw.chooser.spots.clone());
            let run = match draw.run_caught() {
                Ok(run) => run,
                Err(said) => {
                    if !self.output.is_json() {
                        print!("{}", failure::panicked(&format!("{name}, seed {seed}"), &said));
                        println!("  drawn     {plan}\n  again     {}", again(search, *seed));
                        println!("  {count} of {} panicked\n", zk_report::count(swept.tally.runs, "run"));
                    }
                    continue;
                }
            };
            // `failure::tell` prints the command of a plain seed; the number of another search needs its arguments.
            let plain = search.is_plain().then_some(*seed);
            let kept =
                failure::keep(plain, &run).with_context(|| format!("keeping the failure of seed {seed}"))?;
            if !self.output.is_json() {
                print!("{}", failure::tell(plain, &run, &kept));
                if plain.is_none() {
                    println!("  again     {}", again(search, *seed));
                }
                for spot in spots {
                    println!("  placed    {spot}");
                }
                println!("  {count} of {} failed by {what}", zk_report::count(swept.tally.runs, "run"));
            }
            let shrunk = shrinking::also(&run, self.shrink, &self.interrupt);
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
        all: &[Swept],
        gaps: Option<&exercised::Gaps>,
        verdict: Verdict,
        seconds: f64,
    ) -> anyhow::Result<()> {
        if self.lines.are_wanted() {
            for swept in all {
                let name = swept.sweep.search.workload.name;
                for (rule, (premises, verdict)) in &swept.tally.rules {
                    self.lines.write(json!({"kind": "rule", "workload": name, "id": rule.name(),
                        "verdict": verdict.name(), "premises": premises}))?;
                }
            }
            for swept in all {
                let name = swept.sweep.search.workload.name;
                for (probe, count) in &swept.tally.probes {
                    self.lines.write(json!({"kind": "probe", "workload": name, "id": probe.name(),
                        "count": count}))?;
                }
                for (operation, endings) in &swept.tally.exercised.0 {
                    self.lines.write(json!({"kind": "operation", "workload": name, "id": operation,
                        "endings": endings}))?;
                }
                for (what, count) in &swept.tally.sometimes {
                    self.lines.write(json!({"kind": "sometimes", "workload": name, "id": what,
                        "count": count}))?;
                }
            }
            for line in all.iter().filter_map(Swept::missing_line) {
                self.lines.write(line)?;
            }
            for swept in all {
                for line in fingerprints::lines(swept) {
                    self.lines.write(line)?;
                }
            }
            for swept in all {
                self.lines.write(serde_json::to_string(&Sheet::of(&swept.sweep, &swept.tally))?)?;
            }
            if let Some(gaps) = gaps {
                self.lines.write(json!({"kind": "coverage", "not_exercised": gaps.missing,
                    "not_listed": gaps.unlisted}))?;
            }
            let runs: u64 = all.iter().map(|swept| swept.tally.runs).sum();
            let failed: u64 = all.iter().flat_map(|swept| swept.tally.failures.values()).map(|f| f.1).sum();
            let vacuous = all.iter().filter(|p| p.verdict() == Verdict::Vacuous).count();
            self.lines.write(self.interrupt.mark(json!({"kind": "summary", "verdict": verdict.name(),
                "runs": runs, "failed": failed, "vacuous": vacuous, "seconds": seconds,
                "per_second": runs as f64 / seconds})))?;
        }
        Ok(())
    }
}

/// The gaps of all workloads together, if all were swept.
fn gaps(all: &[Swept]) -> Option<exercised::Gaps> {
    let is_swept = |name| all.iter().any(|swept| swept.sweep.search.workload.name == name);
    let mut exercised = Exercised::default();
    all.iter().for_each(|swept| exercised.merge(swept.tally.exercised.clone()));
    zk_catalogue::workloads().all(|workload| is_swept(workload.name)).then(|| exercised::Gaps::of(&exercised))
}

fn table(swept: &Swept) {
    let Swept { sweep, tally, seconds, notes } = swept;
    println!(
        "{}: {} in {seconds:.1} s, {:.0} seeds/s on {}; {}, {:.0} s of simulated time",
        sweep.search.workload.name,
        zk_report::count(tally.runs, "run"),
        tally.runs as f64 / seconds,
        zk_report::count(sweep.jobs as u64, "thread"),
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
    print!("{}", fingerprints::table(swept));
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
        sweep.search.workload.stated.finishes_within.as_secs()
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
    for clause in swept.missing_clauses() {
        println!("  no evidence (vacuous): {clause}");
    }
    for note in notes {
        println!("  {note}");
    }
    let verdict = swept.verdict();
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
