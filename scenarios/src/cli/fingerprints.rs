//! The failures of a sweep, those of one rule and shape as one.

use super::sweeping::{Part, again};
use serde_json::{Value, json};
use std::fmt::Write as _;
use zk_harness::fingerprint::Fingerprint;
use zk_harness::sweep::Tally;

/// How many are shown to eyes.
const SHOWN: usize = 12;

/// One kind of failure: the rule, the shape, the smallest seed, and how many.
type Kind<'a> = (&'a str, &'a Fingerprint, u64, u64);

/// The most frequent first.
fn kinds(tally: &Tally) -> Vec<Kind<'_>> {
    let kinds = tally.shapes.iter();
    let mut kinds: Vec<Kind<'_>> =
        kinds.map(|((rule, shape), (seed, count))| (rule.as_str(), shape, *seed, *count)).collect();
    kinds.sort_by_key(|(rule, shape, _, count)| (u64::MAX - count, *rule, *shape));
    kinds
}

/// For eyes; nothing if nothing failed.
pub(super) fn told(part: &Part) -> String {
    let (search, kinds) = (&part.order.search, kinds(&part.tally));
    if kinds.is_empty() {
        return String::new();
    }
    let mut text = "  failures, by rule and shape\n".to_owned();
    for (rule, shape, seed, count) in kinds.iter().take(SHOWN) {
        let _ = writeln!(text, "    {count:>6} × {rule:<6} {shape}");
        let _ = writeln!(text, "             {}", again(search, *seed));
    }
    if let Some(more) = kinds.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "    and {more} shapes more; `--format json` lists them all");
    }
    text
}

/// For a script: an object for each.
pub(super) fn lines(part: &Part) -> Vec<Value> {
    let (search, workload) = (&part.order.search, part.order.search.target.name);
    let line = |(rule, shape, seed, count): Kind<'_>| {
        json!({"kind": "failure", "workload": workload, "rule": rule, "events": shape.events,
            "faults": shape.faults, "count": count, "seed": seed, "again": again(search, seed)})
    };
    kinds(&part.tally).into_iter().map(line).collect()
}
