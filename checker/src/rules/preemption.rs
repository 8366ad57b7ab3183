//! The requests of a priority lock's waiter to less urgent holders: RV-5.
//!
//! The call states its policy (`Given`): to wait for them (`never`), to ask them to release (`ask`), or also to delete
//! their znodes after the grace period (`force`). A call without a policy is not judged, and neither is a capture,
//! which shows no writes of other clients.

use crate::rule::prelude::*;
use crate::view::{Contender, List, NOBODY, Op, View, conflict};

/// The policies, as written in the calls.
const NEVER: &str = "never";
const ASK: &str = "ask";
const FORCE: &str = "force";

/// RV-5: a waiter asks and forces the less urgent holders that block it, as its policy says, and no other contenders.
#[derive(Clone, Default)]
pub(crate) struct Preemption {
    blocked: Vec<Blocked>,
}

/// A waiter blocked only by less urgent holders, with nothing in flight.
#[derive(Clone, Copy, PartialEq)]
struct Blocked {
    op: OpId,
    /// The states in which its two lists were served.
    lists: (u64, u64),
    since: u64,
}

/// The policy of a waiter; none if it is not judged.
fn policy<'a>(scene: &Scene<'a>, op: &Op) -> Option<&'a str> {
    let judged = scene.view.is_sim() && op.is_acquire() && scene.view.protocol(op.object).has_priorities();
    let policy = if judged { scene.text(op.given) } else { "" };
    [NEVER, ASK, FORCE].contains(&policy).then_some(policy)
}

/// The conflicting holders in a list.
fn holders<'a>(view: &'a View, own: &'a Contender, list: List) -> impl Iterator<Item = (u32, &'a Contender)> {
    let all = view.contest(own.object).from(0).filter_map(|number| Some((number, view.contender(number)?)));
    let blocks = move |other: &Contender| {
        other.is_held && other.is_in(list.zxid) && other.op != own.op && conflict(other.share, own.share)
    };
    all.filter(move |(_, other)| blocks(other))
}

/// The znode and the two lists of a waiter that has to act: it is undisturbed, it can act, and all holders that block
/// it are less urgent.
fn blocked<'a>(scene: &Scene<'a>, id: OpId) -> Option<(&'a Contender, List, List)> {
    let view = scene.view;
    let op = view.op(id);
    policy(scene, op).filter(|policy| *policy != NEVER)?;
    let own = view.contender(op.node).filter(|own| own.is_alive() && !own.is_held && !own.asked.came())?;
    let session = view.session(own.owner);
    let is_idle = op.is_waiting() && op.undisturbed && op.in_flight == 0 && session.undelivered == 0;
    let (waiting, held) = (op.list?, view.held_list(id)?);
    let acts = is_idle && view.client(op.client).is_awake_in(session) && own.is_in(waiting.zxid);
    let mut blocking = holders(view, own, held).peekable();
    let is_blocked = blocking.peek().is_some() && blocking.all(|(_, other)| other.priority > own.priority);
    let is_next = view.waits_ahead(own, waiting).is_none();
    (acts && is_blocked && is_next).then_some((own, waiting, held))
}

