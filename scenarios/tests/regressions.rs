//! Runs that once showed a fault, in the recipe, the simulator or the checker: each must go the way it should.
//!
//! A failure prints the file to copy into `regressions/`. Files of a broken recipe must fail, all others must not.

use zk_checker::Verdict;
use zk_scenarios::code::Recorded;
use zk_scenarios::run;

#[test]
fn no_regression_comes_back() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is part of the repository")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there is something to replay");
    for file in files {
        let (recorded, target) =
            Recorded::read(&file.to_string_lossy()).expect("a regression is a recorded run");
        let run = run::replay(target, &recorded.plan, recorded.choices);
        let failed = run.verdict() >= Verdict::Unknown;
        let broken = target.is_broken();
        assert_eq!(failed, broken, "{}: {}", file.display(), run.report);
    }
}
