//! What a hold's guard says and does beside the hold itself: writes under it (MX-17), the state that it tells (MX-14, MX-16).

use super::loss::{self, Loss};
use crate::rules::prelude::*;
use crate::view::{Hold, Moment, Phase};

/// MX-17: a write under a hold is applied only while the hold's znode exists, and once if it is to be applied once.
#[derive(Default)]
pub(crate) struct Fenced {
    /// Writes that are under way, or may still be applied.
    writes: Vec<Write>,
}

#[derive(Clone, Copy)]
struct Write {
    op: OpId,
    object: ObjectId,
    verb: Verb,
    called: Moment,
    /// The znode of the hold.
    hold: Option<Sym>,
    /// The transaction by which it was applied, and the event.
    applied: Option<(u64, u32)>,
}

impl Fenced {
    /// A change that a request of an operation made.
    fn changed(&mut self, scene: &Scene<'_>, (op, path, zxid): (OpId, Sym, u64), out: &mut Findings) {
        let Some(write) = self.writes.iter_mut().find(|write| write.op == op) else { return };
        let Some(hold) = write.hold.filter(|hold| *hold != path) else { return };
        let before = write.applied.replace((zxid, scene.index)).filter(|(other, _)| *other != zxid);
        let write = *write;
        out.premise(RuleId::Mx17, write.object);
        if out.is_enough(RuleId::Mx17, write.object) {
            return;
        }
        let text = |what: &str| {
            let client = scene.client(scene.view.op(op).client);
            explain(format!(
                "a write of {client} under its hold was applied {what} at {}",
                scene.when(scene.now())
            ))
            .because(format!(
                "it wrote {} in {zxid:#x}, and was called at {}",
                scene.path(path),
                scene.when(write.called)
            ))
        };
        if let Some((zxid, index)) = before.filter(|_| write.verb == Verb::TransactOnce) {
            let text = text("a second time").because(format!("e{index}: it had been applied in {zxid:#x}"));
            out.fail(RuleId::Mx17, scene, write.object, &[write.called.index, index], text);
            return;
        }
        let znode = scene.view.contender_of(hold).and_then(|number| scene.view.contender(number));
        if let Some(gone) = znode.filter(|znode| !znode.is_alive()) {
            let text = text("after the hold was over").because(format!(
                "the hold's znode {} was deleted at {}",
                scene.path(hold),
                scene.when(gone.deleted)
            ));
            out.fail(RuleId::Mx17, scene, write.object, &[write.called.index, gone.deleted.index], text);
        }
    }
}

impl Rule for Fenced {
    const ID: RuleId = RuleId::Mx17;
    const HEARS: Kinds = hears![Call, Given, Created, Written, Deleted, Return, Crash];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Call { object, verb, .. } if verb.is_fenced() => {
                let (op, called) = (event.op, scene.now());
                self.writes.push(Write { op, object, verb, called, hold: None, applied: None });
            }
            What::Given { text, .. } => {
                // The data that are written follow.
                if let Some(write) = self.writes.iter_mut().find(|write| write.op == event.op) {
                    write.hold.get_or_insert(text);
                }
            }
            What::Created { path, zxid, .. }
            | What::Written { path, zxid }
            | What::Deleted { path, zxid, .. }
                if event.op != OpId(0) =>
            {
                self.changed(scene, (event.op, path, zxid), out);
            }
            // A request of an operation that was dropped may still be applied.
            What::Return { .. } => self.writes.retain(|write| {
                let op = scene.view.op(write.op);
                op.phase == Phase::Open || op.in_flight > 0
            }),
            _ => {}
        }
    }
}

/// The state that a guard tells: MX-14 where it is said to be held and must not be, MX-16 where it is said to be lost and is not.
#[derive(Default)]
pub(crate) struct ToldState;

impl ToldState {
    /// A holder that has stopped acts as holder again.
    fn goes_on(scene: &Scene<'_>, id: OpId, object: ObjectId, out: &mut Findings) {
        let op = scene.view.op(id);
        let session = scene.view.session(op.session);
        if !op.unbelieved.came() {
            return;
        }
        let rule = scene.rule(RuleId::Mx14, object);
        if !rule.is_about(scene.kind(object)) {
            return;
        }
        out.premise(rule, object);
        let is_over = session.known_over.came();
        if !(is_over || session.is_suspended) || out.is_enough(rule, object) {
            return;
        }
        let why = if is_over { "its session is over" } else { "its client is not connected" };
        let text = explain(format!("{} goes on at {}", scene.actor(id), scene.when(scene.now())))
            .because(format!("it had stopped at {}", scene.when(op.unbelieved)))
            .not_excused(why);
        out.fail(rule, scene, object, &[op.believed.index, op.unbelieved.index], text);
    }
}

impl Rule for ToldState {
    const ID: RuleId = RuleId::Mx14;
    const ALSO: &'static [RuleId] = &[RuleId::Mx16, RuleId::Le9, RuleId::Le10];
    const HEARS: Kinds = hears![Observed, Believe];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if let What::Believe { object, .. } = event.what {
            return Self::goes_on(scene, event.op, object, out);
        }
        let What::Observed { object, seen: Seen::State, text, .. } = event.what else { return };
        let (view, op) = (scene.view, scene.view.op(event.op));
        let session = view.session(op.session);
        if !op.believed.came() {
            return;
        }
        if scene.text(text) == "held" {
            let rule = scene.rule(RuleId::Mx14, object);
            out.premise(rule, object);
            let why = if session.known_over.came() {
                "its session is over, and its client knows it"
            } else if session.is_suspended {
                "its client is not connected"
            } else if op.hold == Hold::Over && op.why == Why::Lost {
                "the client was told before that it is lost"
            } else {
                return;
            };
            if out.is_enough(rule, object) {
                return;
            }
            let text = explain(format!(
                "the guard of {} says at {} that it is held",
                scene.actor(event.op),
                scene.when(scene.now())
            ))
            .because(why);
            out.fail(rule, scene, object, &[op.believed.index], text);
        } else if matches!(op.hold, Hold::Believed) && view.is_sim() {
            let Some(own) = view.contender(op.own) else { return };
            let znode = if own.is_alive() { loss::Znode::There } else { loss::Znode::Deleted };
            let loss = Loss { object, op: event.op, session: op.session, since: op.believed, znode };
            loss::judge(scene.rule(RuleId::Mx16, object), scene, &loss, out);
        }
    }
}
