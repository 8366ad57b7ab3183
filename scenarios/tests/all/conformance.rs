//! `cargo sim conformance`, as it is called: recorded cases of a real server on the simulation.

use crate::cases::{MOVES, PIPELINE, WATCH, conformance, file};
use crate::command::{refused, said};
use crate::served::Served;
use serde_json::Value;

#[test]
fn the_simulation_answers_as_the_cases_say() {
    let (_folder, path) = file(&[WATCH, PIPELINE, MOVES]);
    let output = conformance(&[&path]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("3 of 3 cases pass"), "{}", said(&output));
}

#[test]
fn what_differed_is_shown_as_a_table() {
    let (_folder, path) = file(&[&WATCH.replace(r#""NodeDeleted""#, r#""NodeCreated""#), PIPELINE]);
    let output = conformance(&[&path]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    for told in [
        "line 1 of",
        r#"step 6, a close: events.b should be [["NodeCreated","/x"]] and is [["NodeDeleted","/x"]]"#,
        r#"watch  6 a close  events.b  [["NodeCreated","/x"]]  [["NodeDeleted","/x"]]"#,
        "1 of 2 cases pass, 1 differ, 0 were skipped",
    ] {
        assert!(said(&output).contains(told), "{told}: {}", said(&output));
    }
}

#[test]
fn every_case_is_a_line_for_scripts() {
    let (_folder, path) =
        file(&[WATCH, &PIPELINE.replace(r#""err": "NoNode", "zxid": 1"#, r#""err": "OK""#)]);
    let output = conformance(&[&path, "--format", "json"]);
    let lines: Vec<Value> = said(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |line: usize, fields: [&str; 3]| fields.map(|field| lines[line][field].clone());
    assert_eq!(told(0, ["kind", "id", "verdict"]), ["case", "watch", "pass"]);
    assert_eq!(told(1, ["kind", "id", "verdict"]), ["case", "pipeline", "differ"]);
    assert_eq!(told(2, ["kind", "verdict", "runs"]), [Value::from("summary"), "fail".into(), 2.into()]);
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn a_case_that_restarts_its_server_is_played_on_a_served_one_by_its_control_api() {
    let (served, other) = (Served::start(&[]), Served::start(&[]));
    let (_folder, path) = file(&[MOVES]);
    let on =
        |more: &[&str]| conformance(&[&[path.as_str(), "--connect", &served.addresses[0]], more].concat());
    assert!(said(&on(&[])).contains("it restarts the server, which this program did not start"));
    let output = on(&["--control", &served.control]);
    assert!(said(&output).contains("1 of 1 cases pass"), "{}", said(&output));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(served.told(&["history"]).matches("server_crash").count(), 2, "its begin and its end");
    let address = &served.addresses[0];
    let why = format!("the ensemble of {} has no server at {address}", other.control);
    assert_eq!(refused(&on(&["--control", &other.control])), why);
}

#[test]
fn a_file_that_is_wrong_gets_a_sentence_with_its_line() {
    let refused = |path: &str, sentence: &str| {
        let output = conformance(&[path]);
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        assert!(said(&output).contains(sentence), "{sentence}: {}", said(&output));
    };
    let (_folder, path) = file(&[WATCH, &PIPELINE.replace(r#""steps""#, r#""stepps""#)]);
    refused(&path, &format!("line 2 of {path} is not a case: unknown field `stepps`"));
    let (_folder, path) = file(&[WATCH, "nonsense"]);
    refused(&path, &format!("line 2 of {path} is not a case: expected ident"));
    let (_folder, path) = file(&[&WATCH.replace("default", "fast")]);
    refused(&path, "there is no server configuration \"fast\"");
    let (_folder, path) =
        file(&[&WATCH.replace(r#""op": "zxid""#, r#""op": "wait", "ms": 18446744073709551615"#)]);
    refused(&path, "is not a case: step 7, wait: it takes longer than an hour");
    let (_folder, path) = file(&[]);
    refused(&path, "there is no case in");
    refused("nowhere.jsonl", "cannot read the cases in nowhere.jsonl");
}
