//! Faults of servers and server links, and their effects. On three servers a write through the first follower passes
//! these injection points: the request at the leader; the proposal at the first and at the second follower; their
//! acknowledgements at the leader; the commits at the followers.

use crate::common::hand::{Client, F1, F2, Greeting, Hand, Heard, L, LONG, Orders, SHORT};
use sim_zk::Config;
use sim_zk::fault::{Fault, InjectionPoint, Victim};
use sim_zk::message::{Answer, Ask};
use sim_zk::observer::SimEvent;
use zk_recipes::zk::{CreateMode, EventKind};

/// Drawn durations: alternative `n` lasts `n + 1` half seconds.
const FOUR_SECONDS: u32 = 7;
const SIX_SECONDS: u32 = 11;
const SIXTEEN_SECONDS: u32 = 31;

/// Returns a world, a writer at the first follower, and a reader at another server; `/a` holds "old".
fn prepared(reader_at: u8, timeout: u64) -> (Hand, Client, Client) {
    let mut hand = Hand::three();
    let mut writer = hand.client(F1, LONG);
    let reader = hand.client(reader_at, timeout);
    hand.make(&mut writer, "/a", CreateMode::Persistent);
    hand.set(&mut writer, "/a", "old");
    hand.pass(1_000);
    (hand, writer, reader)
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn behind_a_held_link_a_follower_reads_the_old_and_passes_writes_on() {
    let (mut hand, mut writer, mut reader) = prepared(F2, LONG);
    hand.order(InjectionPoint::Packet, Fault::LinkHeld, 1, FOUR_SECONDS);
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.struck(), [(Fault::LinkHeld, Victim::Link(L, F2), 4_000)]);
    assert_eq!(hand.get(&mut writer, "/a"), text("new"));
    assert_eq!(hand.get(&mut reader, "/a"), text("old"), "a stale read elsewhere");
    let create = hand.creation("/b", CreateMode::Persistent);
    let xid = hand.send(&mut reader, create);
    assert_eq!(hand.heard(&mut reader, xid, 1_000), Heard::Silence);
    assert!(hand.sees(&mut writer, "/b"), "the other direction is free");
    assert!(matches!(hand.heard(&mut reader, xid, 4_000), Heard::Ok(_)), "nothing is lost");
    assert_eq!(hand.get(&mut reader, "/a"), text("new"));
}

#[test]
fn behind_a_cut_link_a_follower_gives_its_leader_up() {
    let (mut hand, mut writer, mut reader) = prepared(F2, LONG);
    hand.order(InjectionPoint::Packet, Fault::LinkCut, 1, SIXTEEN_SECONDS);
    hand.set(&mut writer, "/a", "new");
    let cut = hand.now();
    assert_eq!(hand.struck(), [(Fault::LinkCut, Victim::Link(L, F2), 16_000)]);
    let create = hand.creation("/b", CreateMode::Persistent);
    let xid = hand.send(&mut reader, create);
    assert_eq!(hand.heard(&mut reader, xid, 12_000), Heard::Closed, "the write hangs, and is given up");
    let after = (hand.now() - cut) / 1000;
    assert!((8_000..10_100).contains(&after), "syncLimit ticks after the last packet: {after}");
    assert!(!hand.sees(&mut writer, "/b"), "neither direction is free");
    assert_eq!(hand.attach(&mut reader, F2), Greeting::Closed, "it serves nobody without a leader");
    assert_eq!(hand.raw().world().leader(), Some(L), "the others go on");
    hand.pass(8_000);
    assert_eq!(hand.attach(&mut reader, F2), Greeting::Welcome);
    assert_eq!(hand.get(&mut reader, "/a"), text("new"));
    assert!(!hand.sees(&mut writer, "/b"), "given up for good");
}

#[test]
fn packets_that_were_lost_arrive_when_their_host_sends_them_again() {
    let (mut hand, mut writer, mut reader) = prepared(F2, LONG);
    let begin = hand.now();
    hand.inject(Fault::PacketsLost, Victim::Link(L, F2), 4_000);
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.struck(), [(Fault::PacketsLost, Victim::Link(L, F2), 4_000)]);
    let create = hand.creation("/b", CreateMode::Persistent);
    let xid = hand.send(&mut reader, create);
    assert_eq!(hand.heard(&mut reader, xid, 1_000), Heard::Silence);
    assert!(hand.sees(&mut writer, "/b"), "the other direction is free");
    let since = |hand: &Hand| (hand.now() - begin) / 1000;
    hand.pass(4_200 - since(&hand));
    let applied = |id| hand.raw().world().applied(id);
    assert!(applied(F2) < applied(F1), "a held link would have delivered the commit by now");
    assert!(matches!(hand.heard(&mut reader, xid, 4_000), Heard::Ok(_)), "nothing is lost for good");
    let after = since(&hand);
    assert!((6_000..7_000).contains(&after), "200 ms, and twice as much each time: {after}");
    assert_eq!(hand.get(&mut reader, "/a"), text("new"));
}

