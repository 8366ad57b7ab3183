//! Counters: the count is a number in the data of `value`, plus the version of that znode.

use super::{Call, Recipe, Value};
use crate::evidence::{Evidence, Judged, wrong};
use crate::history::{Failure, Seen, Verb};
use crate::view::Part;

pub(super) static SHARED_COUNTER: Recipe = Recipe::of_znodes(part, &[CALLS]);

/// Rules of their own judge what the calls do, and what they are told. The first change of an object also creates the
/// counter and a receipt.
const CALLS: &[Call] = &[
    Call::of(Verb::Add).hands_out(&[Value::read(Seen::Value)]),
    Call::of(Verb::Get).costs(2, 1).done(is_as_fresh_as_asked).hands_out(&[Value::read(Seen::Value)]),
    Call::of(Verb::Follow).hands_out(&[Value::read(Seen::Value), Value::none(Seen::Missing)]),
    Call::of(Verb::CompareAndSet).fails(&[(Failure::Conflict, |_| None)]),
    Call::of(Verb::Overwrite),
];

fn part(below: &str) -> Part {
    match below.split_once('/') {
        None if below == "value" => Part::Itself,
        Some(("receipts", _)) => Part::Receipt,
        _ => Part::Other,
    }
}

/// A rule of its own judges what the freshest read tells.
fn is_as_fresh_as_asked(evidence: &Evidence<'_>) -> Option<Judged> {
    (evidence.argument(0) == Some("synced")).then(|| match evidence.has_synced {
        true => Ok(()),
        false => wrong("it was to read behind a sync, and no sync of it was answered"),
    })
}
