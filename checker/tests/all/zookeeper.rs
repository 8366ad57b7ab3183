//! The promises of ZooKeeper itself: a history and a verdict.

use crate::common::ensemble::*;
use crate::common::{edit, history, says, without};
use zk_checker::digest::Stat;
use zk_checker::{Layer, RuleId, RuleSet, Verdict, judge};

fn held() -> String {
    join(&[ENSEMBLE, A_HOLDS])
}

/// The client of session 2 reads at server 2, on connection 2.
fn read(at: &str, req: u32, kind: &str, state: &str, found: &str) -> String {
    format!(
        "{at} b send r{req} {kind} /lock
{at} server:2 served r{req} {state} conn 2
{at} server:2 found {kind} {found}
{at} b reply r{req} ok {state} conn 2
"
    )
}

fn directory(creations: i32, children: i32, pzxid: u64) -> Stat {
    Stat { pzxid, cversion: 2 * creations - children, num_children: children, ..fresh(0x1, 0) }
}

#[test]
fn zk_1_servers_apply_the_same_transactions() {
    says(&held(), "ZK-1 pass");
    // Server 2 skips one.
    let next = "0.005 server:0 txn 0x5 s0 other ok\n0.006 server:2 applied 0x5\n";
    says(&join(&[&held(), next]), "ZK-1 pass");
    says(&join(&[&without(&held(), "server:2 applied 0x4"), next]), "ZK-1 fail, first ZK-1");
    // One that is unknown elsewhere, one a second time, and one that comes too late.
    says(&join(&[&held(), "0.005 server:2 applied 0x9\n"]), "ZK-1 fail");
    says(&join(&[&held(), "0.005 server:2 applied 0x3\n"]), "ZK-1 fail");
    says(&join(&[&held(), "0.005 server:2 txn 0x3 s0 other ok\n"]), "ZK-1 fail");
    // A server that was away receives everything at once.
    let away = "0.005 server:2 ceased\n0.006 server:0 txn 0x5 s0 other ok\n0.007 server:0 txn 0x6 s0 other ok\n0.008 server:2 applied 0x6\n";
    says(&join(&[&held(), away]), "ZK-1 pass");
}

#[test]
fn zk_2_writes_follow_what_was_answered() {
    let write = "0.005 b send r3 set /lock\n0.006 b reply r3 ok 0x6 conn 2\n";
    says(&join(&[&held(), write]), "ZK-2 pass");
    says(&join(&[&held(), &write.replace("0x6", "0x3")]), "ZK-2 fail");
    // A write called before the other request returned may come before it.
    let early = edit(&held(), "0.004 a #1 reply r1", "0.003 b send r3 set /lock\n0.004 a #1 reply r1");
    says(&join(&[&early, "0.006 b reply r3 ok 0x3 conn 2\n"]), "ZK-2 vacuous");
}

#[test]
fn zk_3_a_session_sees_its_writes_in_order() {
    says(&held(), "ZK-3 pass");
    let first = "0.004 a #1 reply r1 ok 0x4 conn 1\n0.004 a #1 made /lock/a-0000000000 0x4\n";
    let second = "0.004 a #1 reply r2 ok 0x4 conn 1\n";
    let swapped = edit(&held(), &join(&[first, second]), &join(&[second, first]));
    says(&swapped, "ZK-3 fail, first ZK-3");
    says(&edit(&held(), "reply r2 ok 0x4", "reply r2 ok 0x3"), "ZK-3 fail, ZK-4 fail");
    let two = "0.005 a send r3 set /lock\n0.005 a send r4 set /lock\n0.006 a reply r3 ok 0x5 conn 1\n0.006 a reply r4 ok 0x5 conn 1\n";
    says(&join(&[&held(), two]), "ZK-3 fail, ZK-2 pass");
    says(&join(&[&held(), &two.replace("r4 ok 0x5", "r4 ok 0x6")]), "ZK-3 pass");
}

