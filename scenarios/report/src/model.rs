//! The content of the page as plain data: computed here, so that the page only draws.
//!
//! Events are stored in columns and texts in a table, so that a file with a hundred thousand events opens at once.
//! Numbers refer to events and texts.

mod lasting;

use crate::beside::{Beside, Other};
use crate::causes::Causes;
use crate::columns::{Columns, Texts};
use crate::cost::Cost;
use crate::lives::Lives;
use crate::messages::{self, Carries, Fate};
use crate::requests::Requests;
use crate::slice::Slicer;
use crate::words::{Sentences, kind_name, visible};
use crate::{Shown, Source};
use lasting::Lasting;
use serde::Serialize;
use std::collections::BTreeMap;
use zk_checker::history::{History, Mode, Victim, Who};
use zk_checker::{Finding, Layer, Report, RuleId, Verdict};

/// A run in the form that the page reads.
#[derive(Debug, Serialize)]
pub(super) struct Model {
    /// Version of this format: 1.
    form: u32,
    source: Source,
    verdict: String,
    /// Why evidence is missing, if it is.
    unknown: Option<String>,
    mode: &'static str,
    /// The duration of the run, in microseconds.
    lasted_us: u64,
    findings: Vec<FindingModel>,
    /// Findings that the checker counted and did not keep.
    findings_not_kept: u32,
    rules: Vec<Rule>,
    cost: Cost,
    parties: Vec<Party>,
    objects: Vec<Object>,
    sessions: Vec<SessionModel>,
    znodes: Vec<Znode>,
    /// Event, znode, length, digest: the data of a znode from that event on.
    holds: Vec<(u32, u32, Option<u32>, Option<String>)>,
    watches: Vec<Watch>,
    operations: Vec<OperationRow>,
    /// Event and object: the results that recipes returned.
    observed: Vec<(u32, u16)>,
    beliefs: Vec<Belief>,
    strikes: Vec<Strike>,
    offices: Vec<Office>,
    messages: Vec<Message>,
    events: Columns,
    beside: Option<Beside>,
    texts: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FindingModel {
    rule: &'static str,
    title: &'static str,
    promise: &'static str,
    layer: &'static str,
    verdict: String,
    /// Whether a deeper finding may be the cause.
    secondary: bool,
    path: String,
    event: u32,
    lines: Vec<FindingLine>,
    slice: Vec<u32>,
    cited: Vec<u32>,
    left_out: usize,
    /// The first finding that differs from this one only by names and times; often this one.
    like: usize,
}

/// A line of the checker's text, with its head: `because`, `and`, `not excused`, `excused`, or none.
#[derive(Debug, Serialize)]
struct FindingLine {
    head: &'static str,
    text: String,
}

#[derive(Debug, Serialize)]
struct Rule {
    id: &'static str,
    title: &'static str,
    promise: &'static str,
    layer: &'static str,
    object: Option<u16>,
    verdict: String,
    premises: u32,
    findings: u32,
    required_unproved: bool,
}

#[derive(Debug, Serialize)]
struct Party {
    kind: &'static str,
    name: String,
}

#[derive(Debug, Serialize)]
struct Object {
    kind: String,
    path: String,
}

#[derive(Debug, Serialize)]
struct SessionModel {
    number: u16,
    client: Option<usize>,
    timeout_ms: u32,
    opened: Option<u32>,
    marked: Option<u32>,
    ended: Option<u32>,
    states: Vec<(u32, &'static str)>,
}

#[derive(Debug, Serialize)]
struct Znode {
    path: u32,
    created: u32,
    deleted: Option<u32>,
    owner: u16,
    czxid: String,
}

#[derive(Debug, Serialize)]
struct Watch {
    session: u16,
    path: u32,
    table: &'static str,
    mode: &'static str,
    armed: u32,
    ended: Option<u32>,
    notice: Option<u32>,
    end: &'static str,
}

#[derive(Debug, Serialize)]
struct OperationRow {
    client: usize,
    object: u16,
    verb: String,
    from: u32,
    to: Option<u32>,
    outcome: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Belief {
    client: usize,
    object: u16,
    session: u16,
    token: String,
    from: u32,
    to: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Strike {
    text: String,
    parties: Vec<usize>,
    from: u32,
    to: Option<u32>,
    lasts_us: u64,
}

#[derive(Debug, Serialize)]
struct Office {
    server: usize,
    leads: bool,
    from: u32,
    to: Option<u32>,
}

/// Kind, fate, from, to, client, server.
type Message = (&'static str, &'static str, u32, Option<u32>, usize, Option<usize>);

/// The actors of a history in order, and their indices.
struct Parties(BTreeMap<Who, usize>);

impl Parties {
    fn of(history: &History) -> Parties {
        let clients = (0..history.header.clients.len() as u16).map(Who::Client);
        let met = history.events.iter().map(|event| event.who);
        let struck = history.events.iter().filter_map(|event| match event.what {
            zk_checker::history::What::State { conn, server, .. } if !conn.is_none() => {
                Some(Who::Server(server))
            }
            _ => None,
        });
        let mut places: BTreeMap<Who, usize> =
            clients.chain(met).chain(struck).chain([Who::World]).map(|who| (who, 0)).collect();
        places.values_mut().enumerate().for_each(|(place, at)| *at = place);
        Parties(places)
    }

    /// The column of an actor. An actor without events, which only a foreign history can name, gets the column of the
    /// world.
    fn place(&self, who: Who) -> usize {
        self.0.get(&who).or_else(|| self.0.get(&Who::World)).copied().unwrap_or_default()
    }

    fn struck(&self, victim: Victim) -> Vec<usize> {
        match victim {
            Victim::Process { client } => vec![self.place(Who::Client(client))],
            Victim::Server { server } => vec![self.place(Who::Server(server))],
            Victim::Link { from, to } => vec![self.place(Who::Server(from)), self.place(Who::Server(to))],
        }
    }
}

impl Model {
    /// Computes the model.
    pub(super) fn of(shown: &Shown<'_>) -> Model {
        let Shown { history, report, .. } = shown;
        let asked = Requests::of(history);
        let causes = Causes::find(history, &asked);
        let lives = Lives::of(history, &asked, &causes);
        let sentences = Sentences::new(history, &asked);
        let parties = Parties::of(history);
        let slicer = Slicer::new(history, &asked, &causes, &lives);
        let mut texts = Texts::default();
        let events = Columns::of(history, &sentences, &causes, &mut texts, |who| parties.place(who) as u32);
        let lasting = Lasting { lives: &lives, sentences: &sentences, parties: &parties };
        Model {
            form: 1,
            source: shown.source.visible(),
            verdict: shown.verdict.to_string(),
            unknown: report.unknown.as_deref().map(visible),
            mode: match history.header.mode {
                Mode::Sim => "sim",
                Mode::Client => "client",
            },
            lasted_us: history.events.last().map_or(0, |event| event.at),
            findings: findings(report, &slicer),
            findings_not_kept: not_kept(report),
            rules: rules(report),
            cost: Cost::of(history, &asked, &causes, &lives, &report.metrics),
            parties: party_models(&parties, &sentences),
            objects: objects(history),
            sessions: lasting.sessions(),
            znodes: lasting.znodes(&mut texts),
            holds: lasting.holds(),
            watches: lasting.watches(&mut texts),
            operations: lasting.operations(),
            observed: lives.observed.iter().map(|(event, object)| (*event, object.0)).collect(),
            beliefs: lasting.beliefs(),
            strikes: lasting.strikes(&mut |strike| sentences.tell(strike as usize)),
            offices: lasting.offices(),
            messages: message_models(history, &asked, &causes, &lives, &parties),
            beside: shown.beside.map(|other: &Other| Beside::of(history, &sentences, other)),
            events,
            texts: texts.into_all(),
        }
    }
}

fn findings(report: &Report, slicer: &Slicer<'_>) -> Vec<FindingModel> {
    let all = &report.findings;
    let key = |one: &Finding| (one.rule, one.verdict, one.shape.clone());
    let like = |one: &Finding| all.iter().position(|other| key(other) == key(one)).unwrap_or_default();
    all.iter().map(|one| finding_model(one, slicer, like(one))).collect()
}

fn finding_model(finding: &Finding, slicer: &Slicer<'_>, like: usize) -> FindingModel {
    let slice = slicer.cut(finding);
    FindingModel {
        rule: finding.rule.name(),
        title: finding.rule.title(),
        promise: finding.rule.promise(),
        layer: layer_name(finding.layer),
        verdict: finding.verdict.to_string(),
        secondary: finding.secondary,
        path: visible(&finding.path),
        event: finding.position as u32,
        lines: lines(&finding.text),
        slice: slice.events,
        cited: slice.cited,
        left_out: slice.left_out,
        like,
    }
}

/// The checker's text, without the line breaks for a terminal.
fn lines(text: &str) -> Vec<FindingLine> {
    let heads = [
        ("because  ", "because"),
        ("and      ", "and"),
        ("not excused: ", "not excused"),
        ("excused: ", "excused"),
    ];
    let mut lines: Vec<FindingLine> = Vec::new();
    for line in text.lines() {
        if let Some((more, last)) = line.strip_prefix("         ").zip(lines.last_mut()) {
            last.text.push(' ');
            last.text.push_str(&visible(more));
            continue;
        }
        let head = heads.iter().find_map(|(prefix, head)| Some((*head, line.strip_prefix(prefix)?)));
        let (head, text) = head.unwrap_or(("", line));
        lines.push(FindingLine { head, text: visible(text) });
    }
    lines
}

fn not_kept(report: &Report) -> u32 {
    let found: u32 = report.rows.iter().map(|row| row.findings).sum();
    found.saturating_sub(report.findings.len() as u32)
}

fn rules(report: &Report) -> Vec<Rule> {
    let unproved = |rule: RuleId| report.unproved.contains(&rule);
    let rows = report.rows.iter().map(|row| Rule {
        id: row.rule.name(),
        title: row.rule.title(),
        promise: row.rule.promise(),
        layer: layer_name(row.rule.layer()),
        object: row.object.map(|object| object.0),
        verdict: row.verdict.to_string(),
        premises: row.premises,
        findings: row.findings,
        required_unproved: unproved(row.rule) && row.verdict == Verdict::Vacuous,
    });
    rows.collect()
}

fn layer_name(layer: Layer) -> &'static str {
    match layer {
        Layer::WellFormed => "well-formed history",
        Layer::ZooKeeper => "ZooKeeper",
        Layer::Safety => "safety of the recipe",
        Layer::Liveness => "liveness of the recipe",
        Layer::Cost => "cost of the recipe",
    }
}

fn party_models(parties: &Parties, sentences: &Sentences<'_>) -> Vec<Party> {
    let party = |who: &Who| {
        let kind = match who {
            Who::Client(_) => "client",
            Who::Server(_) => "server",
            Who::World => "world",
        };
        Party { kind, name: sentences.who(*who) }
    };
    parties.0.keys().map(party).collect()
}

fn objects(history: &History) -> Vec<Object> {
    let object = |object: &zk_checker::history::Object| Object {
        kind: kind_name(object.kind),
        path: visible(history.names.get(object.path).unwrap_or("?")),
    };
    history.objects.iter().map(object).collect()
}

fn message_models(
    history: &History,
    asked: &Requests,
    causes: &Causes,
    lives: &Lives,
    parties: &Parties,
) -> Vec<Message> {
    let model = |message: messages::Message| {
        let carries = match message.carries {
            Carries::Request => "request",
            Carries::Reply => "reply",
            Carries::Notification => "notification",
            Carries::Exchange => "exchange",
        };
        let fate = match message.fate {
            Fate::Arrived => "arrived",
            Fate::Late => "late",
            Fate::Lost => "lost",
            Fate::Open => "open",
        };
        let server = message.server.map(|server| parties.place(Who::Server(server)));
        (carries, fate, message.from, message.to, parties.place(Who::Client(message.client)), server)
    };
    messages::of(history, asked, causes, lives).into_iter().map(model).collect()
}
