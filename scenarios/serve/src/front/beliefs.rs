//! Reports of programs about themselves: that they hold a lock, lead, pass a barrier, took an item.

use super::Front;
use crate::clients::ClientId;
use crate::command::{Belief, ObjectKind, ProcessState, Refused, Report};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use zk_checker::digest;
use zk_checker::history::{
    Budget, Failure, FaultKind, Kind, Manner, Object, ObjectId, OnSuspect, OpId, Outcome, Seen, Verb, Victim,
    What, Who, Why,
};
use zk_checker::process_of;
use zk_harness::journal::Journal;

/// The reports so far.
#[derive(Default)]
pub(super) struct Beliefs {
    objects: BTreeMap<String, (ObjectId, ObjectKind)>,
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

impl ObjectKind {
    fn kind(self) -> Kind {
        match self {
            ObjectKind::Lock => Kind::Lock,
            ObjectKind::SharedLock => Kind::SharedLock,
            ObjectKind::Semaphore => Kind::Semaphore,
            ObjectKind::Election => Kind::Election,
            ObjectKind::Barrier => Kind::Barrier,
            ObjectKind::DoubleBarrier => Kind::DoubleBarrier,
            ObjectKind::Queue => Kind::Queue,
            ObjectKind::Counter => Kind::Counter,
            ObjectKind::Partition => Kind::Partition,
            ObjectKind::Cache => Kind::Cache,
            ObjectKind::Group => Kind::Group,
        }
    }

    /// The events of this kind of object.
    fn events(self) -> &'static [Belief] {
        use Belief::*;
        match self {
            ObjectKind::Lock | ObjectKind::SharedLock => &[Asks, Acquired, Released, Refused],
            ObjectKind::Semaphore => &[Limit, Asks, Acquired, Released, Refused],
            ObjectKind::Election => &[Asks, Leader, Deposed, Refused],
            ObjectKind::Barrier => &[Raises, Raised, Lowers, Lowered, Waits, Passed, Refused],
            ObjectKind::DoubleBarrier => &[Size, Enters, Entered, Leaves, Left, Refused],
            ObjectKind::Queue => &[Puts, Put, Unknown, Refused, Takes, Took, Empty, Failed],
            ObjectKind::Counter => &[Adds, Added, Unknown, Refused, Counts],
            ObjectKind::Partition => &[Whole, Owns, Disowns],
            ObjectKind::Cache => &[Sees, Seen],
            ObjectKind::Group => &[Joins, Joined, Refused, Leaves, Members],
        }
    }

    /// The default kind of object of an event: the first kind that has it.
    fn of(event: Belief) -> Result<ObjectKind, Refused> {
        let mut about = ObjectKind::ALL.iter().copied().filter(|kind| kind.events().contains(&event));
        // Locks come first: a report without a kind means an exclusive lock.
        about.next().ok_or_else(|| Refused::new(400, format!("{} names no object", event.name())))
    }
}

/// The effect of an event.
enum Does {
    /// A call begins.
    Begins(Verb),
    /// A call returns. If its begin was not reported, it begins here, too.
    Returns(Verb, Outcome),
    /// A call returns, and its caller acts as holder from now on.
    Holds(Verb),
    /// A hold ends.
    Ends(Verb),
    /// A call begins and returns.
    Happens(Verb),
    /// A call returns a value.
    Tells(Verb, Seen),
    /// A call yields a value, and continues.
    Shows(Verb, Seen),
    /// The object is declared, and nothing else.
    Declares,
}

