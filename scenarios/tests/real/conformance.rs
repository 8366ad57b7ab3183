//! `cargo sim conformance`, as it is called: cases on an Apache ZooKeeper server that it starts, or on one that runs.
//!
//! Where none is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::cases::{MOVES, PIPELINE, WATCH, conformance, file};
use crate::common::command::said;
use serde_json::Value;
use std::time::Duration;
use zk_real::Server;

/// A server, or `None` and a word about it where none is installed.
fn server() -> Option<Server> {
    crate::common::server(Duration::from_millis(500))
}

#[test]
fn a_server_of_our_own_answers_as_the_cases_say() {
    if server().is_none() {
        return;
    }
    let (_folder, path) = file(&[WATCH, PIPELINE, MOVES]);
    let output = conformance(&[&path, "--real"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("3 of 3 cases pass"), "{}", said(&output));
}

#[test]
fn a_server_of_others_is_left_empty_and_the_first_difference_is_shown() {
    let Some(server) = server() else { return };
    let wrong = WATCH.replace(r#""NodeDeleted""#, r#""NodeCreated""#);
    let (_folder, path) = file(&[&wrong, PIPELINE, MOVES]);
    let address = server.address();
    let output = conformance(&[&path, "--connect", &address]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let difference =
        r#"step 6, a close: events.b should be [["NodeCreated","/x"]] and is [["NodeDeleted","/x"]]"#;
    for told in
        ["line 1 of", difference, "it restarts the server", "1 of 2 cases pass, 1 differ, 1 were skipped"]
    {
        assert!(said(&output).contains(told), "{told}: {}", said(&output));
    }
    let again = conformance(&[&path, "--connect", &address, "--case", "pipeline", "--format", "json"]);
    let lines: Vec<Value> = said(&again).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["kind"], &lines[0]["verdict"]), (&"case".into(), &"pass".into()), "{lines:?}");
    assert_eq!((&lines[1]["kind"], &lines[1]["runs"]), (&"summary".into(), &1.into()), "{lines:?}");
    assert!(!server.ask("dump").unwrap().contains("\t0x"), "no session is left");
}

#[test]
fn a_file_that_is_wrong_gets_a_sentence_with_its_line() {
    let (_folder, path) =
        file(&[WATCH, &PIPELINE.replace(r#""mode""#, r#""mood""#).replace("\"watch\"", "\"wacth\"")]);
    let refused = |path: &str, arguments: &[&str], sentence: &str| {
        let output = conformance(&[&[path], arguments].concat());
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        assert!(said(&output).contains(sentence), "{sentence}: {}", said(&output));
    };
    refused(&path, &["--real"], &format!("line 2 of {path} is not a case: unknown field `wacth`"));
    let (_folder, path) = file(&[&WATCH.replace("getChildren2", "getKids")]);
    refused(&path, &["--real"], "is not a case: step 5, getKids: there is no operation \"getKids\"");
    let (_folder, path) = file(&[&WATCH.replace("default", "fast")]);
    refused(&path, &["--real"], "there is no server configuration \"fast\"");
    refused(&path, &["--real", "--case", "wacth"], "did you mean \"watch\"?");
    refused(&path, &["--connect", "127.0.0.1:1"], "no ZooKeeper server can be reached at 127.0.0.1:1");
    refused(&path, &["--real", "--connect", "127.0.0.1:1"], "cannot be used with");
    refused("nowhere.jsonl", &["--real"], "cannot read the cases in nowhere.jsonl");
}
