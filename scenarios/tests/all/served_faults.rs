//! The control API of a served ensemble: what each verb does to the clients, and what the history and the verdict tell of it.

use crate::waits::{connected, over, run};
use serde_json::{Value, json};
use std::future::Future;
use std::time::Duration;
use zk_checker::Verdict;
use zk_checker::history::{FaultKind, History, Outcome, Request, What};
use zk_client::{Client, Options};
use zk_recipes::zk::{CreateMode, ErrorKind, Over, ZooKeeper};
use zk_serve::{Options as Ensemble, Server};

const TICK: Duration = Duration::from_millis(200);

fn ensemble(servers: u8) -> Server {
    Server::start(&Ensemble { servers, tick: TICK, ..Ensemble::default() }).unwrap()
}

fn play<F: Future<Output = ()>>(servers: u8, scene: impl FnOnce(Server) -> F) {
    run(scene(ensemble(servers)));
}

async fn client(server: &Server) -> Client {
    Client::open(&server.connect_string(), Options::new(20 * TICK)).await.unwrap()
}

/// Does what takes its time on a thread of its own, so that clients go on meanwhile.
async fn told(server: &Server, verb: &str, fields: Value) -> Value {
    let (control, command) =
        (server.control().clone(), zk_serve::command::Command::read(verb, fields).unwrap());
    tokio::task::spawn_blocking(move || control.perform(command)).await.unwrap().unwrap()
}

fn id(client: &Client) -> String {
    format!("{:#x}", client.session().0)
}

fn faults(history: &History) -> Vec<FaultKind> {
    let fault = |what| match what {
        What::Fault { kind, .. } => Some(kind),
        _ => None,
    };
    history.events.iter().filter_map(|event| fault(event.what)).collect()
}

/// Every rule that was put to the test holds.
#[track_caller]
fn holds(server: &Server) {
    server.check().unwrap();
}

#[test]
fn a_lost_reply_is_that_of_a_write_that_was_applied() {
    play(1, |server| async move {
        let zk = client(&server).await;
        zk.create("/locks", b"", CreateMode::Persistent).await.unwrap();
        server.perform("lose-reply", json!({"op": "create", "path": "/locks/"})).unwrap();
        zk.create("/other", b"", CreateMode::Persistent).await.unwrap();
        let lost = zk.create("/locks/a", b"", CreateMode::Persistent).await;
        assert_eq!(lost.map(|made| made.path), Err(ErrorKind::ConnectionLoss.into()));
        connected(&zk).await;
        assert!(zk.exists("/locks/a").await.unwrap().is_some());
        assert_eq!(faults(&server.history()), [FaultKind::ReplyLost]);
        holds(&server);
    });
}

#[test]
fn a_lost_request_never_arrives() {
    play(1, |server| async move {
        let (zk, other) = (client(&server).await, client(&server).await);
        server.perform("lose-request", json!({"client": id(&zk)})).unwrap();
        other.create("/of-another", b"", CreateMode::Persistent).await.unwrap();
        let lost = zk.create("/a", b"", CreateMode::Persistent).await;
        assert_eq!(lost.map(|made| made.path), Err(ErrorKind::ConnectionLoss.into()));
        connected(&zk).await;
        assert!(zk.exists("/a").await.unwrap().is_none());
        assert_eq!(faults(&server.history()), [FaultKind::RequestLost]);
        holds(&server);
    });
}

#[test]
fn a_delayed_reply_comes_that_much_later() {
    play(1, |server| async move {
        let zk = client(&server).await;
        server.perform("delay-reply", json!({"for": "300ms", "op": "set"})).unwrap();
        zk.create("/a", b"", CreateMode::Persistent).await.unwrap();
        let (set, read) = tokio::join!(zk.set("/a", b"x", None), zk.get("/a"));
        set.unwrap();
        assert_eq!(read.unwrap().data, b"x");
        let history = server.history();
        let at = |wanted: &dyn Fn(What) -> bool| {
            history.events.iter().find(|event| wanted(event.what)).map(|event| event.at).unwrap()
        };
        let sent = at(&|what| matches!(what, What::Send { kind: Request::Set, .. }));
        let struck = at(&|what| matches!(what, What::Fault { kind: FaultKind::ReplyLate, .. }));
        let last =
            history.events.iter().rev().find(|event| matches!(event.what, What::Reply { .. })).unwrap().at;
        assert!(
            sent <= struck && last >= struck + 300_000,
            "the read waits behind it: {sent} {struck} {last}"
        );
        holds(&server);
    });
}

