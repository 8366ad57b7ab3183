//! Groups: the members, and what members and observers are told: GM-1 to GM-8.

use super::followers::{self, Cost, Wakes, had_time};
use super::loss::{self, Loss, Znode};
use crate::rules::prelude::*;
use crate::view::{Moment, Op, Phase, Watch};

/// GM-1 to GM-8.
pub(crate) struct Group {
    wakes: Wakes,
    cost: Cost,
    lives: Vec<Life>,
    /// The last write of a member's data, by group.
    writes: Vec<(ObjectId, u64)>,
    /// In a capture: znodes that a client has asked to delete before the reply to their create was there.
    early_deletes: Vec<Sym>,
    members: Vec<Membership>,
    watchers: Vec<Watcher>,
    /// By transaction: the members, as sorted names with commas.
    states: Vec<(ObjectId, u64, String)>,
    /// Directories that exist, and the transaction that created each.
    there: Vec<(ObjectId, u64)>,
}

/// One incarnation of a child of a group's directory.
struct Life {
    object: ObjectId,
    path: Sym,
    owner: Session,
    op: OpId,
    created: Moment,
    /// The zxid of its creation.
    czxid: u64,
    deleted: Moment,
    /// In a capture: whether a client has sent a request to delete it.
    delete_sent: bool,
}

/// A join, and the membership that it gave.
struct Membership {
    id: OpId,
    object: ObjectId,
    client: u16,
    name: Option<Sym>,
    session: Session,
    since: Moment,
    /// The zxid of its last acknowledged write: its znode is in no state before that.
    written: u64,
    /// Whether the membership is over: it left, was told that it is out, died, or joined again.
    is_over: bool,
    /// Whether it was given up or given back: its znode must go.
    is_released: bool,
    /// The time at which it learned that its znode is deleted.
    told: Moment,
}

/// An observer of the members.
struct Watcher {
    id: OpId,
    object: ObjectId,
    /// The last view, and the largest zxid of a view.
    last: Option<(Sym, Moment)>,
    newest: u64,
}

impl Default for Group {
    fn default() -> Group {
        Group {
            wakes: Wakes::new(RuleId::Gm2, Verb::Watch),
            cost: Cost::default(),
            lives: Vec::new(),
            writes: Vec::new(),
            early_deletes: Vec::new(),
            members: Vec::new(),
            watchers: Vec::new(),
            states: Vec::new(),
            there: Vec::new(),
        }
    }
}

fn ids(view: &str) -> impl Iterator<Item = &str> {
    view.split(',').filter(|id| !id.is_empty())
}

impl Group {
    /// Whether an armed watch notifies of the next change of members.
    fn tells(there: &[(ObjectId, u64)], scene: &Scene<'_>, object: ObjectId, watch: &Watch) -> bool {
        let since = there.iter().find(|(of, _)| *of == object).map(|(_, zxid)| *zxid);
        match (watch.table, since) {
            (Table::Child, _) | (Table::Data, None) => true,
            // The server of the watch has not applied the creation of the directory yet.
            (Table::Data, Some(zxid)) => scene.view.server(watch.server).may_come_to(zxid),
        }
    }

    /// Notes a change of members.
    fn changed(&mut self, scene: &Scene<'_>, object: ObjectId, zxid: u64) {
        let alive = self.lives.iter().filter(|life| life.object == object && !life.deleted.came());
        let mut names: Vec<&str> = alive.map(|life| scene.name(life.path)).collect();
        names.sort_unstable();
        let names = names.join(",");
        match self.states.last_mut() {
            Some((of, at, state)) if (*of, *at) == (object, zxid) => *state = names,
            _ => self.states.push((object, zxid, names)),
        }
    }

