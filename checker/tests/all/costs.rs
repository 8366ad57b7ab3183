//! Costs with lagging servers, in captures, and of requests to release: MX-13, RV-4.

use crate::common::*;
use zk_checker::digest;

#[test]
fn a_notification_counts_where_it_is_seen() {
    assert_eq!(report(&calm()).metrics.notifications, 1);
    // A capture sees the delivered notifications.
    assert_eq!(report(&calm().replace("run sim", "run client")).metrics.notifications, 1);
}

#[test]
fn mx_13_a_server_that_lags_tells_of_one_of_the_latest_deletions() {
    let head = edit(HEAD, "clients a b c", "clients a b c d");
    let head =
        edit(&head, "0.000 a state", "0.000 c state s3 connected\n0.000 d state s4 connected\n0.000 a state");
    let third = "
0.016 c acquire#5 call /lock
0.017 server:0 #5 txn 0x5 s3 create ok
0.017 server:0 #5 created 0x5 /lock/c-2 s3
0.018 server:0 #5 arm s3 child /lock/a-0
";
    // Others join the contenders and leave again.
    let passes = |op: u32, at: &str| {
        let (made, gone) = (2 * op, 2 * op + 1);
        format!(
            "{at} d acquire#{op} call /lock
{at} server:0 #{op} txn {made:#x} s4 create ok
{at} server:0 #{op} created {made:#x} /lock/d-{op} s4
{at} server:0 #{op} txn {gone:#x} s4 delete ok
{at} server:0 #{op} deleted {gone:#x} /lock/d-{op} by s4
{at} d #{op} return cancelled
"
        )
    };
    let before: String = (10..30).map(|op| passes(op, "0.019")).collect();
    let release = "
0.020 a #1 unbelieve released
0.020 a release#3 call /lock
0.020 a #3 send r6 delete /lock/a-0
0.021 server:0 #3 txn 0x50 s1 delete ok
0.021 server:0 #3 deleted 0x50 /lock/a-0 by s1
0.022 a #3 reply r6 ok 0x50
0.022 a #3 return done
";
    let told =
        "0.024 server:0 fire s2 deleted /lock/a-0 0x50\n0.024 server:0 fire s3 deleted /lock/a-0 0x50\n";
    let run = |after: std::ops::Range<u32>| {
        let after: String = after.map(|op| passes(op, "0.023")).collect();
        [&head, A_HOLDS, B_WAITS, third, &before, release, &after, told].concat()
    };
    says(&run(50..53), "MX-13 fail");
    says(&without(&run(50..53), "fire s3"), "MX-13 pass");
}

/// In a capture two waiters watch the same znode.
const CAPTURE: &str = "
run client clients a b c
lock /lock
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.000 a acquire#1 call /lock
0.000 a #1 believe /lock s1 token 0x3
0.000 a #1 return done
0.000 b acquire#2 call /lock
0.000 c acquire#3 call /lock
0.001 b #2 send r1 children /lock/a watch
0.001 c #3 send r2 children /lock/a watch
0.002 b #2 reply r1 ok 0
0.002 c #3 reply r2 ok 0
";

#[test]
fn mx_13_who_waits_may_be_told_of_what_it_holds_elsewhere() {
    let head = edit(
        HEAD,
        "0.000 b state",
        "0.000 server:0 opened s3 timeout 4000 0x2\n0.000 c state s3 connected\n0.000 b state",
    );
    let third = "
0.015 c acquire#9 call /lock
0.015 c #9 send r90 create /lock/c-
0.016 server:0 #9 txn 0x5 s3 create ok
0.016 server:0 #9 created 0x5 /lock/c-2 s3
0.017 c #9 reply r90 ok 0x5
";
    let told_of = |directory: &str| {
        let gone = format!(
            "
0.018 server:0 arm s2 child {directory}/x
0.018 server:0 arm s3 child {directory}/x
0.050 server:0 txn 0x6 s9 delete ok
0.050 server:0 deleted 0x6 {directory}/x by s9
0.050 server:0 fire s2 deleted {directory}/x 0x6
0.050 server:0 fire s3 deleted {directory}/x 0x6
"
        );
        [&head, A_HOLDS, B_WAITS, third, &gone].concat()
    };
    says(&told_of("/lock"), "MX-13 fail");
    says(&told_of("/group"), "MX-13 pass");
}

