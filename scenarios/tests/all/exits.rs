//! What goes wrong around each verb: a full disk, a closed pipe, a place where nothing can be written, a port that is taken, a
//! name that means nothing. One sentence on stderr, and the documented exit status.

use crate::command::said;
use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A mutant that fails with its first seeds.
const FAILS: &str = "lock-watch-all";

const REGRESSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions/confirmed-unread.json");

const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/ensemble/own.jsonl");

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/hunt/programs");

/// A folder with what the verbs read.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        let desk = Desk(tempfile::tempdir().unwrap());
        let judged =
            desk.zksim(&["run", "lock", "--seed", "3", "--history", "history.jsonl"]).output().unwrap();
        assert_eq!(judged.status.code(), Some(0), "{}", said(&judged));
        let shard = ["sweep", FAILS, "--seeds", "2", "--jobs", "1", "--shrink", "0", "--out", "shard.jsonl"];
        assert_eq!(desk.zksim(&shard).output().unwrap().status.code(), Some(1));
        // A file where a folder is wanted.
        std::fs::write(desk.0.path().join("blocked"), "").unwrap();
        desk
    }

    fn zksim(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zksim"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// The same where no file may grow, as on a disk that is full.
    fn on_a_full_disk(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_zksim")]).args(arguments);
        command.current_dir(&self.0).stdin(Stdio::null());
        command
    }
}

/// Each verb that prints results, as a call that is short.
const PRINTS: &[&[&str]] = &[
    &["list"],
    &["sweep", "lock", "--seeds", "2", "--jobs", "1"],
    &["sweep", FAILS, "--seeds", "2", "--jobs", "1", "--shrink", "5"],
    &["merge", "shard.jsonl"],
    &["mutants", FAILS, "--seeds", "2"],
    &["explore", "barrier", "--faults", "0", "--budget", "1s"],
    &["run", "lock"],
    &["run", "calm-hand-over"],
    &["replay", REGRESSION],
    &["shrink", REGRESSION, "--runs", "2"],
    &["judge", "history.jsonl"],
    &["conformance", SCENARIOS, "--seeds", "1", "--case", "own-leader-returns"],
    &["serve"],
    &["hunt", "--list", "--programs", PROGRAMS],
];

/// What it said on stderr, but for the note that a recording is older than the code.
fn told(output: &Output) -> &str {
    let told = std::str::from_utf8(&output.stderr).unwrap();
    told.strip_prefix("note: the code has changed since this run was recorded, and the run differs now\n")
        .unwrap_or(told)
}

/// The one line that it said on stderr, and nothing else.
fn sentence(output: &Output) -> &str {
    let told = told(output);
    let line = told.strip_prefix("error: ").and_then(|told| told.strip_suffix('\n'));
    line.filter(|line| !line.contains('\n')).unwrap_or_else(|| panic!("not one sentence: {told:?}"))
}

fn is_about_scripts(call: &[&str]) -> bool {
    !matches!(call[0], "serve")
}

/// Each of the calls, for people and for scripts.
fn each_form(call: &[&'static str]) -> Vec<Vec<&'static str>> {
    let mut forms = vec![call.to_vec()];
    if is_about_scripts(call) {
        forms.push([call, &["--format", "json"]].concat());
    }
    forms
}

#[test]
fn results_that_find_no_room_are_told_of() {
    let desk = Desk::new();
    for call in PRINTS.iter().flat_map(|call| each_form(call)) {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = desk.zksim(&call).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}: {}", said(&output));
        assert_eq!(
            sentence(&output),
            "cannot write the results: No space left on device (os error 28)",
            "{call:?}"
        );
    }
}

#[test]
fn a_reader_who_has_gone_is_no_error() {
    let desk = Desk::new();
    for call in PRINTS.iter().flat_map(|call| each_form(call)) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = desk.zksim(&call).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{call:?}: {}", said(&output));
        assert_eq!(told(&output), "", "{call:?}");
    }
}

