//! Names: registrations, unregistrations and lookups: NS-1 to NS-5.

use super::followers::had_time;
use crate::rule::prelude::*;
use crate::view::{Moment, Op, Phase};
use std::collections::BTreeMap;

/// NS-1 to NS-5.
#[derive(Clone, Default)]
pub(crate) struct NameService {
    ops: Vec<Doing>,
    lives: Vec<Life>,
    /// The data of permanent names, by digest: a guid, a newline and the value.
    contents: BTreeMap<u64, Sym>,
}

/// The freshness that a lookup asked for, by its number.
const LATEST: u64 = 2;

/// An operation on a name.
#[derive(Clone)]
struct Doing {
    id: OpId,
    object: ObjectId,
    verb: Verb,
    client: u16,
    /// The name in the call.
    name: Option<Sym>,
    number: u64,
    /// The name in the result.
    seen: Option<(Seen, Sym, u64)>,
    /// The event at which the reply to its create was lost, and whether it has got any reply since.
    lost: Option<u32>,
    heard: bool,
    /// For a registration: whether it was released. For an unregistration: the registration.
    is_over: bool,
    partner: Option<OpId>,
    /// For a follower: the newest write that it reported.
    newest: u64,
    /// For a follower: the last write that it reported, or 0 for the absence of the name.
    told: Option<u64>,
}

/// One incarnation of a znode that bears a name.
#[derive(Clone)]
struct Life {
    object: ObjectId,
    path: Sym,
    czxid: u64,
    owner: Session,
    /// The operation that created it.
    op: OpId,
    created: Moment,
    deleted: Moment,
    writes: Vec<Write>,
}

#[derive(Clone)]
struct Write {
    zxid: u64,
    at: Moment,
    data: Option<u64>,
}

impl Life {
    fn is_alive(&self) -> bool {
        !self.deleted.came()
    }
}

/// Whether its time limit is over by the caller's own clock, which may run fast.
fn ran_out(op: &Op, at: u64) -> bool {
    let limit = u64::from(op.limit);
    limit != 0 && at >= op.called.at + limit - limit / 8
}

impl NameService {
    fn position(&self, id: OpId) -> Option<usize> {
        self.ops.iter().rposition(|op| op.id == id)
    }

