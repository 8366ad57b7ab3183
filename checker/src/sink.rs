//! Where rules put what they find.

use crate::history::{Kind, Object, ObjectId, OpId, Session, Sym, Tables};
use crate::metrics::{Metrics, Probe};
use crate::rule_id::{Layer, RuleId};
use crate::rule_set::RuleSet;
use crate::verdict::Verdict;
use crate::view::{Moment, View};
use std::fmt;

/// A promise that was broken, or a breach that is excused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which promise.
    pub rule: RuleId,
    /// Of which object, if of one.
    pub object: Option<ObjectId>,
    /// [`Verdict::Fail`], [`Verdict::Inherent`] or [`Verdict::Unknown`].
    pub verdict: Verdict,
    /// In which layer.
    pub layer: Layer,
    /// The event at which it became false: an index into the events.
    pub position: usize,
    /// The events that prove it.
    pub witnesses: Vec<usize>,
    /// Whether a finding of a deeper layer, at this position or before, may be the reason.
    pub secondary: bool,
    /// The path of the object.
    pub path: String,
    /// Who and when, because of what, and why it is (not) excused: lines of less than 100 columns.
    pub text: String,
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
    /// Which promise.
    pub rule: RuleId,
    /// Of which object; none for promises about the whole history.
    pub object: Option<ObjectId>,
    /// How it stands.
    pub verdict: Verdict,
    /// How often it was put to the test.
    pub premises: u32,
    /// How many findings there were, also those that were not kept.
    pub findings: u32,
}

/// Findings of a rule that are kept; the others are counted.
const KEPT: u32 = 16;

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) view: &'a View,
    pub(crate) tables: Tables<'a>,
    /// The event in hand.
    pub(crate) index: u32,
    /// Its time.
    pub(crate) at: u64,
}

/// The names of things, for the texts of findings.
impl Scene<'_> {
    pub(crate) fn client(&self, number: u16) -> String {
        crate::parties::client(self.tables.header, number)
    }

    /// The name that a promise of all that stand in line has for this object.
    pub(crate) fn rule(&self, rule: RuleId, object: ObjectId) -> RuleId {
        rule.of_kind(self.kind(object))
    }

    pub(crate) fn kind(&self, object: ObjectId) -> Kind {
        self.tables.objects[usize::from(object.0)].kind
    }

    /// The client of an operation.
    pub(crate) fn party(&self, op: OpId) -> String {
        self.client(self.view.op(op).client)
    }

    /// A moment: `e12 (0.550)`.
    pub(crate) fn when(&self, moment: Moment) -> String {
        format!("e{} ({})", moment.index, crate::text::seconds(moment.at))
    }

    pub(crate) fn path(&self, sym: Sym) -> String {
        shorten(self.tables.names.get(sym).unwrap_or("?"))
    }

    /// The last part of a path.
    pub(crate) fn znode(&self, sym: Sym) -> String {
        let path = self.tables.names.get(sym).unwrap_or("?");
        shorten(path.rsplit('/').next().unwrap_or(path))
    }

    /// The znode of a contender, with its czxid.
    pub(crate) fn place(&self, contender: u32) -> String {
        match self.view.contender(contender) {
            Some(c) => format!("{} ({:#x})", self.znode(c.path), c.czxid),
            None => "no znode".to_owned(),
        }
    }

    pub(crate) fn session(&self, session: Session) -> String {
        match session {
            Session(0) => "nobody".to_owned(),
            Session(number) => format!("session s{number}"),
        }
    }
}

