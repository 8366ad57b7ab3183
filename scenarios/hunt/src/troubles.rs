//! Troubles: plans that every program which keeps something held over many sessions is tried under, ours and its peers.

use crate::plan::Plan;
use crate::rate::Rate;
use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A trouble: a file `NAME.jsonl`.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// Its name.
    pub name: String,
    /// The plan.
    pub plan: Plan,
}

impl Trouble {
    /// All troubles in a folder, by name.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or makes no sense.
    pub fn all(folder: &Path) -> anyhow::Result<Vec<Trouble>> {
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("there are no troubles in {}", folder.display()))?;
        let mut troubles = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|end| end != "jsonl") {
                continue;
            }
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let plan = Plan::read(&text).map_err(|why| anyhow!("{}: {why}", path.display()))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            troubles.push(Trouble { name, plan });
        }
        troubles.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(troubles)
    }
}

/// The results of the tries of a scenario under a trouble.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endured {
    /// The program.
    pub program: String,
    /// Its version.
    pub version: String,
    /// The scenario.
    pub scenario: String,
    /// The trouble.
    pub trouble: String,
    /// The number of tries.
    pub tries: u32,
    /// The tries that broke each rule.
    pub broken: BTreeMap<String, u32>,
    /// The tries in which a client did not come to rest.
    pub restless: u32,
    /// The tries in which nothing was held again.
    pub not_again: u32,
    /// The median and the maximum of the longest time without a holder, in milliseconds.
    pub without_ms: (u64, u64),
}

impl Endured {
    /// Sets the times of all tries: how long nothing was held, and whether it was held again.
    pub fn set_times(&mut self, times: &[(Duration, bool)]) {
        self.not_again =
            u32::try_from(times.iter().filter(|(_, is_held)| !is_held).count()).unwrap_or(u32::MAX);
        let mut millis: Vec<u64> =
            times.iter().map(|(time, _)| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)).collect();
        millis.sort_unstable();
        let median = millis.get(millis.len() / 2).copied().unwrap_or_default();
        self.without_ms = (median, millis.last().copied().unwrap_or_default());
    }

    /// What was broken, with the interval of each rate.
    pub fn verdict(&self) -> String {
        let rate = |hits| Rate { hits, tries: self.tries };
        let mut parts: Vec<String> =
            self.broken.iter().map(|(rule, hits)| format!("{rule} in {}", rate(*hits))).collect();
        if self.not_again > 0 {
            parts.push(format!("not held again in {}", rate(self.not_again)));
        }
        // A client that waits for ever does not finish, either.
        if self.restless > 0 && parts.is_empty() {
            parts.push(format!("did not finish in {}", rate(self.restless)));
        }
        if parts.is_empty() { format!("holds in {}", self.tries) } else { parts.join("; ") }
    }

    /// The times, behind what was broken.
    pub fn summary(&self) -> String {
        let (median, most) = self.without_ms;
        let times = format!("{:.1} s, at most {:.1} s", median as f64 / 1e3, most as f64 / 1e3);
        match self.verdict() {
            verdict if verdict.starts_with("holds") => times,
            // The time until the try has ended says nothing.
            verdict if self.not_again > 0 => format!("**{verdict}**"),
            verdict => format!("**{verdict}**; {times}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trouble_of_the_project_is_a_plan() {
        let troubles = Trouble::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("troubles")).unwrap();
        assert!(troubles.len() >= 6 && troubles.iter().all(|one| !one.plan.steps.is_empty()));
    }

    #[test]
    fn the_median_and_the_longest_time_are_told() {
        let mut endured = Endured { tries: 3, ..Endured::default() };
        let time = |ms, is_held| (Duration::from_millis(ms), is_held);
        endured.set_times(&[time(900, true), time(100, true), time(15_000, false)]);
        assert_eq!((endured.without_ms, endured.not_again), ((900, 15_000), 1));
        assert_eq!(endured.verdict(), "not held again in 1 of 3 (6–79 %)");
        assert_eq!(endured.summary(), "**not held again in 1 of 3 (6–79 %)**");
        endured.set_times(&[time(900, true), time(100, true), time(1_000, true)]);
        assert_eq!(endured.summary(), "0.9 s, at most 1.0 s");
    }
}
