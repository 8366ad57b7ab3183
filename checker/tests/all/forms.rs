//! Both written forms are read back exactly, and a report does not depend on names.

use crate::common::*;

use proptest::prelude::*;
use zk_checker::digest::Digest;
use zk_checker::history::*;
use zk_checker::{RuleSet, Verdict, jsonl, judge, judge_stored, text};

fn to_json(history: &History) -> String {
    let mut out = Vec::new();
    jsonl::write(history, &mut out).expect("writing to memory cannot fail");
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn from_json(text: &str) -> jsonl::Stored {
    jsonl::read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn json_is_readable() {
    let lines = to_json(&history(&calm()));
    let line = lines.lines().find(|line| line.contains("create")).expect("a create");
    assert_eq!(
        line,
        r#"{"at":1000,"cleanup":false,"kind":"create","op":1,"path":"/lock/a-","req":1,"watch":false,"what":"send","who":"a"}"#
    );
}

#[test]
fn text_is_readable() {
    let lines = text::write(&history(&calm()));
    for line in [
        "lock /lock stop margin 0.400 fenced budget 2 1 1 2",
        "0.001 a acquire#1 call /lock",
        "0.001 a acquire#1 send r2 children /lock",
        "0.002 server:0 acquire#1 created 0x3 /lock/a-0 s1",
        "0.050 world quiesce",
    ] {
        assert!(lines.lines().any(|other| other == line), "{line:?} in\n{lines}");
    }
}

/// Files from before the support of several servers are still read correctly.
#[test]
fn json_of_one_server_is_still_read() {
    let header = r#"{"header":{"format":1,"mode":"sim","clients":["a"],"tick":500000,"timeout":4000000,"election":0,"round_trip":2000,"settle":1000,"source":""}}"#;
    let events = [
        r#"{"at":0,"who":"world","what":"fault","kind":"client_pause","client":0,"lasts":5}"#,
        r#"{"at":1,"who":"world","what":"mended","kind":"client_pause","client":0}"#,
        r#"{"at":2,"who":"a","what":"state","session":1,"state":"connected"}"#,
        r#"{"at":3,"who":"server:0","what":"arm","session":1,"table":"child","path":"/lock"}"#,
        r#"{"at":4,"who":"server:0","what":"fire","session":1,"kind":"deleted","path":"/lock","zxid":7}"#,
        r#"{"at":5,"who":"a","what":"notice","session":1,"kind":"deleted","path":"/lock"}"#,
        r#"{"at":6,"who":"server:0","what":"disarm","session":1,"table":"data","path":"/lock"}"#,
    ];
    let stored = from_json(&format!("{header}\n{}\n", events.join("\n")));
    assert_eq!(stored.history.header.sync_limit, SYNC_LIMIT);
    let whats: Vec<What> = stored.history.events.iter().map(|event| event.what).collect();
    let victim = Victim::Process { client: 0 };
    assert_eq!(whats[0], What::Fault { kind: FaultKind::ClientPause, victim, lasts: 5 });
    assert_eq!(whats[1], What::Mended { kind: FaultKind::ClientPause, victim });
    let (session, path, conn, table) = (Session(1), Sym(0), Conn(0), Table::Child);
    assert_eq!(whats[3], What::Arm { session, table, path, conn, mode: WatchMode::OneShot });
    assert_eq!(whats[5], What::Notice { session, kind: Notify::Deleted, path, conn });
    // And written back unchanged.
    let lines = to_json(&stored.history);
    assert!(
        lines.contains(r#"{"at":5,"kind":"deleted","path":"/lock","session":1,"what":"notice","who":"a"}"#)
    );
    assert!(lines.contains(r#"{"at":1,"client":0,"kind":"client_pause","what":"mended","who":"world"}"#));
}

#[test]
fn a_file_without_its_last_line_is_never_passed() {
    let whole = to_json(&history(&calm()));
    let rules = RuleSet::all();
    assert_eq!(judge_stored(&from_json(&whole), &rules).verdict(), Verdict::Pass);
    let lines: Vec<&str> = whole.lines().collect();
    for kept in 1..lines.len() {
        let stored = from_json(&(lines[..kept].join("\n") + "\n"));
        assert!(stored.cut.is_some(), "{kept} lines");
        assert_eq!(judge_stored(&stored, &rules).verdict(), Verdict::Unknown, "{kept} lines");
        // Half a line more.
        let stored = from_json(&(lines[..kept].join("\n") + "\n" + &lines[kept][..lines[kept].len() / 2]));
        assert!(stored.cut.is_some(), "{kept} lines and a half");
    }
    let edited = whole.replace("/lock/a-0", "/lock/a-9");
    assert!(from_json(&edited).cut.is_some_and(|cut| cut.to_string().contains("hash")));
    let without: Vec<&str> = lines.iter().copied().filter(|line| !line.contains("believe")).collect();
    assert!(
        from_json(&(without.join("\n") + "\n")).cut.is_some_and(|cut| cut.to_string().contains("events"))
    );
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    let whole = to_json(&history(&calm()));
    let lines: Vec<&str> = whole.lines().collect();
    let at = lines.iter().position(|line| line.contains("\"what\"")).expect("an event");
    let read = |lines: &[&str]| match jsonl::read((lines.join("\n") + "\n").as_bytes()) {
        Ok(_) => panic!("this was read"),
        Err(e) => e.to_string(),
    };
    assert_eq!(read(&[]), "line 1: this is no JSON: EOF while parsing a value at line 2 column 0");
    assert_eq!(read(&["{\"end\":{\"count\":0,\"hash\":\"\"}}"]), "line 1: the first line is the header");
    assert_eq!(read(&lines[1..]), "line 1: the first line is the header");
    assert_eq!(read(&lines[at..]), "line 1: an event stands before the header");
    let mut edited = lines.clone();
    edited[at] = "{\"what\":";
    assert!(read(&edited).starts_with(&format!("line {}: this is no JSON", at + 1)));
    edited[at] = "{\"at\":0,\"who\":\"nobody\",\"what\":\"heal\"}";
    assert_eq!(read(&edited), format!("line {}: \"nobody\" is nobody", at + 1));
    edited[at] = "{\"at\":0,\"who\":\"world\",\"what\":\"rain\"}";
    assert!(read(&edited).starts_with(&format!("line {}: unknown variant `rain`", at + 1)));
    let mut edited = lines.clone();
    edited.swap(at + 5, at + 30);
    assert!(read(&edited).ends_with("this event is earlier than the one before"));
    let mut edited = lines.clone();
    edited.swap(0, at);
    assert_eq!(read(&edited), "line 1: an event stands before the header");
    edited.clone_from(&lines);
    edited.swap(1, at + 1);
    assert!(read(&edited).contains("line"));
    edited.clone_from(&lines);
    edited.push(lines[at]);
    assert!(read(&edited).ends_with("nothing may follow the last line"));
}

#[test]
fn a_text_that_cannot_be_read_is_told_with_its_line() {
    for (wrong, why) in [
        ("0.000 a call /lock", "line 2: a call stands as verb#number"),
        ("0.000 a acquire#1 call /other", "line 2: \"/other\" is not declared"),
        ("0.000 a #1 rain", "line 2: \"rain\" is no event"),
        ("0.0000001 world heal", "line 2: \"0.0000001\" is no time in seconds"),
        ("0.000 world heal now", "line 2: \"now\" is too much"),
        ("0.000 a #1 believe /lock s1", "line 2: \"token\" is missing"),
        ("0.000 a #1 made \"/lock", "line 2: a quoted word has no end"),
    ] {
        let read = text::parse(&format!("lock /lock\n{wrong}"));
        assert_eq!(read.expect_err(wrong).to_string(), why);
    }
}

/// Symbols and clients in another order, other session numbers, another object in front: the same verdicts.
#[test]
fn names_do_not_matter() {
    let bad = [HEAD, A_HOLDS, B_WAITS, "0.022 b #2 believe /lock s2 token 0x4\n"].concat();
    for run in [calm(), bad] {
        let renamed = run
            .replace("/lock", "/z/other")
            .replace("clients a b c", "clients c b a")
            .replace(" s1", " s7")
            .replace("lock /z/other", "lock /idle\nlock /z/other");
        let (report, renamed) = (report(&run), report(&renamed));
        let verdicts = |report: &zk_checker::Report| -> Vec<_> {
            let of = |rule: &zk_checker::RuleId| (*rule, report.of(*rule));
            zk_checker::RuleId::ALL.iter().map(of).collect()
        };
        assert_eq!(verdicts(&report), verdicts(&renamed));
        let first = |report: &zk_checker::Report| report.first().map(|first| (first.rule, first.position));
        assert_eq!(first(&report), first(&renamed));
    }
}

#[test]
fn a_prefix_of_what_is_right_is_not_wrong() {
    let whole = history(&calm());
    for end in 0..whole.events.len() {
        let mut prefix = whole.clone();
        prefix.events.truncate(end);
        let report = judge(&prefix, &RuleSet::all());
        assert!(report.findings.is_empty(), "the first {end} events\n{report}");
    }
}

#[test]
fn a_finding_stays_when_more_comes() {
    let run =
        [HEAD, A_HOLDS, B_WAITS, "0.022 b #2 believe /lock s2 token 0x4\n", "0.1 a #1 unbelieve released\n"];
    let whole = history(&run.concat());
    let first = |history: &History| {
        judge(history, &RuleSet::all()).first().map(|first| (first.rule, first.position, first.text.clone()))
    };
    let found = first(&whole).expect("a finding");
    for end in found.1 + 1..whole.events.len() {
        let mut prefix = whole.clone();
        prefix.events.truncate(end);
        assert_eq!(first(&prefix).as_ref(), Some(&found));
    }
}

#[test]
fn reports_are_under_a_hundred_columns() {
    let long = calm().replace("/lock", &format!("/{}", "long/".repeat(8).trim_end_matches('/')));
    let bad = long.replace("token 0x4", "token 0x1").replace("0.030 b #2 unbelieve released\n", "");
    let told = report(&bad).to_string();
    for line in told.lines() {
        assert!(line.chars().count() < 100, "{line}");
    }
    assert!(told.contains("MX-5"), "{told}");
}

// ── random histories ──

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("/lock".to_owned()),
        Just("/lock/a-0".to_owned()),
        Just("sym:3".to_owned()),
        Just("#".to_owned()),
        Just(String::new()),
        "[ -~äß€\n\t\"\\\\]{0,6}",
        "/[a-z]{1,3}",
    ]
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    proptest::sample::select(all)
}

fn request() -> impl Strategy<Value = Request> {
    one_of(Request::ALL)
}

fn code() -> impl Strategy<Value = Code> {
    one_of(Code::ALL)
}

fn verb() -> impl Strategy<Value = Verb> {
    one_of(Verb::ALL)
}

fn seen() -> impl Strategy<Value = Seen> {
    one_of(Seen::ALL)
}

fn kind() -> impl Strategy<Value = Kind> {
    one_of(Kind::ALL)
}

fn manner() -> impl Strategy<Value = Manner> {
    (any::<[bool; 8]>(), any::<u32>(), any::<u32>()).prop_map(|(flags, grace, window)| {
        let [at_least_once, strict, textbook, chain, once, coordinated, forced, reported] = flags;
        let grace = grace.into();
        Manner { at_least_once, strict, textbook, chain, once, coordinated, forced, reported, grace, window }
    })
}

fn what() -> impl Strategy<Value = What> {
    let object = || (0..3u16).prop_map(ObjectId);
    let session = || (0..4u16).prop_map(Session);
    let req = || (0..9u32).prop_map(ReqId);
    let path = || (0..5u32).prop_map(Sym);
    let zxid = || prop_oneof![0..9u64, any::<u64>()];
    let table = || one_of(Table::ALL);
    let notify = || one_of(Notify::ALL);
    let outcome = one_of(Outcome::ALL);
    let failure = one_of(Failure::ALL);
    let why = one_of(Why::ALL);
    let state = one_of(SessionState::ALL);
    let fault = || one_of(FaultKind::ALL);
    let conn = || (0..3u16).prop_map(Conn);
    let mode = one_of(WatchMode::ALL);
    let victim = || {
        prop_oneof![
            (0..4u16).prop_map(|client| Victim::Process { client }),
            (0..4u8).prop_map(|server| Victim::Server { server }),
            (0..4u8, 0..4u8).prop_map(|(from, to)| Victim::Link { from, to }),
        ]
    };
    let clients = prop_oneof![
        (object(), verb(), any::<u32>()).prop_map(|(object, verb, limit)| What::Call { object, verb, limit }),
        (outcome, failure).prop_map(|(outcome, failure)| What::Return { outcome, failure }),
        (object(), session(), zxid()).prop_map(|(object, session, token)| What::Believe {
            object,
            session,
            token
        }),
        why.prop_map(|why| What::Unbelieve { why }),
        (object(), zxid(), any::<bool>()).prop_map(|(object, token, accepted)| What::Resource {
            object,
            token,
            accepted
        }),
        (path(), zxid()).prop_map(|(text, number)| What::Given { text, number }),
        (object(), seen(), path(), zxid()).prop_map(|(object, seen, text, number)| What::Observed {
            object,
            seen,
            text,
            number
        }),
        (zxid(), any::<bool>()).prop_map(|(until, deadline)| What::Sleep { until, deadline }),
        (req(), request(), any::<bool>(), any::<bool>(), path())
            .prop_map(|(req, kind, watch, cleanup, path)| What::Send { req, kind, watch, cleanup, path }),
        (req(), code(), zxid(), conn()).prop_map(|(req, code, zxid, conn)| What::Reply {
            req,
            code,
            zxid,
            conn
        }),
        (path(), zxid()).prop_map(|(path, czxid)| What::Made { path, czxid }),
        req().prop_map(|req| What::Lost { req }),
    ];
    let sessions = prop_oneof![
        (session(), notify(), path(), conn()).prop_map(|(session, kind, path, conn)| What::Notice {
            session,
            kind,
            path,
            conn
        }),
        (session(), state, conn(), 0..3u8).prop_map(|(session, state, conn, server)| What::State {
            session,
            state,
            conn,
            server
        }),
        (zxid(), session(), request(), code()).prop_map(|(zxid, session, kind, code)| What::Txn {
            zxid,
            session,
            kind,
            code
        }),
        (zxid(), path(), session()).prop_map(|(zxid, path, owner)| What::Created { zxid, path, owner }),
        (zxid(), path(), session()).prop_map(|(zxid, path, by)| What::Deleted { zxid, path, by }),
        (zxid(), path()).prop_map(|(zxid, path)| What::Written { zxid, path }),
        (session(), table(), path(), conn(), mode).prop_map(|(session, table, path, conn, mode)| {
            What::Arm { session, table, path, conn, mode }
        }),
        (session(), notify(), path(), any::<u32>(), conn())
            .prop_map(|(session, kind, path, zxid, conn)| What::Fire { session, kind, path, zxid, conn }),
        (session(), table(), path(), conn()).prop_map(|(session, table, path, conn)| What::Disarm {
            session,
            table,
            path,
            conn
        }),
    ];
    let servers = prop_oneof![
        (zxid(), path()).prop_map(|(zxid, path)| What::Restricted { zxid, path }),
        any::<i32>().prop_map(|version| What::Expects { version }),
        (any::<u32>(), any::<u64>()).prop_map(|(length, digest)| What::Data { length, digest }),
        zxid().prop_map(|zxid| What::Applied { zxid }),
        (req(), conn(), zxid()).prop_map(|(req, conn, zxid)| What::Served { req, conn, zxid }),
        (request(), code(), path(), any::<u32>(), any::<u32>()).prop_map(
            |(read, code, path, content, stat)| {
                What::Found { read, code, path, digest: Digest { content, stat } }
            }
        ),
        (session(), req(), zxid()).prop_map(|(session, req, zxid)| What::Barrier { session, req, zxid }),
        (session(), conn()).prop_map(|(session, conn)| What::Attached { session, conn }),
        (session(), zxid()).prop_map(|(session, sent)| What::Heard { session, sent }),
        (session(), zxid()).prop_map(|(session, seen)| What::TurnedAway { session, seen }),
        (session(), zxid()).prop_map(|(session, zxid)| What::Moved { session, zxid }),
        any::<u32>().prop_map(|epoch| What::Elected { epoch }),
        Just(What::Serving),
        Just(What::Ceased),
    ];
    let world = prop_oneof![
        (session(), any::<u32>(), zxid()).prop_map(|(session, timeout, zxid)| What::Opened {
            session,
            timeout,
            zxid
        }),
        (session(), zxid()).prop_map(|(session, heard)| What::Marked { session, heard }),
        (session(), zxid()).prop_map(|(session, zxid)| What::Ended { session, zxid }),
        (fault(), victim(), zxid()).prop_map(|(kind, victim, lasts)| What::Fault { kind, victim, lasts }),
        (fault(), victim()).prop_map(|(kind, victim)| What::Mended { kind, victim }),
        (0..4u16).prop_map(|client| What::Crash { client }),
        (0..4u16).prop_map(|client| What::Start { client }),
        Just(What::Heal),
        Just(What::Quiesce),
        Just(What::Stopped),
        (object(), path(), session()).prop_map(|(object, path, owner)| What::Left { object, path, owner }),
    ];
    prop_oneof![clients, sessions, servers, world]
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![(0..4u16).prop_map(Who::Client), (0..2u8).prop_map(Who::Server), Just(Who::World)]
}

prop_compose! {
    fn any_history()(
        mode in one_of(Mode::ALL),
        clients in proptest::collection::vec(prop_oneof![Just("world".to_owned()), Just("a".to_owned()), name(), "[a-z]"], 0..4),
        times in any::<[u32; 5]>(),
        sync_limit in prop_oneof![Just(SYNC_LIMIT), any::<u32>()],
        faults_recorded in any::<bool>(),
        pings_recorded in any::<bool>(),
        foreign_clients in any::<bool>(),
        first_number in prop_oneof![Just(0), any::<i32>()],
        source in name(),
        names in proptest::collection::vec(name(), 5),
        objects in proptest::collection::vec(
            (kind(), 0..5u32, any::<bool>(), any::<bool>(), any::<[u32; 6]>(), manner()),
            0..3,
        ),
        events in proptest::collection::vec((0..3_000_000u64, 0..5u32, who(), what()), 0..30),
    ) -> History {
        let mut table = Names::default();
        for (at, name) in names.iter().enumerate() {
            let sym = table.intern(name);
            if sym.0 as usize != at {
                table.intern(&format!("{name}{at}"));
            }
        }
        while table.end() < 5 {
            let text = format!("/more{}", table.end());
            table.intern(&text);
        }
        let [tick, timeout, election, round_trip, settle] = times.map(u64::from);
        let mut at = 0;
        History {
            header: Header { format: 1, mode, clients, tick, timeout, election, round_trip, settle, sync_limit, faults_recorded, pings_recorded, foreign_clients, first_number, source },
            objects: objects.into_iter().map(|(kind, path, stop, fenced, [a, b, c, d, margin, size], manner)| Object {
                on_suspect: if stop { OnSuspect::Stop } else { OnSuspect::UntilDeadline },
                margin: margin.into(),
                fenced,
                budget: Budget { free_acquire: a, free_round_trips: b, release: c, per_wake_up: d },
                size,
                manner,
                ..Object::plain(kind, Sym(path))
            }).collect(),
            names: table,
            events: events.into_iter().map(|(after, op, who, what)| {
                at += after;
                Event { at, op: OpId(op), who, what }
            }).collect(),
        }
    }
}

proptest! {
    #[test]
    fn text_parses_back(history in any_history()) {
        let written = text::write(&history);
        let read = text::parse(&written);
        prop_assert!(read.is_ok(), "{:?}\n{written}", read.err());
        prop_assert_eq!(read.ok(), Some(history), "{}", written);
    }

    #[test]
    fn json_reads_back(history in any_history()) {
        let written = to_json(&history);
        let read = jsonl::read(written.as_bytes());
        prop_assert!(read.is_ok(), "{:?}\n{written}", read.err());
        prop_assert_eq!(read.ok(), Some(jsonl::Stored { history, cut: None }));
    }

    #[test]
    fn any_history_can_be_judged(history in any_history()) {
        let report = judge(&history, &RuleSet::all());
        prop_assert_eq!(&report, &judge(&history, &RuleSet::all()));
        prop_assert!(!report.to_string().is_empty());
    }

    #[test]
    fn forms_do_not_change_the_report(cut in 0usize..60, edits in proptest::collection::vec((0usize..60, 0usize..60), 0..4)) {
        let mut history = history(&calm());
        history.events.truncate(cut);
        for (from, to) in edits {
            if from < history.events.len() && to < history.events.len() {
                let at = history.events[to].at;
                let moved = history.events.remove(from);
                history.events.insert(to, Event { at, ..moved });
            }
        }
        let mut at = 0;
        for event in &mut history.events {
            at = at.max(event.at);
            event.at = at;
        }
        let report = judge(&history, &RuleSet::all());
        let by_text = text::parse(&text::write(&history)).expect("it parses back");
        prop_assert_eq!(&report, &judge(&by_text, &RuleSet::all()));
        prop_assert_eq!(&report, &judge_stored(&from_json(&to_json(&history)), &RuleSet::all()));
    }
}
