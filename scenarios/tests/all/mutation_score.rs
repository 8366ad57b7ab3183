//! The mutation score: each mutant is killed by its rule, the correct recipe passes, and the README lists all mutants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use zk_checker::RuleId;
use zk_checker::history::What;
use zk_harness::caught::Promise;
use zk_harness::workload::Workload;
use zk_scenarios::mutation_score::lies::{self, lies};
use zk_scenarios::mutation_score::measure::{Measured, Outcome, measure};
use zk_scenarios::mutation_score::twins::Twins;
use zk_scenarios::mutation_score::{kills, table};

/// All mutants on a few seeds, which show the outcome, if not the length of a search. One operation of a recipe that lies, in half
/// of its calls, does so in almost every run.
static MEASURED: LazyLock<Vec<Measured>> = LazyLock::new(|| {
    let twins = Twins::default();
    let seeds = |workload| if lies(workload) { 30 } else { 100 };
    zk_catalogue::mutants()
        .map(|workload| measure(&twins, workload, 0..seeds(workload), 2, &|_| {}))
        .collect()
});

#[test]
fn each_mutant_is_killed_by_its_rule_while_the_correct_recipe_passes() {
    let mut wrong = Vec::new();
    for one in MEASURED.iter() {
        let found = one.first_by_right() > 0;
        // Of few runs that fail, one that shows another rule first is soon more than five in a hundred.
        let mostly = one.first_by_right() * 10 >= one.failed * 8;
        if !found || !mostly || one.twin.is_some() || one.premises == 0 {
            wrong.push(table::text(std::slice::from_ref(one)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_operation_of_every_recipe_has_mutants_that_lie() {
    let lying: BTreeSet<&str> =
        zk_catalogue::lies::all().iter().map(|mutant| mutant.operation.as_str()).collect();
    let mut missing = BTreeSet::new();
    for recipe in zk_catalogue::recipes().filter(|recipe| recipe.lies.is_some()) {
        for number in 0..20 {
            let run = zk_harness::run::seed(recipe.workload, &recipe.workload.plan(number), number);
            for event in &run.history.events {
                let What::Call { object, verb, .. } = event.what else { continue };
                // A workload of several recipes needs no lies of what the recipes' own workloads call.
                let kind = run.history.objects[usize::from(object.0)].kind.name().replace('_', "-");
                let verb = verb.name().replace('_', "-");
                let of = |name: &str| format!("{name}-{verb}");
                if ![recipe.workload.name, &kind].iter().any(|name| lying.contains(of(name).as_str())) {
                    missing.insert(of(recipe.workload.name));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no mutant lies in {missing:?}");
}

/// Rules of their own say whether a hold, a passage, an item or a decision was granted by right.
const GRANTED: &[&str] = &[
    "names-register-pretends",
    "group-join-pretends",
    "barrier-wait-pretends",
    "barrier-wait-down-pretends",
    "double-barrier-enter-pretends",
    "queue-take-pretends",
    "queue-settle-pretends",
    "priority-queue-take-pretends",
];

/// Rules of their own find what a call leaves behind that stands for its client.
const LEFT_BEHIND: &[&str] = &[
    "names-register-denies",
    "lock-release-pretends",
    "shared-lock-release-pretends",
    "shared-lock-downgrade-pretends",
    "revocable-lock-release-pretends",
    "priority-lock-release-pretends",
    "semaphore-release-pretends",
    "group-join-denies",
    "double-barrier-enter-denies",
    "queue-claim-denies",
    "election-stand-denies",
];

/// Rules of their own hold each count against what was added and set.
const COUNTED: &[&str] = &[
    "counter-add-pretends",
    "counter-add-repeats",
    "counter-compare-and-set-pretends",
    "counter-compare-and-set-refuses",
    "counter-overwrite-pretends",
    "counter-follow-distorts",
];

/// Rules of their own hold what is handed out against what is there, and find a call that never returns.
const DISTORTED_OR_HUNG: &[&str] = &[
    "election-stand-distorts",
    "config-follow-distorts",
    "double-barrier-enter-hangs",
    "two-phase-commit-decide-hangs",
];

#[test]
fn the_rules_about_answers_see_every_lie_that_no_older_rule_is_about() {
    let answers = [RuleId::An1, RuleId::An2, RuleId::An3, RuleId::An4];
    let unseen: BTreeSet<&str> = (MEASURED.iter().filter(|one| lies(one.workload)))
        .filter(|one| !answers.iter().any(|rule| one.broken.contains_key(rule)))
        .map(|one| one.workload.name)
        .collect();
    let listed: BTreeSet<&str> =
        GRANTED.iter().chain(LEFT_BEHIND).chain(COUNTED).chain(DISTORTED_OR_HUNG).copied().collect();
    assert_eq!(unseen, listed);
}

#[test]
fn a_black_box_judge_sees_each_of_the_four_promises_broken() {
    let mutants: Vec<&Measured> = MEASURED.iter().filter(|one| one.caught.breaks.is_some()).collect();
    for wanted in Promise::ALL {
        assert!(mutants.iter().any(|one| one.caught.breaks == Some(wanted)), "{}", wanted.name());
    }
    let twins = Twins::default();
    for one in mutants {
        // As many more as it takes, a hundred at a time.
        let is_seen = |one: &Measured| one.seen_from_outside().next().is_some();
        let more =
            |hundred: u64| measure(&twins, one.workload, 100 * hundred..100 * (hundred + 1), 2, &|_| {});
        let seen = is_seen(one) || (1..10).any(|hundred| is_seen(&more(hundred)));
        assert!(seen, "a black-box judge does not see the harm of {:?}", one.workload);
    }
}

#[test]
fn what_is_measured_does_not_depend_on_the_number_of_threads() {
    let workload = zk_catalogue::find("lock-no-guid").expect("it is there");
    let text = |jobs| table::text(&[measure(&Twins::default(), workload, 0..200, jobs, &|_| {})]);
    assert_eq!(text(1), text(3));
}

#[test]
fn a_mutant_is_measured_alike_after_others_of_its_recipe() {
    let twins = Twins::default();
    for workload in zk_catalogue::mutants().filter(|mutant| mutant.name.starts_with("lock-")).take(12) {
        let text = |twins: &Twins| table::text(&[measure(twins, workload, 0..20, 2, &|_| {})]);
        assert_eq!(text(&twins), text(&Twins::default()));
    }
}

#[test]
fn an_entry_that_no_run_shows_is_missed() {
    // Without a lost reply the mutant does nothing wrong.
    let workload = zk_catalogue::find("lock-no-guid").expect("it is there");
    let one = |seed| measure(&Twins::default(), workload, seed..seed + 1, 1, &|_| {});
    let calm = (0..1000).map(one).find(|one| one.failed == 0);
    assert_eq!(calm.expect("some run has no lost reply").outcome(), Outcome::Missed);
}

/// The mutants that have rows of their own in the README.
fn listed() -> impl Iterator<Item = &'static Workload> {
    zk_catalogue::mutants().filter(|workload| !lies(workload))
}

#[test]
fn the_readme_says_by_which_rule_each_lie_is_caught() {
    let readme = include_str!("../../README.md");
    let written = lies::PLACE.text(readme).expect("it has a place");
    assert_eq!(written, lies::markdown().trim(), "`cargo sim mutants --write-readme` writes the table anew");
}

#[test]
fn the_readme_lists_every_entry_with_its_rule() {
    let readme = include_str!("../../README.md");
    let written = table::PLACE.text(readme).expect("it has a place");
    let rows: BTreeMap<&str, &str> = written
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells[1].trim_matches('`'), cells[4])
        })
        .collect();
    let entries: BTreeMap<&str, &str> = listed()
        .filter_map(|workload| workload.caught_by.map(|caught| (workload.name, caught.by.name())))
        .collect();
    assert_eq!(rows, entries, "`cargo sim mutants --write-readme` writes the table anew");
}

#[test]
fn the_readme_says_of_every_entry_how_soon_each_strategy_catches_it() {
    let readme = include_str!("../../README.md");
    let written = kills::PLACE.text(readme).expect("it has a place");
    let rows: Vec<&str> = (written.lines())
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let entries: Vec<&str> = listed().map(|workload| workload.name).collect();
    assert_eq!(rows, entries, "`cargo sim mutants --strategies --write-readme` writes the table anew");
}