#[test]
fn packets_that_were_lost_go_with_their_connection() {
    let (mut hand, mut writer, mut reader) = prepared(F2, LONG);
    hand.inject(Fault::PacketsLost, Victim::Link(F2, L), 60_000);
    let create = hand.creation("/b", CreateMode::Persistent);
    let xid = hand.send(&mut reader, create);
    assert_eq!(hand.heard(&mut reader, xid, 14_000), Heard::Closed, "the leader has given the follower up");
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.mend(Victim::Link(F2, L)), 1);
    hand.pass(8_000);
    assert_eq!(hand.attach(&mut reader, F2), Greeting::Welcome);
    assert_eq!(hand.get(&mut reader, "/a"), text("new"));
    assert!(!hand.sees(&mut writer, "/b"), "no host sends the packets of a former connection again");
}

#[test]
fn on_a_partitioned_follower_a_client_is_connected_and_answered_and_already_expired() {
    let (mut hand, mut writer, mut reader) = prepared(F2, SHORT);
    hand.make(&mut reader, "/e", CreateMode::Ephemeral);
    hand.order(InjectionPoint::Packet, Fault::ServerPartition, 1, SIXTEEN_SECONDS);
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.struck(), [(Fault::ServerPartition, Victim::Server(F2), 16_000)]);
    hand.pass_pinging(7_500, &mut [&mut writer, &mut reader]);
    assert!(!hand.raw().world().lives(reader.session), "for the leader it is over");
    assert!(!hand.sees(&mut writer, "/e"));
    assert!(hand.sees(&mut reader, "/e") && !reader.closed, "it reads its own ephemeral");
    assert_eq!(hand.get(&mut reader, "/a"), text("old"));
    hand.pass_pinging(3_000, &mut [&mut writer, &mut reader]);
    hand.receive(&mut reader);
    assert!(reader.closed, "until the follower gives up");
    assert_eq!(hand.attach(&mut reader, F1), Greeting::Expired);
}

#[test]
fn a_partitioned_leader_reads_the_old_while_another_commits() {
    let (mut hand, mut writer, mut reader) = prepared(L, LONG);
    // The fault is injected when a packet is about to reach the leader: the write is not acknowledged.
    hand.order(InjectionPoint::LeaderPacket, Fault::ServerPartition, 0, SIXTEEN_SECONDS);
    let ask = hand.writing("/a", "lost");
    hand.send(&mut writer, ask);
    assert!(hand.until(12_000, |raw| raw.world().leader() != Some(L)), "another leads");
    assert_eq!(hand.struck(), [(Fault::ServerPartition, Victim::Server(L), 16_000)]);
    let mut other = hand.client(F1, LONG);
    hand.set(&mut other, "/a", "new");
    hand.sync(&mut reader);
    assert_eq!(hand.get(&mut reader, "/a"), text("old"), "sync and read, and neither is current");
    let ask = hand.writing("/a", "vain");
    let xid = hand.send(&mut reader, ask);
    assert_eq!(hand.heard(&mut reader, xid, 4_000), Heard::Closed, "it commits nothing");
    hand.pass(12_000);
    assert_eq!(hand.attach(&mut reader, L), Greeting::Welcome);
    assert_eq!(hand.get(&mut reader, "/a"), text("new"), "nor later");
}

#[test]
fn a_leader_that_stood_still_ends_the_sessions_of_everybody() {
    let (mut hand, mut a, mut b) = prepared(F2, SHORT);
    let mut c = hand.client(F1, SHORT);
    hand.pass_pinging(2_000, &mut [&mut a, &mut b, &mut c]);
    hand.order(InjectionPoint::LeaderPacket, Fault::ServerPause, 0, SIX_SECONDS);
    let ask = hand.writing("/a", "new");
    hand.send(&mut a, ask);
    hand.pass_pinging(5_500, &mut [&mut a, &mut b, &mut c]);
    assert_eq!(hand.struck(), [(Fault::ServerPause, Victim::Server(L), 6_000)]);
    assert!(!b.closed && !c.closed, "the followers are well");
    assert_eq!(hand.raw().world().leader(), Some(L), "and nobody has given the leader up");
    hand.pass(550);
    for client in [&mut b, &mut c] {
        assert_eq!(hand.attach(client, F1), Greeting::Expired, "although it has pinged all the time");
    }
    assert!(hand.raw().world().lives(a.session), "but for whoever has a longer timeout");
}

