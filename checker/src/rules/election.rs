//! Elections beyond the contest: the record of the leader (LE-4), its followers (LE-5), and candidates that are created
//! once (LE-6).
//!
//! The record is the znode `leader` below the election: an ephemeral, created in one transaction with a check that
//! the candidate exists. So either the current leader creates it, or the transaction fails.

use crate::rule::prelude::*;
use crate::view::{Contender, Moment, NEVER, Part, Phase, Req};

/// A record of the leader.
#[derive(Clone, Copy)]
struct Record {
    object: ObjectId,
    path: Sym,
    epoch: u64,
    op: OpId,
    since: Moment,
    /// The transaction that wrote it.
    zxid: u64,
    /// The transaction that deleted it.
    gone: u64,
    owner: Session,
    alive: bool,
    /// Whether a foreign client has deleted it, or has caused another client to do so.
    by_foreign: bool,
    /// Whether a foreign client has overwritten it, so that followers cannot read it any more.
    written_over: bool,
}

/// The last leader or vacancy that a follower reported.
#[derive(Clone, Copy)]
struct Follower {
    op: OpId,
    epoch: u64,
    index: u32,
    /// Whether it reported that there is no leader.
    vacant: bool,
    /// Whether it has reported anything yet.
    told: bool,
    found: bool,
    /// The state of its last read of the record since its last notification; zero if there was none.
    read: u64,
}

/// LE-4 and LE-5.
#[derive(Clone, Default)]
pub(crate) struct Acknowledged {
    records: Vec<Record>,
    followers: Vec<Follower>,
    /// Confirmed acknowledgements: the object, the epoch, and the time.
    confirmed: Vec<(ObjectId, u64, Moment)>,
    /// The request of the current transaction.
    asked: Option<Request>,
    /// The record that the current transaction deleted.
    erased: Option<Erased>,
}

/// A record that was deleted. The same transaction may delete its candidate, so it is judged at the next one.
#[derive(Clone)]
struct Erased {
    record: Record,
    by: Session,
    at: Moment,
}

/// The election whose record has this path.
fn record_of(scene: &Scene<'_>, path: Sym) -> Option<ObjectId> {
    scene.all_of(Kind::Election).find(|object| scene.part(*object, path) == Some(Part::Record))
}

