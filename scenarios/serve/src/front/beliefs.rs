//! Reports of programs about themselves: that they hold a lock, lead, pass a barrier, took an item.
//!
//! The events of each kind of object, and what each means, stand with the kind in `checker/src/kinds`.

use super::Front;
use crate::clients::ClientId;
use crate::command::{ProcessState, Refused, Report, reported_kinds};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use zk_checker::digest;
use zk_checker::history::{
    Budget, FaultKind, Kind, Manner, Object, ObjectId, OnSuspect, OpId, Outcome, Verb, Victim, What, Who, Why,
};
use zk_checker::{Meaning, ReportedEvent, ReportedItem, process_of};
use zk_harness::journal::Journal;

/// The reports so far.
#[derive(Default)]
pub(super) struct Beliefs {
    objects: BTreeMap<String, (ObjectId, Kind)>,
    /// Calls that have not returned, and holds: by process, object and verb.
    open: BTreeMap<(String, ObjectId, Verb), Open>,
}

/// An open operation.
#[derive(Clone, Copy)]
struct Open {
    op: OpId,
    client: u16,
    /// Whether it was granted, and the program acts as holder.
    is_held: bool,
}

/// The kind of object of an event whose report names none: the first one that has it, an exclusive lock before all.
fn default_kind(event: &str) -> Result<Kind, Refused> {
    let has = |kind: &Kind| events(*kind, event).next().is_some();
    reported_kinds().find(has).ok_or_else(|| Refused::new(400, format!("{event} names no object")))
}

/// The meanings of an event for a kind of object.
fn events<'a>(kind: Kind, word: &'a str) -> impl Iterator<Item = &'static ReportedEvent> + use<'a> {
    kind.reported_events().filter(move |event| event.word == word)
}

/// The meanings that agree with the item of a report; an error if the item is missing.
fn meanings(kind: Kind, report: &Report) -> Result<Vec<Meaning>, Refused> {
    let reported = report.item.as_deref().unwrap_or_default();
    let (mut meanings, mut items) = (Vec::new(), Vec::new());
    for event in events(kind, &report.event) {
        match event.item {
            ReportedItem::Is(item) if item != reported => items.push(item),
            ReportedItem::Given if reported.is_empty() => {
                return Err(Refused::new(400, format!("a report of {} needs `item`", report.event)));
            }
            _ => meanings.push(event.meaning),
        }
    }
    if meanings.is_empty() {
        let (kind, items) = (kind.words(), items.join(" or "));
        return Err(Refused::new(400, format!("a report of a {kind} needs `item`: {items}")));
    }
    Ok(meanings)
}

impl Front {
    /// Records a report.
    pub(super) fn report(&mut self, report: &Report) -> Result<Value, Refused> {
        let client = self.client(&report.client)?;
        let kind = self.kind(report)?;
        let meanings = meanings(kind, report)?;
        let item = report.item.as_deref().unwrap_or_default();
        let object = self.object(report, kind)?;
        let (at, number) = (self.raw.now(), client.0 as u16);
        let session = self.clients.get(client).session;
        let process = process_of(&self.clients.get(client).name).to_owned();
        let call = |journal: &mut Journal, verb| {
            let op = journal.call(at, number, object, verb, 0);
            if verb.is_reported_with_argument() {
                journal.given(at, number, op, item, 0);
            }
            op
        };
        // A call that another session of the process began continues in this one.
        let goes_on = |journal: &mut Journal, before: Option<Open>, verb| {
            before.map_or_else(|| (call(journal, verb), number), |open| (open.op, open.client))
        };
        let key = |verb| (process.clone(), object, verb);
        let is_meant = |meaning: &Meaning| match meaning {
            Meaning::Closes(verb, _) => self.beliefs.open.contains_key(&key(*verb)),
            _ => true,
        };
        let meant = meanings.iter().copied().find(is_meant).unwrap_or(meanings[meanings.len() - 1]);
        match meant {
            Meaning::Declares => {}
            Meaning::Begins(verb) => {
                self.is_new(&key(verb), report)?;
                let op = self.recorder.write(|journal| call(journal, verb));
                let open = op.map(|op| (key(verb), Open { op, client: number, is_held: false }));
                self.beliefs.open.extend(open);
            }
            Meaning::Holds(verb) => {
                let before = self.beliefs.open.remove(&key(verb));
                if let Some(held) = before.filter(|open| open.is_held) {
                    self.beliefs.open.insert(key(verb), held);
                    return Err(already(report));
                }
                let op = self.recorder.write(|journal| {
                    let (op, by) = goes_on(journal, before, verb);
                    if verb.asks_for().is_some() {
                        journal.believe(at, by, op, object, session, 0);
                    }
                    journal.returned(at, by, op, Outcome::Done);
                    Open { op, client: by, is_held: true }
                });
                self.beliefs.open.extend(op.map(|open| (key(verb), open)));
            }
            Meaning::Ends(verb) => {
                let open = self.closes(&key(verb), true, report)?;
                self.recorder.write(|journal| match verb.asks_for() {
                    Some(_) => journal.unbelieve(at, open.client, open.op, Why::Released),
                    None => {
                        let op = call(journal, Verb::Yield);
                        journal.returned(at, number, op, Outcome::Done);
                    }
                });
            }
            Meaning::Closes(verb, outcome) => {
                let open = self.closes(&key(verb), false, report)?;
                self.recorder.write(|journal| journal.returned(at, open.client, open.op, outcome));
            }
            Meaning::Returns(verb, outcome, failure) => {
                let before = self.beliefs.open.remove(&key(verb));
                self.recorder.write(|journal| {
                    let (op, by) = goes_on(journal, before, verb);
                    journal.returned_for(at, by, op, outcome, failure);
                });
            }
            Meaning::Happens(verb) => {
                self.recorder.write(|journal| {
                    let op = call(journal, verb);
                    journal.returned(at, number, op, Outcome::Done);
                });
            }
            Meaning::Tells(verb, seen) => {
                let before = self.beliefs.open.remove(&key(verb));
                self.recorder.write(|journal| {
                    let (op, by) = goes_on(journal, before, verb);
                    journal.observed(at, by, op, object, seen, item, 0);
                    journal.returned(at, by, op, Outcome::Done);
                });
            }
            Meaning::Shows(verb, seen) => {
                let before = self.beliefs.open.get(&key(verb)).copied();
                let (path, data) = item.split_once(' ').unwrap_or((item, "-"));
                let data = if data == "-" { "" } else { data };
                let data = digest::data(Some(data.as_bytes()));
                let open = self.recorder.write(|journal| {
                    let (op, client) = goes_on(journal, before, verb);
                    journal.observed(at, client, op, object, seen, path, data);
                    Open { op, client, is_held: false }
                });
                self.beliefs.open.extend(open.map(|open| (key(verb), open)));
            }
        }
        Ok(json!({}))
    }