#[test]
fn a_refusal_has_its_code() {
    play(1, |server| async move {
        let zk = client(&server).await;
        server.perform("refuse", json!({"code": "access-denied", "op": "get", "count": 2})).unwrap();
        zk.exists("/").await.unwrap();
        for _ in 0..2 {
            assert_eq!(zk.get("/").await.map(|_| ()), Err(ErrorKind::NoAuth.into()));
        }
        zk.get("/").await.unwrap();
        assert_eq!(faults(&server.history()), [FaultKind::AccessDenied; 2]);
        holds(&server);
    });
}

#[test]
fn a_lost_notification_is_made_up_for_after_the_reconnect() {
    play(1, |server| async move {
        let (zk, other) = (client(&server).await, client(&server).await);
        let (_, watch) = zk.exists_watch("/a").await.unwrap();
        server.perform("lose-notification", json!({"path": "/a"})).unwrap();
        other.create("/a", b"", CreateMode::Persistent).await.unwrap();
        assert_eq!(watch.await.unwrap().path, "/a");
        assert_eq!(faults(&server.history()), [FaultKind::WatchLost]);
        holds(&server);
    });
}

#[test]
fn an_expired_session_takes_its_ephemerals_along_before_the_answer() {
    for servers in [1, 3] {
        play(servers, |server| async move {
            let (zk, other) = (client(&server).await, client(&server).await);
            zk.create("/e", b"", CreateMode::Ephemeral).await.unwrap();
            let answer = told(&server, "expire", json!({"client": id(&zk)})).await;
            assert_eq!(answer["settled"], true);
            assert!(!server.perform("tree", json!({})).unwrap().to_string().contains("/e"));
            assert_eq!(over(&zk).await, Over::Expired);
            other.create("/e", b"", CreateMode::Ephemeral).await.unwrap();
            holds(&server);
        });
    }
}

#[test]
fn a_partition_ends_before_the_session_does_or_after() {
    play(1, |server| async move {
        let (short, long) = (client(&server).await, client(&server).await);
        server.perform("partition", json!({"client": id(&short), "for": "500ms"})).unwrap();
        server.perform("partition", json!({"client": id(&long), "for": "6s"})).unwrap();
        short.create("/a", b"", CreateMode::Persistent).await.unwrap();
        assert_eq!(over(&long).await, Over::Expired);
        short.get("/a").await.unwrap();
        assert_eq!(faults(&server.history()), [FaultKind::ClientPartition; 2]);
        holds(&server);
    });
}

#[test]
fn servers_crash_and_are_elected() {
    play(3, |server| async move {
        let zk = client(&server).await;
        let state =
            |number: usize| server.perform("status", json!({})).unwrap()["servers"][number]["state"].clone();
        let leader = (0..3).find(|number| state(*number) == "leader").unwrap();
        server.perform("crash", json!({"server": leader})).unwrap();
        assert_eq!(state(leader), "down");
        let refused = std::net::TcpStream::connect(server.addresses()[leader]).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
        assert_eq!(told(&server, "start", json!({"server": leader})).await["settled"], true);
        let leader = (0..3).find(|number| state(*number) == "leader").unwrap();
        assert_eq!(told(&server, "elect", json!({})).await["settled"], true);
        assert_eq!(state(leader), "follower", "another one leads");
        server.perform("pause", json!({"server": 1})).unwrap();
        assert_eq!(state(1), "paused");
        server.perform("cut", json!({"server": 0})).unwrap();
        assert_eq!(told(&server, "heal", json!({})).await["settled"], true);
        connected(&zk).await;
        zk.create("/a", b"", CreateMode::Persistent).await.unwrap();
        for kind in [
            FaultKind::ServerCrash,
            FaultKind::LeaderCrash,
            FaultKind::ServerPause,
            FaultKind::ServerPartition,
        ] {
            assert!(faults(&server.history()).contains(&kind), "{kind:?}");
        }
        holds(&server);
    });
}

