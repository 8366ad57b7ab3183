use super::deviation::Sparse;
use super::*;
use crate::plan::Plan;
use crate::run;
use crate::sample::SAMPLE;

#[test]
fn a_run_is_where_it_deviates_from_the_calm_one() {
    for seed in 0..100 {
        // Three servers, and all kinds of fault.
        let plan = Plan::drawn(seed);
        let run = run::seed(&SAMPLE, &plan, seed);
        let whole = Failure::of(run.again()).expect("no panic");
        let sparse = Draw { workload: &SAMPLE, plan, chooser: Sparse::new(&whole.deviations) };
        let sparse = Failure::of(sparse).expect("no panic");
        assert_eq!((whole.run.hash, sparse.run.hash), (run.hash, run.hash), "seed {seed}");
        assert_eq!(sparse.run.choices, run.choices, "seed {seed}");
    }
}
