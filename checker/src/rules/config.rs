//! Configuration: the values that followers see, and the effects of writers: CF-1 to CF-8.

use super::followers::{self, Cost, Wakes, had_time};
use crate::rule::prelude::*;
use crate::view::{Moment, Phase};

/// CF-1 to CF-8.
#[derive(Clone)]
pub(crate) struct Config {
    wakes: Wakes,
    cost: Cost,
    /// The effects on each value, in the order of transactions.
    writes: Vec<Write>,
    ops: Vec<Doing>,
    /// Notifications of changes, by connection.
    told: Vec<Notified>,
}

/// The effect of a transaction on a value.
#[derive(Clone)]
struct Write {
    object: ObjectId,
    zxid: u64,
    at: Moment,
    op: OpId,
    /// The index of its latest event.
    effect: u32,
    /// The digest of the data; `None`: the znode was deleted.
    data: Option<u64>,
}

/// An operation on a value.
#[derive(Clone)]
struct Doing {
    id: OpId,
    object: ObjectId,
    verb: Verb,
    given: Option<(Sym, u64)>,
    /// The number of its writes.
    writes: u32,
    first_write: usize,
    /// For a follower: whether its last read of the data, and its last check for the znode, armed a watch.
    read: Option<(bool, Moment)>,
    looked: Option<(bool, Moment)>,
    /// The last value that it handed out, and its time.
    seen: Option<(u64, Moment)>,
    /// The newest value that it handed out, with its event.
    newest: (u64, u32),
}

impl Doing {
    fn new(id: OpId, object: ObjectId, verb: Verb) -> Doing {
        let (given, read, looked, seen, newest) = (None, None, None, None, (0, u32::MAX));
        Doing { id, object, verb, given, writes: 0, first_write: 0, read, looked, seen, newest }
    }
}

#[derive(Clone)]
struct Notified {
    conn: Conn,
    object: ObjectId,
    zxid: u64,
    noticed: Moment,
}

impl Default for Config {
    fn default() -> Config {
        let wakes = Wakes::new(Verb::Follow);
        let (cost, writes, ops, told) = (Cost::default(), Vec::new(), Vec::new(), Vec::new());
        Config { wakes, cost, writes, ops, told }
    }
}

impl Config {
    fn doing(&mut self, id: OpId) -> Option<&mut Doing> {
        self.ops.iter_mut().rev().find(|op| op.id == id)
    }

    fn of(&self, object: ObjectId) -> impl DoubleEndedIterator<Item = &Write> {
        self.writes.iter().filter(move |write| write.object == object)
    }

    /// Notes a transaction that writes or deletes the value.
    fn written(
        &mut self,
        scene: &Scene<'_>,
        event: &Event,
        path: Sym,
        zxid: u64,
        there: bool,
        out: &mut Findings,
    ) {
        let Some(object) = scene.object_at(Kind::Config, path) else { return };
        let at = scene.now();
        let data = there.then_some(0);
        let last = self.of(object).next_back();
        if let Some(last) = last.filter(|last| last.zxid == zxid) {
            let number = self.writes.iter().rposition(|write| write.at == last.at).unwrap_or(0);
            (self.writes[number].data, self.writes[number].effect) = (data, scene.index);
            return;
        }
        let before = last.filter(|last| last.data.is_some()).map_or(0, |last| last.zxid);
        let number = self.writes.len();
        self.writes.push(Write { object, zxid, at, op: event.op, effect: scene.index, data });
        self.judge_write(scene, event.op, before, number, out);
    }

    /// CF-7: whether an operation may make this write.
    fn judge_write(&mut self, scene: &Scene<'_>, id: OpId, before: u64, number: usize, out: &mut Findings) {
        let Some(at) = self.ops.iter().rposition(|op| op.id == id) else { return };
        let others = |from: usize| self.writes[from..].iter().any(|write| write.op != id);
        let doing = &self.ops[at];
        let who = scene.actor(id);
        let expected = doing.given.map_or(0, |(_, number)| number);
        let conditional = matches!(doing.verb, Verb::CompareAndSet | Verb::Publish);
        let text = |what: String| explain(what);
        let is_excused = is_excused(scene, doing.object);
        let wrong = if scene.view.op(id).phase == Phase::Over(Outcome::Refused) {
            Some(text(format!("{who} was told that its write was not applied, and later it was")))
        } else if conditional && before != expected && !is_excused {
            let what = format!("{who} overwrote the value of zxid {before:#x}");
            Some(text(what).because(format!("it expected the value of zxid {expected:#x}")))
        } else if doing.writes > 0 && (conditional || others(doing.first_write)) && !is_excused {
            Some(text(format!("{who} applied the same write twice")))
        } else {
            None
        };
        let (object, first) = (doing.object, if doing.writes == 0 { number } else { doing.first_write });
        let called = scene.view.op(id).called.index;
        self.ops[at].writes += 1;
        self.ops[at].first_write = first;
        if let Some(text) = wrong {
            out.fail(RuleId::Cf7, scene, object, &[called], text);
        }
    }

