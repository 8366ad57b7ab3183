//! The content of the written forms, and the fields that are left out: an older reader can read a file without new
//! features.

use crate::common::*;
use zk_checker::history::*;
use zk_checker::{Layer, RuleId, RuleSet, jsonl, text};

/// The JSON lines of a history.
fn json(history: &History) -> Vec<String> {
    let mut out = Vec::new();
    jsonl::write(history, &mut out).expect("writing to memory cannot fail");
    String::from_utf8(out).expect("JSON is UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn json_leaves_out_what_is_as_usual() {
    let usual = history("run sim clients a\nlock /lock\n0.000 a state s1 connected conn 2\n");
    let lines = json(&usual);
    assert_eq!(
        lines[0],
        r#"{"header":{"format":1,"mode":"sim","clients":["a"],"tick":500000,"timeout":4000000,"election":0,"round_trip":2000,"settle":1000,"source":""}}"#
    );
    for word in ["sync_limit", "size", "manner", "server"] {
        assert!(lines.iter().all(|line| !line.contains(word)), "{word} in {lines:?}");
    }
    let other = history(
        "run sim sync_limit 7 clients a\ndouble_barrier /b size 3 once\n0.000 a state s1 connected conn 2 server 1\n",
    );
    let lines = json(&other).concat();
    for part in [r#""sync_limit":7"#, r#""size":3"#, r#""once":true"#, r#""server":1"#] {
        assert!(lines.contains(part), "{part} in {lines}");
    }
}

#[test]
fn the_format_is_told_unless_it_is_the_first() {
    let first = history("run sim clients a\n");
    assert!(!text::write(&first).contains("format"), "{}", text::write(&first));
    let mut second = first;
    second.header.format = 2;
    let written = text::write(&second);
    assert!(written.starts_with("run sim format 2 "), "{written}");
    assert_eq!(history(&written), second);
}

#[test]
fn a_client_stands_by_its_name_if_that_is_plain() {
    let names = ["b", "c-1", "c_1", "a b", "server:1", "link:0:1", "1a", "x#2", "world", "client:0", "b.b"];
    let mut written = history("run sim\n");
    written.header.clients = names.map(str::to_owned).to_vec();
    let at = |number| Event { at: 0, op: OpId(0), who: Who::Client(number), what: What::Stopped };
    written.events = (0..names.len() as u16).map(at).collect();
    let lines = text::write(&written);
    let who: Vec<&str> = lines.lines().skip(1).filter_map(|line| line.split(' ').nth(1)).collect();
    let numbers: Vec<String> = (3..names.len()).map(|number| format!("client:{number}")).collect();
    assert_eq!(who[..3], ["b", "c-1", "c_1"]);
    assert_eq!(who[3..], numbers);
    assert_eq!(history(&lines), written);
}

#[test]
fn a_text_may_have_remarks() {
    let plain = history("run sim clients a\n0.000 world heal\n");
    let remarks = "# what it is\nrun sim clients a\n#another one\n0.000 world heal\n# 0.001 world quiesce\n";
    assert_eq!(history(remarks), plain);
}

#[test]
fn an_error_has_the_number_of_its_line() {
    let e = text::parse("run sim clients a\n0.000 world heal\n0.001 world rain\n").expect_err("no event");
    assert_eq!((e.line(), e.to_string()), (3, "line 3: \"rain\" is no event".to_owned()));
}

#[test]
fn rules_and_layers_that_are_on() {
    // Whether a history is well-formed is always judged.
    assert!(RuleSet::all().without_layer(Layer::WellFormed).has_layer(Layer::WellFormed));
    let layers = [Layer::ZooKeeper, Layer::Safety, Layer::Liveness, Layer::Cost];
    for off in layers {
        let rules = RuleSet::all().without_layer(off);
        for layer in layers {
            assert_eq!(rules.has_layer(layer), layer != off, "{layer:?} without {off:?}");
        }
    }
    let one = RuleId::ALL.iter().filter(|rule| **rule != RuleId::Mx13);
    let one = one.fold(RuleSet::all(), |rules, rule| rules.without(*rule));
    assert!(layers.iter().all(|layer| one.has_layer(*layer) == (*layer == Layer::Cost)));
}

#[test]
fn what_promises_are_about() {
    for (rule, kinds) in [
        (RuleId::Mx15, &[Kind::PriorityLock][..]),
        (RuleId::Mx2, &[Kind::Lock, Kind::PriorityLock]),
        (RuleId::Rw1, &[Kind::SharedLock, Kind::RevocableLock]),
        (
            RuleId::Mx9,
            &[Kind::Lock, Kind::SharedLock, Kind::RevocableLock, Kind::PriorityLock, Kind::Election],
        ),
        (RuleId::Qu4, &[Kind::Queue, Kind::PriorityQueue]),
        (RuleId::Zk1, &[]),
    ] {
        let all = [
            Kind::Lock,
            Kind::SharedLock,
            Kind::RevocableLock,
            Kind::PriorityLock,
            Kind::Election,
            Kind::Barrier,
            Kind::DoubleBarrier,
            Kind::Queue,
            Kind::PriorityQueue,
            Kind::TwoPhaseCommit,
            Kind::Group,
            Kind::Config,
            Kind::Names,
        ];
        let about: Vec<Kind> = all.into_iter().filter(|kind| rule.is_about(*kind)).collect();
        assert_eq!(about, kinds, "{rule}");
    }
}

#[test]
fn a_symbol_stands_for_its_text() {
    let names = history("run sim clients a\nlock /lock\nlock /other\n").names;
    for path in ["/lock", "/other"] {
        let sym = names.find(path).expect("it was declared");
        assert_eq!((names.text(sym), names.get(sym)), (path, Some(path)));
    }
    assert_eq!(names.find("/lock/a"), None);
}
