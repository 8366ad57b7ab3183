//! The judge: a history goes in, event by event, and a report comes out.

use crate::black_box::{self, Collect};
use crate::history::{Event, History, Tables};
use crate::jsonl::Cut;
use crate::report::{Finding, Report};
use crate::rules::Rules;
use crate::sink::{Found, Scene, Sink, Story};
use crate::verdict::{Layer, RuleId, Verdict};
use crate::view::Taken;
use crate::view::View;

/// Which promises are judged, and which of them must have been put to the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSet {
    on: [bool; RuleId::COUNT],
    required: [bool; RuleId::COUNT],
}

impl RuleSet {
    /// All promises; none is required.
    pub fn all() -> RuleSet {
        RuleSet { on: [true; RuleId::COUNT], required: [false; RuleId::COUNT] }
    }

    /// None but these (and that the history is well-formed, which is always judged).
    pub fn only(rules: &[RuleId]) -> RuleSet {
        let mut set = RuleSet { on: [false; RuleId::COUNT], ..RuleSet::all() };
        rules.iter().for_each(|rule| set.on[*rule as usize] = true);
        set.on[RuleId::W as usize] = true;
        set
    }

    /// The promises that can be judged by calls, returns, beliefs and deliveries alone: exclusion, barriers, agreement, queues,
    /// and that nobody is woken for nothing.
    pub fn black_box() -> RuleSet {
        use RuleId::*;
        RuleSet::only(&[
            Mx1, Mx2, Mx3, Mx8, Mx14, Rw1, Le1, Le5, Le9, Ba1, Db1, Db2, Db3, Db4, Qu1, Qu2, Qu3, Qu4, Tc1,
            Tc2, Tc3, Tc4, Tc5, Mx13, Rw5, Rv4, Le7, Ba3, Db8, Qu7, Tc12, Gm7, Cf8,
        ])
    }

    /// Without one of them.
    #[must_use]
    pub fn without(mut self, rule: RuleId) -> RuleSet {
        self.on[rule as usize] = rule == RuleId::W;
        self
    }

    /// With one of them required: a run that never puts it to the test proves nothing.
    #[must_use]
    pub fn requiring(mut self, rule: RuleId) -> RuleSet {
        self.on[rule as usize] = true;
        self.required[rule as usize] = true;
        self
    }

    /// Without all of a layer: without [`Layer::ZooKeeper`] a simulation is judged faster.
    #[must_use]
    pub fn without_layer(self, layer: Layer) -> RuleSet {
        RuleId::ALL.iter().filter(|rule| rule.layer() == layer).fold(self, |set, rule| set.without(*rule))
    }

    /// Whether a rule of a layer is on.
    pub fn has_layer(&self, layer: Layer) -> bool {
        match layer {
            Layer::ZooKeeper => (RuleId::Zk1 as usize..=RuleId::Zk14 as usize).any(|rule| self.on[rule]),
            _ => RuleId::ALL.iter().any(|rule| rule.layer() == layer && self.has(*rule)),
        }
    }

    /// Whether a rule is on.
    pub fn has(&self, rule: RuleId) -> bool {
        self.on[rule as usize]
    }

    /// Whether a rule is required.
    pub fn requires(&self, rule: RuleId) -> bool {
        self.required[rule as usize]
    }
}

impl Default for RuleSet {
    fn default() -> RuleSet {
        RuleSet::all()
    }
}

/// Judges while a run goes on.
///
/// The tables may grow between events; what they held before must stay.
pub struct Judge {
    on: RuleSet,
    view: View,
    rules: Rules,
    sink: Sink,
    events: u32,
    /// The history contradicted itself: nothing is judged from there on.
    broken: bool,
    cut: Option<String>,
}

impl Judge {
    /// A judge that has seen nothing.
    pub fn new(tables: Tables<'_>, rules: &RuleSet) -> Judge {
        Judge {
            on: rules.clone(),
            view: View::new(tables, rules.has_layer(Layer::ZooKeeper)),
            rules: Rules::default(),
            sink: Sink::new(tables.objects.len(), rules),
            events: 0,
            broken: false,
            cut: None,
        }
    }