#[test]
fn a_follower_that_stood_still_loses_its_own_clients() {
    let (mut hand, mut writer, mut own) = prepared(F2, SHORT);
    let mut elsewhere = hand.client(F1, SHORT);
    hand.order(InjectionPoint::Packet, Fault::ServerPause, 1, SIX_SECONDS + 4);
    hand.set(&mut writer, "/a", "new");
    hand.pass_pinging(7_500, &mut [&mut writer, &mut own, &mut elsewhere]);
    assert_eq!(hand.struck(), [(Fault::ServerPause, Victim::Server(F2), 8_000)]);
    assert!(!hand.raw().world().lives(own.session), "its pings lie in a socket");
    assert!(hand.raw().world().lives(elsewhere.session));
}

#[test]
fn while_a_quorum_of_disks_stalls_a_write_hangs_and_is_committed_later() {
    let (mut hand, mut writer, mut reader) = prepared(F2, LONG);
    hand.order_two(InjectionPoint::Packet, Fault::DiskStall, FOUR_SECONDS);
    let ask = hand.writing("/a", "new");
    let xid = hand.send(&mut writer, ask);
    assert_eq!(hand.heard(&mut writer, xid, 3_500), Heard::Silence, "no quorum has logged it");
    let stalls = [F1, F2].map(|id| (Fault::DiskStall, Victim::Server(id), 4_000));
    assert_eq!(hand.struck(), stalls);
    assert_eq!(hand.get(&mut reader, "/a"), text("old"), "reads go on");
    assert!(matches!(hand.heard(&mut writer, xid, 1_000), Heard::Ok(_)));
    hand.sync(&mut reader);
    assert_eq!(hand.get(&mut reader, "/a"), text("new"));
}

#[test]
fn one_slow_disk_holds_nobody_up() {
    let (mut hand, mut writer, _) = prepared(F2, LONG);
    hand.order(InjectionPoint::Packet, Fault::DiskStall, 1, FOUR_SECONDS);
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.struck(), [(Fault::DiskStall, Victim::Server(F2), 4_000)]);
}

#[test]
fn behind_an_apply_stall_a_read_is_older_than_a_notification() {
    let (mut hand, mut writer, mut watcher) = prepared(F1, LONG);
    let path = hand.path("/a");
    assert!(matches!(hand.ask(&mut watcher, Ask::Get { path, watch: true }), Heard::Ok(_)));
    hand.order(InjectionPoint::Packet, Fault::ApplyStall, 1, FOUR_SECONDS);
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.struck(), [(Fault::ApplyStall, Victim::Server(F2), 4_000)]);
    hand.receive(&mut watcher);
    assert_eq!(watcher.notices, [(EventKind::NodeDataChanged, path)]);
    hand.reset(&mut watcher);
    assert_eq!(hand.attach(&mut watcher, F2), Greeting::Welcome, "the answer passes the stage by");
    // Among the items that wait for the stage, the read comes first.
    hand.orders.lengths_and_races(0, 1);
    let xid = hand.send(&mut watcher, Ask::Get { path, watch: false });
    assert_eq!(hand.heard(&mut watcher, xid, 3_000), Heard::Silence, "reads wait for the stage");
    let Heard::Ok(Answer::Data(Some(data), _)) = hand.heard(&mut watcher, xid, 1_500) else {
        panic!("the read is answered")
    };
    assert_eq!(&*data, b"old");
    assert_eq!(hand.get(&mut watcher, "/a"), text("new"));
}

#[test]
fn behind_a_commit_stall_the_leader_reads_the_old() {
    let (mut hand, mut writer, mut reader) = prepared(L, LONG);
    hand.order(InjectionPoint::LeaderPacket, Fault::CommitStall, 1, FOUR_SECONDS);
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.struck(), [(Fault::CommitStall, Victim::Server(L), 4_000)]);
    hand.sync(&mut reader);
    assert_eq!(hand.get(&mut reader, "/a"), text("old"), "acknowledged elsewhere, synced, and not there");
    hand.pass(4_000);
    assert_eq!(hand.get(&mut reader, "/a"), text("new"));
}

