//! Anomalies that need a certain order of steps, which each story forces.

use crate::common::hand::{F1, F2, Greeting, Hand, Heard, L, LONG};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::message::Ask;
use sim_zk::observer::{Outcome, SimEvent};
use sim_zk::{Config, Hold};
use zk_recipes::zk::CreateMode;

/// Returns the outcome of an operation, if the leader ordered it.
fn outcome_of(hand: &Hand, wanted: u32) -> Option<Outcome> {
    let found = hand.tape().find(|event| match event {
        SimEvent::Txn { op, outcome, .. } if *op == wanted => Some(*outcome),
        _ => None,
    });
    found.map(|(_, outcome)| outcome)
}

fn moved(hand: &Hand) -> usize {
    hand.tape().count(|h| matches!(h, SimEvent::Moved { .. }))
}

#[test]
fn a_late_write_of_the_old_connection_dies_and_closes_it() {
    let mut hand = Hand::three();
    let mut client = hand.client(F1, LONG);
    hand.pass(100);
    hand.hold(Hold::Link(F1, L));
    let create = hand.creation("/late", CreateMode::Persistent);
    hand.send(&mut client, create);
    let op = hand.op();
    hand.pass(100);
    let old = client.conn;
    assert_eq!(hand.attach(&mut client, F2), Greeting::Welcome);
    assert!(!hand.sees(&mut client, "/late"));
    hand.release(Hold::Link(F1, L));
    hand.pass(100);
    assert_eq!(outcome_of(&hand, op), Some(Some(sim_zk::message::Code::SessionMoved)));
    assert_eq!(moved(&hand), 1);
    assert!(!hand.sees(&mut client, "/late"), "never applied, and the new connection is well");
    client.conn = old;
    hand.receive(&mut client);
    assert!(client.closed, "the old one is closed without an answer");
}

#[test]
fn a_session_stolen_back_by_an_attempt_that_was_given_up() {
    let mut hand = Hand::three();
    let mut client = hand.client(F1, LONG);
    hand.pass(100);
    hand.hold(Hold::Link(F2, L));
    hand.reset(&mut client);
    assert_eq!(hand.attach(&mut client, F2), Greeting::Silence, "slow, and given up");
    hand.reset(&mut client);
    assert_eq!(hand.attach(&mut client, F1), Greeting::Welcome);
    hand.make(&mut client, "/first", CreateMode::Persistent);
    hand.release(Hold::Link(F2, L));
    hand.pass(100);
    assert!(hand.sees(&mut client, "/first"), "reads still work");
    let create = hand.creation("/second", CreateMode::Persistent);
    assert_eq!(hand.ask(&mut client, create), Heard::Closed, "the late one owns the session now");
    assert_eq!(moved(&hand), 1);
    assert_eq!(hand.attach(&mut client, F1), Greeting::Welcome);
    assert!(!hand.sees(&mut client, "/second"));
    hand.make(&mut client, "/third", CreateMode::Persistent);
}

#[test]
fn a_write_in_flight_that_appears_after_the_first_reads_elsewhere() {
    let mut hand = Hand::three();
    let mut client = hand.client(F1, LONG);
    hand.pass(100);
    (0..3).for_each(|id| hand.hold(Hold::Disk(id)));
    let create = hand.creation("/a", CreateMode::Ephemeral);
    hand.send(&mut client, create);
    hand.pass(10);
    hand.cut(&mut client);
    assert_eq!(hand.attach(&mut client, F2), Greeting::Welcome);
    assert!(!hand.sees(&mut client, "/a"), "it is outstanding");
    let path = hand.path("/a");
    let sync = hand.send(&mut client, Ask::Sync { path });
    assert_eq!(hand.heard(&mut client, sync, 1_000), Heard::Silence, "who wants to know has to wait");
    (0..3).for_each(|id| hand.release(Hold::Disk(id)));
    assert!(matches!(hand.heard(&mut client, sync, 1_000), Heard::Ok(_)));
    assert!(hand.sees(&mut client, "/a"), "there it is");
}