    /// Takes in the next event. True if something was found.
    pub fn push(&mut self, tables: Tables<'_>, event: &Event) -> bool {
        let index = self.events;
        self.events += 1;
        if self.broken {
            return false;
        }
        let before = self.sink.findings().len();
        if event.at > self.view.now.at {
            let scene = Scene { view: &self.view, tables, index, at: event.at };
            self.rules.pass_time(&self.on, &scene, &mut self.sink);
        }
        self.view.now.index = index;
        match self.view.update(tables, event) {
            Ok(Taken::Judge) => {
                let scene = Scene { view: &self.view, tables, index, at: event.at };
                self.rules.event(&self.on, &scene, event, &mut self.sink);
            }
            Ok(Taken::Known) => {}
            Err(why) => {
                self.broken = true;
                let found =
                    Found { rule: RuleId::W, verdict: Verdict::Unknown, layer: RuleId::W.layer(), at: index };
                let scene = Scene { view: &self.view, tables, index, at: event.at };
                let story = Story::new(format!("e{index}: {why}"))
                    .because("whatever recorded this is broken; nothing is judged from here on");
                self.sink.find(found, &scene, None, &[], story);
            }
        }
        self.sink.findings().len() > before
    }

    /// What was found so far, in the order of finding.
    pub fn findings(&self) -> &[Finding] {
        self.sink.findings()
    }

    /// Says that what follows is missing: the report will be Unknown at least.
    pub fn cut(&mut self, why: impl Into<String>) {
        self.cut = Some(why.into());
    }

    /// Nothing follows.
    pub fn finish(self, tables: Tables<'_>) -> Report {
        self.finish_with(tables, None)
    }

    /// The same, with what clients saw.
    fn finish_with(mut self, tables: Tables<'_>, seen: Option<Collect>) -> Report {
        let mut black_boxes = Vec::new();
        if !self.broken && self.events > 0 {
            let index = self.events - 1;
            let scene = Scene { view: &self.view, tables, index, at: self.view.now.at };
            self.rules.finish(&self.on, &scene, &mut self.sink);
            self.sink.premise_of_all(RuleId::W);
            black_boxes = seen.map_or(black_boxes, |seen| black_box::judge(seen, &scene, &mut self.sink));
        }
        let rows = self.sink.rows(tables.objects, |rule| self.on.has(rule));
        let is_vacuous = |rule: &RuleId| {
            rows.iter().filter(|row| row.rule == *rule).all(|row| row.verdict == Verdict::Vacuous)
        };
        let required = RuleId::ALL.iter().copied().filter(|rule| self.on.requires(*rule));
        let unproved = required.filter(is_vacuous).collect();
        self.sink.metrics.events = self.events as usize;
        let (findings, metrics) = self.sink.into_findings();
        Report { rows, findings, metrics, unproved, unknown: self.cut, black_boxes }
    }
}

/// Judges a stored history: with a [`Judge`], and then what clients saw of each object, which needs to know how a call ended
/// before it ended.
pub fn judge(history: &History, rules: &RuleSet) -> Report {
    let (judge, seen) = told(history, &history.events, rules);
    judge.finish_with(history.tables(), Some(seen))
}

/// Judges what was read from a file: one that was cut off is never judged Pass, and one that was damaged accuses nobody.
pub fn judge_stored(stored: &crate::jsonl::Stored, rules: &RuleSet) -> Report {
    let damaged = matches!(stored.cut, Some(Cut::Damaged(_)));
    let events = if damaged { &[] } else { stored.history.events.as_slice() };
    let (mut judge, seen) = told(&stored.history, events, rules);
    if let Some(cut) = &stored.cut {
        judge.cut(cut.to_string());
    }
    judge.finish_with(stored.history.tables(), Some(seen))
}

/// A judge that has been told everything.
fn told(history: &History, events: &[Event], rules: &RuleSet) -> (Judge, Collect) {
    let tables = history.tables();
    let (mut judge, mut seen) = (Judge::new(tables, rules), Collect::new(rules));
    for event in events {
        let index = judge.events;
        judge.push(tables, event);
        if !judge.broken {
            seen.event(&judge.view, tables, index, event);
        }
    }
    (judge, seen)
}
