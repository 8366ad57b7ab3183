//! Connecting to a follower is a barrier: what the leader had committed is there, whatever the links do.

use crate::common::hand::{Client, F1, F2, Greeting, Hand, L, LONG};
use sim_zk::choose::{Chooser, Point, Rates, Seeded};
use sim_zk::{Config, Hold};
use zk_recipes::zk::CreateMode;

/// A world of random lags whose link to the second follower is held up for a while; meanwhile a client that has seen nothing
/// connects there, with a new session or with one that it has. Whether what it reads then is current, and how long it took.
fn connects_behind_a_slow_link(seed: u64, again: bool) -> (bool, u64) {
    let mut lengths = Seeded::new(seed ^ 0x5eed, Rates::NONE);
    let mut draw = |n| u64::from(lengths.choose(Point::User, n));
    let mut hand = Hand::new(Config::default().with_servers(3), Seeded::new(seed, Rates::NONE));
    let mut writer = hand.client(F1, LONG);
    hand.make(&mut writer, "/a", CreateMode::Persistent);
    let mut reader = if again { hand.client(F1, LONG) } else { Client::new(LONG) };
    hand.pass(3_000 + draw(3_000));
    hand.hold(Hold::Link(L, F2));
    if draw(2) == 1 {
        hand.hold(Hold::Link(F2, L));
    }
    hand.set(&mut writer, "/a", "new");
    let asked = hand.now();
    hand.knock(&mut reader, F2);
    hand.pass(draw(2_000));
    hand.release(Hold::Link(L, F2));
    hand.release(Hold::Link(F2, L));
    assert_eq!(hand.greeted(&mut reader, 5_000), Greeting::Welcome, "seed {seed}");
    let took = hand.now() - asked;
    (hand.get(&mut reader, "/a").as_deref() == Some("new"), took)
}

#[test]
fn a_connection_through_a_slow_link_reads_what_the_leader_had_committed() {
    let mut longest = 0;
    for seed in 0..150 {
        for again in [false, true] {
            let (current, took) = connects_behind_a_slow_link(seed, again);
            assert!(current, "seed {seed}: an old read on a new connection");
            longest = longest.max(took);
        }
    }
    assert!(longest > 1_500_000, "the links did hold it up: {longest}");
}
