//! The result of a sweep of one workload.

use serde_json::json;
use sim_zk::fault::Fault;
use zk_checker::{Probe, RuleId, Verdict};
use zk_harness::sweep::{Missing, Sweep};
use zk_harness::tally::Tally;

/// The result of a sweep of one workload.
pub(super) struct Swept {
    pub sweep: Sweep,
    pub tally: Tally,
    pub seconds: f64,
    /// Further lines of output.
    pub notes: Vec<String>,
}

impl Swept {
    /// The verdict of the sweep.
    pub(super) fn verdict(&self) -> Verdict {
        self.sweep.verdict(&self.tally)
    }

    /// The names of the missing evidence: faults, rules, probes and conditions.
    fn missing(&self) -> Option<[Vec<&'static str>; 4]> {
        let Missing { faults, rules, probes, conditions } = self.sweep.missing(&self.tally);
        let faults = faults.into_iter().map(Fault::name).collect();
        let rules = rules.into_iter().map(RuleId::name).collect();
        let probes = probes.into_iter().map(Probe::name).collect();
        let all: [Vec<&str>; 4] = [faults, rules, probes, conditions];
        all.iter().any(|names| !names.is_empty()).then_some(all)
    }

    /// The missing evidence as JSON.
    pub(super) fn missing_line(&self) -> Option<serde_json::Value> {
        let [faults, rules, probes, sometimes] = self.missing()?;
        let name = self.sweep.search.workload.name;
        Some(json!({"kind": "unproved", "workload": name, "faults": faults, "rules": rules, "probes": probes,
            "sometimes": sometimes}))
    }

    /// The missing evidence, a clause for each kind.
    pub(super) fn missing_clauses(&self) -> Vec<String> {
        let kinds = self.missing().into_iter().flatten().zip(["injected", "tested", "reached", "reached"]);
        let clause = |(names, what): (Vec<&str>, &str)| {
            let was = if names.len() == 1 { "was" } else { "were" };
            (!names.is_empty()).then(|| format!("{} {was} never {what}; run more seeds", names.join(", ")))
        };
        kinds.filter_map(clause).collect()
    }
}