/// Each option that names a file to write, with a name in a folder that is none.
const WRITES: &[&[&str]] = &[
    &["sweep", "lock", "--seeds", "2", "--out", "blocked/x"],
    &["sweep", "lock", "--seeds", "2", "--junit", "blocked/x"],
    &["merge", "shard.jsonl", "--out", "blocked/x"],
    &["merge", "shard.jsonl", "--junit", "blocked/x"],
    &["mutants", FAILS, "--seeds", "2", "--junit", "blocked/x"],
    &["explore", "barrier", "--faults", "0", "--budget", "1s", "--checkpoint", "blocked/x"],
    &["run", "lock", "--history", "blocked/x"],
    &["run", "lock", "--html", "blocked/x"],
    &["run", "calm-hand-over", "--history", "blocked/x"],
    &["replay", REGRESSION, "--html", "blocked/x"],
    &["shrink", REGRESSION, "--runs", "2", "--out", "blocked/x"],
    &["judge", "history.jsonl", "--html", "blocked/x"],
    &["serve", "--history", "blocked/x"],
];

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let desk = Desk::new();
    for call in WRITES {
        let output = desk.zksim(call).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}: {}", said(&output));
        let why = sentence(&output);
        assert!(
            why.contains("blocked/x") && why.ends_with("Not a directory (os error 20)"),
            "{call:?}: {why}"
        );
    }
}

#[test]
fn a_folder_for_failures_that_cannot_be_made_is_named() {
    let desk = Desk::new();
    std::fs::remove_dir_all(desk.0.path().join("target")).unwrap();
    std::fs::write(desk.0.path().join("target"), "").unwrap();
    for call in
        [&["sweep", FAILS, "--seeds", "2"][..], &["run", FAILS, "--seed", "0"], &["shrink", REGRESSION]]
    {
        let output = desk.zksim(call).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}: {}", said(&output));
        assert!(sentence(&output).contains("target/sim"), "{call:?}: {}", said(&output));
    }
}

/// Each file that is read.
const READS: &[&[&str]] = &[
    &["sweep", "lock", "--plan", "missing"],
    &["merge", "missing"],
    &["mutants", "--write-readme=missing"],
    &["explore", "--resume", "missing"],
    &["run", "lock", "--plan", "missing"],
    &["judge", "missing"],
    &["conformance", "missing"],
    &["serve", "--plan", "missing"],
    &["hunt", "--programs", "missing"],
    &["replay", "missing"],
    &["shrink", "missing"],
];

#[test]
fn a_file_that_is_not_there_is_named() {
    let desk = Desk::new();
    for call in READS {
        let output = desk.zksim(call).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}: {}", said(&output));
        let why = sentence(&output);
        assert!(why.contains("missing"), "{call:?}: {why}");
        assert_eq!(why.matches("os error").count(), why.matches("No such file").count(), "told once: {why}");
        assert!(why.matches("No such file").count() <= 1, "told once: {why}");
    }
}

#[test]
fn a_port_that_is_taken_is_told_once() {
    let desk = Desk::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for call in [["serve", "--port", &port], ["serve", "--control-port", &port]] {
        let output = desk.zksim(&call).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}: {}", said(&output));
        let why = format!("cannot listen on 127.0.0.1:{port}: Address already in use (os error 98)");
        assert_eq!(sentence(&output), why, "{call:?}");
    }
}

#[test]
fn a_disk_that_is_full_is_told_of_with_the_file() {
    let desk = Desk::new();
    let writes: &[(&[&str], &str)] = &[
        (&["run", "lock", "--history", "history-of-run.jsonl"], "history-of-run.jsonl"),
        (&["run", "lock", "--html", "page.html"], "page.html"),
        (&["run", FAILS, "--seed", "0"], "target/sim/"),
    ];
    for (call, file) in writes {
        let output = desk.on_a_full_disk(call).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}: {}", said(&output));
        let why = sentence(&output);
        assert!(why.contains(file) && why.ends_with("File too large (os error 27)"), "{call:?}: {why}");
    }
}

