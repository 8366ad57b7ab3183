//! Searching: strategies, when a search stops, and whether its runs are what they are alone.

use std::path::Path;
use std::process::Command;
use zk_harness::strategy::{Search, Strategy, Variations};
use zk_harness::sweep::Sweep;
use zk_harness::tally::Tally;

fn zksim_in(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_zksim"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn zksim(arguments: &[&str]) -> (Option<i32>, String, String) {
    zksim_in(tempfile::tempdir().expect("a temporary folder").path(), arguments)
}

fn tally(search: Search, seeds: u64) -> Tally {
    Sweep { jobs: 2, ..Sweep::new(search, 0..seeds) }.tally()
}

#[test]
fn every_workload_holds_under_every_strategy_in_other_sizes_and_with_foreign_clients() {
    for workload in zk_catalogue::workloads() {
        for strategy in Strategy::ALL {
            assert_eq!(tally(Search::new(workload, strategy, None), 60).failures, [].into(), "{workload:?}");
        }
        for interference in [false, true] {
            let variations = Variations { sizes: true, interference };
            let drawing = Search::new(workload, Strategy::Swarm, None).drawing(variations);
            assert_eq!(tally(drawing, 60).failures, [].into(), "{workload:?} with {variations:?}");
        }
    }
}

#[test]
fn what_comes_about_was_declared() {
    for workload in zk_catalogue::workloads() {
        let seen = tally(Search::new(workload, Strategy::Swarm, None), 300).sometimes;
        let is_declared = |what: &String| workload.stated.sometimes.contains(&what.as_str());
        assert!(seen.keys().all(is_declared), "{workload:?}: {:?}", seen.keys());
    }
}

#[test]
fn a_wrong_strategy_gets_the_nearest_right_one() {
    let (status, _, error) = zksim(&["sweep", "lock", "--strategy", "sworm"]);
    assert_eq!(status, Some(3));
    assert!(error.contains(r#"there is no strategy "sworm"; did you mean "swarm"?"#), "{error}");
}

#[test]
fn a_failure_says_how_to_make_its_run_again_whatever_the_search() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for more in [
        &["--strategy", "systematic"][..],
        &["--strategy", "uniform", "--vary"],
        &["--strategy", "portfolio"],
    ] {
        let sweep = [&["sweep", "lock-no-guid", "--seeds", "300"], more].concat();
        let (status, said, _) = zksim_in(folder.path(), &sweep);
        assert_eq!(status, Some(1), "{said}");
        let promise = "MX-9  one znode";
        assert!(said.contains(promise), "{said}");
        for word in ["again", "exactly"] {
            let command = (said.lines())
                .find_map(|line| line.trim().strip_prefix(word)?.trim().strip_prefix("cargo sim "))
                .expect("it names the command");
            let (status, again, _) = zksim_in(folder.path(), &command.split(' ').collect::<Vec<_>>());
            assert_eq!(status, Some(1), "{command}");
            assert!(again.contains(promise), "{command}: {again}");
        }
    }
}

#[test]
fn an_enumeration_says_how_far_it_came_and_ends() {
    let plan = r#"{"clients": 1, "rounds": 1, "timeout_ms": 6000, "hostile_ms": 30000, "faults": 1,
        "rates": {"reply-lost": 0.1}}"#;
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("plan.json"), plan).expect("it can be written");
    let sweep = ["sweep", "lock", "--strategy", "systematic", "--plan", "plan.json", "--seeds"];
    let on = |seeds| zksim_in(folder.path(), &[&sweep[..], &[seeds]].concat()).1;
    let few = on("3");
    assert!(few.contains("systematic: 2 of ") && few.contains("0 of not counted yet to place two"), "{few}");
    let all = on("100000");
    let line = all.lines().find(|line| line.contains("systematic: ")).expect("it says how far it came");
    let numbers: Vec<&str> = line.split(' ').filter(|word| word.parse::<u64>().is_ok()).collect();
    assert!(numbers.len() == 4 && numbers[0] == numbers[1] && numbers[2] == numbers[3], "{line}");
}

#[test]
fn a_search_until_covered_stops_by_itself_after_the_same_run_on_any_number_of_threads() {
    // Small runs in which two kinds of fault strike: there is an end to what they can meet.
    let plan = r#"{"clients": 2, "rounds": 1, "timeout_ms": 6000, "hostile_ms": 30000, "faults": 2,
        "rates": {"reply-lost": 0.1, "session-expiry": 0.05}}"#;
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("plan.json"), plan).expect("it can be written");
    let until = ["sweep", "names", "--plan", "plan.json", "--until-covered", "--quiet-for", "500"];
    let on = |jobs| {
        let (status, said, _) = zksim_in(folder.path(), &[&until[..], &["--jobs", jobs]].concat());
        assert_eq!(status, Some(0), "{said}");
        said.lines().filter(|line| !line.contains("seeds/s")).map(str::to_owned).collect::<Vec<_>>()
    };
    let one = on("1");
    assert!(one.iter().any(|line| line.trim_start().starts_with("covered: ")), "{one:#?}");
    assert_eq!(one, on("3"));
}

#[test]
fn a_search_that_is_never_covered_proves_nothing_and_says_what_is_missing() {
    let (status, said, _) = zksim(&["sweep", "lock", "--until-covered", "--seeds", "20"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("no evidence (vacuous): ") && said.contains("never reached"), "{said}");
    assert!(said.contains("not covered: "), "{said}");
}

#[test]
fn runs_are_made_again_in_fresh_processes() {
    for more in [&[][..], &["--strategy", "systematic"], &["--vary", "--shard", "1/3"]] {
        let sweep = [&["sweep", "lock", "--seeds", "60", "--verify-determinism", "7"], more].concat();
        let (_, said, error) = zksim(&sweep);
        assert!(
            said.contains("deterministic: 7 runs repeated, each in a fresh process, with equal hashes"),
            "{said}{error}"
        );
    }
}

#[test]
fn the_zoo_is_searched_by_any_strategy() {
    let (status, said, _) =
        zksim(&["mutants", "lock-watch-all", "lock-no-guid", "--strategies", "--seeds", "150"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.lines().next().is_some_and(|head| head.contains("systematic")), "{said}");
    let (status, said, _) = zksim(&["zoo", "lock-watch-all", "--strategy", "uniform", "--seeds", "20"]);
    assert_eq!(status, Some(0), "{said}");
}
