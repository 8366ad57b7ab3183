//! Results as a JUnit report, the form in which build servers show tests: one case for each promise.

use super::lines;
use super::sweeping::WorkloadSweep;
use crate::mutation_score::measure::{Measured, Outcome};
use quick_xml::Writer;
use quick_xml::events::BytesText;
use std::io::{self, Write};
use zk_checker::{RuleId, Verdict};
use zk_report::whole_file::WholeFile;

/// A report: suites of cases.
pub(super) struct Report {
    name: &'static str,
    suites: Vec<Suite>,
}

struct Suite {
    name: &'static str,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    status: Status,
    /// The text for `system-out`.
    output: Option<String>,
}

/// The status of a case, with a message unless it succeeded.
enum Status {
    Success,
    Failure(String),
    Error(String),
    Skipped(&'static str),
}

impl Case {
    fn new(name: impl Into<String>, status: Status) -> Case {
        Case { name: name.into(), status, output: None }
    }

    fn write(&self, suite: &str, writer: &mut Writer<impl Write>) -> io::Result<()> {
        let attributes = [("name", self.name.as_str()), ("classname", suite)];
        let case = writer.create_element("testcase").with_attributes(attributes);
        let (element, message) = match &self.status {
            Status::Success if self.output.is_none() => return case.write_empty().map(drop),
            Status::Success => ("", ""),
            Status::Failure(message) => ("failure", message.as_str()),
            Status::Error(message) => ("error", message.as_str()),
            Status::Skipped(message) => ("skipped", *message),
        };
        case.write_inner_content(|writer| {
            if !element.is_empty() {
                writer.create_element(element).with_attribute(("message", message)).write_empty()?;
            }
            if let Some(output) = &self.output {
                writer.create_element("system-out").write_text_content(BytesText::new(output))?;
            }
            Ok(())
        })
        .map(drop)
    }
}

/// The numbers of cases, failures, errors and skipped cases, as attributes.
fn counts<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> [(&'static str, String); 4] {
    let count = |is: fn(&Status) -> bool| cases.clone().filter(|case| is(&case.status)).count().to_string();
    [
        ("tests", count(|_| true)),
        ("failures", count(|status| matches!(status, Status::Failure(_)))),
        ("errors", count(|status| matches!(status, Status::Error(_)))),
        ("skipped", count(|status| matches!(status, Status::Skipped(_)))),
    ]
}

/// Writes a report.
pub(super) fn write(report: &Report, file: WholeFile) -> anyhow::Result<()> {
    file.fill(|out| report.write(&mut Writer::new_with_indent(out, b' ', 2))).map_err(lines::not_written)
}

impl Report {
    fn write(&self, writer: &mut Writer<impl Write>) -> io::Result<()> {
        writer.get_mut().write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        let counted = counts(self.suites.iter().flat_map(|suite| &suite.cases));
        let counted = counted.iter().map(|(name, count)| (*name, count.as_str()));
        let suites =
            writer.create_element("testsuites").with_attribute(("name", self.name)).with_attributes(counted);
        suites.write_inner_content(|writer| self.suites.iter().try_for_each(|suite| suite.write(writer)))?;
        writer.get_mut().write_all(b"\n")
    }
}

impl Suite {
    fn write(&self, writer: &mut Writer<impl Write>) -> io::Result<()> {
        let counted = counts(self.cases.iter());
        let counted = counted.iter().map(|(name, count)| (*name, count.as_str()));
        let suite =
            writer.create_element("testsuite").with_attribute(("name", self.name)).with_attributes(counted);
        suite.write_inner_content(|writer| {
            self.cases.iter().try_for_each(|case| case.write(self.name, writer))
        })?;
        Ok(())
    }
}

/// A sweep: a suite for each workload, with a case for each rule, for each other kind of failure, and one for the
/// evidence.
pub(super) fn of_sweep(parts: &[WorkloadSweep]) -> Report {
    Report { name: "zksim sweep", suites: parts.iter().map(suite).collect() }
}

fn suite(part: &WorkloadSweep) -> Suite {
    let WorkloadSweep { request, tally, .. } = part;
    let again = |seed: u64| format!("cargo sim run {}", super::sweeping::numbered(&request.search, seed));
    let of_rule = |(rule, (premises, verdict)): (&RuleId, &(u64, Verdict))| {
        let first = tally
            .failures
            .get(rule.name())
            .map_or(String::new(), |(seed, count)| format!("; first in {count} runs, see {}", again(*seed)));
        let status = match verdict {
            Verdict::Fail => Status::Failure(format!("failed{first}")),
            Verdict::Unknown => Status::Error("evidence is missing".to_owned()),
            Verdict::Vacuous => Status::Skipped("never tested"),
            Verdict::Pass | Verdict::Unavoidable => Status::Success,
        };
        let output = matches!(status, Status::Success);
        let output = output.then(|| format!("{}, {premises} times", verdict.name()));
        Case { name: format!("{} {}", rule.name(), rule.promise()), status, output }
    };
    let mut cases: Vec<Case> = tally.rules.iter().map(of_rule).collect();
    for (what, (seed, count)) in tally.failures.iter().filter(|(what, _)| RuleId::from_name(what).is_none()) {
        let message = format!("{count} of {} runs; see {}", tally.runs, again(*seed));
        cases.push(Case::new(what, Status::Failure(message)));
    }
    let missing = super::sweeping::missing(part);
    let proved = if missing.is_empty() { Status::Success } else { Status::Error(missing.join("; ")) };
    cases.push(Case::new("there is evidence", proved));
    Suite { name: request.search.workload.name, cases }
}

/// The mutation score: one case for each mutant, which is killed or not.
pub(super) fn of_mutants(measured: &[Measured]) -> Report {
    let case = |one: &Measured| {
        let status = match one.outcome() {
            Outcome::Caught => Status::Success,
            outcome => Status::Failure(outcome.words().to_owned()),
        };
        let output = Some(format!("{}: {}", one.caught.by.name(), one.workload.about));
        Case { name: one.workload.name.to_owned(), status, output }
    };
    let suite = Suite { name: "mutants", cases: measured.iter().map(case).collect() };
    Report { name: "zksim mutants", suites: vec![suite] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_xml::events::Event;
    use std::sync::atomic::AtomicBool;
    use zk_harness::strategy::{Search, Strategy};
    use zk_harness::sweep::{SweepRequest, sweep};

    #[test]
    fn a_report_reads_back_with_a_failure_for_what_was_broken() {
        let workload = zk_catalogue::find("lock-watch-all").expect("the mutant exists");
        let search = Search::new(workload, Strategy::Swarm, None);
        let request = SweepRequest {
            search,
            seeds: 0..5,
            shard: (0, 1),
            jobs: 1,
            require_probes: false,
            count_transitions: false,
        };
        let tally = sweep(&request, &AtomicBool::new(false), &|_, _| {});
        let report = of_sweep(&[WorkloadSweep { request, tally, seconds: 1.0, notes: Vec::new() }]);
        let mut text = Vec::new();
        report.write(&mut Writer::new(&mut text)).expect("it can be written");
        let text = String::from_utf8(text).expect("it is text");
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
