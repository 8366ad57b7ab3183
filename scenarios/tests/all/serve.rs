//! `zksim serve`, as it is called: what it prints, and that a socket changes no answer of the simulation.

use crate::cases::{PIPELINE, WATCH, conformance, file};
use crate::command::{refused, said, wait_until};
use crate::refusals;
use crate::served::{Served, answered, zksim};
use crate::waits::{connected, run};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};
use zk_recipes::zk::{CreateMode, ErrorKind, ZooKeeper};

#[test]
fn recorded_cases_show_no_difference_over_the_socket() {
    let served = Served::start(&[]);
    let (_folder, path) = file(&[WATCH, PIPELINE]);
    let output = conformance(&[&path, "--connect", &served.addresses[0]]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("2 of 2 cases pass"), "{}", said(&output));
}

#[test]
fn every_member_has_a_port_and_answers_to_four_letter_words() {
    let served = Served::start(&["--servers", "3"]);
    assert_eq!(served.addresses.len(), 3);
    let mut modes = Vec::new();
    for member in 0..3 {
        assert_eq!(served.answer(member, b"ruok"), "imok");
        let told = served.answer(member, b"srvr");
        modes.extend(told.lines().filter_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned));
        assert!(served.answer(member, b"mntr").contains("zk_watch_count\t0\n"));
        assert!(served.answer(member, b"cons").contains("[0](queued=0,recved=1,sent=0)\n"));
        assert!(served.answer(member, b"stat").contains("Clients:\n /127.0.0.1:"));
        assert!(served.answer(member, b"wchs").ends_with("Total watches:0\n"));
    }
    modes.sort();
    assert_eq!(modes, ["follower", "follower", "leader"]);
    assert!(served.answer(0, b"conf").starts_with("clientPort="));
    assert_eq!(served.answer(0, b"isro"), "rw");
    // No word, but the length of a frame that is too long.
    assert_eq!(served.answer(0, b"kill"), "");
}

#[test]
fn authentication_that_cannot_be_is_refused_as_by_a_real_server() {
    let served = Served::start(&["--servers", "3"]);
    for address in &served.addresses {
        for (name, frames, answers) in refusals::table() {
            assert_eq!(refusals::answers(address, &frames), answers, "{name}, at {address}");
        }
    }
}

#[test]
fn a_member_without_a_quorum_hangs_up_on_every_client() {
    let served = zk_serve::Server::start(&zk_serve::Options { servers: 3, ..Default::default() }).unwrap();
    for server in [1, 2] {
        served.perform("crash", serde_json::json!({ "server": server })).unwrap();
    }
    let survivor = served.addresses()[0].to_string();
    // It loses its quorum within a tick; each question takes a connection.
    let is_alone = (0..1_000_000).any(|_| refusals::word(&survivor, "isro") == "null");
    assert!(is_alone, "a member without a quorum does not serve");
    refusals::does_not_serve(&survivor);
}

#[test]
fn every_member_tells_the_addresses_of_all() {
    let served = Served::start(&["--servers", "3"]);
    let port = |member: usize| served.addresses[member].rsplit_once(':').unwrap().1;
    let lines = [
        format!("server.1=127.0.0.1:2888:3888:participant;127.0.0.1:{}", port(0)),
        format!("server.2=127.0.0.1:2889:3889:participant;127.0.0.1:{}", port(1)),
        format!("server.3=127.0.0.1:2890:3890:participant;127.0.0.1:{}", port(2)),
        "version=0".to_owned(),
    ];
    for address in &served.addresses {
        let (data, stat) = refusals::data_and_stat(address, "/zookeeper/config");
        assert_eq!(data, lines.join("\n"));
        assert_eq!((stat.version, stat.czxid, stat.mzxid, stat.aversion), (-1, 0, 0, -1));
    }
    let alone = Served::start(&[]);
    assert_eq!(refusals::data_and_stat(&alone.addresses[0], "/zookeeper/config").0, "");
}

