//! `--trace`, `--history`, `--html` and `--beside`: further output about a run.

use super::lines;
use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use zk_checker::history::History;
use zk_checker::{Report, RuleSet, jsonl};
use zk_harness::recording::Recording;
use zk_harness::run::{self, Run};
use zk_hunt::packed;
use zk_report::{self, Other, Paint, Shown, Source, trace, whole_file};

/// The extent of a trace.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Extent {
    /// Every event, a line each
    All,
    /// The causes of the breach, as a chart with a column for each client and server
    Slice,
}

/// Further output about a single run.
#[derive(Args, Clone)]
pub(super) struct View {
    /// Print every event; `--trace=slice` prints a chart of the causes of the breach
    #[arg(
        long,
        value_enum,
        value_name = "EXTENT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    trace: Option<Extent>,
    /// Write the history as JSON lines, for `judge` and `--beside`, to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    #[command(flatten)]
    pub page: Page,
}

/// The page of a run.
#[derive(Args, Clone)]
pub(super) struct Page {
    /// Write the run as a self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// On that page, compare with another run: a recorded run, its code, or a stored history
    #[arg(long, value_name = "FILE-OR-CODE", requires = "html")]
    beside: Option<String>,
    /// Overwrite an existing page
    #[arg(long, requires = "html")]
    force: bool,
}

impl View {
    /// Refuses files that cannot be written, before the run.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        self.history.as_deref().map_or(Ok(()), lines::not_yet)?;
        self.page.check()
    }

    /// Writes the history, if wanted.
    pub(super) fn write_history(&self, history: &History) -> anyhow::Result<()> {
        let Some(path) = self.history.as_deref() else { return Ok(()) };
        lines::new_file(path)?.fill(|out| jsonl::write(history, out)).map_err(lines::not_written)
    }

    /// Prints the trace, if wanted.
    pub(super) fn print_trace(&self, history: &History, report: &Report) {
        match self.trace {
            None => return,
            Some(Extent::All) => print!("{}", trace::print(history, &[])),
            Some(Extent::Slice) => print!("{}", zk_report::chart(history, report, Paint::of_stdout())),
        }
        println!();
    }
}

impl Page {
    /// Refuses files that cannot be written, before the run.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        match &self.html {
            Some(path) if path.is_dir() => bail!("{} is a folder; --html names a file", path.display()),
            Some(path) if path.exists() && !self.force => {
                bail!("{} exists already; --force writes over it", path.display())
            }
            _ => Ok(()),
        }
    }

    /// Writes the page, if wanted, and returns its path.
    pub(super) fn write(&self, shown: Shown<'_>) -> anyhow::Result<Option<&Path>> {
        let Some(path) = self.html.as_deref() else { return Ok(None) };
        let other = self.beside.as_deref().map(other).transpose()?;
        let page = zk_report::page(&Shown { beside: other.as_ref(), ..shown });
        // Another process may have created the file during the run.
        if self.force {
            whole_file::write(path, page)?
        } else {
            whole_file::write_new(path, page).map_err(lines::not_written)?
        }
        Ok(Some(path))
    }
}

/// Prints the path of the page, if one was written.
pub(super) fn say(page: Option<&Path>) {
    if let Some(page) = page {
        println!("  page      {}", page.display());
    }
}

/// The source of a simulated run.
pub(super) fn source(seed: Option<u64>, run: &Run) -> Source {
    let (workload, plan) = (run.workload, &run.plan);
    let exactly = format!("cargo sim replay {}", Recording::of(run).code());
    let drawn = seed.filter(|seed| workload.plan(*seed) == *plan);
    let hangs = || run.hang().map(|hang| format!("{}: {}", hang.name(), hang.about()));
    let ended = run.panic.as_ref().map(ToString::to_string).or_else(hangs);
    Source {
        title: seed.map_or(workload.name.to_owned(), |seed| format!("{}, seed {seed}", workload.name)),
        about: workload.about.to_owned(),
        command: match drawn {
            Some(seed) => format!("cargo sim run {} --seed {seed}", workload.name),
            None => exactly.clone(),
        },
        exactly: Some(exactly),
        plan: Some(plan.to_string()),
        seed,
        choices: run.choices.clone(),
        hash: Some(format!("{:032x}", run.hash)),
        end: ended,
        waits: run.waits(),
    }
}

/// The other run of a comparison: a stored history, a recorded run or its code.
fn other(file_or_code: &str) -> anyhow::Result<Other> {
    let path = Path::new(file_or_code);
    if path.is_file() && is_history(path)? {
        let stored = packed::read(path)?;
        let verdict = zk_checker::judge_stored(&stored, &RuleSet::default()).verdict();
        return Ok(Other { title: file_or_code.to_owned(), history: stored.history, verdict });
    }
    let (recorded, workload) = Recording::read(file_or_code, zk_catalogue::find)?;
    let run = run::replay(workload, &recorded.plan, recorded.choices.clone());
    let title =
        if path.is_file() { file_or_code.to_owned() } else { format!("{}, by its code", workload.name) };
    Ok(Other { title, verdict: run.verdict(), history: run.history })
}

/// Whether a file begins like a stored history.
fn is_history(path: &Path) -> anyhow::Result<bool> {
    let mut begin = Vec::new();
    // A recorded run may be one long line.
    let file = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut begin));
    file.map_err(|e| anyhow!("cannot read {}: {e}", path.display()))?;
    Ok(packed::is_packed(&begin) || begin.trim_ascii_start().starts_with(b"{\"header\":"))
}