    fn created(
        &mut self,
        scene: &Scene<'_>,
        event: &Event,
        path: Sym,
        zxid: u64,
        owner: Session,
        out: &mut Findings,
    ) {
        if let Some(object) = scene.object_at(Kind::Group, path) {
            self.there.retain(|(of, _)| *of != object);
            self.there.push((object, zxid));
        }
        let Some(object) = scene.object_around(Kind::Group, path) else { return };
        if let Some(member) = self.members.iter().find(|member| member.id == event.op) {
            out.premise(RuleId::Gm5, object);
            let other = self.lives.iter().find(|life| life.op == event.op && !life.deleted.came());
            if let Some(other) = other {
                let who = scene.actor(member.id);
                let text = explain(format!(
                    "{who} created the znode {} at {}",
                    scene.znode(path),
                    scene.when(scene.now())
                ))
                .because(format!(
                    "its znode {} of the same join exists since {}",
                    scene.znode(other.path),
                    scene.when(other.created)
                ));
                out.fail(RuleId::Gm5, scene, object, &[other.created.index], text);
            }
        }
        let created = scene.now();
        self.lives.push(Life {
            object,
            path,
            owner,
            op: event.op,
            created,
            czxid: zxid,
            deleted: Moment::NEVER,
            delete_sent: false,
        });
        self.changed(scene, object, zxid);
    }

    /// Notes a znode in a capture, which shows creates and deletes only by replies to their clients.
    fn made(&mut self, scene: &Scene<'_>, event: &Event, path: Sym, czxid: u64) {
        let (Some(object), Who::Client(client)) = (scene.object_around(Kind::Group, path), event.who) else {
            return;
        };
        let owner = scene.view.client(client).session;
        let created = scene.now();
        let (op, deleted, delete_sent) = (event.op, Moment::NEVER, self.early_deletes.contains(&path));
        self.early_deletes.retain(|early| *early != path);
        self.lives.push(Life { object, path, owner, op, created, czxid, deleted, delete_sent });
    }

    /// Notes in a capture that a znode may be deleted from here on. An observer can evict a member before that one's client has
    /// the reply to the create.
    fn delete_sent(&mut self, scene: &Scene<'_>, path: Sym) {
        match self.lives.iter_mut().rfind(|life| life.path == path) {
            Some(life) => life.delete_sent = true,
            None if scene.object_around(Kind::Group, path).is_some() => self.early_deletes.push(path),
            None => {}
        }
    }

    fn deleted(&mut self, scene: &Scene<'_>, path: Sym, zxid: u64) {
        if let Some(object) = scene.object_at(Kind::Group, path) {
            self.there.retain(|(of, _)| *of != object);
        }
        let Some(life) = self.lives.iter_mut().rfind(|life| life.path == path && !life.deleted.came()) else {
            return;
        };
        life.deleted = scene.now();
        let object = life.object;
        self.changed(scene, object, zxid);
    }