/// The leader crashes at that injection point of a write. Returns whether the write was kept, and the new epoch.
fn the_leader_dies(passed_by: u32) -> (bool, u32) {
    let (mut hand, mut writer, mut reader) = prepared(F2, LONG);
    hand.order(InjectionPoint::LeaderPacket, Fault::LeaderCrash, passed_by, SIXTEEN_SECONDS);
    let ask = hand.writing("/a", "new");
    let xid = hand.send(&mut writer, ask);
    assert_eq!(hand.heard(&mut writer, xid, 2_000), Heard::Closed, "the follower has lost its leader");
    assert_eq!(hand.struck(), [(Fault::LeaderCrash, Victim::Server(L), 16_000)]);
    assert!(hand.until(2_000, |raw| raw.world().leader_of_quorum().is_some()), "another is elected");
    assert_eq!(hand.attach(&mut writer, F2), Greeting::Welcome, "the session lives on");
    hand.sync(&mut writer);
    let kept = hand.get(&mut writer, "/a");
    hand.pass(18_000);
    assert_eq!(hand.attach(&mut reader, L), Greeting::Welcome, "the dead one is back");
    assert_eq!(hand.get(&mut reader, "/a"), kept, "and agrees");
    let epochs = hand.tape().find(|h| match h {
        SimEvent::Elected { epoch, .. } => Some(*epoch),
        _ => None,
    });
    (kept == text("new"), epochs.expect("somebody was elected").1)
}

#[test]
fn a_write_that_was_not_acknowledged_is_lost_or_kept_when_the_leader_dies() {
    assert_eq!(the_leader_dies(0), (false, 2), "before it was proposed");
    assert_eq!(the_leader_dies(1), (true, 2), "when the followers have logged it");
}

#[test]
fn a_server_that_dies_hangs_up_and_comes_back_with_what_it_knew() {
    let (mut hand, mut writer, mut reader) = prepared(F2, LONG);
    let path = hand.path("/a");
    assert!(matches!(hand.ask(&mut reader, Ask::Get { path, watch: true }), Heard::Ok(_)));
    assert_eq!(hand.raw().world().watches().count(), 1);
    hand.order(InjectionPoint::Packet, Fault::ServerCrash, 1, FOUR_SECONDS);
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.struck(), [(Fault::ServerCrash, Victim::Server(F2), 4_000)]);
    hand.pass(100);
    hand.receive(&mut reader);
    assert!(reader.closed && reader.notices.is_empty());
    assert_eq!(hand.raw().world().watches().count(), 0, "watches go with the process");
    assert_eq!(hand.attach(&mut reader, F2), Greeting::Closed, "nobody listens");
    hand.pass(5_000);
    assert_eq!(hand.attach(&mut reader, F2), Greeting::Welcome, "the session has outlived it");
    assert_eq!(hand.get(&mut reader, "/a"), text("new"), "it has caught up");
}

fn mtime(hand: &mut Hand, client: &mut Client, path: &str) -> i64 {
    let path = hand.path(path);
    match hand.ask(client, Ask::Exists { path, watch: false }) {
        Heard::Ok(Answer::Stat(stat)) => stat.mtime,
        other => panic!("it is there: {other:?}"),
    }
}

#[test]
fn times_of_znodes_start_at_the_configured_wall_clock() {
    let config = Config { wall_clock_ms: 1_800_000_000_000, ..Config::default() };
    let mut hand = Hand::new(config, Orders::default());
    let mut client = hand.client(0, LONG);
    hand.pass(10_000);
    hand.make(&mut client, "/a", CreateMode::Persistent);
    let passed = mtime(&mut hand, &mut client, "/a") - 1_800_000_000_000;
    assert!((10_000..11_000).contains(&passed), "{passed} ms after the start");
}

#[test]
fn when_the_clock_jumps_times_go_back_and_expiry_does_not_care() {
    let (mut hand, mut writer, mut silent) = prepared(F2, SHORT);
    let before = mtime(&mut hand, &mut writer, "/a");
    hand.set(&mut silent, "/a", "heard of");
    let heard = hand.now();
    hand.order(InjectionPoint::LeaderPacket, Fault::ClockJump, 0, 0);
    hand.set(&mut writer, "/a", "new");
    assert_eq!(hand.struck(), [(Fault::ClockJump, Victim::Server(L), 0)]);
    let after = mtime(&mut hand, &mut writer, "/a");
    assert!(after < before - 25_000, "by half a minute: {before}, {after}");
    let session = silent.session;
    assert!(hand.until(10_000, |raw| !raw.world().lives(session)));
    let lived = (hand.now() - heard) / 1000;
    assert!((SHORT - 1_000..=SHORT + 3_000).contains(&lived), "expired after {lived}");
}
