//! The verdict on a history of foreign clients, from the rules and from the traffic.

use serde_json::{Value, json};
use std::fmt;
use zk_checker::history::History;
use zk_checker::jsonl::{Cut, Stored};
use zk_checker::wire::{self, WireReport};
use zk_checker::{Finding, Report, Row, RuleId, RuleSet, Verdict};

/// A judged history.
#[derive(Clone, Debug)]
pub struct Judged {
    report: Report,
    wire: WireReport,
    undecided: Vec<Undecided>,
    given_up: Vec<String>,
}

/// A promise that is broken if a program does nothing within the next second, or within a second after it learns that
/// its session is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The promise.
    pub rule: RuleId,
    /// The path of the object; empty for promises about the whole history.
    pub object: String,
}

impl Judged {
    pub(crate) fn new(report: Report, wire: WireReport, given_up: Vec<String>) -> Self {
        Judged { report, wire, undecided: Vec::new(), given_up }
    }

    /// The verdict on an unfinished history. `later` is the report if nothing happens for a moment: promises that only
    /// `later` finds broken are undecided, and so not excused.
    pub(crate) fn beside(mut self, later: &Report) -> Self {
        let is_open =
            |row: &&Row| row.verdict == Verdict::Fail && verdict_of(&self.report, row) != Verdict::Fail;
        let open: Vec<Row> = later.rows.iter().filter(is_open).copied().collect();
        self.undecided =
            open.iter().map(|row| Undecided { rule: row.rule, object: path_of(later, row) }).collect();
        self.without(&open)
    }

    /// Removes undecided promises from the report.
    fn without(mut self, open: &[Row]) -> Self {
        if open.is_empty() {
            return self;
        }
        let is_open = |rule, object| open.iter().any(|row| (row.rule, row.object) == (rule, object));
        self.report.findings.retain(|finding| !is_open(finding.rule, finding.object));
        for row in self.report.rows.iter_mut().filter(|row| is_open(row.rule, row.object)) {
            row.verdict = Verdict::Unknown;
        }
        let names: Vec<String> =
            self.undecided.iter().map(|one| format!("{} {}", one.rule, one.object)).collect();
        let more = self.report.unknown.take().map_or_else(String::new, |why| format!("; {why}"));
        self.report.unknown =
            Some(format!("not decided yet, ask again in a second: {}{more}", names.join(", ")));
        self
    }

    /// A judgement without a verdict, for a reason.
    pub(crate) fn none(why: &str) -> Self {
        let history = zk_checker::text::parse("run sim").expect("a history without events");
        let mut report = zk_checker::judge(&history, &RuleSet::all());
        report.unknown = Some(why.to_owned());
        Judged::new(report, wire::report(&history), Vec::new())
    }

    /// Judges a stored history of a served ensemble, as the ensemble itself did.
    pub fn stored(stored: &Stored) -> Self {
        let report = zk_checker::judge_stored(stored, &RuleSet::all());
        let wire = match &stored.cut {
            // Events of a damaged file may be wrong.
            Some(Cut::Damaged(_)) => wire::report(&History { events: Vec::new(), ..stored.history.clone() }),
            _ => wire::report(&stored.history),
        };
        Judged::new(report, wire, Vec::new())
    }

    /// The overall verdict.
    pub fn verdict(&self) -> Verdict {
        let is_broken = self.wire.findings.iter().any(|finding| !finding.possible);
        self.report.verdict().join(if is_broken { Verdict::Fail } else { Verdict::Vacuous })
    }

    /// The exit status of a program: 0, 1 for a broken promise, 2 if something could not be judged, 3 for a
    /// contradictory history.
    pub fn exit_status(&self) -> u8 {
        match self.verdict() {
            Verdict::Fail => 1,
            _ => self.report.exit_status(),
        }
    }

    /// The undecided promises.
    pub fn undecided(&self) -> &[Undecided] {
        &self.undecided
    }

    /// The sentences about abandoned work while the ensemble ran.
    pub fn given_up(&self) -> &[String] {
        &self.given_up
    }

    /// The report of the rules: ZooKeeper's guarantees, and the reports of programs.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The report of the traffic of the clients.
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
        let undecided = self
            .undecided
            .iter()
            .map(|one| json!({ "rule": one.rule.name(), "title": one.rule.title(), "object": one.object }));
        json!({
            "verdict": self.verdict().name(),
            "exit_status": self.exit_status(),
            "text": self.to_string(),
            "findings": of_rules.chain(of_wire).collect::<Vec<_>>(),
            "undecided": undecided.collect::<Vec<_>>(),
            "given_up": self.given_up,
            "wire": self.wire,
        })
    }
}

/// A report's verdict on the promise and the object of a row of another report.
fn verdict_of(report: &Report, row: &Row) -> Verdict {
    let same = |mine: &&Row| (mine.rule, mine.object) == (row.rule, row.object);
    report.rows.iter().find(same).map_or(Verdict::Vacuous, |mine| mine.verdict)
}

/// The path of the object of a row.
fn path_of(report: &Report, row: &Row) -> String {
    let of = |finding: &&Finding| (finding.rule, finding.object) == (row.rule, row.object);
    report.findings.iter().find(of).map_or_else(String::new, |finding| finding.path.clone())
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.verdict() != self.report.verdict() {
            writeln!(
                f,
                "{}, by the traffic on the wire\n\nrules: {}\n{}",
                self.verdict(),
                self.report,
                self.wire
            )?;
        } else {
            writeln!(f, "{}\n{}", self.report, self.wire)?;
        }
        self.given_up.iter().try_for_each(|what| writeln!(f, "given up: {what}"))
    }
}
