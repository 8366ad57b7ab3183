//! Reports to members: that they have joined, that they are out, and that they have left.

use super::{Group, Life};
use crate::rule::prelude::*;
use crate::rules::loss::{self, Loss, Znode};
use crate::view::{Moment, Op};

/// A join, and the membership that it gave.
#[derive(Clone)]
pub(super) struct Membership {
    pub(super) id: OpId,
    pub(super) object: ObjectId,
    pub(super) client: u16,
    pub(super) name: Option<Sym>,
    pub(super) session: Session,
    pub(super) since: Moment,
    /// The zxid of its last acknowledged write: its znode is not in any earlier state.
    pub(super) written: u64,
    /// Whether the membership is over: it left, learned that it is out, died, or joined again.
    pub(super) is_over: bool,
    /// Whether it was abandoned or released, so that its znode must be deleted.
    pub(super) is_released: bool,
    /// The time at which it learned that its znode was deleted.
    pub(super) told: Moment,
}

impl Group {
    /// Notes a join, which ends an earlier membership of the client.
    pub(super) fn joins(&mut self, scene: &Scene<'_>, id: OpId, object: ObjectId) {
        let client = scene.view.op(id).client;
        self.ends(client, object);
        let (name, session, since, told) = (None, Session(0), Moment::NEVER, Moment::NEVER);
        let (written, is_over, is_released) = (0, false, false);
        self.members.push(Membership {
            id,
            object,
            client,
            name,
            session,
            since,
            written,
            is_over,
            is_released,
            told,
        });
    }

    /// Notes the release of a membership: the latest one that the client ended.
    pub(super) fn released(&mut self, op: &Op) {
        let mine = |member: &&mut Membership| (member.client, member.object) == (op.client, op.object);
        if let Some(back) = self.members.iter_mut().rev().filter(mine).find(|member| member.since.came()) {
            back.is_released = true;
        }
    }

    pub(super) fn ends(&mut self, client: u16, object: ObjectId) {
        let mine =
            |member: &&mut Membership| (member.client, member.object) == (client, object) && !member.is_over;
        for member in self.members.iter_mut().filter(mine).filter(|member| member.since.came()) {
            member.is_over = true;
        }
    }

    /// GM-4: a client whose join returned done has a znode of its current session.
    pub(super) fn joined(&mut self, scene: &Scene<'_>, at: usize, outcome: Outcome, out: &mut Findings) {
        let member = &mut self.members[at];
        if outcome != Outcome::Done {
            (member.is_over, member.is_released) = (true, true);
            return;
        }
        member.since = scene.now();
        member.session = scene.view.client(member.client).session;
        let member = &self.members[at];
        out.premise(RuleId::Gm4, member.object);
        if !scene.view.is_sim() {
            return;
        }
        let who = scene.actor(member.id);
        let called = scene.when(scene.view.op(member.id).called);
        let told = explain(format!(
            "the join that {who} called at {called} returned done at {}",
            scene.when(member.since)
        ));
        let own = self.lives.iter().rfind(|life| life.op == member.id);
        let wrong = match own {
            None => {
                let id = member.name.map_or("", |id| scene.text(id));
                let of = self
                    .lives
                    .iter()
                    .rfind(|life| life.object == member.object && scene.name(life.path) == id);
                match of {
                    Some(life) => Some((
                        format!(
                            "the znode {} belongs to {}",
                            scene.znode(life.path),
                            scene.session(life.owner)
                        ),
                        life.created.index,
                    )),
                    None => Some((format!("{who} has no znode in the group"), u32::MAX)),
                }
            }
            Some(own) if own.owner != member.session => Some((
                format!("its znode {} belongs to {}", scene.znode(own.path), scene.session(own.owner)),
                own.created.index,
            )),
            Some(_) => None,
        };
        if let Some((why, seen)) = wrong {
            let session = scene.session(member.session);
            let text = told.because(why).because(format!("{who} has {session}"));
            out.fail(RuleId::Gm4, scene, member.object, &[seen], text);
            self.members[at].is_over = true;
        }
    }

    /// Notes that a client learned of the deletion of a znode.
    pub(super) fn gone(&mut self, scene: &Scene<'_>, client: u16, path: Sym) {
        let is_sim = scene.view.is_sim();
        for member in self.members.iter_mut().filter(|member| member.client == client && !member.is_over) {
            let own = self.lives.iter().rfind(|life| life.op == member.id);
            let is_own = own.is_some_and(|own| own.path == path && (own.deleted.came() || !is_sim));
            if member.since.came() && is_own && !member.told.came() {
                member.told = scene.now();
            }
        }
    }

