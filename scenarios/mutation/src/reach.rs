//! Which mutants each judge reaches: recorded once, with no mutant active, so that a judge is not asked about code that it does
//! not run. The same runs say what the judge answers about the original.

use crate::built::Built;
use crate::process::{REACHED, within};
use anyhow::{Context, bail};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use tokio::process::Command;

/// What each judge reaches, and what it says about the original.
#[derive(Default, Serialize, Deserialize)]
pub struct Reach {
    /// By workload: reached mutants, and the exit status of a short and of a long sweep.
    pub sweeps: BTreeMap<String, (BTreeSet<u32>, [Option<i32>; 2])>,
    /// By test binary and test.
    pub tests: BTreeMap<(usize, String), BTreeSet<u32>>,
    /// By story: reached mutants, and the trace.
    pub stories: BTreeMap<String, (BTreeSet<u32>, String)>,
}

/// How much the judges do.
#[derive(Clone, Copy)]
pub struct Effort {
    /// The numbers of seeds of a short and of a long sweep.
    pub seeds: [u64; 2],
    /// The limits of time of a short sweep, a long sweep, a story, and the tests of a binary together.
    pub limits: [Duration; 4],
    /// How many processes run beside each other.
    pub jobs: usize,
}

/// The arguments of a sweep.
pub fn sweep<'a>(workload: &'a str, seeds: &'a str) -> [&'a str; 10] {
    ["sweep", workload, "--seeds", seeds, "--jobs", "1", "--shrink", "0", "--format", "json"]
}

/// Records what is reached.
///
/// # Errors
///
/// A judge fails without a mutant, or does not end.
pub async fn record(built: &Built, effort: Effort, scratch: &Path) -> anyhow::Result<Reach> {
    let (workloads, stories) = built.names().await?;
    let mut reach = Reach::default();
    let sweeps = stream::iter(workloads).map(|workload| swept(built, effort, scratch, workload));
    reach.sweeps = sweeps.buffer_unordered(effort.jobs).try_collect().await?;
    let stories = stream::iter(stories).map(|story| async move {
        let (numbers, output) =
            recorded(built.zksim(&["run", &story]), scratch, &story, effort.limits[2]).await?;
        if !output.status.success() {
            bail!("the story {story} fails without a mutant");
        }
        Ok((story, (numbers, String::from_utf8(output.stdout)?)))
    });
    reach.stories = stories.buffer_unordered(effort.jobs).try_collect().await?;
    let mut tests = Vec::new();
    for binary in 0..built.tests.len() {
        tests.extend(built.test_names(binary).await?.into_iter().map(|name| (binary, name)));
    }
    let tests = stream::iter(tests).map(|(binary, name)| async move {
        let file = format!("{binary}-{}", name.replace("::", "-"));
        let command = built.test(binary, &[&name]);
        let (numbers, output) = recorded(command, scratch, &file, effort.limits[3]).await?;
        if !output.status.success() {
            bail!("the test {name} fails without a mutant:\n{}", String::from_utf8_lossy(&output.stdout));
        }
        Ok(((binary, name), numbers))
    });
    reach.tests = tests.buffer_unordered(effort.jobs).try_collect().await?;
    Ok(reach)
}

async fn swept(
    built: &Built,
    effort: Effort,
    scratch: &Path,
    workload: String,
) -> anyhow::Result<(String, (BTreeSet<u32>, [Option<i32>; 2]))> {
    let [few, many] = effort.seeds.map(|seeds| seeds.to_string());
    let long = built.zksim(&sweep(&workload, &many));
    let (numbers, output) = recorded(long, scratch, &workload, effort.limits[1]).await?;
    let short = within(effort.limits[0], built.zksim(&sweep(&workload, &few))).await?;
    let short = short.with_context(|| format!("a short sweep of {workload} does not end"))?;
    let statuses = [short.status.code(), output.status.code()];
    if statuses.contains(&Some(1)) {
        bail!("the workload {workload} fails without a mutant");
    }
    Ok((workload, (numbers, statuses)))
}

/// Runs a command, and returns the mutants that it reaches.
async fn recorded(
    mut command: Command,
    scratch: &Path,
    name: &str,
    limit: Duration,
) -> anyhow::Result<(BTreeSet<u32>, std::process::Output)> {
    let file = scratch.join(name);
    // What an earlier recording has left would be added to.
    std::fs::remove_file(&file).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    command.env(REACHED, &file);
    let output =
        within(limit, command).await?.with_context(|| format!("{name} does not end without a mutant"))?;
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let numbers = text.lines().map(str::parse).collect::<Result<_, _>>()?;
    Ok((numbers, output))
}