/// Kills the leader while only the leader knows a write. Returns whether the write is applied in the end.
fn known_to_the_leader_alone(first_back: bool) -> bool {
    let mut hand = Hand::three();
    let mut client = hand.client(L, LONG);
    hand.pass(100);
    for follower in [F1, F2] {
        hand.hold(Hold::Link(L, follower));
    }
    let create = hand.creation("/a", CreateMode::Persistent);
    let xid = hand.send(&mut client, create);
    assert_eq!(hand.heard(&mut client, xid, 100), Heard::Silence);
    if first_back {
        // Without the leader no server is left to be elected.
        hand.kill(F1);
        hand.kill(F2);
    }
    hand.kill(L);
    assert_eq!(hand.heard(&mut client, xid, 100), Heard::Closed);
    if first_back {
        hand.start(L);
        hand.start(F1);
    }
    for follower in [F1, F2] {
        hand.release(Hold::Link(L, follower));
    }
    // Packets in the dead process's sockets may still arrive; held links lose them with the connection.
    assert!(hand.until(5_000, |raw| raw.world().leader_of_quorum().is_some()));
    hand.start(L);
    hand.start(F2);
    assert!(hand.until(5_000, |raw| raw.world().serving().len() == 3));
    assert_eq!(hand.attach(&mut client, L), Greeting::Welcome);
    hand.sees(&mut client, "/a")
}

#[test]
fn a_proposal_known_to_the_old_leader_alone_is_applied_if_it_leads_again() {
    assert!(known_to_the_leader_alone(true));
}

#[test]
fn a_proposal_that_no_follower_got_is_gone_for_good_if_others_elect() {
    let mut hand = Hand::three();
    let mut client = hand.client(L, LONG);
    hand.pass(100);
    // The followers have the proposal in memory only, and lose it in the crash.
    for follower in [F1, F2] {
        hand.hold(Hold::Disk(follower));
    }
    let create = hand.creation("/a", CreateMode::Persistent);
    let xid = hand.send(&mut client, create);
    assert_eq!(hand.heard(&mut client, xid, 100), Heard::Silence);
    [F1, F2, L].into_iter().for_each(|id| hand.kill(id));
    for follower in [F1, F2] {
        hand.release(Hold::Disk(follower));
        hand.start(follower);
    }
    assert!(hand.until(5_000, |raw| raw.world().leader_of_quorum().is_some()));
    hand.start(L);
    assert!(hand.until(5_000, |raw| raw.world().serving().len() == 3));
    assert_eq!(hand.attach(&mut client, L), Greeting::Welcome);
    assert!(!hand.sees(&mut client, "/a"), "not even on the server whose disk had it");
}

#[test]
fn bytes_of_a_dead_leader_that_still_arrive_save_a_proposal() {
    // Held links keep the packets that the dead process had sent.
    assert!(known_to_the_leader_alone(false));
}

#[test]
fn whoever_read_at_a_new_leader_is_turned_away_by_its_followers_until_something_happens() {
    let mut hand = Hand::three();
    let mut client = hand.client(F1, LONG);
    let mut other = hand.client(F2, LONG);
    hand.pass(1_000);
    hand.kill(L);
    assert!(hand.until(5_000, |raw| raw.world().leader_of_quorum().is_some()));
    let leader = hand.raw().world().leader().expect("it was just there");
    let follower = 1 - leader;
    assert_eq!(hand.attach(&mut client, leader), Greeting::Welcome);
    assert!(!hand.sees(&mut client, "/no"));
    assert_eq!(client.seen, 2 << 32, "the new epoch's beginning");
    hand.reset(&mut client);
    assert_eq!(hand.attach(&mut client, follower), Greeting::Closed, "still in the old epoch");
    assert_eq!(hand.attach(&mut other, leader), Greeting::Welcome);
    hand.make(&mut other, "/first", CreateMode::Persistent);
    assert_eq!(hand.attach(&mut client, follower), Greeting::Welcome);
}

#[test]
fn a_client_is_turned_away_right_after_its_own_write_without_any_fault() {
    let mut refused = 0;
    for seed in 0..600 {
        let mut hand = Hand::new(Config::default().with_servers(3), Seeded::new(seed, Rates::NONE));
        let mut client = hand.client(F1, LONG);
        hand.pass(3_000);
        hand.make(&mut client, "/a", CreateMode::Persistent);
        hand.reset(&mut client);
        refused += u32::from(hand.attach(&mut client, F2) == Greeting::Closed);
    }
    assert!((6..=150).contains(&refused), "{refused} of 600");
}