#[test]
fn zk_4_a_session_never_sees_less() {
    let read = "0.005 b send r3 sync /\n0.006 b reply r3 ok 0x4 conn 2\n0.007 b send r4 sync /\n0.008 b reply r4 ok 0x4 conn 2\n";
    says(&join(&[&held(), read]), "ZK-4 pass");
    says(&join(&[&held(), &edit(read, "r4 ok 0x4", "r4 ok 0x3")]), "ZK-4 fail, first ZK-4");
    // A server that is behind does not accept the client, and an up-to-date one does.
    let behind = without(&held(), "server:2 applied 0x4");
    let moves = "0.005 a state s1 suspended\n0.006 a state s1 connected conn 3 server 2\n";
    says(&join(&[&behind, moves]), "ZK-4 fail, first ZK-4");
    says(&join(&[&held(), moves]), "ZK-4 pass");
    says(&join(&[&behind, "0.005 server:2 turned_away s1 0x4\n"]), "ZK-4 pass");
    says(&join(&[&held(), "0.005 server:2 turned_away s1 0x4\n"]), "ZK-4 fail");
}

#[test]
fn zk_5_a_read_shows_the_state_of_its_zxid() {
    let now = list(&["a-0000000000"], &directory(1, 1, 0x4));
    let before = list(&[], &directory(0, 0, 0x1));
    let right = |found: &str| read("0.005", 3, "children", "0x4", &format!("ok /lock {found}"));
    says(&join(&[&held(), &right(&now)]), "ZK-5 pass, ZK-9 pass, first nothing");
    says(&join(&[&held(), &right(&before)]), "ZK-5 fail, ZK-9 fail, first ZK-5");
    says(&join(&[&held(), &right(&list(&["b-0000000000"], &directory(1, 1, 0x4)))]), "ZK-5 fail, ZK-9 pass");
    // Server 2 lags, and shows its own state.
    let behind = without(&held(), "server:2 applied 0x4");
    let stale = |state: &str| read("0.005", 3, "children", state, &format!("ok /lock {before}"));
    says(&join(&[&behind, &stale("0x3")]), "ZK-5 pass, first nothing");
    says(&join(&[&behind, &stale("0x4")]), "ZK-5 fail");
    says(&join(&[&held(), &stale("0x3")]), "ZK-5 fail");
    // The answer has the zxid of that state.
    let untrue = edit(&stale("0x3"), "reply r3 ok 0x3", "reply r3 ok 0x4");
    says(&join(&[&behind, &untrue]), "ZK-5 fail, first ZK-5");
    // Existing and missing znodes.
    let missing = |path: &str| read("0.005", 3, "exists", "0x4", &format!("no_node {path} 0x0 0x0"));
    says(&join(&[&held(), &missing("/lock/b")]), "ZK-5 pass, first nothing");
    says(&join(&[&held(), &missing("/lock/a-0000000000")]), "ZK-5 fail");
    // The root existed before the first recorded event.
    says(&join(&[&held(), &read("0.005", 3, "exists", "0x4", "ok / 0x0 0x9")]), "ZK-5 pass, first nothing");
}

#[test]
fn zk_5_data_are_those_that_were_written() {
    let bytes = zk_checker::digest::data(Some(b"one"));
    let write = format!(
        "0.005 server:2 txn 0x5 s2 set ok\n0.005 server:2 written 0x5 /lock\n0.005 server:2 data 3 {bytes:#x}\n"
    );
    let stat = Stat { mzxid: 0x5, version: 1, data_length: 3, ..directory(1, 1, 0x4) };
    let get = |found: String| read("0.006", 3, "get", "0x5", &format!("ok /lock {found}"));
    says(&join(&[&held(), &write, &get(data(b"one", &stat))]), "ZK-5 pass, ZK-9 pass, first nothing");
    says(&join(&[&held(), &write, &get(data(b"two", &stat))]), "ZK-5 fail, ZK-9 pass");
    let older = Stat { version: 0, ..stat };
    says(&join(&[&held(), &write, &get(data(b"one", &older))]), "ZK-5 pass, ZK-9 fail");
}

#[test]
fn zk_6_a_watch_fires_once_for_the_first_change() {
    let run = lagging();
    says(&run, "ZK-6 pass");
    says(&without(&without(&run, "fire s2"), "notice s2"), "ZK-6 fail, first ZK-6");
    let fire = "1.021 server:2 #3 fire s2 deleted /lock/a-0000000000 0x6 conn 2\n";
    says(&edit(&run, fire, &fire.repeat(2)), "ZK-6 fail, first ZK-6");
    says(&edit(&run, fire, &fire.replace("deleted", "children_changed")), "ZK-6 fail");
    let notice = "1.022 b #2 notice s2 deleted /lock/a-0000000000 conn 2\n";
    says(&edit(&run, notice, &notice.repeat(2)), "ZK-6 fail, first ZK-6");
    // A client without read permission is not notified, and the watch is used up.
    let filtered = "1.021 server:2 disarm s2 child /lock/a-0000000000 conn 2\n";
    says(&without(&edit(&run, fire, filtered), "notice s2"), "ZK-6 pass");
}