    /// CF-7: whether the reported outcome of an operation is true.
    fn returned(&mut self, scene: &Scene<'_>, id: OpId, outcome: Outcome, out: &mut Findings) {
        let Some(at) = self.ops.iter().rposition(|op| op.id == id) else { return };
        let doing = &self.ops[at];
        let object = doing.object;
        match doing.verb {
            Verb::Follow => {
                self.cost.over(scene, id, out);
                self.judge_delay(scene, at, out);
            }
            Verb::CompareAndSet | Verb::Publish | Verb::Overwrite => {
                out.premise(RuleId::Cf7, object);
                let who = scene.actor(id);
                let is_excused = is_excused(scene, object);
                let wrong = match outcome {
                    Outcome::Done if scene.view.is_sim() && doing.writes == 0 => {
                        Some("was told that its write was applied, and it was not")
                    }
                    Outcome::Refused if doing.writes > 0 && !is_excused => {
                        Some("was told that its write was not applied, and it was")
                    }
                    Outcome::Done if !scene.view.is_sim() && self.rival(scene, at) => {
                        Some("overwrote the value that it expected, and another writer had done so before")
                    }
                    _ => None,
                };
                if let Some(wrong) = wrong {
                    let called = scene.view.op(id).called.index;
                    out.fail(RuleId::Cf7, scene, object, &[called], explain(format!("{who} {wrong}")));
                }
            }
            _ => {}
        }
    }

    /// Whether another conditional write with the same expectation succeeded.
    fn rival(&self, scene: &Scene<'_>, at: usize) -> bool {
        let doing = &self.ops[at];
        let expected = doing.given.map_or(0, |(_, number)| number);
        let conditional = |op: &Doing| matches!(op.verb, Verb::CompareAndSet | Verb::Publish);
        conditional(doing)
            && expected != 0
            && self.ops.iter().any(|other| {
                other.id != doing.id
                    && other.object == doing.object
                    && conditional(other)
                    && other.given.is_some_and(|(_, number)| number == expected)
                    && scene.view.op(other.id).phase == Phase::Over(Outcome::Done)
            })
    }

    /// CF-3: whether a follower still has an old value after enough time to read the new one.
    fn judge_delay(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let doing = &self.ops[at];
        let Some(last) = self.of(doing.object).next_back().filter(|_| scene.view.is_sim()) else { return };
        if !had_time(scene, doing.id, last.at.at) {
            return;
        }
        out.premise(RuleId::Cf3, doing.object);
        let now = if last.data.is_some() { last.zxid } else { 0 };
        if doing.seen.map(|(zxid, _)| zxid) != Some(now) {
            let who = scene.actor(doing.id);
            let has = match doing.seen {
                Some((zxid, at)) => format!("has the value of zxid {zxid:#x} (e{})", at.index),
                None => "has no value".to_owned(),
            };
            let text = explain(format!(
                "{who} follows {} since {} and {has}; the last change is that of zxid {:#x}",
                scene.place(doing.object),
                scene.when(scene.view.op(doing.id).called),
                last.zxid
            ))
            .because(format!(
                "that change was applied at {}, {} ago, and without a fault the limit is {}",
                scene.when(last.at),
                ms(scene.at.saturating_sub(last.at.at)),
                ms(scene.view.bound(doing.object))
            ))
            .because(format!("it is {who} that should have read again: its last watch was to tell it"));
            out.fail(RuleId::Cf3, scene, doing.object, &[last.at.index], text);
        }
    }

    fn observed(
        &mut self,
        scene: &Scene<'_>,
        event: &Event,
        seen: Seen,
        told: (Sym, u64),
        out: &mut Findings,
    ) {
        let Some(at) = self.ops.iter().rposition(|op| op.id == event.op) else { return };
        match (self.ops[at].verb, seen) {
            (Verb::Follow, Seen::Value) => {
                self.goes_on(scene, at, Some(told.1), out);
                self.was_written(scene, at, told, out);
                // CF-1 already reports a value that goes back.
                if told.1 >= self.ops[at].newest.0 {
                    self.judge_arming(scene, at, true, out);
                }
            }
            (Verb::Follow, Seen::Missing) => {
                self.goes_on(scene, at, None, out);
                self.judge_arming(scene, at, false, out);
            }
            (Verb::Get, Seen::Value) => self.was_written(scene, at, told, out),
            (Verb::Snapshot, Seen::Value) => self.judge_set(scene, at, told, out),
            _ => return,
        }
        let number = if seen == Seen::Missing { 0 } else { told.1 };
        self.ops[at].newest = self.ops[at].newest.max((number, scene.index));
        self.ops[at].seen = Some((number, scene.now()));
    }

