//! Herds, orphans and items that may be lost: a history, and its findings.

use crate::common::wire::*;

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

/// The same znodes under Curator's names.
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
    insta::assert_snapshot!(explained(&[&holder, &released]));
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
    // A writer, and readers that it blocks.
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
    let later = "10.510 world heal\n";
    finds(&[HOLDS, RELEASES, GOES_ON, later], "WIRE-3");
    insta::assert_snapshot!(explained(&[HOLDS, RELEASES, GOES_ON, later]));
    finds(&[HOLDS, RELEASES, GOES_ON, "10.509 world heal\n"], "");
    finds(&[HOLDS, RELEASES, GOES_ON, "3.003 world quiesce\n"], "WIRE-3");
    finds(&[HOLDS, "2.400 world quiesce\n", RELEASES, GOES_ON], "");
    // Without an answer, the client is not connected.
    finds(&[HOLDS, RELEASES, &without(GOES_ON, "reply"), later], "");
    // That request was sent before the delete was lost.
    let before = GOES_ON.replace("3.000 a send r2", "2.400 a send r2");
    let (sent, rest) = before.split_at(before.find("3.002").unwrap());
    finds(&[HOLDS, &without(sent, "state"), RELEASES, rest, later], "");
}

#[test]
fn wire_3_a_fault_explains_a_loss_until_a_reply_comes() {
    let fault = "2.100 world fault disconnect a lasts 0\n";
    let reply = "2.200 a send r7 get /config\n2.202 a reply r7 ok 0x11 conn 1\n";
    let releases = without(RELEASES, "fault");
    let explains = |pieces: &[&str]| explained(pieces).contains("after the fault");
    assert!(explains(&[HOLDS, fault, &releases, GOES_ON, "11.000 world heal\n"]));
    assert!(!explains(&[HOLDS, fault, reply, &releases, GOES_ON, "11.000 world heal\n"]));
    assert!(!explains(&[HOLDS, &fault.replace(" a ", " b "), &releases, GOES_ON, "11.000 world heal\n"]));
}

#[test]
fn wire_3_a_client_that_deletes_again_leaves_nothing() {
    let again = "3.500 a send r3 delete /lock/GUID-lock-0000000001\n";
    finds(&[HOLDS, RELEASES, GOES_ON, again, "11.000 world heal\n"], "");
    finds(
        &[HOLDS, RELEASES, GOES_ON, again, "3.600 a reply r3 no_auth 0x11 conn 5\n11.000 world heal\n"],
        "",
    );
    let lost_again = "3.600 a lost r3\n4.000 a send r4 get /config\n4.001 a reply r4 ok 0x11 conn 5\n";
    finds(&[HOLDS, RELEASES, GOES_ON, again, lost_again, "11.000 world heal\n"], "");
    finds(&[HOLDS, RELEASES, GOES_ON, again, lost_again, "11.600 world heal\n"], "WIRE-3");
    let by_another = again.replace(" a ", " b ");
    finds(&[HOLDS, RELEASES, GOES_ON, &by_another, "11.000 world heal\n"], "WIRE-3");
}

#[test]
fn wire_3_what_is_gone_is_no_orphan() {
    let applied = "2.505 server:0 txn 0x12 s1 delete ok
2.505 server:0 deleted 0x12 /lock/GUID-lock-0000000001 by s1\n";
    finds(&[HOLDS, RELEASES, GOES_ON, applied, "11.000 world heal\n"], "");
    let ended = "5.000 server:0 ended s1 0x12\n";
    finds(&[HOLDS, RELEASES, GOES_ON, ended, "11.000 world heal\n"], "");
    // A client without a known session.
    let nobody = "run sim clients a\n0.000 server:0 txn 0x11 s0 create ok
        0.000 server:0 created 0x11 /lock/lock-0000000001 s0\n";
    let releases = RELEASES.replace("GUID-lock-", "lock-");
    let goes_on = without(GOES_ON, "state").replace(" conn 5", "");
    let text = [nobody, &releases, &goes_on, "11.000 world heal\n"].concat();
    assert!(report(&text).findings.is_empty());
    // An item stays in its queue, and has no owner.
    let item = HOLDS.replace("GUID-lock-0000000001 s1", "qn-0000000001 s0");
    finds(&[&item, &RELEASES.replace("GUID-lock-", "qn-"), GOES_ON, "11.000 world heal\n"], "");
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
    insta::assert_snapshot!(explained(&[PUT, TAKES, TAKEN, REPLY_LOST]));
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
    // It sent two deletes, and the first one took the item.
    let twice = "2.000 a send r4 delete /queue/entry-100-0000000001\n";
    finds(&[PUT, READ, TAKES, twice, TAKEN, replied, "2.003 a lost r4\n"], "");
    // Another client got the data.
    let read_by_another = READ.replace(" a ", " b ").replace("conn 1", "conn 2");
    finds(&[PUT, &read_by_another, TAKES, TAKEN, REPLY_LOST, DELETES_AGAIN], "WIRE-4");
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
