//! The participants of double barriers, their znodes, and the openings.

use crate::rule::prelude::*;
use crate::rules::announced::Announced;
use crate::view::{Moment, NEVER, Part, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// The identity of an enter: the name given by its caller, or the operation itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Id {
    Named(Sym),
    Only(OpId),
}

/// An enter, and everything up to the end of its leave.
#[derive(Clone, Debug)]
pub(super) struct Participation {
    pub(super) enter: OpId,
    pub(super) object: ObjectId,
    pub(super) client: u16,
    pub(super) session: Session,
    pub(super) id: Id,
    pub(super) called: Moment,
    /// The end of the enter and its outcome; a crash counts as cancelled.
    pub(super) over: Moment,
    pub(super) outcome: Option<Outcome>,
    pub(super) generation: Option<u64>,
    pub(super) roster: Option<Sym>,
    pub(super) leave: OpId,
    pub(super) left: Moment,
    pub(super) leave_over: Moment,
    pub(super) died: Moment,
    pub(super) last: Last,
    /// The last event of its current operation, regardless of later replies.
    pub(super) last_event: Option<(u32, &'static str)>,
    /// Whether it has sent a request to create `ready`.
    pub(super) opens: bool,
}

/// The last event by which an operation learned something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Nothing,
    Answer(u32),
    Event(u32, &'static str),
}

impl Participation {
    pub(super) fn is_inside(&self) -> bool {
        self.outcome == Some(Outcome::Done) && !self.left.came() && !self.died.came()
    }

    pub(super) fn is_entering(&self) -> bool {
        self.outcome.is_none()
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.left.came() && !self.leave_over.came() && !self.died.came()
    }

    /// The end of the participation, if it is over.
    pub(super) fn done_with(&self) -> Option<Moment> {
        match self.outcome {
            Some(Outcome::Done) if self.died.came() => Some(self.died),
            Some(Outcome::Done) => self.leave_over.came().then_some(self.leave_over),
            Some(_) => Some(self.over),
            None => None,
        }
    }
}

/// The znode of a participant.
#[derive(Clone, Debug)]
pub(super) struct ParticipantZnode {
    pub(super) part: usize,
    pub(super) object: ObjectId,
    pub(super) path: Sym,
    pub(super) dir: String,
    pub(super) owner: Session,
    pub(super) created: Moment,
    pub(super) gone: u64,
    pub(super) deleted: Moment,
    pub(super) by_foreign: bool,
}

impl ParticipantZnode {
    /// Whether it existed after that event.
    pub(super) fn was_there(&self, index: u32) -> bool {
        self.created.index <= index && (!self.deleted.came() || index < self.deleted.index)
    }
}

/// A `ready` znode: the barrier has opened.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) object: ObjectId,
    pub(super) path: Sym,
    pub(super) dir: String,
    pub(super) creator: OpId,
    pub(super) owner: Session,
    pub(super) czxid: u64,
    pub(super) created: Moment,
    pub(super) gone: u64,
    pub(super) deleted: Moment,
    /// The participants' znodes that existed when it was created.
    pub(super) counted: Vec<usize>,
}

/// Everything about participants.
#[derive(Clone, Debug, Default)]
pub(super) struct Participants {
    pub(super) parts: Vec<Participation>,
    pub(super) members: Vec<ParticipantZnode>,
    pub(super) readies: Vec<Ready>,
    /// By operation, enter or leave: its participation plus one.
    of_op: Vec<u32>,
    /// Open enters and leaves.
    pub(super) open: Vec<OpId>,
    /// By path: the deletion of the object. A znode created there later is another object.
    ended: BTreeMap<Sym, Moment>,
    announced: Announced,
    /// Whether a fault was injected, or an operation gave up, so that the costs of a fault-free run do not apply.
    pub(super) is_disturbed: bool,
    /// Whether a fault was injected.
    is_hostile: bool,
}

/// The double barrier at or above a path, and whether the path is the barrier itself.
pub(super) fn object_of(tables: Tables<'_>, path: Sym) -> Option<(ObjectId, bool)> {
    let text = tables.names.get(path)?;
    tables.objects.iter().enumerate().find_map(|(at, object)| {
        let root = tables.names.get(object.path).filter(|_| object.kind == Kind::DoubleBarrier)?;
        let below = text.strip_prefix(root)?;
        (below.is_empty() || below.starts_with('/')).then_some((ObjectId(at as u16), below.is_empty()))
    })
}

