//! What programs report of themselves: that they hold a lock, lead, pass a barrier, took an item.

use super::Front;
use crate::clients::ClientId;
use crate::command::{Belief, ObjectKind, Refused, Report};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use zk_checker::history::{
    Budget, Kind, Manner, Object, ObjectId, OnSuspect, OpId, Outcome, Seen, Verb, Why,
};

/// What was reported so far.
#[derive(Default)]
pub(super) struct Beliefs {
    objects: BTreeMap<String, (ObjectId, ObjectKind)>,
    /// The operations that are open: holds, leaderships, waits before a barrier.
    open: BTreeMap<(ClientId, ObjectId), OpId>,
}

impl ObjectKind {
    fn kind(self) -> Kind {
        match self {
            ObjectKind::Lock => Kind::Lock,
            ObjectKind::Election => Kind::Election,
            ObjectKind::Barrier => Kind::Barrier,
            ObjectKind::Queue => Kind::Queue,
        }
    }
}

impl Belief {
    /// The kind of object that it is about.
    fn about(self) -> ObjectKind {
        match self {
            Belief::Acquired | Belief::Released => ObjectKind::Lock,
            Belief::Leader | Belief::Deposed => ObjectKind::Election,
            Belief::Raised | Belief::Lowered | Belief::Waits | Belief::Passed => ObjectKind::Barrier,
            Belief::Put | Belief::Took => ObjectKind::Queue,
        }
    }
}

impl Front {
    /// Writes a report down.
    pub(super) fn report(&mut self, report: &Report) -> Result<Value, Refused> {
        let client = self.client(&report.client)?;
        let object = self.object(report)?;
        let key = (client, object);
        let (at, number) = (self.raw.now(), client.0 as u16);
        let session = self.clients.get(client).session;
        let item = match report.event.about() {
            ObjectKind::Queue => {
                report.item.as_deref().ok_or_else(|| Refused::new(400, "a report of an item needs `item`"))?
            }
            _ => "",
        };
        match report.event {
            Belief::Acquired | Belief::Leader => {
                if self.beliefs.open.contains_key(&key) {
                    let what = "it believes that already";
                    return Err(Refused::new(
                        400,
                        format!("{} and {}: {what}", report.client, report.object),
                    ));
                }
                let verb = if report.event == Belief::Leader { Verb::Stand } else { Verb::Acquire };
                let op = self.recorder.write(|journal| {
                    let op = journal.call(at, number, object, verb, 0);
                    journal.believe(at, number, op, object, session, 0);
                    journal.returned(at, number, op, Outcome::Done);
                    op
                });
                self.beliefs.open.extend(op.map(|op| (key, op)));
            }
            Belief::Released | Belief::Deposed => {
                let op = self.closes(key, report)?;
                self.recorder.write(|journal| journal.unbelieve(at, number, op, Why::Released));
            }
            Belief::Waits => {
                let op = self.recorder.write(|journal| journal.call(at, number, object, Verb::Wait, 0));
                self.beliefs.open.extend(op.map(|op| (key, op)));
            }
            Belief::Passed => {
                let op = self.closes(key, report)?;
                self.recorder.write(|journal| journal.returned(at, number, op, Outcome::Done));
            }
            Belief::Raised | Belief::Lowered => {
                let verb = if report.event == Belief::Raised { Verb::Raise } else { Verb::Lower };
                self.recorder.write(|journal| {
                    let op = journal.call(at, number, object, verb, 0);
                    journal.returned(at, number, op, Outcome::Done);
                });
            }
            Belief::Put => {
                self.recorder.write(|journal| {
                    let op = journal.call(at, number, object, Verb::Put, 0);
                    journal.given(at, number, op, item, 0);
                    journal.returned(at, number, op, Outcome::Done);
                });
            }
            Belief::Took => {
                self.recorder.write(|journal| {
                    let op = journal.call(at, number, object, Verb::Take, 0);
                    journal.observed(at, number, op, object, Seen::Item, item, 0);
                    journal.returned(at, number, op, Outcome::Done);
                });
            }
        }
        Ok(json!({}))
    }

    /// Takes out the open operation that a report ends.
    fn closes(&mut self, key: (ClientId, ObjectId), report: &Report) -> Result<OpId, Refused> {
        self.beliefs.open.remove(&key).ok_or_else(|| {
            let why =
                format!("{} has not reported that it holds or waits at {}", report.client, report.object);
            Refused::new(400, why)
        })
    }

    /// The object of a report, declared by its first one.
    fn object(&mut self, report: &Report) -> Result<ObjectId, Refused> {
        let about = report.event.about();
        if let Some((object, kind)) = self.beliefs.objects.get(&report.object) {
            if *kind != about || report.kind.is_some_and(|kind| kind != about) {
                let why = format!("{} is a {}", report.object, kind.kind().name());
                return Err(Refused::new(400, why));
            }
            return Ok(*object);
        }
        if report.kind.is_some_and(|kind| kind != about) {
            let why = format!("this event is about a {}", about.kind().name());
            return Err(Refused::new(400, why));
        }
        let declared = self.recorder.write(|journal| {
            let path = journal.sym(&report.object);
            journal.declare(Object {
                kind: about.kind(),
                path,
                on_suspect: OnSuspect::UntilDeadline,
                margin: 0,
                fenced: false,
                budget: Budget::LOCK,
                size: 0,
                manner: Manner { reported: true, ..Manner::default() },
            })
        });
        let object = declared.ok_or_else(|| Refused::new(400, "the history is full"))?;
        self.beliefs.objects.insert(report.object.clone(), (object, about));
        Ok(object)
    }
}
