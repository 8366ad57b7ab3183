//! Scenarios, played on an ensemble with scripted replies.

use super::case::parse;
use super::expected::{Results, StepResult};
use super::fake::{Fake, Says};
use super::play::{Stuck, play};
use super::scenario::Meta;

fn meta() -> Meta {
    let text = r#"{"meta": 1, "members": 3, "tick_ms": 500, "initLimit": 10, "syncLimit": 5}"#;
    serde_json::from_str(text).expect("it describes an ensemble")
}

/// Plays steps, one per line, with a session `a` that is already open on `F1`.
fn try_steps(fake: Fake, seed: u64, steps: &str) -> Result<Results, Stuck> {
    let steps = steps.trim().lines().collect::<Vec<_>>().join(", ");
    let open = r#"{"s": "a", "connect": "F1", "T": 16, "as_": "open"}"#;
    let text = format!(r#"{{"id": "x", "steps": [{open}, {steps}], "allowed": [{{"open": "ok"}}]}}"#);
    let scenario = parse(&text, &meta()).unwrap_or_else(|why| panic!("{why}"));
    play(fake, &scenario, &meta(), seed)
}

/// The labelled results of steps, without that of the first connect.
fn results(fake: Fake, steps: &str) -> String {
    let mut results = try_steps(fake, 1, steps).unwrap_or_else(|stuck| panic!("{stuck}"));
    results.remove("open");
    results.iter().map(|(label, told)| format!("{label} {told}")).collect::<Vec<_>>().join(", ")
}

/// The log of the ensemble, from the first connect of the steps on.
fn log(fake: Fake, steps: &str) -> String {
    let log = fake.log.clone();
    results(fake, steps);
    let log = log.borrow();
    log[3..].iter().map(|line| line[7..].to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_scenario_has_a_node_of_its_own_made_at_the_leader() {
    let fake = Fake::new();
    let log = fake.log.clone();
    results(fake, r#"{"s": "a", "op": "exists", "path": "/c"}"#);
    let wanted = [
        "     0 connect 1 session 0 seen 0",
        "     1 0: create /scenario",
        "     2 0: closeSession",
        "     3 connect 0 session 0 seen 0",
        "     4 1: exists /scenario/c",
    ];
    assert_eq!(*log.borrow(), wanted);
}

#[test]
fn an_ensemble_that_does_not_get_ready_is_no_result() {
    let fake = Fake::new().say("create /scenario", &[Says::Error(-110)]);
    let why = Stuck::NotReady("the create of its own session: NodeExists".to_owned());
    assert_eq!(try_steps(fake, 1, r#"{"mark": "t"}"#), Err(why));
}

#[test]
fn roles_are_those_of_the_beginning_except_the_new_ones() {
    let steps = r#"
        {"fault": "pause", "m": ["L", "F1", "F2"]}
        {"fault": "kill", "m": "L"}
        {"fault": "disk_stop", "m": "NEWL"}
        {"fault": "apply_stop", "m": "NEWF"}
        {"fault": "commit_stop"}
        {"fault": "start", "m": "L"}"#;
    let wanted = "connect 0 session 0 seen 0\npause 1\npause 0\npause 2\nkill 1\nstall 2 Disk\nstall 0 Apply\n\
                  stall 1 Commit\nstart 1";
    assert_eq!(log(Fake::new(), steps), wanted);
}

#[test]
fn the_new_follower_is_one_that_serves_or_else_one_that_runs() {
    let steps = r#"
        {"fault": "pause", "m": "F1"}
        {"fault": "disk_stop", "m": "NEWF"}
        {"fault": "resume", "m": "F1"}
        {"fault": "kill", "m": "F1"}
        {"fault": "pause", "m": "F2"}
        {"fault": "apply_stop", "m": "NEWF"}"#;
    let wanted =
        "connect 0 session 0 seen 0\npause 0\nstall 2 Disk\nresume 0\nkill 0\npause 2\nstall 2 Apply";
    assert_eq!(log(Fake::new(), steps), wanted);
}

#[test]
fn links_go_one_way_or_both() {
    let steps = r#"
        {"fault": "hold", "frm": "L", "to": ["F1", "F2"]}
        {"fault": "release", "frm": ["L"], "to": "F2"}
        {"fault": "cut", "a": "F2", "b": ["L", "F1"]}
        {"fault": "drop", "frm": "F1", "to": "L"}
        {"fault": "heal"}"#;
    let wanted = "connect 0 session 0 seen 0\nhold 1->0\nhold 1->2\nrelease 1->2\n\
                  lose 2->1\nlose 1->2\nlose 2->0\nlose 0->2\nlose 0->1\n\
                  heal 1->0\nheal 1->2\nheal 0->1\nheal 0->2\nheal 2->1\nheal 2->0";
    assert_eq!(log(Fake::new(), steps), wanted);
}

#[test]
fn what_comes_of_a_connect() {
    let ok = Says::Error(0);
    let late = Says::Late(600, Box::new(ok.clone()));
    let fake = Fake::new().say("connect 2", &[Says::Expired, Says::Close, Says::Refuse, late, Says::Nothing]);
    let steps = r#"
        {"s": "a", "connect": "F2", "as_": "1"}
        {"s": "a", "connect": "F2", "as_": "2"}
        {"s": "a", "connect": "F2", "as_": "3"}
        {"s": "a", "connect": "F2", "wait": 1, "as_": "4"}
        {"s": "a", "finish_connect": 1, "as_": "5"}
        {"s": "a", "connect": "F2", "wait": 1, "as_": "6"}
        {"s": "a", "finish_connect": 1, "to": 1, "as_": "7"}
        {"fault": "kill", "m": "F1"}
        {"s": "a", "connect": "F1", "as_": "8"}
        {"s": "a", "op": "ping", "as_": "9"}"#;
    let wanted = "1 expired, 2 closed, 3 refused, 4 timeout, 5 ok, 6 timeout, 7 timeout, 8 refused, 9 CLOSED";
    assert_eq!(results(fake, steps), wanted);
}

#[test]
fn a_connect_is_tried_again_for_as_long_as_it_may() {
    let fake = Fake::new().say("connect 2", &[Says::Close, Says::Refuse, Says::Error(0), Says::Close]);
    let steps = r#"
        {"mark": "t"}
        {"s": "a", "connect": "F2", "retry": 2, "as_": "c1"}
        {"elapsed": "t", "as_": "t1"}
        {"s": "a", "connect": "F2", "retry": 2, "as_": "c2"}
        {"elapsed": "t", "as_": "t2"}"#;
    assert_eq!(results(fake, steps), "c1 ok, c2 closed, t1 0.046, t2 2.048");
}

#[test]
fn a_hello_has_the_session_and_the_zxid_of_its_last_reply() {
    let steps = r#"
        {"s": "a", "op": "create", "path": "/c"}
        {"s": "a", "op": "setData", "path": "/c", "async_": 1, "as_": "w"}
        {"s": "b", "connect": "F2", "T": 16}
        {"s": "a", "drop": 1}
        {"s": "a", "connect": "F2"}
        {"s": "a", "op": "setWatches", "data": ["/c"], "relativeZxid": "last"}"#;
    // The reply to setData has arrived by the time of the drop.
    let wanted = "connect 0 session 0 seen 0\n1: create /scenario/c\n1: setData /scenario/c\n\
                  connect 2 session 0 seen 0\n1: cut\nconnect 2 session 77 seen 100000003\n\
                  3: setWatches from 100000003";
    assert_eq!(log(Fake::new(), steps), wanted);
}

#[test]
fn replies_are_told_in_the_words_of_scenarios() {
    let fake = Fake::new()
        .say("getData /scenario/c", &[Says::Data("1"), Says::Error(-101)])
        .say("getChildren /scenario", &[Says::Names(&["b", "a"]), Says::Names(&[])])
        .say("getChildren /zookeeper", &[Says::Names(&["quota", "config"])])
        .say("create /scenario/c/s-", &[Says::Path("/scenario/c/s-0000000000")])
        .say("delete /scenario", &[Says::Error(-111)])
        .say("multi", &[Says::Errors(&[0, -110, -2]), Says::Error(0)]);
    let steps = r#"
        {"s": "a", "op": "getData", "path": "/c", "as_": "1"}
        {"s": "a", "op": "getData", "path": "/c", "as_": "2"}
        {"s": "a", "op": "getChildren", "path": "/", "as_": "3"}
        {"s": "a", "op": "getChildren", "path": "/", "as_": "4"}
        {"s": "a", "op": "getChildren", "path": "/zookeeper", "as_": "5"}
        {"s": "a", "op": "create", "path": "/c/s-", "flags": 3, "as_": "6"}
        {"s": "a", "op": "create", "path": "/c/s-", "flags": 1, "as_": "7"}
        {"s": "a", "op": "delete", "path": "/", "as_": "8"}
        {"s": "a", "op": "multi", "ops": [["create", {"path": "/m", "flags": 1}], ["delete", {"path": "/n"}]], "as_": "9"}
        {"s": "a", "op": "multi", "ops": [], "as_": "A"}
        {"s": "a", "op": "sync", "path": "/", "as_": "B"}
        {"s": "a", "op": "ping", "as_": "C"}
        {"s": "a", "op": "closeSession", "as_": "D"}"#;
    let wanted = "1 OK:1, 2 NoNode, 3 OK:a,b, 4 OK:, 5 OK:config,quota, 6 OK:/c/s-0000000000, 7 OK, 8 NotEmpty, \
                  9 NodeExists, A OK, B OK, C OK, D OK";
    assert_eq!(results(fake, steps), wanted);
}

#[test]
fn a_reply_that_is_awaited_can_be_held_and_then_come() {
    let fake = Fake::new().say("sync /scenario", &[Says::Held(Box::new(Says::Error(0)))]);
    let steps = r#"
        {"s": "a", "op": "sync", "path": "/", "async_": 1, "as_": "s"}
        {"mark": "t"}
        {"await_": "s", "to": 0.5, "as_": "held"}
        {"elapsed": "t", "as_": "t"}
        {"fault": "disk_resume", "m": "L"}
        {"await_": "s", "to": 6}"#;
    assert_eq!(results(fake, steps), "held TIMEOUT, s OK, t 0.5");
}

#[test]
fn a_reply_is_awaited_on_the_connection_that_the_request_was_sent_on() {
    let late = Says::Late(100, Box::new(Says::Error(0)));
    let fake = Fake::new().say("create /scenario/c", &[late, Says::Nothing]);
    let steps = r#"
        {"s": "a", "op": "create", "path": "/c", "async_": 1, "as_": "w"}
        {"s": "a", "move": "F2", "as_": "m"}
        {"s": "a", "op": "ping", "as_": "p"}
        {"await_": "w", "to": 6}
        {"s": "a", "op": "create", "path": "/c", "async_": 1, "as_": "x"}
        {"s": "a", "drop": 1}
        {"await_": "x"}
        {"s": "a", "op": "create", "path": "/c", "async_": 1, "as_": "y"}
        {"await_": "y", "as_": "z"}"#;
    assert_eq!(results(fake, steps), "m ok, p OK, w OK, x CLOSED, z CLOSED");
}

#[test]
fn a_moved_session_can_use_its_old_connection() {
    let fake = Fake::new().say("setData /scenario/c", &[Says::Close]);
    let steps = r#"
        {"s": "a", "move": "F2"}
        {"s": "a", "op": "ping"}
        {"s": "a", "use": "old"}
        {"s": "a", "op": "ping"}
        {"s": "a", "op": "setData", "path": "/c", "as_": "w"}
        {"s": "a", "op": "ping", "as_": "p1"}
        {"s": "a", "use": "new"}
        {"s": "a", "op": "ping", "as_": "p2"}"#;
    let said = |fake: Fake| fake.say("setData /scenario/c", &[Says::Close]);
    assert_eq!(results(fake, steps), "p1 CLOSED, p2 OK, w CLOSED");
    let wanted = "connect 0 session 0 seen 0\nconnect 2 session 77 seen 0\n2: ping\n1: ping\n\
                  1: setData /scenario/c\n1: ping\n2: ping";
    assert_eq!(log(said(Fake::new()), steps), wanted);
}

#[test]
fn frames_that_are_left_on_the_old_connection() {
    let fake = Fake::new()
        .say("setData /scenario/c", &[Says::Error(0), Says::Nothing])
        .say("sync /scenario", &[Says::Late(50, Box::new(Says::Close))]);
    let steps = r#"
        {"s": "a", "op": "setData", "path": "/c", "async_": 1, "as_": "w"}
        {"await_": "w"}
        {"s": "a", "op": "setData", "path": "/c", "async_": 1}
        {"s": "a", "op": "exists", "path": "/c", "async_": 1}
        {"s": "a", "op": "exists", "path": "/d", "async_": 1}
        {"s": "a", "op": "sync", "path": "/", "async_": 1}
        {"s": "a", "move": "F2"}
        {"s": "a", "old_frames": 1, "as_": "of"}"#;
    assert_eq!(results(fake, steps), "of #2:OK #3:OK closed, w OK");
}

#[test]
fn notifications_are_told_once() {
    let three =
        Says::Behind(&[(3, "/scenario/d"), (1, "/scenario/new"), (4, "/scenario")], Box::new(Says::Error(0)));
    let late = Says::Late(40, Box::new(Says::Behind(&[(2, "/scenario/d")], Box::new(Says::Error(0)))));
    let fake = Fake::new().say("exists /scenario/d", &[three, Says::Error(0)]).say("sync /scenario", &[late]);
    let steps = r#"
        {"s": "a", "op": "exists", "path": "/d", "watch": true}
        {"s": "a", "event": 1, "as_": "1"}
        {"s": "a", "events": 1, "as_": "2"}
        {"s": "a", "events": 1, "as_": "3"}
        {"s": "a", "event": 1, "to": 0.5, "as_": "4"}
        {"s": "a", "op": "sync", "path": "/", "async_": 1}
        {"s": "a", "events": 1, "as_": "5"}
        {"s": "a", "drop": 1}
        {"s": "a", "event": 1, "as_": "6"}"#;
    let wanted = "1 NodeDataChanged, 2 NodeChildrenChanged:/,NodeCreated:/new, 3 , 4 TIMEOUT, 5 NodeDeleted:/d, \
                  6 CLOSED";
    assert_eq!(results(fake, steps), wanted);
}

#[test]
fn a_step_is_repeated_until_something_comes_of_it() {
    let no = Says::Error(-101);
    let fake = Fake::new().say("exists /scenario/c", &[Says::Error(0), Says::Error(0), no]);
    let steps = r#"
        {"mark": "t"}
        {"wait_ticks": 1}
        {"until": {"s": "a", "op": "exists", "path": "/c"}, "equals": "NoNode", "max": 4, "since": "t", "as_": "gone", "also": {"s": "a", "op": "ping", "as_": "p"}}
        {"until": {"s": "a", "op": "exists", "path": "/c"}, "equals": "NoNode", "since": null, "as_": "at_once"}
        {"until": {"s": "a", "op": "ping"}, "equals": "CLOSED", "max": 3, "since": "t", "as_": "vain"}
        {"elapsed": "t", "as_": "t"}"#;
    // Three reads and two pings of 1 ms, two pauses of 10 ms.
    assert_eq!(results(fake, steps), "at_once 0.002, gone 1.05, p OK, t 3.012, vain TIMEOUT");
}

#[test]
fn a_step_is_repeated_for_some_time() {
    let fake = Fake::new().say("exists /scenario/c", &[Says::Error(0), Says::Error(0), Says::Error(-101)]);
    let steps = r#"
        {"mark": "t"}
        {"spin": {"s": "a", "op": "exists", "path": "/c", "as_": "last"}, "ticks": 4, "as_": "all"}
        {"elapsed": "t", "as_": "t"}"#;
    assert_eq!(results(fake, steps), "all OK,NoNode, last NoNode, t 4.004");
}

#[test]
fn one_of_two_ways_is_gone() {
    let fake = Fake::new().say("exists /scenario/c", &[Says::Error(-101)]);
    let steps = r#"
        {"s": "a", "op": "exists", "path": "/c", "as_": "e"}
        {"if_": "e", "equals": "NoNode", "then": {"s": "a", "op": "ping", "as_": "1"}, "else": {"s": "a", "op": "ping", "as_": "2"}}
        {"if_": "e", "equals": "OK", "then": [{"s": "a", "op": "ping", "async_": 1, "as_": "3"}], "else": {"s": "a", "op": "ping", "as_": "4"}}
        {"await_": "3"}"#;
    assert_eq!(results(fake, steps), "1 OK, 4 OK, e NoNode");
}

#[test]
fn zxids_are_counted_from_a_mark() {
    let steps = r#"
        {"s": "a", "op": "create", "path": "/c"}
        {"mark": "t"}
        {"s": "a", "op": "setData", "path": "/c"}
        {"mark": "u"}
        {"s": "a", "op": "delete", "path": "/c"}
        {"zxid_delta": "t", "as_": "t"}
        {"zxid_delta": 1, "as_": "u"}
        {"zxid_delta": 1, "since": "t", "as_": "v"}"#;
    assert_eq!(results(Fake::new(), steps), "t 2, u 1, v 2");
}

#[test]
fn members_are_waited_for() {
    let down = r#"
        {"wait": "all", "as_": "1"}
        {"wait": "caught_up", "as_": "2"}
        {"fault": "kill", "m": "F1"}
        {"wait": 2, "to": 1, "as_": "3"}
        {"wait": "all", "to": 1, "as_": "4"}"#;
    assert_eq!(results(Fake::new(), down), "1 OK, 2 OK, 3 OK, 4 TIMEOUT");
    let vain = r#"
        {"fault": "kill", "m": "F1"}
        {"wait": "all", "to": 1}"#;
    let why = try_steps(Fake::new(), 1, vain).unwrap_err().to_string();
    assert_eq!(why, "step 3 timed out after 1 ticks: not all members serve");
}

#[test]
fn chance_is_the_seed() {
    let steps = r#"
        {"mark": "t"}
        {"wait_ticks": {"random": [1, 2]}}
        {"elapsed": "t", "as_": "t"}"#;
    let drawn = |seed| try_steps(Fake::new(), seed, steps).unwrap()["t"].clone();
    let all: Vec<StepResult> = (0..20).map(drawn).collect();
    assert_eq!(drawn(7), all[7]);
    assert!(
        all.iter().all(|told| matches!(told, StepResult::Number(ticks) if (1.0..=2.0).contains(ticks))),
        "{all:?}"
    );
    assert!(all.iter().any(|told| *told != all[0]), "{all:?}");
}
