//! The findings of the wire: a history, and what is found in it.

use zk_checker::wire::{self, WireReport};

/// Four clients, each with a session.
const HEAD: &str = "
run sim timeout 4 clients a b c d
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 server:0 opened s4 timeout 4000 0x4
0.001 a state s1 connected conn 1
0.001 b state s2 connected conn 2
0.001 c state s3 connected conn 3
0.001 d state s4 connected conn 4
";

fn report(text: &str) -> WireReport {
    let history = zk_checker::text::parse(text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    wire::report(&history)
}

/// What is found in the pieces of a history, with the guid of an attempt in place of `GUID`: the rules, each with the znode or the
/// item that its explanation begins with.
#[track_caller]
fn finds(pieces: &[&str], expected: &str) {
    let guids = [
        "_c_01234567-89ab-cdef-0123-456789abcdef",
        "_c_0123456789abcdef0123456789abcdef",
        "0123456789abcdef0123456789abcdef",
    ];
    for guid in guids {
        let text = [&[HEAD], pieces].concat().concat().replace("GUID", guid);
        let report = report(&text);
        let found: Vec<String> = report.findings.iter().map(|finding| finding.rule.to_string()).collect();
        assert_eq!(found.join(" "), expected, "{report}\n{text}");
        assert!(report.findings.iter().all(|finding| finding.witnesses.contains(&finding.position)));
    }
}

// ── WIRE-1 ──

const JOINS: &str = "
1.000 b send r90 create /lock/first-lock-
1.001 server:0 txn 0x10 s2 create ok
1.001 server:0 created 0x10 /lock/first-lock-0000000000 s2
1.002 b reply r90 ok 0x10 conn 2
1.002 b made /lock/first-lock-0000000000 0x10
2.000 a send r1 create /lock/GUID-lock-
2.001 server:0 txn 0x11 s1 create ok
2.001 server:0 created 0x11 /lock/GUID-lock-0000000001 s1
2.010 world fault reply_lost a lasts 0
2.010 a lost r1
2.500 a state s1 connected conn 5
";
const JOINS_AGAIN: &str = "
2.500 a send r2 create /lock/GUID-lock-
2.501 server:0 txn 0x12 s1 create ok
2.501 server:0 created 0x12 /lock/GUID-lock-0000000002 s1
2.502 a reply r2 ok 0x12 conn 5
2.502 a made /lock/GUID-lock-0000000002 0x12
";
const LISTS: &str = "
2.510 a send r3 children /lock
2.511 server:0 served r3 0x12 conn 5
2.512 a reply r3 ok 0x12 conn 5
";
const WAITS_ON_OLDER: &str = "
2.520 a send r4 exists /lock/GUID-lock-0000000001 watch
2.522 a reply r4 ok 0x12 conn 5
";
const WAITS_ON_FIRST: &str = "
2.520 a send r4 exists /lock/first-lock-0000000000 watch
2.522 a reply r4 ok 0x12 conn 5
";
const DELETES_OLDER: &str = "
3.000 a send r5 delete /lock/GUID-lock-0000000001
3.001 server:0 txn 0x13 s1 delete ok
3.001 server:0 deleted 0x13 /lock/GUID-lock-0000000001 by s1
3.002 a reply r5 ok 0x13 conn 5
";
const DELETES_NEWER: &str = "
3.100 a send r6 delete /lock/GUID-lock-0000000002
3.101 server:0 txn 0x14 s1 delete ok
3.101 server:0 deleted 0x14 /lock/GUID-lock-0000000002 by s1
3.102 a reply r6 ok 0x14 conn 5
";
const ENDS: &str = "
4.000 server:0 txn 0x20 s1 close_session ok
4.000 server:0 deleted 0x20 /lock/GUID-lock-0000000001 by s1
4.000 server:0 deleted 0x20 /lock/GUID-lock-0000000002 by s1
4.000 server:0 ended s1 0x20
";

#[test]
fn wire_1_a_session_that_waits_with_two_znodes_of_one_attempt() {
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER], "WIRE-1");
    let text = [HEAD, JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER]
        .concat()
        .replace("GUID", "_c_0123456789abcdef0123456789abcdef");
    insta::assert_snapshot!(report(&text).findings[0].to_string());
}

