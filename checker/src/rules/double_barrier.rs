//! Double barriers: DB-1 to DB-10.
//!
//! Calls and returns show the participants and their times; the servers' events show the znodes that existed at the
//! opening. An enter is judged by both; a leave by participants that have not called leave, and by remaining znodes.

mod cost;
mod enter;
mod leaks;
mod leave;
mod participants;
mod progress;

use crate::rule::prelude::*;
use crate::rules::wake_sources::Touched;
use participants::Participants;

/// DB-1 to DB-10.
#[derive(Clone, Default)]
pub(crate) struct DoubleBarriers {
    participants: Participants,
    progress: progress::Progress,
    cost: cost::Cost,
    leaks: leaks::Leaks,
    /// The time of the next check for overdue operations: checking at every event would slow a long run down.
    next_look: u64,
}

/// The interval between checks for overdue operations, in microseconds.
const LOOK: u64 = 100_000;

impl Rule for DoubleBarriers {
    const HEARS: Kinds = hears![
        Call, Return, Given, Observed, Send, Reply, Lost, Notice, State, Created, Deleted, Written, Arm,
        Fire, Disarm, Marked, Ended, Fault, Mended, Crash, Ceased, Left, Quiesce
    ];
    const ABOUT: &'static [Kind] = &[Kind::DoubleBarrier];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if self.participants.parts.is_empty() {
            return;
        }
        self.progress.pass_time(&self.participants, scene, out);
        if scene.at >= self.next_look && self.participants.is_calm(scene) {
            self.next_look = scene.at.saturating_add(LOOK);
            self.progress.overdue(&self.participants, scene, out);
            self.leaks.overdue(&self.participants, scene, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        self.participants.update(scene, event);
        let participants = &self.participants;
        match event.what {
            What::Call { .. } => self.called(scene, event.op, out),
            What::Return { outcome, .. } => {
                let Some(at) = participants.part_of(event.op) else { return };
                let is_enter = participants.parts[at].enter == event.op;
                let judge = if is_enter { enter::returned } else { leave::returned };
                judge(participants, scene, event.op, outcome, out);
            }
            What::Created { path, .. } => {
                if participants
                    .readies
                    .last()
                    .is_some_and(|ready| ready.path == path && ready.created.index == scene.index)
                {
                    enter::opened(participants, scene, out);
                }
                self.cost.changed(participants, scene, event);
            }
            What::Deleted { .. } => {
                self.cost.changed(participants, scene, event);
                self.progress.look_where(participants, scene, out, |_| true);
            }
            What::Written { .. } => self.cost.changed(participants, scene, event),
            What::Send { kind, path, .. } => {
                cost::Cost::sent(participants, scene, event.op, out);
                if kind == Request::Create {
                    enter::opens(participants, scene, event.op, path, out);
                }
            }
            What::Fire { .. } => self.cost.fired(participants, scene, event, out),
            What::Fault { .. } | What::Mended { .. } | What::Crash { .. } | What::Ceased => {
                self.progress.look_where(participants, scene, out, |_| true);
            }
            What::Left { object, path, owner } if event.who == Who::World => {
                self.leaks.left(participants, scene, (object, path, owner), out);
            }
            What::Quiesce => self.leaks.quiesce(participants, scene, out),
            _ => {}
        }
        match Touched::by(scene, event) {
            Touched::Op(op) => self.progress.look(participants, scene, op, out),
            Touched::Session(session) => {
                self.progress.look_where(participants, scene, out, |part| part.session == session);
            }
            _ => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for at in self.participants.open.iter().filter_map(|op| self.participants.part_of(*op)) {
            if !scene.view.quiet {
                out.unknown(RuleId::Db6, self.participants.parts[at].object);
            }
        }
    }
}

impl DoubleBarriers {
    /// Counts the tests of an enter (DB-6, and DB-5 if others have entered before) and of a leave (DB-6).
    fn called(&self, scene: &Scene<'_>, op: OpId, out: &mut Findings) {
        let Some(at) = self.participants.part_of(op) else { return };
        let part = &self.participants.parts[at];
        out.premise(RuleId::Db6, part.object);
        let entered = |other: &participants::Participation| {
            other.object == part.object
                && other.over.came()
                && other.over.index < scene.index
                && other.generation.is_some()
        };
        if op == part.enter && self.participants.parts.iter().any(entered) {
            out.premise(RuleId::Db5, part.object);
        }
    }
}
