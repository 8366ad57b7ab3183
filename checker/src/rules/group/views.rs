//! The observers' views of the members: GM-1 to GM-3.

use super::{Group, Life, Membership};
use crate::rule::prelude::*;
use crate::rules::followers::had_time;
use crate::view::Moment;

/// An observer of the members.
#[derive(Clone)]
pub(super) struct Watcher {
    pub(super) id: OpId,
    pub(super) object: ObjectId,
    /// The last view, and the largest zxid of a view.
    pub(super) last: Option<(Sym, Moment)>,
    pub(super) newest: u64,
}

fn ids(view: &str) -> impl Iterator<Item = &str> {
    view.split(',').filter(|id| !id.is_empty())
}

impl Group {
    /// GM-1, and GM-3 if the servers are not recorded.
    pub(super) fn viewed(
        &mut self,
        scene: &Scene<'_>,
        at: usize,
        (members, zxid): (Sym, u64),
        out: &mut Findings,
    ) {
        let watcher = &self.watchers[at];
        let (object, shown) = (watcher.object, scene.text(members));
        out.premise(RuleId::Gm1, object);
        let who = scene.actor(watcher.id);
        let told = || explain(format!("{who} saw the members [{shown}] of zxid {zxid:#x}"));
        let seen = watcher.last.map_or(u32::MAX, |(_, moment)| moment.index);
        if zxid < watcher.newest {
            let text = told().because(format!("it had seen those of zxid {:#x} before", watcher.newest));
            out.fail(RuleId::Gm1, scene, object, &[seen], text);
        } else if scene.view.is_sim() && !self.was_so(object, shown, zxid) {
            let then = self.states.iter().rfind(|(of, at, _)| *of == object && *at <= zxid);
            let then = then.map_or("", |(_, _, state)| state.as_str());
            out.fail(
                RuleId::Gm1,
                scene,
                object,
                &[seen],
                told().because(format!("at that zxid the members were [{then}]")),
            );
        }
        self.judge_news(scene, at, (shown, zxid), out);
        self.judge_absence(scene, at, (shown, zxid), out);
        let watcher = &mut self.watchers[at];
        watcher.last = Some((members, scene.now()));
        watcher.newest = watcher.newest.max(zxid);
    }

    /// GM-1: an observer reports only changes. Its views may include the members' data, so a write of them is a change.
    fn judge_news(&self, scene: &Scene<'_>, at: usize, (shown, zxid): (&str, u64), out: &mut Findings) {
        let watcher = &self.watchers[at];
        let Some((before, moment)) = watcher.last else { return };
        let is_same = scene.text(before) == shown && zxid == watcher.newest;
        if !is_same
            || !scene.view.is_sim()
            || self.writes.iter().any(|(of, at)| *of == watcher.object && *at > zxid)
        {
            return;
        }
        let text =
            explain(format!("{} saw the members [{shown}] of zxid {zxid:#x}", scene.actor(watcher.id)))
                .because(format!(
                    "it had seen them at {}, and nothing has changed since",
                    scene.when(moment)
                ));
        out.fail(RuleId::Gm1, scene, watcher.object, &[moment.index], text);
    }

    fn was_so(&self, object: ObjectId, shown: &str, zxid: u64) -> bool {
        let mut states = self.states.iter().filter(|(of, ..)| *of == object);
        if shown.is_empty() {
            // Nothing shows the transaction of a directory that does not exist.
            let before = states.clone().rfind(|(_, at, _)| *at <= zxid);
            return before.is_none_or(|(_, _, state)| state.is_empty())
                || states.any(|(_, at, state)| *at >= zxid && state.is_empty());
        }
        states.rfind(|(_, at, _)| *at <= zxid).is_some_and(|(_, _, state)| state == shown)
    }

    /// GM-3: a member that is alive and connected is in every view after the first that shows it. A view may be stale,
    /// from before the member joined again.
    fn judge_absence(&self, scene: &Scene<'_>, at: usize, (shown, zxid): (&str, u64), out: &mut Findings) {
        let watcher = &self.watchers[at];
        let Some((before, moment)) = watcher.last else { return };
        for id in ids(scene.text(before)).filter(|id| !ids(shown).any(|other| other == *id)) {
            out.premise(RuleId::Gm3, watcher.object);
            let is_in = |life: &Life, member: &Membership| {
                life.op == member.id && life.czxid <= zxid && !life.deleted.came()
            };
            let lives = |member: &&Membership| {
                let session = scene.view.session(member.session);
                member.object == watcher.object
                    && member.name.is_some_and(|name| scene.text(name) == id)
                    && member.since.came()
                    && member.since.index < moment.index
                    && !member.is_over
                    && !session.is_suspended
                    && !session.is_over()
                    && !scene.view.client(member.client).is_paused()
                    && member.written <= zxid
                    && (!scene.view.is_sim() || self.lives.iter().any(|life| is_in(life, member)))
            };
            if let Some(member) = self.members.iter().find(lives) {
                let (who, lost) = (scene.actor(watcher.id), scene.actor(member.id));
                let text = explain(format!("in the view of {who}, {id} is gone"))
                    .because(format!("{lost} is a member since {}, and connected", scene.when(member.since)));
                out.fail(RuleId::Gm3, scene, watcher.object, &[moment.index, member.since.index], text);
            }
        }
    }

    /// GM-2 and GM-3: whether an observer still has an old view after enough time to read the new one.
    pub(super) fn judge_delay(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let watcher = &self.watchers[at];
        let object = watcher.object;
        if !scene.view.is_sim() {
            return;
        }
        let mut lives = self.lives.iter().filter(|life| life.object == object);
        let latest = |life: &Life| life.created.at.max(life.deleted.at_or_start());
        let Some(changed) = lives.by_ref().map(latest).max() else { return };
        if !had_time(scene, watcher.id, changed) {
            return;
        }
        let state = self.states.iter().rfind(|(of, ..)| *of == object);
        let now = state.map_or("", |(_, _, state)| state.as_str());
        let shown = watcher.last.map_or("", |(view, _)| scene.text(view));
        let missing = ids(now).find(|id| !ids(shown).any(|other| other == *id));
        let dead = ids(shown).find(|id| !ids(now).any(|other| other == *id));
        let who = scene.actor(watcher.id);
        let seen = watcher.last.map_or(u32::MAX, |(_, moment)| moment.index);
        for (rule, id, why) in [
            (RuleId::Gm2, missing, "is a member, and is missing from its view"),
            (RuleId::Gm3, dead, "is no longer a member, and is still in its view"),
        ] {
            out.premise(rule, object);
            if let Some(id) = id {
                let called = scene.when(scene.view.op(watcher.id).called);
                let text =
                    explain(format!("{who} follows the group since {called}: {id} {why}")).because(format!(
                        "the members have not changed since {}, for {}; the limit is {}",
                        crate::text::seconds(changed),
                        ms(scene.at.saturating_sub(changed)),
                        ms(scene.view.bound(object))
                    ));
                out.fail(rule, scene, object, &[seen], text);
            }
        }
    }
}
