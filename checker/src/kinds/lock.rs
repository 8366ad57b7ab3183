//! Locks: each contender is an ephemeral sequential znode below the lock. What its guard does, the guards of other
//! recipes do, too.

use super::reported::holds;
use super::{Call, ClaimedAs, Recipe, ReportedEvent, Value, child, unread};
use crate::evidence::{Act, Effect, Evidence, Judged, wrong};
use crate::history::{Seen, Sym, Verb};
use crate::view::{Order, Part, Protocol, Room};

pub(super) static LOCK: Recipe =
    Recipe::of_holds(PROTOCOL, &[ASKS, GUARD]).reported(ClaimedAs::Holds, &[REPORTED]);

const REPORTED: &[ReportedEvent] = &holds(Verb::Acquire, "acquired", "released");

/// The protocol of a lock, which others vary.
pub(super) const PROTOCOL: Protocol = Protocol {
    part: child,
    rooms: &[("", Room::Waiting)],
    order: Order::Creation,
    is_revoked_by: |_| false,
    watches_own: false,
    permits: |_| None,
};

/// The operations that ask for a hold. Whatever the kind of lock, a recipe of a caller may use any of them.
pub(super) const ASKS: &[Call] = &[
    Call::of(Verb::Acquire).done(has_its_data),
    Call::of(Verb::TryAcquire).done(has_its_data),
    Call::of(Verb::Read).done(has_its_data),
    Call::of(Verb::TryRead).done(has_its_data),
    Call::of(Verb::Write).done(has_its_data),
    Call::of(Verb::TryWrite).done(has_its_data),
    Call::of(Verb::Stand).done(has_its_data),
];

/// The operations of a guard, and those that look at contenders.
pub(super) const GUARD: &[Call] = &[
    Call::of(Verb::Release),
    Call::of(Verb::Work),
    Call::of(Verb::Keep),
    Call::of(Verb::Transact).costs(1, 1).done(is_applied).hands_out(&[RESULTS]),
    Call::of(Verb::TransactOnce).costs(1, 1).done(is_applied),
    Call::of(Verb::Contenders).hands_out(&[LINE]),
    Call::of(Verb::Evict).costs(1, 1).done(is_evicted),
];

/// The created contender has the given data.
pub(super) fn has_its_data(evidence: &Evidence<'_>) -> Option<Judged> {
    let given = evidence.given.first().filter(|given| !evidence.scene.text(**given).is_empty())?;
    let is_own = |effect: &&Effect| effect.act == Act::Creates && effect.place.part == Part::Member;
    let made = evidence.effects.iter().find(is_own)?;
    let has = made.data? == evidence.scene.digest(*given);
    let why = || format!("{} has not the data that were given", evidence.scene.znode(made.path));
    Some(if has { Ok(()) } else { Err((why(), made.at.index)) })
}

/// A write under a hold has changed a znode other than the hold's own.
pub(super) fn is_applied(evidence: &Evidence<'_>) -> Option<Judged> {
    let Some(last) = evidence.effects.iter().rfind(|effect| effect.place.part == Part::Guarded) else {
        return Some(wrong("nothing of it was applied"));
    };
    Some(match evidence.given.get(1) {
        Some(data) if last.data.is_some() => evidence.has_data(last, *data, "other data"),
        _ => Ok(()),
    })
}

/// An eviction has deleted the znode of its contender, and no other znode.
pub(super) fn is_evicted(evidence: &Evidence<'_>) -> Option<Judged> {
    let whom = *evidence.given.first()?;
    let scene = evidence.scene;
    let deleted = || evidence.effects.iter().filter(|effect| effect.act == Act::Deletes);
    if let Some(other) = deleted().find(|effect| effect.path != whom) {
        let why =
            format!("it was to delete {}, and has deleted {}", scene.path(whom), scene.path(other.path));
        return Some(Err((why, other.at.index)));
    }
    Some(match deleted().next() {
        Some(_) => Ok(()),
        None => wrong(format!("it has not deleted {}", scene.path(whom))),
    })
}

/// The results of a transaction are those of its operations.
pub(super) const RESULTS: Value = Value {
    seen: Seen::Results,
    what: "the results",
    untrue: |evidence, told, _| {
        let is_other = evidence.given.get(2).is_some_and(|asked| *asked != told);
        is_other.then_some("the results are not those of its operations, in their order")
    },
};

/// The contenders are those of the list that was read, in the order of their creation.
const LINE: Value = Value {
    seen: Seen::Line,
    what: "a value",
    untrue: |evidence, told, _| {
        if !is_in_order(evidence, told) {
            Some("it is not the order in which they came")
        } else if !is_complete(evidence, told) {
            Some("the list that it has read has others")
        } else {
            unread(evidence)
        }
    },
};

/// Whether contenders are listed in the order of their creation. Two directories have another order.
fn is_in_order(evidence: &Evidence<'_>, told: Sym) -> bool {
    let scene = evidence.scene;
    if scene.view.protocol(evidence.object).has_rooms() || evidence.is_interfered_with() {
        return true;
    }
    let listed = scene.text(told).split(',').filter(|path| !path.is_empty());
    let created = listed
        .map(|path| evidence.znodes.named(scene, path).map_or(u32::MAX, |(_, znode)| znode.created.index));
    created.is_sorted()
}

/// Whether it names all contenders of the list that it has read; a contender deleted meanwhile may be missing. Two
/// directories have two lists.
fn is_complete(evidence: &Evidence<'_>, told: Sym) -> bool {
    let view = evidence.scene.view;
    if view.protocol(evidence.object).has_rooms() || evidence.is_interfered_with() {
        return true;
    }
    let Some(list) = view.op(evidence.id).list.filter(|list| list.zxid != 0) else { return true };
    let told = evidence.scene.text(told);
    let all = view.contest(evidence.object).from(0).filter_map(|number| view.contender(number));
    all.filter(|contender| contender.is_in(list.zxid) && contender.is_alive())
        .all(|contender| told.split(',').any(|path| path == evidence.scene.text(contender.path)))
}
