//! The state that a hold, a registration, a membership or a place reports about itself.
//!
//! It may report `held` only while its client is connected and has not learned of a loss: MX-14, LE-9 of an
//! election, AN-1 outside of contests. It may report `suspect` or `lost` only for a reason: MX-16, LE-10 of an
//! election, GM-8 of a group, AN-2 of names and double barriers. The results of its `run` and its `resumed` agree with
//! its state. A caller that waits for a loss is notified as soon as its client has learned of the reason (AN-1).

use super::loss::{self, Loss, Znode};
use crate::rule::prelude::*;
use crate::text::seconds;
use crate::view::{Hold, Moment, Op, Part, Phase};

/// The reported states.
#[derive(Clone, Default)]
pub(crate) struct ToldState {
    /// The znodes of registrations, memberships and places.
    owned: Vec<Owned>,
    /// The operations whose results were reported lost.
    lost: Vec<OpId>,
    /// Those whose callers wait for a report of `suspect` or `lost`.
    watched: Vec<Told>,
}

/// A znode that represents its client, outside of a contest.
#[derive(Clone)]
struct Owned {
    op: OpId,
    path: Sym,
    session: Session,
    is_alive: bool,
}

/// Whether an operation returns a handle that reports its state, outside of a contest.
fn gives_owned(scene: &Scene<'_>, op: &Op) -> bool {
    let is_its = |(verb, _)| verb == op.verb;
    op.phase != Phase::Unborn && scene.kind(op.object).recipe().handle.is_some_and(is_its)
}

impl ToldState {
    /// A holder that has stopped acts as holder again.
    fn goes_on(scene: &Scene<'_>, id: OpId, object: ObjectId, out: &mut Findings) {
        let op = scene.view.op(id);
        let session = scene.view.session(op.session);
        if !op.unbelieved.came() {
            return;
        }
        let rule = scene.rule(Property::StopsInTime, object);
        if !rule.is_about(scene.kind(object)) {
            return;
        }
        out.premise(rule, object);
        let is_over = session.known_over.came();
        if !(is_over || session.is_suspended) || out.only_counts(rule, object) {
            return;
        }
        let why = if is_over { "its session is over" } else { "its client is not connected" };
        let text = explain(format!("{} goes on at {}", scene.actor(id), scene.when(scene.now())))
            .because(format!("it had stopped at {}", scene.when(op.unbelieved)))
            .not_excused(why);
        out.fail(rule, scene, object, &[op.believed.index, op.unbelieved.index], text);
    }

    /// The handle that an operation returned; none if it returned none.
    fn held_by(&self, scene: &Scene<'_>, id: OpId) -> Option<Told> {
        let op = scene.view.op(id);
        if op.believed.came() {
            let was_lost = op.hold == Hold::Over && op.why == Why::Lost;
            return Some(Told {
                op: id,
                object: op.object,
                session: op.session,
                since: op.believed,
                was_lost,
            });
        }
        let own = self.owned.iter().rfind(|own| own.op == id)?;
        let was_lost = self.lost.contains(&id);
        (op.phase == Phase::Over(Outcome::Done)).then_some(Told {
            op: id,
            object: op.object,
            session: own.session,
            since: op.over,
            was_lost,
        })
    }

    /// Judges a report of `held`.
    fn held(scene: &Scene<'_>, told: &Told, out: &mut Findings) {
        let (object, session) = (told.object, scene.view.session(told.session));
        let rule = scene.rule(Property::StopsInTime, object);
        out.premise(rule, object);
        let why = if session.known_over.came() {
            "its session is over, and its client knows it"
        } else if session.is_suspended {
            "its client is not connected"
        } else if told.was_lost {
            "the client was told before that it is lost"
        } else {
            return;
        };
        if out.only_counts(rule, object) {
            return;
        }
        let what = scene.kind(object).recipe().handle.map_or("guard", |(_, name)| name);
        let (client, now) = (scene.actor(told.op), scene.when(scene.now()));
        let text = explain(format!("the {what} of {client} says at {now} that it is held")).because(why);
        out.fail(rule, scene, object, &[told.since.index], text);
    }

    /// A caller that waits for a loss is notified of it at once.
    fn told_too_late(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let reason = |told: &Told| {
            let session = scene.view.session(told.session);
            match (session.known_over.came(), session.is_suspended) {
                (true, _) => Some((session.known_over, "its client has learned that its session is over")),
                (false, true) => Some((session.suspended, "its client is not connected")),
                (false, false) => None,
            }
        };
        self.watched.retain(|told| {
            let client = scene.view.client(scene.view.op(told.op).client);
            let Some((since, why)) = reason(told).filter(|_| !client.is_paused()) else { return true };
            if client.is_dead() || scene.at <= since.at.saturating_add(scene.view.settle) {
                return !client.is_dead();
            }
            if !out.only_counts(RuleId::An1, told.object) {
                let waits = format!("{} waits to be told that what it was given", scene.actor(told.op));
                let text =
                    explain(format!("{waits} is lost, and is not told at {}", scene.when(scene.now())))
                        .because(format!("{why} since {}", scene.when(since)));
                out.fail(RuleId::An1, scene, told.object, &[told.since.index, since.index], text);
            }
            false
        });
    }

