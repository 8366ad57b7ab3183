//! The failures of a sweep, grouped by rule and fingerprint.

use super::searching::again;
use super::swept::Swept;
use serde_json::{Value, json};
use std::fmt::Write as _;
use zk_harness::fingerprint::Fingerprint;
use zk_harness::tally::Tally;

/// The number of groups in the text output.
const SHOWN: usize = 12;

/// A group of failures: the rule, the fingerprint, the smallest seed and the count.
type Kind<'a> = (&'a str, &'a Fingerprint, u64, u64);

/// The groups, the most frequent first.
fn kinds(tally: &Tally) -> Vec<Kind<'_>> {
    let kinds = tally.shapes.iter();
    let mut kinds: Vec<Kind<'_>> =
        kinds.map(|((rule, shape), (seed, count))| (rule.as_str(), shape, *seed, *count)).collect();
    kinds.sort_by_key(|(rule, shape, _, count)| (u64::MAX - count, *rule, *shape));
    kinds
}

/// The text output; empty without failures.
pub(super) fn table(swept: &Swept) -> String {
    let (search, kinds) = (&swept.sweep.search, kinds(&swept.tally));
    if kinds.is_empty() {
        return String::new();
    }
    let mut text = "  failures, by rule and fingerprint\n".to_owned();
    for (rule, shape, seed, count) in kinds.iter().take(SHOWN) {
        let _ = writeln!(text, "    {count:>6} × {rule:<6} {shape}");
        let _ = writeln!(text, "             {}", again(search, *seed));
    }
    if let Some(more) = kinds.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "    and {more} more fingerprints; `--format json` lists them all");
    }
    text
}

/// The JSON output: an object for each group.
pub(super) fn lines(swept: &Swept) -> Vec<Value> {
    let (search, workload) = (&swept.sweep.search, swept.sweep.search.workload.name);
    let line = |(rule, shape, seed, count): Kind<'_>| {
        json!({"kind": "failure", "workload": workload, "rule": rule, "events": shape.events,
            "faults": shape.faults, "count": count, "seed": seed, "again": again(search, seed)})
    };
    kinds(&swept.tally).into_iter().map(line).collect()
}
