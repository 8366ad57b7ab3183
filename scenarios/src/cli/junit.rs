//! Results as a JUnit report, the form in which build servers show tests: one case for each promise.

use super::sweeping::Part;
use super::word;
use crate::zoo::measure::{Measured, Outcome};
use anyhow::Context;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::fs::File;
use zk_checker::{RuleId, Verdict};

/// Writes a report.
pub(super) fn write(report: &Report, file: File) -> anyhow::Result<()> {
    report.serialize(file).context("writing the JUnit report")
}

fn failed(name: &str, kind: NonSuccessKind, message: String) -> TestCase {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message);
    TestCase::new(name, status)
}

/// A sweep: a suite for each workload, in it a case for each rule, one for each other way to fail, and one that says whether
/// anything was proved.
pub(super) fn of_sweep(parts: &[Part]) -> Report {
    let mut report = Report::new("zksim sweep");
    for part in parts {
        let Part { order, tally, .. } = part;
        let name = order.search.target.name;
        let mut suite = TestSuite::new(name);
        let again = |seed: u64| format!("cargo sim run {}", super::sweeping::numbered(&order.search, seed));
        for (rule, (premises, verdict)) in &tally.rules {
            let title = format!("{} {}", rule.name(), rule.promise());
            let first = tally.failures.get(rule.name()).map_or(String::new(), |(seed, count)| {
                format!("; first in {count} runs, see {}", again(*seed))
            });
            suite.add_test_case(match verdict {
                Verdict::Fail => failed(&title, NonSuccessKind::Failure, format!("broken{first}")),
                Verdict::Unknown => failed(&title, NonSuccessKind::Error, "evidence is missing".to_owned()),
                Verdict::Vacuous => {
                    let mut status = TestCaseStatus::skipped();
                    status.set_message("never put to the test");
                    TestCase::new(title, status)
                }
                Verdict::Pass | Verdict::Unavoidable => {
                    let mut case = TestCase::new(title, TestCaseStatus::success());
                    case.set_system_out(format!("{}, {premises} times", word(*verdict)));
                    case
                }
            });
        }
        for (what, (seed, count)) in
            tally.failures.iter().filter(|(what, _)| RuleId::from_name(what).is_none())
        {
            let message = format!("{count} of {} runs; see {}", tally.runs, again(*seed));
            suite.add_test_case(failed(what, NonSuccessKind::Failure, message));
        }
        let missing = super::sweeping::missing(part);
        let title = "something was proved";
        suite.add_test_case(match missing.is_empty() {
            true => TestCase::new(title, TestCaseStatus::success()),
            false => failed(title, NonSuccessKind::Error, missing.join("; ")),
        });
        report.add_test_suite(suite);
    }
    report
}

/// The zoo: one case for each broken recipe, which is caught as it should be or not.
pub(super) fn of_zoo(measured: &[Measured]) -> Report {
    let mut report = Report::new("zksim zoo");
    let mut suite = TestSuite::new("zoo");
    for one in measured {
        let outcome = one.outcome();
        let mut case = match outcome {
            Outcome::Caught => TestCase::new(one.target.name, TestCaseStatus::success()),
            _ => failed(one.target.name, NonSuccessKind::Failure, outcome.words().to_owned()),
        };
        case.set_system_out(format!("{}: {}", one.caught.by.name(), one.target.about));
        suite.add_test_case(case);
    }
    report.add_test_suite(suite);
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::{Search, Strategy};
    use crate::sweep::{Order, sweep};
    use crate::target::Target;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_report_reads_back_with_a_failure_for_what_was_broken() {
        let target = Target::from_name("lock-watch-all").expect("it is in the zoo");
        let search = Search::new(target, Strategy::Swarm, None);
        let order = Order {
            search,
            seeds: 0..5,
            shard: (0, 1),
            jobs: 1,
            require_probes: false,
            count_transitions: false,
        };
        let tally = sweep(&order, &AtomicBool::new(false), &|_, _| {});
        let report = of_sweep(&[Part { order, tally, seconds: 1.0, notes: Vec::new() }]);
        let text = report.to_string().expect("it can be written");
        let read = Report::deserialize_from_str(&text).expect("it is a JUnit report");
        assert_eq!((read.tests, read.failures), (report.tests, report.failures));
        let suite = &read.test_suites[0];
        assert_eq!(suite.name.as_str(), "lock-watch-all");
        let broken: Vec<&str> = (suite.test_cases.iter())
            .filter(|case| {
                matches!(&case.status, TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. })
            })
            .map(|case| case.name.as_str())
            .collect();
        assert!(broken.iter().any(|name| name.starts_with("MX-13 ")), "{broken:?}");
        assert!(text.contains("cargo sim run lock-watch-all --seed 0"), "{text}");
    }
}