#[test]
fn nonsense_closes_its_own_connection_and_no_other() {
    let served = Served::start(&[]);
    let mut half = TcpStream::connect(&served.addresses[0]).unwrap();
    half.write_all(&[0, 0, 0]).unwrap();
    for nonsense in [&[0x7f, 0xff, 0xff, 0xff][..], &[0, 0, 0, 0], &[0, 0, 0, 3, 1, 2, 3]] {
        assert_eq!(served.answer(0, nonsense), "");
    }
    assert_eq!(served.answer(0, b"ruok"), "imok");
    half.shutdown(Shutdown::Write).unwrap();
    let mut rest = Vec::new();
    assert_eq!(half.read_to_end(&mut rest).unwrap(), 0, "a client that hangs up is hung up on");
}

#[test]
fn a_time_without_length_gets_one_sentence() {
    for (option, why) in [
        ("--tick", "a tick must be longer than 0"),
        ("--reap-every", "the period of deleting empty containers must be longer than 0"),
    ] {
        let output = zksim().args(["serve", option, "0s"]).output().unwrap();
        assert_eq!(refused(&output), why);
    }
}

#[test]
fn a_port_in_use_gets_one_sentence() {
    let served = Served::start(&[]);
    let (_, port) = served.addresses[0].rsplit_once(':').unwrap();
    let output = zksim().args(["serve", "--port", port]).output().unwrap();
    assert!(refused(&output).starts_with(&format!("cannot listen on 127.0.0.1:{port}: ")), "{output:?}");
}

/// Two clients that report a lock, one after the other or both at once.
async fn hold(served: &Served, events: &[(usize, &str)]) {
    let clients = [served.client().await, served.client().await];
    for (who, event) in events {
        let client = format!("client={:#x}", clients[*who].session().0);
        served.told(&["report", &client, &format!("event={event}"), "kind=lock", "object=/lock"]);
    }
}

const BOTH: [(usize, &str); 2] = [(0, "acquired"), (1, "acquired")];
const IN_TURN: [(usize, &str); 4] = [(0, "acquired"), (0, "released"), (1, "acquired"), (1, "released")];