impl Preemption {
    /// Judges a waiter that the holders in that list have blocked for too long.
    fn overdue(
        scene: &Scene<'_>,
        blocked: Blocked,
        (own, list): (&Contender, List),
        out: &mut Findings,
    ) -> bool {
        let view = scene.view;
        let op = view.op(blocked.op);
        let lasted = scene.at.saturating_sub(blocked.since);
        let patience = view.settle + view.round_trip;
        let grace = view.client(op.client).stretch(scene.object(op.object).manner.grace);
        let forces = policy(scene, op) == Some(FORCE);
        // A clean-up deletes the remaining holds of the waiter's own session.
        let stays = |holder: &Contender| holder.is_alive() && holder.owner != own.owner;
        let left = |wanted: fn(&Contender) -> bool| {
            holders(view, own, list).find(|(_, holder)| stays(holder) && wanted(holder))
        };
        let unasked = if lasted > patience { left(|holder| !holder.asked.came()) } else { None };
        let unforced = if forces && lasted > grace + patience { left(|_| true) } else { None };
        let who = scene.actor(blocked.op);
        let (missing, text) = match (unasked, unforced) {
            (Some((number, holder)), _) => (
                holder,
                format!(
                    "{who} waits for {} of {}, which is less urgent, and has not asked it to release by {}",
                    scene.contender(number),
                    scene.actor(holder.op),
                    scene.when(scene.now())
                ),
            ),
            (None, Some((number, holder))) => (
                holder,
                format!(
                    "{who} waits for {} of {}, which is less urgent, and has not deleted it by {}, {} after it had begun to \
                     wait; the grace period is {}",
                    scene.contender(number),
                    scene.actor(holder.op),
                    scene.when(scene.now()),
                    ms(lasted),
                    ms(scene.object(op.object).manner.grace)
                ),
            ),
            (None, None) => return false,
        };
        let text = explain(text).because(format!(
            "its policy is {:?}, and no contender that is as urgent blocks it",
            scene.text(op.given)
        ));
        out.fail(RuleId::Rv5, scene, op.object, &[op.called.index, missing.created], text);
        true
    }

    /// Judges a request to release.
    fn asked(scene: &Scene<'_>, by: OpId, out: &mut Findings) {
        let view = scene.view;
        let op = view.op(by);
        let (Some(policy), Some(asked)) = (policy(scene, op), view.contender(view.asked)) else { return };
        if asked.object != op.object || asked.op == by {
            return;
        }
        out.premise(RuleId::Rv5, asked.object);
        let Some(own) = view.contender(op.node) else { return };
        let why = if policy == NEVER {
            "its policy is to wait"
        } else if !asked.is_held {
            "that one does not hold the lock"
        } else if !conflict(own.share, asked.share) {
            "the two do not exclude each other"
        } else if asked.priority <= own.priority {
            "that one is as urgent, or more"
        } else {
            return;
        };
        let text = explain(format!(
            "{} asked {} of {} to release at {}",
            scene.actor(by),
            scene.contender(view.asked),
            scene.actor(asked.op),
            scene.when(view.now)
        ))
        .because(why.to_owned());
        out.fail(RuleId::Rv5, scene, asked.object, &[op.called.index, asked.created], text);
    }

    /// Judges the deletion of a contender.
    fn deleted(scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        let Some(gone) = view.contender(view.touched).filter(|gone| gone.by_op != gone.op) else { return };
        let op = view.op(gone.by_op);
        let by_owner = gone.by == gone.owner || gone.by_foreign;
        let Some(policy) = policy(scene, op).filter(|_| !by_owner && op.object == gone.object) else {
            return;
        };
        out.premise(RuleId::Rv5, gone.object);
        if policy == FORCE {
            return;
        }
        let text = explain(format!(
            "{} deleted {} of {} at {}",
            scene.actor(gone.by_op),
            scene.contender(view.touched),
            scene.actor(gone.op),
            scene.when(gone.deleted)
        ))
        .because(format!("its policy is {policy:?}: it may not force anybody to release"));
        out.fail(RuleId::Rv5, scene, gone.object, &[op.called.index, gone.created], text);
    }
}

impl Rule for Preemption {
    const JUDGES: &'static [Property] = &[Property::PreemptionAsDeclared];
    const HEARS: Kinds = hears![Data, Deleted];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        if !view.is_sim() {
            return;
        }
        let before = std::mem::take(&mut self.blocked);
        let contests = view.contests.iter().filter(|contest| contest.protocol.has_priorities());
        for id in contests.flat_map(|contest| &contest.waiting) {
            let Some((own, waiting, held)) = blocked(scene, *id) else { continue };
            let lists = (waiting.zxid, held.zxid);
            let known = before.iter().find(|known| known.op == *id && known.lists == lists);
            let mut now = known.copied().unwrap_or(Blocked { op: *id, lists, since: view.now.at });
            if Self::overdue(scene, now, (own, held), out) {
                // It is reported once.
                now.since = u64::MAX;
            }
            self.blocked.push(now);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Data { .. } if scene.view.asked != NOBODY => Self::asked(scene, event.op, out),
            What::Deleted { .. } => Self::deleted(scene, out),
            _ => {}
        }
    }
}
