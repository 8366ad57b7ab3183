//! The claims of foreign programs, checked against each other and against the tree.
//!
//! The other rules judge recipes whose every request is known. Of a foreign program, only its reports and the state of
//! the ensemble are known: calls, grants, answers and znodes. So these rules use nothing else, and judge liveness at
//! one instant: the end of the run ([`What::Stopped`]), when all faults are over and every program was asked to come to
//! rest. Changes within the last seconds are not judged.
//!
//! Sessions of one process are called `a`, `a~2`, `a~3`; a belief belongs to the process, not to one session.

mod barrier;
mod counter;
mod double_barrier;
mod group;
mod holds;
mod partition;
mod queue;
mod tree;

use crate::explanation::{Explanation, explain};
use crate::findings::Findings;
use crate::history::{Event, FaultKind, Kind, ObjectId, OpId, Outcome, Session, Sym, Verb, What, Who};
use crate::kinds::{ClaimedAs, Recipe};
use crate::scene::Scene;
use crate::view::Moment;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use tree::Tree;

/// The time without a change after which a state counts as stable, in microseconds: two session timeouts of two
/// seconds, within which servers end a session, and a second for the reports.
pub const STILL: u64 = 5_000_000;

/// The name of a process.
type Process = String;

/// The claims about all objects.
#[derive(Clone, Default)]
pub(crate) struct Claims {
    world: World,
    objects: BTreeMap<ObjectId, Object>,
    /// The open operations, with their objects and arguments.
    open: BTreeMap<OpId, Call>,
}

/// The evidence that claims are checked against.
#[derive(Clone, Default)]
struct World {
    tree: Tree,
    /// By number of the client.
    sessions: BTreeMap<u16, Session>,
    ended: BTreeSet<Session>,
    /// The processes that died, by number of each of their sessions.
    dead: BTreeSet<u16>,
    /// The end of the last fault or of its consequences, in microseconds.
    stirred: u64,
}

impl World {
    /// Whether the session of a client is alive, as far as is known.
    fn stands(&self, client: u16) -> bool {
        !self.dead.contains(&client)
            && self.sessions.get(&client).is_none_or(|session| !self.ended.contains(session))
    }

    /// Whether the process of a client lives.
    fn lives(&self, client: u16) -> bool {
        !self.dead.contains(&client)
    }
}

/// An operation that is open.
#[derive(Clone)]
struct Call {
    object: ObjectId,
    verb: Verb,
    client: u16,
    process: Process,
    at: Moment,
    argument: Option<Sym>,
}

/// The claims about an object.
#[derive(Clone)]
enum Object {
    Holds(holds::Holds),
    Barrier(barrier::Barrier),
    DoubleBarrier(double_barrier::DoubleBarrier),
    Queue(queue::Queue),
    Counter(counter::Counter),
    Partition(partition::Partition),
    Cache(tree::Cache),
    Group(group::Group),
}

impl Object {
    fn new(kind: Kind) -> Option<Object> {
        Some(match kind.recipe().claimed_as {
            ClaimedAs::Nothing => return None,
            ClaimedAs::Holds => Object::Holds(Default::default()),
            ClaimedAs::Barrier => Object::Barrier(Default::default()),
            ClaimedAs::DoubleBarrier => Object::DoubleBarrier(Default::default()),
            ClaimedAs::Queue => Object::Queue(Default::default()),
            ClaimedAs::Counter => Object::Counter(Default::default()),
            ClaimedAs::Partition => Object::Partition(Default::default()),
            ClaimedAs::Cache => Object::Cache(Default::default()),
            ClaimedAs::Group => Object::Group(Default::default()),
        })
    }
}

/// The context in which a claim is judged.
#[derive(Clone)]
struct Context<'a, 'b> {
    scene: &'a Scene<'b>,
    world: &'a World,
    object: ObjectId,
}

impl Context<'_, '_> {
    fn size(&self) -> usize {
        self.scene.object(self.object).size as usize
    }

    fn recipe(&self) -> &'static Recipe {
        self.scene.kind(self.object).recipe()
    }

    /// Whether nothing has changed since that time for long enough.
    fn is_still(&self, since: u64) -> bool {
        self.scene.at >= since.max(self.world.stirred).saturating_add(STILL)
    }

    /// The time since then, as text.
    fn for_long(&self, since: u64) -> String {
        format!("{} s", (self.scene.at.saturating_sub(since)) / 1_000_000)
    }

    /// Explains that a call has not returned, with its begin. `what` is empty, or begins with a space.
    fn still_waits(&self, process: &str, what: &str, begin: Moment) -> Explanation {
        explain(format!(
            "{process} still waits{what} at {}: its call began at {}",
            self.scene.when(self.scene.now()),
            self.scene.when(begin)
        ))
    }

    /// Adds the blocking owners: the first ephemerals below the object.
    fn with_ephemerals(&self, text: Explanation) -> Explanation {
        self.world.tree.ephemerals(self.scene, self.object).take(4).fold(text, Explanation::because)
    }

    fn text(&self, sym: Sym) -> String {
        self.scene.text(sym).to_owned()
    }
}

/// A step of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It begins, and its argument is known.
    Begins,
    Returns(Outcome),
    /// The belief that the call began ends.
    Unbelieved,
    /// Its process has died.
    Dies,
}

