//! Programs that are wrong on purpose are seen, by the right rule; ours are silent under the same plans.

use serde_json::json;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zk_hunt::attempt::{Attempt, attempt};
use zk_hunt::plan::Plan;
use zk_hunt::program::Program;

/// Tries a plan once on a scenario of ours, in processes of their own.
fn tried(scenario: &str, kind: &str, plan: &str) -> Attempt {
    let folder = tempfile::tempdir().unwrap();
    let program = json!({
        "name": "ours",
        "version": "of this tree",
        "language": "Rust",
        "command": [env!("CARGO_BIN_EXE_hunt-ours")],
        "probe": ["true"],
        "install": "",
        "scenarios": [{
            "name": scenario, "kind": kind, "object": "/hunted", "clients": 3, "hold": "", "promises": [],
            "lasting": scenario.starts_with("lasting-"),
        }],
    });
    std::fs::write(folder.path().join("program.json"), program.to_string()).unwrap();
    let program = Program::read(folder.path()).unwrap();
    let prepared = program.prepare(&folder.path().join("cache")).unwrap();
    let scenario = program.scenario(scenario).unwrap();
    let plan = Plan::read(plan).unwrap();
    let log = folder.path().join("log");
    let attempt = attempt(&prepared, scenario, &plan, 1, &log, &AtomicBool::new(false)).unwrap();
    let said = std::fs::read_to_string(log).unwrap();
    assert_eq!(attempt.refused, Vec::<String>::new(), "{said}");
    assert_eq!(attempt.struck.len(), plan.steps.len(), "every step was carried out");
    attempt
}

#[track_caller]
fn breaks(attempt: &Attempt, rule: &str) {
    let broken = attempt.broken();
    assert!(broken.iter().any(|one| one.rule == rule), "{rule} is not among {broken:?}");
}

#[track_caller]
fn is_silent(attempt: &Attempt) {
    assert_eq!(attempt.broken(), Vec::new());
    assert_eq!(attempt.restless, Vec::<&str>::new(), "{:?}", attempt.troubles);
}

const EXPIRES: &str = r#"{"on": "a acquired", "nth": 1, "after": "5ms", "verb": "expire", "client": "a"}"#;

#[test]
fn a_holder_that_does_not_look_at_its_session_holds_beside_the_next_one() {
    breaks(&tried("lock-broken", "lock", EXPIRES), "MX-2");
    is_silent(&tried("lock", "lock", EXPIRES));
}

#[test]
fn a_consumer_that_forgets_what_a_lost_reply_took_loses_an_item() {
    let plan = [2, 4, 6].map(|nth| {
        format!(r#"{{"on": "a takes", "nth": {nth}, "verb": "lose-reply", "client": "a", "op": "delete", "path": "/hunted/"}}"#)
    });
    let plan = &plan.join("\n");
    breaks(&tried("queue-broken", "queue", plan), "QU-2");
    is_silent(&tried("queue", "queue", plan));
}

#[test]
fn a_counter_adds_once_when_the_reply_to_its_transaction_is_lost() {
    let plan = [3, 6, 9].map(|nth| {
        format!(r#"{{"on": "a adds", "nth": {nth}, "verb": "lose-reply", "client": "a", "op": "multi", "path": "/hunted"}}"#)
    });
    let attempt = tried("counter", "counter", &plan.join("\n"));
    assert_eq!(attempt.in_vain, 0, "each reply was lost");
    is_silent(&attempt);
}

#[test]
fn a_semaphore_grants_once_when_the_reply_to_its_transaction_is_lost() {
    let plan = [3, 6, 9].map(|nth| {
        format!(r#"{{"on": "a asks", "nth": {nth}, "verb": "lose-reply", "client": "a", "op": "multi", "path": "/hunted"}}"#)
    });
    let plan = format!("{}\n{EXPIRES}", plan.join("\n"));
    let attempt = tried("semaphore", "semaphore", &plan);
    assert_eq!(attempt.in_vain, 0, "each reply was lost");
    is_silent(&attempt);
}

#[test]
fn a_member_that_outlives_its_session_is_none() {
    let plan = r#"{"on": "a joined", "nth": 1, "after": "20ms", "verb": "expire", "client": "a"}"#;
    breaks(&tried("group-broken", "group", plan), "GM-9");
    is_silent(&tried("group", "group", plan));
}

#[test]
fn a_process_that_is_stopped_or_killed_breaks_no_promise() {
    for plan in [
        r#"{"on": "a acquired", "nth": 2, "verb": "stop-process", "client": "a", "for": "4500ms"}"#,
        r#"{"on": "a acquired", "nth": 2, "verb": "kill-process", "client": "a", "for": "500ms"}"#,
    ] {
        is_silent(&tried("lock", "lock", plan));
    }
}

#[test]
fn a_leader_that_stands_no_more_after_its_session_is_missed() {
    let plan = r#"{"on": "any held", "after": "100ms", "verb": "expire"}"#;
    let broken = tried("lasting-election-broken", "election", plan);
    breaks(&broken, "PR-1");
    assert!(broken.without.is_some_and(|(time, is_held)| time > Duration::from_secs(10) && !is_held));
    for (scenario, kind) in
        [("lasting-election", "election"), ("lasting-latch", "election"), ("lasting-node", "group")]
    {
        let ours = tried(scenario, kind, plan);
        is_silent(&ours);
        assert!(ours.without.is_some_and(|(_, is_held)| is_held), "{scenario}: {:?}", ours.without);
    }
}

#[test]
fn what_lasts_survives_a_shutdown_and_the_deletion_of_its_directory() {
    let plan = r#"{"on": "any held", "after": "100ms", "verb": "delete", "path": "/hunted"}
        {"on": "any held", "after": "1500ms", "verb": "end-process", "client": "any", "for": "100ms"}"#;
    for (scenario, kind) in [("lasting-election", "election"), ("lasting-node", "group")] {
        let ours = tried(scenario, kind, plan);
        is_silent(&ours);
        assert!(ours.without.is_some_and(|(_, is_held)| is_held), "{scenario}: {:?}", ours.without);
    }
}
