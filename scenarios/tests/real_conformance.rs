//! `cargo sim conformance`, as it is called: cases on an Apache ZooKeeper server that it starts, or on one that runs.
//!
//! Where none is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

mod common;

use serde_json::Value;
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;
use zk_scenarios::real::Server;

/// Two sessions: a watch fires, and the session that set it is told.
const WATCH: &str = r#"{"id": "watch", "config": "default", "steps": [
    {"session": "a", "op": "connect", "timeout": 5000},
    {"session": "b", "op": "connect", "timeout": 5000},
    {"session": "b", "op": "exists", "path": "/x", "watch": true},
    {"session": "a", "op": "create", "path": "/x", "mode": "ephemeral"},
    {"session": "b", "op": "getChildren2", "path": "/x", "watch": true},
    {"session": "a", "op": "close"},
    {"op": "zxid"}
], "expect": [
    {"connected": true, "timeout": 5000, "readonly": false},
    {"connected": true, "timeout": 5000, "readonly": false},
    {"err": "NoNode", "zxid": 2},
    {"err": "OK", "zxid": 3, "path": "/x", "events": {"b": [["NodeCreated", "/x"]]}},
    {"err": "OK", "zxid": 3, "children": [], "stat": {"version": 0, "cversion": 0, "aversion": 0, "dataLength": 0,
        "numChildren": 0, "czxid": 3, "mzxid": 3, "pzxid": 3, "ephemeralOwner": "a"}},
    {"err": "OK", "zxid": 4, "closed": true, "events": {"b": [["NodeDeleted", "/x"]]}},
    {"zxid": 4}
]}"#;

/// Requests in one piece: replies and a notification between them come in their order.
const PIPELINE: &str = r#"{"id": "pipeline", "config": "default", "steps": [
    {"session": "a", "op": "connect", "timeout": 5000},
    {"session": "a", "op": "exists", "path": "/x", "watch": true},
    {"session": "a", "op": "pipeline", "ops": [{"op": "sync", "path": "/"}, {"op": "create", "path": "/x"},
        {"op": "multi", "ops": [{"op": "check", "path": "/x", "version": 0}, {"op": "delete", "path": "/y"}]}]}
], "expect": [
    {"connected": true, "timeout": 5000, "readonly": false},
    {"err": "NoNode", "zxid": 1},
    {"stream": [{"reply": {"err": "OK", "zxid": 1, "path": "/", "i": 0}}, {"event": ["NodeCreated", "/x"]},
        {"reply": {"err": "OK", "zxid": 2, "path": "/x", "i": 1}},
        {"reply": {"err": "OK", "zxid": 3, "results": [{"error": "OK"}, {"error": "NoNode"}], "i": 2}}]}
]}"#;

/// A session that changes connections: by a reset, with a wrong password, over a restart.
const MOVES: &str = r#"{"id": "moves", "config": "default", "steps": [
    {"session": "a", "op": "connect", "timeout": 5000},
    {"session": "a", "op": "create", "path": "/x", "data": "d"},
    {"session": "a", "op": "drop", "rst": true},
    {"session": "a", "op": "getData", "path": "/x"},
    {"session": "a", "op": "reconnect", "last_zxid": "seen"},
    {"session": "a", "op": "reconnect", "passwd": "bad"},
    {"session": "a", "op": "reconnect", "last_zxid": 50},
    {"op": "restart_server"},
    {"session": "a", "op": "reconnect", "timeout": 3000},
    {"session": "a", "op": "getData", "path": "/x"}
], "expect": [
    {"connected": true, "timeout": 5000, "readonly": false},
    {"err": "OK", "zxid": 2, "path": "/x"},
    {},
    {"disconnected": true},
    {"connected": true, "timeout": 5000, "same_session": true},
    {"expired": true, "session_zero": true, "passwd_zero": true, "old_closed": true},
    {"refused": true},
    {"restarted": true},
    {"connected": true, "timeout": 3000, "same_session": true},
    {"err": "OK", "zxid": 2, "data": "d", "stat": {"version": 0, "cversion": 0, "aversion": 0, "dataLength": 1,
        "numChildren": 0, "czxid": 2, "mzxid": 2, "pzxid": 2, "ephemeralOwner": 0}}
]}"#;

/// A file of these cases, each on a line.
fn file(cases: &[&str]) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = cases.iter().map(|case| case.replace('\n', " ")).collect();
    let path = folder.path().join("cases.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

fn conformance(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zksim"));
    command.arg("conformance").args(arguments).current_dir(folder.path()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A server, or `None` and a word about it where none is installed.
fn server() -> Option<Server> {
    common::server(Duration::from_millis(500))
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
    refused(&path, &[], "--real");
    refused("nowhere.jsonl", &["--real"], "cannot read the cases in nowhere.jsonl");
}