    /// Notes a join, which ends an earlier membership of the client.
    fn joins(&mut self, scene: &Scene<'_>, id: OpId, object: ObjectId) {
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

    /// Notes that a membership was given back: the latest one that the client ended.
    fn released(&mut self, op: &Op) {
        let mine = |member: &&mut Membership| (member.client, member.object) == (op.client, op.object);
        if let Some(back) = self.members.iter_mut().rev().filter(mine).find(|member| member.since.came()) {
            back.is_released = true;
        }
    }

    fn ends(&mut self, client: u16, object: ObjectId) {
        let mine =
            |member: &&mut Membership| (member.client, member.object) == (client, object) && !member.is_over;
        for member in self.members.iter_mut().filter(mine).filter(|member| member.since.came()) {
            member.is_over = true;
        }
    }

    /// GM-4: a client that is told that it has joined has a znode of its current session.
    fn joined(&mut self, scene: &Scene<'_>, at: usize, outcome: Outcome, out: &mut Findings) {
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
    fn gone(&mut self, scene: &Scene<'_>, client: u16, path: Sym) {
        let is_sim = scene.view.is_sim();
        for member in self.members.iter_mut().filter(|member| member.client == client && !member.is_over) {
            let own = self.lives.iter().rfind(|life| life.op == member.id);
            let is_own = own.is_some_and(|own| own.path == path && (own.deleted.came() || !is_sim));
            if member.since.came() && is_own && !member.told.came() {
                member.told = scene.now();
            }
        }
    }

    /// GM-4 and GM-6: a member that is out, and could know it, says so.
    fn who_is_out(&mut self, scene: &Scene<'_>, out: &mut Findings) {
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
            // The time from which it counts is the sending of the last thing that was answered.
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

    /// GM-8: a client that leaves was a member until now, and was not told otherwise.
    fn leaves(&self, scene: &Scene<'_>, client: u16, object: ObjectId, out: &mut Findings) {
        let is_left = |member: &&Membership| {
            (member.client, member.object) == (client, object) && !member.is_over && member.since.came()
        };
        if let Some(member) = self.members.iter().rfind(is_left) {
            loss::kept(RuleId::Gm8, scene, object, member.session, member.since, out);
        }
    }

    /// GM-8: a client that says that it is out has a reason.
    fn is_out(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let Membership { id: op, object, session, since, .. } = self.members[at];
        let own = self.lives.iter().rfind(|life| life.op == op);
        let Some(own) = own.filter(|_| since.came()) else { return };
        let znode = match scene.view.is_sim() {
            true if own.deleted.came() => Znode::Deleted,
            true => Znode::There,
            false => Znode::seen(self.members[at].told.came(), own.delete_sent),
        };
        loss::judge(RuleId::Gm8, scene, &Loss { object, op, session, since, znode }, out);
    }

    /// GM-4: a membership knows the znode that stands for it, by its name and its czxid.
    fn is_named(&self, scene: &Scene<'_>, at: usize, (id, czxid): (Sym, u64), out: &mut Findings) {
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

    /// GM-1, and GM-3 where the servers are not seen.
    fn viewed(&mut self, scene: &Scene<'_>, at: usize, (members, zxid): (Sym, u64), out: &mut Findings) {
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
        self.is_news(scene, at, (shown, zxid), out);
        self.flickers(scene, at, (shown, zxid), out);
        let watcher = &mut self.watchers[at];
        watcher.last = Some((members, scene.now()));
        watcher.newest = watcher.newest.max(zxid);
    }

    /// GM-1: an observer is told changes only. Its views may have the members' data, so a write of them is a change.
    fn is_news(&self, scene: &Scene<'_>, at: usize, (shown, zxid): (&str, u64), out: &mut Findings) {
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

    /// GM-3: a member that is alive and connected is in every view after the first that shows it. A view may be
    /// stale, from before it joined again.
    fn flickers(&self, scene: &Scene<'_>, at: usize, (shown, zxid): (&str, u64), out: &mut Findings) {
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

    /// GM-2 and GM-3: whether an observer has an old view although it has had enough time.
    fn is_late(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
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

    /// GM-5: in the end no znode is left of a membership that was given up or given back.
    fn left(&self, scene: &Scene<'_>, out: &mut Findings) {
        for life in self.lives.iter().filter(|life| !life.deleted.came() && life.owner != Session(0)) {
            let Some(member) = self.members.iter().find(|member| member.id == life.op) else { continue };
            if member.is_released && scene.view.present_client(life.owner).is_some() {
                let who = scene.actor(member.id);
                let text = explain(format!(
                    "the znode {} of {who} still exists at the end, since {}",
                    scene.znode(life.path),
                    scene.when(life.created)
                ))
                .because(format!(
                    "{who} has given its membership up, or back: it should have deleted the znode"
                ));
                out.fail(RuleId::Gm5, scene, life.object, &[life.created.index], text);
            }
        }
    }
}

impl Rule for Group {
    const ID: RuleId = RuleId::Gm4;
    const ALSO: &'static [RuleId] =
        &[RuleId::Gm1, RuleId::Gm2, RuleId::Gm3, RuleId::Gm5, RuleId::Gm6, RuleId::Gm7, RuleId::Gm8];
    const HEARS: Kinds =
        followers::HEARS | hears![Call, Given, Observed, Created, Written, Deleted, Made, Quiesce];
    const ABOUT: &'static [Kind] = &[Kind::Group];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let there = &self.there;
        self.wakes.pass_time(scene, &|object, watch| Self::tells(there, scene, object, watch), out);
        self.who_is_out(scene, out);
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        let member = self.members.iter().rposition(|member| member.id == event.op);
        let watcher = self.watchers.iter().rposition(|watcher| watcher.id == event.op);
        match event.what {
            What::Call { object, verb, .. } if scene.is_of(Kind::Group, object) => match verb {
                Verb::Join => self.joins(scene, event.op, object),
                Verb::Release => {
                    let client = view.op(event.op).client;
                    self.leaves(scene, client, object, out);
                    self.ends(client, object);
                }
                Verb::Watch => {
                    self.watchers.push(Watcher { id: event.op, object, last: None, newest: 0 });
                }
                _ => {}
            },
            What::Given { text, .. } => {
                if let Some(at) = member {
                    self.members[at].name = Some(text);
                }
            }
            What::Observed { seen, text, number, .. } => match (seen, member, watcher) {
                (Seen::Name, Some(at), _) => self.is_named(scene, at, (text, number), out),
                (Seen::Missing, Some(at), _) => {
                    out.premise(RuleId::Gm6, self.members[at].object);
                    self.is_out(scene, at, out);
                    self.members[at].is_over = true;
                }
                (Seen::View, _, Some(at)) => self.viewed(scene, at, (text, number), out),
                _ => {}
            },
            What::Return { outcome, .. } => {
                if let Some(at) = member {
                    self.joined(scene, at, outcome, out);
                } else if let Some(at) = watcher {
                    self.cost.over(RuleId::Gm7, scene, event.op, out);
                    self.is_late(scene, at, out);
                } else if view.op(event.op).verb == Verb::Release
                    && matches!(outcome, Outcome::Done | Outcome::Cancelled)
                {
                    self.released(view.op(event.op));
                }
            }
            What::Created { zxid, path, owner } => self.created(scene, event, path, zxid, owner, out),
            What::Written { zxid, path } => {
                if let Some(object) = scene.object_around(Kind::Group, path) {
                    self.writes.retain(|(of, _)| *of != object);
                    self.writes.push((object, zxid));
                }
            }
            What::Deleted { zxid, path, .. } => self.deleted(scene, path, zxid),
            What::Made { path, czxid } if !view.is_sim() => self.made(scene, event, path, czxid),
            What::Send { kind: Request::Delete, path, .. } if !view.is_sim() => {
                self.delete_sent(scene, path);
            }
            What::Notice { kind: Notify::Deleted, path, .. } => {
                if let Who::Client(client) = event.who {
                    self.gone(scene, client, path);
                }
            }
            What::Reply { req, code: Code::Ok, zxid, .. } => {
                let writes = [Request::Create, Request::Multi];
                let wrote = view.request(req).is_some_and(|req| writes.contains(&req.kind));
                if let (Some(at), Some(zxid), true) = (member, super::zookeeper::zxid_of(zxid), wrote) {
                    self.members[at].written = self.members[at].written.max(zxid);
                }
            }
            What::Reply { req, code: Code::NoNode, .. } => {
                let reads = [Request::Exists, Request::Get, Request::Children];
                if let Some(req) = view.request(req).filter(|req| reads.contains(&req.kind)).copied() {
                    self.gone(scene, req.client, req.path);
                }
            }
            What::Fire { session, path, zxid, conn, kind } => {
                if let Some(object) = scene.object_at(Kind::Group, path) {
                    let table = if kind == Notify::ChildrenChanged { Table::Child } else { Table::Data };
                    self.cost.fired(RuleId::Gm7, scene, object, (session, conn, path, zxid, table), out);
                }
            }
            What::Crash { client } => {
                for member in self.members.iter_mut().filter(|member| member.client == client) {
                    member.is_over = true;
                }
            }
            What::Quiesce if view.is_sim() => {
                self.left(scene, out);
                for at in 0..self.watchers.len() {
                    if view.op(self.watchers[at].id).phase == Phase::Open {
                        self.is_late(scene, at, out);
                    }
                }
            }
            _ => {}
        }
        if followers::HEARS & super::kind(&event.what) != 0 {
            let there = &self.there;
            self.wakes.event(scene, event, &|object, watch| Self::tells(there, scene, object, watch), out);
        }
    }
}