#[test]
fn zk_6_a_notification_comes_before_a_later_answer() {
    let notice = "1.022 b #2 notice s2 deleted /lock/a-0000000000 conn 2\n";
    let reply = "1.022 b reply r9 ok 0x6 conn 2\n";
    let run = edit(&lagging(), notice, &join(&["1.022 b send r9 sync /\n", notice, reply]));
    says(&run, "ZK-6 pass, first nothing");
    let late = edit(&run, &join(&[notice, reply]), &join(&[reply, notice]));
    says(&late, "ZK-6 fail, first ZK-6");
    says(&edit(&late, "r9 ok 0x6", "r9 ok 0x5"), "ZK-6 pass");
}

#[test]
fn zk_6_notifications_arrive_in_the_order_of_their_zxids() {
    let two = "
0.005 server:2 arm s2 child /lock conn 2
0.005 server:2 arm s2 data /lock conn 2
0.006 server:2 txn 0x5 s2 create ok
0.006 server:2 created 0x5 /lock/x s0
0.006 server:2 fire s2 children_changed /lock 0x5 conn 2
0.007 server:2 txn 0x6 s2 set ok
0.007 server:2 written 0x6 /lock
0.007 server:2 fire s2 data_changed /lock 0x6 conn 2
0.008 b notice s2 children_changed /lock conn 2
0.008 b notice s2 data_changed /lock conn 2
";
    says(&join(&[&held(), two]), "ZK-6 pass, first nothing");
    let swapped = two.replace("0.008 b notice s2 children_changed /lock conn 2\n", "");
    says(&join(&[&held(), &swapped]), "ZK-6 fail");
}

#[test]
fn zk_6_a_notification_bears_half_a_zxid() {
    let epoch = "
0.005 server:2 arm s2 child /lock conn 2
0.005 b send r3 sync /
0.006 server:2 txn 0x100000004 s2 other ok
0.007 server:2 txn 0x100000005 s2 create ok
0.007 server:2 created 0x100000005 /lock/x s0
0.007 server:2 fire s2 children_changed /lock 0x5 conn 2
0.008 b reply r3 ok 0x100000004 conn 2
0.008 b notice s2 children_changed /lock conn 2
";
    says(&join(&[&held(), epoch]), "ZK-6 pass, first nothing");
    says(&join(&[&held(), &edit(epoch, "ok 0x100000004", "ok 0x100000005")]), "ZK-6 fail");
}

#[test]
fn zk_6_a_read_with_a_watch_arms_one() {
    let stat = stat(&directory(1, 1, 0x4));
    let read = format!(
        "0.005 b send r3 exists /lock watch
0.006 server:2 served r3 0x4 conn 2
0.006 server:2 found exists ok /lock {stat}
0.006 server:2 arm s2 data /lock conn 2
0.007 b reply r3 ok 0x4 conn 2
"
    );
    says(&join(&[&held(), &read]), "ZK-6 pass, first nothing");
    says(&join(&[&held(), &without(&read, "arm s2")]), "ZK-6 fail");
}

#[test]
fn zk_6_registering_again_tells_what_was_missed() {
    let moves = "
0.005 b send r3 sync /
0.006 b reply r3 ok 0x4 conn 2
0.010 b state s2 suspended
0.011 server:1 txn 0x5 s1 set ok
0.011 server:1 written 0x5 /lock
0.020 b state s2 connected conn 3 server 1
0.021 server:1 fire s2 data_changed /lock 0x0 conn 3
0.022 b notice s2 data_changed /lock conn 3
";
    says(&join(&[&held(), moves]), "ZK-6 pass, first nothing");
    says(&join(&[&held(), &moves.replace("data_changed", "deleted")]), "ZK-6 fail");
    says(&join(&[&held(), &moves.replace("data_changed", "children_changed")]), "ZK-6 fail");
    // Nothing was written: the client had seen the other change.
    let nothing = without(&without(moves, "txn 0x5"), "written");
    says(&join(&[&held(), &nothing]), "ZK-6 fail");
}

