//! The corpus: runs that once showed a fault in a recipe, the simulator or the checker, and canaries, which show one on
//! purpose. Each must go the way that its file says. These are run before all other tests.
//!
//! `cargo sim shrink FILE --keep NAME` adds a run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use zk_harness::recording::Expected;
use zk_harness::recording::Recording;
use zk_harness::run;
use zk_harness::workload::Workload;
use zk_scenarios::mutation_score::correct_twin;

fn corpus() -> Vec<(PathBuf, Recording, &'static Workload)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is part of the repository")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let read = |file: PathBuf| {
        let (recorded, workload) = Recording::read(&file.to_string_lossy(), zk_catalogue::find)
            .expect("a regression is a recorded run");
        (file, recorded, workload)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn each_goes_the_way_that_it_must() {
    let corpus = corpus();
    assert!(!corpus.is_empty(), "there is something to replay");
    let mut wrong = Vec::new();
    for (file, recorded, workload) in corpus {
        let run = run::replay(workload, &recorded.plan, recorded.choices);
        let regression = recorded.regression.expect("it says what must come of it");
        assert_eq!(regression.verdict == Expected::Pass, !workload.is_mutant(), "{}", file.display());
        if let Err(came) = regression.check(&run) {
            let must = regression.expected();
            wrong.push(format!("{}: it must {must}, and {came}\n{}", file.display(), run.report));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_recipe_has_a_canary() {
    let canaries: BTreeSet<&str> = corpus()
        .into_iter()
        .filter(|(_, _, workload)| workload.is_mutant())
        .map(|(_, _, workload)| correct_twin(workload).name)
        .collect();
    let families: BTreeSet<&str> =
        zk_catalogue::mutants().map(|workload| correct_twin(workload).name).collect();
    assert_eq!(canaries, families);
}
