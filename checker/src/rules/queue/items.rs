//! The fate of items: QU-1, QU-2, QU-3, QU-8; and their order: QU-4, QU-5, QU-10.

mod in_hand;

use super::batch::Batch;
use super::stock::{Change, Item, Stock};
use super::{gets, is_fifo, is_queue};
use crate::digest;
use crate::rule::prelude::*;
use crate::rules::announced::Announced;
use crate::view::{NEVER, Part, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// QU-1, and the other rules about the fate of items.
///
/// An item that is taken (at most once) is handed out once, by the client whose delete removed it. A claimed item is
/// handed out by the claiming client, and deleted by the operation that confirms it. Items may be lost only if their
/// operation was cancelled, its outcome is unknown, or its client died.
#[derive(Clone, Default)]
pub(crate) struct Items {
    stock: Stock,
    batch: Batch,
    /// By text: the fate of the item in the clients' view.
    fates: BTreeMap<Sym, Fate>,
    /// In captures, by queue and client: the youngest item that was handed out.
    latest: BTreeMap<(ObjectId, u16), (u64, Sym)>,
    /// The arguments of open operations.
    given: BTreeMap<OpId, Vec<Sym>>,
    /// Items that a client held at its death, or that a foreign client deleted or overwrote.
    died_with: Vec<usize>,
    /// Items, each with a session whose claim on it another client has deleted.
    taken_away: BTreeSet<(usize, Session)>,
    announced: Announced,
    /// Digests of data that foreign clients have written, which may be returned instead of an item.
    written: BTreeSet<u64>,
    /// In captures, by object.
    captures: BTreeMap<ObjectId, Capture>,
}

#[derive(Clone, Copy, Default)]
struct Fate {
    /// The operation that handed it out, and the event.
    seen: Option<(OpId, u32)>,
    number: u64,
    /// The operation that confirmed it.
    confirmed: Option<OpId>,
}

#[derive(Clone, Copy, Default)]
struct Capture {
    acknowledged: u32,
    delivered: u32,
    left: u32,
    /// Operations that may have removed items without handing them out.
    doubtful: u32,
    /// The latest put that was acknowledged.
    put: u32,
}

impl Items {
    /// Whether a change is not by a client of the queue; uses up its announcement.
    fn take_foreign_change(&mut self, scene: &Scene<'_>, op: OpId, object: ObjectId) -> bool {
        let op = scene.view.op(op);
        let is_party = op.phase != Phase::Unborn && op.object == object;
        scene.view.is_foreign_change() || !is_party && self.announced.take()
    }

    /// Whether a foreign client has written these data.
    fn is_foreign_text(&self, scene: &Scene<'_>, text: Sym) -> bool {
        let text = scene.text(text);
        self.written.contains(&digest::data(Some(text.as_bytes())))
    }

    fn changed(&mut self, scene: &Scene<'_>, event: &Event, change: Change, out: &mut Findings) {
        match change {
            Change::None | Change::Same => {}
            Change::Made(at) => self.made(scene, at, out),
            Change::Gone(at) => self.gone(scene, at, out),
            Change::Claimed(at) => {
                if self.stock.items[at].claimants.len() == 1 {
                    self.batch.add(at);
                }
            }
            Change::Unclaimed(at, owner) => self.unclaimed(scene, event, at, owner, out),
        }
    }

    /// QU-3 and QU-8: a put creates one item, and no session owns it.
    fn made(&mut self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let item = &self.stock.items[at];
        let op = scene.view.op(item.put);
        let (object, text) = (item.object, scene.path(item.text));
        let seen = [op.called.index];
        out.premise(RuleId::Qu3, object);
        out.premise(RuleId::Qu8, object);
        if item.owner != Session(0) {
            let text = explain(format!("item {text} is deleted with the session of its producer")).because(
                format!("its znode {} belongs to {}", scene.znode(item.path), scene.session(item.owner)),
            );
            out.fail(RuleId::Qu8, scene, object, &seen, text);
        }
        let before = self.stock.of(object, item.text).next().filter(|first| *first != at);
        if let Some(before) = before.map(|before| &self.stock.items[before]) {
            let text =
                explain(format!("{} put {text} once, and the queue has it twice", scene.actor(item.put)))
                    .because(format!("{} was created at zxid {:#x}", scene.znode(before.path), before.czxid))
                    .because(format!("{} was created at zxid {:#x}", scene.znode(item.path), item.czxid));
            out.fail(RuleId::Qu3, scene, object, &[op.called.index, before.made.index], text);
        } else if matches!(op.phase, Phase::Over(Outcome::Refused)) {
            let text = explain(format!("item {text} is in the queue although its put was refused"))
                .because(format!("the put of {} returned at {}", scene.actor(item.put), scene.when(op.over)));
            out.fail(RuleId::Qu3, scene, object, &seen, text);
        }
    }

    /// QU-1: only a take, or the confirmation of a claim, deletes an item.
    fn gone(&mut self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let item = self.stock.items[at].clone();
        if self.take_foreign_change(scene, item.taker, item.object) {
            self.died_with.push(at);
            return;
        }
        let object = scene.object(item.object);
        let op = scene.view.op(item.taker);
        if !object.manner.at_least_once {
            self.batch.add(at);
            return;
        }
        out.premise(RuleId::Qu1, item.object);
        let text = scene.path(item.text);
        if op.verb != Verb::Confirm || op.phase == Phase::Unborn {
            let text = explain(format!("item {text} was removed, and no consumer has confirmed it")).because(
                format!("it was removed at {} by {}", scene.when(item.gone_at), scene.session(item.by)),
            );
            out.fail(RuleId::Qu2, scene, item.object, &[item.made.index], text);
            return;
        }
        let owns = item.claim.is_some_and(|claim| claim.owner == item.by)
            || item.unclaimed == item.gone && item.claimants.last() == Some(&item.by);
        if !owns {
            let holder = item.claim.map_or(Session(0), |claim| claim.owner);
            let text = explain(format!(
                "item {text} was confirmed by {}, which had no claim to it",
                scene.actor(item.taker)
            ))
            .because(format!("{} had the claim then", scene.session(holder)));
            out.fail(RuleId::Qu1, scene, item.object, &[op.called.index], text);
        }
    }

    /// Judges the end of a claim: only its own session, or the end of that session, deletes it.
    fn unclaimed(&mut self, scene: &Scene<'_>, event: &Event, at: usize, owner: Session, out: &mut Findings) {
        let What::Deleted { by, .. } = event.what else { return };
        let object = self.stock.items[at].object;
        out.premise(RuleId::Qu1, object);
        // A client that gives its claim back reads it first, and another client may claim the item before the delete.
        let had_one = self.taken_away.contains(&(at, by));
        if by != owner || event.op == OpId(0) {
            self.taken_away.insert((at, owner));
        }
        if by == owner || had_one || self.take_foreign_change(scene, event.op, object) {
            return;
        }
        let op = scene.view.op(event.op);
        if op.phase == Phase::Unborn || op.object != object {
            return;
        }
        let item = &self.stock.items[at];
        let text = explain(format!(
            "the claim of {} to item {} was removed by {}",
            scene.session(owner),
            scene.path(item.text),
            scene.actor(event.op)
        ))
        .because("a claim ends when its owner gives the item back, or with the owner's session");
        out.fail(RuleId::Qu1, scene, object, &[op.called.index], text);
    }

    /// QU-1: the reported delivery count is right: the client's own claim is the last one.
    fn counted(&self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Observed { object, text, number, .. } = event.what else { return };
        let item = self.stock.of(object, text).next_back().map(|at| &self.stock.items[at]);
        let Some(item) = item.filter(|_| scene.view.is_sim()) else { return };
        out.premise(RuleId::Qu1, object);
        let client = scene.view.op(event.op).client;
        let mine = |session: &Session| scene.view.session(*session).client == Some(client);
        let mut own = item.claimants.iter().zip(1..).filter(|(session, _)| mine(session)).map(|(_, nth)| nth);
        if own.any(|nth: u64| nth == number) || scene.view.is_interfered_with(scene.tables, item.path) {
            return;
        }
        let text = explain(format!(
            "{} was told that {} is delivered for time {number}",
            scene.client(client),
            scene.path(text)
        ))
        .because(format!(
            "it was claimed {} times, and no such claim is that client's",
            item.claimants.len()
        ));
        out.fail(RuleId::Qu1, scene, object, &[scene.view.op(event.op).called.index], text);
    }

    fn observed(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Observed { object, text, number, .. } = event.what else { return };
        let op = scene.view.op(event.op);
        if !is_queue(scene.tables, object) || !gets(op.verb) {
            return;
        }
        if self.is_foreign_text(scene, text) {
            return;
        }
        out.premise(RuleId::Qu1, object);
        let (who, what) = (scene.client(op.client), scene.path(text));
        let before = self.fates.get(&text).copied().unwrap_or_default();
        if self.stock.given(scene, object, text).is_none() {
            let text = explain(format!("{who} received {what}, which no client has put"));
            out.fail(RuleId::Qu1, scene, object, &[op.called.index], text);
            return;
        }
        let at_least_once = scene.object(object).manner.at_least_once;
        if let (Some((first, when)), false) = (before.seen, at_least_once) {
            let doubled = before.number != 0 && number != 0 && before.number != number;
            let text =
                explain(format!("{who} received {what}, which {} had received before", scene.actor(first)));
            let (rule, text) = if doubled {
                (RuleId::Qu3, text.because("it was put once, and two znodes were created"))
            } else {
                (RuleId::Qu1, text.because("one of them did not remove it"))
            };
            out.fail(rule, scene, object, &[when, op.called.index], text);
        } else if scene.view.is_sim() {
            self.is_due(scene, event.op, object, text, at_least_once, out);
        }
        let capture = self.captures.entry(object).or_default();
        capture.delivered += u32::from(!at_least_once && before.seen.is_none());
        if is_fifo(scene.object(object)) && !at_least_once {
            self.in_order(scene, event.op, object, text, number, out);
        }
        let fate = self.fates.entry(text).or_default();
        fate.seen = Some((event.op, scene.index));
        fate.number = number;
    }

    /// QU-1: whether a client may hand an item out.
    fn is_due(
        &self,
        scene: &Scene<'_>,
        id: OpId,
        object: ObjectId,
        text: Sym,
        at_least_once: bool,
        out: &mut Findings,
    ) {
        let client = scene.view.op(id).client;
        let (who, what) = (scene.client(client), scene.path(text));
        let mine = |session: Session| scene.view.session(session).client == Some(client);
        let all = || self.stock.of(object, text).map(|at| &self.stock.items[at]);
        let has_right = |item: &Item| {
            if at_least_once {
                item.claimants.iter().any(|session| mine(*session))
            } else {
                !item.is_there()
                    && (scene.view.op(item.taker).client == client && item.taker != OpId(0) || mine(item.by))
            }
        };
        if all().any(has_right) {
            return;
        }
        let text = explain(format!("{who} returned {what} without having removed or claimed it"));
        let text = match all().next_back() {
            None => text.because("the item never was in the queue"),
            Some(item) if at_least_once => {
                text.because(format!("{who} has never claimed {}", scene.znode(item.path)))
            }
            Some(item) if item.is_there() => {
                text.because(format!("{} is still in the queue", scene.znode(item.path)))
            }
            Some(item) => {
                text.because(format!("{} removed it, at zxid {:#x}", scene.session(item.by), item.gone))
            }
        };
        let seen = all().next_back().map_or(u32::MAX, |item| item.gone_at.index);
        out.fail(RuleId::Qu1, scene, object, &[scene.view.op(id).called.index, seen], text);
    }

    /// In a capture, one client gets items in the order in which they were created.
    fn in_order(
        &mut self,
        scene: &Scene<'_>,
        id: OpId,
        object: ObjectId,
        text: Sym,
        number: u64,
        out: &mut Findings,
    ) {
        let client = scene.view.op(id).client;
        // Relaxed consumers need not keep to the order.
        if number == 0 || scene.view.is_sim() || scene.object(object).manner.window != 0 {
            return;
        }
        out.premise(RuleId::Qu4, object);
        let latest = self.latest.entry((object, client)).or_insert((number, text));
        let (later, later_text) = *latest;
        if later <= number {
            *latest = (number, text);
        } else {
            let text = explain(format!(
                "{} received {} after {}",
                scene.client(client),
                scene.path(text),
                scene.path(later_text)
            ))
            .because(format!("the former was put at zxid {number:#x}, the latter at {later:#x}"));
            let when = self.fates.get(&later_text).and_then(|fate| fate.seen);
            out.fail(RuleId::Qu4, scene, object, &[when.map_or(u32::MAX, |(_, when)| when)], text);
        }
    }

    fn returned(&mut self, scene: &Scene<'_>, id: OpId, outcome: Outcome, out: &mut Findings) {
        let op = scene.view.op(id);
        let object = op.object;
        if !is_queue(scene.tables, object) {
            return;
        }
        let given = self.given.remove(&id).unwrap_or_default();
        let at_least_once = scene.object(object).manner.at_least_once;
        match op.verb {
            Verb::Put => self.put(scene, id, outcome, &given, out),
            Verb::Confirm => {
                let capture = self.captures.entry(object).or_default();
                match outcome {
                    Outcome::Done => capture.delivered += given.len() as u32,
                    Outcome::Unknown | Outcome::Cancelled => capture.doubtful += given.len() as u32,
                    Outcome::Refused => {}
                }
                for text in
                    given.into_iter().filter(|text| !self.is_foreign_text(scene, *text)).collect::<Vec<_>>()
                {
                    self.confirmed(scene, id, outcome, text, out);
                }
            }
            Verb::Take | Verb::Claim if !at_least_once => {
                if matches!(outcome, Outcome::Unknown | Outcome::Cancelled) {
                    self.captures.entry(object).or_default().doubtful += 1;
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, scene: &Scene<'_>, id: OpId, outcome: Outcome, given: &[Sym], out: &mut Findings) {
        let op = scene.view.op(id);
        let (object, who) = (op.object, scene.client(op.client));
        if outcome == Outcome::Done {
            let capture = self.captures.entry(object).or_default();
            capture.acknowledged += given.len() as u32;
            capture.put = scene.index;
        }
        if !scene.view.is_sim() {
            return;
        }
        for text in given {
            let made = self.stock.of(object, *text).next();
            let what = scene.path(*text);
            let text = match (outcome, made) {
                (Outcome::Done, None) => {
                    explain(format!("{who} was told that {what} is put, and the item never was in the queue"))
                        .because("no znode was created for it")
                }
                (Outcome::Refused, Some(made)) => {
                    let item = &self.stock.items[made];
                    explain(format!("{who} was told that {what} is not put, and the item is in the queue"))
                        .because(format!("{} was created at zxid {:#x}", scene.znode(item.path), item.czxid))
                }
                _ => continue,
            };
            out.fail(RuleId::Qu3, scene, object, &[op.called.index], text);
        }
    }

    fn confirmed(&mut self, scene: &Scene<'_>, id: OpId, outcome: Outcome, text: Sym, out: &mut Findings) {
        let op = scene.view.op(id);
        let (object, who, what) = (op.object, scene.client(op.client), scene.path(text));
        out.premise(RuleId::Qu1, object);
        let item = self.stock.of(object, text).next().map(|at| self.stock.items[at].clone());
        let is_mine = item.as_ref().is_some_and(|item| item.taker == id);
        if outcome == Outcome::Refused && is_mine {
            let text =
                explain(format!("{who} was told that {what} is not confirmed, and {what} was removed"))
                    .because("its own confirmation removed it");
            out.fail(RuleId::Qu2, scene, object, &[op.called.index], text);
        }
        if outcome != Outcome::Done {
            return;
        }
        let fate = self.fates.entry(text).or_default();
        let before = fate.confirmed.replace(id);
        if let Some(before) = before {
            let text = explain(format!(
                "{who} confirmed {what}, which {} had confirmed before",
                scene.actor(before)
            ));
            out.fail(RuleId::Qu1, scene, object, &[scene.view.op(before).over.index], text);
        } else if scene.view.is_sim() && !is_mine {
            let text = explain(format!("{who} was told that {what} is confirmed, and it is not"));
            let text = match item {
                Some(item) if item.is_there() => text.because("the item is still in the queue"),
                Some(item) => text.because(format!("{} had removed it before", scene.session(item.by))),
                None => text.because("the item never was in the queue"),
            };
            out.fail(RuleId::Qu1, scene, object, &[op.called.index], text);
        }
    }

    /// QU-2: an item that was not handed out must still exist.
    fn quiesce(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if scene.view.is_sim() {
            for at in 0..self.stock.items.len() {
                self.accounts_for(scene, at, out);
            }
            return;
        }
        for (object, capture) in &self.captures {
            if capture.acknowledged == 0 {
                continue;
            }
            out.premise(RuleId::Qu2, *object);
            let missing = capture.acknowledged.saturating_sub(capture.delivered + capture.left);
            if missing == 0 {
                continue;
            }
            if capture.doubtful > 0 {
                // The number of items that each doubtful operation took is unknown.
                if missing > capture.doubtful {
                    out.unknown(RuleId::Qu2, *object);
                }
                continue;
            }
            let text = explain(format!("{missing} items are lost"))
                .because(format!(
                    "{} were put, {} came out, {} are left",
                    capture.acknowledged, capture.delivered, capture.left
                ))
                .not_excused("no operation was cancelled or has an unknown result, and no client died");
            out.fail(RuleId::Qu2, scene, *object, &[capture.put], text);
        }
    }

    /// Whether an item was handed out.
    fn came_out(&self, item: &Item) -> bool {
        self.fates.get(&item.text).is_some_and(|fate| fate.seen.is_some())
    }

    fn accounts_for(&self, scene: &Scene<'_>, at: usize, out: &mut Findings) {
        let item = &self.stock.items[at];
        out.premise(RuleId::Qu2, item.object);
        let object = scene.object(item.object);
        if item.is_there() || object.manner.at_least_once || self.came_out(item) {
            return;
        }
        let op = scene.view.op(item.taker);
        let in_doubt = match op.phase {
            Phase::Over(Outcome::Unknown) => Some("its result is unknown"),
            Phase::Over(Outcome::Cancelled) => Some("it was cancelled"),
            Phase::Dead => Some("its client died"),
            _ if self.died_with.contains(&at) => Some("its consumer died, or a foreign client removed it"),
            _ => None,
        };
        let text = scene.path(item.text);
        let by = if op.phase == Phase::Unborn {
            format!("by {}", scene.session(item.by))
        } else {
            format!("by an operation of {} (called at {})", scene.client(op.client), scene.when(op.called))
        };
        let text = explain(format!("item {text} is lost"))
            .because(format!("it was removed at zxid {:#x} {by}, and returned to no caller", item.gone));
        let (verdict, text) = match in_doubt {
            Some(why) => (Verdict::Unavoidable, text.excused(why)),
            None => (Verdict::Fail, text.not_excused("the operation returned, and its client is alive")),
        };
        out.find(
            Ruling::new(RuleId::Qu2, verdict, scene.index),
            scene,
            Some(item.object),
            &[item.made.index, item.gone_at.index],
            text,
        );
    }

    /// Notes the items that a client holds at its death.
    fn crash(&mut self, scene: &Scene<'_>, client: u16) {
        for (at, item) in self.stock.items.iter().enumerate() {
            let mine = scene.view.op(item.taker).client == client && item.taker != OpId(0);
            if mine && item.gone != NEVER && !self.came_out(item) {
                self.died_with.push(at);
            }
        }
        for capture in self.captures.values_mut() {
            capture.doubtful += 1;
        }
    }
}

impl Rule for Items {
    const HEARS: Kinds =
        hears![Return, Given, Observed, Txn, Created, Data, Written, Deleted, Fault, Crash, Quiesce, Left];
    const ABOUT: &'static [Kind] = &[Kind::Queue, Kind::PriorityQueue];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Created { .. } | What::Data { .. } | What::Deleted { .. } | What::Given { .. } => {
                if let What::Given { text, .. } = event.what
                    && !scene.text(text).is_empty()
                    && !scene.text(text).starts_with('/')
                {
                    self.given.entry(event.op).or_default().push(text);
                }
                if let What::Data { digest, .. } = event.what
                    && scene.view.is_foreign_change()
                {
                    self.written.insert(digest);
                }
                let change = self.stock.event(scene, event);
                self.changed(scene, event, change, out);
            }
            What::Written { path, .. } => {
                if let Some(at) = self.stock.item_at(path)
                    && scene.view.is_foreign_change()
                {
                    self.died_with.push(at);
                }
            }
            What::Observed { seen: Seen::Attempts, .. } => self.counted(scene, event, out),
            What::Observed { seen: Seen::InHand, number, .. } => self.in_hand(scene, event.op, number, out),
            What::Observed { .. } => {
                self.batch.judge(scene, &self.stock, out);
                self.observed(scene, event, out);
            }
            What::Return { outcome, .. } => self.returned(scene, event.op, outcome, out),
            What::Txn { .. } => self.batch.judge(scene, &self.stock, out),
            What::Fault { .. } => self.announced.note(scene, event),
            What::Crash { client } => self.crash(scene, client),
            What::Left { object, path, owner: Session(0) }
                if scene.part(object, path) == Some(Part::Item) =>
            {
                self.captures.entry(object).or_default().left += 1;
            }
            What::Quiesce => {
                self.batch.judge(scene, &self.stock, out);
                self.quiesce(scene, out);
            }
            _ => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.batch.judge(scene, &self.stock, out);
    }
}