impl Acknowledged {
    /// The candidate of an epoch.
    fn candidate<'a>(scene: &Scene<'a>, object: ObjectId, epoch: u64) -> Option<&'a Contender> {
        let all = scene.view.contest(object).from(0);
        all.filter_map(|number| scene.view.contender(number)).find(|candidate| candidate.czxid == epoch)
    }

    /// The candidate of a record, if it leads now.
    fn leading<'a>(scene: &Scene<'a>, record: &Record) -> Option<&'a Contender> {
        let candidate = Self::candidate(scene, record.object, record.epoch)?;
        (candidate.is_alive() && scene.view.ahead_now(candidate).is_none()).then_some(candidate)
    }

    /// The epoch of the first candidate in the state of a zxid.
    fn first_in(scene: &Scene<'_>, object: ObjectId, zxid: u64) -> Option<u64> {
        let all = scene.view.contest(object).from(0).filter_map(|number| scene.view.contender(number));
        all.filter(|candidate| candidate.is_in(zxid)).map(|candidate| candidate.stamp).min()
    }

    /// Notes a record that is created.
    fn recorded(
        &mut self,
        scene: &Scene<'_>,
        event: &Event,
        (path, zxid): (Sym, u64),
        owner: Option<Session>,
        out: &mut Findings,
    ) {
        let view = scene.view;
        let op = view.op(event.op);
        if op.verb != Verb::Acknowledge {
            let over = self.records.iter_mut().rfind(|record| record.path == path && record.alive);
            if let Some(record) = over.filter(|_| view.is_touched(path)) {
                record.written_over = true;
            }
            return;
        }
        let Some(object) = record_of(scene, path).filter(|object| *object == op.object) else { return };
        let epoch = op.number;
        out.premise(RuleId::Le4, object);
        let before = self.records.iter().rfind(|record| record.object == object).copied();
        let candidate = Self::candidate(scene, object, epoch);
        let owner = owner.or(before.map(|before| before.owner)).unwrap_or_default();
        let text = explain(format!(
            "{} wrote the record of its leadership at {}, in epoch {epoch:#x}",
            scene.client(op.client),
            scene.when(view.now)
        ));
        let wrong = match candidate {
            None => Some((text.because("no candidate has that epoch"), u32::MAX)),
            Some(candidate) if !candidate.is_alive() => {
                let gone = scene.when(candidate.deleted);
                let told = format!("{} was deleted at {gone}", scene.znode(candidate.path));
                Some((text.because(told), candidate.deleted.index))
            }
            Some(candidate) if view.ahead_now(candidate).is_some() => {
                let ahead = view.ahead_now(candidate).map_or("?".to_owned(), |ahead| scene.contender(ahead));
                Some((text.because(format!("{ahead} is ahead of its candidate")), candidate.created))
            }
            Some(candidate) if candidate.owner != owner => {
                let of = scene.session(owner);
                let told = format!("the record belongs to {of}, and the candidate does not");
                Some((text.because(told), candidate.created))
            }
            Some(_) if self.asked != Some(Request::Multi) => {
                let told = "the transaction that wrote the record did not check that the candidate exists";
                Some((text.because(told), u32::MAX))
            }
            Some(_) => match before {
                Some(before) if before.epoch > epoch => {
                    let told = format!("e{}: the record had epoch {:#x}", before.since.index, before.epoch);
                    Some((text.because(told), before.since.index))
                }
                // A leader that finds its record overwritten takes it for another leader's.
                Some(before)
                    if before.epoch == epoch && view.is_interfered_with(scene.tables, before.path) =>
                {
                    None
                }
                Some(before) if before.epoch == epoch && !before.by_foreign => {
                    let told = format!("e{}: this epoch was recorded before", before.since.index);
                    Some((text.because(told), before.since.index))
                }
                _ => None,
            },
        };
        if let Some((text, seen)) = wrong {
            out.fail(RuleId::Le4, scene, object, &[op.called.index, seen], text);
        }
        let (op, since) = (event.op, view.now);
        // The replacement of a record is judged above.
        self.erased = None;
        self.records.push(Record {
            object,
            path,
            epoch,
            op,
            since,
            zxid,
            gone: NEVER,
            owner,
            alive: true,
            by_foreign: false,
            written_over: false,
        });
    }

    fn erased(&mut self, scene: &Scene<'_>, (path, zxid): (Sym, u64), by: Session) {
        let Some(at) = self.records.iter().rposition(|record| record.path == path && record.alive) else {
            return;
        };
        // A delete does not check the incarnation: it deletes the current record when it arrives. So a client that
        // missed a foreign delete of its record may delete a later one.
        let mut before = self.records[..at].iter().filter(|before| before.path == path);
        let is_taken_for_own = before.any(|before| before.owner == by && before.by_foreign);
        let record = &mut self.records[at];
        let nobody = scene.view.session(by).client.is_none();
        let is_foreign = by != record.owner && (nobody || scene.view.is_foreign(by));
        (record.alive, record.gone) = (false, zxid);
        record.by_foreign = is_foreign || is_taken_for_own;
        self.erased = Some(Erased { record: *record, by, at: scene.view.now });
    }

    /// Judges the last transaction: the record of a leader exists while it leads.
    fn judge_erased(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let Some(Erased { record, by, at }) = self.erased.take() else { return };
        let view = scene.view;
        let Record { object, epoch, owner, .. } = record;
        let Some(by_client) = view.session(by).client.filter(|_| !record.by_foreign) else { return };
        out.premise(RuleId::Le4, object);
        let Some(candidate) = Self::leading(scene, &record) else { return };
        // A leader that resigns may delete its record first.
        if by == owner && view.op(candidate.op).is_done_with() {
            return;
        }
        let text = explain(format!(
            "{} deleted the record of epoch {epoch:#x}, in which {} leads, at {}",
            scene.client(by_client),
            scene.actor(record.op),
            scene.when(at)
        ))
        .because(format!("its candidate {} still exists", scene.znode(candidate.path)))
        .because(format!("the record exists since {}", scene.when(record.since)));
        let seen = [record.since.index, candidate.created];
        out.find(Ruling::fail(RuleId::Le4, at.index), scene, Some(object), &seen, text);
    }

    /// Judges a confirmed acknowledgement: it is, or was, on record, and no later leader came before the request.
    fn confirmed(&mut self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let view = scene.view;
        let op = view.op(id);
        let (object, epoch) = (op.object, op.number);
        out.premise(RuleId::Le4, object);
        let told = || {
            explain(format!(
                "{} was told at {} that its leadership (epoch {epoch:#x}) is recorded",
                scene.client(op.client),
                scene.when(view.now)
            ))
        };
        let known = self.records.iter().any(|record| record.object == object && record.epoch == epoch);
        if view.is_sim() && !known {
            let text = told().because("no such record was written");
            return out.fail(RuleId::Le4, scene, object, &[op.called.index], text);
        }
        let later = |(other, later, at): &&(ObjectId, u64, Moment)| {
            *other == object && *later > epoch && at.index < op.called.index
        };
        if let Some((_, later, at)) = self.confirmed.iter().find(later) {
            let text = told().because(format!(
                "at {}, before its call, the later epoch {later:#x} had been confirmed",
                scene.when(*at)
            ));
            out.fail(RuleId::Le4, scene, object, &[op.called.index, at.index], text);
        }
        self.confirmed.push((object, epoch, view.now));
    }

    /// Judges the leader that a follower reports.
    fn followed(&mut self, scene: &Scene<'_>, event: &Event, text: Sym, epoch: u64, out: &mut Findings) {
        let view = scene.view;
        let op = view.op(event.op);
        let object = op.object;
        out.premise(RuleId::Le4, object);
        let before = self.followers.iter().find(|follower| follower.op == event.op).copied();
        let told = explain(format!(
            "{} was told at {} that epoch {epoch:#x} is recorded",
            scene.client(op.client),
            scene.when(view.now)
        ));
        let record = self.records.iter().find(|record| record.object == object && record.epoch == epoch);
        let list = op.list.filter(|list| view.is_sim() && list.zxid != 0);
        let wrong = if let Some(before) = before.filter(|before| before.epoch > epoch) {
            let why = format!("e{}: it had seen epoch {:#x}", before.index, before.epoch);
            Some((told.because(why), before.index))
        } else if let Some(before) =
            before.filter(|before| before.told && !before.vacant && before.epoch == epoch)
        {
            Some((told.because(format!("e{}: it had been told that before", before.index)), before.index))
        } else if view.is_sim() && record.is_none() {
            Some((told.because("no such record was written"), u32::MAX))
        } else if let Some(record) = record.filter(|record| view.op(record.op).given != text) {
            let said = scene.path(view.op(record.op).given);
            Some((told.because(format!("the record says {said}")), record.since.index))
        } else if let Some(list) = list.filter(|list| Self::first_in(scene, object, list.zxid) != Some(epoch))
        {
            let why = format!("in the list that it read at e{} another candidate is lower", list.reply);
            Some((told.because(why), list.reply))
        } else {
            None
        };
        if let Some((text, seen)) = wrong {
            out.fail(RuleId::Le4, scene, object, &[seen], text);
        }
        self.news(event.op, epoch.max(before.map_or(0, |before| before.epoch)), false, scene.index);
    }

    /// Notes a reply to a follower that reads the record.
    fn reads(&mut self, scene: &Scene<'_>, id: OpId, req: ReqId, (code, zxid): (Code, u64)) {
        let view = scene.view;
        if view.op(id).verb != Verb::Observe {
            return;
        }
        let is_record =
            |req: &&Req| req.kind == Request::Get && record_of(scene, req.path) == Some(view.op(id).object);
        let Some(req) = view.request(req).filter(is_record) else { return };
        let served = if req.served == 0 { zxid } else { req.served };
        if let Some(follower) = self.followers.iter_mut().find(|follower| follower.op == id) {
            follower.read = if code == Code::Ok { served } else { 0 };
        }
    }

    /// A follower is notified: it has to read again.
    fn notified(&mut self, id: OpId) {
        if let Some(follower) = self.followers.iter_mut().find(|follower| follower.op == id) {
            follower.read = 0;
        }
    }

    /// The record that a follower has read, if its candidate is the first in the list that the follower has read.
    fn valid(&self, scene: &Scene<'_>, follower: &Follower) -> Option<&Record> {
        let op = scene.view.op(follower.op);
        let list = op.list.filter(|list| list.zxid != 0)?;
        let read =
            self.records.iter().rfind(|record| record.object == op.object && record.zxid <= follower.read)?;
        let is_valid = read.gone > list.zxid
            && !read.written_over
            && Self::first_in(scene, op.object, list.zxid) == Some(read.epoch);
        is_valid.then_some(read)
    }

    /// LE-4: an observer does not report a vacancy twice, nor after it has read the record of the current leader.
    fn vacant(&mut self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let object = scene.view.op(id).object;
        let before = self.followers.iter().find(|follower| follower.op == id).copied();
        out.premise(RuleId::Le4, object);
        let told = || {
            let who = scene.client(scene.view.op(id).client);
            explain(format!("{who} was told at {} that no leader is recorded", scene.when(scene.now())))
        };
        if let Some(before) = before.filter(|before| before.told && before.vacant) {
            let text = told().because(format!("e{}: it had been told that before", before.index));
            out.fail(RuleId::Le4, scene, object, &[before.index], text);
        } else if let Some(record) = before.as_ref().and_then(|before| self.valid(scene, before)) {
            let text = told()
                .because(format!(
                    "it had read the record of epoch {:#x}, which {} wrote at {}",
                    record.epoch,
                    scene.actor(record.op),
                    scene.when(record.since)
                ))
                .because("the candidate of that epoch is the first in the list that it had read");
            out.fail(RuleId::Le4, scene, object, &[record.since.index], text);
        }
        self.news(id, before.map_or(0, |before| before.epoch), true, scene.index);
    }

    fn news(&mut self, op: OpId, epoch: u64, vacant: bool, index: u32) {
        let news = Follower { op, epoch, index, vacant, told: true, found: false, read: 0 };
        match self.followers.iter_mut().find(|follower| follower.op == op) {
            Some(known) => *known = Follower { found: known.found, read: known.read, ..news },
            None => self.followers.push(news),
        }
    }

    /// LE-5: at the end every follower knows the leader.
    fn known(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        for follower in &mut self.followers {
            let op = view.op(follower.op);
            let client = view.client(op.client);
            let session = view.session(client.session);
            let away = !client.is_awake_in(session);
            if op.phase != Phase::Open || follower.found || away {
                continue;
            }
            let record = self.records.iter().rfind(|record| record.object == op.object && record.alive);
            let Some(record) = record else { continue };
            let leads = Self::leading(scene, record).is_some();
            let knows = follower.epoch == record.epoch && !follower.vacant;
            if !leads || knows || record.written_over {
                continue;
            }
            let connected = session.connected.at_or_start();
            let resumed = client.resumed();
            let from = record.since.at.max(view.calm_since).max(op.called.at).max(connected).max(resumed);
            let bound = view.bound(op.object);
            if scene.at <= from.saturating_add(bound) {
                continue;
            }
            follower.found = true;
            let who = scene.client(op.client);
            let text = explain(format!(
                "{who} follows the leader since {}, and at {} it did not know of epoch {:#x}, in which {} leads",
                scene.when(op.called),
                scene.when(scene.now()),
                record.epoch,
                scene.actor(record.op)
            ))
            .because(format!("the record exists since {}", scene.when(record.since)))
            .not_excused(format!("the limit is {}", ms(bound)));
            out.fail(RuleId::Le5, scene, op.object, &[op.called.index, record.since.index], text);
        }
    }

    /// At the end, judges whether a record outlives its leader's candidate.
    fn quiesce(&self, scene: &Scene<'_>, out: &mut Findings) {
        for record in self.records.iter().filter(|record| record.alive) {
            let view = scene.view;
            let done = Self::candidate(scene, record.object, record.epoch)
                .is_some_and(|candidate| view.op(candidate.op).is_done_with() && !candidate.is_alive());
            // A leader does not recognize its record after a foreign client has overwritten it.
            let is_excused = view.is_interfered_with(scene.tables, record.path);
            if done && !is_excused && view.present_client(record.owner).is_some() {
                let text = explain(format!("the record of epoch {:#x} still exists", record.epoch))
                    .because(format!("{} no longer leads", scene.actor(record.op)));
                out.leak(RuleId::Mx11, scene, record.object, &[record.since.index], text);
            }
        }
    }
}

