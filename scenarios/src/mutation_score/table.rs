//! The table of the mutation score, for a terminal and for the README.

use super::measure::{Measured, Outcome};
use crate::text_table::text_table;
use std::fmt::Write as _;
use zk_checker::RuleId;
use zk_harness::caught::Promise;
use zk_report::place::Place;

/// The place of the table in a README.
pub const PLACE: Place = Place {
    begin: "<!-- mutation score: written by `cargo sim mutants --write-readme` -->",
    end: "<!-- end of the mutation score -->",
};

/// One aligned row per mutant.
pub fn text(measured: &[Measured]) -> String {
    let head = ["mutant", "rule", "first in", "fails", "median", "p95", "harm", "outside", "twin", ""];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(measured.iter().map(cells));
    text_table(&rows)
}

fn cells(one: &Measured) -> [String; 10] {
    let (median, p95) = search(one);
    let outside: Vec<&str> = one.seen_from_outside().map(|(rule, _)| rule.name()).collect();
    let twin = match &one.twin {
        Some((count, seed, what)) => format!("{what} in {count}, first seed {seed}"),
        None if one.premises == 0 => "untested".to_owned(),
        None => "passes".to_owned(),
    };
    [
        one.workload.name.to_owned(),
        one.caught.by.name().to_owned(),
        first(one),
        percent(one.failed, one.seeds),
        median,
        p95,
        harm(one),
        outside.join(" "),
        twin,
        verdict(one),
    ]
}

/// The outcome, with the counts of the other rules if another rule was first.
fn verdict(one: &Measured) -> String {
    let outcome = one.outcome();
    if outcome != Outcome::ByAnother && outcome != Outcome::Missed {
        return outcome.words().to_owned();
    }
    let others = one
        .first
        .iter()
        .filter(|(name, _)| RuleId::from_name(name).is_none_or(|rule| !one.caught.is_caught_by(rule)));
    let others: Vec<String> = others.map(|(name, count)| format!("{name} {count}")).collect();
    let word = outcome.words();
    if others.is_empty() { word.to_owned() } else { format!("{word}: {}", others.join(", ")) }
}

fn search(one: &Measured) -> (String, String) {
    one.search.map_or_else(Default::default, |search| (search.median.to_string(), search.p95.to_string()))
}

/// The percentage of failing runs in which its rule is first.
fn first(one: &Measured) -> String {
    percent(one.first_by_right(), one.failed)
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let share = part as f64 * 100.0 / whole as f64;
    // A share near 0 or 100 gets a decimal, so that it does not look like none or all.
    let digits = usize::from(part > 0 && part < whole && !(0.5..99.5).contains(&share));
    format!("{share:.digits$} %")
}

fn harm(one: &Measured) -> String {
    let seen = one.caught.harm.iter().filter(|rule| one.broken.contains_key(rule));
    seen.map(|rule| rule.name()).collect::<Vec<_>>().join(" ")
}

/// The mutants of each of the four promises as a black-box judge sees them, one per line.
pub fn promises(measured: &[Measured]) -> String {
    let mut text = String::new();
    for promise in Promise::ALL {
        let mut of = measured.iter().filter(|one| one.caught.breaks == Some(promise)).peekable();
        if of.peek().is_none() {
            continue;
        }
        let _ = writeln!(text, "{}, by a black-box judge", promise.name());
        for one in of {
            let rules: Vec<String> =
                one.seen_from_outside().map(|(rule, count)| format!("{rule} in {count}")).collect();
            let rules = if rules.is_empty() { "never".to_owned() } else { rules.join(", ") };
            let _ = writeln!(text, "  {:<36} {rules} of {} runs", one.workload.name, one.seeds);
        }
    }
    text
}

/// The table as Markdown.
pub fn markdown(measured: &[Measured], seeds: u64) -> String {
    let mut text = format!(
        "{} mutants, {seeds} seeds each. *First in*: the share of failing runs in which its rule, or an accepted \
         alternative, is the first finding. *Seeds*: how many a search takes, median and 95th percentile. *Outside*: the findings of a black-box judge, which \
         sees only calls, returns, beliefs and notifications.\n\n\
         | mutant | what it does | seen in | rule | first in | seeds | harm | outside |\n|---|---|---|---|---|---|---|---|\n",
        measured.len()
    );
    for one in measured {
        let (median, p95) = search(one);
        let outside: Vec<&str> = one.seen_from_outside().map(|(rule, _)| rule.name()).collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {median}, {p95} | {} | {} |",
            one.workload.name,
            one.workload.about,
            one.caught.seen,
            one.caught.by,
            first(one),
            harm(one),
            outside.join(" "),
        );
    }
    text
}
