//! Queues, with and without priorities: items below the queue, claims on them in `claims`.

use super::failures::{gave_up, never_asked};
use super::reported::{done, refused, unknown};
use super::{Call, ClaimedAs, Meaning, Recipe, ReportedEvent, SeenAs};
use crate::evidence::{Act, Evidence, Judged, is_path, wrong};
use crate::history::{Code, Failure, Outcome, Seen, Sym, Verb};
use crate::view::Part;

pub(super) static QUEUE: Recipe =
    Recipe::of_znodes(part, &[CALLS]).seen_as(SeenAs::Fifo).reported(ClaimedAs::Queue, &[REPORTED]);

pub(super) static PRIORITY_QUEUE: Recipe = Recipe::of_znodes(part, &[CALLS]).seen_as(SeenAs::MostUrgent);

const CALLS: &[Call] = &[
    // A producer's first put also creates its receipt.
    Call::of(Verb::Put).costs(5, 4).done(all_items).fails(&[(Failure::Exhausted, has_numbers_left)]),
    Call::of(Verb::Take).done(hands_out_as_many).fails(&[(Failure::Nothing, has_a_free_item)]),
    Call::of(Verb::Claim).done(has_claimed).fails(&[(Failure::Nothing, has_a_free_item)]),
    Call::of(Verb::Confirm).costs(2, 2).done(is_confirmed).fails(&[(Failure::ClaimLost, still_claimed)]),
    Call::of(Verb::GiveBack).costs(1, 1).done(is_given_back).fails(&[(Failure::ClaimLost, still_claimed)]),
    Call::of(Verb::Settle),
];

const REPORTED: &[ReportedEvent] = &[
    ReportedEvent::with("puts", Meaning::Begins(Verb::Put)),
    ReportedEvent::with("put", done(Verb::Put)),
    ReportedEvent::with("unknown", unknown(Verb::Put)),
    ReportedEvent::with("refused", refused(Verb::Put)),
    ReportedEvent::of("takes", Meaning::Begins(Verb::Take)),
    ReportedEvent::with("took", Meaning::Tells(Verb::Take, Seen::Item)),
    ReportedEvent::of("empty", Meaning::Returns(Verb::Take, Outcome::Refused, Failure::Nothing)),
    ReportedEvent::of("failed", unknown(Verb::Take)),
];

fn part(below: &str) -> Part {
    match below.split_once('/') {
        None if ["", "receipts", "takers", "claims"].contains(&below) => Part::Other,
        None => Part::Item,
        Some(("claims", _)) => Part::Claim,
        Some(("receipts", _)) => Part::Receipt,
        Some(_) => Part::Other,
    }
}

/// A put has created an item for each argument, in order, and all in one transaction.
fn all_items(evidence: &Evidence<'_>) -> Option<Judged> {
    let is_item = |act, part| act == Act::Creates && part == Part::Item;
    let made: Vec<_> =
        evidence.effects.iter().filter(|effect| is_item(effect.act, effect.place.part)).collect();
    let wanted: Vec<_> = evidence.given.iter().map(|item| Some(evidence.scene.digest(*item))).collect();
    let found: Vec<_> = made.iter().map(|effect| effect.data).collect();
    Some(if wanted.is_empty() {
        wrong("it was given nothing to put")
    } else if found == wanted {
        evidence.is_one_transaction(&made, "its items were not created as one")
    } else {
        let why = match found.len() == wanted.len() {
            true => "the items in the queue are others, or stand in another order".to_owned(),
            false => format!("it was given {} items, and has created {}", wanted.len(), found.len()),
        };
        Err((why, made.first().map_or(u32::MAX, |effect| effect.at.index)))
    })
}

fn has_claimed(evidence: &Evidence<'_>) -> Option<Judged> {
    match evidence.seen {
        None => Some(wrong("it has handed out no item")),
        Some(_) => hands_out_as_many(evidence),
    }
}

/// Not more items than were asked for, if a number was given.
fn hands_out_as_many(evidence: &Evidence<'_>) -> Option<Judged> {
    let (items, number) = (evidence.items, evidence.number);
    (number > 0 && items > number)
        .then(|| wrong(format!("it has handed out {items} items, and {number} were asked for")))
}