    /// The znodes that bore the name in the call.
    fn lives_of<'a>(
        &'a self,
        scene: &Scene<'a>,
        doing: &'a Doing,
    ) -> impl DoubleEndedIterator<Item = &'a Life> {
        let name = doing.name.map_or("", |name| scene.text(name));
        let scene = *scene;
        self.lives.iter().filter(move |life| life.object == doing.object && scene.name(life.path) == name)
    }

    fn called(&mut self, event: &Event, client: u16, object: ObjectId, verb: Verb) {
        let (name, number, seen, lost, heard) = (None, 0, None, None, false);
        let (is_over, partner) = (false, None);
        let id = event.op;
        self.ops.push(Doing {
            id,
            object,
            verb,
            client,
            name,
            number,
            seen,
            lost,
            heard,
            is_over,
            partner,
            newest: 0,
            told: None,
        });
    }

    fn given(&mut self, scene: &Scene<'_>, at: usize, name: Sym, number: u64) {
        if self.ops[at].verb == Verb::Replace {
            self.contents.insert(scene.digest(name), name);
            return;
        }
        (self.ops[at].name, self.ops[at].number) = (Some(name), number);
        if self.ops[at].verb != Verb::Unregister {
            return;
        }
        let (client, object) = (self.ops[at].client, self.ops[at].object);
        let registration = self.ops.iter_mut().rev().find(|other| {
            other.verb == Verb::Register
                && (other.client, other.object, other.name) == (client, object, Some(name))
                && !other.is_over
                && scene.view.op(other.id).phase == Phase::Over(Outcome::Done)
        });
        if let Some(registration) = registration {
            registration.is_over = true;
            self.ops[at].partner = Some(registration.id);
        }
    }

    fn returned(&mut self, scene: &Scene<'_>, at: usize, outcome: Outcome, out: &mut Findings) {
        match (self.ops[at].verb, outcome) {
            (Verb::Register, Outcome::Done) => self.judge_registration(scene, at, out),
            (Verb::Register, Outcome::Refused) => self.judge_refusal(scene, at, out),
            (Verb::Unregister, Outcome::Done) => out.premise(RuleId::Ns4, self.ops[at].object),
            (Verb::Resolve, Outcome::Done) => self.judge_lookup(scene, at, out),
            (Verb::Follow, _) => self.judge_delay(scene, at, out),
            _ => {}
        }
    }

    /// NS-1, and NS-3 after a lost reply: an operation that succeeds has created the znode.
    fn judge_registration(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let doing = &self.ops[at];
        let rule = if doing.lost.is_some() { RuleId::Ns3 } else { RuleId::Ns1 };
        out.premise(RuleId::Ns1, doing.object);
        out.premise(rule, doing.object);
        let czxid = doing.seen.map_or(0, |(_, _, number)| number);
        let who = scene.actor(doing.id);
        let name = doing.name.map_or("?", |name| scene.text(name));
        let told = || explain(format!("{who} was told that it owns {name:?} (zxid {czxid:#x})"));
        let same = |other: &&Doing| {
            other.id != doing.id
                && other.verb == Verb::Register
                && (other.object, other.name) == (doing.object, doing.name)
                && other.seen.is_some_and(|(_, _, number)| number == czxid && czxid != 0)
                && scene.view.op(other.id).phase == Phase::Over(Outcome::Done)
        };
        if let Some(other) = self.ops.iter().find(same) {
            let text = told().because(format!("{} was told the same before", scene.actor(other.id)));
            return out.fail(rule, scene, doing.object, &[scene.view.op(other.id).over.index], text);
        }
        if !scene.view.is_sim() {
            return;
        }
        match self.lives_of(scene, doing).find(|life| life.czxid == czxid) {
            Some(life) if life.op == doing.id => {}
            Some(life) => {
                let owner = scene.session(life.owner);
                let text = told().because(format!("another registration, of {owner}, created that znode"));
                out.fail(rule, scene, doing.object, &[life.created.index], text);
            }
            // It was deleted before the client could read its owner.
            None if czxid == 0 && scene.is_interfered_with(doing.object) => {}
            None => {
                let text = told().because("no znode of that name was created at that zxid");
                out.fail(rule, scene, doing.object, &[], text);
            }
        }
    }

    /// NS-3: after a lost reply, an operation that is refused has read the znode, and has not created it.
    fn judge_refusal(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let doing = &self.ops[at];
        let Some(lost) = doing.lost else { return };
        let op = scene.view.op(doing.id);
        if ran_out(op, scene.at) {
            return;
        }
        out.premise(RuleId::Ns3, doing.object);
        let who = scene.actor(doing.id);
        let own = self.lives.iter().find(|life| life.op == doing.id && life.is_alive());
        // It recognizes its own znode by the data.
        if own.is_some_and(|own| scene.view.is_touched(own.path)) {
            return;
        }
        let wrong = match own {
            Some(own) => Some((
                format!("the znode of its create (zxid {:#x}) exists and belongs to it", own.czxid),
                own.created.index,
            )),
            None if !doing.heard => Some(("it has sent no read since".to_owned(), u32::MAX)),
            None => None,
        };
        if let Some((why, seen)) = wrong {
            let text =
                explain(format!("{who} lost the reply to its create (e{lost}) and was refused the name"));
            out.fail(RuleId::Ns3, scene, doing.object, &[lost, seen], text.because(why));
        }
    }

    /// NS-5: a lookup returns a value that existed during the call.
    fn judge_lookup(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let doing = &self.ops[at];
        let Some((seen, value, mzxid)) = doing.seen else { return };
        out.premise(RuleId::Ns5, doing.object);
        if !scene.view.is_sim() {
            return;
        }
        let called = scene.view.op(doing.id).called;
        let is_latest = doing.number == LATEST;
        let who = scene.actor(doing.id);
        let name = doing.name.map_or("?", |name| scene.text(name));
        let before = |moment: Moment| moment.came() && moment.at < called.at;
        let wrong = if seen == Seen::Missing {
            let there = |life: &&Life| before(life.created) && life.is_alive();
            self.lives_of(scene, doing).find(there).filter(|_| is_latest).map(|life| {
                (format!("the name existed all the time (zxid {:#x})", life.czxid), life.created.index)
            })
        } else {
            let written = |life: &&Life| life.writes.iter().any(|write| write.zxid == mzxid);
            match self.lives_of(scene, doing).find(written) {
                None => Some((format!("the znode was not written at zxid {mzxid:#x}"), u32::MAX)),
                Some(life) => {
                    let number = life.writes.iter().position(|write| write.zxid == mzxid).unwrap_or(0);
                    let content = scene.digest(value);
                    let other = life.writes[number].data.is_some_and(|data| match life.owner {
                        Session(0) => {
                            self.value_in(scene, data).is_some_and(|known| known != scene.text(value))
                        }
                        _ => data != content,
                    });
                    let end = life.writes.get(number + 1).map_or(life.deleted, |next| next.at);
                    if other {
                        Some(("another value was written".to_owned(), life.writes[number].at.index))
                    } else if is_latest && before(end) {
                        Some((
                            format!("that entry was deleted at {}, before the lookup began", scene.when(end)),
                            end.index,
                        ))
                    } else {
                        None
                    }
                }
            }
        };
        if let Some((why, seen)) = wrong {
            let found = if mzxid == 0 { "nothing".to_owned() } else { format!("{:?}", scene.text(value)) };
            let text = explain(format!("the lookup of {name:?} by {who} returned {found}")).because(why);
            out.fail(RuleId::Ns5, scene, doing.object, &[called.index, seen], text);
        }
    }

    /// The value of a permanent name, behind its guid, if an operation has written it.
    fn value_in<'a>(&self, scene: &Scene<'a>, data: u64) -> Option<&'a str> {
        let content = scene.text(*self.contents.get(&data)?);
        content.split_once('\n').map(|(_, value)| value)
    }

    /// NS-5: a follower reports written values, in the order of the writes.
    fn followed(&mut self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        self.judge_lookup(scene, at, out);
        let Doing { id, object, seen: Some((_, _, zxid)), newest, .. } = self.ops[at] else { return };
        let before = self.ops[at].told.replace(zxid);
        let is_old = if zxid == 0 { before == Some(0) } else { zxid <= newest };
        if is_old {
            let of = |zxid: u64| match zxid {
                0 => "that there is no such name".to_owned(),
                zxid => format!("of the value of zxid {zxid:#x}"),
            };
            let text = explain(format!("{} was told {}", scene.actor(id), of(zxid)))
                .because(format!("it had been told {} before", of(if zxid == 0 { 0 } else { newest })));
            out.fail(RuleId::Ns5, scene, object, &[scene.view.op(id).called.index], text);
        }
        self.ops[at].newest = newest.max(zxid);
    }

    /// NS-5: a follower eventually reports the last value.
    fn judge_delay(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let doing = &self.ops[at];
        let last = self.lives_of(scene, doing).next_back();
        let changed = last.and_then(|life| {
            let written = life.writes.last().map_or(life.created, |write| write.at);
            Some(if life.is_alive() { written } else { life.deleted }).filter(|moment| moment.came())
        });
        let Some(changed) = changed.filter(|changed| had_time(scene, doing.id, changed.at)) else { return };
        out.premise(RuleId::Ns5, doing.object);
        let stands = last.filter(|life| life.is_alive());
        let now = stands.and_then(|life| life.writes.last()).map_or(0, |write| write.zxid);
        let told = doing.seen.map_or(u64::MAX, |(_, _, zxid)| zxid);
        if told != now {
            let who = scene.actor(doing.id);
            let text = explain(format!("{who} follows a name, and was not told of its last change"))
                .because(format!("the name has not changed since {}", scene.when(changed)));
            out.fail(RuleId::Ns5, scene, doing.object, &[changed.index], text);
        }
    }

    /// NS-2: unique names differ.
    fn judge_unique_name(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let doing = &self.ops[at];
        let Some((Seen::Name, name, czxid)) = doing.seen else { return };
        out.premise(RuleId::Ns2, doing.object);
        let who = scene.actor(doing.id);
        let told = explain(format!("{who} was given {:?} (zxid {czxid:#x})", scene.text(name)));
        let same = |other: &&Doing| {
            other.id != doing.id
                && other.verb == Verb::Unique
                && other.object == doing.object
                && other.seen.is_some_and(|(_, given, zxid)| given == name || (zxid == czxid && zxid != 0))
        };
        if let Some(other) = self.ops.iter().find(same) {
            let text = told.because(format!("{} was given the same before", scene.actor(other.id)));
            let called = scene.view.op(other.id).called.index;
            return out.fail(RuleId::Ns2, scene, doing.object, &[called], text);
        }
        let made = |life: &Life| life.op == doing.id && life.czxid == czxid;
        if scene.view.is_sim() && !self.lives.iter().any(made) {
            let text = told.because("it created no such znode");
            out.fail(RuleId::Ns2, scene, doing.object, &[], text);
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
        let Some(object) = scene.object_around(Kind::Names, path) else { return };
        let created = scene.now();
        let writes = vec![Write { zxid, at: created, data: None }];
        let (czxid, op, deleted) = (zxid, event.op, Moment::NEVER);
        self.lives.push(Life { object, path, czxid, owner, op, created, deleted, writes });
        let Some(doing) = self.position(event.op).map(|at| &self.ops[at]) else { return };
        let asked = scene.view.op(doing.id);
        let in_time = !ran_out(asked, asked.over.at);
        if let (Verb::Register, Phase::Over(Outcome::Refused), true) = (doing.verb, asked.phase, in_time) {
            let who = scene.actor(doing.id);
            let text = explain(format!("{who} was refused the name at {}", scene.when(asked.over)))
                .because(format!("its create was still in flight, and created the znode (zxid {zxid:#x})"));
            out.fail(RuleId::Ns3, scene, object, &[asked.over.index], text);
        }
    }

    /// NS-4: only a name's own registration deletes it.
    fn deleted(&mut self, scene: &Scene<'_>, event: &Event, path: Sym, by: Session, out: &mut Findings) {
        let Some(number) = self.lives.iter().rposition(|life| life.path == path && life.is_alive()) else {
            return;
        };
        self.lives[number].deleted = scene.now();
        let life = &self.lives[number];
        // The deleter is the reaper, or a foreign client.
        if by == Session(0) || scene.view.is_foreign(by) {
            return;
        }
        let doing = self.position(event.op).map(|at| &self.ops[at]);
        let release = doing.filter(|doing| doing.verb == Verb::Unregister);
        let own = release.and_then(|release| release.partner).and_then(|own| self.position(own));
        let own = own.and_then(|at| self.ops[at].seen).map(|(_, _, czxid)| czxid);
        let wrong = match own {
            _ if life.owner != Session(0) && by != life.owner => true,
            Some(czxid) => czxid != life.czxid,
            None => false,
        };
        out.premise(RuleId::Ns4, life.object);
        // A client that deletes another's znode may have created its own there, and lost it between its read and the
        // delete.
        let other = own.and_then(|czxid| self.lives.iter().find(|other| other.czxid == czxid));
        let is_excused = other.is_some_and(|own| {
            release.is_some_and(|release| own.deleted.index > scene.view.op(release.id).called.index)
                && own.deleted.index != scene.index
        });
        let had_one =
            self.lives.iter().any(|own| own.path == path && own.owner == by && own.czxid != life.czxid);
        // The client may have written the data of a permanent name into a znode that a foreign client had put in its
        // place.
        let is_permanent = other.is_some_and(|own| own.owner == Session(0));
        let is_excused = is_excused || ((had_one || is_permanent) && scene.view.is_touched(path));
        if wrong && !is_excused {
            let who = match doing {
                Some(doing) => scene.actor(doing.id),
                None => scene.session(by),
            };
            let text = explain(format!("{who} removed {} (zxid {:#x})", scene.znode(path), life.czxid));
            let owner = scene.session(life.owner);
            let text = text.because(match own {
                Some(czxid) => format!("its own znode had zxid {czxid:#x}, and this one belongs to {owner}"),
                None => format!("it belongs to {owner}"),
            });
            out.fail(RuleId::Ns4, scene, life.object, &[life.created.index], text);
        }
    }

    /// NS-4: at the end there is no znode of a name that was abandoned or released.
    fn left(&self, scene: &Scene<'_>, out: &mut Findings) {
        for life in self.lives.iter().filter(|life| life.is_alive() && life.owner != Session(0)) {
            let Some(doing) = self.position(life.op).map(|at| &self.ops[at]) else { continue };
            let given_up = match scene.view.op(doing.id).phase {
                Phase::Over(Outcome::Done) => {
                    let back = |other: &Doing| {
                        other.partner == Some(doing.id)
                            && scene.view.op(other.id).phase == Phase::Over(Outcome::Done)
                    };
                    self.ops.iter().any(back)
                }
                Phase::Over(_) => true,
                _ => false,
            };
            if given_up && scene.view.present_client(life.owner).is_some() {
                let who = scene.actor(doing.id);
                let text = explain(format!("{} of {who} still exists", scene.znode(life.path))).because(
                    format!("its registration ended at {}", scene.when(scene.view.op(doing.id).over)),
                );
                out.fail(RuleId::Ns4, scene, life.object, &[life.created.index], text);
            }
        }
    }
}

