use super::*;
use crate::run;

fn failing(name: &str) -> (&'static Target, Plan, Run) {
    let target = Target::from_name(name).expect("it is in the zoo");
    let caught = target.caught_by.expect("it is broken on purpose");
    let fails = |seed| {
        let plan = target.plan(seed);
        let run = run::seed(target, &plan, seed);
        let first = run.report.first().map(|finding| finding.rule);
        first.is_some_and(|rule| caught.is_caught_by(rule)).then_some((target, plan, run))
    };
    (0..1000).find_map(fails).expect("a thousand seeds show what is wrong")
}

fn shrunk(name: &str, runs: u32) -> (Run, Shrunk) {
    let (target, plan, run) = failing(name);
    let shrunk = shrink(target, &plan, run.choices.clone(), runs).expect("it fails");
    (run, shrunk)
}

#[test]
fn what_is_left_of_a_lost_reply_is_the_lost_reply() {
    // By hand: one client, whose create is answered into the void, creates again. Nothing else need happen.
    let (_, shrunk) = shrunk("lock-no-guid", RUNS);
    let after = shrunk.after();
    assert_eq!((after.clients, after.rounds, after.servers, after.faults, after.choices), (1, 1, 1, 1, 1));
    let told: Vec<String> = shrunk.failure.deviations.iter().map(|one| one.told(&["a".into()])).collect();
    assert_eq!(told, ["a: reply-lost at reply number 2"]);
}
