//! The promises of ZooKeeper to its clients, in histories with all events of the servers: a history and a verdict.

use crate::common::ensemble::*;
use crate::common::{edit, history, says, without};
use zk_checker::{RuleId, RuleSet, Verdict, judge};

/// Both clients are attached to their servers, and the first one holds.
fn held() -> String {
    let taken = "0.001 server:1 attached s1 conn 1\n0.001 server:2 attached s2 conn 2\n0.001 a state";
    let served = "0.003 server:1 #1 served r2 0x4 conn 1\n0.004 a #1 reply r1";
    let run = edit(&join(&[ENSEMBLE, A_HOLDS]), "0.001 a state", taken);
    edit(&run, "0.004 a #1 reply r1", served)
}

fn then(more: &str) -> String {
    join(&[&held(), more])
}

/// One write of the second client, with its effects.
const WRITE: &str = "
0.005 b send r3 set /lock
0.006 server:2 txn 0x5 s2 set ok
0.006 server:2 written 0x5 /lock
0.007 b reply r3 ok 0x5 conn 2
";

#[test]
fn zk_3_a_write_is_carried_out_once() {
    says(&then(WRITE), "ZK-3 pass, first nothing");
    let again = "0.008 server:2 txn 0x6 s2 set ok\n0.008 server:2 written 0x6 /lock\n";
    says(&then(&join(&[WRITE, again])), "ZK-3 fail, first ZK-3");
    says(&then(&join(&[WRITE, "0.0075 b send r4 set /lock\n", again])), "ZK-3 pass, first nothing");
    // Its client may be gone by then.
    let lost =
        without(WRITE, "reply r3").replace("0.006 server:2 txn", "0.0055 b lost r3\n0.006 server:2 txn");
    says(&then(&lost), "ZK-3 pass, first nothing");
}

#[test]
fn zk_3_writes_are_carried_out_as_they_were_sent() {
    let two = "
0.005 b send r3 set /lock
0.005 b send r4 create /lock/x
0.006 server:2 txn 0x5 s2 set ok
0.006 server:2 written 0x5 /lock
0.006 server:2 txn 0x6 s2 create ok
0.006 server:2 created 0x6 /lock/x s0
";
    says(&then(two), "ZK-3 pass, first nothing");
    let (first, second) = ("0.005 b send r3 set /lock\n", "0.005 b send r4 create /lock/x\n");
    says(&then(&edit(two, &join(&[first, second]), &join(&[second, first]))), "ZK-3 fail, first ZK-3");
    // A write refused on the old connection may come late.
    let refused = edit(
        &edit(two, "0x5 s2 set ok", "0x5 s2 set session_expired"),
        "0.006 server:2 written 0x5 /lock\n",
        "",
    );
    says(&then(&edit(&refused, &join(&[first, second]), &join(&[second, first]))), "ZK-3 pass");
}

#[test]
fn zk_3_an_answer_is_of_its_own_request() {
    let other = "0.0042 a send r4 set /lock\n0.0045 server:1 txn 0x5 s1 set ok\n0.0045 server:1 written 0x5 /lock\n0.0046 server:2 applied 0x5\n";
    let run = WRITE.replace("0x5", "0x6");
    says(&then(&join(&[other, &run])), "ZK-3 pass, first nothing");
    says(&then(&join(&[other, &edit(&run, "ok 0x6 conn", "ok 0x5 conn")])), "ZK-3 fail, first ZK-3");
    let read =
        "0.005 b send r3 get /lock\n0.006 server:2 served r3 0x4 conn 2\n0.007 b reply r3 ok 0x4 conn 2\n";
    says(&then(read), "ZK-3 pass, first nothing");
    says(&then(&without(&format!("\n{read}"), "served r3")), "ZK-3 fail, first ZK-3");
}

