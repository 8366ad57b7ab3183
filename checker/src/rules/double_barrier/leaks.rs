//! Leaks of double barriers: DB-10.

use super::participants::{Participants, Participation, object_of};
use crate::rule::prelude::*;
use crate::view::{Moment, NEVER};

/// Leaks that were reported.
#[derive(Clone, Default)]
pub(super) struct Leaks {
    reported: Vec<Sym>,
}

/// The time since which the znodes of a participation are not needed any more.
fn done_with(part: &Participation) -> Option<Moment> {
    part.done_with().filter(|_| !part.died.came())
}

/// Whether a znode of that owner is not deleted with its session.
fn stays(scene: &Scene<'_>, owner: Session) -> bool {
    owner == Session(0) || scene.view.present_client(owner).is_some()
}

impl Leaks {
    /// Reports znodes of participations that ended too long ago.
    pub(super) fn overdue(&mut self, all: &Participants, scene: &Scene<'_>, out: &mut Findings) {
        for member in all.members.iter().filter(|member| member.gone == NEVER) {
            let part = &all.parts[member.part];
            let Some(over) = done_with(part) else { continue };
            let since = over.at.max(scene.view.calm_since);
            if scene.at > since.saturating_add(scene.view.bound(part.object)) {
                self.tell(scene, part, member.path, (member.owner, member.created.index), out);
            }
        }
    }

    fn tell(
        &mut self,
        scene: &Scene<'_>,
        part: &Participation,
        path: Sym,
        (owner, created): (Session, u32),
        out: &mut Findings,
    ) {
        let Some(over) = done_with(part).filter(|_| stays(scene, owner) && !self.reported.contains(&path))
        else {
            return;
        };
        self.reported.push(path);
        let who = scene.client(part.client);
        let how = if part.outcome == Some(Outcome::Done) { "left" } else { "gave up" };
        let text = explain(format!("{} of {who} still exists", scene.znode(path)))
            .because(format!("{who} {how} at {}", scene.when(over)));
        out.leak(RuleId::Db10, scene, part.object, &[created, over.index], text);
    }

    /// Reports the znodes that remain at the end.
    pub(super) fn quiesce(&mut self, all: &Participants, scene: &Scene<'_>, out: &mut Findings) {
        for part in &all.parts {
            out.premise(RuleId::Db10, part.object);
        }
        if !scene.view.is_sim() {
            return;
        }
        for member in all.members.iter().filter(|member| member.gone == NEVER) {
            let of = (member.owner, member.created.index);
            self.tell(scene, &all.parts[member.part], member.path, of, out);
        }
        for ready in all.readies.iter().filter(|ready| ready.gone == NEVER) {
            if let Some(at) = all.part_of(ready.creator) {
                self.tell(scene, &all.parts[at], ready.path, (ready.owner, ready.created.index), out);
            }
        }
        self.watches(all, scene, out);
    }

    fn watches(&self, all: &Participants, scene: &Scene<'_>, out: &mut Findings) {
        for (watch, client) in scene.view.watches_left() {
            let Some((object, _)) = object_of(scene.tables, watch.path) else { continue };
            if takes_part(all, object, client) {
                continue;
            }
            let who = scene.client(client);
            let text = explain(format!("a watch of {who} on {} is still armed", scene.path(watch.path)))
                .because(format!("it was armed at e{}, and {who} takes no part any more", watch.armed_index));
            out.leak(RuleId::Db10, scene, object, &[watch.armed_index], text);
        }
    }

    /// Reports the znodes that a capture's last listing found.
    pub(super) fn left(
        &mut self,
        all: &Participants,
        scene: &Scene<'_>,
        (object, path, owner): (ObjectId, Sym, Session),
        out: &mut Findings,
    ) {
        let Some(client) = scene.view.present_client(owner).filter(|_| owner != Session(0)) else { return };
        out.premise(RuleId::Db10, object);
        if takes_part(all, object, client) || self.reported.contains(&path) {
            return;
        }
        self.reported.push(path);
        let who = scene.client(client);
        let text = explain(format!("{} of {who} still exists", scene.znode(path)))
            .because(format!("{who} takes no part any more"));
        out.leak(RuleId::Db10, scene, object, &[], text);
    }
}

/// Whether a client enters, is inside or leaves.
fn takes_part(all: &Participants, object: ObjectId, client: u16) -> bool {
    let of = |part: &&Participation| part.object == object && part.client == client;
    all.parts.iter().filter(of).any(|part| part.is_entering() || part.is_inside() || part.is_leaving())
}
