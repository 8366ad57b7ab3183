//! The order of items: QU-4, QU-5, QU-10.
//!
//! Items are taken, or claimed for the first time, by a transaction: when its effects are complete, it must not have
//! passed over an older or more urgent item. A priority queue that is not strict may pass over items that were not in
//! its list. A relaxed consumer passes over fewer items than its window has.

use super::is_fifo;
use super::stock::{Item, Stock};
use crate::rule::prelude::*;

/// The items that the current transaction has taken, or claimed for the first time.
#[derive(Clone, Default)]
pub(super) struct Batch {
    items: Vec<usize>,
}

impl Batch {
    /// Notes an item that is taken.
    pub(super) fn add(&mut self, item: usize) {
        self.items.push(item);
    }

    /// Judges a transaction whose effects are complete.
    pub(super) fn judge(&mut self, scene: &Scene<'_>, stock: &Stock, out: &mut Findings) {
        for taken in std::mem::take(&mut self.items) {
            let item = &stock.items[taken];
            let object = scene.object(item.object);
            let is_fifo = is_fifo(object);
            if is_fifo {
                out.premise(RuleId::Qu4, item.object);
            } else {
                out.premise(RuleId::Qu5, item.object);
            }
            let is_strict = is_fifo || object.manner.strict;
            let known = |other: &&Item| is_strict || is_known(scene, stock, taken, other);
            let waits = |other: &&Item| is_waiting(other, object.manner.at_least_once);
            // An item that a foreign client has overwritten has another version, so consumers skip it.
            let others = || {
                let own = |other: &&Item| !scene.view.is_interfered_with(scene.tables, other.path);
                stock.there(item.object).filter(waits).filter(own)
            };
            if others().next().is_some() {
                out.premise(RuleId::Qu10, item.object);
            }
            let goes_first =
                |other: &&Item| if is_fifo { age(other) < age(item) } else { rank(other) < rank(item) };
            // A relaxed consumer may skip all items of its window except the one that it takes.
            let may_pass = object.manner.window.saturating_sub(1) as usize;
            if let Some(passed) = others().filter(goes_first).filter(known).nth(may_pass) {
                report_passed(scene, item.object, item, passed, out);
            }
        }
    }
}

/// Whether an item is in the queue and was never handed out. (A claim that was given back returns the item to its old
/// place, but a consumer's list may not show it.)
fn is_waiting(item: &Item, at_least_once: bool) -> bool {
    !at_least_once || item.claimants.is_empty()
}

/// Orders by urgency, then by age. Items of one transaction are in the order of its operations.
fn rank(item: &Item) -> (u64, u64, u32) {
    (item.urgency, item.czxid, item.made.index)
}

fn age(item: &Item) -> (u64, u32) {
    (item.czxid, item.made.index)
}

/// Whether the operation that got an item could know of another one: its list contained the other item.
fn is_known(scene: &Scene<'_>, stock: &Stock, taken: usize, other: &Item) -> bool {
    let item = &stock.items[taken];
    let by = if item.is_there() { item.claimer } else { item.taker };
    let op = scene.view.op(by);
    match op.list {
        Some(list) if list.zxid != 0 => other.czxid <= list.zxid,
        // It used a list of an earlier call, or none.
        _ => op.called.came() && other.made.index < op.called.index,
    }
}

fn report_passed(scene: &Scene<'_>, object: ObjectId, item: &Item, passed: &Item, out: &mut Findings) {
    let is_fifo = is_fifo(scene.object(object));
    let (text, other) = (scene.path(item.text), scene.path(passed.text));
    let names = (scene.znode(item.path), scene.znode(passed.path));
    let seen = [item.made.index, passed.made.index];
    // If names explain the order, they are the reported reason.
    if names.0 < names.1 {
        let text = explain(format!("item {text} was taken before {other}")).because(format!(
            "compared as text {} comes before {}; compared as numbers it does not",
            names.0, names.1
        ));
        out.fail(RuleId::Qu10, scene, object, &seen, text);
    }
    let (rule, text) = if is_fifo {
        let text = explain(format!("item {text} (zxid {:#x}) was taken before {other}", item.czxid))
            .because(format!("{other} was put at zxid {:#x} and is still in the queue", passed.czxid));
        let text = match scene.object(object).manner.window {
            0 => text,
            window => {
                text.because(format!("the window is of {window}, and as many older items are passed over"))
            }
        };
        (RuleId::Qu4, text)
    } else {
        let text = explain(format!(
            "item {text} of priority {} was taken while {other} of priority {} was in the queue",
            item.urgency, passed.urgency
        ))
        .because(format!("{other} was put at zxid {:#x}", passed.czxid));
        (RuleId::Qu5, text)
    };
    out.fail(rule, scene, object, &seen, text);
}