/// The name of the process of a session: sessions of one process are called `a`, `a~2`, `a~3`.
pub fn process_of(name: &str) -> &str {
    match name.rsplit_once('~') {
        Some((process, number)) if number.parse::<u32>().is_ok() => process,
        _ => name,
    }
}

impl Claims {
    /// Takes in an event; the view shows the state after it.
    pub(crate) fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        self.world.tree.event(scene, event);
        match event.what {
            What::Call { object, verb, .. } => self.called(scene, event, object, verb, out),
            What::Given { text, .. } => {
                if let Some(call) = self.open.get_mut(&event.op) {
                    call.argument = Some(text);
                    let call = call.clone();
                    if !matches!(self.objects.get(&call.object), Some(Object::Holds(_))) {
                        self.step(scene, &call, Step::Begins, out);
                    }
                }
            }
            What::Return { outcome, .. } => {
                if let Some(call) = self.open.get(&event.op).cloned() {
                    self.step(scene, &call, Step::Returns(outcome), out);
                    if call.verb.asks_for().is_none() || outcome != Outcome::Done {
                        self.open.remove(&event.op);
                    }
                }
            }
            What::Unbelieve { .. } => {
                if let Some(call) = self.open.remove(&event.op) {
                    self.step(scene, &call, Step::Unbelieved, out);
                }
            }
            What::Observed { text, number, .. } => {
                if let Some(call) = self.open.get(&event.op).cloned() {
                    let at = Context { scene, world: &self.world, object: call.object };
                    match self.objects.get_mut(&call.object) {
                        Some(Object::Queue(queue)) => queue.took(&at, &call, text, out),
                        Some(Object::Counter(counter)) => counter.counted(&at, &call, text, out),
                        Some(Object::Cache(cache)) => cache.sees(&call, text, number),
                        Some(Object::Group(group)) => group.sees(&at, &call, text, out),
                        _ => {}
                    }
                }
            }
            What::State { session, .. } => {
                if let Who::Client(client) = event.who {
                    self.world.sessions.insert(client, session);
                }
            }
            What::Ended { session, .. } => {
                self.world.ended.insert(session);
                self.world.stirred = event.at;
            }
            What::Crash { client } => {
                self.world.dead.insert(client);
                self.world.stirred = event.at;
                let died: Vec<OpId> =
                    self.open.iter().filter(|(_, call)| call.client == client).map(|(op, _)| *op).collect();
                for op in died {
                    let Some(call) = self.open.remove(&op) else { continue };
                    self.step(scene, &call, Step::Dies, out);
                }
            }
            What::Heal | What::Mended { kind: FaultKind::ClientPause, .. } => self.world.stirred = event.at,
            What::Stopped => self.stopped(scene, out),
            _ => {}
        }
    }

    fn called(&mut self, scene: &Scene<'_>, event: &Event, object: ObjectId, verb: Verb, out: &mut Findings) {
        let Who::Client(client) = event.who else { return };
        let is_reported =
            scene.tables.objects.get(usize::from(object.0)).is_some_and(|of| of.manner.reported);
        if !is_reported {
            return;
        }
        if let Entry::Vacant(vacant) = self.objects.entry(object) {
            let Some(new) = Object::new(scene.kind(object)) else { return };
            vacant.insert(new);
        }
        let process = process_of(&scene.client(client)).to_owned();
        let at = Moment { at: event.at, index: scene.index };
        let call = Call { object, verb, client, process, at, argument: None };
        self.open.insert(event.op, call.clone());
        // A call with an argument begins when its argument is known.
        let is_held = matches!(self.objects.get(&object), Some(Object::Holds(_)));
        if is_held || !verb.is_reported_with_argument() {
            self.step(scene, &call, Step::Begins, out);
        }
    }

    fn step(&mut self, scene: &Scene<'_>, call: &Call, step: Step, out: &mut Findings) {
        let at = Context { scene, world: &self.world, object: call.object };
        match self.objects.get_mut(&call.object) {
            Some(Object::Holds(of)) => of.step(&at, call, step, out),
            Some(Object::Barrier(of)) => of.step(&at, call, step),
            Some(Object::DoubleBarrier(of)) => of.step(&at, call, step, out),
            Some(Object::Queue(of)) => of.step(&at, call, step, out),
            Some(Object::Counter(of)) => of.step(&at, call, step),
            Some(Object::Partition(of)) => of.step(&at, call, step, out),
            Some(Object::Cache(of)) => of.step(&at, call, step, out),
            Some(Object::Group(of)) => of.step(&at, call, step),
            None => {}
        }
    }

    /// Judges liveness at the end of the run.
    fn stopped(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for (object, of) in &mut self.objects {
            let at = Context { scene, world: &self.world, object: *object };
            match of {
                Object::Holds(of) => of.stopped(&at, out),
                Object::Barrier(of) => of.stopped(&at, out),
                Object::DoubleBarrier(of) => of.stopped(&at, out),
                Object::Queue(of) => of.stopped(&at, out),
                Object::Partition(of) => of.stopped(&at, out),
                Object::Group(of) => of.stopped(&at, out),
                Object::Counter(_) | Object::Cache(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::process_of;

    #[test]
    fn sessions_of_a_process_have_numbers() {
        assert_eq!(["a", "a~2", "a~b", "10.0.0.2"].map(process_of), ["a", "a", "a~b", "10.0.0.2"]);
    }
}
