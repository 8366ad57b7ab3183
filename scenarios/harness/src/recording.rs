//! Recorded runs: a file with the plan and all choices, or the same as a one-word code.

use crate::plan::{Interference, Plan, Scheduling};
use crate::run::Run;
use crate::workload::{Lookup, Workload};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// A recorded run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Version of this format: 1.
    pub format: u32,
    /// For a regression: its description and the expected verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<Regression>,
    /// The name of the workload or mutant.
    #[serde(rename = "target")]
    pub workload: String,
    /// The plan.
    pub plan: Plan,
    /// The choices.
    pub choices: Vec<u16>,
    /// The hash of the run in hex; empty if unknown.
    #[serde(default)]
    pub hash: String,
}

/// The expected result of a regression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regression {
    /// A description.
    pub about: String,
    /// The expected verdict.
    pub verdict: Expected,
    /// The rule of the first finding, or the other kind of failure; empty if the run must pass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
}

/// An expected verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// No rule fails; unavoidable breaches are allowed.
    Pass,
    /// Evidence is missing: the run does not end.
    Unknown,
    /// A promise is broken.
    Fail,
}

/// Why a code or a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// It is neither a file nor a code.
    #[error("{0:?} is neither a file nor the code of a run")]
    Neither(String),
    /// The file cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(String, std::io::Error),
    /// The file is not a recorded run.
    #[error("{0} is not a recorded run: {1}")]
    NotARun(String, serde_json::Error),
    /// It was recorded by another version.
    #[error("the run has format {0}; this program reads format 1")]
    Form(u32),
    /// Its workload does not exist here.
    #[error("the run is of {0:?}, which does not exist here")]
    Workload(String),
    /// Its plan makes no sense.
    #[error("the run's plan: {0}")]
    Plan(#[from] crate::plan::PlanError),
}

impl Recording {
    /// Records a run.
    pub fn of(run: &Run) -> Recording {
        // Trailing zeros are left out: replay takes 0 where the list has ended.
        let used = run.choices.iter().rposition(|choice| *choice != 0).map_or(0, |last| last + 1);
        Recording {
            format: 1,
            regression: None,
            workload: run.workload.name.to_owned(),
            plan: run.plan.clone(),
            choices: run.choices[..used].to_vec(),
            hash: format!("{:032x}", run.hash),
        }
    }