#[test]
fn zk_7_ephemerals_go_with_their_session() {
    let end = "
5.000 server:0 marked s1 heard 0.9
5.001 server:0 txn 0x5 s1 close_session ok
5.001 server:0 deleted 0x5 /lock/a-0000000000 by s1
5.001 server:0 ended s1 0x5
";
    let run = join(&[&held(), end]);
    says(&run, "ZK-7 pass, first nothing");
    says(&without(&run, "deleted 0x5"), "ZK-7 fail");
    let after = "5.002 server:0 txn 0x6 s1 create ok\n5.002 server:0 created 0x6 /lock/x s0\n";
    says(&join(&[&run, after]), "ZK-7 fail");
    says(
        &join(&[
            &run,
            &after.replace("ok", "session_expired").replace("created 0x6 /lock/x s0", "applied 0x6"),
        ]),
        "ZK-7 pass",
    );
    let foreign = "5.001 server:0 deleted 0x5 /lock by s1\n5.001 server:0 ended";
    says(&edit(&run, "5.001 server:0 ended", foreign), "ZK-7 fail");
}

#[test]
fn zk_7_a_session_expires_in_time() {
    let marked =
        |at: &str, heard: &str| join(&[&held(), &format!("{at} server:0 marked s1 heard {heard}\n")[..]]);
    says(&marked("5.000", "1.0"), "ZK-7 pass");
    says(&marked("5.500", "1.0"), "ZK-7 pass");
    says(&marked("4.900", "1.0"), "ZK-7 fail, first ZK-7");
    says(&marked("5.600", "1.0"), "ZK-7 fail, first ZK-7");
    // A leader that was paused is late, and a new one starts the timeouts again.
    let paused =
        "1.000 world fault server_pause server:0 lasts 6\n7.000 world mended server_pause server:0\n";
    says(&join(&[&held(), paused, "7.010 server:0 marked s1 heard 1.0\n"]), "ZK-7 pass");
    let elected = "3.000 server:0 elected 1\n";
    says(&join(&[&held(), elected, "5.400 server:0 marked s1 heard 1.0\n"]), "ZK-7 fail");
    says(&join(&[&held(), elected, "7.400 server:0 marked s1 heard 1.0\n"]), "ZK-7 pass");
}

#[test]
fn zk_8_the_suffix_counts_the_creations_of_children() {
    says(&held(), "ZK-8 pass");
    says(&held().replace("a-0000000000", "a-0000000001"), "ZK-8 fail, first ZK-8");
    says(&lagging().replace("b-0000000001", "b-0000000000"), "ZK-8 fail");
    // A deletion does not count.
    let gone = "
0.005 a send r3 delete /lock/a-0000000000
0.006 server:1 txn 0x5 s1 delete ok
0.006 server:1 deleted 0x5 /lock/a-0000000000 by s1
0.007 a reply r3 ok 0x5 conn 1
0.008 a send r4 create /lock/n-
0.009 server:1 txn 0x6 s1 create ok
0.009 server:1 created 0x6 /lock/n-0000000001 s0
0.010 a reply r4 ok 0x6 conn 1
0.010 a made /lock/n-0000000001 0x6
";
    says(&join(&[&held(), gone]), "ZK-8 pass");
    says(&join(&[&held(), &gone.replace("n-0000000001", "n-0000000000")]), "ZK-8 fail");
}

#[test]
fn zk_9_a_change_finds_what_it_needs() {
    let change = |kind: &str, effect: &str| {
        join(&[&held(), &format!("0.005 server:0 txn 0x5 s0 {kind} ok\n0.005 server:0 {effect}\n")[..]])
    };
    says(&change("create", "created 0x5 /lock/x s0"), "ZK-9 pass, first nothing");
    says(&change("create", "created 0x5 /lock s0"), "ZK-9 fail");
    says(&change("create", "created 0x5 /lock/a-0000000000/x s0"), "ZK-9 fail");
    says(&change("delete", "deleted 0x5 /lock by s0"), "ZK-9 fail");
    let gone = "0.006 server:0 txn 0x6 s0 set ok\n0.006 server:0 written 0x6 /lock/a-0000000000\n";
    let deleted = change("delete", "deleted 0x5 /lock/a-0000000000 by s1");
    says(&deleted, "ZK-9 pass");
    says(&join(&[&deleted, gone]), "ZK-9 fail");
}

