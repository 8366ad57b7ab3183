//! `zksim control`, as it is typed: every verb, what people get wrong, and what scripts read.

use crate::command::{refused, said, wait_until};
use crate::served::{Served, answered, zksim};
use crate::waits::run;
use serde_json::{Value, json};
use std::net::TcpStream;
use zk_recipes::zk::{CreateMode, ZooKeeper};
use zk_serve::command::{ACTIONS, QUESTIONS};

fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn every_verb_works_as_it_is_typed() {
    let served = Served::start(&["--servers", "3"]);
    run(async {
        let zk = served.client().await;
        zk.create("/a b&c", b"", CreateMode::Ephemeral).await.unwrap();
        let (_, _watch) = zk.exists_watch("/w").await.unwrap();
        let session = format!("{:#x}", zk.session().0);
        let client = format!("client={session}");
        for (line, answer) in [
            (&["name", &client, "name=alice"][..], "done"),
            (&["lose-reply", "client=alice", "op=delete", "path=/x", "count=2"], "fault 1"),
            (&["lose-request", &client, "op=delete"], "fault 2"),
            (&["delay-reply", "for=1s", "op=delete"], "fault 3"),
            (&["refuse", "code=access-denied", "op=delete"], "fault 4"),
            (&["lose-notification", "client=alice", "path=/x"], "fault 5"),
            (&["report", "client=alice", "event=acquired", "kind=lock", "object=/l"], "done"),
            (&["report", "client=alice", "event=took", "kind=queue", "object=/q", "item=x"], "done"),
        ] {
            assert_eq!(served.told(line), format!("{answer}\n"), "{line:?}");
        }
        let status = served.told(&["status"]);
        assert_eq!(rows(&status)[0], ["server", "address", "state", "zxid", "connections"]);
        assert_eq!(rows(&status)[1][..2], ["0", &served.addresses[0]]);
        assert!(status.contains("\n1 sessions, 5 znodes, 1 watches, "), "{status}");
        assert!(rows(&status).contains(&vec!["1", "reply-lost", "alice", "delete", "/x", "2"]), "{status}");
        assert_eq!(rows(&served.told(&["watches"])), [["path", "session"], ["/w", &session]]);
        assert_eq!(served.told(&["tree", "path=/a b&c"]), format!("path    owner\n/a b&c  {session}\n"));
        let sessions = served.told(&["sessions"]);
        assert_eq!(rows(&sessions)[1][..3], [&session, "alice", "10000ms"]);
        // One line of JSON for scripts.
        let json = served.told(&["sessions", "--format", "json"]);
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["sessions"][0]["ephemerals"][0], "/a b&c");
        assert!(served.told(&["history"]).starts_with("{\"header\":"));
        assert_eq!(served.told(&["heal"]), "done, settled\n");
        assert!(!served.told(&["status"]).contains("faults that wait"));
        for (line, answer) in [
            (&["mute", &client, "for=10ms"][..], "faults 6"),
            (&["deafen", "client=alice", "for=10ms"], "faults 7"),
            (&["partition", "for=10ms"], "faults 8"),
            (&["disconnect"], "faults 9"),
            (&["expire", &client], "faults 10, settled"),
        ] {
            assert_eq!(served.told(line), format!("{answer}\n"), "{line:?}");
        }
    });
}

