//! The findings of rules, with the counts that go into a report.

use crate::explanation::Explanation;
use crate::history::{Object, ObjectId, Tables};
use crate::metrics::{Metrics, Probe};
use crate::rule_id::{Layer, RuleId};
use crate::rule_set::RuleSet;
use crate::scene::Scene;
use crate::verdict::Verdict;
use std::fmt;

/// A promise that was broken, or a breach that is excused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The promise.
    pub rule: RuleId,
    /// The object, if the promise is about one.
    pub object: Option<ObjectId>,
    /// [`Verdict::Fail`], [`Verdict::Unavoidable`] or [`Verdict::Unknown`].
    pub verdict: Verdict,
    /// The layer.
    pub layer: Layer,
    /// The event at which the promise became false: an index into the events.
    pub position: usize,
    /// The events that prove it.
    pub witnesses: Vec<usize>,
    /// Whether a finding of a deeper layer, at this position or before, may explain it.
    pub secondary: bool,
    /// The path of the object.
    pub path: String,
    /// The explanation: the breach, its causes, and why it is (not) excused; lines of less than 100 columns.
    pub text: String,
    /// The [shape](crate::shape) of that text, in a report: findings of a rule with the same shape differ only by names, numbers
    /// and times.
    pub shape: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<5} {}  {}", self.rule, self.rule.title(), self.path)?;
        self.text.lines().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// One promise of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The promise.
    pub rule: RuleId,
    /// The object; none for promises about the whole history.
    pub object: Option<ObjectId>,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of tests of the promise.
    pub premises: u32,
    /// The number of findings, including those that were not kept.
    pub findings: u32,
}

/// The number of findings that are kept for each rule; further ones are only counted.
const KEPT: u32 = 16;

#[derive(Clone, Copy, Default)]
struct Cell {
    premises: u32,
    findings: u32,
    verdict: Verdict,
}

/// The initial cells of an object.
const NEW: [Cell; RuleId::COUNT] =
    [Cell { premises: 0, findings: 0, verdict: Verdict::Vacuous }; RuleId::COUNT];

/// Premises, findings and counts.
#[derive(Clone)]
pub(crate) struct Findings {
    /// By object plus one; the first is the whole history.
    cells: Vec<[Cell; RuleId::COUNT]>,
    findings: Vec<Finding>,
    kept: [u32; RuleId::COUNT],
    pub(crate) metrics: Metrics,
    /// The rules that are on: findings of other rules are dropped.
    on: RuleSet,
}

impl Findings {
    pub(crate) fn new(objects: usize, on: &RuleSet) -> Findings {
        Findings {
            cells: vec![NEW; objects + 1],
            findings: Vec::new(),
            kept: [0; RuleId::COUNT],
            metrics: Metrics::default(),
            on: on.clone(),
        }
    }

    fn cell(&mut self, rule: RuleId, object: Option<ObjectId>) -> &mut Cell {
        let at = object.map_or(0, |object| usize::from(object.0) + 1);
        if self.cells.len() <= at {
            self.cells.resize(at + 1, NEW);
        }
        &mut self.cells[at][rule as usize]
    }

    /// Counts a test of a promise.
    pub(crate) fn premise(&mut self, rule: RuleId, object: ObjectId) {
        self.cell(rule, Some(object)).premises += 1;
    }

    /// Counts a test of a promise about the whole history.
    pub(crate) fn premise_of_all(&mut self, rule: RuleId) {
        self.cells[0][rule as usize].premises += 1;
    }

    /// Notes that evidence about a promise is missing.
    pub(crate) fn unknown(&mut self, rule: RuleId, object: ObjectId) {
        let cell = self.cell(rule, Some(object));
        cell.verdict = cell.verdict.join(Verdict::Unknown);
    }

    /// Adds a promise that is broken at the current event.
    pub(crate) fn fail(
        &mut self,
        rule: RuleId,
        scene: &Scene<'_>,
        object: ObjectId,
        seen: &[u32],
        text: Explanation,
    ) {
        self.find(Ruling::fail(rule, scene.index), scene, Some(object), seen, text);
    }

    /// Like [`fail`](Findings::fail), and counts a leak.
    pub(crate) fn leak(
        &mut self,
        rule: RuleId,
        scene: &Scene<'_>,
        object: ObjectId,
        seen: &[u32],
        text: Explanation,
    ) {
        self.metrics.leaks += 1;
        self.fail(rule, scene, object, seen, text);
    }

    /// Like [`fail`](Findings::fail), in another layer than the rule's.
    pub(crate) fn fail_in(
        &mut self,
        layer: Layer,
        rule: RuleId,
        scene: &Scene<'_>,
        object: ObjectId,
        seen: &[u32],
        text: Explanation,
    ) {
        let found = Ruling { layer, ..Ruling::fail(rule, scene.index) };
        self.find(found, scene, Some(object), seen, text);
    }

    /// Adds a promise about the whole history that is broken at the current event.
    pub(crate) fn fail_all(&mut self, rule: RuleId, scene: &Scene<'_>, seen: &[u32], text: Explanation) {
        self.find(Ruling::fail(rule, scene.index), scene, None, seen, text);
    }

    /// Counts a probe that was reached.
    pub(crate) fn reach(&mut self, probe: Probe) {
        self.metrics.reached[probe as usize] += 1;
    }