    /// CF-1: each value of a follower is new: values do not go back, and none comes twice.
    fn goes_on(&self, scene: &Scene<'_>, at: usize, zxid: Option<u64>, out: &mut Findings) {
        let doing = &self.ops[at];
        out.premise(RuleId::Cf1, doing.object);
        let newest = doing.newest;
        let given = |zxid: Option<u64>| match zxid {
            Some(zxid) => format!("the value of zxid {zxid:#x}"),
            None => "that there is no value".to_owned(),
        };
        let (before, seen) = match (zxid, doing.seen) {
            (Some(zxid), _) if zxid < newest.0 => (Some(newest.0), newest.1),
            (Some(zxid), _) if zxid == newest.0 => (Some(zxid), newest.1),
            (None, Some((0, moment))) => (None, moment.index),
            _ => return,
        };
        let who = scene.actor(doing.id);
        let text = explain(format!("{who} was given {}", given(zxid)))
            .because(format!("it had been given {} before", given(before)));
        out.fail(RuleId::Cf1, scene, doing.object, &[seen], text);
    }

    /// CF-2: each observed value was written.
    fn was_written(&self, scene: &Scene<'_>, at: usize, (value, zxid): (Sym, u64), out: &mut Findings) {
        let doing = &self.ops[at];
        out.premise(RuleId::Cf2, doing.object);
        let who = scene.actor(doing.id);
        let content = scene.digest(value);
        let wrong = if scene.view.is_sim() {
            match self.of(doing.object).find(|write| write.zxid == zxid && write.data.is_some()) {
                None => Some(format!("nothing was written at zxid {zxid:#x}")),
                Some(write) if write.data != Some(content) => {
                    Some("another value was written then".to_owned())
                }
                Some(_) => None,
            }
        } else {
            let given =
                |op: &Doing| op.object == doing.object && op.given.is_some_and(|(given, _)| given == value);
            (!self.ops.iter().any(given)).then(|| "no client has ever written that value".to_owned())
        };
        if let Some(wrong) = wrong {
            let text = explain(format!("{who} was given {:?} of zxid {zxid:#x}", scene.text(value)));
            out.fail(RuleId::Cf2, scene, doing.object, &[], text.because(wrong));
        }
    }

    /// CF-5: whether a read of the follower returned the value that it hands out, and armed the watch. A value from a
    /// read for an earlier value, or from another operation, may be arbitrarily old.
    fn judge_arming(&mut self, scene: &Scene<'_>, at: usize, there: bool, out: &mut Findings) {
        let doing = &mut self.ops[at];
        let answered = if there { doing.read.take() } else { doing.looked.take() };
        let doing = &self.ops[at];
        let Some((armed, read)) = answered else {
            if there && scene.view.is_sim() {
                out.premise(RuleId::Cf5, doing.object);
                let text = explain(format!("{} returns a value that it has not read", scene.actor(doing.id)))
                    .because("no server has answered it with a value since its call, or since its last one");
                out.fail(RuleId::Cf5, scene, doing.object, &[], text);
            }
            return;
        };
        out.premise(RuleId::Cf5, doing.object);
        if !armed {
            let who = scene.actor(doing.id);
            let text = explain(format!("{who} returns the value that it read at {}", scene.when(read)))
                .because("that read armed no watch: a write before the next armed watch is missed");
            out.fail(RuleId::Cf5, scene, doing.object, &[read.index], text);
        }
    }

    /// CF-6: the values of a set come from one publication.
    fn judge_set(&self, scene: &Scene<'_>, at: usize, (values, zxid): (Sym, u64), out: &mut Findings) {
        let doing = &self.ops[at];
        out.premise(RuleId::Cf6, doing.object);
        let published = |op: &Doing| {
            op.verb == Verb::Publish
                && op.object == doing.object
                && op.given.is_some_and(|(given, _)| given == values)
        };
        let wrote = |op: &&Doing| {
            !scene.view.is_sim() || self.of(op.object).any(|write| write.zxid == zxid && write.op == op.id)
        };
        // A foreign write into a published set changes the set.
        let is_excused = scene.is_interfered_with(doing.object);
        if !is_excused && !self.ops.iter().filter(|op| published(op)).any(|op| wrote(&op)) {
            let who = scene.actor(doing.id);
            let read = scene.text(values);
            let text = explain(format!("{who} read {read:?} as the set of zxid {zxid:#x}"))
                .because("no publication contained these values together");
            out.fail(RuleId::Cf6, scene, doing.object, &[], text);
        }
    }

