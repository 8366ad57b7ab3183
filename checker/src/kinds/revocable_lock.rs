//! Revocable locks: shared locks whose contenders are asked to release by a word in their znodes.

use super::lock::{self, ASKS, GUARD};
use super::{Call, Recipe, shared_lock};
use crate::evidence::{Evidence, Judged};
use crate::history::{Seen, Verb};
use crate::view::Protocol;

pub(super) static REVOCABLE_LOCK: Recipe = Recipe::of_holds(
    Protocol {
        is_revoked_by: |verb| matches!(verb, Verb::Ask | Verb::Force),
        watches_own: true,
        ..shared_lock::PROTOCOL
    },
    &[ASKS, &[Call::of(Verb::Downgrade).costs(2, 1)], REVOCABLE, GUARD],
);

/// The operations that ask a contender to release, and those of a guard whose holder learns of it.
pub(super) const REVOCABLE: &[Call] = &[
    Call::of(Verb::Ask).costs(1, 1).done(has_fate),
    Call::of(Verb::Force).costs(3, 2).done(has_fate),
    Call::of(Verb::Transact).costs(2, 1).done(lock::is_applied).hands_out(&[lock::RESULTS]),
    Call::of(Verb::TransactOnce).costs(2, 1).done(lock::is_applied),
    Call::of(Verb::Evict).done(lock::is_evicted),
];

/// A contender that was asked to release has the word, or is gone.
fn has_fate(evidence: &Evidence<'_>) -> Option<Judged> {
    let path = *evidence.given.first()?;
    let scene = evidence.scene;
    let (Seen::Fate, fate) = evidence.seen? else { return None };
    let znode = evidence.znodes.at(path);
    let wrong = match scene.text(fate) {
        "asked" if znode.is_alive && !znode.written.came() => "the word was not written into",
        "yielded" | "gone" if znode.is_alive => "nobody has deleted",
        "forced" if znode.is_alive => "it has not deleted",
        _ => return Some(Ok(())),
    };
    let why = format!("it told {}, and {wrong} {}", scene.text(fate), scene.znode(path));
    Some(Err((why, znode.created.index)))
}