    /// Counts a finding, which then needs no explanation, if enough findings of its rule were kept. Returns whether it did.
    pub(crate) fn only_counts(&mut self, rule: RuleId, object: ObjectId) -> bool {
        let enough = self.kept[rule as usize] >= KEPT;
        if enough && self.on.has(rule) {
            self.count(rule, Verdict::Fail, Some(object));
        }
        enough
    }

    fn count(&mut self, rule: RuleId, verdict: Verdict, object: Option<ObjectId>) {
        let cell = self.cell(rule, object);
        cell.premises = cell.premises.max(1);
        cell.findings += 1;
        cell.verdict = cell.verdict.join(verdict);
    }

    pub(crate) fn find(
        &mut self,
        found: Ruling,
        scene: &Scene<'_>,
        object: Option<ObjectId>,
        seen: &[u32],
        text: Explanation,
    ) {
        let Ruling { rule, verdict, layer, at } = found;
        let of = object.and_then(|object| scene.tables.objects.get(usize::from(object.0)));
        if !self.on.has(rule) || of.is_some_and(|of| !rule.is_judged_of(of)) {
            return;
        }
        self.count(rule, verdict, object);
        if self.kept[rule as usize] >= KEPT {
            return;
        }
        self.kept[rule as usize] += 1;
        let mut witnesses: Vec<usize> =
            seen.iter().filter(|seen| **seen != u32::MAX).map(|seen| *seen as usize).collect();
        witnesses.push(at as usize);
        witnesses.sort_unstable();
        witnesses.dedup();
        let path = of.and_then(|object| scene.tables.names.get(object.path)).unwrap_or_default();
        let text = text.text();
        self.findings.push(Finding {
            rule,
            object,
            verdict,
            layer,
            position: at as usize,
            witnesses,
            secondary: false,
            path: path.to_owned(),
            // Names may still be declared after this event, so the shape is computed at the end.
            shape: String::new(),
            text,
        });
    }

    /// Whether there are findings about an object that were not kept.
    pub(crate) fn has_more(&self, object: ObjectId) -> bool {
        let cells = self.cells.get(usize::from(object.0) + 1);
        let found = |(cell, kept): (&Cell, &u32)| cell.findings > 0 && *kept >= KEPT;
        cells.is_some_and(|cells| cells.iter().zip(&self.kept).any(found))
    }

    /// The findings so far, in the order in which they were found.
    pub(crate) fn all(&self) -> &[Finding] {
        &self.findings
    }

    /// One row for each rule and object.
    pub(crate) fn rows(&self, objects: &[Object], is_on: impl Fn(RuleId) -> bool) -> Vec<Row> {
        let mut rows = Vec::new();
        for rule in RuleId::ALL.iter().copied().filter(|rule| is_on(*rule)) {
            for (at, cells) in self.cells.iter().enumerate() {
                let of = at.checked_sub(1).and_then(|at| objects.get(at));
                let concerns = match of {
                    None => rule.layer() <= Layer::ZooKeeper,
                    Some(object) => rule.judges(object),
                };
                if !concerns {
                    continue;
                }
                let Cell { premises, findings, verdict } = cells[rule as usize];
                let passed = if premises > 0 { Verdict::Pass } else { Verdict::Vacuous };
                let object = at.checked_sub(1).map(|at| ObjectId(at as u16));
                rows.push(Row { rule, object, verdict: verdict.join(passed), premises, findings });
            }
        }
        rows
    }

    /// The findings in the order of a report, *the* finding first.
    pub(crate) fn in_order(mut self, tables: Tables<'_>) -> (Vec<Finding>, Metrics) {
        self.findings
            .iter_mut()
            .for_each(|finding| finding.shape = crate::shape::shape(tables, &finding.text));
        (in_order(self.findings), self.metrics)
    }
}

/// Findings in the order of a report, *the* finding first.
pub(crate) fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    let layers: Vec<(Layer, usize)> = findings
        .iter()
        .filter(|f| f.verdict == Verdict::Fail || f.rule == RuleId::W)
        .map(|f| (f.layer, f.position))
        .collect();
    for finding in &mut findings {
        finding.secondary =
            layers.iter().any(|(layer, at)| *layer < finding.layer && *at <= finding.position);
    }
    findings.sort_by_key(|f| {
        (
            std::cmp::Reverse(f.verdict),
            f.secondary,
            f.position,
            f.layer,
            !f.rule.names_wrong_step(),
            f.rule.generality(),
            f.rule,
            f.object,
        )
    });
    findings
}

/// A verdict on a rule, and the event at which it became certain.
#[derive(Clone)]
pub(crate) struct Ruling {
    rule: RuleId,
    verdict: Verdict,
    layer: Layer,
    at: u32,
}

impl Ruling {
    pub(crate) fn new(rule: RuleId, verdict: Verdict, at: u32) -> Ruling {
        Ruling { rule, verdict, layer: rule.layer(), at }
    }

    /// A promise that is broken at an event.
    pub(crate) fn fail(rule: RuleId, at: u32) -> Ruling {
        Ruling::new(rule, Verdict::Fail, at)
    }

    /// A breach at an event that no correct program could have avoided.
    pub(crate) fn unavoidable(rule: RuleId, at: u32) -> Ruling {
        Ruling::new(rule, Verdict::Unavoidable, at)
    }

    /// The same finding in another layer than the rule's.
    pub(crate) fn in_layer(self, layer: Layer) -> Ruling {
        Ruling { layer, ..self }
    }
}
