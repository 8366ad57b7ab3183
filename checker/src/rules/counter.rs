//! Counters: CT-1 to CT-4.
//!
//! The rule keeps the counts in the order of the transactions. The number in the data of a znode shows only as a digest, so
//! of the numbers that the operation may write the one with that digest was written.

use crate::digest;
use crate::rule::prelude::*;
use crate::view::{Moment, Part, Phase};

/// CT-1 to CT-4.
#[derive(Clone, Default)]
pub(crate) struct Counters {
    lives: Vec<Life>,
    ops: Vec<Doing>,
    /// The counter whose data are the next event.
    last: Option<usize>,
    told: Vec<Told>,
}

/// A counter.
#[derive(Clone)]
struct Life {
    object: ObjectId,
    /// The number in the data; `None`: there is no znode, or a foreign client has written it.
    number: Option<i64>,
    is_there: bool,
    version: u32,
    /// From the beginning, where it is zero.
    counts: Vec<Count>,
    /// Whether the last one was judged.
    is_judged: bool,
}

/// The count behind a transaction.
#[derive(Clone, Copy)]
struct Count {
    /// `None`: a foreign client has written it.
    count: Option<i64>,
    zxid: u64,
    at: Moment,
    op: OpId,
}

/// A call.
#[derive(Clone)]
struct Doing {
    id: OpId,
    object: ObjectId,
    verb: Verb,
    /// The number to add, or the count to set.
    number: i64,
    /// The count that is expected, by compare and set.
    expected: i64,
    is_latest: bool,
    /// The position of the count at its call.
    from: usize,
    /// The positions of the counts that it has made.
    made: Vec<usize>,
    /// The zxid of the count that it was told last, as a follower; zero for none.
    followed: Option<u64>,
}

/// The position of the last count that a session was told.
#[derive(Clone)]
struct Told {
    object: ObjectId,
    session: Session,
    position: usize,
}

impl Life {
    fn new(object: ObjectId) -> Life {
        let first = Count { count: Some(0), zxid: 0, at: Moment::NEVER, op: OpId(0) };
        Life { object, number: None, is_there: false, version: 0, counts: vec![first], is_judged: true }
    }

    fn now(&self) -> Option<i64> {
        match self.is_there {
            true => self.number.map(|number| number.saturating_add(self.version.into())),
            false => Some(0),
        }
    }

    fn last(&self) -> usize {
        self.counts.len() - 1
    }

    fn before(&self, position: usize) -> Option<i64> {
        self.counts[position.saturating_sub(1)].count
    }

    /// The position from `from` on of a count.
    fn position(&self, from: usize, count: i64) -> Option<usize> {
        (from..self.counts.len()).find(|at| self.counts[*at].count.is_none_or(|other| other == count))
    }
}

impl Counters {
    fn doing(&self, id: OpId) -> Option<&Doing> {
        self.ops.iter().rev().find(|op| op.id == id)
    }

    fn life_of(&mut self, object: ObjectId) -> usize {
        self.lives.iter().position(|life| life.object == object).unwrap_or_else(|| {
            self.lives.push(Life::new(object));
            self.lives.len() - 1
        })
    }

    /// The counter whose value stands at a path, with a new count if a transaction begins to change it.
    fn changed(
        &mut self,
        scene: &Scene<'_>,
        event: &Event,
        path: Sym,
        zxid: u64,
        out: &mut Findings,
    ) -> Option<usize> {
        let is_value = |object: &ObjectId| scene.part(*object, path) == Some(Part::Itself);
        let object = scene.all_of(Kind::SharedCounter).find(is_value)?;
        let at = self.life_of(object);
        if self.lives[at].counts.last().is_none_or(|last| last.zxid != zxid) {
            self.judge(scene, at, out);
            let life = &mut self.lives[at];
            life.counts.push(Count { count: life.now(), zxid, at: scene.now(), op: event.op });
            life.is_judged = false;
        }
        Some(at)
    }