#[test]
fn sigterm_ends_it_with_the_verdict_as_its_exit_status_and_judge_agrees() {
    for (events, status, verdict) in [(&IN_TURN[..], 0, "pass"), (&BOTH, 1, "fail"), (&[], 0, "vacuous")] {
        let folder = tempfile::tempdir().unwrap();
        let history = folder.path().join("history.jsonl");
        let served = Served::start(&["--check", "--history", history.to_str().unwrap()]);
        if !events.is_empty() {
            run(hold(&served, events));
        }
        let asked = served.control(&["verdict"]);
        let output = served.terminate();
        let judged = zksim().arg("judge").arg(&history).output().unwrap();
        for (output, told) in [(&asked, &asked.stdout), (&output, &output.stderr), (&judged, &judged.stdout)]
        {
            assert_eq!(output.status.code(), Some(status), "{}", said(output));
            assert!(String::from_utf8_lossy(told).starts_with(verdict), "{}", said(output));
        }
        assert_eq!(String::from_utf8_lossy(&judged.stdout), String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn judge_finds_what_is_on_the_wire_too() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history.jsonl");
    let served = Served::start(&["--check", "--history", history.to_str().unwrap()]);
    run(async {
        let zk = served.client().await;
        zk.create("/locks", b"", CreateMode::Persistent).await.unwrap();
        // The create is repeated, as a client does that does not look for its own znode first.
        served.told(&["lose-reply", "op=create", "path=/locks/"]);
        let path = "/locks/lock-";
        let lost = zk.create(path, b"", CreateMode::EphemeralSequential).await;
        assert_eq!(lost.map(|made| made.path), Err(ErrorKind::ConnectionLoss.into()));
        while zk.create(path, b"", CreateMode::EphemeralSequential).await.is_err() {}
    });
    let output = served.terminate();
    let judged = zksim().arg("judge").arg(&history).output().unwrap();
    assert_eq!(judged.status.code(), output.status.code(), "{}", said(&judged));
    assert_eq!(String::from_utf8_lossy(&judged.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said(&judged).contains("/locks"), "{}", said(&judged));
}

#[test]
fn a_history_longer_than_is_kept_is_judged_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history.jsonl");
    let most = ["--check", "--most-events", "40", "--history", history.to_str().unwrap()];
    let given_up = "the history is kept up to event 40; later events are judged and not kept";
    for (events, status) in [(&IN_TURN[..], 0), (&BOTH, 1)] {
        let served = Served::start(&most);
        run(async {
            let zk = served.client().await;
            for _ in 0..20 {
                zk.exists("/").await.unwrap();
            }
            hold(&served, events).await;
        });
        assert_eq!(served.control(&["verdict"]).status.code(), Some(status));
        assert!(served.told(&["status"]).contains(&format!("given up: {given_up}\n")));
        let output = served.terminate();
        assert_eq!(output.status.code(), Some(status), "{}", said(&output));
        assert!(said(&output).contains(&format!("warning: {given_up}\n")), "{}", said(&output));
        // What is kept is the begin, and nobody takes it for the whole.
        let judged = zksim().arg("judge").arg(&history).output().unwrap();
        assert_eq!(judged.status.code(), Some(2), "{}", said(&judged));
    }
}

#[test]
fn an_expiry_that_a_client_ignores_is_never_excused_first_and_condemned_later() {
    let served = Served::start(&["--check"]);
    run(async {
        let clients = [served.client().await, served.client().await];
        let client = |who: usize| format!("client={:#x}", clients[who].session().0);
        let acquired = |who: usize| {
            served.told(&["report", &client(who), "event=acquired", "kind=lock", "object=/lock"]);
        };
        acquired(0);
        served.told(&["expire", &client(0)]);
        acquired(1);
        let early = served.control(&["verdict"]);
        assert!(!said(&early).contains("unavoidable"), "{}", said(&early));
        assert_ne!(early.status.code(), Some(0), "{}", said(&early));
        let decided = served.control(&["verdict", "wait=true"]);
        assert_eq!(decided.status.code(), Some(1), "{}", said(&decided));
        assert!(["MX-2", "MX-14"].iter().all(|rule| said(&decided).contains(rule)), "{}", said(&decided));
    });
    assert_eq!(served.terminate().status.code(), Some(1));
}

#[test]
fn a_client_that_gives_up_within_a_second_after_an_expiry_is_right() {
    // A busy machine may take longer for the requests in between: then the verdict says nothing.
    let mut tries = (0..20).map(|_| gives_up_after_an_expiry());
    let in_time = tries.find(|(took, _)| *took < Duration::from_secs(1));
    let (_, status) = in_time.expect("two requests take less than a second, once in twenty times");
    assert_eq!(status, Some(0));
}

/// A client that gives up after its session has expired: the time that this took at most, and the status of the judge.
fn gives_up_after_an_expiry() -> (Duration, Option<i32>) {
    let served = Served::start(&["--check"]);
    let took = run(async {
        let clients = [served.client().await, served.client().await];
        let client = |who: usize| format!("{:#x}", clients[who].session().0);
        let report = |who: usize, event: &str| {
            let fields = json!({"client": client(who), "event": event, "kind": "lock", "object": "/lock"});
            assert_eq!(answered(served.ask("report", &fields)).0, 200);
        };
        report(0, "acquired");
        let before = now();
        assert_eq!(answered(served.ask("expire", &json!({"client": client(0)}))).0, 200);
        report(0, "released");
        let took = before.elapsed();
        report(1, "acquired");
        took
    });
    (took, served.terminate().status.code())
}

#[expect(clippy::disallowed_methods, reason = "a served ensemble's time is that of the clock")]
fn now() -> Instant {
    Instant::now()
}

/// Runs the program where no file may grow: as on a full disk, nothing can be written into one.
#[cfg(target_os = "linux")]
fn on_a_full_disk(arguments: &[&str]) -> Output {
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script]).arg(zksim().get_program()).args(arguments).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_neither_the_verdict_nor_the_file_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history.jsonl");
    std::fs::write(&history, "what was there before\n").unwrap();
    let (_folder, plan) = plan("{\"at\": \"100ms\", \"verb\": \"shutdown\"}\n");
    let output =
        on_a_full_disk(&["serve", "--check", "--plan", &plan, "--history", history.to_str().unwrap()]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.starts_with("vacuous\n"), "{told}");
    let error = format!("error: cannot write {}: File too large (os error 27)\n", history.display());
    assert!(told.ends_with(&error), "{told}");
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert_eq!(std::fs::read_to_string(&history).unwrap(), "what was there before\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "half a file is left");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_named_and_the_verdict_is_told() {
    let (_folder, plan) = plan("{\"at\": \"100ms\", \"verb\": \"shutdown\"}\n");
    let output =
        zksim().args(["serve", "--check", "--plan", &plan, "--history", "/dev/full"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.starts_with("vacuous\n"), "{told}");
    assert!(
        told.ends_with("error: cannot write /dev/full: No space left on device (os error 28)\n"),
        "{told}"
    );
    assert_eq!(output.status.code(), Some(3), "{told}");
}

#[test]
fn a_history_that_is_there_stays_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history.jsonl");
    let long = "what was there before\n".repeat(1000);
    std::fs::write(&history, &long).unwrap();
    let served = Served::start(&["--history", history.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&history).unwrap(), long);
    assert!(served.terminate().status.success());
    let text = std::fs::read_to_string(&history).unwrap();
    assert!(text.starts_with("{\"header\":") && !text.contains("before"), "{text}");
}

fn plan(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.jsonl");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn the_last_of_two_equal_options_counts() {
    assert_eq!(Served::start(&["--servers", "3", "--servers", "1"]).addresses.len(), 1);
}

#[test]
fn a_plan_is_carried_out_and_what_it_cannot_have_is_told() {
    let (_folder, path) = plan(concat!(
        "{\"at\": \"0s\", \"verb\": \"crash\", \"server\": 1}\n\n",
        "{\"at\": \"1ms\", \"verb\": \"expire\", \"client\": \"bob\"}\n",
        "{\"at\": \"2ms\", \"verb\": \"shutdown\"}\n",
    ));
    let mut served = Served::start(&["--servers", "3", "--plan", &path, "--check"]);
    let output = served.process.output();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("warning: the plan at 1ms was refused: there is no client \"bob\"\n"), "{told}");
    assert!(told.contains("1 × server_crash"), "{told}");
}