#[test]
fn wire_1_an_attempt_that_looks_for_its_znode_first_has_one() {
    finds(&[JOINS, LISTS, WAITS_ON_FIRST], "");
}

#[test]
fn wire_1_a_session_that_has_not_seen_both_is_not_at_fault() {
    finds(&[JOINS, JOINS_AGAIN], "");
    finds(&[JOINS, JOINS_AGAIN, WAITS_ON_OLDER], "");
    // A server that has not applied the second create shows one znode.
    finds(&[JOINS, JOINS_AGAIN, &LISTS.replace("served r3 0x12", "served r3 0x11"), WAITS_ON_OLDER], "");
    finds(&[JOINS, JOINS_AGAIN, &LISTS.replace("ok", "no_node"), WAITS_ON_OLDER], "");
    finds(&[JOINS, JOINS_AGAIN, &LISTS.replace("/lock", "/other"), WAITS_ON_OLDER], "");
    // The header of the reply says as much where the server's own record is missing.
    let unserved = LISTS.replace("2.511 server:0 served r3 0x12 conn 5\n", "");
    finds(&[JOINS, JOINS_AGAIN, &unserved, WAITS_ON_OLDER], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, &unserved.replace("0x12", "0x11"), WAITS_ON_OLDER], "");
}

#[test]
fn wire_1_a_session_that_has_seen_both_may_still_delete_one() {
    finds(&[JOINS, JOINS_AGAIN, LISTS], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &WAITS_ON_OLDER.replace(" watch", "")], "");
    // It watches its own znode, and waits for nobody.
    finds(&[JOINS, JOINS_AGAIN, LISTS, &WAITS_ON_OLDER.replace("0001", "0002")], "");
    let in_flight = "2.515 a send r5 delete /lock/GUID-lock-0000000001\n";
    finds(&[JOINS, JOINS_AGAIN, LISTS, in_flight, WAITS_ON_OLDER], "");
    let lost = "2.516 a lost r5\n";
    finds(&[JOINS, JOINS_AGAIN, LISTS, in_flight, lost, WAITS_ON_OLDER], "");
    let refused = "2.516 a reply r5 no_auth 0x12 conn 5\n";
    finds(&[JOINS, JOINS_AGAIN, LISTS, in_flight, refused, WAITS_ON_OLDER], "WIRE-1");
}

#[test]
fn wire_1_a_session_that_waits_on_the_directory_waits_too() {
    finds(&[JOINS, JOINS_AGAIN, &LISTS.replace("/lock\n", "/lock watch\n")], "");
    let again = LISTS.replace("/lock\n", "/lock watch\n").replace("r3", "r4").replace("2.51", "2.52");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &again], "WIRE-1");
}

#[test]
fn wire_1_a_session_timeout_is_enough_time() {
    let later = |at: &str| format!("{at} world heal\n");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &later("6.511")], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &later("6.512")], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, "2.600 world quiesce\n"], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, "2.505 world quiesce\n", LISTS], "");
}

#[test]
fn wire_1_a_session_that_cleans_up_is_not_at_fault() {
    finds(&[JOINS, JOINS_AGAIN, LISTS, DELETES_OLDER], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, DELETES_OLDER], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, "7.000 world heal\n", &DELETES_OLDER.replace("3.00", "7.00")], "");
    // It waits with the older one, and deletes the newer.
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_FIRST], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_FIRST, DELETES_NEWER], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, DELETES_NEWER, WAITS_ON_FIRST], "");
}

#[test]
fn wire_1_the_end_of_a_session_cleans_nothing_up() {
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, DELETES_NEWER], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, ENDS], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &ENDS.replace("4.000", "6.600")], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_FIRST, &DELETES_OLDER.replace("by s1", "by s2")], "WIRE-1");
    let by_another =
        DELETES_OLDER.replace("a send", "b send").replace("by s1", "by s2").replace("a reply", "b reply");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, &by_another], "WIRE-1");
    // It closed its session instead.
    finds(&[JOINS, JOINS_AGAIN, LISTS, ENDS], "");
}