#[test]
fn every_verb_about_servers_works_as_it_is_typed() {
    let served = Served::start(&["--servers", "3"]);
    for (line, answer) in [
        (&["disconnect"][..], "no client has a session"),
        (&["crash", "server=1"], "fault 1"),
        (&["start", "server=1"], "done, settled"),
        (&["restart", "server=0"], "fault 2, settled"),
        (&["pause", "server=1", "for=1h"], "fault 3"),
        (&["resume", "server=1"], "done, settled"),
        (&["cut", "server=0", "for=1h"], "fault 4"),
        (&["release", "server=0"], "released 1"),
        (&["release", "server=0"], "there was no cut, hold, loss or stall to end"),
        (&["cut", "from=2", "to=0"], "fault 5"),
        (&["release", "from=0", "to=2"], "released 1"),
        (&["hold", "from=1", "to=0", "for=1h"], "fault 6"),
        (&["release", "from=1", "to=0"], "released 1"),
        (&["lose-packets", "from=1", "to=0"], "fault 7"),
        (&["release", "from=0", "to=1"], "there was no cut, hold, loss or stall to end"),
        (&["release", "from=1", "to=0"], "released 1"),
        (&["stall", "server=2", "what=disk"], "fault 8"),
        (&["stall", "server=2", "what=apply"], "fault 9"),
        (&["release", "server=2", "what=disk"], "released 1"),
        (&["release", "server=2", "what=commit"], "there was no cut, hold, loss or stall to end"),
        (&["release", "server=2"], "released 1"),
        (&["crash", "server=1"], "fault 10"),
        (&["start", "server=1", "wait=false"], "done"),
        (&["restart", "server=1", "wait=false"], "fault 11"),
        (&["resume", "server=1", "wait=false"], "done"),
        (&["heal"], "done, settled"),
        (&["elect"], "fault 12, settled"),
        (&["shutdown"], "done"),
    ] {
        assert_eq!(served.told(line), format!("{answer}\n"), "{line:?}");
    }
}

/// Requests whose answers wait for a server that cannot serve: it is the only one of three that runs.
fn waiting(served: &Served) -> Vec<TcpStream> {
    for server in ["server=0", "server=1", "server=2"] {
        served.told(&["crash", server]);
    }
    let waiting = (0..20).map(|_| served.ask("start", &json!({"server": 0}))).collect();
    wait_until(|| served.told(&["status"]).contains(" looking "));
    waiting
}

#[test]
fn requests_that_wait_keep_no_other_from_its_answer() {
    let served = Served::start(&["--servers", "3"]);
    let waiting = waiting(&served);
    assert_eq!(served.told(&["release", "server=0"]), "there was no cut, hold, loss or stall to end\n");
    assert_eq!(served.told(&["heal"]), "done, settled\n");
    for stream in waiting {
        assert_eq!(answered(stream), (200, json!({"settled": true})));
    }
    // Nobody can be elected while a second server is away, and every server is to serve in the end.
    served.told(&["crash", "server=0"]);
    wait_until(|| served.told(&["status"]).contains(" leader "));
    let elects = served.ask("elect", &json!({}));
    wait_until(|| served.told(&["history"]).contains("leader_crash"));
    assert!(served.told(&["status"]).contains(" down "));
    assert_eq!(served.told(&["heal"]), "done, settled\n");
    let (status, answer) = answered(elects);
    assert_eq!((status, &answer["settled"]), (200, &json!(true)), "{answer}");
}

#[test]
fn requests_that_wait_are_answered_at_the_end() {
    let served = Served::start(&["--servers", "3"]);
    let waiting = waiting(&served);
    assert_eq!(served.told(&["shutdown"]), "done\n");
    for stream in waiting {
        let why = "the ensemble has stopped";
        assert_eq!(answered(stream), (503, json!({"error": why})));
    }
}