/// A confirmation has deleted every item, and made every further write, all in one transaction.
fn is_confirmed(evidence: &Evidence<'_>) -> Option<Judged> {
    let scene = evidence.scene;
    let mut made = Vec::new();
    for given in &evidence.given {
        let digest = Some(scene.digest(*given));
        let is_of = |act, part, path, data| match part {
            Part::Item => act == Act::Deletes && data == digest,
            Part::Along => act != Act::Deletes && path == *given,
            _ => false,
        };
        let mut effects = evidence.effects.iter();
        match effects.find(|effect| is_of(effect.act, effect.place.part, effect.path, effect.data)) {
            Some(effect) => made.push(effect),
            None if is_path(scene, *given) => {
                return Some(wrong(format!("it has not written {}", scene.path(*given))));
            }
            None => return Some(wrong(format!("it has not deleted the item {}", scene.path(*given)))),
        }
    }
    Some(match made.is_empty() {
        true => wrong("it was given no item"),
        false => evidence.is_one_transaction(&made, "its changes were not made as one"),
    })
}

/// After a claim is given back, the client has no claim on that item. It may have claims on several items with the same
/// data.
fn is_given_back(evidence: &Evidence<'_>) -> Option<Judged> {
    let Some(item) = evidence.given.first() else { return Some(Ok(())) };
    let (scene, znodes, digest) = (evidence.scene, evidence.znodes, evidence.scene.digest(*item));
    let mut gone = evidence.effects.iter().filter(|effect| effect.act == Act::Deletes);
    if gone.any(|effect| znodes.is_claim_on(scene, evidence.doing, effect.path, digest)) {
        return Some(Ok(()));
    }
    let claim = znodes.claims_on(scene, evidence.doing, digest).next();
    Some(claim.map_or(Ok(()), |claim| evidence.is_absent(claim)))
}

/// An item that the consumer must have found.
fn has_a_free_item(evidence: &Evidence<'_>) -> Option<String> {
    let missing = never_asked(evidence);
    if missing.is_some() || !evidence.scene.view.is_sim() || gave_up(evidence) {
        return missing;
    }
    let item = evidence.znodes.free_item(evidence.scene, evidence.doing)?;
    let item = evidence.scene.znode(item);
    Some(format!("its session put {item} before, and no consumer has got it"))
}

/// A claim is lost if it does not exist, or if the item was delivered again. With several claims, one is enough.
fn still_claimed(evidence: &Evidence<'_>) -> Option<String> {
    let (scene, znodes) = (evidence.scene, evidence.znodes);
    // A client that has claimed an item again has an existing claim besides the lost one.
    let was_taken = znodes.lost_a_claim(evidence.client, evidence.object);
    if !evidence.is_conclusive() || was_taken {
        return None;
    }
    let is_older = |claim: &Sym| znodes.at(*claim).created.index < evidence.called.index;
    let stands = |item: &Sym| znodes.claims_on(scene, evidence.doing, scene.digest(*item)).find(is_older);
    let items = evidence.given.iter().filter(|given| !is_path(scene, **given));
    let standing: Vec<Sym> = items.map(stands).collect::<Option<_>>()?;
    let claim = scene.znode(*standing.first()?);
    Some(format!("its claim {claim} stands, and has stood all through the call"))
}

/// The spare numbers of a queue: when only so many are left, a put is refused.
const SPARE_NUMBERS: i32 = 1 << 24;

/// A queue without numbers has had almost as many items as ZooKeeper can count. A put learns of it from the existing
/// znode with the last number, or from the number of items so far.
fn has_numbers_left(evidence: &Evidence<'_>) -> Option<String> {
    if evidence.heard(&[Code::NodeExists]) {
        return None;
    }
    if !evidence.is_conclusive() {
        return evidence.lacks_an_answer();
    }
    let queue = evidence.declared().path;
    let had = evidence.scene.view.oracle.creations(queue);
    let puts = i32::try_from(evidence.given.len()).unwrap_or(i32::MAX);
    let is_at_the_end = had.saturating_add(puts) > i32::MAX - SPARE_NUMBERS;
    (!is_at_the_end).then(|| {
        let queue = evidence.scene.path(queue);
        format!("{queue} has had {had} children, and no znode with the last number stood")
    })
}
