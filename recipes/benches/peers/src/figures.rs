//! What was measured of one recipe in one row, and its statistics.

use crate::library::Library;
use crate::peer::{Answer, Footprint};
use crate::proxy::Counts;
use serde::Serialize;
use std::collections::BTreeMap;

/// The least, the median and the most of some runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

impl Spread {
    /// `None` of no figures.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        Some(Spread { least, median: sorted[sorted.len() / 2], most })
    }
}

/// The cost of one operation, over all counted runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    pub requests: f64,
    /// The least and the most requests of the runs.
    pub requests_range: (f64, f64),
    pub notifications: f64,
    pub refused: f64,
    pub bytes_up: f64,
    pub bytes_down: f64,
    /// Requests by kind.
    pub kinds: BTreeMap<&'static str, f64>,
}

impl Cost {
    /// `None` without a counted run.
    pub fn of(runs: &[(usize, Counts)]) -> Option<Cost> {
        let ops: usize = runs.iter().map(|(ops, _)| ops).sum();
        if ops == 0 {
            return None;
        }
        let each = |figure: &dyn Fn(&Counts) -> u64| {
            runs.iter().map(|(_, counts)| figure(counts)).sum::<u64>() as f64 / ops as f64
        };
        let range = Spread::of(runs.iter().map(|(ops, counts)| counts.total() as f64 / *ops as f64))?;
        let mut kinds = BTreeMap::new();
        for (_, counts) in runs {
            for (kind, count) in &counts.requests {
                *kinds.entry(*kind).or_insert(0.0) += *count as f64 / ops as f64;
            }
        }
        Some(Cost {
            requests: each(&Counts::total),
            requests_range: (range.least, range.most),
            notifications: each(&|counts| counts.notifications),
            refused: each(&|counts| counts.refused),
            bytes_up: each(&|counts| counts.bytes_up),
            bytes_down: each(&|counts| counts.bytes_down),
            kinds,
        })
    }
}

/// The memory and the threads of a process before and while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Memory {
    pub before_bytes: u64,
    pub waiting_bytes: u64,
    pub before_threads: u64,
    pub waiting_threads: u64,
}

impl Memory {
    pub fn of(before: Footprint, waiting: Footprint) -> Memory {
        Memory {
            before_bytes: before.bytes,
            waiting_bytes: waiting.bytes,
            before_threads: before.threads,
            waiting_threads: waiting.threads,
        }
    }
}

/// One recipe in one row.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    pub row: &'static str,
    #[serde(serialize_with = "name")]
    pub library: Library,
    pub recipe: &'static str,
    pub remark: &'static str,
    /// Operations a second, in the order of the alternations.
    pub rates: Vec<f64>,
    /// Median latencies in microseconds, of all timed runs together, by step.
    pub micros: BTreeMap<String, f64>,
    pub cost: Option<Cost>,
    /// Round trips in turn, by step.
    pub round_trips: BTreeMap<String, f64>,
    /// Of the row of idle waiters: what a waiter costs to take over, beside [`cost`](Self::cost) to join.
    pub hand_over: Option<Cost>,
    pub memory: Option<Memory>,
    /// The waiters of [`memory`](Self::memory).
    pub waiters: usize,
    /// Broken promises of all runs.
    pub violations: usize,
    /// What could not be measured, and why.
    pub failures: Vec<String>,
}

fn name<S: serde::Serializer>(library: &Library, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(library.name())
}

impl Entry {
    pub fn new(row: &'static str, library: Library, recipe: &'static str, remark: &'static str) -> Entry {
        Entry {
            row,
            library,
            recipe,
            remark,
            rates: Vec::new(),
            micros: BTreeMap::new(),
            cost: None,
            round_trips: BTreeMap::new(),
            hand_over: None,
            memory: None,
            waiters: 0,
            violations: 0,
            failures: Vec::new(),
        }
    }

    /// The spread of its rates.
    pub fn rate(&self) -> Option<Spread> {
        Spread::of(self.rates.iter().copied())
    }
}

