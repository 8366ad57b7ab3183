//! A sweep over many machines: shards add up to the sweep, whatever does not add up is refused, and what the documentation
//! hands out is well formed.

use quick_xml::events::Event;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn zksim(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zksim"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it prints text")
}

/// A suite of a JUnit report.
#[derive(Debug, PartialEq)]
struct Suite {
    name: String,
    tests: u32,
    failures: u32,
}

fn suites(report: &str) -> Vec<Suite> {
    let mut reader = quick_xml::Reader::from_str(report);
    let mut suites = Vec::new();
    loop {
        match reader.read_event().expect("it is XML") {
            Event::Eof => return suites,
            Event::Start(element) if element.name().as_ref() == b"testsuite" => {
                let attribute = |name| {
                    let found = element.try_get_attribute(name).ok().flatten().expect("it is there");
                    String::from_utf8_lossy(&found.value).into_owned()
                };
                let count = |name| attribute(name).parse().expect("it is a number");
                let (tests, failures) = (count("tests"), count("failures"));
                suites.push(Suite { name: attribute("name"), tests, failures });
            }
            _ => {}
        }
    }
}

/// The lines, without the figures of speed.
fn without_speed(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let mut value: Value = serde_json::from_str(line).expect("every line is an object");
        let is_summary = value["kind"] == "summary";
        if let (true, Some(summary)) = (is_summary, value.as_object_mut()) {
            assert!(summary.remove("seconds").is_some() && summary.remove("per_second").is_some());
        }
        lines += &if is_summary { format!("{value}\n") } else { format!("{line}\n") };
    }
    lines
}

#[test]
fn shards_add_up_to_the_sweep_byte_for_byte_but_for_its_speed() {
    // One that fails, one that holds, and a number of shards that does not divide that of the seeds.
    let sweep = ["sweep", "lock-no-guid", "queue", "--seeds", "100"];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = zksim(folder.path(), &[&sweep[..], &["--jobs", "2", "--format", "json"]].concat());
    assert_eq!(whole.status.code(), Some(1));
    let files = ["2.jsonl", "0.jsonl", "1.jsonl"];
    for file in files {
        let shard = format!("{}/3", &file[..1]);
        let part = [&sweep[..], &["--shard", &shard, "--out", file]].concat();
        assert!(zksim(folder.path(), &part).status.code().is_some_and(|status| status < 3));
    }
    let merge =
        [&["merge", "--format", "json", "--out", "all.jsonl", "--junit", "all.xml"], &files[..]].concat();
    let merged = zksim(folder.path(), &merge);
    assert_eq!(merged.status.code(), Some(1), "{}", String::from_utf8_lossy(&merged.stderr));
    assert_eq!(without_speed(&said(&merged)), without_speed(&said(&whole)));
    let written = std::fs::read_to_string(folder.path().join("all.jsonl")).expect("it was written");
    assert_eq!(written, said(&merged));
    // What was merged is itself the result of a sweep.
    let again = zksim(folder.path(), &["merge", "all.jsonl", "--format", "json"]);
    assert_eq!(without_speed(&said(&again)), without_speed(&written));
    let report = std::fs::read_to_string(folder.path().join("all.xml")).expect("it was written");
    let suites = suites(&report);
    let named = |suite: &Suite| suite.name.clone();
    assert_eq!(suites.iter().map(named).collect::<Vec<_>>(), ["lock-no-guid", "queue"]);
    assert!(suites[0].failures > 0 && suites[0].tests + suites[1].tests > 40, "{suites:?}");
    // The table for people, too, but for its first line.
    let table = |output: &Output| {
        let text = said(output);
        let speed = |line: &&str| !line.contains("seeds/s");
        text.lines().filter(speed).map(|line| format!("{line}\n")).collect::<String>()
    };
    let whole = zksim(folder.path(), &sweep);
    assert_eq!(table(&zksim(folder.path(), &["merge", "0.jsonl", "1.jsonl", "2.jsonl"])), table(&whole));
}

#[test]
fn lines_come_in_one_order_on_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sweep = ["sweep", "lock-no-guid", "--seeds", "60", "--each", "--format", "json", "--jobs"];
    let on = |jobs| without_speed(&said(&zksim(folder.path(), &[&sweep[..], &[jobs]].concat())));
    assert_eq!(on("1"), on("4"));
}