impl Belief {
    /// The effect of this event on an object of a kind.
    fn does(self, kind: ObjectKind, item: Option<&str>) -> Result<Does, Refused> {
        let acquire = match kind {
            ObjectKind::Election => Verb::Stand,
            ObjectKind::Semaphore => Verb::Lease,
            ObjectKind::SharedLock => match item {
                Some("read") => Verb::Read,
                Some("write") => Verb::Write,
                _ => {
                    return Err(Refused::new(400, "a report of a shared lock needs `item`: read or write"));
                }
            },
            _ => Verb::Acquire,
        };
        Ok(match self {
            Belief::Asks => Does::Begins(acquire),
            Belief::Acquired | Belief::Leader => Does::Holds(acquire),
            Belief::Released | Belief::Deposed => Does::Ends(acquire),
            Belief::Limit | Belief::Size => Does::Declares,
            Belief::Raises => Does::Begins(Verb::Raise),
            Belief::Raised => Does::Returns(Verb::Raise, Outcome::Done),
            Belief::Lowers => Does::Begins(Verb::Lower),
            Belief::Lowered => Does::Returns(Verb::Lower, Outcome::Done),
            Belief::Waits => Does::Begins(Verb::Wait),
            Belief::Passed => Does::Returns(Verb::Wait, Outcome::Done),
            Belief::Enters => Does::Begins(Verb::Enter),
            Belief::Entered => Does::Returns(Verb::Enter, Outcome::Done),
            Belief::Leaves if kind == ObjectKind::Group => Does::Happens(Verb::Yield),
            Belief::Leaves => Does::Begins(Verb::Leave),
            Belief::Left => Does::Returns(Verb::Leave, Outcome::Done),
            Belief::Puts => Does::Begins(Verb::Put),
            Belief::Put => Does::Returns(Verb::Put, Outcome::Done),
            Belief::Unknown if kind == ObjectKind::Counter => Does::Returns(Verb::Add, Outcome::Unknown),
            Belief::Unknown => Does::Returns(Verb::Put, Outcome::Unknown),
            Belief::Takes => Does::Begins(Verb::Take),
            Belief::Took => Does::Tells(Verb::Take, Seen::Item),
            Belief::Empty => Does::Returns(Verb::Take, Outcome::Refused),
            Belief::Failed => Does::Returns(Verb::Take, Outcome::Unknown),
            Belief::Adds => Does::Begins(Verb::Add),
            Belief::Added => Does::Returns(Verb::Add, Outcome::Done),
            Belief::Counts => Does::Tells(Verb::Audit, Seen::Value),
            Belief::Whole => Does::Happens(Verb::Whole),
            Belief::Owns => Does::Happens(Verb::Own),
            Belief::Disowns => Does::Happens(Verb::Yield),
            Belief::Sees => Does::Shows(Verb::Audit, Seen::Znode),
            Belief::Seen => Does::Returns(Verb::Audit, Outcome::Done),
            Belief::Joins => Does::Begins(Verb::Join),
            Belief::Joined => Does::Returns(Verb::Join, Outcome::Done),
            Belief::Members => Does::Tells(Verb::Audit, Seen::View),
            Belief::Refused => Does::Returns(
                match kind {
                    ObjectKind::Barrier => Verb::Wait,
                    ObjectKind::Queue => Verb::Put,
                    ObjectKind::Counter => Verb::Add,
                    ObjectKind::Group => Verb::Join,
                    // Enter or leave, depending on which is open.
                    ObjectKind::DoubleBarrier => Verb::Enter,
                    _ => acquire,
                },
                Outcome::Refused,
            ),
        })
    }

    /// Whether the event is about an item, which must be named.
    fn needs_item(self, kind: ObjectKind) -> bool {
        use Belief::*;
        match self {
            Limit | Size | Puts | Put | Unknown | Took | Adds | Added | Counts | Whole | Owns | Disowns
            | Sees | Joins | Joined | Members => true,
            Refused => matches!(kind, ObjectKind::Queue | ObjectKind::Counter | ObjectKind::Group),
            Leaves => kind == ObjectKind::Group,
            _ => false,
        }
    }
}