/// Whether a participation counts at a moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TakesPart {
    Not,
    Perhaps,
    Certainly,
}

impl TakesPart {
    fn perhaps(may_be: bool) -> TakesPart {
        if may_be { TakesPart::Perhaps } else { TakesPart::Not }
    }
}

impl Participants {
    pub(super) fn part_of(&self, op: OpId) -> Option<usize> {
        self.of_op.get(op.0 as usize).copied().filter(|part| *part != 0).map(|part| part as usize - 1)
    }

    fn belongs(&mut self, op: OpId, part: usize) {
        *slot(&mut self.of_op, op.0 as usize) = part as u32 + 1;
    }

    /// Takes an event in.
    pub(super) fn update(&mut self, scene: &Scene<'_>, event: &Event) {
        match event.what {
            What::Call { object, verb, .. } => self.called(scene, event, object, verb),
            What::Given { text, .. } => {
                if let Some(part) = self.part_of(event.op) {
                    self.parts[part].id = Id::Named(text);
                }
            }
            What::Observed { seen: Seen::Opening, text, number, .. } => {
                if let Some(part) = self.part_of(event.op) {
                    (self.parts[part].generation, self.parts[part].roster) = (Some(number), Some(text));
                }
            }
            What::Return { outcome, .. } => self.returned(scene, event.op, outcome),
            What::Send { kind, path, .. } => {
                if let Some(part) = self.part_of(event.op) {
                    let session = scene.view.client(self.parts[part].client).session;
                    self.parts[part].session = session;
                    let is_ready = scene.part(self.parts[part].object, path) == Some(Part::Opening);
                    self.parts[part].opens |= kind == Request::Create && is_ready;
                }
            }
            What::Reply { req, .. } => {
                let of = scene.view.request(req).map_or(OpId(0), |req| req.op);
                self.learned(of, Last::Answer(scene.index));
            }
            What::Notice { kind, .. } => {
                self.told_client(scene, event.who, Last::Event(scene.index, event_name(kind)));
            }
            What::State { .. } => {
                let what = "a change of its session's state";
                self.told_client(scene, event.who, Last::Event(scene.index, what));
            }
            What::Created { zxid, path, owner } => self.created(scene, event.op, zxid, path, owner),
            What::Deleted { zxid, path, by } => self.deleted(scene, zxid, path, by),
            What::Crash { client } => self.crashed(scene, client),
            What::Fault { .. } => {
                (self.is_disturbed, self.is_hostile) = (true, true);
                self.announced.note(scene, event);
            }
            _ => {}
        }
    }

    fn called(&mut self, scene: &Scene<'_>, event: &Event, object: ObjectId, verb: Verb) {
        let Who::Client(client) = event.who else { return };
        let now = scene.view.now;
        match verb {
            Verb::Enter => {
                self.belongs(event.op, self.parts.len());
                self.parts.push(Participation {
                    enter: event.op,
                    object,
                    client,
                    session: scene.view.client(client).session,
                    id: Id::Only(event.op),
                    called: now,
                    over: Moment::NEVER,
                    outcome: None,
                    generation: None,
                    roster: None,
                    leave: OpId(0),
                    left: Moment::NEVER,
                    leave_over: Moment::NEVER,
                    died: Moment::NEVER,
                    last: Last::Nothing,
                    last_event: None,
                    opens: false,
                });
                self.open.push(event.op);
            }
            Verb::Leave => {
                let of =
                    |part: &Participation| part.client == client && part.object == object && part.is_inside();
                let Some(part) = self.parts.iter().rposition(of) else { return };
                self.belongs(event.op, part);
                (self.parts[part].leave, self.parts[part].left) = (event.op, now);
                (self.parts[part].last, self.parts[part].last_event) = (Last::Nothing, None);
                self.open.push(event.op);
            }
            _ => {}
        }
    }

    fn returned(&mut self, scene: &Scene<'_>, op: OpId, outcome: Outcome) {
        let Some(part) = self.part_of(op) else { return };
        self.open.retain(|open| *open != op);
        self.is_disturbed |= outcome != Outcome::Done;
        let (part, now) = (&mut self.parts[part], scene.view.now);
        if op == part.enter {
            (part.over, part.outcome) = (now, Some(outcome));
        } else {
            part.leave_over = now;
        }
    }

