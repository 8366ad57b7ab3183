//! What the rules and the wire say of a history of foreign clients.

use crate::recorder::Recorded;
use serde_json::{Value, json};
use std::fmt;
use zk_checker::history::History;
use zk_checker::jsonl::{Cut, Stored};
use zk_checker::wire::{self, WireReport};
use zk_checker::{Report, RuleSet, Verdict};

/// A judged history.
#[derive(Clone, Debug)]
pub struct Judged {
    report: Report,
    wire: WireReport,
}

impl Judged {
    pub(crate) fn new(recorded: &Recorded) -> Self {
        let mut report = zk_checker::judge(&recorded.history, &RuleSet::all());
        // The rules hold for what was seen; the rest was not.
        report.unknown = recorded.full.clone().map(|why| format!("the end is missing: {why}"));
        Judged { report, wire: wire::report(&recorded.history) }
    }

    /// Judges the history of a served ensemble from a file, as the ensemble itself did.
    pub fn stored(stored: &Stored) -> Self {
        let report = zk_checker::judge_stored(stored, &RuleSet::all());
        let wire = match &stored.cut {
            // Its events may be wrong.
            Some(Cut::Damaged(_)) => wire::report(&History { events: Vec::new(), ..stored.history.clone() }),
            _ => wire::report(&stored.history),
        };
        Judged { report, wire }
    }

    /// The verdict on everything.
    pub fn verdict(&self) -> Verdict {
        let is_broken = self.wire.findings.iter().any(|finding| !finding.possible);
        self.report.verdict().join(if is_broken { Verdict::Fail } else { Verdict::Vacuous })
    }

    /// The exit status of a program: 0, 1 for a broken promise, 2 if something could not be judged, 3 if the history contradicts
    /// itself.
    pub fn exit_status(&self) -> u8 {
        match self.verdict() {
            Verdict::Fail => 1,
            _ => self.report.exit_status(),
        }
    }

    /// The report of the rules: ZooKeeper's guarantees, and what programs reported.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What the traffic of the clients shows.
    pub fn wire(&self) -> &WireReport {
        &self.wire
    }

    /// The answer of the control API.
    pub(crate) fn answer(&self) -> Value {
        let of_rules = self.report.findings.iter().map(|finding| {
            json!({
                "rule": finding.rule.name(),
                "title": finding.rule.title(),
                "object": finding.path,
                "verdict": finding.verdict.name(),
                "text": finding.text,
            })
        });
        let of_wire = self.wire.findings.iter().map(|finding| {
            json!({
                "rule": finding.rule.name(),
                "title": finding.title,
                "object": finding.directory,
                "verdict": if finding.possible { Verdict::Unknown } else { Verdict::Fail }.name(),
                "text": finding.text,
            })
        });
        json!({
            "verdict": self.verdict().name(),
            "exit_status": self.exit_status(),
            "text": self.to_string(),
            "findings": of_rules.chain(of_wire).collect::<Vec<_>>(),
            "wire": self.wire,
        })
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.verdict() != self.report.verdict() {
            writeln!(f, "{}, by what is on the wire\n\nrules: {}\n{}", self.verdict(), self.report, self.wire)
        } else {
            writeln!(f, "{}\n{}", self.report, self.wire)
        }
    }
}