/// A name that means nothing, and what is said of it.
const NAMES: &[(&[&str], &str)] = &[
    (&["sweep", "lokc"], r#"there is no workload, mutant or story called "lokc"; did you mean "lock"?"#),
    (
        &["sweep", "lost-create-reply"],
        "lost-create-reply is a story, not a workload or mutant: `cargo sim run lost-create-reply` runs it",
    ),
    (
        &["explore", "lost-create-reply"],
        "lost-create-reply is a story, not a workload or mutant: `cargo sim run lost-create-reply` runs it",
    ),
    (
        &["real", "lost-create-reply"],
        "lost-create-reply is a story, not a workload or mutant: `cargo sim run lost-create-reply` runs it",
    ),
    (
        &["mutants", "lost-create-reply"],
        "lost-create-reply is a story, not a mutant: `cargo sim run lost-create-reply` runs it",
    ),
    (&["run", "zebra"], "`cargo sim list` lists all of them"),
    (&["explore", "zebra"], "`cargo sim list` lists all of them"),
    (
        &["explore", "lock", "--fault-kinds", "nosuch"],
        r#"there is no fault called "nosuch"; there are request-lost, "#,
    ),
    (&["explore", "lock", "--fault-kinds", "reply-lst"], r#"did you mean "reply-lost"?"#),
    (&["real", "lock", "--faults", "zebra"], r#"there is no fault called "zebra"; there are "#),
    (&["conformance", SCENARIOS, "--case", "zebra"], r#"there is no case called "zebra""#),
    (&["hunt", "zebra", "--programs", PROGRAMS], r#"there is no program "zebra"; there are "#),
    (&["control", "http://127.0.0.1:1", "qqqqqqqq"], r#"there is no verb "qqqqqqqq"; there are "#),
    (&["control", "http://127.0.0.1:1", "status"], "no answer from http://127.0.0.1:1: "),
    (&["replay", "zebra"], r#""zebra" is neither a file nor the code of a run"#),
];

#[test]
fn a_name_that_means_nothing_gets_those_that_do() {
    let desk = Desk::new();
    for (call, told) in NAMES {
        let output = desk.zksim(call).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{call:?}: {}", said(&output));
        assert!(sentence(&output).contains(told), "{call:?}: {}", said(&output));
    }
}

#[test]
fn one_of_something_is_not_several() {
    let desk = Desk::new();
    let one = r#"{"clients": 1, "rounds": 1, "timeout_ms": 6000, "hostile_ms": 30000, "faults": 1, "rates": {"reply-lost": 0.01, "disconnect": 0.01}}"#;
    std::fs::write(desk.0.path().join("one.json"), one).unwrap();
    let told = |call: &[&str]| said(&desk.zksim(call).output().unwrap());
    let run = told(&["run", "lock", "--plan", "one.json"]);
    assert!(run.contains("1 server, 1 client, 1 round, session 6000 ms, at most 1 fault within"), "{run}");
    let swept = told(&["sweep", "lock", "--seeds", "1", "--jobs", "1", "--plan", "one.json"]);
    assert!(swept.contains("lock: 1 run in ") && swept.contains(" on 1 thread; "), "{swept}");
    let none = r#"{"clients": 1, "rounds": 1, "timeout_ms": 6000, "hostile_ms": 0, "faults": 1, "rates": {"reply-lost": 0.01, "disconnect": 0.01}}"#;
    std::fs::write(desk.0.path().join("none.json"), none).unwrap();
    let swept = told(&["sweep", "lock", "--seeds", "1", "--plan", "none.json"]);
    assert!(swept.contains("disconnect were never injected; run more seeds"), "{swept}");
    let explored =
        told(&["explore", "barrier", "--faults", "1", "--budget", "1s", "--fault-kinds", "reply-lost"]);
    assert!(explored.contains("1 server, 2 clients, 1 round, at most 1 fault of reply-lost"), "{explored}");
}

#[test]
fn the_help_says_what_each_exit_status_means() {
    let help = said(&Desk::new().zksim(&["--help"]).output().unwrap());
    for status in ["0    all rules held", "1    ", "2    ", "3    ", "130  ", "141  "] {
        assert!(help.contains(&format!("\n  {status}")), "{status}: {help}");
    }
    assert!(Path::new(SCENARIOS).exists());
}
