//! Judging one mutant: the judges that reach it, the cheapest first, up to the first that objects.
//!
//! 1. Short sweeps of the workloads that reach it, the most specialised workload first.
//! 2. The tests that reach it.
//! 3. The stories that reach it; a story also objects to another trace, as the test of the traces does.
//! 4. Long sweeps.
//!
//! A sweep objects if its exit status differs from that of the original: a rule is broken, or the evidence is gone. A judge that
//! does not end within its limit of time, or whose process dies, objects too.

use crate::built::Built;
use crate::process::{MUTANT, with_little_memory, within};
use crate::reach::{Effort, Reach, sweep};
use serde::{Deserialize, Serialize};
use std::process::Output;
use std::time::Duration;
use tokio::process::Command;

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Killed by a sweep: the workload, and the rule that most runs broke, or `no evidence`.
    Sweep {
        /// The workload.
        workload: String,
        /// The rule.
        rule: String,
    },
    /// Killed by tests.
    Test {
        /// The first that failed.
        name: String,
        /// How many failed.
        failed: usize,
    },
    /// Killed by a story.
    Story {
        /// Its name.
        name: String,
    },
    /// Killed because a judge did not end in time.
    TimeLimit {
        /// The judge.
        judge: String,
    },
    /// No judge objects.
    Survived,
    /// No judge runs the code.
    NotReached,
}

impl Outcome {
    /// Whether a judge objected.
    pub fn is_killed(&self) -> bool {
        !matches!(self, Outcome::Survived | Outcome::NotReached)
    }

    /// The outcome in words.
    pub fn words(&self) -> String {
        match self {
            Outcome::Sweep { workload, rule } => format!("killed by sweep {workload}: {rule}"),
            Outcome::Test { name, failed: 1 } => format!("killed by test {name}"),
            Outcome::Test { name, failed } => format!("killed by test {name} and {} more", failed - 1),
            Outcome::Story { name } => format!("killed by story {name}"),
            Outcome::TimeLimit { judge } => format!("killed by time limit, in {judge}"),
            Outcome::Survived => "SURVIVED".to_owned(),
            Outcome::NotReached => "NOT REACHED".to_owned(),
        }
    }
}

/// Judges the mutant with this number.
///
/// # Errors
///
/// A judge cannot be started.
pub async fn judge(built: &Built, reach: &Reach, effort: Effort, number: u32) -> anyhow::Result<Outcome> {
    let case = Case { built, reach, effort, number };
    let reached = case.workloads();
    let is_reached = !reached.is_empty()
        || reach.tests.values().any(|numbers| numbers.contains(&number))
        || reach.stories.values().any(|(numbers, _)| numbers.contains(&number));
    if !is_reached {
        return Ok(Outcome::NotReached);
    }
    let outcome = match case.sweeps(&reached, 0).await? {
        Some(outcome) => outcome,
        None => match case.tests().await? {
            Some(outcome) => outcome,
            None => match case.stories().await? {
                Some(outcome) => outcome,
                None => case.sweeps(&reached, 1).await?.unwrap_or(Outcome::Survived),
            },
        },
    };
    Ok(outcome)
}

struct Case<'a> {
    built: &'a Built,
    reach: &'a Reach,
    effort: Effort,
    number: u32,
}

impl<'a> Case<'a> {
    /// The workloads that reach the mutant; those that reach few mutants come first, for they are about its recipe.
    fn workloads(&self) -> Vec<&'a str> {
        let reaching = self.reach.sweeps.iter().filter(|(_, (numbers, _))| numbers.contains(&self.number));
        let mut workloads: Vec<_> =
            reaching.map(|(name, (numbers, _))| (numbers.len(), name.as_str())).collect();
        workloads.sort_unstable();
        workloads.into_iter().map(|(_, name)| name).collect()
    }

    async fn run(&self, limit: Duration, mut command: Command) -> anyhow::Result<Option<Output>> {
        command.env(MUTANT, self.number.to_string());
        within(limit, with_little_memory(&command)).await
    }

    async fn sweeps(&self, workloads: &[&str], length: usize) -> anyhow::Result<Option<Outcome>> {
        let seeds = self.effort.seeds[length].to_string();
        for workload in workloads {
            let command = self.built.zksim(&sweep(workload, &seeds));
            let Some(output) = self.run(self.effort.limits[length], command).await? else {
                return Ok(Some(Outcome::TimeLimit { judge: format!("sweep {workload}") }));
            };
            if output.status.code() != self.reach.sweeps[*workload].1[length] {
                let rule = rule(&output);
                return Ok(Some(Outcome::Sweep { workload: (*workload).to_owned(), rule }));
            }
        }
        Ok(None)
    }

    async fn tests(&self) -> anyhow::Result<Option<Outcome>> {
        for (binary, (title, ..)) in self.built.tests.iter().enumerate() {
            let reaching = self
                .reach
                .tests
                .iter()
                .filter(|((of, _), numbers)| *of == binary && numbers.contains(&self.number));
            let names: Vec<&str> = reaching.map(|((_, name), _)| name.as_str()).collect();
            if names.is_empty() {
                continue;
            }
            let Some(output) = self.run(self.effort.limits[3], self.built.test(binary, &names)).await? else {
                return Ok(Some(Outcome::TimeLimit { judge: format!("tests of {title}") }));
            };
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stdout);
                let failed =
                    said.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
                let failed: Vec<&str> = failed.collect();
                let name = failed
                    .first()
                    .map_or_else(|| format!("{title}: {}", output.status), |name| (*name).to_owned());
                return Ok(Some(Outcome::Test { name, failed: failed.len().max(1) }));
            }
        }
        Ok(None)
    }

    async fn stories(&self) -> anyhow::Result<Option<Outcome>> {
        for (story, (numbers, trace)) in &self.reach.stories {
            if !numbers.contains(&self.number) {
                continue;
            }
            let Some(output) = self.run(self.effort.limits[2], self.built.zksim(&["run", story])).await?
            else {
                return Ok(Some(Outcome::TimeLimit { judge: format!("story {story}") }));
            };
            if !output.status.success() || output.stdout != trace.as_bytes() {
                return Ok(Some(Outcome::Story { name: story.clone() }));
            }
        }
        Ok(None)
    }
}

/// The rule that most runs of a sweep broke.
fn rule(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout);
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for line in said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()) {
        if line["kind"] == "run"
            && let Some(rule) = line["rule"].as_str()
        {
            *counts.entry(rule.to_owned()).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    match (most, output.status.code()) {
        (Some((rule, _)), _) => rule,
        (None, Some(2)) => "no evidence".to_owned(),
        (None, _) => output.status.to_string(),
    }
}