#[test]
fn a_follower_whose_packets_are_lost_is_given_up_and_comes_back() {
    play(3, |server| async move {
        server.perform("heal", json!({})).unwrap();
        let (leader, others) = states(&server);
        let leader = leader.as_u64().unwrap();
        let follower = (leader + 1) % 3;
        assert_eq!(others[follower as usize], "follower");
        let pair = json!({"from": leader, "to": follower});
        let answer = server.perform("lose-packets", pair.clone()).unwrap();
        assert!(answer["fault"].is_u64(), "{answer}");
        let zk = Client::open(&server.addresses()[leader as usize].to_string(), Options::new(20 * TICK))
            .await
            .unwrap();
        let given_up = async {
            while states(&server).1[follower as usize] == "follower" {
                zk.create("/a", b"", CreateMode::EphemeralSequential).await.unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(60), given_up).await.expect("the follower hears nothing");
        assert_eq!(states(&server).0, json!(leader), "the others go on");
        assert_eq!(server.perform("release", pair).unwrap()["released"], 1);
        assert_eq!(told(&server, "heal", json!({})).await["settled"], true);
        assert_eq!(states(&server).1[follower as usize], "follower");
        assert_eq!(faults(&server.history()), [FaultKind::PacketsLost]);
        holds(&server);
    });
}

#[test]
fn a_seed_draws_faults() {
    run(async {
        let rates = sim_zk::choose::Rates::NONE.with(sim_zk::fault::Fault::ReplyLost, 0.2);
        let options = Ensemble { tick: TICK, drawn: Some((7, rates)), ..Ensemble::default() };
        let server = Server::start(&options).unwrap();
        let zk = client(&server).await;
        let mut lost = 0;
        for _ in 0..40 {
            connected(&zk).await;
            lost += usize::from(zk.exists("/").await == Err(ErrorKind::ConnectionLoss.into()));
        }
        assert_eq!(faults(&server.history()), vec![FaultKind::ReplyLost; lost]);
        assert!((3..20).contains(&lost), "{lost} of 40 at a rate of one in five");
        holds(&server);
    });
}

fn states(server: &Server) -> (Value, Vec<Value>) {
    let mut status = server.perform("status", json!({})).unwrap();
    let servers = status["servers"].as_array().unwrap();
    let states = servers.iter().map(|server| server["state"].clone()).collect();
    (status["leader"].take(), states)
}

#[test]
fn the_status_names_the_leader_also_while_it_is_paused() {
    let server = ensemble(3);
    server.perform("heal", json!({})).unwrap();
    let leader = states(&server).0;
    server.perform("pause", json!({"server": leader})).unwrap();
    let (led_by, states_then) = states(&server);
    assert_eq!((&led_by, &states_then[leader.as_u64().unwrap() as usize]), (&leader, &json!("paused")));
    let other = (leader.as_u64().unwrap() + 1) % 3;
    for number in [leader, json!(other)] {
        server.perform("crash", json!({"server": number})).unwrap();
    }
    assert_eq!(states(&server).0, Value::Null, "one of three leads nobody");
}

#[test]
fn a_start_that_does_not_wait_answers_before_the_server_serves() {
    let server = ensemble(3);
    server.perform("heal", json!({})).unwrap();
    for verb in ["start", "resume"] {
        for number in [0, 1] {
            let fault = if verb == "start" { "crash" } else { "pause" };
            server.perform(fault, json!({"server": number})).unwrap();
        }
        // Two of three are away, so that no server serves: an answer that waits would need an election.
        let back = json!({"server": 0, "wait": false});
        assert_eq!(server.perform(verb, back).unwrap(), json!({}), "there is nothing about an effect");
        assert_eq!(server.perform("heal", json!({})).unwrap(), json!({"settled": true}));
    }
    let restarted = server.perform("restart", json!({"server": 0, "wait": false})).unwrap();
    assert_eq!(restarted.get("settled"), None);
    assert_eq!(server.perform("restart", json!({"server": 0})).unwrap()["settled"], true);
}

#[test]
fn a_release_ends_what_it_names_and_nothing_else() {
    let server = ensemble(3);
    let released = |fields: Value| server.perform("release", fields).unwrap()["released"].clone();
    for (one, other) in [(0, 2), (2, 0)] {
        server.perform("cut", json!({"from": 2, "to": 0})).unwrap();
        assert_eq!(released(json!({"from": one, "to": other})), 1, "a cut has no direction");
    }
    server.perform("hold", json!({"from": 2, "to": 0})).unwrap();
    assert_eq!(released(json!({"from": 0, "to": 2})), 0, "a hold has one");
    assert_eq!(released(json!({"from": 2, "to": 0})), 1);
    server.perform("lose-packets", json!({"from": 1, "to": 2})).unwrap();
    assert_eq!(released(json!({"from": 2, "to": 1})), 0, "a loss has one");
    assert_eq!(released(json!({"from": 1, "to": 2})), 1);
    for what in ["disk", "apply"] {
        server.perform("stall", json!({"server": 1, "what": what})).unwrap();
    }
    server.perform("cut", json!({"server": 1})).unwrap();
    assert_eq!(released(json!({"server": 1, "what": "apply"})), 1);
    assert_eq!(released(json!({"server": 1, "what": "apply"})), 0);
    assert_eq!(released(json!({"server": 1})), 2);
}

/// What two programs report of a lock, and the verdict.
async fn two_report(server: &Server, events: &[(&str, &str)]) -> Verdict {
    let (a, b) = (client(server).await, client(server).await);
    for (of, name) in [(&a, "a"), (&b, "b")] {
        server.perform("name", json!({"client": id(of), "name": name})).unwrap();
    }
    for (who, event) in events {
        match *event {
            "expire" => drop(told(server, "expire", json!({"client": who})).await),
            event => drop(
                server
                    .perform(
                        "report",
                        json!({"client": who, "object": "/lock", "kind": "lock", "event": event}),
                    )
                    .unwrap(),
            ),
        }
    }
    server.verdict().verdict()
}

#[test]
fn what_programs_report_is_judged_by_mutual_exclusion() {
    let taking_turns = [("a", "acquired"), ("a", "released"), ("b", "acquired"), ("b", "released")];
    let both = [("a", "acquired"), ("b", "acquired")];
    let excused = [("a", "acquired"), ("a", "expire"), ("b", "acquired"), ("a", "released")];
    for (events, verdict) in
        [(&taking_turns[..], Verdict::Pass), (&both, Verdict::Fail), (&excused, Verdict::Unavoidable)]
    {
        play(1, |server| async move {
            assert_eq!(
                two_report(&server, events).await,
                verdict,
                "{events:?}: {}",
                server.verdict().report()
            );
        });
    }
}

#[test]
fn reports_of_items_are_judged_by_what_a_queue_promises() {
    play(1, |server| async move {
        let zk = client(&server).await;
        let report = |event, item| json!({"client": id(&zk), "object": "/q", "kind": "queue", "event": event, "item": item});
        for (event, item) in [("put", "x"), ("put", "y"), ("took", "x"), ("took", "y")] {
            server.perform("report", report(event, item)).unwrap();
        }
        holds(&server);
        server.perform("report", report("took", "y")).unwrap();
        assert_eq!(server.verdict().verdict(), Verdict::Fail, "an item is taken twice");
    });
}

/// Lines that two programs report, and the rules that they break.
const CLAIMS: [(&str, &str); 8] = [
    (
        "a limit semaphore /o 1|b limit semaphore /o 1|a asks semaphore /o|a acquired semaphore /o|b acquired semaphore /o",
        "SM-1",
    ),
    ("a limit semaphore /o 1|a acquired semaphore /o|a released semaphore /o|b acquired semaphore /o", ""),
    (
        "a adds counter /o 2|a added counter /o 2|b adds counter /o 1|b unknown counter /o 1|b counts counter /o 4",
        "CO-1",
    ),
    (
        "a adds counter /o 2|a added counter /o 2|b adds counter /o 1|b unknown counter /o 1|b counts counter /o 3",
        "",
    ),
    ("a whole partition /o p,q|a owns partition /o p|b owns partition /o p", "PA-1"),
    ("a size double_barrier /o 2|a enters double_barrier /o|a entered double_barrier /o", "DB-1"),
    ("a puts queue /o x|a refused queue /o x|b takes queue /o|b took queue /o x", "QU-3"),
    (
        "a asks shared_lock /o read|a acquired shared_lock /o read|b asks shared_lock /o write|b acquired shared_lock /o write",
        "RW-1",
    ),
];

#[test]
fn what_programs_claim_of_each_kind_is_judged() {
    play(1, |server| async move {
        for (number, (lines, rule)) in CLAIMS.into_iter().enumerate() {
            let (a, b) = (client(&server).await, client(&server).await);
            let object = format!("/o{number}");
            for (of, name) in [(&a, "a"), (&b, "b")] {
                let name = format!("{name}{number}");
                server.perform("name", json!({"client": id(of), "name": name})).unwrap();
            }
            for line in lines.replace("/o", &object).split('|') {
                let (who, rest) = line.split_once(' ').unwrap();
                server
                    .control()
                    .report(&format!("{who}{number} {rest}"))
                    .unwrap_or_else(|no| panic!("{line}: {no}"));
            }
            let judged = server.verdict();
            let broken: std::collections::BTreeSet<&str> = judged
                .report()
                .findings
                .iter()
                .filter(|one| one.path == object)
                .map(|one| one.rule.name())
                .collect();
            let expected = (!rule.is_empty()).then_some(rule);
            assert_eq!(broken, expected.into_iter().collect(), "{lines}\n{}", judged.report());
        }
    });
}

#[test]
fn what_a_process_believes_it_believes_over_its_sessions() {
    play(1, |server| async move {
        let (first, second) = (client(&server).await, client(&server).await);
        server.perform("name", json!({"client": id(&first), "name": "a"})).unwrap();
        server.perform("name", json!({"client": id(&second), "name": "a~2"})).unwrap();
        let report = |line: &str| server.control().report(line);
        report("a acquired lock /l").unwrap();
        assert!(report("a~2 acquired lock /l").unwrap_err().why.contains("already"));
        report("a~2 released lock /l").unwrap();
        report("a asks lock /l").unwrap();
        server.perform("process", json!({"client": "a~2", "state": "gone"})).unwrap();
        assert!(
            report("a refused lock /l").unwrap_err().why.contains("has not reported"),
            "its call went with it"
        );
        let deaths =
            server.history().events.iter().filter(|event| matches!(event.what, What::Crash { .. })).count();
        assert_eq!(deaths, 2, "all sessions of the process");
        server.perform("quiesce", json!({})).unwrap();
        assert!(server.history().events.iter().any(|event| event.what == What::Stopped));
        for (line, said) in [
            ("a released semaphore /s", "the first report about the semaphore /s is its limit"),
            ("a limit semaphore /s none", "a limit is a number from 1"),
            ("a acquired shared_lock /r", "a report of a shared lock needs `item`: read or write"),
            ("a takes lock /l", "/l is a lock"),
            ("a owns partition /p", "a report of owns needs `item`"),
        ] {
            assert_eq!(report(line).unwrap_err().why, said);
        }
        let wrong = server.perform("process", json!({"client": "a", "state": "dead"})).unwrap_err().why;
        assert_eq!(
            wrong,
            "process: there is no state of a process \"dead\"; there are stopped, running, gone"
        );
    });
}

#[test]
fn what_makes_no_sense_gets_one_sentence() {
    play(1, |server| async move {
        for (verb, fields, said) in [
            ("crash", json!({"server": 3}), "there is no server 3: the only one has the number 0"),
            ("elect", json!({}), "elect needs an ensemble of more than one server"),
            ("expire", json!({"client": "x"}), "there is no client \"x\""),
            ("lose-reply", json!({"count": 0}), "a count is at least 1"),
            ("cut", json!({"from": 0}), "cut needs `server`, or two different servers as `from` and `to`"),
        ] {
            assert_eq!(server.perform(verb, fields).unwrap_err().why, said);
        }
        let zk = client(&server).await;
        let report = |event: &str| json!({"client": id(&zk), "object": "/l", "event": event});
        assert!(server.perform("report", report("released")).unwrap_err().why.contains("has not reported"));
        server.perform("report", report("acquired")).unwrap();
        assert!(server.perform("report", report("acquired")).unwrap_err().why.contains("already"));
        assert_eq!(server.perform("report", report("leader")).unwrap_err().why, "/l is a lock");
        let is_return = |what| matches!(what, What::Return { outcome: Outcome::Done, .. });
        assert_eq!(server.history().events.iter().filter(|event| is_return(event.what)).count(), 1);
    });
}