    fn counts(&mut self, at: usize) {
        let life = &mut self.lives[at];
        let (now, last) = (life.now(), life.last());
        life.counts[last].count = now;
    }

    /// The number with that digest, of those that the operation may write.
    fn number(&self, life: &Life, op: OpId, digest: u64) -> Option<i64> {
        let before = life.before(life.last());
        let mut numbers = vec![life.number];
        if let Some(doing) = self.doing(op) {
            numbers.extend(match doing.verb {
                Verb::Add => [
                    life.number.map(|number| number.saturating_add(doing.number) - 1),
                    before.map(|before| before.saturating_add(doing.number)),
                ],
                _ => [Some(doing.number), None],
            });
        }
        let is_it = |number: &i64| digest::data(Some(number.to_string().as_bytes())) == digest;
        numbers.into_iter().flatten().find(is_it)
    }

    /// CT-1 and CT-3: whether an operation may make the last count. A transaction is judged when another event has come.
    fn judge(&mut self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let life = &mut self.lives[at];
        if std::mem::replace(&mut life.is_judged, true) {
            return;
        }
        let (position, object) = (life.last(), life.object);
        let (before, made) = (life.before(position), life.counts[position]);
        let Some(doing) = self.ops.iter_mut().rev().find(|op| op.id == made.op && op.object == object) else {
            return;
        };
        doing.made.push(position);
        let (actor, when) = (scene.actor(doing.id), scene.when(made.at));
        let wrong = match (before, made.count, doing.verb) {
            _ if scene.view.op(doing.id).phase == Phase::Over(Outcome::Refused) => Some((
                RuleId::Ct1,
                format!("{actor} was told that nothing was changed, and at {when} it was"),
            )),
            _ if doing.made.len() > 1 => {
                Some((RuleId::Ct1, format!("{actor} has changed the counter again, at {when}")))
            }
            (Some(before), Some(after), Verb::Add) if after.wrapping_sub(before) != doing.number => {
                let what = format!("{actor} adds {}, and at {when} the count goes", doing.number);
                Some((RuleId::Ct1, format!("{what} from {before} to {after}")))
            }
            (Some(before), _, Verb::CompareAndSet) if before != doing.expected => {
                let what = format!("{actor} sets the count at {when}, and it expects {}", doing.expected);
                Some((RuleId::Ct3, format!("{what}; the count was {before}")))
            }
            (_, Some(after), Verb::CompareAndSet | Verb::Overwrite) if after != doing.number => {
                let what = format!("{actor} sets {}, and at {when} the count is", doing.number);
                Some((RuleId::Ct1, format!("{what} {after}")))
            }
            (_, _, Verb::Get | Verb::Follow) => {
                Some((RuleId::Ct1, format!("{actor} reads the count, and changes it at {when}")))
            }
            _ => None,
        };
        if let Some((rule, what)) = wrong {
            out.fail(rule, scene, object, &[made.at.index], explain(what));
        }
    }

    fn returned(&mut self, scene: &Scene<'_>, id: OpId, ended: (Outcome, Failure), out: &mut Findings) {
        let Some(doing) = self.doing(id).filter(|_| scene.view.is_sim()) else { return };
        let (object, called) = (doing.object, scene.view.op(id).called.index);
        let life = self.lives.iter().find(|life| life.object == object);
        let is_change = !matches!(doing.verb, Verb::Get | Verb::Follow);
        let actor = scene.actor(id);
        if is_change {
            out.premise(RuleId::Ct1, object);
        }
        if doing.verb == Verb::CompareAndSet {
            out.premise(RuleId::Ct3, object);
        }
        if doing.verb == Verb::Follow {
            return self.has_the_last(scene, doing, out);
        }
        match ended {
            (Outcome::Done, _) if is_change && doing.made.is_empty() => {
                let text = explain(format!("{actor} was told that the counter is changed, and it was not"));
                out.fail(RuleId::Ct1, scene, object, &[called], text);
            }
            (Outcome::Refused, _) if !doing.made.is_empty() => {
                let text = explain(format!("{actor} was told that nothing was changed, and it was"));
                out.fail(RuleId::Ct1, scene, object, &[called], text);
            }
            (Outcome::Refused, Failure::Conflict) => {
                let is_expected = |count: &Count| count.count == Some(doing.expected);
                let during = life.map_or(&[][..], |life| &life.counts[doing.from..]);
                let is_always = match during {
                    [] => doing.expected == 0,
                    during => during.iter().all(is_expected),
                };
                if is_always {
                    let what = format!("{actor} was told that the count is not {}", doing.expected);
                    let text = explain(what).because("it was, all through the call".to_owned());
                    out.fail(RuleId::Ct3, scene, object, &[called], text);
                }
            }
            _ => {}
        }
    }

