//! Writes under a hold (MX-17).

use crate::rule::prelude::*;
use crate::view::{Moment, Phase};

/// MX-17: a write under a hold is applied only while the hold's znode exists, and at most once for `TransactOnce`.
#[derive(Clone, Default)]
pub(crate) struct Fenced {
    /// Writes that are in progress, or may still be applied.
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
    /// Judges a change by a request of an operation.
    fn changed(&mut self, scene: &Scene<'_>, (op, path, zxid): (OpId, Sym, u64), out: &mut Findings) {
        let Some(write) = self.writes.iter_mut().find(|write| write.op == op) else { return };
        let Some(hold) = write.hold.filter(|hold| *hold != path) else { return };
        let before = write.applied.replace((zxid, scene.index)).filter(|(other, _)| *other != zxid);
        let write = *write;
        out.premise(RuleId::Mx17, write.object);
        if out.only_counts(RuleId::Mx17, write.object) {
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
    const JUDGES: &'static [Property] = &[Property::FencedWrites];
    const HEARS: Kinds = hears![Call, Given, Created, Written, Deleted, Return, Crash];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Call { object, verb, .. } if verb.is_fenced() => {
                let (op, called) = (event.op, scene.now());
                self.writes.push(Write { op, object, verb, called, hold: None, applied: None });
            }
            What::Given { text, .. } => {
                // The first argument is the znode of the hold; the data to write follow.
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
