//! What a grant follows from, and what it bears: MX-4, MX-5 and MX-6.

use super::{Kinds, Rule, hears};
use crate::history::{Event, OpId, What};
use crate::sink::{Scene, Sink, Story};
use crate::verdict::RuleId;
use crate::view::{Op, Unjust};

/// The operation, if this event is its first belief.
fn grant<'a>(scene: &Scene<'a>, event: &Event) -> Option<&'a Op> {
    let op = scene.view.op(event.op);
    (op.granted.index == scene.index).then_some(op)
}

/// MX-4: a grant follows from a list that was served.
#[derive(Default)]
pub(crate) struct Justified;

impl Rule for Justified {
    const ID: RuleId = RuleId::Mx4;
    const HEARS: Kinds = hears::Believe;

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let Some(op) = grant(scene, event) else { return };
        sink.premise(Self::ID, op.object);
        let Err(why) = scene.view.justify(op) else { return };
        let who = scene.client(op.client);
        let list = match op.list {
            Some(list) => {
                format!("on the list that it was served at e{} (zxid {:#x})", list.reply, list.zxid)
            }
            None => "without any list".to_owned(),
        };
        let place = |number| scene.place(number);
        let (because, witness) = match why {
            Unjust::NoList => ("no list was served to this acquire".to_owned(), u32::MAX),
            Unjust::NoZnode => ("it has made no znode".to_owned(), u32::MAX),
            Unjust::WrongOwner(own) => {
                let of = scene.view.contender(own).map(|own| (scene.session(own.owner), own.created));
                let (owner, created) = of.unwrap_or_default();
                let session = scene.session(op.session);
                (format!("{} belongs to {owner}, and {who} speaks as {session}", place(own)), created)
            }
            Unjust::NotInList(own) => {
                let at = scene.view.contender(own).map_or(u32::MAX, |own| own.deleted.index);
                (format!("its own {} is not in that list", place(own)), at)
            }
            Unjust::Ahead(ahead) => {
                let of = scene.view.contender(ahead);
                let other = of.map_or("?".to_owned(), |ahead| scene.party(ahead.op));
                let own = place(op.own);
                let at = of.map_or(u32::MAX, |ahead| ahead.created);
                (format!("{} of {other} stands in it ahead of its own {own}", place(ahead)), at)
            }
            Unjust::Disconnected => {
                let lost = scene.view.session(op.session).suspended;
                (format!("the connection on which it had asked was lost at {}", scene.when(lost)), lost.index)
            }
        };
        let story =
            Story::new(format!("{who} was granted it at {} {list}", scene.when(op.granted))).because(because);
        let list = op.list.map_or(u32::MAX, |list| list.reply);
        sink.fail(Self::ID, scene, op.object, &[list, witness], story);
    }
}

#[derive(Clone, Copy)]
struct Largest {
    number: u64,
    op: OpId,
    index: u32,
}

/// The largest number that was granted so far, by object.
#[derive(Default)]
struct Last(Vec<Option<Largest>>);

impl Last {
    /// Takes a number in. Gives the one before if that was not smaller.
    fn take(&mut self, scene: &Scene<'_>, op: OpId, number: u64) -> Option<Largest> {
        let at = usize::from(scene.view.op(op).object.0);
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        match self.0[at] {
            Some(largest) if largest.number >= number => Some(largest),
            _ => {
                self.0[at] = Some(Largest { number, op, index: scene.index });
                None
            }
        }
    }
}

/// Whether the grant is of a znode that, as far as one can know, is there. One that went between the list and the grant
/// leaves a hold that was over before it began: numbers prove nothing then.
fn is_firm(scene: &Scene<'_>, op: &Op) -> bool {
    match scene.view.contender(op.own) {
        Some(own) if scene.view.is_sim() => own.is_alive(),
        _ => !scene.view.is_sim() && !scene.view.excusable,
    }
}

/// MX-5: the token is the czxid of the own znode, and grows.
#[derive(Default)]
pub(crate) struct Token(Last);

impl Rule for Token {
    const ID: RuleId = RuleId::Mx5;
    const HEARS: Kinds = hears::Believe;

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let Some(op) = grant(scene, event) else { return };
        let own = scene.view.contender(op.own);
        let firm = is_firm(scene, op);
        if own.is_none() && !firm {
            return;
        }
        sink.premise(Self::ID, op.object);
        let told = || {
            format!(
                "{} was granted it at {} with token {:#x}",
                scene.client(op.client),
                scene.when(op.granted),
                op.token
            )
        };
        if let Some(own) = own.filter(|own| own.czxid != op.token) {
            let story = Story::new(told()).because(format!("its znode is {}", scene.place(op.own)));
            return sink.fail(Self::ID, scene, op.object, &[own.created], story);
        }
        if !firm {
            return;
        }
        if let Some(last) = self.0.take(scene, event.op, op.token) {
            let before = scene.party(last.op);
            let story = Story::new(told()).because(format!(
                "{before} had been granted it at e{} with token {:#x}",
                last.index, last.number
            ));
            sink.fail(Self::ID, scene, op.object, &[last.index], story);
        }
    }
}

/// MX-6: who created its znode first is served first.
#[derive(Default)]
pub(crate) struct Order(Last);

impl Rule for Order {
    const ID: RuleId = RuleId::Mx6;
    const HEARS: Kinds = hears::Believe;

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let What::Believe { object, .. } = event.what else { return };
        let view = scene.view;
        let Some(op) = grant(scene, event) else { return };
        let Some(own) = view.contender(op.own).filter(|_| is_firm(scene, op)) else { return };
        sink.premise(Self::ID, object);
        let told = || {
            format!(
                "{} was granted it at {} for {}",
                scene.client(op.client),
                scene.when(op.granted),
                scene.place(op.own)
            )
        };
        if !view.is_sim() {
            if let Some(last) = self.0.take(scene, event.op, own.czxid) {
                let story = Story::new(told()).because(format!(
                    "{} had been granted it at e{} for a later znode ({:#x})",
                    scene.party(last.op),
                    last.index,
                    last.number
                ));
                sink.fail(Self::ID, scene, object, &[last.index], story);
            }
            return;
        }
        let line = view.line(object);
        let ahead = line.contenders.get(line.first..own.place as usize).unwrap_or_default();
        let waits = |number: &&u32| {
            view.contender(**number).is_some_and(|ahead| {
                let other = view.op(ahead.op);
                let client = view.client(other.client);
                let withdrew = client.is_dead() || view.session(ahead.creator).is_over();
                ahead.op != event.op && ahead.is_alive() && other.is_waiting() && !withdrew
            })
        };
        if let Some(number) = ahead.iter().find(waits) {
            let Some(passed) = view.contender(*number) else { return };
            let story = Story::new(told()).because(format!(
                "{} stands ahead with {}, and waits",
                scene.party(passed.op),
                scene.place(*number)
            ));
            sink.fail(Self::ID, scene, object, &[passed.created], story);
        }
    }
}