#[test]
fn zk_3_a_read_waits_for_the_writes_before_it() {
    let reads = |at: &str| {
        let served = format!("{at} server:2 served r4 0x4 conn 2\n");
        edit(
            &join(&["0.005 b send r3 set /lock\n0.005 b send r4 get /lock\n", &WRITE[27..]]),
            "0.006 server:2 txn",
            &join(&[&served, "0.006 server:2 txn"]),
        )
    };
    says(&then(&reads("0.006")), "ZK-3 fail, first ZK-3");
    // A lost write need not be waited for.
    let lost = "0.005 b send r3 set /lock\n0.006 b lost r3\n0.006 b send r4 get /lock\n0.007 server:2 served r4 0x4 conn 2\n";
    says(&then(lost), "ZK-3 pass");
}

#[test]
fn zk_3_and_8_a_change_is_of_the_znode_that_was_asked_for() {
    let create = |made: &str| {
        then(&format!(
            "0.005 b send r3 create /lock/n-\n0.006 server:2 txn 0x5 s2 create ok\n0.006 server:2 created 0x5 {made} s0\n"
        ))
    };
    says(&create("/lock/n-"), "ZK-3 pass, ZK-8 pass, first nothing");
    says(&create("/lock/n-0000000001"), "ZK-3 pass, ZK-8 pass, first nothing");
    says(&create("/lock/n-0000000000"), "ZK-8 fail, first ZK-8");
    says(&create("/lock/n-1"), "ZK-8 fail");
    says(&create("/lock/m-0000000001"), "ZK-3 fail, first ZK-3");
    says(&then(&WRITE.replace("0x5 /lock", "0x5 /lock/a-0000000000")), "ZK-3 fail, first ZK-3");
}

#[test]
fn zk_9_an_ephemeral_is_of_who_made_it() {
    says(&held(), "ZK-9 pass, first nothing");
    says(&edit(&held(), "/lock/a-0000000000 s1\n", "/lock/a-0000000000 s2\n"), "ZK-9 fail");
}

#[test]
fn zk_9_conditions_are_looked_at() {
    let expects = |version: i32, how: &str| {
        let expects = format!("set /lock\n0.005 b expects {version}\n");
        let run = edit(WRITE, "set /lock\n", &expects);
        if how == "ok" {
            return then(&run);
        }
        then(
            &without(&run, "written")
                .replace("s2 set ok", &format!("s2 set {how}"))
                .replace("r3 ok", &format!("r3 {how}")),
        )
    };
    says(&expects(0, "ok"), "ZK-9 pass, first nothing");
    says(&expects(1, "ok"), "ZK-9 fail, first ZK-9");
    says(&expects(1, "bad_version"), "ZK-9 pass, first nothing");
    says(&expects(0, "bad_version"), "ZK-9 fail, first ZK-9");
    says(&expects(0, "no_node"), "ZK-9 fail, first ZK-9");
}

#[test]
fn zk_10_and_11_an_answer_says_what_became_of_it() {
    says(&then(WRITE), "ZK-10 pass, ZK-11 pass");
    let refused = without(WRITE, "written").replace("s2 set ok", "s2 set no_auth");
    says(&then(&refused), "ZK-10 fail, first ZK-10");
    says(&then(&refused.replace("r3 ok", "r3 no_auth")), "ZK-10 pass, first nothing");
    says(&then(&WRITE.replace("r3 ok", "r3 no_auth")), "ZK-11 fail, first ZK-11");
}

#[test]
fn zk_11_a_multi_is_one_transaction() {
    let multi = "
0.005 b send r3 multi /lock
0.006 server:2 txn 0x5 s2 multi ok
0.006 server:2 written 0x5 /lock
0.006 server:2 created 0x5 /lock/x s0
";
    says(&then(multi), "ZK-11 pass, first nothing");
    let two = edit(
        multi,
        "0.006 server:2 created 0x5",
        "0.006 server:2 txn 0x6 s2 multi ok\n0.006 server:2 created 0x6",
    );
    says(&then(&two), "ZK-11 fail, first ZK-11");
}

