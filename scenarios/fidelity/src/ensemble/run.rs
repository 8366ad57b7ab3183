//! The same scenario under many seeds, each on a fresh ensemble.

use super::cluster::Cluster;
use super::expected::{Expected, Results, StepResult};
use super::judge::{RunVerdict, judge};
use super::play::{Stuck, play};
use super::report::{Report, Shown, StuckRuns, Unreached};
use super::scenario::{Meta, Scenario};
use std::collections::{BTreeMap, BTreeSet};

/// Plays a scenario under each of the seeds, on a new ensemble from `make`.
pub fn run<C: Cluster>(
    scenario: &Scenario,
    meta: &Meta,
    seeds: impl IntoIterator<Item = u64>,
    make: impl Fn(u64, &Meta) -> C,
) -> Report {
    let mut tally = Tally::default();
    for seed in seeds {
        let played = play(make(seed, meta), scenario, meta, seed);
        tally.count(scenario, seed, played);
    }
    tally.report(scenario)
}

/// The results of the runs so far.
#[derive(Default)]
struct Tally {
    runs: u64,
    /// The runs by their results, reported in the order of the first seeds.
    shown: BTreeMap<String, Shown>,
    stuck: BTreeMap<String, StuckRuns>,
    /// Outcomes that were reached, and alternatives in them.
    reached: BTreeSet<(usize, String, usize)>,
    outcomes: BTreeSet<usize>,
}

impl Tally {
    fn count(&mut self, scenario: &Scenario, seed: u64, played: Result<Results, Stuck>) {
        self.runs += 1;
        let results = match played {
            Ok(results) => results,
            Err(stuck) => {
                let why = stuck.to_string();
                let runs =
                    self.stuck.entry(why.clone()).or_insert(StuckRuns { why, runs: 0, first_seed: seed });
                runs.runs += 1;
                return;
            }
        };
        let verdict = judge(scenario, &results);
        if let RunVerdict::Allowed(places) = &verdict {
            for place in places {
                self.reach(scenario, *place, &results);
            }
        }
        let results = folded(scenario, &results);
        let text =
            results.iter().map(|(label, told)| format!("{label} {told}")).collect::<Vec<_>>().join(", ");
        let shown = self.shown.entry(text).or_insert_with(|| Shown {
            runs: 0,
            first_seed: seed,
            verdict: verdict.word(),
            why: (!verdict.is_allowed()).then(|| verdict.to_string()),
            results,
        });
        shown.runs += 1;
    }

    fn reach(&mut self, scenario: &Scenario, place: usize, results: &Results) {
        self.outcomes.insert(place);
        for (label, expected) in &scenario.allowed[place] {
            for (number, alternative) in expected.alternatives().iter().enumerate() {
                if alternative.matches(results.get(label)) {
                    self.reached.insert((place, label.clone(), number));
                }
            }
        }
    }

    fn report(self, scenario: &Scenario) -> Report {
        let mut shown: Vec<Shown> = self.shown.into_values().collect();
        shown.sort_by_key(|shown| shown.first_seed);
        let mut stuck: Vec<StuckRuns> = self.stuck.into_values().collect();
        stuck.sort_by_key(|stuck| stuck.first_seed);
        let mut unreached = Vec::new();
        for (place, outcome) in scenario.allowed.iter().enumerate() {
            if !self.outcomes.contains(&place) {
                let texts = outcome.iter().map(|(label, expected)| format!("{label} {expected}"));
                let what = texts.collect::<Vec<_>>().join(", ");
                unreached.push(Unreached { outcome: place + 1, label: None, what });
                continue;
            }
            for (label, expected) in outcome {
                for (number, alternative) in expected.alternatives().iter().enumerate() {
                    if !self.reached.contains(&(place, label.clone(), number)) {
                        let (label, what) = (Some(label.clone()), alternative.to_string());
                        unreached.push(Unreached { outcome: place + 1, label, what });
                    }
                }
            }
        }
        Report {
            kind: "scenario",
            n: scenario.n,
            id: scenario.id.clone(),
            about: scenario.about.clone(),
            verdict: verdict(self.runs, &shown, &stuck),
            runs: self.runs,
            shown,
            stuck,
            unreached,
        }
    }
}

fn verdict(runs: u64, shown: &[Shown], stuck: &[StuckRuns]) -> &'static str {
    match runs {
        0 => "vacuous",
        _ if stuck.is_empty() && shown.iter().all(|shown| shown.verdict == "allowed") => "pass",
        _ => "fail",
    }
}

/// The results on which the verdict depends, with numbers replaced by the range that they fall into, so that equivalent
/// runs compare equal.
fn folded(scenario: &Scenario, results: &Results) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for outcome in scenario.allowed.iter().chain(&scenario.never) {
        for label in outcome.keys() {
            if let Some(told) = results.get(label) {
                all.entry(label.clone()).or_insert_with(|| fold(scenario, label, told));
            }
        }
    }
    all
}

/// Prints a number that no range contains with one decimal.
fn fold(scenario: &Scenario, label: &str, told: &StepResult) -> String {
    let StepResult::Number(number) = told else { return told.to_string() };
    let expected = scenario.allowed.iter().filter_map(|outcome| outcome.get(label));
    let mut ranges = expected.flat_map(Expected::alternatives).filter(|it| matches!(it, Expected::Range(..)));
    match ranges.clone().find(|range| range.matches(Some(told))) {
        Some(range) => range.to_string(),
        None if ranges.next().is_some() => format!("{number:.1}"),
        None => told.to_string(),
    }
}
