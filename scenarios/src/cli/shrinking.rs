//! `shrink`: the smallest run with the same failure.

use super::interrupt::Interrupt;
use super::{Output, failure, number};
use clap::Args;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zk_checker::Verdict;
use zk_harness::recording::Recording;
use zk_harness::recording::Regression;
use zk_harness::regression;
use zk_harness::run::{Draw, Run};
use zk_harness::shrink::{self, Nearest, Parting, Shrunk, Size, shrink_until};
use zk_report::count;

#[derive(Args)]
pub(super) struct Shrink {
    /// Recorded run that fails: the file of a failure, or the code of a run
    code_or_file: String,
    /// Budget, in runs
    #[arg(long, default_value_t = shrink::RUNS)]
    runs: u32,
    /// Write the smallest run to this file, too, which must not exist
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Keep the smallest run as a regression of this name
    #[arg(long, value_name = "NAME")]
    keep: Option<String>,
    /// Description of the regression, in a sentence
    #[arg(long, value_name = "TEXT", requires = "keep")]
    about: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl Shrink {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (recorded, workload) = Recording::read(&self.code_or_file, zk_catalogue::find)?;
        let interrupt = Interrupt::listen()?;
        let failing = Draw::replayed(workload, recorded.plan, recorded.choices);
        let shrunk = shrink_until(failing, self.runs, interrupt.stop())?;
        let failing = failure::keep(None, &shrunk.failure.run)?;
        let passing = match &shrunk.nearest {
            Some(Nearest { passing, .. }) => Some(failure::keep(None, &passing.run)?),
            None => None,
        };
        let small = shrunk.recorded();
        if let Some(path) = &self.out {
            regression::write_new(path, &small.text())?;
        }
        let kept = match &self.keep {
            Some(name) => {
                let regression = Regression::of(&shrunk.failure.run, self.about.clone());
                let small = Recording { regression: Some(regression), ..small };
                Some(regression::keep(Path::new(regression::FOLDER), name, &small)?)
            }
            None => None,
        };
        let verdict = shrunk.failure.run.verdict();
        if self.output.is_json() {
            let mut line = line(&shrunk);
            line["recorded"] = json!(failing.recorded);
            line["passing"] = json!(passing.map(|files| files.recorded));
            line["kept"] = json!(kept);
            println!("{line}");
            let summary = json!({"kind": "summary", "verdict": verdict.name(), "runs": shrunk.runs});
            println!("{}", interrupt.mark(summary));
            return Ok(interrupt.status(number(verdict)));
        }
        print!("{}", summary(&shrunk, &failing, passing.as_ref()));
        for path in self.out.iter().chain(&kept) {
            println!("  written   {}", path.display());
        }
        interrupt.say("this is the smallest run so far");
        Ok(interrupt.status(number(verdict)))
    }
}

/// The result: the sizes, the remaining choices, the finding, the commands that reproduce it, and the nearest run that passes.
fn summary(
    shrunk: &Shrunk,
    failing: &failure::FailureFiles,
    passing: Option<&failure::FailureFiles>,
) -> String {
    let Shrunk { what, before, failure, nearest, runs, is_cut_short } = shrunk;
    let mut text = format!("✗ {}: {what}\n", failure.run.workload.name);
    text += &sizes(*before, shrunk.after());
    let more = if *is_cut_short { "; a larger --runs may shrink it further" } else { "" };
    let _ = writeln!(text, "  after {}{more}\n", count((*runs).into(), "run"));
    let clients = &failure.run.history.header.clients;
    match failure.deviations.as_slice() {
        [] => text += "  every choice is the default\n",
        deviations => {
            text += "  every choice is the default, except\n";
            deviations.iter().for_each(|one| _ = writeln!(text, "    {}", one.describe(clients)));
        }
    }
    text.push('\n');
    if let Some(first) = failure.run.report.findings.first() {
        first.to_string().lines().for_each(|line| _ = writeln!(text, "  {line}"));
    }
    failure.run.waits().iter().for_each(|line| _ = writeln!(text, "  {line}"));
    let _ = writeln!(text, "  drawn     {}", failure.run.plan);
    let _ = writeln!(text, "  exactly   cargo sim replay {}", failing.recorded.display());
    let _ = writeln!(text, "  anywhere  cargo sim replay {}", shrunk.recorded().code());
    let _ = writeln!(text, "  trace     {}", failing.trace.display());
    if let (Some(nearest), Some(passing)) = (nearest, passing) {
        let lacks = nearest.without.map_or_else(
            || {
                format!(
                    "with {}, {}",
                    count(nearest.passing.run.plan.clients.into(), "client"),
                    count(nearest.passing.run.plan.rounds.into(), "round")
                )
            },
            |without| format!("without {:?}", without.describe(clients)),
        );
        let _ = writeln!(text, "\n✓ nearest run that passes: the same {lacks}");
        let _ = writeln!(text, "  exactly   cargo sim replay {}", passing.recorded.display());
        let _ = writeln!(text, "  trace     {}", passing.trace.display());
        let _ = writeln!(text, "  first difference, the failing run first");
        let _ = write!(text, "{}", Parting::of(&failure.run.history, &nearest.passing.run.history));
    }
    text
}

