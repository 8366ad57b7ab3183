//! Second znodes of one attempt: a history, and whether it contains one.

use crate::common::wire::*;

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
    insta::assert_snapshot!(explained(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER]));
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
    // Without the server's record, the zxid of the reply decides.
    let unserved = LISTS.replace("2.511 server:0 served r3 0x12 conn 5\n", "");
    finds(&[JOINS, JOINS_AGAIN, &unserved, WAITS_ON_OLDER], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, &unserved.replace("0x12", "0x11"), WAITS_ON_OLDER], "");
}

#[test]
fn wire_1_a_session_that_has_seen_both_may_still_delete_one() {
    finds(&[JOINS, JOINS_AGAIN, LISTS], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &WAITS_ON_OLDER.replace(" watch", "")], "");
    // It watches its own znode, and waits for no other.
    finds(&[JOINS, JOINS_AGAIN, LISTS, &WAITS_ON_OLDER.replace("0001", "0002")], "");
    let in_flight = "2.515 a send r5 delete /lock/GUID-lock-0000000001\n";
    finds(&[JOINS, JOINS_AGAIN, LISTS, in_flight, WAITS_ON_OLDER], "");
    let lost = "2.516 a lost r5\n";
    finds(&[JOINS, JOINS_AGAIN, LISTS, in_flight, lost, WAITS_ON_OLDER], "");
    let refused = "2.516 a reply r5 no_auth 0x12 conn 5\n";
    finds(&[JOINS, JOINS_AGAIN, LISTS, in_flight, refused, WAITS_ON_OLDER], "WIRE-1");
    let in_flight_later = in_flight.replace("2.515", "2.530");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, &in_flight_later], "");
    let of_newer = in_flight.replace("0001", "0002");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &of_newer, "11.000 world heal\n"], "");
    // When it began to wait, the delete was in flight.
    finds(&[JOINS, JOINS_AGAIN, LISTS, in_flight, WAITS_ON_OLDER, &refused.replace("2.51", "2.53")], "");
}

#[test]
fn wire_1_a_session_that_waits_on_the_directory_waits_too() {
    finds(&[JOINS, JOINS_AGAIN, &LISTS.replace("/lock\n", "/lock watch\n")], "");
    let again = LISTS.replace("/lock\n", "/lock watch\n").replace("r3", "r4").replace("2.51", "2.52");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &again], "WIRE-1");
}

#[test]
fn wire_1_two_session_timeouts_are_enough_time() {
    let later = |at: &str| format!("{at} world heal\n");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &later("10.511")], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &later("10.512")], "WIRE-1");
    // It has died, and its session ended a timeout later.
    finds(&[JOINS, JOINS_AGAIN, LISTS, &ENDS.replace("4.000", "6.600")], "");
    // The first list counts.
    let again = LISTS.replace("r3", "r8").replace("2.5", "4.5");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &again, &later("10.512")], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, "2.600 world quiesce\n"], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, "2.505 world quiesce\n", LISTS], "");
}

#[test]
fn wire_1_a_session_that_cleans_up_is_not_at_fault() {
    finds(&[JOINS, JOINS_AGAIN, LISTS, DELETES_OLDER], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, DELETES_OLDER], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, "11.000 world heal\n", &DELETES_OLDER.replace("3.00", "11.00")], "");
    // A delete in a transaction.
    let in_a_multi = without(DELETES_OLDER, " a ");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, &in_a_multi], "");
    let newer_in_a_multi = without(DELETES_NEWER, " a ").replace("3.10", "11.10");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &newer_in_a_multi], "");
    // It waits with the older one, and deletes the newer.
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_FIRST], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_FIRST, DELETES_NEWER], "");
    finds(&[JOINS, JOINS_AGAIN, LISTS, DELETES_NEWER, WAITS_ON_FIRST], "");
}

