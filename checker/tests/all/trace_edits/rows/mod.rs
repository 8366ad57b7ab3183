//! Histories without a breach, each with one edit that breaks one promise: as data.
//!
//! One file for each family. A [`Row`] names the rule that must be found first after the edit, and the rules that may
//! be found with it; the verdicts of all other rules must not change.

mod answers;
mod barriers;
mod claims;
mod counters;
mod double_barrier;
mod election;
mod kept;
mod lock;
mod memberships;
mod permits;
mod queues;
mod revocation;
mod shared_lock;
mod two_phase_commit;
mod zookeeper;
mod zookeeper_servers;

use crate::common::{edit, without};
use Edit::*;
use zk_checker::{RuleId, Verdict};

/// A history, an edit, and the rule whose verdict must change.
pub struct Row {
    /// The description of the edit.
    pub what: &'static str,
    /// The history before.
    pub from: String,
    /// The history after.
    pub to: String,
    /// The rule that must be found.
    pub flips: RuleId,
    /// The rule that must be found first: the same, unless another rule names the wrong step behind this harm.
    pub first: RuleId,
    /// The new verdict.
    pub becomes: Verdict,
    /// Further rules that may be found.
    pub may: Vec<RuleId>,
}

/// A step of an edit.
pub enum Edit<'a> {
    /// Removes the only line that contains this.
    Cut(&'a str),
    /// Replaces this, which occurs once, by that.
    Put(&'a str, &'a str),
    /// Inserts lines before the only line that contains this.
    Before(&'a str, &'a str),
    /// Inserts lines after the only line that contains this.
    After(&'a str, &'a str),
    /// Moves the only line that contains this behind the only one that contains that.
    Behind(&'a str, &'a str),
    /// Appends lines.
    End(&'a str),
}

impl Edit<'_> {
    fn of(&self, text: &str) -> String {
        match *self {
            Cut(part) => without(text, part),
            Put(from, to) => edit(text, from, to),
            Before(part, lines) => around(text, part, |line| format!("{lines}\n{line}")),
            After(part, lines) => around(text, part, |line| format!("{line}\n{lines}")),
            Behind(part, other) => {
                let line = the_line(text, part);
                around(&without(text, part), other, |other| format!("{other}\n{line}"))
            }
            End(lines) => format!("{}\n{lines}\n", text.trim_end()),
        }
    }
}

fn the_line<'a>(text: &'a str, part: &str) -> &'a str {
    let mut lines = text.lines().filter(|line| line.contains(part));
    let line = lines.next().unwrap_or_else(|| panic!("{part:?} in\n{text}"));
    assert!(lines.next().is_none(), "{part:?} must stand in one line of\n{text}");
    line
}

fn around(text: &str, part: &str, new: impl Fn(&str) -> String) -> String {
    let line = the_line(text, part);
    edit(text, &format!("\n{line}\n"), &format!("\n{}\n", new(line)))
}

/// A row. `flips` is a rule; after it the new verdict, unless it fails, or `after` and the rule that is found first;
/// and in brackets further rules that may be found.
fn row(what: &'static str, from: &str, edits: &[Edit<'_>], flips: &str) -> Row {
    let (named, others) = flips.split_once('(').unwrap_or((flips, ""));
    let mut named = named.split_whitespace();
    let rule = |name: &str| RuleId::from_name(name).unwrap_or_else(|| panic!("no rule {name:?}"));
    let flips = rule(named.next().unwrap_or_default());
    let (becomes, first) = match (named.next(), named.next()) {
        (None, _) => (Verdict::Fail, flips),
        (Some("unavoidable"), _) => (Verdict::Unavoidable, flips),
        (Some("after"), Some(first)) => (Verdict::Fail, rule(first)),
        (Some(other), _) => panic!("{other:?} is nothing that a rule becomes"),
    };
    Row {
        what,
        from: from.to_owned(),
        to: edits.iter().fold(from.to_owned(), |text, edit| edit.of(&text)),
        flips,
        first,
        becomes,
        may: others.trim_end_matches(')').split_whitespace().map(rule).chain([first]).collect(),
    }
}

/// All rows.
pub fn all() -> Vec<Row> {
    [
        lock::rows(),
        shared_lock::rows(),
        revocation::rows(),
        election::rows(),
        barriers::rows(),
        claims::rows(),
        double_barrier::rows(),
        queues::rows(),
        two_phase_commit::rows(),
        memberships::rows(),
        kept::rows(),
        counters::rows(),
        permits::rows(),
        zookeeper::rows(),
        zookeeper_servers::rows(),
        answers::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