/// Operations a second.
pub fn rate(answer: &Answer) -> f64 {
    answer.ops as f64 / answer.seconds
}

/// The medians of latencies, by step.
pub fn medians(answers: &[Answer]) -> BTreeMap<String, f64> {
    let mut steps: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (step, latencies) in answers.iter().flat_map(|answer| &answer.micros) {
        steps.entry(step.clone()).or_default().extend(latencies);
    }
    let median = |(step, latencies)| Some((step, Spread::of(latencies)?.median));
    steps.into_iter().filter_map(median).collect()
}

/// Round trips in turn, by step: the median latency divided by the time of a read, in microseconds. Without latencies it is
/// the time of one operation.
pub fn in_round_trips(answers: &[Answer], read_micros: f64) -> BTreeMap<String, f64> {
    let mut steps = medians(answers);
    if steps.is_empty() {
        steps.extend(answers.iter().map(|answer| ("each".to_owned(), 1e6 / rate(answer))));
    }
    steps.into_iter().map(|(step, micros)| (step, micros / read_micros)).collect()
}

/// The ratio of an entry's rate to a rival's, the median over the alternations in which both were measured.
pub fn ratio(entry: &Entry, rival: &Entry) -> Option<f64> {
    Spread::of(entry.rates.iter().zip(&rival.rates).map(|(own, other)| own / other))
        .map(|spread| spread.median)
}

/// The other library's recipe of a row with the highest median rate.
pub fn best_rival<'a>(entries: &'a [Entry], row: &str) -> Option<&'a Entry> {
    entries
        .iter()
        .filter(|entry| entry.row == row && entry.library.is_rival())
        .filter(|entry| entry.rate().is_some())
        .max_by(|a, b| {
            let median = |entry: &Entry| entry.rate().map_or(0.0, |rate| rate.median);
            median(a).total_cmp(&median(b))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_that_of_each_alternation() {
        let mut own = Entry::new("lock-free", Library::Ours, "Lock", "");
        let mut rival = Entry::new("lock-free", Library::Curator, "InterProcessMutex", "");
        // The machine was slow for both in the second alternation.
        own.rates = vec![200.0, 20.0, 220.0];
        rival.rates = vec![100.0, 10.0, 100.0];
        assert_eq!(ratio(&own, &rival), Some(2.0));
        assert_eq!(own.rate(), Some(Spread { least: 20.0, median: 200.0, most: 220.0 }));
        let entries = [own, rival];
        assert_eq!(best_rival(&entries, "lock-free").map(|best| best.recipe), Some("InterProcessMutex"));
        assert!(best_rival(&entries, "lock-2").is_none());
    }

    #[test]
    fn round_trips_are_latencies_in_reads() {
        let answer = |micros: &[(&str, Vec<f64>)]| Answer {
            ops: 4,
            seconds: 0.2,
            micros: micros.iter().map(|(step, latencies)| ((*step).to_owned(), latencies.clone())).collect(),
            violations: 0,
        };
        let steps = [("acquire", vec![20e3, 90e3, 22e3]), ("whole", vec![40e3, 44e3, 95e3])];
        let of = |steps, read| in_round_trips(&[answer(steps)], read).into_iter().collect::<Vec<_>>();
        assert_eq!(of(&steps, 22e3), [("acquire".to_owned(), 1.0), ("whole".to_owned(), 2.0)]);
        assert_eq!(of(&[], 25e3), [("each".to_owned(), 2.0)]);
    }

    #[test]
    fn costs_are_those_of_one_operation() {
        let counts = |create| Counts {
            requests: BTreeMap::from([("create", create), ("delete", 10)]),
            notifications: 5,
            ..Counts::default()
        };
        let cost = Cost::of(&[(10, counts(10)), (10, counts(30))]).unwrap();
        assert_eq!((cost.requests, cost.requests_range, cost.notifications), (3.0, (2.0, 4.0), 0.5));
        assert_eq!(cost.kinds["create"], 2.0);
        assert_eq!(Cost::of(&[]), None);
    }
}
