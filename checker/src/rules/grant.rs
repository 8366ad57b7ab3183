//! The justification of a grant, its token, and the order of grants: MX-4, MX-5 and MX-6 (RW-2, RW-3; LE-2, LE-3;
//! MX-15).

use crate::rule::prelude::*;
use crate::view::{Op, Unjust};

/// The operation, if this event is its first belief.
fn grant<'a>(scene: &Scene<'a>, event: &Event) -> Option<&'a Op> {
    let op = scene.view.op(event.op);
    (op.granted.index == scene.index).then_some(op)
}

/// MX-4: a grant follows from a served list.
#[derive(Clone, Default)]
pub(crate) struct Justified;

impl Rule for Justified {
    const JUDGES: &'static [Property] = &[Property::JustifiedGrant];
    const HEARS: Kinds = hears![Believe];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let Some(op) = grant(scene, event) else { return };
        let rule = scene.rule(Property::JustifiedGrant, op.object);
        out.premise(rule, op.object);
        let Err(why) = scene.justify(event.op) else { return };
        if out.only_counts(rule, op.object) {
            return;
        }
        let who = scene.client(op.client);
        let list = match op.list {
            Some(list) => {
                format!("on the list of e{} (zxid {:#x})", list.reply, list.zxid)
            }
            None => "without a list".to_owned(),
        };
        let place = |number| scene.contender(number);
        let (because, witness) = match why {
            Unjust::NoList => ("this acquire has read no list".to_owned(), u32::MAX),
            Unjust::NoZnode => ("it has no znode".to_owned(), u32::MAX),
            Unjust::WrongOwner(own) => {
                let of = scene.view.contender(own).map(|own| (scene.session(own.owner), own.created));
                let (owner, created) = of.unwrap_or_default();
                let session = scene.session(op.session);
                (format!("{} belongs to {owner}, and {who} has {session}", place(own)), created)
            }
            Unjust::NotInList(own) => {
                let at = scene.view.contender(own).map_or(u32::MAX, |own| own.deleted.index);
                (format!("its own {} is not in that list", place(own)), at)
            }
            Unjust::Ahead(ahead) => {
                let of = scene.view.contender(ahead);
                let other = of.map_or("?".to_owned(), |ahead| scene.actor(ahead.op));
                let own = place(op.own);
                let at = of.map_or(u32::MAX, |ahead| ahead.created);
                (format!("in that list {} of {other} is ahead of its own {own}", place(ahead)), at)
            }
            Unjust::Since(other) => {
                let of = scene.view.contender(other);
                let who = of.map_or("?".to_owned(), |other| scene.actor(other.op));
                let at = of.map_or(u32::MAX, |other| other.created);
                (
                    format!(
                        "after that list was read, {who} had been granted the hold, with {}",
                        place(other)
                    ),
                    at,
                )
            }
            Unjust::TooMany(taken, permits) => (
                format!(
                    "with it {taken} permits were held, in that list or at the grant; there were {permits}"
                ),
                u32::MAX,
            ),
            Unjust::NotAtOnce(replaced) => {
                let at = scene.view.contender(replaced).map_or(u32::MAX, |replaced| replaced.deleted.index);
                let (own, replaced) = (place(op.own), place(replaced));
                (format!("{own} was not created in the transaction that deleted {replaced}"), at)
            }
            Unjust::Disconnected => {
                let lost = scene.view.session(op.session).suspended;
                (
                    format!("the connection on which it had read the list was lost at {}", scene.when(lost)),
                    lost.index,
                )
            }
        };
        let text = explain(format!("{who} was granted the hold at {} {list}", scene.when(op.granted)))
            .because(because);
        let list = op.list.map_or(u32::MAX, |list| list.reply);
        out.fail(rule, scene, op.object, &[list, witness], text);
    }
}

#[derive(Clone, Copy)]
struct Largest {
    number: u64,
    op: OpId,
    index: u32,
}

/// By object: the largest number granted so far, of exclusive holds and of shared ones.
#[derive(Clone, Default)]
struct Last(Vec<[Option<Largest>; 2]>);

impl Last {
    /// Notes a number. Returns an earlier conflicting grant whose number is not smaller.
    fn take(&mut self, scene: &Scene<'_>, op: OpId, number: u64) -> Option<Largest> {
        let share = scene.view.op(op).verb.asks_for().unwrap_or(Share::Shared);
        let at = usize::from(scene.view.op(op).object.0);
        let [exclusive, shared] = slot(&mut self.0, at);
        let before =
            if share == Share::Exclusive { shared.filter(|last| last.number >= number) } else { None };
        let before = before.or(exclusive.filter(|last| last.number >= number));
        if before.is_some() {
            return before;
        }
        let same = if share == Share::Exclusive { exclusive } else { shared };
        if same.is_none_or(|last| last.number < number) {
            *same = Some(Largest { number, op, index: scene.index });
        }
        None
    }
}

/// Whether the znode of a grant exists, as far as the client can know. A hold whose znode was deleted between the list
/// and the grant was over before it began, so its numbers prove nothing.
fn is_firm(scene: &Scene<'_>, op: &Op) -> bool {
    match scene.view.contender(op.own) {
        Some(own) if scene.view.is_sim() => own.is_alive(),
        _ => !scene.view.is_sim() && !scene.view.excusable,
    }
}