    /// The code of the run.
    pub fn code(&self) -> String {
        let Recording { format, regression: _, workload, plan, choices, hash } = self;
        let Plan {
            servers,
            clients,
            rounds,
            timeout_ms,
            hostile_ms,
            faults,
            rates,
            interference,
            order,
            first_number,
        } = plan;
        let drawn = (servers, clients, rounds, timeout_ms, hostile_ms, faults, rates);
        let plain = "a recorded run is plain data";
        let mut bytes = postcard::to_allocvec(&(format, workload, drawn, choices, hash)).expect(plain);
        // Trailing parts that have their default value are left out.
        let (is_worn, is_untimed) = (*first_number != 0, !order.is_timed());
        if !interference.is_none() || is_untimed || is_worn {
            bytes.extend(postcard::to_allocvec(interference).expect(plain));
        }
        if is_untimed || is_worn {
            bytes.extend(postcard::to_allocvec(order).expect(plain));
        }
        if is_worn {
            bytes.extend(postcard::to_allocvec(first_number).expect(plain));
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The run as the text of a file: JSON, with the choices in lines.
    pub fn text(&self) -> String {
        let plain = Recording { choices: Vec::new(), ..self.clone() };
        let text = serde_json::to_string_pretty(&plain).expect("a recorded run is plain data");
        let mut rows: Vec<String> = Vec::new();
        for choice in self.choices.iter().map(u16::to_string) {
            match rows.last_mut() {
                Some(row) if row.len() + choice.len() < 100 => *row += &format!(", {choice}"),
                _ => rows.push(choice),
            }
        }
        let rows =
            if rows.is_empty() { String::new() } else { format!("\n    {}\n  ", rows.join(",\n    ")) };
        // Quotes within a text are escaped, so this pattern occurs nowhere else.
        text.replacen("\"choices\": []", &format!("\"choices\": [{rows}]"), 1) + "\n"
    }

    /// Decodes the output of [`Recording::code`]. Codes of runs without foreign clients, in timed order, or with
    /// numbers from 0 are shorter.
    fn decode(bytes: &[u8]) -> Option<Recording> {
        let (run, rest) = postcard::take_from_bytes(bytes).ok()?;
        let (format, workload, drawn, choices, hash) = run;
        let (servers, clients, rounds, timeout_ms, hostile_ms, faults, rates) = drawn;
        let (interference, rest) = last::<Interference>(rest)?;
        let (order, rest) = last::<Scheduling>(rest)?;
        let (first_number, _) = last::<i32>(rest)?;
        let plan = Plan {
            servers,
            clients,
            rounds,
            timeout_ms,
            hostile_ms,
            faults,
            rates,
            interference,
            order,
            first_number,
        };
        Some(Recording { format, regression: None, workload, plan, choices, hash })
    }

    /// Reads a file, or else a code, and finds its workload.
    ///
    /// # Errors
    ///
    /// If the argument is neither a recorded run nor its code, or this program cannot run it.
    pub fn read(code_or_file: &str, lookup: Lookup) -> Result<(Recording, &'static Workload), CodeError> {
        let path = std::path::Path::new(code_or_file);
        let recorded = if path.exists() {
            let text = std::fs::read_to_string(path)
                .map_err(|e| CodeError::Unreadable(code_or_file.to_owned(), e))?;
            serde_json::from_str(&text).map_err(|e| CodeError::NotARun(code_or_file.to_owned(), e))?
        } else {
            let neither = || CodeError::Neither(shorten(code_or_file));
            let bytes = URL_SAFE_NO_PAD.decode(code_or_file.trim()).map_err(|_| neither())?;
            Recording::decode(&bytes).ok_or_else(neither)?
        };
        if recorded.format != 1 {
            return Err(CodeError::Form(recorded.format));
        }
        recorded.plan.check()?;
        let workload = lookup(&recorded.workload);
        match workload {
            Some(workload) => Ok((recorded, workload)),
            None => Err(CodeError::Workload(recorded.workload)),
        }
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(37).chain("...".chars()).collect()
}

/// Reads the next part of a code, or takes its default if the code ends before it.
fn last<'a, T: Default + serde::Deserialize<'a>>(rest: &'a [u8]) -> Option<(T, &'a [u8])> {
    if rest.is_empty() { Some((T::default(), rest)) } else { postcard::take_from_bytes(rest).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{SAMPLE, find};

    #[test]
    fn a_code_reads_back_as_the_run_it_was_made_of() {
        let recorded = Recording {
            format: 1,
            regression: None,
            workload: "sample".into(),
            plan: Plan::drawn(3),
            choices: vec![0, 3, 255, 0, 7],
            hash: String::new(),
        };
        let interfered = recorded.plan.clone().with_interference(&[crate::plan::Act::Write], 0.1, 2);
        let untimed =
            Plan { order: Scheduling::Any { late_answers: false, overtaking: true }, ..Plan::calm() };
        let worn = Plan { first_number: i32::MAX, ..recorded.plan.clone() };
        for plan in [interfered, untimed, worn, recorded.plan.clone()] {
            let recorded = Recording { plan, ..recorded.clone() };
            let (back, workload) = Recording::read(&recorded.code(), find).expect("its own code");
            assert_eq!((&back, workload), (&recorded, &SAMPLE));
            assert_eq!(serde_json::from_str::<Recording>(&recorded.text()).expect("its own text"), recorded);
        }
    }

    #[test]
    fn a_code_without_interference_reads_back() {
        let code = "AQRsb2NrAQMC8C6w6gEAAAMAA_8BAA";
        let as_lock = |name: &str| (name == "lock").then_some(&SAMPLE);
        let (recorded, _) = Recording::read(code, as_lock).expect("it was written then");
        assert_eq!((recorded.plan, recorded.choices), (Plan::calm(), vec![0, 3, 255]));
    }

    #[test]
    fn nonsense_gets_one_sentence() {
        let error = Recording::read("no-such-thing", find).expect_err("nonsense").to_string();
        assert_eq!(error, r#""no-such-thing" is neither a file nor the code of a run"#);
    }
}