impl Front {
    /// Records a report.
    pub(super) fn report(&mut self, report: &Report) -> Result<Value, Refused> {
        let client = self.client(&report.client)?;
        let kind = self.kind(report)?;
        let does = report.event.does(kind, report.item.as_deref())?;
        let item = report.item.as_deref().unwrap_or_default();
        if report.event.needs_item(kind) && item.is_empty() {
            return Err(Refused::new(400, format!("a report of {} needs `item`", report.event.name())));
        }
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
        let key = |verb| (process.clone(), object, verb);
        match does {
            Does::Declares => {}
            Does::Begins(verb) => {
                self.is_new(&key(verb), report)?;
                let op = self.recorder.write(|journal| call(journal, verb));
                let open = op.map(|op| (key(verb), Open { op, client: number, is_held: false }));
                self.beliefs.open.extend(open);
            }
            Does::Holds(verb) => {
                let before = self.beliefs.open.remove(&key(verb));
                if let Some(held) = before.filter(|open| open.is_held) {
                    self.beliefs.open.insert(key(verb), held);
                    return Err(already(report));
                }
                let op = self.recorder.write(|journal| {
                    // A call that another session of the process began continues in this one.
                    let (op, by) = match before {
                        Some(open) => (open.op, open.client),
                        None => (call(journal, verb), number),
                    };
                    if verb.asks_for().is_some() {
                        journal.believe(at, by, op, object, session, 0);
                    }
                    journal.returned(at, by, op, Outcome::Done);
                    Open { op, client: by, is_held: true }
                });
                self.beliefs.open.extend(op.map(|open| (key(verb), open)));
            }
            Does::Ends(verb) => {
                let open = self.closes(&key(verb), true, report)?;
                self.recorder.write(|journal| match verb {
                    Verb::Lease => {
                        let op = call(journal, Verb::Yield);
                        journal.returned(at, number, op, Outcome::Done);
                    }
                    _ => journal.unbelieve(at, open.client, open.op, Why::Released),
                });
            }
            Does::Returns(verb, outcome) => {
                let verb = match verb {
                    Verb::Enter if !self.beliefs.open.contains_key(&key(Verb::Enter)) => Verb::Leave,
                    verb => verb,
                };
                // A wait without its begin is no evidence.
                let needs_begin = matches!(verb, Verb::Wait | Verb::Enter | Verb::Leave)
                    || outcome == Outcome::Refused
                        && matches!(verb, Verb::Acquire | Verb::Stand | Verb::Lease);
                let before = if needs_begin {
                    Some(self.closes(&key(verb), false, report)?)
                } else {
                    self.beliefs.open.remove(&key(verb))
                };
                let failure = match (verb, outcome) {
                    (Verb::Take, Outcome::Refused) => Failure::Nothing,
                    _ => Failure::None,
                };
                self.recorder.write(|journal| {
                    let (op, by) =
                        before.map_or_else(|| (call(journal, verb), number), |open| (open.op, open.client));
                    journal.returned_for(at, by, op, outcome, failure);
                });
            }
            Does::Happens(verb) => {
                self.recorder.write(|journal| {
                    let op = call(journal, verb);
                    journal.returned(at, number, op, Outcome::Done);
                });
            }
            Does::Tells(verb, seen) => {
                let before = self.beliefs.open.remove(&key(verb));
                self.recorder.write(|journal| {
                    let (op, by) =
                        before.map_or_else(|| (call(journal, verb), number), |open| (open.op, open.client));
                    journal.observed(at, by, op, object, seen, item, 0);
                    journal.returned(at, by, op, Outcome::Done);
                });
            }
            Does::Shows(verb, seen) => {
                let before = self.beliefs.open.get(&key(verb)).copied();
                let (path, data) = item.split_once(' ').unwrap_or((item, "-"));
                let data = if data == "-" { "" } else { data };
                let data = digest::data(Some(data.as_bytes()));
                let open = self.recorder.write(|journal| {
                    let open = before.unwrap_or_else(|| Open {
                        op: call(journal, verb),
                        client: number,
                        is_held: false,
                    });
                    journal.observed(at, open.client, open.op, object, seen, path, data);
                    open
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
    fn kind(&self, report: &Report) -> Result<ObjectKind, Refused> {
        let known = self.beliefs.objects.get(&report.object).map(|(_, kind)| *kind);
        let kind = match (known, report.kind) {
            (Some(known), Some(kind)) if known != kind => {
                return Err(Refused::new(400, format!("{} is a {}", report.object, known.name())));
            }
            (Some(known), _) => known,
            (None, Some(kind)) => kind,
            (None, None) => ObjectKind::of(report.event)?,
        };
        if kind.events().contains(&report.event) {
            return Ok(kind);
        }
        let why = match known {
            Some(known) => format!("{} is a {}", report.object, known.name()),
            None => format!("this event is about a {}", ObjectKind::of(report.event)?.name()),
        };
        Err(Refused::new(400, why))
    }

    /// The object of a report; its first report declares it.
    fn object(&mut self, report: &Report, kind: ObjectKind) -> Result<ObjectId, Refused> {
        let size = match report.event {
            Belief::Limit | Belief::Size => {
                let size = report.item.as_deref().and_then(|item| item.parse::<u32>().ok());
                size.filter(|size| *size > 0).ok_or_else(|| {
                    Refused::new(400, format!("a {} is a number from 1", report.event.name()))
                })?
            }
            _ => 0,
        };
        if let Some((object, _)) = self.beliefs.objects.get(&report.object) {
            return Ok(*object);
        }
        if size == 0 && matches!(kind, ObjectKind::Semaphore | ObjectKind::DoubleBarrier) {
            let first = if kind == ObjectKind::Semaphore { "limit" } else { "size" };
            let why = format!("the first report about the {} {} is its {first}", kind.name(), report.object);
            return Err(Refused::new(400, why));
        }
        let declared = self.recorder.write(|journal| {
            let path = journal.sym(&report.object);
            journal.declare(Object {
                kind: kind.kind(),
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
