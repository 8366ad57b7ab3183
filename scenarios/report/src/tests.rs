//! Tests of the model and the chart with small histories.

use crate::causes::Causes;
use crate::lives::{Lives, WatchEnd};
use crate::messages::{self, Carries, Fate};
use crate::model::Model;
use crate::requests::{LostWrite, Requests};
use crate::slice::{MOST, Slicer};
use crate::{Paint, Shown, Source, chart, page};
use serde_json::Value;
use zk_checker::history::{History, Names, Request, What};
use zk_checker::{Report, RuleSet, judge};

/// A lock whose waiter is woken by a notification about another znode, and holds while the first holder still does.
const SMALL: &str = r#"run sim timeout 4 settle 0.001 round_trip 0.002 clients a b
names / /lock /lock/x-0000000000 /lock/x-0000000001 /lock/x-
lock /lock stop margin 0.4 fenced
0.000 server:0 txn 0x1 s1 connect ok
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 txn 0x2 s2 connect ok
0.000 server:0 opened s2 timeout 4000 0x2
0.001 a state s1 connected conn 1
0.001 b state s2 connected conn 2
0.002 a acquire#1 call /lock
0.002 a #1 send r1 create /lock/x-
0.003 server:0 #1 txn 0x3 s1 create ok
0.003 server:0 #1 created 0x3 /lock/x-0000000000 s1
0.004 a #1 reply r1 ok 0x3 conn 1
0.004 a #1 made /lock/x-0000000000 0x3
0.004 a #1 believe /lock s1 token 0x3
0.005 b acquire#2 call /lock
0.005 b #2 send r2 create /lock/x-
0.006 server:0 #2 txn 0x4 s2 create ok
0.006 server:0 #2 created 0x4 /lock/x-0000000001 s2
0.006 world fault reply_lost b lasts 0
0.007 b #2 lost r2
0.007 b state s2 suspended
0.008 b state s2 connected conn 3
0.008 b #2 send r3 children /lock/x-0000000000 watch
0.009 server:0 #2 served r3 0x4 conn 3
0.009 server:0 #2 arm s2 child /lock/x-0000000000 conn 3
0.010 b #2 reply r3 ok 0x4 conn 3
0.011 b #2 believe /lock s2 token 0x4
"#;

fn judged(history: &History) -> Report {
    judge(history, &RuleSet::default())
}

fn recorded(workload: &str, seed: u64) -> zk_harness::run::Run {
    let workload = zk_catalogue::find(workload).expect("it exists");
    zk_harness::run::seed(workload, &workload.plan(seed), seed)
}

fn source() -> Source {
    Source {
        title: "a small run".to_owned(),
        command: "cargo sim judge small".to_owned(),
        ..Source::default()
    }
}

#[test]
fn a_slice_holds_what_is_cited_and_says_what_it_leaves_out() {
    for seed in 1..=12 {
        let run = recorded("lock-no-guid", seed);
        let asked = Requests::of(&run.history);
        let causes = Causes::find(&run.history, &asked);
        let lives = Lives::of(&run.history, &asked, &causes);
        let slicer = Slicer::new(&run.history, &asked, &causes, &lives);
        for finding in &run.report.findings {
            let slice = slicer.cut(finding);
            assert!(slice.events.is_sorted() && slice.events.len() <= MOST, "seed {seed}: {slice:?}");
            assert!(slice.cited.iter().all(|cited| slice.events.contains(cited)), "seed {seed}: {slice:?}");
            let end = *slice.cited.last().expect("a finding cites something");
            assert!(slice.events.iter().all(|event| *event <= end), "nothing comes after the breach");
            let outside = slice.events.iter().flat_map(|event| causes.of(*event));
            let outside: std::collections::BTreeSet<u32> = outside.map(|cause| cause.event).collect();
            let missing = outside.iter().filter(|event| !slice.events.contains(event)).count();
            assert_eq!(missing, slice.left_out, "seed {seed}");
        }
    }
}

#[test]
fn a_lost_reply_shows_as_a_message_that_was_lost() {
    let run = recorded("lock-no-guid", 2);
    let asked = Requests::of(&run.history);
    let causes = Causes::find(&run.history, &asked);
    let lives = Lives::of(&run.history, &asked, &causes);
    let faults = run.history.events.iter().filter(|event| matches!(event.what, What::Fault { .. })).count();
    assert!(faults > 0, "the run has a fault");
    let lost: Vec<_> = messages::of(&run.history, &asked, &causes, &lives)
        .into_iter()
        .filter(|message| message.carries == Carries::Reply && message.fate == Fate::Lost)
        .collect();
    let of_write = |message: &messages::Message| {
        matches!(run.history.events[message.from as usize].what, What::Txn { .. })
    };
    assert!(lost.iter().any(of_write), "the answer to a create was lost on its way: {lost:?}");
}