    /// Judges a report of `suspect` or `lost`. The rule about false losses judges the report with which a holder stops.
    fn not_held(&self, scene: &Scene<'_>, told: &Told, out: &mut Findings) {
        let op = scene.view.op(told.op);
        let is_alive = if op.believed.came() {
            let Some(own) = scene.view.contender(op.own).filter(|_| op.hold == Hold::Believed) else {
                return;
            };
            own.is_alive()
        } else {
            self.owned.iter().any(|own| own.op == told.op && own.is_alive)
        };
        let Told { op, object, session, since, was_lost } = *told;
        if !was_lost {
            let znode = if is_alive { Znode::There } else { Znode::Deleted };
            loss::judge(scene, &Loss { object, op, session, since, znode }, out);
        }
    }
}

/// The reason of a loss, and the time until which it is not lost.
impl ToldState {
    /// Judges the reported reason of a loss.
    fn reason(&self, scene: &Scene<'_>, told: &Told, reason: &str, out: &mut Findings) {
        let session = scene.view.session(told.session);
        let op = scene.view.op(told.op);
        // A downgrade replaces the znode.
        let contender =
            || scene.view.contender(op.own).filter(|own| own.is_alive() && op.downgrade == OpId(0));
        let owned = || self.owned.iter().find(|own| own.op == told.op && own.is_alive);
        out.premise(RuleId::An1, told.object);
        let why = match reason {
            "_session_over" if !session.known_over.came() => {
                format!("its client has not learned that {} is over", scene.session(told.session))
            }
            "_removed" => {
                let standing = match op.believed.came() {
                    true => contender().map(|own| own.path),
                    false => owned().map(|own| own.path),
                };
                let Some(path) = standing else { return };
                format!("{} still exists", scene.znode(path))
            }
            _ => return,
        };
        if out.only_counts(RuleId::An1, told.object) {
            return;
        }
        let text = explain(format!(
            "{} was told at {} that what it was given is lost: {}",
            scene.actor(told.op),
            scene.when(scene.now()),
            reason.trim_start_matches('_').replace('_', " ")
        ))
        .because(why);
        out.fail(RuleId::An1, scene, told.object, &[told.since.index], text);
    }

    /// Judges the reported instant of loss: one margin before the session may expire, counted from the sending of the
    /// last request or ping that was answered.
    fn until(scene: &Scene<'_>, told: &Told, until: u64, out: &mut Findings) {
        let view = scene.view;
        let session = view.session(told.session);
        let client = view.client(view.op(told.op).client);
        // The instant is in the client's own clock, and is unknown if pings are not recorded.
        if !view.is_sim() || !view.pings_recorded || client.drifts.came() {
            return;
        }
        out.premise(RuleId::An1, told.object);
        let patience = view.timeout_of(told.session).saturating_sub(scene.object(told.object).margin);
        let right = session.answered_sent.saturating_add(patience);
        if right.abs_diff(until) <= view.settle || out.only_counts(RuleId::An1, told.object) {
            return;
        }
        let text = explain(format!(
            "{} was told at {} that what it was given is its own until {}",
            scene.actor(told.op),
            scene.when(scene.now()),
            seconds(until)
        ))
        .because(format!(
            "it is until {}: the last request or ping that was answered had been sent at {}, the session lasts {}, and the margin is {}",
            seconds(right),
            seconds(session.answered_sent),
            ms(view.timeout_of(told.session)),
            ms(scene.object(told.object).margin)
        ));
        out.fail(RuleId::An1, scene, told.object, &[told.since.index, session.answer], text);
    }
}

/// A handle that reports its state.
#[derive(Clone, Copy)]
struct Told {
    /// The operation that returned it.
    op: OpId,
    object: ObjectId,
    session: Session,
    since: Moment,
    /// Whether it has already been reported lost.
    was_lost: bool,
}

impl Rule for ToldState {
    const JUDGES: &'static [Property] = &[Property::StopsInTime, Property::NoFalseLoss];
    const HEARS: Kinds = hears![Observed, Believe, Created, Deleted];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if !self.watched.is_empty() {
            self.told_too_late(scene, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Believe { object, .. } => Self::goes_on(scene, event.op, object, out),
            What::Created { path, owner, .. }
                if owner != Session(0)
                    && event.op != OpId(0)
                    && gives_owned(scene, scene.view.op(event.op))
                    // The participant that opens a double barrier also creates this one.
                    && scene.part(scene.view.op(event.op).object, path) == Some(Part::Member) =>
            {
                self.owned.push(Owned { op: event.op, path, session: owner, is_alive: true });
            }
            What::Deleted { path, .. } => {
                if let Some(own) = self.owned.iter_mut().rfind(|own| own.path == path) {
                    own.is_alive = false;
                }
            }
            What::Observed { seen: Seen::State, text, number, .. } => {
                let Some(told) = self.held_by(scene, event.op) else { return };
                let state = scene.text(text);
                self.watched.retain(|watched| watched.op != event.op);
                if state == "watched" {
                    out.premise(RuleId::An1, told.object);
                    return self.watched.push(told);
                }
                if state == "held" {
                    return Self::held(scene, &told, out);
                }
                if scene.view.is_sim() {
                    self.not_held(scene, &told, out);
                }
                if let Some(reason) = state.strip_prefix("lost") {
                    if scene.view.is_sim() && !told.was_lost {
                        self.reason(scene, &told, reason, out);
                    }
                    self.lost.push(event.op);
                } else if number != 0 {
                    Self::until(scene, &told, number, out);
                }
            }
            _ => {}
        }
    }
}