#[test]
fn zk_9_deletions_of_children_count_too() {
    let gone = "0.005 server:2 txn 0x5 s1 delete ok\n0.005 server:2 deleted 0x5 /lock/a-0000000000 by s1\n";
    let right = directory(1, 0, 0x5);
    assert_eq!((right.cversion, right.num_children), (2, 0));
    let shows = |stat: &Stat| read("0.006", 3, "children", "0x5", &format!("ok /lock {}", list(&[], stat)));
    says(&join(&[&held(), gone, &shows(&right)]), "ZK-5 pass, ZK-9 pass, first nothing");
    let wrong = Stat { cversion: 1, ..right };
    says(&join(&[&held(), gone, &shows(&wrong)]), "ZK-5 pass, ZK-9 fail");
}

#[test]
fn zk_10_what_was_acknowledged_survives() {
    says(&held(), "ZK-10 pass");
    says(&edit(&held(), "reply r1 ok 0x4", "reply r1 ok 0x9"), "ZK-10 fail");
    // A new leader continues without it.
    let run = without(&held(), "server:2 applied 0x4");
    let goes_on = "1.000 server:2 elected 1\n1.001 server:2 txn 0x100000001 s0 other ok\n";
    says(&join(&[&run, goes_on]), "ZK-10 fail, ZK-1 fail");
    says(&join(&[&held(), goes_on]), "ZK-10 pass, first nothing");
    let unacknowledged = without(&without(&run, "reply r1"), "made");
    says(&join(&[&without(&unacknowledged, "reply r2"), goes_on]), "ZK-10 vacuous, ZK-1 fail");
    // No reply acknowledged the create, but a read has shown the znode.
    says(&join(&[&unacknowledged, goes_on]), "ZK-10 fail, first ZK-10");
}

#[test]
fn zk_11_a_transaction_happens_as_a_whole() {
    let txn = |how: &str, effects: &str| {
        let end = "0.007 server:0 txn 0x6 s0 other ok\n";
        join(&[&held(), &format!("0.005 server:0 txn 0x5 s0 {how}\n{effects}{end}")[..]])
    };
    let two = "0.005 server:0 created 0x5 /lock/x s0\n0.005 server:0 created 0x5 /lock/y s0\n";
    let one = "0.005 server:0 created 0x5 /lock/x s0\n";
    says(&txn("multi ok", two), "ZK-11 pass, first nothing");
    says(&txn("multi no_node", two), "ZK-11 fail, first ZK-11");
    says(&txn("create ok", one), "ZK-11 pass");
    says(&txn("create ok", two), "ZK-11 fail");
    says(&txn("create ok", ""), "ZK-11 fail");
    says(&txn("create node_exists", ""), "ZK-11 pass");
    let apart = two.replace("created 0x5 /lock/y", "created 0x6 /lock/y");
    says(&txn("multi ok", &apart), "ZK-11 fail");
}

#[test]
fn zk_12_after_a_sync_nothing_is_old() {
    let sync = "0.005 b send r3 sync /\n0.006 server:0 barrier s2 r3 0x4\n0.008 b reply r3 ok 0x4 conn 2\n";
    let stale = list(&[], &directory(0, 0, 0x1));
    let now = list(&["a-0000000000"], &directory(1, 1, 0x4));
    let behind = without(&held(), "server:2 applied 0x4");
    let old = read("0.009", 4, "children", "0x3", &format!("ok /lock {stale}"));
    let new = read("0.009", 4, "children", "0x4", &format!("ok /lock {now}"));
    says(&join(&[&held(), sync, &new]), "ZK-12 pass, first nothing");
    says(&join(&[&behind, sync, &old]), "ZK-12 fail");
    let pipelined = edit(&old, "0.009 b send r4", "0.0045 b send r4");
    let (sent, served) = pipelined.split_once('\n').expect("a line");
    says(&join(&[&behind, sent, "\n", sync, served]), "ZK-12 vacuous");
    // A read that was sent before the sync may be old.
    let before = old.replace("0.009", "0.004");
    says(&join(&[&behind, &before, sync]), "ZK-12 vacuous");
}