#[test]
fn every_answer_knows_its_request_and_every_notification_its_watch() {
    for (workload, seeds) in [("lock", 1..=20), ("two-phase-commit", 1..=10), ("queue", 1..=10)] {
        for seed in seeds {
            let run = recorded(workload, seed);
            let (history, asked) = (&run.history, Requests::of(&run.history));
            let causes = Causes::find(history, &asked);
            for (index, event) in history.events.iter().enumerate() {
                let of = causes.of(index as u32);
                let tells = |from: fn(&What) -> bool| {
                    of.iter().any(|cause| from(&history.events[cause.event as usize].what))
                };
                match event.what {
                    What::Reply { .. } => {
                        assert!(tells(|what| matches!(what, What::Send { .. })), "e{index}")
                    }
                    What::Notice { .. } => {
                        assert!(tells(|what| matches!(what, What::Fire { .. })), "e{index}")
                    }
                    What::Created { .. } | What::Deleted { .. } => {
                        assert!(tells(|what| matches!(what, What::Txn { .. })), "{workload} {seed} e{index}");
                    }
                    _ => {}
                }
            }
            let lives = Lives::of(history, &asked, &causes);
            let fired = |end| matches!(end, WatchEnd::Notified | WatchEnd::NoticeLost);
            let ended = lives.watches.iter().filter(|watch| fired(watch.end) && watch.mode.is_one_shot());
            assert!(ended.into_iter().all(|watch| watch.ended.is_some()), "{workload} {seed}");
        }
    }
}

#[test]
fn the_model_of_a_small_run_is_as_it_was() {
    let history = zk_checker::text::parse(SMALL).expect("it can be read");
    let report = judged(&history);
    let (source, verdict) = (source(), report.verdict());
    let shown = Shown { history: &history, report: &report, verdict, source: &source, beside: None };
    let model = serde_json::to_value(Model::of(&shown)).expect("a model is plain data");
    // The rules and their verdicts belong to the checker, which tests them.
    let parts = model.as_object().into_iter().flatten().filter(|(name, _)| *name != "rules");
    let lines = parts.map(|(name, part)| match part {
        Value::Array(all) => all.iter().fold(format!("{name}:\n"), |lines, one| format!("{lines}  {one}\n")),
        Value::Object(all) => {
            all.iter().fold(format!("{name}:\n"), |lines, (name, one)| format!("{lines}  {name}: {one}\n"))
        }
        one => format!("{name}: {one}\n"),
    });
    let model: String = lines.collect();
    insta::assert_snapshot!("model", model);
}

#[test]
fn the_chart_of_a_broken_run_is_as_it_was() {
    let run = recorded("lock-no-guid", 2);
    insta::assert_snapshot!("chart", chart(&run.history, &run.report, Paint::Plain));
}

#[test]
fn the_same_run_gives_the_same_page() {
    let pages = [(); 2].map(|()| {
        let run = recorded("two-phase-commit-time-out-aborts", 1);
        let source = source();
        page(&Shown {
            history: &run.history,
            report: &run.report,
            verdict: run.verdict(),
            source: &source,
            beside: None,
        })
    });
    assert!(pages[0] == pages[1], "the pages differ");
}

#[test]
fn no_text_of_a_run_ends_the_script_in_which_it_stands() {
    let mut history = zk_checker::text::parse(SMALL).expect("it can be read");
    let hostile = "</script><!--<script>\u{202e}\u{7}\u{2028}\"'&amp;";
    history.header.clients[0] = hostile.to_owned();
    let mut names = Names::default();
    history.names.iter().for_each(|text| _ = names.intern(&format!("{text}{hostile}")));
    history.names = names;
    let (report, mut source) = (judged(&history), source());
    source.title = hostile.to_owned();
    let verdict = report.verdict();
    let page = page(&Shown { history: &history, report: &report, verdict, source: &source, beside: None });
    assert_eq!(page.matches("</script>").count(), 2, "its own two, and no other");
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains(['\u{202e}', '\u{7}', '\u{2028}']), "what does not show is told by its number");
    let begin = page.find("id=\"model\">").expect("it is there") + "id=\"model\">".len();
    let model = page[begin..].split("</script>").next().unwrap_or_default();
    let model: Value = serde_json::from_str(model).expect("it is JSON");
    assert_eq!(model["events"]["kind"].as_array().map(Vec::len), Some(history.events.len()));
}

/// A trace claims that a write with a lost reply was never applied; that claim relies on this test.
#[test]
fn every_write_that_a_server_applied_is_traced_to_its_request() {
    let mut lost = [0, 0];
    for (workload, seed) in ["lock", "queue", "names", "double-barrier", "raw"]
        .into_iter()
        .flat_map(|name| (1..=15).map(move |seed| (name, seed)))
    {
        let run = recorded(workload, seed);
        let asked = Requests::of(&run.history);
        for (index, event) in run.history.events.iter().enumerate() {
            if let What::Txn { kind, .. } = event.what
                && matches!(kind, Request::Create | Request::Delete | Request::Set | Request::Multi)
            {
                assert!(asked.sender(index as u32).is_some(), "{workload}, seed {seed}: e{index} {event:?}");
            }
            if let What::Lost { req } = event.what {
                let fate = crate::requests::fate(&run.history, &asked, req);
                lost[0] += usize::from(matches!(fate, LostWrite::Applied { .. }));
                lost[1] += usize::from(fate == LostWrite::NeverApplied);
            }
        }
    }
    assert!(lost.iter().all(|times| *times > 10), "both happen: {lost:?}");
}
