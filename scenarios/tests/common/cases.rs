//! Cases for tests: sessions, watches, pipelines, moves from connection to connection.

use std::process::{Command, Output};
use tempfile::TempDir;

/// Two sessions: a watch fires, and the session that set it is told.
pub const WATCH: &str = r#"{"id": "watch", "config": "default", "steps": [
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
pub const PIPELINE: &str = r#"{"id": "pipeline", "config": "default", "steps": [
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
pub const MOVES: &str = r#"{"id": "moves", "config": "default", "steps": [
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
pub fn file(cases: &[&str]) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = cases.iter().map(|case| case.replace('\n', " ")).collect();
    let path = folder.path().join("cases.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

/// Calls `cargo sim conformance`.
pub fn conformance(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zksim"));
    command.arg("conformance").args(arguments).current_dir(folder.path()).output().unwrap()
}
