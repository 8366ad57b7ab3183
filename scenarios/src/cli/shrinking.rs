//! `shrink`: from a run that fails, the smallest that fails in the same way.

use super::{Output, failure, status};
use clap::Args;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zk_checker::Verdict;
use zk_harness::plan::Plan;
use zk_harness::recording::Recording;
use zk_harness::recording::Regression;
use zk_harness::regression;
use zk_harness::run::Run;
use zk_harness::shrink::{self, Nearest, Parting, Shrunk, Size, shrink};
use zk_harness::target::Target;

#[derive(Args)]
pub(super) struct Shrink {
    /// A recorded run that fails: the file that a failure names, or the code of a run
    code_or_file: String,
    /// How many runs it may take
    #[arg(long, default_value_t = shrink::RUNS)]
    runs: u32,
    /// Write the smallest run into this file, too; it must not be there yet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Keep the smallest run among the regressions, by this name
    #[arg(long, value_name = "NAME")]
    keep: Option<String>,
    /// What the regression was, in a sentence
    #[arg(long, value_name = "TEXT", requires = "keep")]
    about: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl Shrink {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (recorded, target) = Recording::read(&self.code_or_file, zk_catalogue::find)?;
        super::silence_panics();
        let shrunk = shrink(target, &recorded.plan, recorded.choices, self.runs)?;
        let failing = failure::keep(target, None, &shrunk.failure.plan, &shrunk.failure.run)?;
        let passing = match &shrunk.near {
            Some(Nearest { passing, .. }) => Some(failure::keep(target, None, &passing.plan, &passing.run)?),
            None => None,
        };
        let small = shrunk.recorded();
        if let Some(path) = &self.out {
            regression::write_new(path, &small.text())?;
        }
        let kept = match &self.keep {
            Some(name) => {
                let regression = Regression::of(target, &small, &shrunk.failure.run, self.about.clone());
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
            println!("{}", json!({"kind": "summary", "verdict": verdict.name(), "runs": shrunk.runs}));
            return Ok(status(verdict));
        }
        print!("{}", told(&shrunk, &failing, passing.as_ref()));
        for path in self.out.iter().chain(&kept) {
            println!("  written   {}", path.display());
        }
        Ok(status(verdict))
    }
}

/// What came of it: the sizes, what it takes, why it fails, how to see it again, and the nearest run that passes.
fn told(shrunk: &Shrunk, failing: &failure::Kept, passing: Option<&failure::Kept>) -> String {
    let Shrunk { target, what, before, failure, near, runs, is_cut_short } = shrunk;
    let mut text = format!("✗ {}: {what}\n", target.name);
    text += &sizes(*before, shrunk.after());
    let more = if *is_cut_short { "; more could make it smaller: --runs" } else { "" };
    let _ = writeln!(text, "  it took {runs} runs{more}\n");
    let clients = &failure.run.history.header.clients;
    match failure.deviations.as_slice() {
        [] => text += "  the calm run fails\n",
        deviations => {
            text += "  calm, save that\n";
            deviations.iter().for_each(|one| _ = writeln!(text, "    {}", one.told(clients)));
        }
    }
    text.push('\n');
    if let Some(first) = failure.run.report.findings.first() {
        first.to_string().lines().for_each(|line| _ = writeln!(text, "  {line}"));
    }
    let _ = writeln!(text, "  drawn     {}", failure.plan);
    let _ = writeln!(text, "  exactly   cargo sim replay {}", failing.recorded.display());
    let _ = writeln!(text, "  anywhere  cargo sim replay {}", shrunk.recorded().code());
    let _ = writeln!(text, "  trace     {}", failing.trace.display());
    if let (Some(near), Some(passing)) = (near, passing) {
        let lacks = near.without.map_or_else(
            || {
                format!(
                    "with {}, {}",
                    count(near.passing.plan.clients.into(), "client"),
                    count(near.passing.plan.rounds.into(), "round")
                )
            },
            |without| format!("without {:?}", without.told(clients)),
        );
        let _ = writeln!(text, "\n✓ the nearest run that passes: the same {lacks}");
        let _ = writeln!(text, "  exactly   cargo sim replay {}", passing.recorded.display());
        let _ = writeln!(text, "  trace     {}", passing.trace.display());
        let _ = writeln!(text, "  they part here, the failing one first");
        let _ = write!(text, "{}", Parting::of(&failure.run.history, &near.passing.run.history));
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

fn count(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// Shrinks a run that failed. Nothing if it does not fail, or if no run may go into that.
pub(super) fn also(target: &'static Target, plan: &Plan, run: &Run, runs: u32) -> Option<Shrunk> {
    if runs == 0 || run.verdict() < Verdict::Unknown {
        return None;
    }
    super::silence_panics();
    shrink(target, plan, run.choices.clone(), runs).ok()
}

/// The smallest run by its size and its code, below what failed.
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

/// A shrunk run for a script.
pub(super) fn line(shrunk: &Shrunk) -> serde_json::Value {
    let Shrunk { target, what, before, failure, near, runs, is_cut_short } = shrunk;
    let clients = &failure.run.history.header.clients;
    json!({
        "kind": "shrunk",
        "workload": target.name,
        "rule": what,
        "verdict": failure.run.verdict().name(),
        "before": before,
        "after": shrunk.after(),
        "deviations": failure.deviations.iter().map(|one| one.told(clients)).collect::<Vec<_>>(),
        "runs": runs,
        "cut_short": is_cut_short,
        "hash": format!("{:032x}", failure.run.hash),
        "code": shrunk.recorded().code(),
        "passes_without": near.as_ref().and_then(|near| near.without).map(|without| without.told(clients)),
    })
}
