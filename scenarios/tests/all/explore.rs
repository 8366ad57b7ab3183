//! Every run of a small scope: what is right is complete and silent, what is broken is found by its shortest run, and neither
//! cutting runs short, nor threads, nor a pause changes what is found.

use sim_zk::fault::Fault;
use std::collections::BTreeSet;
use zk_checker::Verdict;
use zk_harness::explore::{Certificate, Exploration, Scope};
use zk_harness::recording::Recording;
use zk_harness::run;
use zk_harness::workload::Workload;

fn workload(name: &str) -> &'static Workload {
    zk_catalogue::find(name).expect(name)
}

fn scope(name: &str, faults: u32, kinds: &[Fault]) -> Scope {
    Scope { kinds: kinds.to_vec(), ..Scope::of(workload(name), faults) }
}

/// What was found: states, their hash, and which rules were broken.
fn found(search: &Exploration) -> (usize, u128, BTreeSet<String>) {
    (search.states(), search.hash(), search.found().breaches.keys().cloned().collect())
}

/// Goes on until something is found.
fn first_breach(scope: Scope) -> Option<(String, Recording)> {
    let (workload, plan) = (scope.workload, scope.plan());
    let mut search = Exploration::new(scope);
    while !search.is_complete() && search.found().first.is_none() {
        search.advance(2);
    }
    let breach = search.found().first.clone()?;
    let run = run::replay(workload, &plan, breach.choices.clone());
    assert!(run.verdict() >= Verdict::Unknown, "it is there again when it is replayed");
    Some((breach.what, Recording::of(&run)))
}

#[test]
fn broken_recipes_are_found_by_a_run_that_can_be_replayed() {
    let cases: &[(&str, u32, &[Fault], &str)] = &[
        ("lock-event-grants", 0, &[], "MX-4"),
        ("lock-waits-for-nobody", 1, &[Fault::ClientCrash], "MX-7"),
        ("lock-no-guid", 1, &[Fault::ReplyLost], "MX-9"),
        ("lock-leaves-its-znode", 1, &[Fault::Cancel], "MX-12"),
    ];
    for (name, faults, kinds, rule) in cases {
        let (what, recorded) = first_breach(scope(name, *faults, kinds)).expect(name);
        assert_eq!(what, *rule, "{name}");
        let (read, workload) = Recording::read(&recorded.code(), zk_catalogue::find).expect("its own code");
        assert_eq!(read, recorded, "{name}");
        let again = run::replay(workload, &read.plan, read.choices);
        assert_eq!(format!("{:032x}", again.hash), recorded.hash, "{name}");
    }
}

#[test]
fn certificates_that_are_quickly_repeated_are_true() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/certificates.jsonl");
    let text = std::fs::read_to_string(file).expect("it is part of the repository");
    let certificates = Certificate::read_all(&text).expect("each line is a certificate");
    let small: Vec<_> = certificates.iter().filter(|one| one.runs <= 4000).collect();
    assert!(small.len() >= 6, "there is something to repeat");
    for certificate in small {
        let kinds = certificate.kinds.iter().map(|name| Fault::from_name(name).expect("a kind")).collect();
        let Certificate { clients, rounds, faults, late_answers, overtaking, .. } = *certificate;
        let all = Scope::of(workload(&certificate.workload), faults);
        let scope = Scope { clients, rounds, kinds, late_answers, overtaking, ..all };
        let search = Exploration::new(scope).finish(2);
        assert_eq!(Certificate::of(&search).as_ref(), Some(certificate));
    }
}

#[test]
fn what_is_cut_short_has_no_other_states_and_no_other_breaches() {
    let cases: [(&str, u32, &[Fault]); 8] = [
        ("config", 0, &[]),
        ("barrier", 1, &[Fault::Cancel]),
        ("barrier", 1, &[Fault::ReplyLost]),
        ("barrier", 1, &[Fault::Disconnect]),
        ("barrier", 1, &[Fault::ClientCrash]),
        ("barrier", 1, &[Fault::ClientPause]),
        ("barrier", 1, &[Fault::ClockDrift]),
        ("barrier-any-event", 1, &[Fault::Disconnect]),
    ];
    let mut cut = 0;
    for (name, faults, kinds) in cases {
        let with = scope(name, faults, kinds);
        let without = Scope { cutting: false, ..with.clone() };
        let (with, without) = (Exploration::new(with).finish(2), Exploration::new(without).finish(2));
        assert_eq!(found(&with), found(&without), "{name} {kinds:?}");
        cut += with.found().cut;
    }
    assert!(cut > 0, "something was cut");
}

#[test]
fn threads_change_nothing() {
    let search = |jobs| {
        let search = Exploration::new(scope("config", 1, &[Fault::ReplyLost])).finish(jobs);
        (found(&search), search.found().clone())
    };
    assert_eq!(search(1), search(3));
}

#[test]
fn a_search_goes_on_from_its_file_as_if_it_had_never_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("search");
    let scope = || scope("config", 1, &[Fault::ReplyLost]);
    let mut search = Exploration::new(scope());
    for _ in 0..3 {
        search.advance(2);
    }
    assert!(!search.is_complete(), "it stops in the middle");
    search.save(&file).expect("it can be written");
    let resumed = Exploration::load(&file, zk_catalogue::find).expect("it can be read").finish(2);
    let whole = Exploration::new(scope()).finish(2);
    assert_eq!(found(&resumed), found(&whole));
    assert_eq!(resumed.found(), whole.found());
    assert_eq!(Certificate::of(&resumed), Certificate::of(&whole));
}

#[test]
fn what_is_no_checkpoint_gets_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("search");
    std::fs::write(&file, b"nonsense").expect("it can be written");
    let error = Exploration::load(&file, zk_catalogue::find).err().expect("nonsense").to_string();
    assert_eq!(error, format!("{} is not a checkpoint of this program", file.display()));
}
