//! `merge`: adds up the shards of a sweep.

use super::Output;
use super::interrupt::Interrupt;
use super::lines::Files;
use super::results::Results;
use super::swept::Swept;
use anyhow::{anyhow, bail};
use clap::Args;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zk_harness::shard::{Sheet, merge};

#[derive(Args)]
pub(super) struct Merge {
    /// Files of all shards, written with `--out` or `--format json`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    results: Files,
    #[command(flatten)]
    output: Output,
}

/// The results of one shard.
struct Shard {
    sheets: Vec<Sheet>,
    /// The lines of runs, by their workload and seed.
    runs: BTreeMap<(String, u64), String>,
    seconds: f64,
}

impl Merge {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (mut shards, mut runs, mut seconds) = (Vec::new(), BTreeMap::new(), 0f64);
        for path in &self.files {
            let shard = read(path)?;
            shards.push((path.display().to_string(), shard.sheets));
            runs.extend(shard.runs);
            // The shards ran in parallel, so the slowest one gives the time.
            seconds = seconds.max(shard.seconds);
        }
        let merged = merge(&shards, zk_catalogue::find)?;
        let interrupt = Interrupt::listen()?;
        let mut results = Results::open(self.output, &self.results, zk_harness::shrink::RUNS, interrupt)?;
        for (sweep, _) in &merged {
            let name = sweep.search.workload.name;
            for ((_, _), line) in runs.iter().filter(|((workload, _), _)| workload == name) {
                results.lines.write(line)?;
            }
        }
        let swept = |(sweep, tally)| Swept { sweep, tally, seconds, notes: Vec::new() };
        let all: Vec<Swept> = merged.into_iter().map(swept).collect();
        results.conclude(&all, all.len(), seconds)
    }
}

fn read(path: &Path) -> anyhow::Result<Shard> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| anyhow!("cannot read {name}: {e}"))?;
    let mut shard = Shard { sheets: Vec::new(), runs: BTreeMap::new(), seconds: 0.0 };
    let mut is_whole = false;
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |e| anyhow!("{name} is not the result of a sweep: line {number}: {e}");
        let value: Value = serde_json::from_str(line).map_err(wrong)?;
        match value["kind"].as_str() {
            Some("part") => shard.sheets.push(serde_json::from_str(line).map_err(wrong)?),
            Some("run") => {
                let workload = value["workload"].as_str().unwrap_or_default().to_owned();
                shard.runs.insert((workload, value["seed"].as_u64().unwrap_or_default()), line.to_owned());
            }
            Some("summary") => shard.seconds = value["seconds"].as_f64().unwrap_or_default(),
            Some(_) => {}
            None => bail!("{name} is not the result of a sweep: line {number} has no kind"),
        }
        is_whole = value["kind"] == "summary";
    }
    if !is_whole {
        bail!("{name} is cut off: its last line is not a summary");
    }
    if shard.sheets.is_empty() {
        bail!("{name} is not the result of a sweep: it has no workload");
    }
    Ok(shard)
}