#[test]
fn wire_1_with_a_third_znode_another_task_may_wait() {
    let third = "
2.505 a send r7 create /lock/other-lock-
2.506 server:0 txn 0x12 s1 create ok
2.506 server:0 created 0x12 /lock/other-lock-0000000003 s1
";
    finds(&[JOINS, JOINS_AGAIN, third, LISTS, WAITS_ON_OLDER], "");
    finds(&[JOINS, JOINS_AGAIN, third, LISTS, WAITS_ON_OLDER, "6.600 world heal\n"], "WIRE-1");
}

#[test]
fn wire_1_other_guids_and_other_roles_are_other_attempts() {
    let other = JOINS_AGAIN.replace("GUID", "ffffffffffffffffffffffffffffffff");
    finds(&[JOINS, &other, LISTS, WAITS_ON_OLDER, "9.000 world quiesce\n"], "");
    let reads = JOINS_AGAIN.replace("-lock-", "-read-");
    finds(&[JOINS, &reads, LISTS, WAITS_ON_OLDER, "9.000 world quiesce\n"], "");
    let of_another = JOINS_AGAIN.replace(" a ", " b ").replace("s1", "s2").replace("conn 5", "conn 2");
    finds(&[JOINS, &of_another, LISTS, WAITS_ON_OLDER, "9.000 world quiesce\n"], "");
}

#[test]
fn wire_1_a_name_without_a_guid_tells_by_the_lost_reply() {
    let plain = |text: &str| text.replace("GUID-lock-", "lock-");
    let (joins, again, lists) = (plain(JOINS), plain(JOINS_AGAIN), plain(LISTS));
    let waits = plain(WAITS_ON_OLDER);
    finds(&[&joins, &again, &lists, &waits], "WIRE-1");
    finds(&[&joins, &again, &lists, &waits, &plain(DELETES_OLDER)], "");
    // The reply to the first create came, so that two tasks have one znode each.
    let answered = joins.replace(
        "2.010 a lost r1",
        "2.010 a reply r1 ok 0x11 conn 1\n2.010 a made /lock/lock-0000000001 0x11",
    );
    finds(&[&answered, &again, &lists, &waits, "9.000 world quiesce\n"], "");
    // It looks whose the first one is.
    let looks = "2.490 a send r8 get /lock/lock-0000000001\n";
    finds(&[&joins, looks, &again, &lists, &waits, "9.000 world quiesce\n"], "");
    let looks = "2.490 b send r8 get /lock/lock-0000000001\n";
    finds(&[&joins, looks, &again, &lists, &waits], "WIRE-1");
    // A part of a transaction has no reply of its own.
    finds(&[&joins.replace("s1 create ok", "s1 multi ok"), &again, &lists, &waits], "");
}

// ── WIRE-2 ──

/// A holder, and three contenders behind it that all watch it.
const HOLDER: &str = "
1.001 server:0 txn 0x10 s1 create ok
1.001 server:0 created 0x10 /lock/w-lock-0000000000 s1
1.002 server:0 txn 0x11 s2 create ok
1.002 server:0 created 0x11 /lock/x-lock-0000000001 s2
1.003 server:0 txn 0x12 s3 create ok
1.003 server:0 created 0x12 /lock/y-lock-0000000002 s3
1.004 server:0 txn 0x13 s4 create ok
1.004 server:0 created 0x13 /lock/z-lock-0000000003 s4
1.010 server:0 arm s2 data /lock/w-lock-0000000000
1.010 server:0 arm s3 data /lock/w-lock-0000000000
1.010 server:0 arm s4 child /lock
";
const RELEASED: &str = "
2.000 server:0 txn 0x14 s1 delete ok
2.000 server:0 deleted 0x14 /lock/w-lock-0000000000 by s1
2.000 server:0 fire s2 deleted /lock/w-lock-0000000000 0x14
2.000 server:0 fire s3 deleted /lock/w-lock-0000000000 0x14
2.100 server:1 fire s4 children_changed /lock 0x14
";