#[test]
fn a_slip_gets_one_sentence_and_does_nothing() {
    let served = Served::start(&[]);
    for (line, why) in [
        (&["lose_reply"][..], "there is no verb \"lose_reply\"; did you mean \"lose-reply\"?"),
        (&["lose", "reply", "op=create"], "there is no verb \"lose\"; did you mean \"lose-reply\"?"),
        (&["Crash", "server=0"], "there is no verb \"Crash\"; did you mean \"crash\"?"),
        (&["http://127.0.0.1:1"], "the address comes before the verb"),
        (&["crash", "server"], "\"server\" is not a field such as path=/locks"),
        (&["crash", "server=0", "server=0"], "server is given twice"),
        (
            &["crash", "{\"server\":0}"],
            "fields are written as key=value, such as server=1, and not as JSON: {\"server\":0}",
        ),
        (&["crash"], "crash: missing field `server`"),
        (&["crash", "server=one"], "crash: \"one\" is not the number of a server, such as 0"),
        (&["crash", "server=-1"], "crash: -1 is not the number of a server, such as 0"),
        (&["crash", "server=1"], "there is no server 1: the only one has the number 0"),
        (&["crash", "server=0", "for=5"], "crash: \"5\" is not a duration such as 500ms, 60s or 5m"),
        (&["crash", "server=0", "fro=5s"], "crash: unknown field `fro`, expected `server` or `for`"),
        (&["start", "server=0", "wait=no"], "start: \"no\" is neither true nor false"),
        (&["lose-reply", "count=0"], "a count is at least 1"),
        (&["lose-reply", "path=locks"], "the path \"locks\" does not begin with a slash"),
        (&["expire", "client=bob"], "there is no client \"bob\""),
        (&["refuse", "code=quota-exceeded", "op=exists"], "no server refuses exists with quota-exceeded"),
        (&["tree", "pathh=/"], "tree: unknown field `pathh`, expected `path`"),
    ] {
        assert_eq!(refused(&served.control(line)), why);
    }
    assert!(served.told(&["status"]).contains(", 0 events\n"));
    let unknown = served.control(&["xyzzyxyzzyxyzzy"]);
    assert!(refused(&unknown).contains("there are lose-reply, lose-request, "), "{}", said(&unknown));
}

#[test]
fn a_wrong_address_gets_one_sentence() {
    let served = Served::start(&[]);
    let control = |url: &str| zksim().args(["control", url, "status"]).output().unwrap();
    let host = served.control.strip_prefix("http://").unwrap();
    // What people copy, from either side.
    for url in [format!("{}/", served.control), format!("control {}", served.control), host.to_owned()] {
        assert!(control(&url).status.success(), "{url}");
    }
    let https = format!("the control API speaks HTTP without TLS: its address is http://{host}");
    assert_eq!(refused(&control(&format!("https://{host}"))), https);
    for url in
        ["", "status", "ftp://x", "http://127.0.0.1", "127.0.0.1:1,127.0.0.1:2", "http://127.0.0.1:1/status"]
    {
        let why = format!("{url:?} is not the address of a control API, such as http://127.0.0.1:40004");
        assert_eq!(refused(&control(url)), why);
    }
    // The port of a member.
    let member = format!("http://{}", served.addresses[0]);
    let why = format!("{member} is not a control API: its address is on the second line of `zksim serve`");
    assert_eq!(refused(&control(&member)), why);
    let url = served.control.clone();
    assert!(served.terminate().status.success());
    let gone = control(&url);
    assert!(
        refused(&gone).starts_with(&format!("no answer from {url}: Connection refused")),
        "{}",
        said(&gone)
    );
}

#[test]
fn the_help_has_every_verb_of_the_page_with_its_fields() {
    let output = zksim().args(["control", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/serve/CONTROL.md")).unwrap();
    for verb in ACTIONS.into_iter().chain(QUESTIONS) {
        let is_named = |line: &&str| {
            let words = line.trim_start().split_once("  ").map_or(*line, |(words, _)| words);
            line.starts_with("  ") && words.split([',', ' ']).any(|word| word == verb)
        };
        let Some(line) = help.lines().find(is_named) else { panic!("the help lacks {verb}") };
        assert!(line.chars().count() <= 98, "{line}");
        if QUESTIONS.contains(&verb) || verb == "shutdown" {
            assert!(page.contains(&format!("/{verb}`")), "the page lacks {verb}");
            continue;
        }
        let row = page.lines().find(|line| line.starts_with(&format!("| `{verb}` |")));
        let fields = row.unwrap_or_else(|| panic!("the page lacks {verb}")).split('|').nth(2).unwrap();
        for field in fields.split('`').skip(1).step_by(2) {
            assert!(
                line.split([' ', ',']).any(|word| word == field),
                "the help of {verb} lacks {field}: {line}"
            );
        }
    }
}
