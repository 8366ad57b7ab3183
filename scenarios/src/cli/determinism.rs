//! The determinism check: compares a run within a sweep with the same run in its own process.

use super::progress;
use anyhow::{Context, anyhow, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zk_harness::strategy::Search;

/// The hash of a run and the number of its events; equal runs have equal marks.
pub(super) type Mark = (u128, u64);

/// Selects `count` of `of` indices, spread evenly.
pub(super) fn sampled(count: u64, of: u64) -> impl Fn(u64) -> bool {
    // An index is selected where the number of selected indices grows.
    let taken =
        move |index: u64| (u128::from(index) * u128::from(count.min(of)) / u128::from(of.max(1))) as u64;
    move |index| taken(index + 1) > taken(index)
}

/// Repeats each run in a fresh process and compares. Returns the number of repeated runs: all, unless `stop` is set.
///
/// # Errors
///
/// If a run differs, or the output of a process cannot be read.
pub(super) fn compare(
    search: &Search,
    plan: Option<&Path>,
    marks: &BTreeMap<u64, Mark>,
    jobs: usize,
    stop: &AtomicBool,
) -> anyhow::Result<u64> {
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let bar = progress::bar_of(marks.len() as u64, search.workload.name, "fresh processes");
    let seeds: Vec<(&u64, &Mark)> = marks.iter().collect();
    let (wrong, made) = (Mutex::new(BTreeMap::new()), AtomicU64::new(0));
    zk_harness::threads::on_threads(0..seeds.len() as u64, 1, jobs, &|index| {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let (seed, within) = seeds[index as usize];
        let difference = match alone(&program, search, plan, *seed) {
            Ok(mark) if mark == *within => None,
            Ok((hash, events)) => Some(format!(
                "hash {hash:032x} and {events} events in the fresh process, {:032x} and {} in the sweep",
                within.0, within.1
            )),
            Err(error) => Some(format!("{error:#}")),
        };
        if let Some(difference) = difference {
            wrong.lock().expect("no thread panics while it holds this").insert(*seed, difference);
        }
        made.fetch_add(1, Ordering::Relaxed);
        bar.inc(1);
        true
    });
    bar.finish_and_clear();
    let wrong = wrong.into_inner().expect("all threads are done");
    match wrong.first_key_value() {
        None => Ok(made.into_inner()),
        Some((seed, difference)) => bail!(
            "nondeterministic: {} of {} runs of {} differ in a fresh process; the first is seed {seed}: {difference}",
            wrong.len(),
            marks.len(),
            search.workload.name
        ),
    }
}

/// Makes the run of that number in its own process.
fn alone(program: &Path, search: &Search, plan: Option<&Path>, seed: u64) -> anyhow::Result<Mark> {
    let arguments = super::searching::numbered(search, seed);
    let plan = plan.map(|path| ["--plan".as_ref(), path.as_os_str()]);
    let output = Command::new(program)
        .arg("run")
        .args(arguments.split(' '))
        .args(plan.iter().flatten())
        .args(["--format", "json"])
        .stdin(Stdio::null())
        // In its own process group, Ctrl-C in the terminal does not reach it: an interrupted run would count as a
        // difference.
        .process_group(0)
        .output()
        .context("the process could not be started")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().ok_or_else(|| anyhow!("no output"))?;
    let line: Value = serde_json::from_str(first).context("its output")?;
    let hash = line["hash"].as_str().and_then(|hash| u128::from_str_radix(hash, 16).ok());
    hash.zip(line["events"].as_u64()).ok_or_else(|| anyhow!("unexpected output {first}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_as_many_as_asked_for_and_spread() {
        for (count, of) in [(10, 1000), (7, 100), (1, 3), (5, 5), (9, 5), (333, 1000)] {
            let taken = sampled(count, of);
            let indices: Vec<u64> = (0..of).filter(|index| taken(*index)).collect();
            assert_eq!(indices.len() as u64, count.min(of));
            let gaps = indices.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(gaps.max().unwrap_or(0) <= of.div_ceil(count.min(of)));
        }
    }
}
