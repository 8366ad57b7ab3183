//! The judge: takes the events of a history, and returns a report.

use crate::black_box::{self, Collect};
use crate::explanation::explain;
use crate::findings::Finding;
use crate::findings::{Findings, Ruling};
use crate::history::{Conn, Event, OpId, SessionState, Tables, What, Who};
use crate::kinds;
use crate::report::{self, Report};
use crate::rule_id::{Layer, RuleId};
use crate::rule_set::RuleSet;
use crate::rules::Rules;
use crate::scene::Scene;
use crate::verdict::Verdict;
use crate::view::Taken;
use crate::view::View;

/// A judge of a run that is still going on.
///
/// The tables may grow between events; entries must stay, except for texts that no later event can name
/// ([`Names::forget`](crate::history::Names::forget)).
#[derive(Clone)]
pub struct Judge {
    on: RuleSet,
    view: View,
    rules: Rules,
    findings: Findings,
    events: u32,
    /// Whether the history has contradicted itself: later events are not judged.
    broken: bool,
    cut: Option<String>,
}

impl Judge {
    /// Creates a judge that has seen no event.
    pub fn new(tables: Tables<'_>, rules: &RuleSet) -> Judge {
        Judge {
            on: rules.clone(),
            view: View::new(tables, rules.has_layer(Layer::ZooKeeper), kinds::protocol_of),
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
        self.pass_time(tables, index, event.at);
        self.view.now.index = index;
        match self.view.update(tables, event) {
            Ok(Taken::Judge) => {
                let scene = Scene { view: &self.view, tables, index, at: event.at };
                self.rules.event(&self.on, &scene, event, &mut self.findings);
            }
            Ok(Taken::Known) => {}
            Err(why) => {
                self.broken = true;
                let found = Ruling::new(RuleId::W, Verdict::Unknown, index);
                let scene = Scene { view: &self.view, tables, index, at: event.at };
                let text = explain(format!("e{index}: {why}"))
                    .because("the recorder has a bug; no event from here on is judged");
                self.findings.find(found, &scene, None, &[], text);
            }
        }
        self.findings.all().len() > before
    }

    /// Judges deadlines up to a time before which no other event occurs.
    pub(crate) fn wait(&mut self, tables: Tables<'_>, until: u64) {
        if !self.broken && self.events > 0 && until > self.view.now.at {
            self.pass_time(tables, self.events - 1, until);
            self.view.now.at = until;
        }
    }

    fn pass_time(&mut self, tables: Tables<'_>, index: u32, at: u64) {
        if at > self.view.now.at {
            self.view.end_silent_holds(tables, at);
            let scene = Scene { view: &self.view, tables, index, at };
            self.rules.pass_time(&self.on, &scene, &mut self.findings);
        }
    }

    /// Skips the next event, which is no evidence for this judge.
    pub(crate) fn skip(&mut self) {
        self.events += 1;
    }

    /// Whether the call of that number is known, and open or recent.
    pub(crate) fn knows(&self, op: OpId) -> bool {
        self.view.op(op).called.came()
    }

    /// The time of the last event, in microseconds.
    pub(crate) fn now(&self) -> u64 {
        self.view.now.at
    }

    /// The pending notices of session expiry: one for each client that can act, holds a belief, and has not learned of
    /// it.
    pub(crate) fn untold(&self) -> Vec<Event> {
        let believers = self.view.contests.iter().flat_map(|contest| &contest.believers);
        let news = believers.filter_map(|id| {
            let op = self.view.op(*id);
            let session = self.view.session(op.session);
            let is_untold = session.ended.came() && !session.known_over.came();
            let can_act = !self.view.client(op.client).is_paused() && !self.view.client(op.client).is_dead();
            let what =
                What::State { session: op.session, state: SessionState::Expired, conn: Conn(0), server: 0 };
            let (at, who) = (self.now(), Who::Client(op.client));
            (is_untold && can_act).then_some(Event { at, op: OpId(0), who, what })
        });
        let mut news: Vec<Event> = news.collect();
        news.dedup_by_key(|event| event.who);
        news
    }

    /// The number of events so far.
    pub(crate) fn events(&self) -> u32 {
        self.events
    }

    /// The scene at the last event; `None` if the history has contradicted itself.
    pub(crate) fn at_last<'a>(&'a mut self, tables: Tables<'a>) -> Option<(Scene<'a>, &'a mut Findings)> {
        let index = self.events.checked_sub(1)?;
        let scene = Scene { view: &self.view, tables, index, at: self.view.now.at };
        (!self.broken).then_some((scene, &mut self.findings))
    }

    /// The rules that are on.
    pub(crate) fn rules(&self) -> &RuleSet {
        &self.on
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

    /// Ends the history, and judges the clients' view.
    pub(crate) fn finish_with(mut self, tables: Tables<'_>, seen: Option<Collect>) -> Report {
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
        let (findings, metrics) = self.findings.in_order(tables);
        Report { rows, findings, metrics, unproved, unknown: self.cut, black_boxes }
    }
}