    /// CT-2: a follower is told a count with its transaction, and none that is older than the last one.
    fn follows(&mut self, scene: &Scene<'_>, id: OpId, told: Option<(Sym, u64)>, out: &mut Findings) {
        let is_follower = |op: &&mut Doing| op.id == id && op.verb == Verb::Follow;
        let Some(doing) = self.ops.iter_mut().rev().find(is_follower).filter(|_| scene.view.is_sim()) else {
            return;
        };
        let object = doing.object;
        let before = doing.followed.replace(told.map_or(0, |(_, zxid)| zxid));
        let Some((text, zxid)) = told else { return };
        out.premise(RuleId::Ct2, object);
        let life = self.lives.iter().find(|life| life.object == object);
        let made = life.and_then(|life| life.counts.iter().find(|count| count.zxid == zxid));
        let wrong = match made.map(|made| made.count) {
            _ if before.is_some_and(|before| before >= zxid) => {
                Some("was told that count, or a later one".to_owned())
            }
            None => Some("no transaction has that zxid".to_owned()),
            Some(Some(count)) if count.to_string() != scene.text(text) => {
                Some(format!("the count of that transaction is {count}"))
            }
            _ => None,
        };
        if let Some(why) = wrong {
            let (actor, text) = (scene.actor(id), scene.text(text));
            let what = format!("{actor} is told {text} of zxid {zxid:#x} at {}", scene.when(scene.now()));
            let called = scene.view.op(id).called.index;
            out.fail(RuleId::Ct2, scene, object, &[called], explain(what).because(why));
        }
    }

    /// CT-4: whether a follower has the last count, after enough time to read it.
    fn has_the_last(&self, scene: &Scene<'_>, doing: &Doing, out: &mut Findings) {
        let Some(life) = self.lives.iter().find(|life| life.object == doing.object) else { return };
        let Some(last) = life.counts.last().filter(|last| last.zxid != 0) else { return };
        if !scene.had_time(doing.id, last.at.at) {
            return;
        }
        out.premise(RuleId::Ct4, doing.object);
        let now = if life.is_there { last.zxid } else { 0 };
        if doing.followed != Some(now) {
            let actor = scene.actor(doing.id);
            let text = explain(format!("{actor} does not have the count of zxid {now:#x}"))
                .because(format!("it was made at {}", scene.when(last.at)))
                .because(format!("{actor} follows since {}", scene.when(scene.view.op(doing.id).called)));
            out.fail(RuleId::Ct4, scene, doing.object, &[last.at.index], text);
        }
    }