#[test]
fn zk_13_who_is_cut_off_stops_serving() {
    let now = list(&["a-0000000000"], &directory(1, 1, 0x4));
    let at = |at: &str| read(at, 3, "children", "0x4", &format!("ok /lock {now}"));
    let cut = "1.000 world fault server_partition server:2 lasts 20\n";
    says(&join(&[&held(), cut, &at("3.900")]), "ZK-13 pass, first nothing");
    says(&join(&[&held(), cut, &at("4.100")]), "ZK-13 fail, first ZK-13");
    let mended = "4.000 world mended server_partition server:2\n";
    says(&join(&[&held(), cut, mended, &at("4.100")]), "ZK-13 vacuous");
    let paused =
        "1.500 world fault server_pause server:2 lasts 1\n2.500 world mended server_pause server:2\n";
    says(&join(&[&held(), cut, paused, &at("5.400")]), "ZK-13 pass");
    says(&join(&[&held(), cut, paused, &at("5.600")]), "ZK-13 fail");
    let limit = edit(&held(), "settle 0.001", "settle 0.001 sync_limit 10");
    says(&join(&[&limit, cut, &at("4.100")]), "ZK-13 pass");
    // Both links are cut; and only one of them.
    let links =
        "1.000 world fault link_cut link:0:2 lasts 20\n1.000 world fault link_cut link:1:2 lasts 20\n";
    says(&join(&[&held(), links, &at("4.100")]), "ZK-13 fail");
    says(&join(&[&held(), &without(&format!("\n{links}"), "link:1:2"), &at("4.100")]), "ZK-13 vacuous");
    // A link that loses all packets counts as cut, one way.
    let lost = links.replace("link_cut", "packets_lost");
    says(&join(&[&held(), &lost, &at("4.100")]), "ZK-13 fail");
    let back = lost.replace("link:0:2", "link:2:0");
    says(&join(&[&held(), &back, &at("4.100")]), "ZK-13 vacuous");
    let mended = "4.000 world mended packets_lost link:1:2\n";
    says(&join(&[&held(), &lost, mended, &at("4.100")]), "ZK-13 vacuous");
}

const PERSISTENT: &str = "
0.005 server:2 arm s2 data /lock conn 2 persistent
0.005 server:2 arm s2 child /lock conn 2 persistent
0.006 server:2 txn 0x5 s2 create ok
0.006 server:2 created 0x5 /lock/x s0
0.006 server:2 fire s2 children_changed /lock 0x5 conn 2
0.007 server:2 txn 0x6 s2 create ok
0.007 server:2 created 0x6 /lock/y s0
0.007 server:2 fire s2 children_changed /lock 0x6 conn 2
0.008 server:2 txn 0x7 s2 set ok
0.008 server:2 written 0x7 /lock
0.008 server:2 fire s2 data_changed /lock 0x7 conn 2
0.009 world heal
";

const RECURSIVE: &str = "
0.005 server:2 arm s2 data / conn 2 recursive
0.005 server:2 arm s2 child / conn 2 recursive
0.006 server:2 txn 0x5 s2 create ok
0.006 server:2 created 0x5 /lock/x s0
0.006 server:2 fire s2 created /lock/x 0x5 conn 2
0.007 server:2 txn 0x6 s2 delete ok
0.007 server:2 deleted 0x6 /lock/x by s2
0.007 server:2 fire s2 deleted /lock/x 0x6 conn 2
0.009 world heal
";

#[test]
fn zk_14_a_persistent_watch_stays() {
    says(&join(&[&held(), PERSISTENT]), "ZK-14 pass, first nothing");
    for fire in ["children_changed /lock 0x5", "children_changed /lock 0x6", "data_changed /lock 0x7"] {
        says(&join(&[&held(), &without(PERSISTENT, fire)]), "ZK-14 fail, first ZK-14");
    }
    // A removed watch does not fire.
    let removed = "0.0055 server:2 disarm s2 data /lock conn 2\n0.006 server:2 txn";
    let run = edit(PERSISTENT, "0.006 server:2 txn", removed);
    says(&join(&[&held(), &without(&run, "data_changed")]), "ZK-14 pass, first nothing");
}

