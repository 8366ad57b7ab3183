//! Persistent nodes: PN-1 to PN-4.
//!
//! A client that keeps a node wants it to be there, with the last data that it has set, from the call to its end. Several
//! clients may keep one path: then one of them has it, and the others wait.

use crate::rule::prelude::*;
use crate::view::{Moment, Phase};

/// PN-1 to PN-4.
#[derive(Clone, Default)]
pub(crate) struct PersistentNodes {
    keeps: Vec<Keep>,
    lives: Vec<Life>,
    reported: Reported,
    /// The znode whose data are the next event.
    last: Option<usize>,
}

/// What came too late and was reported: the rule, the operation, and since when.
type Reported = Vec<(RuleId, OpId, u64)>;

/// A call that keeps a node there, until its end.
#[derive(Clone)]
struct Keep {
    op: OpId,
    object: ObjectId,
    client: u16,
    /// Whether the znode outlives its session.
    outlives: bool,
    /// The data that were set, the first ones included.
    sets: Vec<Set>,
}

#[derive(Clone)]
struct Set {
    op: OpId,
    digest: u64,
    text: Sym,
    given: Moment,
    is_done: bool,
}

/// A znode from its creation to its deletion.
#[derive(Clone)]
struct Life {
    object: ObjectId,
    path: Sym,
    owner: Session,
    creator: Session,
    client: u16,
    created: Moment,
    deleted: Moment,
    data: Option<u64>,
    /// A former session has created it, and no write of this one has followed.
    is_late: bool,
    /// Somebody else has deleted it.
    is_evicted: bool,
    /// Another owner has written into it, or a former session of this one.
    is_struck: bool,
}

impl Life {
    fn is_alive(&self) -> bool {
        !self.deleted.came()
    }
}

/// Whether something that must follow from `since` is missing for too long, and was not reported.
fn is_late(scene: &Scene<'_>, reported: &mut Reported, rule: RuleId, op: OpId, since: Moment) -> bool {
    let key = (rule, op, since.at);
    let is_late = scene.had_time(op, since.at) && !reported.contains(&key);
    if is_late {
        reported.push(key);
    }
    is_late
}

fn later(one: Moment, other: Moment) -> Moment {
    if one.at > other.at { one } else { other }
}

impl PersistentNodes {
    fn life(&self, path: Sym) -> Option<usize> {
        self.lives.iter().rposition(|life| life.path == path && life.is_alive())
    }

    /// The call for which a znode was created: of those whose znodes outlive it the one that knows its data.
    fn keep_behind(&self, life: &Life) -> Option<&Keep> {
        let is_of = |keep: &&Keep| (keep.client, keep.object) == (life.client, life.object);
        let has_set = |keep: &&Keep| keep.sets.iter().any(|set| Some(set.digest) == life.data);
        let mut own = self.keeps.iter().filter(is_of);
        match life.owner {
            Session(0) => own.rfind(has_set),
            _ => own.rfind(|keep| !keep.outlives),
        }
    }

    fn is_former(scene: &Scene<'_>, client: u16, session: Session) -> bool {
        client != u16::MAX && scene.view.client(client).session != session
    }

    fn is_open(scene: &Scene<'_>, keep: &Keep) -> bool {
        !matches!(scene.view.op(keep.op).phase, Phase::Over(_))
    }

    fn given(&mut self, scene: &Scene<'_>, event: &Event, text: Sym, number: u64) {
        let op = scene.view.op(event.op);
        let (client, object, given) = (op.client, op.object, scene.now());
        let set = Set { op: event.op, digest: scene.digest(text), text, given, is_done: false };
        if op.verb == Verb::Keep {
            self.keeps.push(Keep { op: event.op, object, client, outlives: number == 1, sets: vec![set] });
        } else if let Some(keep) =
            self.keeps.iter_mut().rfind(|keep| (keep.client, keep.object) == (client, object))
        {
            keep.sets.push(set);
        }
    }