    fn crashed(&mut self, scene: &Scene<'_>, client: u16) {
        let now = scene.view.now;
        for part in self.parts.iter_mut().filter(|part| part.client == client) {
            if part.done_with().is_some() {
                continue;
            }
            if part.is_entering() {
                (part.over, part.outcome) = (now, Some(Outcome::Cancelled));
            }
            part.died = now;
            let (enter, leave) = (part.enter, part.leave);
            self.open.retain(|open| *open != enter && *open != leave);
        }
    }

    fn learned(&mut self, op: OpId, last: Last) {
        if let Some(part) = self.part_of(op).filter(|_| self.open.contains(&op)) {
            self.parts[part].last = last;
            if let Last::Event(index, what) = last {
                self.parts[part].last_event = Some((index, what));
            }
        }
    }

    fn told_client(&mut self, scene: &Scene<'_>, who: Who, last: Last) {
        for at in 0..self.open.len() {
            let op = self.open[at];
            if Who::Client(scene.view.op(op).client) == who {
                self.learned(op, last);
            }
        }
    }

    fn created(&mut self, scene: &Scene<'_>, op: OpId, zxid: u64, path: Sym, owner: Session) {
        let Some((object, false)) = object_of(scene.tables, path) else { return };
        let Some((dir, _)) = scene.tables.names.get(path).and_then(|text| text.rsplit_once('/')) else {
            return;
        };
        let (dir, created) = (dir.to_owned(), scene.view.now);
        if scene.part(object, path) == Some(Part::Opening) {
            let here = |member: &ParticipantZnode| member.object == object && member.gone == NEVER;
            let same = self.members.iter().any(|member| here(member) && member.dir == dir);
            let counted = self.members.iter().enumerate();
            let counted = counted.filter(|(_, member)| here(member) && (!same || member.dir == dir));
            let counted = counted.map(|(at, _)| at).collect();
            self.readies.push(Ready {
                object,
                path,
                dir,
                creator: op,
                owner,
                czxid: zxid,
                created,
                gone: NEVER,
                deleted: Moment::NEVER,
                counted,
            });
            return;
        }
        let Some(part) = self.part_of(op).filter(|_| owner != Session(0)) else { return };
        if op != self.parts[part].enter {
            return;
        }
        self.members.push(ParticipantZnode {
            part,
            object,
            path,
            dir,
            owner,
            created,
            gone: NEVER,
            deleted: Moment::NEVER,
            by_foreign: false,
        });
    }

    fn deleted(&mut self, scene: &Scene<'_>, zxid: u64, path: Sym, by: Session) {
        let now = scene.view.now;
        if scene.tables.objects.iter().any(|object| object.path == path) {
            self.ended.insert(path, now);
        }
        if let Some(member) =
            self.members.iter_mut().rfind(|member| member.path == path && member.gone == NEVER)
        {
            (member.gone, member.deleted) = (zxid, now);
            let is_foreign = by != member.owner && (scene.view.is_foreign_change() || self.announced.take());
            member.by_foreign |= is_foreign;
        }
        if let Some(ready) = self.readies.iter_mut().rfind(|ready| ready.path == path && ready.gone == NEVER)
        {
            (ready.gone, ready.deleted) = (zxid, now);
        }
    }

    /// Whether a barrier was deleted since.
    pub(super) fn has_ended(&self, root: Sym, since: Moment) -> bool {
        self.ended.get(&root).is_some_and(|ended| ended.index > since.index)
    }

    /// The latest znode of a participation.
    pub(super) fn own(&self, part: usize) -> Option<&ParticipantZnode> {
        self.members.iter().rfind(|member| member.part == part)
    }

    /// The opening that counted a znode: the first `ready` created after the znode.
    pub(super) fn opening_of(&self, own: &ParticipantZnode) -> Option<&Ready> {
        let since = |ready: &&Ready| ready.created.index > own.created.index;
        let here = |ready: &&Ready| {
            ready.object == own.object && (ready.dir == own.dir || own.dir.starts_with(&ready.dir))
        };
        self.readies.iter().filter(here).find(since)
    }

