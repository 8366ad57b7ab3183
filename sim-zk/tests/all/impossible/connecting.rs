//! Connecting to a follower is a barrier: reads see everything that the leader had committed, whatever the links do.
//! Requests behind the connect request are processed no earlier than their session.

use crate::common::hand::{Client, F1, F2, Greeting, Hand, Heard, L, LONG};
use sim_zk::choose::{Chooser, Point, Rates, Seeded};
use sim_zk::message::Ask;
use sim_zk::{Config, Hold};
use zk_recipes::zk::CreateMode;

/// Connects a client to the second follower, behind a held link and random lags, with a new session or an existing one.
/// Returns whether its read is current, and how long the connect took.
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

#[test]
fn requests_sent_with_the_connect_request_are_answered_in_order() {
    for server in [L, F1, F2] {
        let mut hand = Hand::three();
        let mut client = Client::new(LONG);
        // Twice: with a new session, and with the same session on a new connection.
        for name in ["/first", "/second"] {
            hand.knock(&mut client, server);
            let creation = hand.creation(name, CreateMode::Ephemeral);
            let create = hand.send(&mut client, creation);
            let read = Ask::Get { path: hand.path(name), watch: false };
            let read = hand.send(&mut client, read);
            assert_eq!(hand.greeted(&mut client, 2_000), Greeting::Welcome);
            let created = hand.heard(&mut client, create, 1_000);
            assert!(matches!(created, Heard::Ok(_)), "server {server}: {created:?}");
            let data = hand.heard(&mut client, read, 1_000);
            assert!(matches!(data, Heard::Ok(_)), "server {server}: the read is behind the create: {data:?}");
            hand.cut(&mut client);
        }
    }
}

#[test]
fn a_request_sent_with_the_connect_request_is_executed_although_the_client_has_left() {
    let mut hand = Hand::three();
    let mut client = Client::new(LONG);
    hand.knock(&mut client, F1);
    let creation = hand.creation("/left", CreateMode::Persistent);
    hand.send(&mut client, creation);
    hand.cut(&mut client);
    hand.pass(1_000);
    let mut other = hand.client(L, LONG);
    assert!(hand.sees(&mut other, "/left"), "its packets arrived before the end of its stream");
}