#[test]
fn a_bad_plan_gets_the_number_of_its_line_and_one_sentence() {
    for (line, why) in [
        ("{\"verb\": \"heal\"}", "needs `at`"),
        ("{\"at\": 2, \"verb\": \"heal\"}", "`at` must be a duration such as \"500ms\", not 2"),
        ("{\"at\": \"2\", \"verb\": \"heal\"}", "\"2\" is not a duration such as 500ms, 60s or 5m"),
        ("{\"at\": \"2s\"}", "needs `verb`"),
        ("{\"at\": \"2s\", \"verb\": \"status\"}", "status is a question; a plan has commands"),
        ("{\"at\": \"2s\", \"verb\": \"verdict\"}", "verdict is a question, not a command"),
        (
            "{\"at\": \"2s\", \"verb\": \"crash\", \"server\": 1}",
            "there is no server 1: the only one has the number 0",
        ),
        ("{\"at\": \"2s\", \"verb\": \"mute\"}", "mute: missing field `for`"),
        ("[]", "it is not a JSON object"),
        ("{\"at\": \"2s\",}", "it is not JSON from column 13 on"),
    ] {
        let (_folder, path) = plan(&format!("\n{line}\n"));
        let output = zksim().args(["serve", "--plan", &path]).output().unwrap();
        assert_eq!(refused(&output), format!("line 2 of the plan {path}: {why}"));
    }
}

