//! The cost of a double barrier: DB-8, in runs without faults.

use super::participants::{Participants, object_of};
use crate::rule::prelude::*;
use crate::rules::wake_sources::keeps_budget;

/// The latest transactions that touched a barrier.
#[derive(Clone, Default)]
pub(super) struct Cost {
    changes: Vec<Change>,
}

/// The number of transactions that are kept: lagging servers fire late.
const REMEMBERED: usize = 32;

/// One transaction and one barrier, and the participants that it wakes.
#[derive(Clone)]
struct Change {
    zxid: u64,
    object: ObjectId,
    writer: Session,
    /// Whether it opened or closed a round, or was the last leave, so that it may wake every participant.
    concerns_all: bool,
    woken: u32,
    path: Sym,
}

impl Cost {
    fn change(&mut self, scene: &Scene<'_>, zxid: u64, object: ObjectId) -> Option<&mut Change> {
        if let Some(at) =
            self.changes.iter().position(|change| change.zxid == zxid && change.object == object)
        {
            return Some(&mut self.changes[at]);
        }
        let txn = scene.view.txn;
        if txn.zxid != zxid {
            return None;
        }
        if self.changes.len() >= REMEMBERED {
            self.changes.remove(0);
        }
        let (writer, path) = (txn.session, Sym(0));
        self.changes.push(Change { zxid, object, writer, concerns_all: false, woken: 0, path });
        self.changes.last_mut()
    }

    /// Notes an effect of a transaction; the participants are already updated.
    pub(super) fn changed(&mut self, all: &Participants, scene: &Scene<'_>, event: &Event) {
        let (zxid, path, is_written) = match event.what {
            What::Created { zxid, path, .. } | What::Deleted { zxid, path, .. } => (zxid, path, false),
            What::Written { zxid, path } => (zxid, path, true),
            _ => return,
        };
        let Some((object, is_root)) = object_of(scene.tables, path) else { return };
        let is_ready = all.readies.iter().any(|ready| ready.path == path);
        let of = all.members.iter().rfind(|member| member.path == path);
        let is_last = of.is_some_and(|own| {
            own.deleted.came()
                && !all.members.iter().any(|other| other.dir == own.dir && !other.deleted.came())
        });
        let Some(change) = self.change(scene, zxid, object) else { return };
        change.concerns_all |= is_ready || is_last || (is_root && is_written);
    }

    /// Notes a notification.
    pub(super) fn fired(&mut self, all: &Participants, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Fire { session, path, zxid, conn, .. } = event.what else { return };
        let Some((object, _)) = object_of(scene.tables, path) else { return };
        // A notification from re-registration belongs to no transaction, and the client does not read a connection that
        // it left.
        if all.is_disturbed || zxid == 0 || scene.view.has_left(session, conn) {
            return;
        }
        let zxid = match event.who {
            Who::Server(number) => scene.view.server(number).whole(zxid),
            Who::Client(_) | Who::World => scene.view.txn.zxid,
        };
        let waits = all.open.iter().any(|op| {
            all.part_of(*op).is_some_and(|at| {
                let part = &all.parts[at];
                part.object == object && part.session == session
            })
        });
        let Some(change) = self.change(scene, zxid, object) else { return };
        if !waits || change.writer == session {
            return;
        }
        out.premise(RuleId::Db8, object);
        change.woken += 1;
        change.path = path;
        if change.concerns_all || change.woken != 2 {
            return;
        }
        let text =
            explain(format!("zxid {zxid:#x}, an arrival or departure, notified more than one participant"))
                .because(format!("all of them watch {}", scene.path(path)));
        out.fail(RuleId::Db8, scene, object, &[], text);
    }

    /// Judges the number of requests of an enter or a leave.
    pub(super) fn sent(all: &Participants, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        if !op.calm || all.is_disturbed || !all.open.contains(&id) {
            return;
        }
        out.premise(RuleId::Db8, op.object);
        keeps_budget(RuleId::Db8, scene, id, out);
    }
}