    /// CT-2: the count that a call hands out.
    fn is_told(&mut self, scene: &Scene<'_>, id: OpId, text: Sym, out: &mut Findings) {
        let Some(doing) = self.doing(id).filter(|_| scene.view.is_sim()).cloned() else { return };
        let at = self.life_of(doing.object);
        let (life, object) = (&self.lives[at], doing.object);
        out.premise(RuleId::Ct2, object);
        let Ok(count) = scene.text(text).parse::<i64>() else { return };
        let session = scene.view.client(scene.view.op(id).client).session;
        let is_of = |told: &&mut Told| told.object == object && told.session == session;
        let mut known = self.told.iter_mut().find(is_of);
        let from = match doing.verb {
            Verb::Add => doing.made.last().copied().unwrap_or(doing.from),
            _ if doing.is_latest => doing.from,
            _ => known.as_ref().map_or(0, |told| told.position),
        };
        let found = life.position(from, count);
        let is_its_own = doing.verb != Verb::Add || found == Some(from);
        match found.filter(|_| is_its_own) {
            Some(position) => match &mut known {
                Some(told) => told.position = told.position.max(position),
                None => self.told.push(Told { object, session, position }),
            },
            None => {
                let actor = scene.actor(id);
                let what = explain(format!("{actor} is told {count} at {}", scene.when(scene.now())));
                let now = |position: usize| life.counts[position].count.unwrap_or_default();
                let why = match doing.verb {
                    Verb::Add => format!("the count behind its addition is {}", now(from)),
                    _ if doing.is_latest => {
                        format!("at its call it was {}, and {count} did not come", now(from))
                    }
                    _ => format!("the session was told {} before, and {count} did not follow", now(from)),
                };
                let called = scene.view.op(id).called.index;
                out.fail(RuleId::Ct2, scene, object, &[called], what.because(why));
            }
        }
    }
}

impl Rule for Counters {
    const HEARS: Kinds = hears![Call, Given, Observed, Return, Created, Written, Data, Deleted, Quiesce];
    const ABOUT: &'static [Kind] = &[Kind::SharedCounter];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let last = self.last.take();
        use What::{Call, Observed, Quiesce, Return};
        if matches!(event.what, Call { .. } | Observed { .. } | Return { .. } | Quiesce) {
            (0..self.lives.len()).for_each(|at| self.judge(scene, at, out));
        }
        match event.what {
            What::Call { object, verb, .. } if scene.is_of(Kind::SharedCounter, object) => {
                let at = self.life_of(object);
                let from = self.lives[at].last();
                let (number, expected, is_latest, made, followed) = (0, 0, false, Vec::new(), None);
                let id = event.op;
                self.ops.push(Doing { id, object, verb, number, expected, is_latest, from, made, followed });
            }
            What::Given { text, number } => {
                let Some(doing) = self.ops.iter_mut().rev().find(|op| op.id == event.op) else { return };
                let text = scene.text(text);
                doing.number = text.parse().unwrap_or(0);
                doing.expected = number.cast_signed();
                doing.is_latest = text == "latest";
            }
            What::Observed { seen, text, number, .. } => match self.doing(event.op).map(|op| op.verb) {
                Some(Verb::Follow) => {
                    let told = (seen == Seen::Value).then_some((text, number));
                    self.follows(scene, event.op, told, out);
                }
                Some(_) if seen == Seen::Value => self.is_told(scene, event.op, text, out),
                _ => {}
            },
            What::Return { outcome, failure } => self.returned(scene, event.op, (outcome, failure), out),
            What::Created { path, zxid, .. } => {
                self.last = self.changed(scene, event, path, zxid, out);
                if let Some(at) = self.last {
                    let life = &mut self.lives[at];
                    (life.is_there, life.version, life.number) = (true, 0, None);
                }
            }
            What::Written { path, zxid } => {
                self.last = self.changed(scene, event, path, zxid, out);
                if let Some(at) = self.last {
                    self.lives[at].version = self.lives[at].version.wrapping_add(1);
                }
            }
            What::Data { digest, .. } => {
                if let Some(at) = last {
                    self.lives[at].number = self.number(&self.lives[at], event.op, digest);
                    self.counts(at);
                }
            }
            What::Deleted { path, zxid, .. } => {
                if let Some(at) = self.changed(scene, event, path, zxid, out) {
                    self.lives[at].is_there = false;
                    self.counts(at);
                }
            }
            _ => {}
        }
    }
}