impl Rule for Acknowledged {
    const JUDGES: &'static [Property] =
        &[Property::Acknowledgement, Property::Progress, Property::NothingLeft];
    const ABOUT: &'static [Kind] = &[Kind::Election];
    const HEARS: Kinds =
        hears![Call, Return, Reply, Notice, Observed, Txn, Created, Written, Deleted, Quiesce];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if scene.view.healed && !self.followers.is_empty() && !self.records.is_empty() {
            self.known(scene, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        match event.what {
            What::Txn { kind, .. } => {
                self.judge_erased(scene, out);
                self.asked = Some(kind);
            }
            What::Call { verb: Verb::Observe, object, .. } if scene.kind(object) == Kind::Election => {
                let index = scene.index;
                let called = Follower {
                    op: event.op,
                    epoch: 0,
                    index,
                    vacant: true,
                    told: false,
                    found: false,
                    read: 0,
                };
                self.followers.push(called);
            }
            What::Created { path, owner, zxid } => {
                self.recorded(scene, event, (path, zxid), Some(owner), out);
            }
            What::Written { path, zxid } => self.recorded(scene, event, (path, zxid), None, out),
            What::Deleted { path, by, zxid } => self.erased(scene, (path, zxid), by),
            What::Notice { .. } => self.notified(event.op),
            What::Reply { req, code, zxid, .. } => self.reads(scene, event.op, req, (code, zxid)),
            What::Return { outcome: Outcome::Done, .. } if view.op(event.op).verb == Verb::Acknowledge => {
                self.confirmed(scene, event.op, out);
            }
            What::Observed { object, seen: Seen::Leader, text, number }
                if scene.kind(object) == Kind::Election =>
            {
                self.followed(scene, event, text, number, out);
            }
            What::Observed { object, seen: Seen::Vacant, .. } if scene.kind(object) == Kind::Election => {
                self.vacant(scene, event.op, out);
            }
            What::Quiesce => {
                self.judge_erased(scene, out);
                if view.is_sim() {
                    self.quiesce(scene, out);
                }
            }
            _ => {}
        }
    }
}

/// LE-6: each run for leader creates one candidate, unless a foreign client or the end of the session deleted it.
#[derive(Clone, Default)]
pub(crate) struct OneCandidate;

impl Rule for OneCandidate {
    const JUDGES: &'static [Property] = &[Property::Stability];
    const ABOUT: &'static [Kind] = &[Kind::Election];
    const HEARS: Kinds = hears![Created];