#[test]
fn mx_13_in_a_capture_who_closes_its_session_may_delete_its_own() {
    let one = "0.003 a send r3 close_session /\n0.004 b notice s2 deleted /lock/a\n";
    says(&[CAPTURE, one].concat(), "MX-13 pass");
    says(&[CAPTURE, one, "0.004 c notice s3 deleted /lock/a\n"].concat(), "MX-13 fail");
    says(&[CAPTURE, "0.004 b notice s2 deleted /lock/a\n"].concat(), "MX-13 fail");
}

#[test]
fn rw_5_in_a_capture_a_waiter_that_is_asked_to_go_is_not_woken_by_a_deletion() {
    let capture = edit(CAPTURE, "lock /lock", "revocable_lock /lock");
    let asked = "0.003 b notice s2 data_changed /lock/b\n";
    let deleted = "0.003 a send r3 delete /lock/a\n0.004 b notice s2 deleted /lock/a\n";
    says(&[&capture, asked, deleted].concat(), "RW-5 pass");
    says(&[&capture, asked, deleted, "0.004 c notice s3 deleted /lock/a\n"].concat(), "RW-5 fail");
}

#[test]
fn mx_13_in_a_capture_one_that_is_alone_keeps_to_its_budget() {
    let run = "
run client clients a b
lock /lock
0.000 a state s1 connected
0.000 b state s2 connected
0.000 a acquire#1 call /lock
0.000 a #1 send r1 create /lock/a-
0.000 a #1 send r2 children /lock
0.000 a #1 send r3 children /lock
0.001 a #1 reply r1 ok 0x3
0.001 a #1 reply r2 ok 0x3
0.001 a #1 reply r3 ok 0x3
0.002 a #1 believe /lock s1 token 0x3
0.002 a #1 return done
";
    says(run, "MX-13 fail, first MX-13");
    says(&without(run, "send r3").replace("0.001 a #1 reply r3 ok 0x3\n", ""), "MX-13 pass");
    // A release is no contender; another acquire may be ahead.
    let other =
        |verb: &str| edit(run, "0.000 a acquire", &format!("0.000 b {verb}#2 call /lock\n0.000 a acquire"));
    says(&other("release"), "MX-13 fail, first MX-13");
    says(&other("acquire"), "MX-13 vacuous");
}

/// Two wait for the same contender, and watch the data of its znode.
const REVOCABLE: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c d
revocable_lock /r stop margin 0.4 budget 3 2 1 2 grace 0.1 forced
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.000 d state s4 connected
0.001 a write#1 call /r
0.002 server:0 #1 txn 0x5 s1 create ok
0.002 server:0 #1 created 0x5 /r/a-0 s1
0.005 b write#2 call /r
0.005 server:0 #2 txn 0x6 s2 create ok
0.005 server:0 #2 created 0x6 /r/b-1 s2
0.005 server:0 #2 arm s2 data /r/a-0
0.006 c write#3 call /r
0.006 server:0 #3 txn 0x7 s3 create ok
0.006 server:0 #3 created 0x7 /r/c-2 s3
0.006 server:0 #3 arm s3 data /r/a-0
";

#[test]
fn rv_4_a_word_to_one_that_holds_wakes_one_that_waits() {
    let asks = format!(
        "
0.010 d ask#4 call /r
0.010 d #4 given /r/a-0 0
0.010 d #4 send r10 set /r/a-0
0.010 server:0 #4 txn 0x8 s4 set ok
0.010 server:0 #4 written 0x8 /r/a-0
0.010 server:0 #4 data 6 {:#x}
0.010 server:0 #4 fire s2 data_changed /r/a-0 0x8
",
        digest::data(Some(b"unlock"))
    );
    says(&[REVOCABLE, &asks].concat(), "RW-5 pass, RV-4 pass");
    let herd = [REVOCABLE, &*asks, "0.010 server:0 #4 fire s3 data_changed /r/a-0 0x8\n"].concat();
    says(&herd, "RV-4 fail, RW-5 pass");
    // Any other word is an ordinary change of data.
    let word = format!("data 6 {:#x}", digest::data(Some(b"unlock")));
    says(&herd.replace(&word, "data 6 0x1"), "RW-5 fail, RV-4 vacuous");
}
