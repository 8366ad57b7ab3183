//! Each trouble, tried on the scenarios whose clients keep what they hold.

use super::hunting::{Target, rules, unless_interrupted};
use super::{Hunt, write_endured};
use crate::cli::interrupt::Interrupt;
use crate::cli::no_such;
use crate::text_table::text_table;
use anyhow::anyhow;
use serde_json::json;
use zk_hunt::program::Program;
use zk_hunt::troubles::{Endured, Trouble};

impl Hunt {
    /// Tries the troubles. Returns whether a rule was broken, or something was not held again.
    pub(super) fn try_troubles(&self, programs: &[&Program], interrupt: &Interrupt) -> anyhow::Result<bool> {
        let mut troubles = Trouble::all(&self.troubles_in)?;
        if let Some(name) = &self.trouble {
            let names: Vec<String> = troubles.iter().map(|trouble| trouble.name.clone()).collect();
            troubles.retain(|trouble| trouble.name == *name);
            if troubles.is_empty() {
                return Err(anyhow!(no_such("trouble", name, names.iter().map(String::as_str))));
            }
        }
        let mut endured = Vec::new();
        for program in programs {
            let mut scenarios = self.scenarios(program)?;
            // Those that are wrong on purpose are for the tests.
            scenarios.retain(|scenario| scenario.lasting && !scenario.promises.is_empty());
            if scenarios.is_empty() {
                continue;
            }
            let Some(prepared) = unless_interrupted(interrupt, program.prepare(&self.out))? else { break };
            for scenario in scenarios {
                for trouble in &troubles {
                    let target = Target { prepared: &prepared, scenario };
                    let one = self.endure(target, trouble, interrupt)?;
                    // An interrupted series gives no rate.
                    if interrupt.has_come() {
                        break;
                    }
                    endured.push(one);
                }
            }
        }
        if self.write_page && !interrupt.has_come() {
            write_endured(&self.findings, &endured)?;
        }
        self.show_endured(&endured, interrupt);
        Ok(endured.iter().any(|one| !one.broken.is_empty() || one.not_again > 0 || one.restless > 0))
    }

    fn endure(
        &self,
        target: Target<'_>,
        trouble: &Trouble,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Endured> {
        let (program, scenario) = (target.prepared.program(), target.scenario);
        let trials = self.trials(target, self.seeds, |_| trouble.plan.clone(), interrupt)?;
        let mut endured = Endured {
            program: program.name.clone(),
            version: program.version.clone(),
            scenario: scenario.name.clone(),
            trouble: trouble.name.clone(),
            ..Endured::default()
        };
        let mut times = Vec::new();
        for trial in &trials {
            endured.tries += 1;
            endured.restless += u32::from(!trial.attempt.restless.is_empty());
            times.extend(trial.attempt.without);
            for rule in rules(&trial.attempt.broken()) {
                *endured.broken.entry(rule).or_default() += 1;
            }
            self.tell(target, trial)?;
        }
        endured.set_times(&times);
        Ok(endured)
    }

    fn show_endured(&self, endured: &[Endured], interrupt: &Interrupt) {
        if self.output.is_json() {
            for one in endured {
                let (median, most) = one.without_ms;
                let summary = json!({"kind": "summary", "program": one.program, "scenario": one.scenario,
                    "trouble": one.trouble, "tries": one.tries, "broken": one.broken, "restless": one.restless,
                    "not_again": one.not_again, "without_median_ms": median, "without_most_ms": most});
                println!("{}", interrupt.mark(summary));
            }
            return;
        }
        let head = ["program", "scenario", "trouble", "tries", "outcome", "without, median", "most"];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(endured.iter().map(|one| {
            let (median, most) = one.without_ms;
            let times = [median, most].map(|ms| format!("{:.1} s", ms as f64 / 1e3));
            let [median, most] = times;
            let (program, scenario, trouble) =
                (one.program.clone(), one.scenario.clone(), one.trouble.clone());
            [program, scenario, trouble, one.tries.to_string(), one.verdict(), median, most]
        }));
        println!("\n{}", text_table(&rows));
        interrupt.say(&format!("{} series of tries were made", endured.len()));
    }
}