/// The same znodes under names that Curator gives.
fn curator(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, digit) in [("/w-", "1"), ("/x-", "2"), ("/y-", "3"), ("/z-", "4")] {
        text = text.replace(name, &format!("/_c_{}-", digit.repeat(32)));
    }
    text
}

#[test]
fn wire_2_a_deletion_that_wakes_three_sessions() {
    let (holder, released) = (curator(HOLDER), curator(RELEASED));
    finds(&[&holder, &released], "WIRE-2");
    insta::assert_snapshot!(report(&[HEAD, &holder, &released].concat()).findings[0].to_string());
    let less = |word: &str| without(&released, word);
    finds(&[&holder, &less("fire s4")], "");
    // Another transaction, or none.
    finds(&[&holder, &less("fire s4"), "3.000 server:0 fire s4 children_changed /lock 0x15\n"], "");
    finds(&[&holder, &released.replace("children_changed /lock 0x14", "children_changed /lock 0x0")], "");
    finds(&[&holder, &released.replace("s4 children_changed", "s3 children_changed")], "");
    finds(&[&holder, &released.replace("fire s4", "fire s1")], "");
    finds(
        &[&holder, &released.replace("s4 children_changed /lock", "s4 data_changed /lock/w-lock-0000000000")],
        "",
    );
}