impl Rule for NameService {
    const HEARS: Kinds =
        hears![Call, Given, Observed, Return, Reply, Lost, Created, Written, Data, Deleted, Quiesce];
    const ABOUT: &'static [Kind] = &[Kind::Names];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        if let What::Call { object, verb, .. } = event.what {
            if scene.is_of(Kind::Names, object) {
                self.called(event, view.op(event.op).client, object, verb);
            }
            return;
        }
        let doing = self.position(event.op);
        match event.what {
            What::Given { text, number } => {
                if let Some(at) = doing {
                    self.given(scene, at, text, number);
                }
            }
            // The reported state of a registration is no name and no value.
            What::Observed { seen, text, number, .. } if seen != Seen::State => {
                if let Some(at) = doing {
                    self.ops[at].seen = Some((seen, text, number));
                    match self.ops[at].verb {
                        Verb::Unique => self.judge_unique_name(scene, at, out),
                        Verb::Follow => self.followed(scene, at, out),
                        _ => {}
                    }
                }
            }
            What::Return { outcome, .. } => {
                if let Some(at) = doing {
                    self.returned(scene, at, outcome, out);
                }
            }
            What::Lost { req } => {
                let Some(sent) = view.request(req).filter(|req| req.kind == Request::Create) else { return };
                if let Some(at) = self.position(sent.op).filter(|at| self.ops[*at].verb == Verb::Register) {
                    (self.ops[at].lost, self.ops[at].heard) = (Some(scene.index), false);
                }
            }
            What::Reply { req, .. } => {
                let Some(sent) = view.request(req) else { return };
                if let Some(at) = self.position(sent.op) {
                    self.ops[at].heard |= self.ops[at].lost.is_some_and(|lost| sent.sent.index > lost);
                }
            }
            What::Created { zxid, path, owner } => self.created(scene, event, path, zxid, owner, out),
            What::Written { zxid, path } => {
                let at = scene.now();
                if let Some(life) = self.lives.iter_mut().rfind(|life| life.path == path && life.is_alive()) {
                    life.writes.push(Write { zxid, at, data: None });
                }
            }
            What::Data { digest, .. } => {
                let last = self.lives.iter_mut().flat_map(|life| life.writes.last_mut());
                if let Some(write) = last.into_iter().find(|write| write.at.index + 1 == scene.index) {
                    write.data = Some(digest);
                }
            }
            What::Deleted { path, by, .. } => self.deleted(scene, event, path, by, out),
            What::Quiesce if view.is_sim() => self.left(scene, out),
            _ => {}
        }
    }
}
