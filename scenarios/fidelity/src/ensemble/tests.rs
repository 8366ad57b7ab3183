//! Scenarios read, judged, and counted.

use super::case::{CaseError, parse, parse_suite};
use super::expected::{Results, StepResult};
use super::fake::{Fake, Says};
use super::judge::judge;
use super::run::run;
use super::scenario::{Meta, Scenario};
use std::path::Path;

const META: &str =
    r#"{"meta": 1, "members": 3, "tick_ms": 500, "initLimit": 10, "syncLimit": 5, "note": "in ticks"}"#;

fn meta() -> Meta {
    serde_json::from_str(META).expect("it describes an ensemble")
}

/// A file with every kind of step, every fault and every option.
const SAMPLE: &str = include_str!("sample.jsonl");

#[test]
fn everything_that_the_form_has_is_read() {
    let suite = parse_suite(SAMPLE, Path::new("sample.jsonl")).unwrap();
    assert_eq!(suite.bad.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    let steps: Vec<usize> = suite.scenarios.iter().map(|placed| placed.scenario.steps.len()).collect();
    assert_eq!(steps, [26, 22, 14]);
    assert_eq!((suite.meta.members, suite.meta.init_limit, suite.meta.sync_limit), (3, 10, 5));
    let last = &suite.scenarios[2];
    assert_eq!((last.line, last.scenario.exec, last.scenario.runs), (5, false, 12));
}

/// The error of a scenario with these steps.
fn refused(steps: &str) -> String {
    let open = r#"{"s": "a", "connect": "F1", "T": 16, "as_": "c"}"#;
    let text = format!(r#"{{"id": "x", "steps": [{open}, {steps}], "allowed": [{{"c": "ok"}}]}}"#);
    parse(&text, &meta()).expect_err("it cannot be played")
}

#[test]
fn nonsense_is_said_in_a_sentence() {
    let cases = [
        (r#"{"s": "a", "op": "ping", "tto": 1}"#, "unknown field `tto`"),
        (r#"{"s": "a", "op": "ping", "ms": 1}"#, "unknown field `ms`"),
        (r#"{"s": "a", "op": "pong"}"#, "there is no operation \"pong\""),
        (r#"{"s": "a", "op": "exists"}"#, "`path` is missing"),
        (r#"{"s": "b", "op": "ping"}"#, "session b was never opened"),
        (r#"{"s": "b", "connect": "F1"}"#, "`T` is missing: session b is a new one"),
        (r#"{"s": "a", "connect": "F3"}"#, "there is no member \"F3\" in an ensemble of 3"),
        (r#"{"s": "a", "move": "G1"}"#, "there is no member \"G1\" in an ensemble of 3"),
        (r#"{"s": "a", "drop": 2}"#, "`drop` should be 1 and is 2"),
        (r#"{"s": "a", "drop": 1, "as_": "d"}"#, "a drop has no result"),
        (r#"{"s": "a", "use": "both"}"#, "unknown variant `both`"),
        (r#"{"s": "a"}"#, "is no step of any kind"),
        (r#"{"fault": "burn", "m": "L"}"#, "there is no fault \"burn\""),
        (r#"{"fault": "kill"}"#, "it has members, `m`, and nothing else"),
        (r#"{"fault": "kill", "m": "L", "to": "F1"}"#, "it has members, `m`, and nothing else"),
        (r#"{"fault": "kill", "m": ["L", "F9"]}"#, "there is no member \"F9\""),
        (r#"{"fault": "hold", "frm": "L"}"#, "a link is `frm` and `to`, or `a` and `b`"),
        (r#"{"fault": "cut"}"#, "a link is `frm` and `to`, or `a` and `b`"),
        (r#"{"await_": "w"}"#, "no request w has been sent"),
        (r#"{"elapsed": "t", "as_": "e"}"#, "no mark t has been set"),
        (r#"{"until": {"mark": "t"}, "equals": "OK"}"#, "the repeated step has no result"),
        (r#"{"until": {"s": "a", "op": "pin"}, "equals": "OK"}"#, "there is no operation \"pin\""),
        (r#"{"until": {"s": "a", "op": "ping"}, "equals": {}}"#, "{} is not a result"),
        (r#"{"spin": {"s": "a", "op": "ping", "x": 1}, "ticks": 1}"#, "unknown field `x`"),
        (r#"{"if_": "d", "equals": "OK", "then": []}"#, "no step before has the label d"),
        (r#"{"wait": "some"}"#, "one waits for \"caught_up\", \"all\" or a number of members"),
        (r#"{"wait_ticks": -1}"#, "-1 ticks are no time"),
        (r#"{"wait_ticks": {"random": [2, 1]}}"#, "the range from 2 to 1 is empty"),
        (r#"{"wait_ticks": {"chance": [2, 1]}}"#, "`wait_ticks` is a number, or {\"random\": [low, high]}"),
    ];
    for (step, why) in cases {
        let said = refused(step);
        assert!(said.starts_with("step 2: ") && said.contains(why), "{step}\nsays {said}\nand not {why}");
    }
}

#[test]
fn what_a_scenario_judges_by_has_to_come_of_a_step() {
    let text = |allowed: &str, more: &str| {
        format!(
            r#"{{"id": "x", "steps": [{{"mark": "t"}}, {{"elapsed": "t", "as_": "e"}}], "allowed": {allowed}{more}}}"#
        )
    };
    let refused = |allowed, more| parse(&text(allowed, more), &meta()).expect_err("it cannot be played");
    assert_eq!(refused("[]", ""), "no outcome is allowed");
    assert_eq!(refused(r#"[{"f": 1}]"#, ""), "allowed: no step has the label f");
    assert_eq!(refused(r#"[{"e": 1}]"#, r#", "never": [{}]"#), "never: an outcome is empty");
    assert!(refused(r#"[{"e": [[2, 1]]}]"#, "").contains("is not a result"));
    assert!(refused(r#"[{"e": []}]"#, "").contains("is not a result"));
    assert!(refused(r#"[{"e": 1}]"#, r#", "nevr": []"#).starts_with("unknown field `nevr`"));
}

#[test]
fn a_line_that_cannot_be_played_keeps_no_other_from_it() {
    let good =
        r#"{"id": "x", "steps": [{"mark": "t"}, {"elapsed": "t", "as_": "e"}], "allowed": [{"e": 0}]}"#;
    let file = Path::new("some.jsonl");
    let suite = parse_suite(&format!("{META}\n\nnonsense\n{good}\n"), file).unwrap();
    assert_eq!(suite.scenarios.iter().map(|placed| placed.line).collect::<Vec<_>>(), [4]);
    let bad = suite.bad.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        bad,
        ["line 3 of some.jsonl is not a scenario that can be played: expected ident, at column 2"]
    );
    assert!(matches!(parse_suite(META, file), Err(CaseError::Empty(_))));
    let why = parse_suite(good, file).unwrap_err().to_string();
    assert!(
        why.starts_with("line 1 of some.jsonl does not describe the ensemble, as the first one has to: "),
        "{why}"
    );
}

/// A scenario with the labels w, r, t and f, and these allowed and forbidden outcomes.
fn judging(allowed: &str, never: &str) -> Scenario {
    let op = |label: &str| format!(r#"{{"s": "a", "op": "exists", "path": "/{label}", "as_": "{label}"}}"#);
    let steps = [
        r#"{"s": "a", "connect": "F1", "T": 16}"#.to_owned(),
        op("w"),
        op("r"),
        r#"{"mark": "m"}, {"elapsed": "m", "as_": "t"}, {"s": "a", "old_frames": 1, "as_": "f"}"#.to_owned(),
    ];
    let text = format!(
        r#"{{"id": "x", "about": "one thing", "steps": [{}], "allowed": {allowed}, "never": {never}}}"#,
        steps.join(", ")
    );
    parse(&text, &meta()).unwrap_or_else(|why| panic!("{why}"))
}

fn verdict(allowed: &str, never: &str, results: &[(&str, StepResult)]) -> String {
    let results: Results = results.iter().map(|(label, told)| ((*label).to_owned(), told.clone())).collect();
    judge(&judging(allowed, never), &results).to_string()
}

#[test]
fn a_run_shows_one_of_what_is_allowed() {
    let shown =
        [("w", StepResult::text("OK")), ("r", StepResult::text("OK:1")), ("t", StepResult::Number(1.5))];
    let says = |allowed: &str| verdict(allowed, "[]", &shown);
    assert_eq!(says(r#"[{"w": "OK"}]"#), "it is allowed");
    assert_eq!(says(r#"[{"w": "OK", "r": ["OK:0", "OK:1"], "t": [[1.5, 3]]}]"#), "it is allowed");
    assert_eq!(says(r#"[{"w": "CLOSED"}, {"t": ["TIMEOUT", [1, 2]], "f": null}]"#), "it is allowed");
    assert_eq!(says(r#"[{"t": 1.5}]"#), "it is allowed");
    assert_eq!(says(r#"[{"t": "1.5"}]"#), "it is allowed");
    assert_eq!(says(r#"[{"w": "OK", "r": ["OK:0", "OK:2"]}]"#), "r should be OK:0 or OK:2 and is OK:1");
    assert_eq!(says(r#"[{"t": [[1.6, 3]]}]"#), "t should be 1.6 to 3 and is 1.5");
    assert_eq!(says(r#"[{"f": "closed"}]"#), "f should be closed and is nothing");
    let nearest = "r should be OK:2 and is OK:1 (by the nearest of 2 outcomes, the one at place 2)";
    assert_eq!(says(r#"[{"w": "CLOSED", "r": "OK:0"}, {"w": "OK", "r": "OK:2"}]"#), nearest);
}

#[test]
fn what_must_never_be_is_looked_at_first() {
    let shown = [("w", StepResult::text("OK")), ("r", StepResult::text("OK:0"))];
    let says = |never: &str| verdict(r#"[{"w": "OK"}]"#, never, &shown);
    assert_eq!(says(r#"[{"r": "OK:0", "w": "OK"}]"#), "there must never be r OK:0 with w OK");
    assert_eq!(says(r#"[{"r": "OK:0", "w": "CLOSED"}]"#), "it is allowed");
    assert_eq!(says(r#"[{"r": "OK:1"}, {"r": "OK:0"}]"#), "there must never be r OK:0");
}

#[test]
fn frames_can_be_written_with_their_numbers_or_without() {
    let says = |expected: &str| {
        let shown = [("f", StepResult::Frames("#2:OK #3:NoNode closed".to_owned()))];
        verdict(&format!(r#"[{{"f": "{expected}"}}]"#), "[]", &shown)
    };
    assert_eq!(says("#2:OK #3:NoNode closed"), "it is allowed");
    assert_eq!(says("OK,NoNode,CLOSED"), "it is allowed");
    assert!(says("#1:OK #3:NoNode closed").starts_with("f should be "));
    assert!(says("OK,NoNode").starts_with("f should be "));
}

#[test]
fn runs_are_counted_by_what_they_show() {
    let allowed = r#"[{"w": ["OK", "CLOSED"], "r": "OK", "t": [[0, 1]]}, {"w": "NoNode", "r": ["OK", "NoNode"]}, {"w": "NodeExists"}]"#;
    let scenario = judging(allowed, r#"[{"w": "NoNode", "r": "NotEmpty"}]"#);
    // By the seed: two allowed outcomes, outside, forbidden, and stuck.
    let make = |seed: u64, _: &Meta| {
        let (w, r) = [(0, 0), (-101, 0), (0, -101), (-101, -111), (0, 0), (0, 0)][seed as usize % 6];
        let fake = Fake::new().say("exists /scenario/w", &[Says::Error(w)]);
        let fake = fake.say("exists /scenario/r", &[Says::Error(r)]);
        if seed == 5 { fake.say("create /scenario", &[Says::Close]) } else { fake }
    };
    let report = run(&scenario, &meta(), 0..12, make);
    let wanted = "\
fail    x: 12 runs
        one thing
       5  allowed  from seed 0      r OK, t 0 to 1, w OK
       2  allowed  from seed 1      r OK, t 0 to 1, w NoNode
       2  outside  from seed 2      r NoNode, t 0 to 1, w OK
                  r should be OK and is NoNode (by the nearest of 3 outcomes, the one at place 1)
       2  never    from seed 3      r NotEmpty, t 0 to 1, w NoNode
                  there must never be r NotEmpty with w NoNode
       1  stuck    from seed 5      the ensemble did not become ready: the create of its own session: CLOSED
       0  allowed  at place 1: w CLOSED
       0  allowed  at place 2: r NoNode
       0  allowed  at place 3: w NodeExists
";
    assert_eq!(report.to_string(), wanted);
    assert!(!report.passes());
    let calm = run(&scenario, &meta(), [0, 1, 4], make);
    assert!(calm.passes(), "{calm}");
    assert_eq!(run(&scenario, &meta(), [], make).verdict, "vacuous");
}

#[test]
fn a_report_is_a_line_of_json() {
    let scenario = judging(r#"[{"w": ["OK", "CLOSED"]}]"#, "[]");
    let report = run(&scenario, &meta(), [3], |_, _| Fake::new());
    let wanted = r#"{"kind":"scenario","n":0,"id":"x","about":"one thing","verdict":"pass","runs":1,"shown":[{"runs":1,"first_seed":3,"verdict":"allowed","results":{"w":"OK"}}],"stuck":[],"unreached":[{"outcome":1,"label":"w","what":"CLOSED"}]}"#;
    assert_eq!(serde_json::to_string(&report).unwrap(), wanted);
}