/// The second client waits for a change of a znode, and reconnects.
const RETURN: &str = "
0.004 server:0 txn 0x5 s0 create ok
0.004 server:0 created 0x5 /other s0
0.004 server:0 data 0 0x0
0.004 server:1 applied 0x5
0.004 server:2 applied 0x5
0.005 b send r3 children /other watch
0.006 server:2 arm s2 child /other conn 2
0.006 server:2 served r3 0x5 conn 2
0.006 server:2 found children ok /other LIST
0.007 b reply r3 ok 0x5 conn 2
0.010 b state s2 suspended
0.011 server:2 disarm s2 child /other conn 2
0.020 server:1 attached s2 conn 3
0.021 b state s2 connected conn 3 server 1
0.022 server:1 arm s2 child /other conn 3
0.030 b send r4 get /lock
0.031 server:1 served r4 0x5 conn 3
";

fn back() -> String {
    then(&RETURN.replace("LIST", &list(&[], &fresh(0x5, 0))))
}

#[test]
fn zk_6_a_client_registers_its_watches_again() {
    says(&back(), "ZK-6 pass, first nothing");
    let silent = without(&back(), "0.022 server:1 arm");
    says(&silent, "ZK-6 fail, first ZK-6");
    // It sends no further request, and stays connected for long enough.
    let waits = without(&without(&silent, "send r4"), "served r4");
    says(&join(&[&waits, "8.000 world heal\n"]), "ZK-6 pass");
    says(&join(&[&waits, "8.100 world heal\n"]), "ZK-6 fail");
    // The client dropped the watch meanwhile, or it fired before.
    let given_up = edit(
        &silent,
        "0.021 b state s2 connected",
        "0.021 b disarm s2 child /other\n0.021 b state s2 connected",
    );
    says(&given_up, "ZK-6 pass, first nothing");
    // A lost answer leaves no watch.
    says(&without(&silent, "reply r3"), "ZK-6 pass");
}

#[test]
fn zk_6_nothing_else_is_registered() {
    let other =
        edit(&back(), "0.022 server:1 arm", "0.022 server:1 arm s2 data /lock conn 3\n0.022 server:1 arm");
    says(&other, "ZK-6 fail, first ZK-6");
    let asked = "0.031 server:1 served r4 0x5 conn 3\n";
    let watched = format!(
        "0.031 server:1 arm s2 data /lock conn 3\n{asked}0.031 server:1 found get ok /lock {}\n",
        data(b"", &Default::default())
    );
    says(
        &edit(&back(), asked, &watched).replace("send r4 get /lock", "send r4 get /lock watch"),
        "ZK-6 pass",
    );
}

#[test]
fn zk_6_what_was_missed_is_not_armed() {
    let child = "0.012 server:1 txn 0x6 s0 other ok\n0.020 server:1 attached";
    says(
        &edit(&back(), "0.020 server:1 attached", child).replace("r4 0x5", "r4 0x6"),
        "ZK-6 pass, first nothing",
    );
    let gone = "0.012 server:1 txn 0x6 s0 delete ok\n0.012 server:1 deleted 0x6 /other by s0\n0.020 server:1 attached";
    let run = edit(&back(), "0.020 server:1 attached", gone).replace("r4 0x5", "r4 0x6");
    says(&run, "ZK-6 fail, first ZK-6");
    let told = "fire s2 deleted /other 0x0 conn 3";
    says(&run.replace("arm s2 child /other conn 3", told), "ZK-6 pass, first nothing");
}

#[test]
fn zk_6_what_registering_again_tells_comes_first() {
    let gone = "0.012 server:1 txn 0x6 s0 delete ok\n0.012 server:1 deleted 0x6 /other by s0\n0.020 server:1 attached";
    let told = "fire s2 deleted /other 0x0 conn 3";
    let run = edit(&back(), "0.020 server:1 attached", gone).replace("r4 0x5", "r4 0x7");
    let run = run.replace("arm s2 child /other conn 3", told);
    let more = "0.025 server:1 txn 0x7 s0 other ok\n0.030 b send r4";
    let run = join(&[&edit(&run, "0.030 b send r4", more), "0.032 b reply r4 ok 0x7 conn 3\n"]);
    says(&run, "ZK-6 fail");
    let notice = "0.029 b notice s2 deleted /other conn 3\n0.030 b send r4";
    says(&edit(&run, "0.030 b send r4", notice), "ZK-6 pass, first nothing");
}