/// MX-5: the token is the czxid of the holder's own znode, and grows.
#[derive(Clone, Default)]
pub(crate) struct FencingToken(Last);

impl Rule for FencingToken {
    const JUDGES: &'static [Property] = &[Property::FencingToken];
    const HEARS: Kinds = hears![Believe];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let Some(op) = grant(scene, event) else { return };
        let own = scene.view.contender(op.own);
        let firm = is_firm(scene, op);
        if own.is_none() && !firm {
            return;
        }
        let rule = scene.rule(Property::FencingToken, op.object);
        out.premise(rule, op.object);
        let what = || {
            format!(
                "{} was granted the hold at {} with token {:#x}",
                scene.client(op.client),
                scene.when(op.granted),
                op.token
            )
        };
        let downgraded = op.verb == Verb::Downgrade;
        if downgraded && op.former != OpId(0) {
            let before = scene.view.op(op.former).token;
            if before != op.token {
                let text = explain(what())
                    .because(format!("a downgrade keeps the token of the writer, {before:#x}"));
                out.fail(rule, scene, op.object, &[], text);
            }
            return;
        }
        if let Some(own) = own.filter(|own| own.czxid != op.token && !downgraded) {
            if out.only_counts(rule, op.object) {
                return;
            }
            let text = explain(what()).because(format!("its znode is {}", scene.contender(op.own)));
            return out.fail(rule, scene, op.object, &[own.created], text);
        }
        // Of holders beside each other, one may learn of its grant later than the next one.
        if !firm || downgraded || scene.view.protocol(op.object).has_permits() {
            return;
        }
        if let Some(last) = self.0.take(scene, event.op, op.token) {
            if out.only_counts(rule, op.object) {
                return;
            }
            let before = scene.actor(last.op);
            let text = explain(what()).because(format!(
                "{before} had been granted the hold at e{} with token {:#x}",
                last.index, last.number
            ));
            out.fail(rule, scene, op.object, &[last.index], text);
        }
    }
}

/// MX-6: grants are in the order of creation. RW-3: no reader overtakes a writer that stands ahead. MX-15: the most
/// urgent contender in the list behind the grant is granted.
#[derive(Clone, Default)]
pub(crate) struct GrantOrder(Last);

impl Rule for GrantOrder {
    const JUDGES: &'static [Property] = &[Property::OrderOfGrants, Property::NoOvertaking];
    const HEARS: Kinds = hears![Believe];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Believe { object, .. } = event.what else { return };
        let view = scene.view;
        let Some(op) = grant(scene, event) else { return };
        let Some(own) = view.contender(op.own).filter(|_| is_firm(scene, op)) else { return };
        let protocol = view.protocol(object);
        let is_reader = op.share == Share::Shared;
        let is_no_overtaking = protocol.has_readers() && is_reader;
        let order = if is_no_overtaking { Property::NoOvertaking } else { Property::OrderOfGrants };
        let rule = scene.rule(order, object);
        if op.verb == Verb::Downgrade {
            return;
        }
        out.premise(rule, object);
        let what = || {
            format!(
                "{} was granted the hold at {} for {}",
                scene.client(op.client),
                scene.when(op.granted),
                scene.contender(op.own)
            )
        };
        if protocol.has_rooms() {
            if let Some((number, list)) = view.passed_over(event.op) {
                let Some(passed) = view.contender(number) else { return };
                // As for every grant: if numbers do not show the order, a deleted contender is not ahead.
                if scene.is_worn(passed.path) && !passed.is_alive() {
                    return;
                }
                let text = explain(what()).because(format!(
                    "in the list of e{}, {} of {} is ahead of it",
                    list.reply,
                    scene.contender(number),
                    scene.actor(passed.op)
                ));
                out.fail(rule, scene, object, &[passed.created, list.reply], text);
            }
            return;
        }
        if !view.is_sim() {
            if let Some(last) = self.0.take(scene, event.op, own.czxid) {
                let text = explain(what()).because(format!(
                    "{} had been granted the hold at e{} for a later znode ({:#x})",
                    scene.actor(last.op),
                    last.index,
                    last.number
                ));
                out.fail(rule, scene, object, &[last.index], text);
            }
            return;
        }
        let contest = view.contest(object);
        let is_ahead =
            |number: &u32| !contest.is_plain || view.contenders.at(*number as usize).place < own.place;
        let waits = |number: &u32| {
            view.contender(*number).filter(|ahead| ahead.stands_before(own)).is_some_and(|ahead| {
                let other = view.op(ahead.op);
                let client = view.client(other.client);
                let withdrew = client.is_dead() || view.session(ahead.creator).is_over();
                ahead.op != event.op && ahead.is_alive() && other.is_waiting() && !withdrew
            })
        };
        if let Some(number) = contest.standing().take_while(is_ahead).find(waits) {
            let Some(passed) = view.contender(number) else { return };
            if out.only_counts(rule, object) {
                return;
            }
            let text = explain(what()).because(format!(
                "{} is ahead with {}, and waits",
                scene.actor(passed.op),
                scene.contender(number)
            ));
            out.fail(rule, scene, object, &[passed.created], text);
        }
    }
}
