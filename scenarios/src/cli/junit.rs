//! Results as a JUnit report, for build servers: one case for each promise.

use super::lines;
use super::searching::numbered;
use super::swept::Swept;
use crate::mutation_score::measure::{Measured, Outcome};
use quick_junit::NonSuccessKind::{Error, Failure};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::io::Write as _;
use zk_checker::{RuleId, Verdict};
use zk_report::whole_file::WholeFile;

/// Writes a report.
pub(super) fn write(report: &Report, file: WholeFile) -> anyhow::Result<()> {
    let text = report.to_string()?;
    file.fill(|out| out.write_all(text.as_bytes())).map_err(lines::not_written)
}

/// A sweep: a suite for each workload, with a case for each rule and for each other kind of failure, and one for the
/// evidence.
pub(super) fn of_sweep(all: &[Swept]) -> Report {
    report("zksim sweep", all.iter().map(suite))
}

fn suite(swept: &Swept) -> TestSuite {
    let Swept { sweep, tally, .. } = swept;
    let name = sweep.search.workload.name;
    let again = |seed: u64| format!("cargo sim run {}", numbered(&sweep.search, seed));
    let of_rule = |(rule, (premises, verdict)): (&RuleId, &(u64, Verdict))| {
        let first = tally
            .failures
            .get(rule.name())
            .map_or(String::new(), |(seed, count)| format!("; first in {count} runs, see {}", again(*seed)));
        let status = match verdict {
            Verdict::Fail => not(Failure, &format!("failed{first}")),
            Verdict::Unknown => not(Error, "evidence is missing"),
            Verdict::Vacuous => skipped("never tested"),
            Verdict::Pass | Verdict::Unavoidable => TestCaseStatus::success(),
        };
        let succeeds = matches!(status, TestCaseStatus::Success { .. });
        let mut case = case(name, &format!("{} {}", rule.name(), rule.promise()), status);
        if succeeds {
            case.set_system_out(format!("{}, {premises} times", verdict.name()));
        }
        case
    };
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(tally.rules.iter().map(of_rule));
    for (what, (seed, count)) in tally.failures.iter().filter(|(what, _)| RuleId::from_name(what).is_none()) {
        let message = format!("{count} of {} runs; see {}", tally.runs, again(*seed));
        suite.add_test_case(case(name, what, not(Failure, &message)));
    }
    let missing = swept.missing_clauses();
    let proved = if missing.is_empty() { TestCaseStatus::success() } else { not(Error, &missing.join("; ")) };
    suite.add_test_case(case(name, "there is evidence", proved));
    suite
}

/// The mutation score: one case for each mutant, which is killed or not.
pub(super) fn of_mutants(measured: &[Measured]) -> Report {
    const NAME: &str = "mutants";
    let of_mutant = |one: &Measured| {
        let status = match one.outcome() {
            Outcome::Caught => TestCaseStatus::success(),
            outcome => not(Failure, outcome.words()),
        };
        let mut case = case(NAME, one.workload.name, status);
        case.set_system_out(format!("{}: {}", one.caught.by.name(), one.workload.about));
        case
    };
    let mut suite = TestSuite::new(NAME);
    suite.add_test_cases(measured.iter().map(of_mutant));
    report("zksim mutants", [suite])
}

fn report(name: &str, suites: impl IntoIterator<Item = TestSuite>) -> Report {
    let mut report = Report::new(name);
    report.add_test_suites(suites);
    report
}

fn case(suite: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(suite);
    case
}

fn not(kind: NonSuccessKind, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message);
    status
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_xml::events::Event;
    use zk_harness::strategy::{Search, Strategy};
    use zk_harness::sweep::Sweep;

    #[test]
    fn a_report_reads_back_with_a_failure_for_what_was_broken() {
        let workload = zk_catalogue::find("lock-watch-all").expect("the mutant exists");
        let search = Search::new(workload, Strategy::Swarm, None);
        let sweep = Sweep::new(search, 0..5);
        let tally = sweep.tally();
        let report = of_sweep(&[Swept { sweep, tally, seconds: 1.0, notes: Vec::new() }]);
        let text = report.to_string().expect("it is text");
        let mut reader = quick_xml::Reader::from_str(&text);
        let (mut case, mut broken) = (String::new(), Vec::new());
        loop {
            match reader.read_event().expect("it is XML") {
                Event::Eof => break,
                Event::Start(element) | Event::Empty(element) => {
                    let name = || element.try_get_attribute("name").ok().flatten().expect("it has a name");
                    match element.name().as_ref() {
                        b"testcase" => case = String::from_utf8_lossy(&name().value).into_owned(),
                        b"failure" => broken.push(case.clone()),
                        b"testsuite" => assert_eq!(&*name().value, b"lock-watch-all"),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        assert!(broken.iter().any(|name| name.starts_with("MX-13 ")), "{broken:?}");
        assert!(text.contains("cargo sim run lock-watch-all --seed 0"), "{text}");
    }
}
