//! The text about a failed run, and its files.

use anyhow::Context;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use zk_checker::{Verdict, jsonl};
use zk_harness::panics::Panic;
use zk_harness::recording::Recording;
use zk_harness::run::Run;
use zk_report::{trace, whole_file};

/// The folder of results.
pub(super) const RESULTS: &str = "target/sim";

/// The files of a failed run.
pub(super) struct FailureFiles {
    pub recorded: PathBuf,
    pub trace: PathBuf,
    pub history: PathBuf,
}

/// Writes the recorded run, its trace and its history below [`RESULTS`]. A run of the same name is the same run.
pub(super) fn keep(seed: Option<u64>, run: &Run) -> anyhow::Result<FailureFiles> {
    let workload = run.workload;
    let folder = Path::new(RESULTS);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {RESULTS}"))?;
    let run_name = match seed {
        Some(seed) => format!("{}-seed-{seed}", workload.name),
        None => format!("{}-{:016x}", workload.name, run.hash as u64),
    };
    let write = |extension: &str, text: String| {
        let path = folder.join(format!("{run_name}.{extension}"));
        whole_file::write(&path, text)?;
        anyhow::Ok(path)
    };
    let recorded = Recording::of(run).text();
    let mut history = Vec::new();
    jsonl::write(&run.history, &mut history).context("writing the history")?;
    let history = String::from_utf8(history).context("a history is text")?;
    Ok(FailureFiles {
        recorded: write("json", recorded)?,
        trace: write("trace", trace::print(&run.history, &[]))?,
        history: write("history.jsonl", history)?,
    })
}

/// Describes a failure: the rule, the witnesses, why it is not excused, the plan, and the commands that reproduce it.
pub(super) fn tell(seed: Option<u64>, run: &Run, kept: &FailureFiles) -> String {
    let name = run.workload.name;
    let mut text = String::new();
    match seed {
        Some(seed) => _ = writeln!(text, "✗ {name}, seed {seed}: {}", run.what_failed()),
        None => _ = writeln!(text, "✗ {name}: {}", run.what_failed()),
    }
    if let Some(first) = run.report.findings.first() {
        for line in first.to_string().lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    let mut others: BTreeMap<&str, u32> = BTreeMap::new();
    for row in run.report.rows.iter().filter(|row| row.verdict >= Verdict::Unknown) {
        *others.entry(row.rule.name()).or_default() += row.findings.max(1);
    }
    let listed: Vec<String> = others.iter().map(|(rule, count)| format!("{rule} {count}×")).collect();
    if !listed.is_empty() {
        let _ = writeln!(text, "  failed    {}", listed.join(", "));
    }
    if let Some(panicked) = &run.panic {
        panicked.to_string().lines().for_each(|line| _ = writeln!(text, "  {line}"));
        text += &trace_of(&panicked.panic);
    }
    if let Some(hang) = run.hang() {
        let (name, about) = (hang.name(), hang.about());
        let lull = run.longest_lull_us / 1_000_000;
        let _ = writeln!(
            text,
            "  {name:<9} {about}: no round ended for {lull} s of simulated time without faults"
        );
        run.waits().iter().for_each(|line| _ = writeln!(text, "    {line}"));
    }
    let _ = writeln!(text, "  drawn     {}", run.plan);
    if let Some(seed) = seed {
        let _ = writeln!(text, "  again     cargo sim run {name} --seed {seed} --trace");
    }
    let _ = writeln!(text, "  exactly   cargo sim replay {}", kept.recorded.display());
    let _ = writeln!(text, "  trace     {}", kept.trace.display());
    let _ = writeln!(text, "  history   {}", kept.history.display());
    let _ = writeln!(text, "  smaller   cargo sim shrink {}", kept.recorded.display());
    let _ = writeln!(text, "  to keep   the same with --keep NAME");
    text
}

/// Describes a run that left only its panic.
pub(super) fn panicked(what: &str, panic: &Panic) -> String {
    format!("✗ {what}: the code under test panicked: {panic}\n{}", trace_of(panic))
}

/// The backtrace of a panic, if `RUST_BACKTRACE` asks for it.
fn trace_of(panic: &Panic) -> String {
    panic.trace().map_or(String::new(), |trace| format!("{}\n", trace.to_string().trim_end()))
}
