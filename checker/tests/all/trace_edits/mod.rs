//! One edit of a passing history changes the verdict of one rule. Rules that may change with it are named; all others
//! keep their verdicts.
//!
//! So the tests find rules that see too little, and rules that see too much.

pub mod rows;

use crate::common::report;
use rows::Row;
use zk_checker::{Report, RuleId, Verdict};

/// The verdict of a rule, where vacuous counts as pass.
fn told(report: &Report, rule: RuleId) -> Verdict {
    match report.of(rule) {
        Verdict::Vacuous => Verdict::Pass,
        verdict => verdict,
    }
}

/// The errors of a row.
fn judged(row: &Row) -> Vec<String> {
    let (before, after) = (report(&row.from), report(&row.to));
    let mut wrong = Vec::new();
    if before.is_malformed() || after.is_malformed() {
        wrong.push("a history contradicts itself".to_owned());
    }
    if told(&before, row.flips) == row.becomes || told(&after, row.flips) != row.becomes {
        wrong.push(format!(
            "{} was {} and is {}, not {}",
            row.flips,
            before.of(row.flips),
            after.of(row.flips),
            row.becomes
        ));
    }
    let first = after.first().map(|first| first.rule);
    if row.becomes == Verdict::Fail && first != Some(row.first) {
        wrong.push(format!("first is {}", first.map_or("nothing", |rule| rule.name())));
    }
    for rule in RuleId::ALL.iter().copied().filter(|rule| *rule != row.flips) {
        let is = told(&after, rule);
        if is != told(&before, rule) && !row.may.contains(&rule) {
            wrong.push(format!("{rule} became {is}"));
        }
    }
    if !wrong.is_empty() {
        wrong.push(format!("before:\n{before}after:\n{after}{}", row.to));
    }
    wrong
}

#[test]
fn an_edit_flips_its_rule_and_no_other() {
    let mut wrong = Vec::new();
    for row in rows::all() {
        let complaints = judged(&row);
        if !complaints.is_empty() {
            wrong.push(format!("── {} {}\n{}", row.flips, row.what, complaints.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} rows\n{}", wrong.len(), wrong.join("\n"));
}

/// The test lists the verdicts that no row produces, with a reason.
#[test]
fn every_rule_is_seen_to_pass_to_fail_and_to_have_nothing_to_say() {
    let mut seen = vec![[false; 4]; RuleId::COUNT];
    let mut note = |report: &Report| {
        for rule in RuleId::ALL.iter().copied() {
            let at = match report.of(rule) {
                Verdict::Vacuous => 0,
                Verdict::Pass => 1,
                Verdict::Unavoidable => 2,
                Verdict::Fail => 3,
                Verdict::Unknown => continue,
            };
            seen[rule as usize][at] = true;
        }
    };
    for row in rows::all() {
        note(&report(&row.from));
        note(&report(&row.to));
    }
    let mut wrong = Vec::new();
    for rule in RuleId::ALL.iter().copied() {
        let [vacuous, passes, unavoidable, fails] = seen[rule as usize];
        // A history that contradicts itself is Unknown; one that does not is well-formed.
        let is_judged = rule != RuleId::W;
        for (is_seen, must, what) in [
            (vacuous, is_judged, "vacuous"),
            (passes, true, "pass"),
            (fails, is_judged, "fail"),
            (unavoidable, CAN_BE_UNAVOIDABLE.contains(&rule), "unavoidable"),
        ] {
            if is_seen != must {
                wrong.push(format!("{rule} {what}: {is_seen}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules with excuses. The others never excuse a breach.
const CAN_BE_UNAVOIDABLE: &[RuleId] = &[
    RuleId::Mx2,
    RuleId::Mx14,
    RuleId::Rw1,
    RuleId::Le1,
    RuleId::Le9,
    RuleId::Db1,
    RuleId::Qu2,
    RuleId::Tc13,
];

#[test]
fn every_rule_has_a_row() {
    let rows = rows::all();
    let bare: Vec<&str> = RuleId::ALL
        .iter()
        .filter(|rule| {
            **rule != RuleId::W && !rows.iter().any(|row| row.flips == **rule && row.becomes == Verdict::Fail)
        })
        .map(|rule| rule.name())
        .collect();
    assert!(bare.is_empty(), "{bare:?}");
}
