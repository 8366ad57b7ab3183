//! The judge: events of a history go in, and a report comes out.

use crate::black_box::{self, Collect};
use crate::claims::Claims;
use crate::explanation::explain;
use crate::findings::Finding;
use crate::findings::{Findings, Found};
use crate::history::{Event, Header, History, Mode, Tables};
use crate::jsonl::Cut;
use crate::report::{self, Report};
use crate::reports;
use crate::rule_id::{Layer, RuleId};
use crate::rule_set::RuleSet;
use crate::rules::Rules;
use crate::scene::Scene;
use crate::verdict::Verdict;
use crate::view::Taken;
use crate::view::View;

/// A judge of a run that is still going on.
///
/// The tables may grow between events; what they held before must stay.
pub struct Judge {
    on: RuleSet,
    view: View,
    rules: Rules,
    findings: Findings,
    events: u32,
    /// Whether the history contradicted itself: nothing is judged from there on.
    broken: bool,
    cut: Option<String>,
}

impl Judge {
    /// Creates a judge that has seen no event.
    pub fn new(tables: Tables<'_>, rules: &RuleSet) -> Judge {
        Judge {
            on: rules.clone(),
            view: View::new(tables, rules.has_layer(Layer::ZooKeeper)),
            rules: Rules::default(),
            findings: Findings::new(tables.objects.len(), rules),
            events: 0,
            broken: false,
            cut: None,
        }
    }

    /// Takes in the next event. Returns whether there is a finding.
    pub fn push(&mut self, tables: Tables<'_>, event: &Event) -> bool {
        let index = self.events;
        self.events += 1;
        if self.broken {
            return false;
        }
        let before = self.findings.all().len();
        if event.at > self.view.now.at {
            self.view.end_silent_holds(tables, event.at);
            let scene = Scene { view: &self.view, tables, index, at: event.at };
            self.rules.pass_time(&self.on, &scene, &mut self.findings);
        }
        self.view.now.index = index;
        match self.view.update(tables, event) {
            Ok(Taken::Judge) => {
                let scene = Scene { view: &self.view, tables, index, at: event.at };
                self.rules.event(&self.on, &scene, event, &mut self.findings);
            }
            Ok(Taken::Known) => {}
            Err(why) => {
                self.broken = true;
                let found = Found::new(RuleId::W, Verdict::Unknown, index);
                let scene = Scene { view: &self.view, tables, index, at: event.at };
                let text = explain(format!("e{index}: {why}"))
                    .because("the recorder has a bug; no event from here on is judged");
                self.findings.find(found, &scene, None, &[], text);
            }
        }
        self.findings.all().len() > before
    }

    /// Leaves out the next event, which is no evidence for this judge.
    fn skip(&mut self) {
        self.events += 1;
    }

    /// The findings so far, in the order in which they were found.
    pub fn findings(&self) -> &[Finding] {
        self.findings.all()
    }

    /// Notes that events are missing at the end: the report will be Unknown at least.
    pub fn cut(&mut self, why: impl Into<String>) {
        self.cut = Some(why.into());
    }

    /// Ends the history.
    pub fn finish(self, tables: Tables<'_>) -> Report {
        self.finish_with(tables, None)
    }

    /// Ends the history, and judges what clients saw.
    fn finish_with(mut self, tables: Tables<'_>, seen: Option<Collect>) -> Report {
        let mut black_boxes = Vec::new();
        if !self.broken && self.events > 0 {
            let index = self.events - 1;
            let scene = Scene { view: &self.view, tables, index, at: self.view.now.at };
            self.rules.finish(&self.on, &scene, &mut self.findings);
            self.findings.premise_of_all(RuleId::W);
            black_boxes = seen.map_or(black_boxes, |seen| black_box::judge(seen, &scene, &mut self.findings));
        }
        let rows = self.findings.rows(tables.objects, |rule| self.on.has(rule));
        let unproved = report::unproved(&rows, &self.on);
        self.findings.metrics.events = self.events as usize;
        let (findings, metrics) = self.findings.in_order();
        Report { rows, findings, metrics, unproved, unknown: self.cut, black_boxes }
    }
}

/// Judges a stored history: with a [`Judge`], and with the monitors of what clients saw, which need to know how a
/// call ended before it ended.
///
/// Objects of foreign programs ([`Manner::reported`](crate::history::Manner::reported)) are judged as in a capture, by what the
/// programs report and by what became of their sessions, and everything else by all evidence.
pub fn judge(history: &History, rules: &RuleSet) -> Report {
    judge_events(history, &history.events, rules, None)
}

/// Judges a history from a file. One that was cut off is never judged Pass; one that was damaged is not judged.
pub fn judge_stored(stored: &crate::jsonl::Stored, rules: &RuleSet) -> Report {
    let damaged = matches!(stored.cut, Some(Cut::Damaged(_)));
    let events = if damaged { &[] } else { stored.history.events.as_slice() };
    judge_events(&stored.history, events, rules, stored.cut.as_ref().map(ToString::to_string))
}

fn judge_events(history: &History, events: &[Event], rules: &RuleSet, cut: Option<String>) -> Report {
    let (mut all, mut reports) = (Fed::new(history.tables(), rules), reports::Reports::of(history));
    let header = Header { mode: Mode::Client, ..history.header.clone() };
    let tables = Tables { header: &header, ..history.tables() };
    let of_programs = rules.clone().without_layer(Layer::ZooKeeper);
    let mut reported =
        reports.as_ref().map(|_| Fed { claims: Some(Claims::default()), ..Fed::new(tables, &of_programs) });
    for event in events {
        let is_evidence = reports.as_mut().map_or((true, false), |reports| reports.is_evidence(event));
        all.take(event, is_evidence.0);
        if let Some(reported) = &mut reported {
            reported.take(event, is_evidence.1);
        }
    }
    all.judge.cut = cut;
    let report = all.finish();
    match reported {
        Some(reported) => report.with(reported.finish(), rules),
        None => report,
    }
}

/// A judge with the monitors of what clients saw.
struct Fed<'a> {
    tables: Tables<'a>,
    judge: Judge,
    seen: Collect,
    /// Of reports: what they come to beside all that happened.
    claims: Option<Claims>,
}

impl<'a> Fed<'a> {
    fn new(tables: Tables<'a>, rules: &RuleSet) -> Self {
        Fed { tables, judge: Judge::new(tables, rules), seen: Collect::new(rules), claims: None }
    }

    fn take(&mut self, event: &Event, is_evidence: bool) {
        let index = self.judge.events;
        if is_evidence {
            self.judge.push(self.tables, event);
        } else {
            self.judge.skip();
        }
        if self.judge.broken {
            return;
        }
        if is_evidence {
            self.seen.event(&self.judge.view, self.tables, index, event);
        }
        if let Some(claims) = &mut self.claims {
            let scene = Scene { view: &self.judge.view, tables: self.tables, index, at: event.at };
            claims.event(&scene, event, &mut self.judge.findings);
        }
    }

    fn finish(self) -> Report {
        self.judge.finish_with(self.tables, Some(self.seen))
    }
}