    /// PN-2: a znode is deleted and written by its owner.
    fn touches(&self, scene: &Scene<'_>, life: &Life, by: Session, what: &str, out: &mut Findings) {
        if by == Session(0) || scene.view.is_foreign(by) || scene.view.is_foreign(life.creator) {
            return;
        }
        out.premise(RuleId::Pn2, life.object);
        let is_own = match life.owner {
            Session(0) => scene.view.session(by).client == Some(life.client),
            owner => owner == by,
        };
        // Between a read and its delete the znode may be evicted, and the next owner's stand there with the same version.
        let was_evicted = |own: &Life| {
            own.path == life.path && own.is_evicted && scene.view.session(by).client == Some(own.client)
        };
        if is_own || scene.view.is_touched(life.path) || self.lives.iter().any(was_evicted) {
            return;
        }
        let owner = scene.session(life.creator);
        let text = explain(format!("{} {what} {}", scene.session(by), scene.znode(life.path)))
            .because(format!("{owner} has created it, at {}", scene.when(life.created)));
        out.fail(RuleId::Pn2, scene, life.object, &[life.created.index], text);
    }

    /// PN-3: the data are not older than the last ones that a call has set.
    fn is_as_new_as_set(&self, scene: &Scene<'_>, life: &Life, out: &mut Findings) {
        let Some(keep) = self.keep_behind(life).filter(|keep| Self::is_open(scene, keep)) else { return };
        // A create of a former session may be applied late: the next session waits until that has ended, or writes once more.
        if life.is_late || life.owner != Session(0) && Self::is_former(scene, life.client, life.creator) {
            return;
        }
        let Some(done) = keep.sets.iter().rposition(|set| set.is_done) else { return };
        if life.is_struck || scene.view.is_touched(life.path) {
            return;
        }
        out.premise(RuleId::Pn3, life.object);
        if keep.sets[done..].iter().any(|set| Some(set.digest) == life.data) {
            return;
        }
        let set = &keep.sets[done];
        let text = explain(format!(
            "{} has other data than {:?} at {}",
            scene.znode(life.path),
            scene.text(set.text),
            scene.when(scene.now())
        ))
        .because(format!("{} has set them, and was told so", scene.actor(set.op)));
        out.fail(RuleId::Pn3, scene, life.object, &[set.given.index], text);
    }

    fn created(&mut self, scene: &Scene<'_>, path: Sym, owner: Session) {
        let creator = scene.view.txn.session;
        let Some(object) = scene.object_at(Kind::PersistentNode, path) else { return };
        let client = scene.view.session(creator).client.unwrap_or(u16::MAX);
        self.last = Some(self.lives.len());
        self.lives.push(Life {
            object,
            path,
            owner,
            creator,
            client,
            created: scene.now(),
            deleted: Moment::NEVER,
            data: None,
            is_late: Self::is_former(scene, client, creator),
            is_evicted: false,
            is_struck: false,
        });
    }

    fn deleted(&mut self, scene: &Scene<'_>, event: &Event, path: Sym, by: Session, out: &mut Findings) {
        let Some(at) = self.life(path) else { return };
        self.lives[at].deleted = scene.now();
        let is_deliberate = scene.view.op(event.op).verb == Verb::Evict || scene.view.is_foreign(by);
        self.lives[at].is_evicted =
            is_deliberate || scene.view.session(by).client != Some(self.lives[at].client);
        if !is_deliberate {
            self.touches(scene, &self.lives[at], by, "deletes", out);
        }
    }

    /// PN-1: the znode is there.
    fn is_there(&self, scene: &Scene<'_>, keep: &Keep, reported: &mut Reported, out: &mut Findings) {
        let last = self.lives.iter().rfind(|life| life.object == keep.object);
        if last.is_some_and(Life::is_alive) {
            return;
        }
        let called = scene.view.op(keep.op).called;
        let since = last.map_or(called, |life| life.deleted);
        if is_late(scene, reported, RuleId::Pn1, keep.op, since) {
            let text = explain(format!(
                "{} is absent at {}",
                scene.znode(scene.object(keep.object).path),
                scene.when(scene.now())
            ))
            .because(format!("{} keeps it there since {}", scene.actor(keep.op), scene.when(called)))
            .because(match last {
                Some(life) => format!("it was deleted at {}", scene.when(life.deleted)),
                None => "it was never created".to_owned(),
            });
            out.fail(RuleId::Pn1, scene, keep.object, &[since.index], text);
        }
    }

