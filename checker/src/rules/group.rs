//! Groups: the members, and the reports to members and observers: GM-1 to GM-8.

mod members;
mod views;

use super::followers::{self, Cost, Wakes};
use crate::rule::prelude::*;
use crate::view::{Moment, Phase, Watch};
use members::Membership;
use views::Watcher;

/// GM-1 to GM-8.
#[derive(Clone)]
pub(crate) struct Group {
    wakes: Wakes,
    cost: Cost,
    lives: Vec<Life>,
    /// The last write of a member's data, by group.
    writes: Vec<(ObjectId, u64)>,
    /// In a capture: znodes that a client has asked to delete before the reply to their create arrived.
    early_deletes: Vec<Sym>,
    members: Vec<Membership>,
    watchers: Vec<Watcher>,
    /// By transaction: the members, as sorted names with commas.
    states: Vec<(ObjectId, u64, String)>,
    /// Directories that exist, and the transaction that created each.
    there: Vec<(ObjectId, u64)>,
}

/// One incarnation of a child of a group's directory.
#[derive(Clone)]
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

impl Default for Group {
    fn default() -> Group {
        Group {
            wakes: Wakes::new(Verb::Watch),
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

    /// Notes in a capture that a znode may be deleted from here on. An observer can evict a member before the member's
    /// client gets the reply to the create.
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

    /// GM-5: at the end there is no znode of a membership that was abandoned or released.
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
                (Seen::Name, Some(at), _) => self.judge_own_znode(scene, at, (text, number), out),
                (Seen::Missing, Some(at), _) => {
                    out.premise(RuleId::Gm6, self.members[at].object);
                    self.judge_loss(scene, at, out);
                    self.members[at].is_over = true;
                }
                (Seen::View, _, Some(at)) => self.viewed(scene, at, (text, number), out),
                _ => {}
            },
            What::Return { failure: Failure::Removed, .. } if view.op(event.op).verb == Verb::Replace => {
                self.replaces_nothing(scene, view.op(event.op), out);
            }
            What::Return { outcome, .. } => {
                if let Some(at) = member {
                    self.joined(scene, at, outcome, out);
                } else if let Some(at) = watcher {
                    self.cost.over(scene, event.op, out);
                    self.judge_delay(scene, at, out);
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
                    self.cost.fired(scene, object, (session, conn, path, zxid, table), out);
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
                        self.judge_delay(scene, at, out);
                    }
                }
            }
            _ => {}
        }
        if followers::HEARS & crate::rule::bit(&event.what) != 0 {
            let there = &self.there;
            self.wakes.event(scene, event, &|object, watch| Self::tells(there, scene, object, watch), out);
        }
    }
}