/// A text without the lines that have a word.
fn without(text: &str, word: &str) -> String {
    text.lines().filter(|line| !line.contains(word)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn wire_2_the_end_of_a_session_is_a_deletion_too() {
    let released = curator(RELEASED).replace("s1 delete ok", "s1 close_session ok");
    finds(&[&curator(HOLDER), &released], "WIRE-2");
}

#[test]
fn wire_2_only_sessions_that_compete_are_a_herd() {
    let (holder, released) = (curator(HOLDER), curator(RELEASED));
    finds(&[&without(&holder, "0x13"), &released], "");
    let cache = holder.replace("arm s4 child /lock", "arm s4 child /lock persistent");
    finds(&[&cache, &released], "");
    let above = holder.replace("arm s4 child /lock", "arm s4 child / recursive");
    finds(&[&above, &released], "");
    let elsewhere =
        holder.replace("arm s4 child /lock", "arm s4 child /lock\n1.010 server:0 arm s4 child /x recursive");
    finds(&[&elsewhere, &released], "WIRE-2");
    let removed = format!("{cache}1.020 server:0 disarm s4 child /lock\n1.030 server:0 arm s4 child /lock\n");
    finds(&[&removed, &released], "WIRE-2");
}

#[test]
fn wire_2_a_directory_of_other_names_has_no_herd() {
    let queue = |text: &str| {
        let names = [("w-lock-", "qn-"), ("x-lock-", "qn-"), ("y-lock-", "qn-"), ("z-lock-", "qn-")];
        names.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    let items = without(&queue(HOLDER), "txn").replace(" s1\n", " s0\n");
    finds(&[&items, &queue(RELEASED)], "");
    finds(&[HOLDER, RELEASED], "");
    for name in ["-latch-", "-lease-", "-n_", "-mine-"] {
        let expected = if name == "-mine-" { "" } else { "WIRE-2" };
        let text = |text: &str| {
            curator(text).replace("-lock-", name).replace("_c_", if name == "-n_" { "" } else { "_c_" })
        };
        finds(&[&text(HOLDER), &text(RELEASED)], expected);
    }
}

#[test]
fn wire_2_waiters_of_a_semaphore_have_no_znode() {
    let lease = |text: &str| curator(text).replace("-lock-", "-lease-");
    let waiters = without(&without(&without(&lease(HOLDER), "0x11"), "0x12"), "0x13");
    finds(&[&waiters, &lease(RELEASED)], "WIRE-2");
    let latch = |text: &str| text.replace("-lease-", "-latch-");
    finds(&[&latch(&waiters), &latch(&lease(RELEASED))], "");
    // Kazoo's leases are guids alone; its semaphore has a lock beside it.
    let kazoo = |text: &str| {
        let text = curator(text).replace("_c_", "");
        (0..4).fold(text, |text, number| text.replace(&format!("-lock-000000000{number}"), ""))
    };
    let lock = "0.500 a send r1 create /lock-__lock__\n";
    finds(&[&kazoo(HOLDER), &kazoo(RELEASED)], "");
    finds(&[lock, &kazoo(HOLDER), &kazoo(RELEASED)], "WIRE-2");
}

#[test]
fn wire_2_readers_next_in_line_go_on_together() {
    let readers = |text: &str, readers: &str| {
        let text = curator(text);
        let digits = ["1", "2", "3", "4"];
        digits.iter().zip(readers.chars()).fold(text, |text, (digit, role)| {
            let role = if role == 'r' { "-__READ__" } else { "-__WRIT__" };
            text.replace(&format!("{}-lock-", digit.repeat(32)), &format!("{}{role}", digit.repeat(32)))
        })
    };
    let run =
        |roles: &str, expected: &str| finds(&[&readers(HOLDER, roles), &readers(RELEASED, roles)], expected);
    run("wrrr", "");
    run("wwww", "WIRE-2");
    // One reader, which is next; two writers.
    run("wrww", "");
    // A writer and readers behind it, which it holds up.
    run("wwrr", "WIRE-2");
}

// ── WIRE-3 ──

const RELEASES: &str = "
2.500 a send r1 delete /lock/GUID-lock-0000000001
2.510 world fault request_lost a lasts 0
2.510 a lost r1
";
const HOLDS: &str = "
2.000 server:0 txn 0x11 s1 create ok
2.000 server:0 created 0x11 /lock/GUID-lock-0000000001 s1
";
const GOES_ON: &str = "
3.000 a state s1 connected conn 5
3.000 a send r2 get /config
3.002 a reply r2 ok 0x11 conn 5
";

#[test]
fn wire_3_a_delete_that_is_not_repeated() {
    let later = "6.510 world heal\n";
    finds(&[HOLDS, RELEASES, GOES_ON, later], "WIRE-3");
    let text = [HEAD, HOLDS, RELEASES, GOES_ON, later]
        .concat()
        .replace("GUID", "_c_0123456789abcdef0123456789abcdef");
    insta::assert_snapshot!(report(&text).findings[0].to_string());
    finds(&[HOLDS, RELEASES, GOES_ON, "6.509 world heal\n"], "");
    finds(&[HOLDS, RELEASES, GOES_ON, "3.003 world quiesce\n"], "WIRE-3");
    finds(&[HOLDS, "2.400 world quiesce\n", RELEASES, GOES_ON], "");
    // Without an answer, the client is not connected.
    finds(&[HOLDS, RELEASES, &without(GOES_ON, "reply"), later], "");
    // That request went out before the delete was lost.
    let before = GOES_ON.replace("3.000 a send r2", "2.400 a send r2");
    let (sent, rest) = before.split_at(before.find("3.002").unwrap());
    finds(&[HOLDS, &without(sent, "state"), RELEASES, rest, later], "");
}

#[test]
fn wire_3_a_client_that_deletes_again_leaves_nothing() {
    let again = "3.500 a send r3 delete /lock/GUID-lock-0000000001\n";
    finds(&[HOLDS, RELEASES, GOES_ON, again, "9.000 world heal\n"], "");
    finds(&[HOLDS, RELEASES, GOES_ON, again, "3.600 a reply r3 no_auth 0x11 conn 5\n9.000 world heal\n"], "");
    let lost_again = "3.600 a lost r3\n4.000 a send r4 get /config\n4.001 a reply r4 ok 0x11 conn 5\n";
    finds(&[HOLDS, RELEASES, GOES_ON, again, lost_again, "7.000 world heal\n"], "");
    finds(&[HOLDS, RELEASES, GOES_ON, again, lost_again, "7.600 world heal\n"], "WIRE-3");
    let by_another = again.replace(" a ", " b ");
    finds(&[HOLDS, RELEASES, GOES_ON, &by_another, "9.000 world heal\n"], "WIRE-3");
}

#[test]
fn wire_3_what_is_gone_is_no_orphan() {
    let applied = "2.505 server:0 txn 0x12 s1 delete ok
2.505 server:0 deleted 0x12 /lock/GUID-lock-0000000001 by s1\n";
    finds(&[HOLDS, RELEASES, GOES_ON, applied, "9.000 world heal\n"], "");
    let ended = "5.000 server:0 ended s1 0x12\n";
    finds(&[HOLDS, RELEASES, GOES_ON, ended, "9.000 world heal\n"], "");
    // An item stays in its queue, and is nobody's.
    let item = HOLDS.replace("GUID-lock-0000000001 s1", "qn-0000000001 s0");
    finds(&[&item, &RELEASES.replace("GUID-lock-", "qn-"), GOES_ON, "9.000 world heal\n"], "");
}

// ── WIRE-4 ──

const PUT: &str = "
1.000 server:0 txn 0x10 s2 create ok
1.000 server:0 created 0x10 /queue/entry-100-0000000001 s0
";
const READ: &str = "
1.500 a send r1 get /queue/entry-100-0000000001
1.502 a reply r1 ok 0x10 conn 1
";
const TAKES: &str = "
2.000 a send r2 delete /queue/entry-100-0000000001
";
const TAKEN: &str = "
2.001 server:0 txn 0x11 s1 delete ok
2.001 server:0 deleted 0x11 /queue/entry-100-0000000001 by s1
";
const REPLY_LOST: &str = "
2.002 world fault reply_lost a lasts 0
2.002 a lost r2
";
const DELETES_AGAIN: &str = "
3.000 a state s1 connected conn 5
3.000 a send r3 delete /queue/entry-100-0000000001
3.002 a reply r3 no_node 0x12 conn 5
";

#[test]
fn wire_4_an_item_whose_consumer_may_not_have_it() {
    finds(&[PUT, READ, TAKES, TAKEN, REPLY_LOST], "WIRE-4");
    finds(&[PUT, TAKES, TAKEN, REPLY_LOST], "WIRE-4");
    // The server applies the delete after the connection is lost.
    finds(&[PUT, READ, TAKES, REPLY_LOST, TAKEN], "WIRE-4");
    let report = report(&[HEAD, PUT, TAKES, TAKEN, REPLY_LOST].concat());
    assert!(report.findings[0].possible);
    insta::assert_snapshot!(report.findings[0].to_string());
}

#[test]
fn wire_4_an_item_that_its_consumer_has() {
    let replied = "2.002 a reply r2 ok 0x11 conn 1\n";
    finds(&[PUT, READ, TAKES, TAKEN, replied], "");
    // It repeats the delete, and so learns that the first one was applied.
    finds(&[PUT, READ, TAKES, TAKEN, REPLY_LOST, DELETES_AGAIN], "");
    finds(&[PUT, TAKES, TAKEN, REPLY_LOST, DELETES_AGAIN], "WIRE-4");
    finds(&[PUT, &READ.replace("ok", "no_node"), TAKES, TAKEN, REPLY_LOST, DELETES_AGAIN], "WIRE-4");
    let by_another = DELETES_AGAIN.replace(" a ", " b ").replace("s1", "s2");
    finds(&[PUT, READ, TAKES, TAKEN, REPLY_LOST, &by_another], "WIRE-4");
    let in_one_read = "
1.500 a send r1 multi_read /queue
1.501 server:0 served r1 0x10 conn 1
1.501 server:0 found get ok /queue/entry-100-0000000001 0x1 0x1
1.502 a reply r1 ok 0x10 conn 1
";
    finds(&[PUT, in_one_read, TAKES, TAKEN, REPLY_LOST, DELETES_AGAIN], "");
}

#[test]
fn wire_4_an_item_that_another_client_takes_is_not_lost() {
    let by_another = TAKEN.replace("s1", "s2");
    finds(&[PUT, READ, TAKES, REPLY_LOST, &by_another], "");
    finds(&[PUT, READ, TAKES, REPLY_LOST], "");
    finds(&[PUT, READ, TAKES, &TAKEN.replace("s1 delete", "s1 multi"), REPLY_LOST], "");
    let lock = |text: &str| text.replace("/queue/entry-100-", "/lock/GUID-lock-");
    finds(&[&lock(PUT).replace("s0", "s2"), &lock(TAKES), &lock(TAKEN), REPLY_LOST], "");
}
