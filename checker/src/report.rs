//! The report of a judge.

use crate::black_box::BlackBox;
use crate::explanation::in_lines;
use crate::findings::{Finding, Row, in_order};
use crate::metrics::{Metrics, Probe};
use crate::rule_id::RuleId;
use crate::rule_set::RuleSet;
use crate::shape::{and_alike, first_of_each};
use crate::verdict::Verdict;
use std::fmt;

/// The verdicts and findings about a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// One row for each rule that was on and each object.
    pub rows: Vec<Row>,
    /// The findings; the first one is *the* finding, the others accompany it. At most sixteen for each rule.
    pub findings: Vec<Finding>,
    /// The counts of the run.
    pub metrics: Metrics,
    /// Required rules that were never put to the test.
    pub unproved: Vec<RuleId>,
    /// The reason why evidence is missing, if it is: the history was cut off, or ended too early.
    pub unknown: Option<String>,
    /// The clients' view of each object that has a [monitor](crate::monitor), with its verdict. Only of complete
    /// histories.
    pub black_boxes: Vec<BlackBox>,
}

impl Report {
    /// Merges the report of another judge of other events of the same history.
    pub(crate) fn with(mut self, other: Report, rules: &RuleSet) -> Report {
        for row in other.rows {
            match self.rows.iter_mut().find(|mine| (mine.rule, mine.object) == (row.rule, row.object)) {
                Some(mine) => {
                    mine.verdict = mine.verdict.join(row.verdict);
                    mine.premises += row.premises;
                    mine.findings += row.findings;
                }
                None => self.rows.push(row),
            }
        }
        self.findings = in_order(self.findings.into_iter().chain(other.findings).collect());
        self.metrics.grants += other.metrics.grants;
        self.metrics.waits += other.metrics.waits;
        self.metrics.zombies += other.metrics.zombies;
        self.metrics.longest_zombie = self.metrics.longest_zombie.max(other.metrics.longest_zombie);
        self.black_boxes.extend(other.black_boxes);
        self.unproved = unproved(&self.rows, rules);
        self
    }

    /// The verdict on the whole history: the largest of all.
    pub fn verdict(&self) -> Verdict {
        let unknown = if self.unknown.is_some() { Verdict::Unknown } else { Verdict::Vacuous };
        self.rows.iter().fold(unknown, |verdict, row| verdict.join(row.verdict))
    }

    /// The verdict of one rule over all objects.
    pub fn of(&self, rule: RuleId) -> Verdict {
        self.rows
            .iter()
            .filter(|row| row.rule == rule)
            .fold(Verdict::Vacuous, |all, row| all.join(row.verdict))
    }

    /// *The* finding: the earliest broken promise that no finding of a deeper layer explains.
    pub fn first(&self) -> Option<&Finding> {
        self.findings.first().filter(|finding| finding.verdict == Verdict::Fail)
    }

    /// The first kept finding of each kind, with the number of further kept ones that differ from it only by names,
    /// numbers and times.
    pub fn first_of_each(&self) -> Vec<(&Finding, usize)> {
        first_of_each(&self.findings, |one| (one.rule, one.verdict, one.shape.clone()))
    }

    /// The rules with findings that were counted and not kept, with the number of these.
    fn not_kept(&self) -> Vec<(RuleId, u32)> {
        let all =
            |rule: &RuleId| self.rows.iter().filter(|row| row.rule == *rule).map(|row| row.findings).sum();
        let kept = |rule: &RuleId| self.findings.iter().filter(|one| one.rule == *rule).count() as u32;
        let more = |rule: &RuleId| u32::saturating_sub(all(rule), kept(rule));
        RuleId::ALL.iter().map(|rule| (*rule, more(rule))).filter(|(_, more)| *more > 0).collect()
    }

    /// Whether the history contradicts itself: then its recorder is broken.
    pub fn is_malformed(&self) -> bool {
        self.rows.iter().any(|row| row.rule == RuleId::W && row.verdict == Verdict::Unknown)
    }

    /// The exit status for a program: 0 up to Unavoidable, 1 for Fail, 2 for Unknown or a required rule that was
    /// never put to the test, 3 for a malformed history.
    pub fn exit_status(&self) -> u8 {
        match self.verdict() {
            _ if self.is_malformed() => 3,
            Verdict::Fail => 1,
            Verdict::Unknown => 2,
            _ if !self.unproved.is_empty() => 2,
            Verdict::Vacuous | Verdict::Pass | Verdict::Unavoidable => 0,
        }
    }
}

/// The required rules that were never put to the test.
pub(crate) fn unproved(rows: &[Row], rules: &RuleSet) -> Vec<RuleId> {
    let is_vacuous = |rule: &RuleId| {
        rows.iter().filter(|row| row.rule == *rule).all(|row| row.verdict == Verdict::Vacuous)
    };
    RuleId::ALL.iter().copied().filter(|rule| rules.requires(*rule)).filter(is_vacuous).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verdict())?;
        if let Some(why) = &self.unknown {
            write!(f, ": {why}")?;
        }
        writeln!(f)?;
        for (at, (finding, alike)) in self.first_of_each().into_iter().enumerate() {
            if at == 1 {
                writeln!(f, "\nand with it")?;
            }
            writeln!(f)?;
            finding.fmt(f)?;
            if alike > 0 {
                writeln!(f, "  {}", and_alike(finding.rule.name(), alike))?;
            }
        }
        self.not_kept().iter().try_for_each(|(rule, count)| {
            writeln!(f, "\n{count} more of {rule} were counted, and are not kept")
        })?;
        let names = |verdict| {
            let of =
                |rule: &&RuleId| self.of(**rule) == verdict && self.rows.iter().any(|r| r.rule == **rule);
            RuleId::ALL.iter().filter(of).map(|rule| rule.name()).collect::<Vec<_>>().join(" ")
        };
        writeln!(f)?;
        for verdict in
            [Verdict::Fail, Verdict::Unknown, Verdict::Unavoidable, Verdict::Pass, Verdict::Vacuous]
        {
            let names = names(verdict);
            if !names.is_empty() {
                f.write_str(&in_lines(&format!("{verdict:<8} "), &names))?;
            }
        }
        if !self.unproved.is_empty() {
            let names: Vec<_> = self.unproved.iter().map(|rule| rule.name()).collect();
            writeln!(f, "required, and never tested: {}", names.join(" "))?;
        }
        let m = &self.metrics;
        writeln!(
            f,
            "{} events: {} grants, {} waits, {} requests (+{} of clean-up), {} notifications, herd index {}",
            m.events, m.grants, m.waits, m.requests, m.cleanup_requests, m.notifications, m.herd_index
        )?;
        let reached: Vec<_> = Probe::ALL.iter().filter(|probe| m.reached(**probe) > 0).collect();
        if !reached.is_empty() {
            writeln!(f, "reached:")?;
        }
        reached.iter().try_for_each(|probe| writeln!(f, "  {} × {}", m.reached(**probe), probe.name()))
    }
}