/// Milliseconds, for eyes.
pub(crate) fn ms(micros: u64) -> String {
    match (micros / 1000, micros % 1000) {
        (whole, 0) => format!("{whole} ms"),
        (whole, part) => format!("{whole}.{part:03} ms"),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth_back(39) {
        Some((at, _)) if at > 0 => format!("…{}", &text[at..]),
        _ => text.to_owned(),
    }
}

/// What a finding says: who and when, because of what, and why it is or is not excused.
#[derive(Default)]
pub(crate) struct Story {
    lines: Vec<(&'static str, String)>,
}

impl Story {
    pub(crate) fn new(what: impl Into<String>) -> Story {
        Story { lines: vec![("", what.into())] }
    }

    pub(crate) fn because(mut self, why: impl Into<String>) -> Story {
        let first = self.lines.iter().all(|(head, _)| head.is_empty());
        self.lines.push((if first { "because  " } else { "and      " }, why.into()));
        self
    }

    pub(crate) fn not_excused(mut self, why: impl Into<String>) -> Story {
        self.lines.push(("not excused: ", why.into()));
        self
    }

    pub(crate) fn excused(mut self, why: impl Into<String>) -> Story {
        self.lines.push(("excused: ", why.into()));
        self
    }

    /// Lines of less than 98 columns, so that they may be indented.
    fn text(&self) -> String {
        let mut out = String::new();
        for (head, line) in &self.lines {
            let mut column = head.chars().count();
            out.push_str(head);
            for (at, word) in line.split(' ').enumerate() {
                let width = word.chars().count() + 1;
                if at > 0 && column + width > 96 {
                    out.push_str("\n         ");
                    column = 9;
                } else if at > 0 {
                    out.push(' ');
                }
                out.push_str(word);
                column += width;
            }
            out.push('\n');
        }
        out
    }
}

#[derive(Clone, Copy, Default)]
struct Cell {
    premises: u32,
    findings: u32,
    verdict: Verdict,
}

/// The cells of an object about which nothing was said yet.
const NEW: [Cell; RuleId::COUNT] =
    [Cell { premises: 0, findings: 0, verdict: Verdict::Vacuous }; RuleId::COUNT];

/// Premises, findings and counts.
pub(crate) struct Sink {
    /// By object plus one, the whole history first.
    cells: Vec<[Cell; RuleId::COUNT]>,
    findings: Vec<Finding>,
    kept: [u32; RuleId::COUNT],
    pub(crate) metrics: Metrics,
    /// Rules that are on: what others find on their way is dropped.
    on: RuleSet,
}

impl Sink {
    pub(crate) fn new(objects: usize, on: &RuleSet) -> Sink {
        Sink {
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

    /// The promise is put to the test.
    pub(crate) fn premise(&mut self, rule: RuleId, object: ObjectId) {
        self.cell(rule, Some(object)).premises += 1;
    }

    /// The promise is put to the test, for the whole history.
    pub(crate) fn premise_of_all(&mut self, rule: RuleId) {
        self.cells[0][rule as usize].premises += 1;
    }

    /// Evidence about a promise is missing.
    pub(crate) fn unknown(&mut self, rule: RuleId, object: ObjectId) {
        let cell = self.cell(rule, Some(object));
        cell.verdict = cell.verdict.join(Verdict::Unknown);
    }

    /// A promise is broken at the event in hand.
    pub(crate) fn fail(
        &mut self,
        rule: RuleId,
        scene: &Scene<'_>,
        object: ObjectId,
        seen: &[u32],
        story: Story,
    ) {
        self.find(
            Found { rule, verdict: Verdict::Fail, layer: rule.layer(), at: scene.index },
            scene,
            Some(object),
            seen,
            story,
        );
    }

    /// A promise about the whole history is broken at the event in hand.
    pub(crate) fn fail_all(&mut self, rule: RuleId, scene: &Scene<'_>, seen: &[u32], story: Story) {
        let found = Found { rule, verdict: Verdict::Fail, layer: rule.layer(), at: scene.index };
        self.find(found, scene, None, seen, story);
    }

    /// Something is reached that must be reachable.
    pub(crate) fn reach(&mut self, probe: Probe) {
        self.metrics.reached[probe as usize] += 1;
    }

    /// Whether enough broken promises of a rule were told: then this one more is counted here, and needs no words.
    pub(crate) fn is_enough(&mut self, rule: RuleId, object: ObjectId) -> bool {
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
        found: Found,
        scene: &Scene<'_>,
        object: Option<ObjectId>,
        seen: &[u32],
        story: Story,
    ) {
        let Found { rule, verdict, layer, at } = found;
        if !self.on.has(rule) {
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
        let path = object.and_then(|object| scene.tables.objects.get(usize::from(object.0)));
        let path = path.and_then(|object| scene.tables.names.get(object.path)).unwrap_or_default();
        self.findings.push(Finding {
            rule,
            object,
            verdict,
            layer,
            position: at as usize,
            witnesses,
            secondary: false,
            path: path.to_owned(),
            text: story.text(),
        });
    }

    /// Whether something was found about an object that was not kept.
    pub(crate) fn has_more(&self, object: ObjectId) -> bool {
        let cells = self.cells.get(usize::from(object.0) + 1);
        let found = |(cell, kept): (&Cell, &u32)| cell.findings > 0 && *kept >= KEPT;
        cells.is_some_and(|cells| cells.iter().zip(&self.kept).any(found))
    }

    /// The findings so far, as they came.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// One row a rule and object.
    pub(crate) fn rows(&self, objects: &[Object], is_on: impl Fn(RuleId) -> bool) -> Vec<Row> {
        let mut rows = Vec::new();
        for rule in RuleId::ALL.iter().copied().filter(|rule| is_on(*rule)) {
            for (at, cells) in self.cells.iter().enumerate() {
                let of = at.checked_sub(1).and_then(|at| objects.get(at));
                let concerns = match of {
                    None => rule.layer() <= Layer::ZooKeeper,
                    Some(object) => rule.is_about(object.kind),
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

    /// The findings, *the* finding first.
    pub(crate) fn into_findings(mut self) -> (Vec<Finding>, Metrics) {
        let layers: Vec<(Layer, usize)> = self
            .findings
            .iter()
            .filter(|f| f.verdict == Verdict::Fail || f.rule == RuleId::W)
            .map(|f| (f.layer, f.position))
            .collect();
        for finding in &mut self.findings {
            finding.secondary =
                layers.iter().any(|(layer, at)| *layer < finding.layer && *at <= finding.position);
        }
        self.findings.sort_by_key(|f| {
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
        (self.findings, self.metrics)
    }
}

/// What was found, and where.
pub(crate) struct Found {
    pub(crate) rule: RuleId,
    pub(crate) verdict: Verdict,
    pub(crate) layer: Layer,
    pub(crate) at: u32,
}