    /// PN-3: the last data arrive.
    fn has_the_last(&self, scene: &Scene<'_>, keep: &Keep, reported: &mut Reported, out: &mut Findings) {
        let Some(set) = keep.sets.last() else { return };
        let is_own =
            |life: &&Life| life.is_alive() && self.keep_behind(life).is_some_and(|own| own.op == keep.op);
        let Some(life) = self.lives.iter().rfind(is_own) else { return };
        if life.data == Some(set.digest) || life.is_struck || scene.view.is_touched(life.path) {
            return;
        }
        if is_late(scene, reported, RuleId::Pn3, keep.op, later(set.given, life.created)) {
            let text = explain(format!(
                "{} does not have the data {:?} at {}",
                scene.znode(life.path),
                scene.text(set.text),
                scene.when(scene.now())
            ))
            .because(format!(
                "{} was to set them at {}",
                scene.actor(set.op),
                scene.when(set.given)
            ));
            out.fail_in(Layer::Liveness, RuleId::Pn3, scene, life.object, &[set.given.index], text);
        }
    }

    /// PN-4: nothing is left behind.
    fn is_left(&self, scene: &Scene<'_>, life: &Life, reported: &mut Reported, out: &mut Findings) {
        let Some(keep) = self.keep_behind(life).filter(|keep| !keep.outlives) else { return };
        let over = scene.view.op(keep.op).over;
        if Self::is_open(scene, keep)
            || !is_late(scene, reported, RuleId::Pn4, keep.op, later(over, life.created))
        {
            return;
        }
        let text = explain(format!("{} still exists at {}", scene.znode(life.path), scene.when(scene.now())))
            .because(format!(
                "{}, whose session has created it, ended at {}",
                scene.actor(keep.op),
                scene.when(over)
            ));
        out.fail(RuleId::Pn4, scene, life.object, &[life.created.index], text);
    }
}

impl Rule for PersistentNodes {
    const HEARS: Kinds = hears![Given, Return, Created, Written, Data, Deleted, Quiesce];
    const ABOUT: &'static [Kind] = &[Kind::PersistentNode];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        let mut reported = std::mem::take(&mut self.reported);
        for keep in self.keeps.iter().filter(|keep| Self::is_open(scene, keep)) {
            self.is_there(scene, keep, &mut reported, out);
            self.has_the_last(scene, keep, &mut reported, out);
        }
        for life in self.lives.iter().filter(|life| life.is_alive()) {
            self.is_left(scene, life, &mut reported, out);
        }
        self.reported = reported;
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let last = self.last.take();
        match event.what {
            What::Given { text, number }
                if event.op != OpId(0)
                    && scene.is_of(Kind::PersistentNode, scene.view.op(event.op).object) =>
            {
                self.given(scene, event, text, number);
            }
            What::Return { outcome, .. } => {
                let op = scene.view.op(event.op);
                if !scene.is_of(Kind::PersistentNode, op.object) {
                    return;
                }
                out.premise(if op.verb == Verb::Keep { RuleId::Pn4 } else { RuleId::Pn1 }, op.object);
                let mut sets = self.keeps.iter_mut().rev().flat_map(|keep| &mut keep.sets);
                let Some(set) = sets.find(|set| set.op == event.op) else { return };
                set.is_done = outcome == Outcome::Done && op.verb != Verb::Keep;
                if set.is_done {
                    let is_own = |life: &&Life| {
                        life.is_alive() && (life.client, life.object) == (op.client, op.object)
                    };
                    if let Some(life) = self.lives.iter().rfind(is_own) {
                        self.is_as_new_as_set(scene, life, out);
                    }
                }
            }
            What::Created { path, owner, .. } => self.created(scene, path, owner),
            What::Written { path, .. } => {
                self.last = self.life(path);
                if let Some(at) = self.last {
                    let by = scene.view.txn.session;
                    let life = &mut self.lives[at];
                    let is_own = scene.view.session(by).client == Some(life.client)
                        && !Self::is_former(scene, life.client, by);
                    life.is_struck |= !is_own;
                    life.is_late &= !is_own;
                    self.touches(scene, &self.lives[at], by, "writes into", out);
                }
            }
            What::Data { digest, .. } => {
                if let Some(at) = last {
                    self.lives[at].data = Some(digest);
                    self.is_as_new_as_set(scene, &self.lives[at], out);
                }
            }
            What::Deleted { path, by, .. } => self.deleted(scene, event, path, by, out),
            _ => {}
        }
    }
}