fn sizes(before: Size, after: Size) -> String {
    let rows = [
        ("clients", u64::from(before.clients), u64::from(after.clients)),
        ("rounds", before.rounds.into(), after.rounds.into()),
        ("servers", before.servers.into(), after.servers.into()),
        ("acts of foreign clients", before.acts.into(), after.acts.into()),
        ("faults", before.faults.into(), after.faults.into()),
        ("choices", before.choices as u64, after.choices as u64),
        ("events", before.events as u64, after.events as u64),
    ];
    let mut text = format!("  {:<16} {:>7} {:>7}\n", "", "before", "after");
    for (what, before, after) in rows.into_iter().filter(|row| row.1 + row.2 > 0) {
        let _ = writeln!(text, "  {what:<16} {before:>7} {after:>7}");
    }
    text
}

/// Shrinks a run that failed. `None` if it does not fail, the budget is 0, or it is time to end.
pub(super) fn also(run: &Run, runs: u32, interrupt: &Interrupt) -> Option<Shrunk> {
    if runs == 0 || run.verdict() < Verdict::Unknown || interrupt.has_come() {
        return None;
    }
    shrink_until(run.again(), runs, interrupt.stop()).ok()
}

/// The lines about the shrunk run.
pub(super) fn below(shrunk: &Shrunk) -> String {
    format!("  shrunk    {}\n  then      cargo sim replay {}\n", small(shrunk), shrunk.recorded().code())
}

/// The size of the smallest run in one line.
fn small(shrunk: &Shrunk) -> String {
    let Size { clients, rounds, servers, faults, choices, .. } = shrunk.after();
    format!(
        "{}, {}, {}, {}, {} (before: {}), in {}",
        count(clients.into(), "client"),
        count(rounds.into(), "round"),
        count(servers.into(), "server"),
        count(faults.into(), "fault"),
        count(choices as u64, "choice"),
        shrunk.before.choices,
        count(shrunk.runs.into(), "run"),
    )
}

/// A shrunk run as JSON.
pub(super) fn line(shrunk: &Shrunk) -> serde_json::Value {
    let Shrunk { what, before, failure, nearest, runs, is_cut_short } = shrunk;
    let clients = &failure.run.history.header.clients;
    json!({
        "kind": "shrunk",
        "workload": failure.run.workload.name,
        "rule": what,
        "verdict": failure.run.verdict().name(),
        "before": before,
        "after": shrunk.after(),
        "deviations": failure.deviations.iter().map(|one| one.describe(clients)).collect::<Vec<_>>(),
        "runs": runs,
        "cut_short": is_cut_short,
        "hash": format!("{:032x}", failure.run.hash),
        "code": shrunk.recorded().code(),
        "passes_without": nearest.as_ref().and_then(|nearest| nearest.without).map(|without| without.describe(clients)),
    })
}