#[test]
fn zk_7_a_client_is_told_what_is_so() {
    let expired = "5.002 b state s2 expired\n";
    says(&then(expired), "ZK-7 fail, first ZK-7");
    says(&then(&join(&["5.000 server:0 marked s2 heard 0.9\n", expired])), "ZK-7 pass, first nothing");
    // Two connections, and no report of the loss of the first.
    says(
        &then("0.020 server:1 attached s2 conn 3\n0.021 b state s2 connected conn 3 server 1\n"),
        "ZK-7 fail, first ZK-7",
    );
    let close = "
0.005 b send r3 close_session /
0.006 server:2 txn 0x5 s2 close_session ok
0.006 server:2 ended s2 0x5
0.007 b reply r3 ok 0x5 conn 2
0.007 b state s2 closed
";
    says(&then(close), "ZK-7 pass, first nothing");
    says(&then(&without(&without(close, "txn"), "ended")), "ZK-7 fail");
    // A server that has applied the end answers nothing more.
    let late = "0.006 b send r4 get /lock\n0.0065 server:2 served r4 0x5 conn 2\n0.007 b reply";
    says(&then(&edit(close, "0.007 b reply", late)), "ZK-7 fail");
}

#[test]
fn zk_7_who_is_gone_expires() {
    let gone = "1.000 world crash b\n";
    says(&then(&join(&[gone, "6.400 world heal\n"])), "ZK-7 pass, first nothing");
    says(&then(&join(&[gone, "6.700 world heal\n"])), "ZK-7 fail, first ZK-7");
    let marked = "5.400 server:0 marked s2 heard 1.0\n";
    says(&then(&join(&[gone, marked, "6.700 world heal\n"])), "ZK-7 pass, first nothing");
    // A new leader starts the timeouts again.
    says(&then(&join(&[gone, "2.000 server:0 elected 1\n6.700 world heal\n"])), "ZK-7 pass");
}

#[test]
fn zk_12_whoever_follows_asks_its_leader() {
    let sync = "
1.000 server:0 elected 1
1.000 server:2 ceased
1.001 server:2 serving
1.001 server:2 attached s2 conn 3
1.002 b state s2 suspended
1.002 b state s2 connected conn 3 server 2
1.003 b send r3 sync /
1.004 server:0 barrier s2 r3 0x4
1.005 b reply r3 ok 0x4 conn 3
";
    says(&then(sync), "ZK-12 vacuous, first nothing");
    says(&then(&without(sync, "barrier")), "ZK-12 fail, first ZK-12");
    says(&then(&without(sync, "barrier").replace("server:0 elected", "server:2 elected")), "ZK-12 vacuous");
}

