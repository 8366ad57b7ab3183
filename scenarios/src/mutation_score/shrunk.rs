//! The shrunk failures of mutants.

use crate::text_table::text_table;
use std::sync::atomic::AtomicBool;
use zk_harness::run::{Draw, Run};
use zk_harness::shrink::{ShrinkError, Shrunk, Size, shrink_until};
use zk_harness::workload::Workload;

/// The first of these seeds whose run is killed by its rule.
pub fn first_caught(workload: &'static Workload, mut seeds: std::ops::Range<u64>) -> Option<(u64, Run)> {
    let caught = workload.caught_by?;
    seeds.find_map(|seed| {
        let run = Draw::seeded(workload, workload.plan(seed), seed).run_caught().ok()?;
        let rule = run.report.first()?.rule;
        caught.is_caught_by(rule).then_some((seed, run))
    })
}

/// The shrunk failure of a mutant.
#[derive(Debug)]
pub struct Small {
    /// The seed that was shrunk.
    pub seed: u64,
    /// The result.
    pub shrunk: Shrunk,
    /// The wall-clock time, in milliseconds.
    pub ms: f64,
}

impl Small {
    /// Shrinks the first of these seeds that is killed, until `stop` is set. `clock` returns milliseconds.
    pub fn of(
        workload: &'static Workload,
        seeds: std::ops::Range<u64>,
        runs: u32,
        stop: &AtomicBool,
        clock: impl Fn() -> f64,
    ) -> Option<Result<Small, ShrinkError>> {
        let (seed, run) = first_caught(workload, seeds)?;
        let begun = clock();
        let shrunk = shrink_until(run.again(), runs, stop);
        Some(shrunk.map(|shrunk| Small { seed, shrunk, ms: clock() - begun }))
    }
}

/// One row for each, and two rows for the medians and the maxima.
pub fn text(all: &[Small]) -> String {
    let head = [
        "shrunk", "rule", "seed", "clients", "rounds", "servers", "faults", "choices", "before", "runs", "ms",
    ];
    let row = |name: &str, rule: &str, seed: String, size: Size, before: usize, runs: u32, ms: f64| {
        let Size { clients, rounds, servers, faults, choices, .. } = size;
        let numbers = [clients.into(), u64::from(rounds), servers.into(), faults.into(), choices as u64];
        let numbers = numbers.map(|number| number.to_string());
        let mut row = vec![name.to_owned(), rule.to_owned(), seed];
        row.extend(numbers);
        row.extend([before.to_string(), runs.to_string(), format!("{ms:.0}")]);
        row
    };
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for Small { seed, shrunk, ms } in all {
        let (after, before) = (shrunk.after(), shrunk.before.choices);
        rows.push(row(
            shrunk.failure.run.workload.name,
            &shrunk.what,
            seed.to_string(),
            after,
            before,
            shrunk.runs,
            *ms,
        ));
    }
    for (name, of) in [("median", at_median as fn(Vec<f64>) -> f64), ("worst", at_worst)] {
        let figure = |figure: &dyn Fn(&Small) -> f64| of(all.iter().map(figure).collect());
        let size = Size {
            clients: figure(&|one| one.shrunk.after().clients.into()) as u8,
            rounds: figure(&|one| one.shrunk.after().rounds.into()) as u32,
            servers: figure(&|one| one.shrunk.after().servers.into()) as u8,
            acts: 0,
            faults: figure(&|one| one.shrunk.after().faults.into()) as u32,
            choices: figure(&|one| one.shrunk.after().choices as f64) as usize,
            sum: 0,
            events: 0,
        };
        let before = figure(&|one| one.shrunk.before.choices as f64) as usize;
        let runs = figure(&|one| one.shrunk.runs.into()) as u32;
        rows.push(row(name, "", String::new(), size, before, runs, figure(&|one| one.ms)));
    }
    text_table(&rows)
}

fn at_median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}

fn at_worst(figures: Vec<f64>) -> f64 {
    figures.into_iter().fold(0.0, f64::max)
}
