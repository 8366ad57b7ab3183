//! What a strategy does with a mutant.

use std::collections::BTreeSet;
use zk_harness::strategy::{Search, Strategy};

#[test]
fn where_no_fault_is_drawn_there_is_nothing_to_place_and_a_portfolio_goes_on() {
    let polls = zk_catalogue::find("lock-polls").expect("the mutant exists");
    let systematic = Search::new(polls, Strategy::Systematic, None);
    assert!(systematic.draw(0).is_some() && systematic.draw(1).is_none());
    let portfolio = Search::new(polls, Strategy::Portfolio, None);
    let hash = |number| portfolio.draw(number).expect("it has no end").run().hash;
    let hashes: BTreeSet<u128> = (0..30).map(hash).collect();
    assert_eq!(hashes.len(), 29, "only the run that faults are placed in is made twice");
}
