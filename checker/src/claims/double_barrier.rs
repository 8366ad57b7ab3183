//! Double barriers: DB-1, DB-2, and PR-1 for participants that wait although all have arrived, or all have left.

use super::{Call, Context, Step};
use crate::explanation::explain;
use crate::findings::Findings;
use crate::history::{Outcome, Verb};
use crate::rule_id::RuleId;
use crate::view::Moment;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(super) struct DoubleBarrier {
    /// By process.
    all: BTreeMap<String, Participant>,
    changed: u64,
}

#[derive(Clone)]
struct Participant {
    client: u16,
    stage: Stage,
    /// The begin of its last call of enter, the return of that call, and the begin of its last call of leave.
    asked: Moment,
    entered: Moment,
    leaves: Moment,
    /// The last time at which it was outside.
    left: Moment,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Out,
    Enters,
    Inside,
    Leaves,
}

impl DoubleBarrier {
    pub(super) fn step(&mut self, at: &Context<'_, '_>, call: &Call, step: Step, out: &mut Findings) {
        let now = at.scene.now();
        if !matches!(call.verb, Verb::Enter | Verb::Leave) {
            return;
        }
        self.changed = now.at;
        let never = Moment::NEVER;
        let own = self.all.entry(call.process.clone()).or_insert(Participant {
            client: call.client,
            stage: Stage::Out,
            asked: never,
            entered: never,
            leaves: never,
            left: Moment { at: 0, index: 0 },
        });
        own.client = call.client;
        match (call.verb, step) {
            (Verb::Enter, Step::Begins) => (own.stage, own.asked) = (Stage::Enters, now),
            (Verb::Enter, Step::Returns(Outcome::Done)) => {
                (own.stage, own.entered) = (Stage::Inside, now);
                self.entered(at, call, out);
            }
            (Verb::Leave, Step::Begins) => (own.stage, own.leaves) = (Stage::Leaves, now),
            (Verb::Leave, Step::Returns(Outcome::Done)) => {
                self.left(at, call, out);
                self.goes_out(&call.process, now);
            }
            _ => self.goes_out(&call.process, now),
        }
    }

    fn goes_out(&mut self, process: &str, now: Moment) {
        if let Some(own) = self.all.get_mut(process) {
            (own.stage, own.left) = (Stage::Out, now);
        }
    }

    /// DB-1: counts every participant that called enter since this participant was last outside.
    fn entered(&self, at: &Context<'_, '_>, call: &Call, out: &mut Findings) {
        out.premise(RuleId::Db1, at.object);
        let Some(own) = self.all.get(&call.process) else { return };
        let counts = |other: &&Participant| {
            other.stage != Stage::Out || other.asked.came() && other.asked.index > own.left.index
        };
        let there = self.all.values().filter(counts).count();
        if there >= at.size() {
            return;
        }
        let text = explain(format!(
            "{} was let in at {} with {there} participants, and the barrier is for {}",
            call.process,
            at.scene.when(at.scene.now()),
            at.size()
        ))
        .because(format!("no more clients had called since it was out last, at {}", at.scene.when(own.left)));
        out.fail(RuleId::Db1, at.scene, at.object, &[call.at.index], text);
    }

    /// DB-2: no participant is inside that was inside before this participant began to leave.
    fn left(&self, at: &Context<'_, '_>, call: &Call, out: &mut Findings) {
        out.premise(RuleId::Db2, at.object);
        let Some(own) = self.all.get(&call.process) else { return };
        let stays = |other: &&Participant| {
            other.stage == Stage::Inside
                && other.entered.index < own.leaves.index
                && at.world.stands(other.client)
        };
        let Some((name, other)) = self.all.iter().find(|(_, other)| stays(other)) else { return };
        let text = explain(format!("{} has left at {}", call.process, at.scene.when(at.scene.now())))
            .because(format!(
                "{name} is inside since {}, and has not called to leave",
                at.scene.when(other.entered)
            ))
            .not_excused(format!("the session of {name} is alive"));
        out.fail(RuleId::Db2, at.scene, at.object, &[call.at.index, other.entered.index], text);
    }

    pub(super) fn stopped(&mut self, at: &Context<'_, '_>, out: &mut Findings) {
        let alive = || self.all.iter().filter(|(_, one)| at.world.lives(one.client));
        let count = |stage| alive().filter(|(_, one)| one.stage == stage).count();
        let (enters, inside, leaves) = (count(Stage::Enters), count(Stage::Inside), count(Stage::Leaves));
        if enters + leaves > 0 {
            out.premise(RuleId::Pr1, at.object);
        }
        if !at.is_still(self.changed) {
            return;
        }
        let tell = |stage, why: String, out: &mut Findings| {
            let Some((name, one)) = alive().find(|(_, one)| one.stage == stage) else { return };
            let (since, what) =
                if stage == Stage::Enters { (one.asked, " to enter") } else { (one.leaves, " to leave") };
            let text = at
                .still_waits(name, what, since)
                .because(format!("{why}, and for {} nothing has changed", at.for_long(self.changed)));
            out.fail(RuleId::Pr1, at.scene, at.object, &[since.index], at.with_ephemerals(text));
        };
        if enters > 0 && enters + inside + leaves >= at.size() {
            let why = format!(
                "{} participants are there, and the barrier is for {}",
                enters + inside + leaves,
                at.size()
            );
            tell(Stage::Enters, why, out);
        }
        if leaves > 0 && inside == 0 {
            tell(Stage::Leaves, "nobody is inside any more who has not called to leave".to_owned(), out);
        }
    }
}
