//! Wrong worlds: each is caught by its rule as the first finding, and what is too kind is not green.

use std::collections::BTreeSet;
use zk_catalogue::variations::raw;
use zk_catalogue::wrong_worlds::{caught, too_kind};
use zk_checker::{Probe, Verdict};
use zk_harness::run;
use zk_harness::strategy::{Search, Strategy};
use zk_harness::sweep::Sweep;
use zk_harness::tally::Tally;
use zk_harness::workload::Workload;

/// Of a hundred runs that fail, so many must be caught by the rule that names the wrong step.
const FIRST_OF_100: u64 = 95;

fn tally(workload: &'static Workload, seeds: u64, plans: &'static Workload) -> (Sweep, Tally) {
    let search = Search::new(workload, Strategy::Swarm, None);
    let sweep = Sweep { require_probes: true, ..Sweep::new(search, 0..seeds) };
    let mut all = Tally::default();
    // The plans of one and the world of another.
    for seed in 0..seeds {
        let search = Search::new(workload, Strategy::Swarm, Some(plans.plan(seed)));
        all.merge(Sweep::new(search, seed..seed + 1).tally());
    }
    (sweep, all)
}

#[test]
fn every_quirk_has_a_world_that_shows_it() {
    let wrong = || caught().chain(too_kind());
    let shown: BTreeSet<_> = wrong().filter_map(|workload| workload.injected_bug).collect();
    assert_eq!(shown, sim_zk::injected_bug::InjectedBug::ALL.iter().copied().collect());
    assert_eq!(wrong().count(), shown.len(), "and only one");
    assert!(
        caught().all(|workload| workload.caught_by.is_some()
            && workload.injected_bug.is_some_and(|q| !q.is_too_kind()))
    );
    assert!(too_kind().all(
        |workload| workload.caught_by.is_none() && workload.injected_bug.is_some_and(|q| q.is_too_kind())
    ));
    assert!(
        zk_catalogue::workloads().all(|workload| workload.injected_bug.is_none()),
        "the right world is right"
    );
}

#[test]
fn the_rule_that_names_the_wrong_step_is_the_first_to_say_so() {
    for workload in caught() {
        let rule = workload.caught_by.expect("it is wrong").by.name();
        let (mut failed, mut first) = (0, 0);
        for seed in 0..100 {
            let run = run::seed(workload, &workload.plan(seed), seed);
            if run.verdict() >= Verdict::Unknown {
                failed += 1;
                first += u64::from(run.what_failed() == rule);
            }
        }
        assert!(failed > 0, "{}: no seed of a hundred shows it", workload.name);
        assert!(
            first * 100 >= failed * FIRST_OF_100,
            "{}: {rule} is first in {first} of {failed}",
            workload.name
        );
    }
}

#[test]
fn a_world_that_is_too_kind_is_not_green() {
    let missing: &[(&str, &[Probe])] = &[
        ("raw-loses-no-reply", &[Probe::AppliedWithoutReply]),
        ("raw-never-stale", &[Probe::StaleRead]),
        ("raw-tells-all", &[Probe::CreatedAndDeletedUnseen, Probe::RecreatedToldAsChanged]),
    ];
    for (name, missing) in missing {
        let workload = zk_catalogue::find(name).expect("it is there");
        let (sweep, kind) = tally(workload, 500, workload);
        assert!(kind.failures.is_empty(), "{name} breaks no promise: {:?}", kind.failures);
        assert_eq!(sweep.verdict(&kind), Verdict::Vacuous, "{name}");
        let (_, right) = tally(&raw::WORKLOAD, 500, workload);
        let unreached = sweep.missing(&kind).probes;
        for probe in *missing {
            assert!(unreached.contains(probe), "{name}: {} was reached", probe.name());
            assert!(right.probes.get(probe).is_some_and(|count| *count > 0), "{name}: {}", probe.name());
        }
    }
}

#[test]
fn a_short_sweep_need_not_reach_everything_unless_that_is_asked_for() {
    let (required, tally) = tally(&raw::WORKLOAD, 3, &raw::WORKLOAD);
    assert!(!required.missing(&tally).probes.is_empty());
    assert_eq!(Sweep { require_probes: false, ..required }.missing(&tally).probes, []);
}
