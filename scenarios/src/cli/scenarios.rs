//! `conformance` of scenarios: each under many seeds, on simulated ensembles.

use super::{Output, progress};
use serde_json::json;
use std::path::Path;
use zk_fidelity::ensemble::case::{self, Placed, Suite};
use zk_fidelity::ensemble::report::Report;
use zk_fidelity::ensemble::run;
use zk_fidelity::ensemble::sim::Simulated;

/// The numbers of scenarios by result.
#[derive(Default)]
pub(super) struct Tally {
    pub pass: u32,
    pub fail: u32,
}

/// Plays the scenarios of a file that `wanted` names, each under the seeds from 0 to `seeds`.
pub(super) fn play(
    file: &Path,
    seeds: u64,
    output: Output,
    wanted: impl Fn(&str) -> bool,
) -> anyhow::Result<Tally> {
    let Suite { meta, scenarios, bad } = case::read(file)?;
    if let Some(bad) = bad.into_iter().next() {
        return Err(bad.into());
    }
    let chosen: Vec<&Placed> = scenarios.iter().filter(|placed| wanted(&placed.scenario.id)).collect();
    let bar = progress::bar_of(chosen.len() as u64, "conformance", "scenarios");
    let mut tally = Tally::default();
    for Placed { scenario, .. } in chosen {
        let report = run::run(scenario, &meta, 0..seeds, Simulated::new);
        tally.count(&report);
        bar.inc(1);
        bar.suspend(|| tell(&report, output));
    }
    bar.finish_and_clear();
    Ok(tally)
}

impl Tally {
    fn count(&mut self, report: &Report) {
        match report.passes() {
            true => self.pass += 1,
            false => self.fail += 1,
        }
    }
}

fn tell(report: &Report, output: Output) {
    if output.is_json() {
        println!("{}", json!(report));
    } else {
        println!("{report}");
    }
}