    /// Notes the watch that a follower's read armed.
    fn answered(&mut self, scene: &Scene<'_>, req: ReqId, code: Code) {
        let Some(req) = scene.view.request(req).copied() else { return };
        if scene.object_at(Kind::Config, req.path).is_none() {
            return;
        }
        let now = scene.now();
        if let Some(doing) = self.doing(req.op).filter(|doing| doing.verb == Verb::Follow) {
            match (req.kind, code) {
                (Request::Get, Code::Ok) => doing.read = Some((req.watch, now)),
                (Request::Exists, Code::NoNode) => doing.looked = Some((req.watch, now)),
                // A read of a missing znode arms nothing, and shows that the znode is missing.
                (Request::Get, Code::NoNode) => doing.looked = Some((false, now)),
                _ => {}
            }
        }
    }

    /// CF-4, the server's part: a read on a connection after a notification shows the change.
    fn served(&mut self, scene: &Scene<'_>, req: ReqId, conn: Conn, zxid: u64, out: &mut Findings) {
        let Some(req) = scene.view.request(req) else { return };
        let Some(object) = scene.object_at(Kind::Config, req.path) else { return };
        let told = self.told.iter().filter(|told| {
            told.conn == conn
                && told.object == object
                && told.noticed.came()
                && told.noticed.index < req.sent.index
        });
        let Some(latest) = told.max_by_key(|told| told.zxid) else { return };
        out.premise(RuleId::Cf4, object);
        if zxid < latest.zxid {
            let text = explain(format!("a read was answered from the state of zxid {zxid:#x}"))
                .because(format!("its connection had been notified of zxid {:#x} before", latest.zxid));
            out.fail(RuleId::Cf4, scene, object, &[latest.noticed.index], text);
        }
    }
}

impl Rule for Config {
    const HEARS: Kinds =
        followers::HEARS | hears![Call, Given, Observed, Created, Written, Deleted, Data, Served, Quiesce];
    const ABOUT: &'static [Kind] = &[Kind::Config];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.wakes.pass_time(scene, &|_, watch| watch.table == Table::Data, out);
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if let What::Call { object, verb, .. } = event.what {
            if scene.is_of(Kind::Config, object) {
                self.ops.push(Doing::new(event.op, object, verb));
            }
            return;
        }
        match event.what {
            What::Given { text, number } => {
                // The value is the first argument.
                if let Some(doing) = self.doing(event.op) {
                    doing.given.get_or_insert((text, number));
                }
            }
            What::Observed { object, seen, text, number } if scene.is_of(Kind::Config, object) => {
                self.observed(scene, event, seen, (text, number), out);
            }
            What::Created { zxid, path, .. } | What::Written { zxid, path } => {
                self.written(scene, event, path, zxid, true, out);
            }
            What::Deleted { zxid, path, .. } => self.written(scene, event, path, zxid, false, out),
            What::Data { digest, .. } => {
                let zxid = scene.view.txn.zxid;
                if let Some(last) = self.writes.last_mut()
                    && last.zxid == zxid
                    && last.effect + 1 == scene.index
                {
                    last.data = Some(digest);
                }
            }
            What::Return { outcome, .. } => self.returned(scene, event.op, outcome, out),
            What::Reply { req, code, .. } => self.answered(scene, req, code),
            What::Fire { session, path, zxid, conn, kind } => {
                if let Some(object) = scene.object_at(Kind::Config, path) {
                    let table = if kind == Notify::ChildrenChanged { Table::Child } else { Table::Data };
                    self.cost.fired(scene, object, (session, conn, path, zxid, table), out);
                    let full = self.of(object).map(|write| write.zxid).rfind(|full| *full as u32 == zxid);
                    if let Some(zxid) = full.filter(|_| !conn.is_none()) {
                        self.told.push(Notified { conn, object, zxid, noticed: Moment::NEVER });
                    }
                }
            }
            What::Notice { path, conn, .. } => {
                let object = scene.object_at(Kind::Config, path);
                let fired = |told: &&mut Notified| {
                    told.conn == conn && Some(told.object) == object && !told.noticed.came()
                };
                if let Some(told) = self.told.iter_mut().find(fired) {
                    told.noticed = scene.now();
                }
            }
            What::Served { req, conn, zxid } => self.served(scene, req, conn, zxid, out),
            What::Quiesce => {
                for at in 0..self.ops.len() {
                    let op = &self.ops[at];
                    if op.verb == Verb::Follow && scene.view.op(op.id).phase == Phase::Open {
                        self.judge_delay(scene, at, out);
                    }
                }
            }
            _ => {}
        }
        if followers::HEARS & crate::rule::bit(&event.what) != 0 {
            self.wakes.event(scene, event, &|_, watch| watch.table == Table::Data, out);
        }
    }
}

/// CF-7: a writer cannot confirm a value that a foreign client deletes or overwrites. And versions restart from 0 when
/// the znode is created again, so an old expectation may match by chance.
fn is_excused(scene: &Scene<'_>, object: ObjectId) -> bool {
    scene.is_interfered_with(object)
}