    /// GM-4 and GM-6: a member that is out, and could know it, reports it.
    pub(super) fn who_is_out(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        for at in 0..self.members.len() {
            let member = &self.members[at];
            let client = view.client(member.client);
            if member.is_over || !member.since.came() || client.is_dead() || client.is_paused() {
                continue;
            }
            let resumed = client.resumed();
            let late =
                |from: u64| scene.at > from.max(resumed).max(member.since.at).saturating_add(view.settle);
            let session = view.session(member.session);
            let object = scene.object(member.object);
            // Its deadline counts from the sending of the last request that was answered.
            let heard = if view.pings_recorded { session.answered_sent } else { session.suspended.at };
            let patience = view.patience(object, member.session);
            let silent = heard.saturating_add(patience);
            let found = if session.known_over.came() && late(session.known_over.at) {
                let why =
                    format!("at {} it learned that its session had ended", scene.when(session.known_over));
                Some((RuleId::Gm6, session.known_over, why))
            } else if member.told.came() && late(member.told.at) {
                let why = format!("at {} it learned that its znode was deleted", scene.when(member.told));
                Some((RuleId::Gm4, member.told, why))
            } else if session.is_suspended && session.ended.came() && late(silent) {
                let why = format!(
                    "it lost its connection at {}, and its session ended at {}: it had to report {} after the last answer",
                    scene.when(session.suspended),
                    scene.when(session.ended),
                    ms(patience)
                );
                Some((RuleId::Gm6, session.suspended, why))
            } else {
                None
            };
            let Some((rule, moment, why)) = found else { continue };
            let who = scene.actor(member.id);
            let text = explain(format!(
                "{who} is a member since {}, as far as it knows, and still at {}",
                scene.when(member.since),
                scene.when(scene.now())
            ))
            .because(why)
            .not_excused("it has neither joined again nor reported that it is out");
            out.fail(rule, scene, member.object, &[member.since.index, moment.index], text);
            self.members[at].is_over = true;
        }
    }

    /// GM-8: a client that leaves was a member until now, and has not reported otherwise.
    pub(super) fn leaves(&self, scene: &Scene<'_>, client: u16, object: ObjectId, out: &mut Findings) {
        let is_left = |member: &&Membership| {
            (member.client, member.object) == (client, object) && !member.is_over && member.since.came()
        };
        if let Some(member) = self.members.iter().rfind(is_left) {
            loss::kept(scene, object, member.session, member.since, out);
        }
    }

    /// GM-8: a client that reports that it is out has a reason.
    pub(super) fn judge_loss(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let Membership { id: op, object, session, since, .. } = self.members[at];
        let own = self.lives.iter().rfind(|life| life.op == op);
        let Some(own) = own.filter(|_| since.came()) else { return };
        let znode = match scene.view.is_sim() {
            true if own.deleted.came() => Znode::Deleted,
            true => Znode::There,
            false => Znode::seen(self.members[at].told.came(), own.delete_sent),
        };
        loss::judge(scene, &Loss { object, op, session, since, znode }, out);
    }

    /// GM-8: a client whose replacement of data failed, since its znode is gone, reports thereby that it is out.
    pub(super) fn replaces_nothing(&mut self, scene: &Scene<'_>, op: &Op, out: &mut Findings) {
        let mine = |member: &Membership| (member.client, member.object) == (op.client, op.object);
        if let Some(at) = self.members.iter().rposition(|member| mine(member) && !member.is_over) {
            self.judge_loss(scene, at, out);
            self.members[at].is_over = true;
        }
    }

    /// GM-4: a membership reports its own znode, by name and czxid.
    pub(super) fn judge_own_znode(
        &self,
        scene: &Scene<'_>,
        at: usize,
        (id, czxid): (Sym, u64),
        out: &mut Findings,
    ) {
        let Membership { id: op, object, .. } = self.members[at];
        out.premise(RuleId::Gm4, object);
        let is_it =
            |life: &Life| life.op == op && life.czxid == czxid && scene.name(life.path) == scene.text(id);
        if scene.view.is_sim() && !self.lives.iter().any(is_it) {
            let who = scene.actor(op);
            let text = explain(format!("{who} was told that it is {} (zxid {czxid:#x})", scene.text(id)))
                .because("its join has created no such znode");
            out.fail(RuleId::Gm4, scene, object, &[scene.view.op(op).called.index], text);
        }
    }
}