    fn event(&mut self, scene: &Scene<'_>, _: &Event, out: &mut Findings) {
        let view = scene.view;
        let Some(new) = view.contender(view.touched) else { return };
        if scene.kind(new.object) != Kind::Election {
            return;
        }
        out.premise(RuleId::Le6, new.object);
        if view.op(new.op).nodes < 2 {
            return;
        }
        let contest = view.contest(new.object);
        let before = contest.from(0).filter_map(|number| Some((number, view.contender(number)?)));
        let Some((number, before)) =
            before.filter(|(_, before)| before.op == new.op && before.czxid != new.czxid).last()
        else {
            return;
        };
        let over = view.session(before.owner).ended.came();
        if !before.is_alive() && (before.by_foreign || over) {
            return;
        }
        let text = explain(format!(
            "{} created another candidate at {}, {}, for the same office",
            scene.actor(new.op),
            scene.when(view.now),
            scene.contender(view.touched)
        ));
        let candidate = scene.contender(number);
        let text = text.because(if before.is_alive() {
            format!("{candidate} still exists")
        } else {
            format!("it had deleted {candidate} itself, at {}", scene.when(before.deleted))
        });
        out.fail_in(
            Layer::Safety,
            RuleId::Le6,
            scene,
            new.object,
            &[before.created, before.deleted.index],
            text,
        );
    }
}