#[test]
fn zk_13_a_leader_that_others_have_left_stops() {
    let reads = |at: &str| {
        then(
            &format!(
                "
1.000 server:1 barrier s2 r9 0x4
2.000 server:0 elected 1
{at} b send r3 get /lock
{at} a send r4 get /lock
{at} server:1 served r4 0x4 conn 1
"
            )
            .replace(
                "1.000 server:1 barrier s2 r9 0x4",
                "1.000 b send r9 sync /\n1.000 server:1 barrier s2 r9 0x4",
            ),
        )
    };
    says(&reads("5.000"), "ZK-13 pass, first nothing");
    says(&reads("5.100"), "ZK-13 fail, first ZK-13");
    // A packet buffered in a link counts as a sign of life when it arrives.
    let healed = |at: &str| {
        let mended = "1.500 world fault link_cut link:2:1 lasts 2\n2.000 server:0 elected 1\n3.500 world mended link_cut link:2:1";
        edit(&reads(at), "2.000 server:0 elected 1", mended)
    };
    says(&healed("6.500"), "ZK-13 pass, first nothing");
    says(&healed("6.600"), "ZK-13 fail");
    // A follower may hear from it for that long, and wait for another syncLimit.
    let follows = |at: &str| without(&reads(at), "1.000 server:1 barrier");
    says(&follows("8.000"), "ZK-13 pass, first nothing");
    says(&follows("8.100"), "ZK-13 fail");
    // A leader with stalled commits does not check its followers until the last stall ends.
    for fault in ["commit_stall", "server_pause"] {
        let struck = |lasts: [u32; 2]| {
            let [one, other] = lasts;
            let mended = |at: u32| format!("{at}.500 world mended {fault} server:1\n");
            let text = reads("7.600").replace(
                "2.000 server:0 elected",
                &format!(
                    "1.500 world fault {fault} server:1 lasts {one}\n1.500 world fault {fault} server:1 lasts \
                     {other}\n2.000 server:0 elected"
                ),
            );
            text.replace("7.600 b send", &[&mended(2), &mended(1 + one.max(other)), "7.600 b send"].concat())
        };
        says(&struck([1, 4]), "ZK-13 pass, first nothing");
        says(&struck([4, 1]), "ZK-13 pass, first nothing");
        says(&struck([1, 2]), "ZK-13 fail, first ZK-13");
    }
    // A header may contain times that overflow.
    for text in [reads("8.100"), follows("8.100")] {
        let mut patient = history(&text);
        (patient.header.tick, patient.header.sync_limit) = (u64::MAX, u32::MAX);
        assert_eq!(judge(&patient, &RuleSet::all()).of(RuleId::Zk13), Verdict::Vacuous);
    }
}

#[test]
fn zk_10_an_answer_is_known_again_after_thousands_of_transactions() {
    let others: String =
        (0x5..0x1068).map(|zxid| format!("0.005 server:2 txn {zxid:#x} s0 other ok\n")).collect();
    let write = WRITE.replace("0.005", "0.0055").replace("0x5", "0x1068");
    says(&then(&join(&[&others, &write])), "ZK-10 pass, ZK-11 pass, first nothing");
    let refused = without(&write, "written").replace("s2 set ok", "s2 set no_auth");
    says(&then(&join(&[&others, &refused])), "ZK-10 fail, first ZK-10");
}

#[test]
fn zk_6_what_is_given_up_is_the_watch_that_is_named() {
    let stat = stat(&fresh(0x5, 0));
    let both = format!(
        "
0.008 b send r5 exists /other watch
0.009 server:2 arm s2 data /other conn 2
0.009 server:2 served r5 0x5 conn 2
0.009 server:2 found exists ok /other {stat}
0.0095 b reply r5 ok 0x5 conn 2
0.010 b state s2 suspended"
    );
    let run = edit(&back(), "\n0.010 b state s2 suspended", &both);
    let run = without(&run, "0.022 server:1 arm");
    let given_up = |tables: &[&str]| {
        let told: String = tables.iter().map(|table| format!("0.021 b disarm s2 {table} /other\n")).collect();
        edit(&run, "0.021 b state s2 connected", &format!("{told}0.021 b state s2 connected"))
    };
    says(&given_up(&["child"]), "ZK-6 fail, first ZK-6");
    says(&given_up(&["child", "data"]), "ZK-6 pass, first nothing");
}

#[test]
fn zk_6_who_stands_still_registers_nothing() {
    let silent = without(&back(), "0.022 server:1 arm");
    let waits =
        |more: &str| join(&[&without(&without(&silent, "send r4"), "served r4"), more, "8.100 world heal\n"]);
    says(&waits("0.100 world fault client_pause b lasts 9\n"), "ZK-6 pass, first nothing");
    let pause = "1.000 world fault client_pause b lasts 1\n2.000 world mended client_pause b\n";
    says(&waits(pause), "ZK-6 pass, first nothing");
    // A pause that was over before the reconnect is no reason.
    let before = "0.012 world fault client_pause b lasts 0.005\n0.017 world mended client_pause b\n0.020 server:1 attached";
    says(&edit(&waits(""), "0.020 server:1 attached", before), "ZK-6 fail");
}