#[test]
fn zk_14_a_recursive_watch_is_about_everything_below() {
    says(&join(&[&held(), RECURSIVE]), "ZK-14 pass, first nothing");
    says(&join(&[&held(), &without(RECURSIVE, "fire s2 created")]), "ZK-14 fail");
    says(&join(&[&held(), &without(RECURSIVE, "fire s2 deleted")]), "ZK-14 fail");
    // It never notifies of children, and notifies only once of a deletion.
    let children = "0.006 server:2 fire s2 children_changed /lock 0x5 conn 2\n0.007 server:2 txn";
    says(&join(&[&held(), &edit(RECURSIVE, "0.007 server:2 txn", children)]), "ZK-6 fail");
    let twice = "0.007 server:2 fire s2 deleted /lock/x 0x6 conn 2\n";
    says(&join(&[&held(), &edit(RECURSIVE, twice, &twice.repeat(2))]), "ZK-6 fail");
    // A path that only shares a prefix is not below.
    let other = RECURSIVE.replace(" data / ", " data /lo ").replace(" child / ", " child /lo ");
    says(
        &join(&[&held(), &without(&without(&other, "fire s2 created"), "fire s2 deleted")]),
        "ZK-14 pass, first nothing",
    );
}

#[test]
fn a_server_that_lies_explains_what_breaks_after_it() {
    let run = edit(&join(&[ENSEMBLE, A_HOLDS]), "reply r2 ok 0x4", "reply r2 ok 0x3");
    let report = judge(&history(&run), &RuleSet::all());
    let rules: Vec<_> = report.findings.iter().map(|f| (f.rule.name(), f.secondary)).collect();
    assert_eq!(rules, [("ZK-3", false), ("ZK-4", false), ("MX-4", true)]);
}

#[test]
fn the_layer_can_be_switched_off() {
    let run = history(&edit(&join(&[ENSEMBLE, A_HOLDS]), "reply r2 ok 0x4", "reply r2 ok 0x3"));
    let report = judge(&run, &RuleSet::all().without_layer(Layer::ZooKeeper));
    assert_eq!(report.first().map(|first| first.rule), Some(RuleId::Mx4));
    assert!(report.rows.iter().all(|row| row.rule.layer() != Layer::ZooKeeper));
    // A rule that also judges another one does not report it if the other is off.
    let only = |rule, text: &str| judge(&history(&join(&[&held(), text])), &RuleSet::only(&[rule]));
    let missing = without(PERSISTENT, "0x6 conn");
    assert_eq!(only(RuleId::Zk14, &missing).of(RuleId::Zk14), Verdict::Fail);
    assert!(only(RuleId::Zk6, &missing).findings.is_empty());
}

#[test]
fn zk_4_where_it_is_not_told_who_takes_a_session_in_nothing_is_judged() {
    let behind = without(&held(), "server:0 applied 0x4");
    let moves = "0.005 a state s1 suspended\n0.006 a state s1 connected conn 3 server 0\n";
    says(&join(&[&behind, moves]), "ZK-4 fail, first ZK-4");
    says(&join(&[&behind, &moves.replace(" conn 3 server 0", "")]), "ZK-4 pass");
}

#[test]
fn zk_6_what_was_written_before_the_last_answer_was_not_missed() {
    let told = "
0.004 server:1 txn 0x5 s1 set ok
0.004 server:1 written 0x5 /lock
0.005 b send r3 sync /
0.006 b reply r3 ok 0x5 conn 2
0.010 b state s2 suspended
0.020 b state s2 connected conn 3 server 1
0.021 server:1 fire s2 data_changed /lock 0x0 conn 3
0.022 b notice s2 data_changed /lock conn 3
";
    says(&join(&[&held(), told]), "ZK-6 fail");
    says(&join(&[&held(), &edit(told, "r3 ok 0x5", "r3 ok 0x4")]), "ZK-6 pass, first nothing");
}

#[test]
fn zk_13_what_was_held_up_is_a_sign_of_life_when_it_arrives() {
    let cut = "0.900 world fault link_held link:0:2 lasts 2\n1.000 world fault server_partition server:2 lasts 20\n";
    let reads = |at: &str| format!("{at} b send r3 get /lock\n{at} server:2 served r3 0x4 conn 2\n");
    says(&join(&[&held(), cut, &reads("4.100")]), "ZK-13 fail");
    let arrives = "2.000 world mended link_held link:0:2\n";
    says(&join(&[&held(), cut, arrives, &reads("4.900")]), "ZK-13 pass");
    says(&join(&[&held(), cut, arrives, &reads("5.100")]), "ZK-13 fail");
}