#[test]
fn rates_draw_faults_by_their_seed() {
    let faults = |seed: &str| {
        let served = Served::start(&["--rates", "reply-lost=0.25", "--seed", seed]);
        let mut lost = Vec::new();
        run(async {
            let zk = served.client().await;
            for _ in 0..30 {
                connected(&zk).await;
                lost.push(zk.exists("/").await.is_err());
            }
        });
        assert!(lost.contains(&true) && lost.contains(&false), "{lost:?}");
        lost
    };
    assert_eq!(faults("7"), faults("7"));
    assert_ne!(faults("7"), faults("8"));
    for (rates, why) in [
        ("reply-lost", "\"reply-lost\" is not a fault and its rate, such as reply-lost=0.01"),
        ("reply-lostt=0.1", "there is no fault \"reply-lostt\"; did you mean \"reply-lost\"?"),
        ("reply-lost=0.5", "the rate of reply-lost is 0.5; rates are from 0 to 0.25"),
        ("packets-lost=0.1", "packets-lost is injected by a command, and is not drawn"),
    ] {
        let output = zksim().args(["serve", "--rates", rates]).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert!(said(&output).contains(why), "{}", said(&output));
    }
}

/// Reports of two clients on one lock, as lines.
fn lines(events: &[(&str, &str)]) -> String {
    events.iter().map(|(client, event)| format!("{client} {event} lock /lock\n")).collect()
}

/// What was told of a bad line, and that the reports around it count: two hold at once.
fn told_of_both(output: &Output) {
    let told = String::from_utf8_lossy(&output.stderr);
    let bad = "warning: the report \"nonsense\" was refused: \"nonsense\" is not a report: client event kind object item\n";
    assert!(told.starts_with(bad), "{told}");
    assert!(told.contains("MX-3") && told.contains("client-1 held since"), "{told}");
    assert_eq!(output.status.code(), Some(1), "{told}");
}

#[test]
fn reports_come_by_standard_input_and_its_end_is_not_that_of_the_ensemble() {
    let mut served = Served::start(&["--check", "--reports", "-"]);
    let mut stdin = served.process.stdin();
    run(async {
        let _clients = [served.client().await, served.client().await];
        // What is in the pipe when the ensemble ends is read.
        stdin.write_all(b"nonsense\n").unwrap();
        stdin.write_all(lines(&[("client-1", "acquired"), ("client-2", "acquired")]).as_bytes()).unwrap();
        drop(stdin);
        assert!(served.told(&["status"]).contains("2 sessions"));
    });
    told_of_both(&served.terminate());
}

#[test]
fn what_is_in_the_pipe_at_the_end_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history.jsonl");
    let mut served = Served::start(&["--reports", "-", "--history", history.to_str().unwrap()]);
    let mut stdin = served.process.stdin();
    run(async {
        let _client = served.client().await;
        // More than a pipe holds, so that it is full when the ensemble ends.
        let puts: String = (0..5000).map(|item| format!("client-1 put queue /q item-{item}\n")).collect();
        stdin.write_all(puts.as_bytes()).unwrap();
        assert!(served.terminate().status.success());
    });
    assert!(std::fs::read_to_string(&history).unwrap().contains("\"item-4999\""));
}

#[test]
fn reports_come_by_a_named_pipe_of_several_writers_one_after_another() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("reports");
    let served = Served::start(&["--check", "--reports", pipe.to_str().unwrap()]);
    let open = |path: &Path| std::fs::OpenOptions::new().write(true).open(path).unwrap();
    run(async {
        let _clients = [served.client().await, served.client().await];
        let mut first = open(&pipe);
        first.write_all(b"nonsense\n").unwrap();
        let mut second = open(&pipe);
        second.write_all(lines(&[("client-1", "acquired")]).as_bytes()).unwrap();
        drop((first, second));
        let is_read = || served.told(&["history"]).contains("\"what\":\"believe\"");
        wait_until(is_read);
        open(&pipe).write_all(lines(&[("client-2", "acquired")]).as_bytes()).unwrap();
    });
    told_of_both(&served.terminate());
    assert!(!pipe.exists());
}

#[test]
fn a_pipe_that_was_there_stays_and_another_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(Served::start(&["--reports", pipe.to_str().unwrap()]).terminate().status.success());
    assert!(pipe.exists());
    std::fs::write(&file, "kept").unwrap();
    let output = zksim().args(["serve", "--reports"]).arg(&file).output().unwrap();
    let why = format!("no reports can be read from {}: it is not a named pipe", file.display());
    assert_eq!(refused(&output), why);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}