    /// Whether a participation that failed or died may still be counted, since its znode is deleted with a delay.
    fn may_linger(scene: &Scene<'_>, part: &Participation) -> bool {
        let gone = if part.died.came() { part.died } else { part.over };
        let view = scene.view;
        let since = view.calm_since.max(gone.at);
        !view.healed || scene.at <= since.saturating_add(view.bound(part.object))
    }

    /// Whether an access list or a failing server may have ended a call, so that its znode may still exist.
    pub(super) fn was_denied(scene: &Scene<'_>, part: &Participation) -> bool {
        scene.view.op(part.enter).refused != 0 && Self::may_linger(scene, part)
    }

    /// The state of a participation after an event, from the view of a participant that entered, or created `ready`,
    /// and had called before.
    fn takes_part(
        &self,
        scene: &Scene<'_>,
        part: &Participation,
        of: &Participation,
        index: u32,
    ) -> TakesPart {
        let went = |moment: Moment| moment.came() && moment.index <= index;
        let other_generation = match (part.generation, of.generation) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        let was_in_before = part.outcome == Some(Outcome::Done) && part.over.index < of.called.index;
        let here =
            part.object == of.object && part.called.index <= index && !other_generation && !was_in_before;
        if !here || went(part.left) {
            return TakesPart::Not;
        }
        match part.outcome {
            // An access list, or a failing server, may end a call that has registered: its znode is deleted later.
            Some(Outcome::Refused) if went(part.over) => TakesPart::perhaps(Self::was_denied(scene, part)),
            Some(Outcome::Cancelled | Outcome::Unknown) if went(part.over) => {
                TakesPart::perhaps(Self::may_linger(scene, part))
            }
            _ if went(part.died) => TakesPart::perhaps(Self::may_linger(scene, part)),
            _ => TakesPart::Certainly,
        }
    }

    /// The maximal number of participants at once between two events, certain and possible; `registered`: only those
    /// with a znode.
    pub(super) fn most_together(
        &self,
        scene: &Scene<'_>,
        of: usize,
        (from, to): (u32, u32),
        registered: Option<&str>,
    ) -> (usize, usize) {
        let of = &self.parts[of];
        let within = |index: &u32| (from..=to).contains(index);
        let moments = match registered {
            None => self.parts.iter().map(|part| part.called.index).collect::<Vec<_>>(),
            Some(_) => self.members.iter().map(|member| member.created.index).collect(),
        };
        let (mut most, mut most_perhaps) = (0, 0);
        for index in moments.into_iter().filter(within).chain([from, to]) {
            let (mut sure, mut perhaps) = (BTreeSet::new(), BTreeSet::new());
            for (at, part) in self.parts.iter().enumerate() {
                let has_znode = |dir: &str| {
                    self.members
                        .iter()
                        .any(|member| member.part == at && member.was_there(index) && member.dir == dir)
                };
                if registered.is_some_and(|dir| !has_znode(dir)) {
                    continue;
                }
                let takes_part = self.takes_part(scene, part, of, index);
                if takes_part == TakesPart::Certainly {
                    sure.insert(part.id);
                }
                if takes_part != TakesPart::Not {
                    perhaps.insert(part.id);
                }
            }
            most = most.max(sure.len());
            most_perhaps = most_perhaps.max(perhaps.len());
        }
        (most, most_perhaps)
    }

    /// Whether a participant has left without a call of leave: its session is over, it died, or its znode was deleted.
    pub(super) fn is_lost(&self, scene: &Scene<'_>, at: usize) -> bool {
        let (part, view) = (&self.parts[at], scene.view);
        let session = view.session(part.session);
        let over = session.ended.came() || session.known_over.came();
        let by_foreign = self.own(at).is_some_and(|own| own.by_foreign);
        // A capture shows the end of a session only when its client learns of it.
        let unheard = !view.is_sim() && (session.suspended.came() || view.excusable);
        part.died.came() || over || by_foreign || unheard
    }

    /// Whether no fault is active any more, or none was so far.
    pub(super) fn is_calm(&self, scene: &Scene<'_>) -> bool {
        scene.view.healed || !self.is_hostile
    }

    /// Whether the operation is still open.
    pub(super) fn is_open(scene: &Scene<'_>, op: OpId) -> bool {
        scene.view.op(op).phase == Phase::Open
    }
}