#[test]
fn what_does_not_add_up_gets_one_sentence() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sweep = |arguments: &[&str]| {
        let arguments = [&["sweep", "lock-watch-all", "--seeds", "10"], arguments].concat();
        assert_eq!(zksim(folder.path(), &arguments).status.code(), Some(1));
    };
    sweep(&["--shard", "0/2", "--out", "a"]);
    sweep(&["--shard", "1/2", "--out", "b", "--from", "10"]);
    let refused = |arguments: &[&str], sentence: &str| {
        let output = zksim(folder.path(), arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), error.trim_end()), (Some(3), sentence));
    };
    refused(&["merge", "a"], "error: shard 1/2 is missing");
    refused(&["merge", "a", "a"], "error: a and a are both shard 0/2");
    refused(&["merge", "a", "b"], "error: a and b are not shards of one sweep: they differ in the seeds");
    refused(&["merge", "c"], "error: cannot read c: No such file or directory (os error 2)");
    let text = std::fs::read_to_string(folder.path().join("a")).expect("it was written");
    let cut = text.trim_end().rsplit_once('\n').expect("it has several lines").0;
    std::fs::write(folder.path().join("c"), cut).expect("it can be written");
    refused(&["merge", "c"], "error: c is cut off: its last line is not a summary");
    std::fs::write(folder.path().join("d"), "{}\n").expect("it can be written");
    refused(&["merge", "d"], "error: d is not the result of a sweep: line 1 has no kind");
    let there = "error: a exists already; remove it, or choose another name";
    refused(&["sweep", "lock", "--seeds", "1", "--out", "a"], there);
    refused(&["sweep", "lock", "--seeds", "1", "--junit", "a"], there);
    refused(&["mutants", "lock-no-guid", "--junit", "a"], there);
    assert_eq!(std::fs::read_to_string(folder.path().join("a")).expect("it is still there"), text);
}

#[test]
fn mutants_writes_a_report_with_a_case_for_each_mutant() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mutants = zksim(
        folder.path(),
        &["mutants", "lock-watch-all", "lock-polls", "--seeds", "10", "--junit", "mutants.xml"],
    );
    assert_eq!(mutants.status.code(), Some(0));
    let text = std::fs::read_to_string(folder.path().join("mutants.xml")).expect("it was written");
    let mutants = Suite { name: "mutants".to_owned(), tests: 2, failures: 0 };
    assert_eq!(suites(&text), [mutants]);
}

#[test]
fn the_example_for_kubernetes_has_a_shard_for_each_index() {
    let text = include_str!("../../examples/kubernetes/sweep-job.yaml");
    let field = |name: &str| {
        let mut found = text.lines().filter_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
        found.next().unwrap_or_else(|| panic!("there is a field {name}"))
    };
    assert_eq!((field("completions"), field("completionMode")), ("8", "Indexed"));
    assert_eq!(field("restartPolicy"), "Never", "as a failure policy asks for");
    let script: Vec<&str> = text.lines().map(str::trim_start).collect();
    let shards = format!("--shard \"$JOB_COMPLETION_INDEX/{}\"", field("completions"));
    // The command is one that the program takes.
    let line = script.iter().find(|line| line.starts_with("zksim sweep")).expect("it sweeps");
    assert!(line.contains(&shards), "{line}");
    let line = line.replace("\"$JOB_COMPLETION_INDEX/8\"", "7/8").replace("\"$out\"", "out.jsonl");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words: Vec<&str> =
        line.split(' ').skip(1).map(|word| if word == "1000000" { "8" } else { word }).collect();
    let output = zksim(folder.path(), &words);
    assert_eq!(output.status.code(), Some(2), "one seed of each workload proves nothing");
    assert!(folder.path().join("out.jsonl").exists());
}

#[test]
fn shards_of_a_sweep_of_all_workloads_add_up() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for shard in ["0/2", "1/2"] {
        let file = format!("shard-{}.jsonl", &shard[..1]);
        let swept = zksim(
            folder.path(),
            &["sweep", "--seeds", "2", "--shard", shard, "--shrink", "0", "--out", &file],
        );
        assert_eq!(swept.status.code(), Some(2), "two seeds prove nothing: {swept:?}");
        let text = std::fs::read_to_string(folder.path().join(&file)).expect("it was written");
        let last: Value =
            serde_json::from_str(text.lines().last().expect("it has lines")).expect("an object");
        assert_eq!(last["kind"], "summary");
    }
    let merged = zksim(folder.path(), &["merge", "shard-0.jsonl", "shard-1.jsonl"]);
    assert_eq!(merged.status.code(), Some(2), "{merged:?}");
    assert!(said(&merged).contains("all workloads: "), "{merged:?}");
}
