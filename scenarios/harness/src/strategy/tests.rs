use super::systematic::spread;
use super::*;
use crate::plan::Act;
use crate::plan::Interference;
use crate::run::{self, Run};
use crate::sample::SAMPLE;
use std::collections::BTreeSet;
use zk_checker::history::What;

fn search(strategy: Strategy) -> Search {
    Search::new(&SAMPLE, strategy, None)
}

fn faults(run: &Run) -> usize {
    run.faults().count()
}

#[test]
fn a_beginning_of_the_order_is_spread_and_all_of_it_is_everything() {
    for n in [1, 2, 7, 100, 6174] {
        assert_eq!((0..n).map(|index| spread(index, n)).collect::<BTreeSet<_>>().len() as u64, n);
    }
    let mut first: Vec<u64> = (0..10).map(|index| spread(index, 1000)).collect();
    first.sort_unstable();
    let gaps = first.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps.max() <= Some(240), "{first:?}");
}

#[test]
fn a_swarm_is_what_a_seed_always_meant() {
    for seed in 0..20 {
        let draw = search(Strategy::Swarm).draw(seed).expect("there is a run for every number");
        assert_eq!(draw.plan, SAMPLE.plan(seed));
        assert_eq!(draw.run().hash, run::seed(&SAMPLE, &Plan::drawn(seed), seed).hash);
    }
}

#[test]
fn a_uniform_run_has_every_kind_and_all_have_the_same_rates() {
    let uniform = search(Strategy::Uniform);
    let plans: Vec<Plan> = (0..20).map(|number| uniform.draw(number).expect("it has no end").plan).collect();
    assert!(plans.iter().all(|plan| plan == &plans[0] && plan.rates.len() == Fault::DRAWN.len()));
    assert_eq!(plans[0].check(), Ok(()));
}

#[test]
fn sizes_are_drawn_on_request_and_keep_within_what_a_plan_allows() {
    let varied = search(Strategy::Swarm).drawing(Variations { sizes: true, interference: false });
    let plans: Vec<Plan> = (0..200).map(|number| varied.draw(number).expect("it has no end").plan).collect();
    assert!(plans.iter().all(|plan| plan.check() == Ok(()) && plan.clients >= 2));
    let clients: BTreeSet<u8> = plans.iter().map(|plan| plan.clients).collect();
    let servers: BTreeSet<u8> = plans.iter().map(|plan| plan.servers).collect();
    assert_eq!((clients, servers), ([2, 3, 4, 5].into(), [3, 5].into()));
}

#[test]
fn strangers_are_drawn_on_request_in_one_of_two_runs_and_the_rest_stays_what_it_is() {
    let with_foreign_clients =
        search(Strategy::Swarm).drawing(Variations { sizes: false, interference: true });
    let mut acts = BTreeSet::new();
    let mut interfered = 0;
    for number in 0..400 {
        let plan = with_foreign_clients.draw(number).expect("it has no end").plan;
        assert_eq!(plan.check(), Ok(()));
        interfered += u32::from(!plan.interference.is_none());
        acts.extend(plan.interference.rates.keys().cloned());
        let without = Plan { interference: Interference::default(), ..plan };
        assert_eq!(without, search(Strategy::Swarm).draw(number).expect("it has no end").plan);
    }
    assert!((150..=250).contains(&interfered), "{interfered}");
    assert_eq!(acts, Act::ALL.iter().map(|act| act.name().to_owned()).collect());
}

#[test]
fn a_systematic_search_places_no_fault_then_one_then_two_and_ends() {
    // One server, one client and one kind of fault: few enough ways to try all of them.
    let plan = Plan { clients: 1, rounds: 4, ..Plan::calm().with(&[Fault::ReplyLost], 0.1) };
    let search = Search::new(&SAMPLE, Strategy::Systematic, Some(plan));
    let counted = search.counted(u64::MAX, 2).expect("it enumerates");
    let (singles, total) = (counted.singles, counted.total().expect("all of it was counted"));
    assert!((3..200).contains(&singles) && total > 1 + singles, "{counted:?}");
    let mut seen = BTreeSet::new();
    for number in 0..total {
        let draw = search.draw(number).expect("within the enumeration");
        let placed = draw.chooser.spots.len();
        let run = draw.run();
        assert_eq!(faults(&run), placed, "number {number} of {total}: what was placed struck");
        assert_eq!(placed, usize::from(number > 0) + usize::from(number > singles));
        seen.insert(run.choices.iter().rposition(|choice| *choice != 0).map(|_| run.hash));
    }
    assert!(search.draw(total).is_none());
    assert!(seen.len() as u64 > total * 9 / 10, "{} different runs of {total}", seen.len());
    assert_eq!(
        counted.done(total),
        format!(
            "{singles} of {singles} ways to place one fault, {0} of {0} to place two",
            total - 1 - singles
        )
    );
}

#[test]
fn the_first_fault_strikes_where_nothing_went_another_way_before() {
    let search = search(Strategy::Systematic);
    let base = search.draw(0).expect("the run without faults").run();
    let one = search.draw(5).expect("a single").run();
    let struck = one.history.events.iter().position(|event| matches!(event.what, What::Fault { .. }));
    let struck = struck.expect("it struck");
    assert_eq!(base.history.events[..struck], one.history.events[..struck]);
}

#[test]
fn a_portfolio_gives_every_strategy_its_share() {
    let portfolio = search(Strategy::Portfolio);
    let hash = |search: &Search, number| search.draw(number).expect("it is there").run().hash;
    for number in 0..12 {
        let strategy = SHARES[(number % 3) as usize];
        let index = if strategy == Strategy::Systematic { number / 3 } else { number };
        assert_eq!(hash(&portfolio, number), hash(&search(strategy), index), "number {number}");
    }
}