    /// Records the state of a client's process.
    pub(super) fn process(&mut self, client: &str, state: ProcessState) -> Result<Value, Refused> {
        let of = self.client(client)?;
        let process = process_of(&self.clients.get(of).name).to_owned();
        let at = self.raw.now();
        let sessions: Vec<ClientId> = self.clients.of_process(&process).collect();
        if state == ProcessState::Gone {
            self.beliefs.open.retain(|(name, _, _), _| *name != process);
        }
        self.recorder.write(|journal| {
            for id in sessions {
                let (client, kind) = (id.0 as u16, FaultKind::ClientPause);
                let victim = Victim::Process { client };
                let what = match state {
                    ProcessState::Stopped => What::Fault { kind, victim, lasts: 0 },
                    ProcessState::Running => What::Mended { kind, victim },
                    ProcessState::Gone => What::Crash { client },
                };
                journal.note(at, Who::World, OpId(0), what);
            }
        });
        Ok(json!({}))
    }

    fn is_new(&self, key: &(String, ObjectId, Verb), report: &Report) -> Result<(), Refused> {
        if self.beliefs.open.contains_key(key) { Err(already(report)) } else { Ok(()) }
    }

    /// Removes the open operation that a report ends.
    fn closes(
        &mut self,
        key: &(String, ObjectId, Verb),
        is_held: bool,
        report: &Report,
    ) -> Result<Open, Refused> {
        match self.beliefs.open.get(key).copied() {
            Some(open) if open.is_held == is_held => {
                self.beliefs.open.remove(key);
                Ok(open)
            }
            _ => {
                let why =
                    format!("{} has not reported that it holds or waits at {}", report.client, report.object);
                Err(Refused::new(400, why))
            }
        }
    }

    /// The kind of the object of a report.
    fn kind(&self, report: &Report) -> Result<Kind, Refused> {
        let known = self.beliefs.objects.get(&report.object).map(|(_, kind)| *kind);
        let is_a = |known: Kind| format!("{} is a {}", report.object, known.name());
        let kind = match (known, report.kind) {
            (Some(known), Some(kind)) if known != kind => return Err(Refused::new(400, is_a(known))),
            (Some(known), _) => known,
            (None, Some(kind)) => kind,
            (None, None) => default_kind(&report.event)?,
        };
        if events(kind, &report.event).next().is_some() {
            return Ok(kind);
        }
        let why = match known {
            Some(known) => is_a(known),
            None => format!("this event is about a {}", default_kind(&report.event)?.name()),
        };
        Err(Refused::new(400, why))
    }

    /// The object of a report; its first report declares it.
    fn object(&mut self, report: &Report, kind: Kind) -> Result<ObjectId, Refused> {
        let declares = kind.reported_events().find(|event| event.meaning == Meaning::Declares);
        let size = match declares.filter(|event| event.word == report.event) {
            Some(event) => {
                let size = report.item.as_deref().and_then(|item| item.parse::<u32>().ok());
                size.filter(|size| *size > 0)
                    .ok_or_else(|| Refused::new(400, format!("a {} is a number from 1", event.word)))?
            }
            None => 0,
        };
        if let Some((object, _)) = self.beliefs.objects.get(&report.object) {
            return Ok(*object);
        }
        if let Some(first) = declares.filter(|_| size == 0) {
            let (kind, path, first) = (kind.name(), &report.object, first.word);
            return Err(Refused::new(
                400,
                format!("the first report about the {kind} {path} is its {first}"),
            ));
        }
        let declared = self.recorder.write(|journal| {
            let path = journal.sym(&report.object);
            journal.declare(Object {
                kind,
                path,
                on_suspect: OnSuspect::UntilDeadline,
                margin: 0,
                fenced: false,
                budget: Budget::LOCK,
                size,
                manner: Manner { reported: true, ..Manner::default() },
            })
        });
        let object = declared.ok_or_else(|| Refused::new(400, "recording has stopped: `status` says why"))?;
        self.beliefs.objects.insert(report.object.clone(), (object, kind));
        Ok(object)
    }
}

fn already(report: &Report) -> Refused {
    Refused::new(400, format!("{} and {}: it has reported that already", report.client, report.object))
}
