//! A sweep over many machines: shards add up to the sweep, whatever does not add up is refused, and what the documentation
//! hands out is well formed.

use k8s_openapi::api::batch::v1::Job;
use quick_junit::Report;
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
    let report = Report::deserialize_from_str(&report).expect("it is a JUnit report");
    let suites: Vec<&str> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
    assert_eq!(suites, ["lock-no-guid", "queue"]);
    assert!(report.failures > 0 && report.tests > 40, "{} of {}", report.failures, report.tests);
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
    refused(&["merge", "a", "b"], "error: a and b are not of one sweep: they differ in the seeds");
    refused(&["merge", "c"], "error: cannot read c: No such file or directory (os error 2)");
    let text = std::fs::read_to_string(folder.path().join("a")).expect("it was written");
    let cut = text.trim_end().rsplit_once('\n').expect("it has several lines").0;
    std::fs::write(folder.path().join("c"), cut).expect("it can be written");
    refused(&["merge", "c"], "error: c is cut off: its last line is no summary");
    std::fs::write(folder.path().join("d"), "{}\n").expect("it can be written");
    refused(&["merge", "d"], "error: d is not the result of a sweep: line 1 has no kind");
    let there = "error: a is there already; take it away, or name another file";
    refused(&["sweep", "lock", "--seeds", "1", "--out", "a"], there);
    refused(&["sweep", "lock", "--seeds", "1", "--junit", "a"], there);
    refused(&["zoo", "lock-no-guid", "--junit", "a"], there);
    assert_eq!(std::fs::read_to_string(folder.path().join("a")).expect("it is still there"), text);
}

#[test]
fn the_zoo_writes_a_report_with_a_case_for_each_entry() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let zoo =
        zksim(folder.path(), &["zoo", "lock-watch-all", "lock-polls", "--seeds", "10", "--junit", "zoo.xml"]);
    assert_eq!(zoo.status.code(), Some(0));
    let text = std::fs::read_to_string(folder.path().join("zoo.xml")).expect("it was written");
    let report = Report::deserialize_from_str(&text).expect("it is a JUnit report");
    assert_eq!((report.tests, report.failures), (2, 0));
}

/// Whether everything that stands in `asked` stands in `known` too: what a schema does not know is lost when it is read.
fn is_known(asked: &Value, known: &Value, at: &str) {
    match (asked, known) {
        (Value::Object(asked), Value::Object(known)) => {
            for (key, value) in asked {
                let found = known.get(key).unwrap_or_else(|| panic!("{at}.{key} is no field"));
                is_known(value, found, &format!("{at}.{key}"));
            }
        }
        (Value::Array(asked), Value::Array(known)) => {
            assert_eq!(asked.len(), known.len(), "{at}");
            asked.iter().zip(known).for_each(|(asked, known)| is_known(asked, known, at));
        }
        _ => assert_eq!(asked, known, "{at}"),
    }
}

#[test]
fn the_example_for_kubernetes_is_a_job_with_a_shard_for_each_index() {
    let text = include_str!("../../examples/kubernetes/sweep-job.yaml");
    let asked: Value = serde_saphyr::from_str(text).expect("it is YAML");
    let job: Job = serde_json::from_value(asked.clone()).expect("it is a Job");
    is_known(&asked, &serde_json::to_value(&job).expect("a Job can be written"), "job");
    let spec = job.spec.expect("a Job has a specification");
    assert_eq!((spec.completions, spec.completion_mode.as_deref()), (Some(8), Some("Indexed")));
    let pod = spec.template.spec.expect("a pod has one, too");
    assert_eq!(pod.restart_policy.as_deref(), Some("Never"), "as a failure policy asks for");
    let script = pod.containers[0].args.as_ref().expect("it is told what to do")[0].clone();
    let shards = format!("--shard \"$JOB_COMPLETION_INDEX/{}\"", spec.completions.unwrap_or_default());
    assert!(script.contains(&shards), "{script}");
    // The command is one that the program takes.
    let line = script.lines().find(|line| line.starts_with("zksim sweep")).expect("it sweeps");
    let line = line.replace("\"$JOB_COMPLETION_INDEX/8\"", "7/8").replace("\"$out\"", "out.jsonl");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words: Vec<&str> =
        line.split(' ').skip(1).map(|word| if word == "1000000" { "8" } else { word }).collect();
    let output = zksim(folder.path(), &words);
    assert_eq!(output.status.code(), Some(2), "one seed of each workload proves nothing");
    assert!(folder.path().join("out.jsonl").exists());
}