#[test]
fn zk_7_what_a_server_may_have_said_is_believed() {
    let expired =
        |more: &str| then(&join(&["2.000 b state s2 suspended\n", more, "5.002 b state s2 expired\n"]));
    says(&expired(""), "ZK-7 fail, first ZK-7");
    // The client is gone since.
    says(&expired("3.000 server:1 ceased\n"), "ZK-7 vacuous");
    // A server that has not heard of the session may still believe that it leads.
    let opened = "
0.005 server:0 txn 0x5 s3 connect ok
0.005 server:0 opened s3 timeout 4000 0x5
0.005 server:1 applied 0x5
0.005 server:2 applied 0x5
0.006 server:2 attached s3 conn 7
0.006 b state s3 connected conn 7 server 2
3.000 b state s3 expired
";
    says(&then(opened), "ZK-7 fail, first ZK-7");
    says(&then(&without(opened, "server:1 applied")), "ZK-7 vacuous, first nothing");
}

#[test]
fn zk_14_each_persistent_watch_is_registered_again() {
    let arms = |at: &str, server: u8, conn: u8, path: &str| {
        let arm =
            |table: &str| format!("{at} server:{server} arm s2 {table} {path} conn {conn} persistent\n");
        [arm("data"), arm("child")].concat()
    };
    let run = |again: &[&str]| {
        let again: String = again.iter().map(|path| arms("0.022", 1, 3, path)).collect();
        let asks = "0.005 b send r5 add_watch /x watch\n0.005 b send r6 add_watch /y watch\n";
        let answers = "0.007 b reply r5 ok 0x4 conn 2\n0.007 b reply r6 ok 0x4 conn 2\n";
        let moves = "0.010 b state s2 suspended\n0.020 server:1 attached s2 conn 3\n0.021 b state s2 connected conn 3 server 1\n";
        let reads = "0.030 b send r4 get /lock\n0.031 server:1 served r4 0x4 conn 3\n";
        let armed = [arms("0.006", 2, 2, "/x"), arms("0.006", 2, 2, "/y")].concat();
        then(&join(&[asks, &armed, answers, moves, &again, reads]))
    };
    says(&run(&["/x", "/y"]), "ZK-14 pass, first nothing");
    says(&run(&["/y"]), "ZK-14 fail, first ZK-14");
    says(&run(&["/x"]), "ZK-14 fail, first ZK-14");
    // A drop of a persistent watch beside a one-shot watch on its path is not recorded.
    let told = "0.022 server:1 fire s2 data_changed /x 0x0 conn 3\n0.030 b send r4";
    says(&edit(&run(&["/y"]), "0.030 b send r4", told), "ZK-14 pass");
    // Nor on the next connection, unless it was registered again on the previous one.
    let once_more = |path: &str| {
        let moves = "0.040 b lost r4\n0.040 b state s2 suspended\n0.050 server:1 attached s2 conn 4\n0.051 b state s2 connected conn 4 server 1\n";
        let reads = "0.060 b send r8 get /lock\n0.061 server:1 served r8 0x4 conn 4\n";
        [moves, &arms("0.052", 1, 4, path), reads].concat()
    };
    let twice = |first: &[&str], second: &str| {
        join(&[&edit(&run(first), "0.030 b send r4", told), &once_more(second)])
    };
    says(&twice(&["/y"], "/y"), "ZK-14 pass");
    says(&twice(&["/x", "/y"], "/y"), "ZK-14 fail");
    says(&twice(&["/y"], "/x"), "ZK-14 fail");
    let then_armed = "0.022 server:1 fire s2 data_changed /x 0x0 conn 3\n0.022 server:1 arm s2 data /x";
    let stays = edit(&run(&["/x", "/y"]), "0.022 server:1 arm s2 data /x", then_armed);
    says(&join(&[&stays, &once_more("/y")]), "ZK-14 fail");
}