#[test]
fn wire_1_the_end_of_a_session_cleans_nothing_up() {
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, DELETES_NEWER], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, WAITS_ON_OLDER, ENDS], "WIRE-1");
    finds(&[JOINS, JOINS_AGAIN, LISTS, &ENDS.replace("4.000", "10.600")], "WIRE-1");
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
    finds(&[JOINS, JOINS_AGAIN, third, LISTS, WAITS_ON_OLDER, "10.600 world heal\n"], "WIRE-1");
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
    // The reply to the first create arrived, so two tasks have one znode each.
    let answered = joins.replace(
        "2.010 a lost r1",
        "2.010 a reply r1 ok 0x11 conn 1\n2.010 a made /lock/lock-0000000001 0x11",
    );
    finds(&[&answered, &again, &lists, &waits, "9.000 world quiesce\n"], "");
    finds(&[&without(&joins, "lost r1"), &again, &lists, &waits, "9.000 world quiesce\n"], "");
    // The lost create was not applied, and two tasks have one znode each.
    let unapplied = without(&without(&joins, "txn 0x11"), "created 0x11");
    let third =
        again.replace("r2", "r7").replace("2.50", "2.505").replace("0x12", "0x13").replace("02", "03");
    let lists_three = lists.replace("0x12", "0x13");
    let waits_on_two = waits.replace("01 watch", "02 watch");
    finds(&[&unapplied, &again, &third, &lists_three, &waits_on_two, "9.000 world quiesce\n"], "");
    // It reads the owner of the first one.
    let looks = "2.490 a send r8 get /lock/lock-0000000001\n";
    finds(&[&joins, looks, &again, &lists, &waits, "9.000 world quiesce\n"], "");
    let later = "2.530 a send r8 get /lock/lock-0000000001\n";
    finds(&[&joins, &again, &lists, &waits, later, "9.000 world quiesce\n"], "");
    finds(&[&joins, &again, &lists, &waits, later, &plain(ENDS).replace("4.00", "9.00")], "");
    finds(&[&joins, &again, &lists, later, &waits, &plain(ENDS).replace("4.00", "9.00")], "");
    finds(&[&joins, &again, &lists, &waits, &later.replace("01\n", "01 watch\n")], "WIRE-1");
    let looks = "2.490 b send r8 get /lock/lock-0000000001\n";
    finds(&[&joins, looks, &again, &lists, &waits], "WIRE-1");
    // A part of a transaction has no reply of its own.
    finds(&[&joins.replace("s1 create ok", "s1 multi ok"), &again, &lists, &waits], "");
}

#[test]
fn wire_1_the_time_of_a_session_is_the_one_that_was_agreed_for_it() {
    let agreed = |timeout: &str, at: &str| {
        let head = HEAD.replace("opened s1 timeout 4000", &format!("opened s1 timeout {timeout}"));
        let text = [&*head, JOINS, JOINS_AGAIN, LISTS, at, " world heal\n"].concat();
        report(&text.replace("GUID", GUIDS[2])).findings.len()
    };
    assert_eq!((agreed("8000", "18.511"), agreed("8000", "18.512")), (0, 1));
    assert_eq!((agreed("2000", "6.511"), agreed("2000", "6.512")), (0, 1));
}

#[test]
fn wire_1_a_znode_stays_one_of_the_attempt_when_another_of_its_session_goes() {
    let another = "
2.400 a send r10 create /lock/second-lock-
2.401 server:0 txn 0x111 s1 create ok
2.401 server:0 created 0x111 /lock/second-lock-0000000009 s1
2.402 a reply r10 ok 0x111 conn 1
2.402 a made /lock/second-lock-0000000009 0x111
2.410 a send r11 delete /lock/second-lock-0000000009
2.411 server:0 txn 0x112 s1 delete ok
2.411 server:0 deleted 0x112 /lock/second-lock-0000000009 by s1
2.412 a reply r11 ok 0x112 conn 1
";
    let behind = [JOINS_AGAIN, LISTS, WAITS_ON_OLDER].map(|part| part.replace("0x12", "0x120"));
    let [again, lists, waits] = &behind;
    let reconnects = "2.500 a state s1 connected conn 5\n";
    let joins = JOINS.replace(reconnects, "");
    finds(&[&joins, another, reconnects, again, lists, waits], "WIRE-1");
    finds(&[&joins, another, reconnects, lists, waits], "");
    // The third znode is deleted once the two exist.
    let later = another.replace("2.40", "2.505").replace("2.41", "2.506").replace("0x11", "0x12");
    let zxids = later.replace("0x121", "0x130").replace("0x122", "0x131");
    let behind = [LISTS, WAITS_ON_OLDER].concat().replace("0x12", "0x140");
    finds(&[JOINS, JOINS_AGAIN, &zxids, &behind], "WIRE-1");
}
