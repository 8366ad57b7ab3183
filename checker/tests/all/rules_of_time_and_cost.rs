//! Progress, wake-ups, the end of interest, leaks and cost: a history and a verdict.

use crate::common::*;

// ── MX-7, MX-8 ──

#[test]
fn mx_7_who_waits_has_a_watch_on_somebody_ahead() {
    let run = [HEAD, A_HOLDS, B_WAITS].concat();
    says(&[&run, "1.000 world heal"].concat(), "MX-7 pass");
    let blind = without(&run, "arm s2");
    says(&[&blind, "0.015 world heal"].concat(), "MX-7 pass");
    says(&[&blind, "0.016 world heal"].concat(), "MX-7 fail, first MX-7");
    says(
        &[&edit(&run, "arm s2 child /lock/a-0", "arm s2 child /lock"), "1.000 world heal"].concat(),
        "MX-7 pass",
    );
    says(
        &[&edit(&run, "arm s2 child /lock/a-0", "arm s2 child /lock/foreign"), "1.000 world heal"].concat(),
        "first MX-7",
    );
}

#[test]
fn mx_7_who_waits_with_a_znode_that_is_no_ephemeral_has_a_watch_all_the_same() {
    // Other rules report that its znode is a wrong one.
    let run =
        [HEAD, A_HOLDS, &edit(B_WAITS, "created 0x4 /lock/b-1 s2", "created 0x4 /lock/b-1 s0")].concat();
    says(&[&run, "1.000 world heal"].concat(), "MX-7 pass");
    says(&[&without(&run, "arm s2"), "0.016 world heal"].concat(), "MX-7 fail, first MX-7");
}

#[test]
fn mx_7_it_goes_between_the_list_and_the_watch() {
    let gone = "
0.0125 server:0 #3 txn 0x5 s1 delete ok
0.0125 server:0 #3 deleted 0x5 /lock/a-0 by s1
";
    let run = [HEAD, A_HOLDS, &without(&without(B_WAITS, "arm"), "reply r5")].concat();
    says(&[&run, gone, "0.014 b #2 reply r5 no_node 0x5\n0.020 world heal"].concat(), "first MX-7");
    says(
        &[&run, gone, "0.014 b #2 reply r5 no_node 0x5\n0.014 b #2 send r6 children /lock\n0.020 world heal"]
            .concat(),
        "MX-7 pass, first nothing",
    );
}

#[test]
fn mx_7_who_was_taken_out_of_the_line_is_told_when_whoever_it_watches_goes() {
    let anew = "
0.0125 c fault foreign_delete c
0.0125 server:0 txn 0x5 s3 multi ok
0.0125 server:0 deleted 0x5 /lock/b-1 by s3
0.0125 c fault foreign_delete c
0.0125 server:0 deleted 0x5 /lock/a-0 by s3
0.0126 a #1 unbelieve lost
0.0126 a acquire#3 call /lock
0.0126 a #3 send r7 create /lock/a-
0.0127 server:0 #3 txn 0x6 s1 create ok
0.0127 server:0 #3 created 0x6 /lock/a-0 s1
";
    let watches = "
0.013 server:0 #2 arm s2 child /lock/a-0
0.014 b #2 reply r5 ok 0x6
1.000 world heal
";
    let run = [HEAD, A_HOLDS, &without(&without(B_WAITS, "arm"), "reply r5"), anew, watches].concat();
    says(&run, "MX-7 pass");
    says(&edit(&run, "/lock/b-1 by s3", "/lock/b-1 by s2"), "MX-7 fail");
    says(&without(&run, "arm s2"), "MX-7 fail");
}

#[test]
fn mx_7_a_notification_on_its_way_wakes() {
    let release = without(A_RELEASES, "b #2 notice");
    let run = [HEAD, A_HOLDS, B_WAITS, &release].concat();
    says(
        &[&run, "3.000 b state s2 connected\n3.100 b state s2 connected"].concat(),
        "MX-7 pass, first nothing",
    );
    // The watch was lost with the connection, without a replacement.
    let lost =
        "1.000 b state s2 suspended\n2.000 b state s2 connected\n10.001 world heal\n10.010 world heal\n";
    says(&[&run, lost].concat(), "MX-7 fail, first MX-7");
    let silent = without(&run, "fire");
    says(&[&silent, "0.023 b state s2 connected\n0.030 world heal"].concat(), "MX-7 fail");
}

#[test]
fn mx_7_a_lost_connection_is_no_lost_wake_up() {
    let run = [HEAD, A_HOLDS, B_WAITS].concat();
    let lost = "0.100 server:0 disarm s2 child /lock/a-0\n2.000 b state s2 suspended\n";
    says(&[&run, lost, "3.000 b state s2 connected\n5.000 world heal"].concat(), "MX-7 pass, first nothing");
    // Two timeouts later it has not registered its watch again.
    let never = "3.000 b state s2 connected\n11.001 world heal\n11.003 world heal\n";
    says(&[&run, lost, never].concat(), "first MX-7");
    let again = never.replace("11.001", "3.001 server:0 arm s2 child /lock/a-0\n11.001");
    says(&[&run, lost, &again].concat(), "MX-7 pass, first nothing");
}

#[test]
fn mx_8_a_free_lock_is_granted() {
    // The bound: 4 s and half a second, two times four round trips of 2 ms, 1 ms to settle.
    let stuck = [HEAD, A_HOLDS, B_WAITS, A_RELEASES, "0.030 world heal\n"].concat();
    says(&[&stuck, "4.547 world quiesce"].concat(), "MX-8 unknown");
    says(&[&stuck, "4.548 world quiesce"].concat(), "MX-8 fail");
    says(&[HEAD, A_HOLDS, B_WAITS, "0.030 world heal\n9.000 world quiesce"].concat(), "MX-8 pass");
    says(
        &[HEAD, A_HOLDS, "0.030 world heal\n", B_WAITS.replace("0.01", "0.03").as_str()].concat(),
        "MX-8 unknown",
    );
    says(&edit(&calm(), "0.010 b acquire", "0.009 world heal\n0.010 b acquire"), "MX-8 pass");
}

#[test]
fn mx_8_a_wait_that_ends_before_the_bound_is_no_evidence() {
    let granted = |limit: &str| {
        let head =
            "run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001\nlock /lock fenced\n0.050 world heal\n";
        let called = format!("0.100 a acquire#1 call /lock{limit}\n");
        let over = "0.200 a #1 return refused timed_out\n9.000 world quiesce\n";
        [head, &called, over].concat()
    };
    // The bound: 4 s and half a second, two times four round trips of 2 ms, 1 ms to settle.
    says(&granted(" limit 4.517"), "MX-8 vacuous");
    says(&granted(" limit 4.518"), "MX-8 pass");
    says(&granted(""), "MX-8 pass");
}

#[test]
fn mx_8_a_run_that_was_stopped_with_a_waiter_and_no_holder_has_lost_it() {
    let hangs = "
0.100 world heal
0.200 a acquire#1 call /lock
";
    let head = "run sim\nlock /lock fenced\n";
    says(&[head, hangs].concat(), "MX-8 unknown");
    says(&[head, hangs, "0.300 world stopped"].concat(), "MX-8 unknown");
    says(&[head, hangs, "200.000 world stopped"].concat(), "MX-8 fail, first MX-8");
}

// ── MX-9 … MX-12 ──

#[test]
fn mx_9_one_acquire_one_znode() {
    let second = "
0.015 server:0 #2 txn 0x5 s2 create ok
0.015 server:0 #2 created 0x5 /lock/b-2 s2
";
    says(&[HEAD, A_HOLDS, B_WAITS, second].concat(), "MX-9 fail, first MX-9");
    let first_goes = "
0.014 server:0 #2 txn 0x5 s2 delete ok
0.014 server:0 #2 deleted 0x5 /lock/b-1 by s2
";
    says(&[HEAD, A_HOLDS, B_WAITS, first_goes, &second.replace("0x5", "0x6")].concat(), "MX-9 pass");
}

#[test]
fn mx_10_only_its_own_session_deletes_a_znode() {
    let by = |by: &str| {
        let gone =
            format!("0.015 server:0 txn 0x5 {by} delete ok\n0.015 server:0 deleted 0x5 /lock/a-0 by {by}\n");
        [HEAD, A_HOLDS, B_WAITS, &gone].concat()
    };
    says(&by("s2"), "MX-10 fail, first MX-10");
    says(&by("s1"), "MX-10 pass");
    says(&by("s0"), "MX-10 fail");
    says(
        &edit(&by("s0"), "0.015 server:0 txn", "0.015 world fault foreign_delete a\n0.015 server:0 txn"),
        "MX-10 pass",
    );
    // A fault of a third party does not excuse a competitor.
    says(
        &edit(&by("s2"), "0.015 server:0 txn", "0.015 world fault foreign_delete a\n0.015 server:0 txn"),
        "MX-10 fail",
    );
}

#[test]
fn mx_11_nothing_is_left() {
    let end = "0.050 world quiesce";
    let left = "0.045 b #2 arm s2 data /lock/a-0\n";
    says(&edit(&calm(), end, &format!("{left}{end}")), "MX-11 fail, first MX-11");
    says(&[HEAD, A_HOLDS, B_WAITS, end].concat(), "MX-11 pass");
    let own = [HEAD, A_HOLDS, "0.045 server:0 #1 arm s1 child /lock/a-0\n", end].concat();
    says(&own, "MX-11 pass");
    let cancelled = [HEAD, A_HOLDS, B_WAITS, "0.020 b #2 return cancelled\n", end].concat();
    says(&cancelled, "MX-11 fail, MX-12 fail, first MX-12");
    let gone = "0.021 server:0 deleted 0x5 /lock/b-1 by s2\n0.021 server:0 disarm s2 child /lock/a-0\n";
    says(&edit(&cancelled, end, &format!("{gone}{end}")), "MX-11 pass");
    let dies = "0.021 world crash b\n";
    says(&edit(&cancelled, end, &format!("{dies}{end}")), "MX-11 pass");
}

#[test]
fn mx_12_in_a_capture_nobody_sees_a_znode_go() {
    let run = "
run client clients a b
lock /lock
0.000 a state s1 connected
0.000 a acquire#1 call /lock
0.000 a #1 send r1 create /lock/a-
0.000 a #1 send r2 children /lock
0.001 a #1 reply r1 ok 0x3
0.001 a #1 made /lock/a-0 0x3
0.001 a #1 reply r2 ok 0x3
0.002 a #1 return done
0.003 a #1 believe /lock s1 token 0x3
0.004 a #1 unbelieve released
0.004 a release#2 call /lock
0.004 a #2 send r3 delete /lock/a-0
0.006 a #2 reply r3 ok 0x4
0.006 a #2 return done
0.100 world heal
30.000 b state s2 connected
30.000 b acquire#3 call /lock
";
    says(run, "MX-12 vacuous, first nothing");
}

#[test]
fn mx_11_in_a_capture_by_the_last_listing() {
    let run = "
run client clients a
lock /lock
0.000 a state s1 connected
0.000 a acquire#1 call /lock
0.001 a #1 made /lock/a-0 0x3
0.002 a #1 return cancelled
";
    says(run, "MX-11 vacuous");
    says(&[run, "0.003 world quiesce"].concat(), "MX-11 pass");
    says(&[run, "0.003 world left /lock /lock/a-0 s1"].concat(), "MX-11 fail, first MX-11");
    says(&[run, "0.003 world left /lock /lock/other s0"].concat(), "MX-11 pass");
    says(&[run, "0.003 world left /lock /lock/lost s1"].concat(), "MX-11 fail");
}

#[test]
fn mx_12_a_release_that_is_done_has_deleted() {
    let run = [HEAD, A_HOLDS, B_WAITS, A_RELEASES].concat();
    says(&run, "MX-12 pass");
    let forgotten = without(&without(&without(&run, "deleted 0x5"), "fire"), "b #2 notice");
    says(&forgotten, "MX-12 fail, first MX-12");
    // The release of a lost hold promises nothing.
    let lost = "0.0195 a state s1 suspended\n0.0195 a #1 unbelieve suspect\n0.0196 a #1 unbelieve lost\n";
    says(&edit(&forgotten, "0.020 a #1 unbelieve released\n", lost), "MX-12 vacuous");
    let doubtful = "0.0195 a state s1 suspended\n0.020 a #1 unbelieve released\n";
    says(&edit(&forgotten, "0.020 a #1 unbelieve released\n", doubtful), "MX-12 vacuous");
}

#[test]
fn mx_12_what_is_over_goes_within_the_bound() {
    let run = [HEAD, A_HOLDS, B_WAITS, "0.020 b #2 return cancelled\n0.030 world heal\n"].concat();
    says(&[&run, "4.539 world fault cancel c"].concat(), "MX-12 pass");
    says(&[&run, "4.540 world fault cancel c"].concat(), "MX-12 fail");
    says(&[&run, "0.040 server:0 deleted 0x5 /lock/b-1 by s2\n4.540 world quiesce"].concat(), "MX-12 pass");
    // A create that was still in flight.
    let late = [
        HEAD,
        "0.020 b acquire#2 call /lock\n0.020 b #2 return cancelled\n0.030 world heal\n",
        "1.000 server:0 #2 created 0x5 /lock/b-1 s2\n",
    ]
    .concat();
    says(&[&late, "6.000 world quiesce"].concat(), "MX-12 fail, first MX-12");
}

#[test]
fn mx_12_what_is_over_is_not_believed_again() {
    let lost = "0.030 a state s1 suspended\n";
    let again = "0.040 a state s1 connected\n0.040 a #1 believe /lock s1 token 0x3";
    says(
        &[HEAD, A_HOLDS, lost, "0.030 a #1 unbelieve suspect\n", again].concat(),
        "MX-12 vacuous, first nothing",
    );
    says(&[HEAD, A_HOLDS, lost, "0.030 a #1 unbelieve lost\n", again].concat(), "MX-12 fail, first MX-12");
}

#[test]
fn mx_12_a_time_limit_is_kept() {
    let run = [HEAD, A_HOLDS, &edit(B_WAITS, "call /lock", "call /lock limit 1")].concat();
    says(&[&run, "1.013 b #2 return refused"].concat(), "MX-12 pass");
    says(&[&run, "1.014 b #2 return refused"].concat(), "MX-12 fail, first MX-12");
    let asleep = "1.000 world fault client_pause b lasts 1\n2.000 world mended client_pause b\n";
    says(&[&run, asleep, "2.003 b #2 return refused"].concat(), "MX-12 pass");
}

// ── MX-13 ──

#[test]
fn mx_13_one_deletion_wakes_one() {
    let head = edit(HEAD, "0.000 a state", "0.000 c state s3 connected\n0.000 a state");
    let third = "
0.016 c acquire#5 call /lock
0.017 server:0 #5 txn 0x5 s3 create ok
0.017 server:0 #5 created 0x5 /lock/c-2 s3
0.018 server:0 #5 arm s3 child /lock/a-0
";
    let release = A_RELEASES.replace("0x5", "0x6");
    let run = [&head, A_HOLDS, B_WAITS, third, &release, &B_HOLDS.replace("0x5", "0x6")].concat();
    says(&run, "MX-13 pass");
    let herd =
        edit(&run, "0.022 a #3 reply", "0.021 server:0 #3 fire s3 deleted /lock/a-0 0x6\n0.022 a #3 reply");
    says(&herd, "MX-13 fail, first MX-13");
    assert_eq!(report(&herd).metrics.herd_index, 2);
    // An operation that no longer waits is not woken.
    let over = edit(&herd, "0.020 a release", "0.020 c #5 return cancelled\n0.020 a release");
    says(&over, "MX-13 pass");
    // Nor is another acquire of the same client, although its old watch was armed again after a reconnect.
    let again = "0.020 c #5 return cancelled\n0.020 server:0 arm s3 child /lock/a-0\n0.020 c acquire#9 call /lock\n0.020 a release";
    says(&edit(&herd, "0.020 a release", again), "MX-13 pass");
}

#[test]
fn mx_13_a_creation_wakes_nobody() {
    let third = "
0.016 c acquire#5 call /lock
0.017 server:0 #5 txn 0x5 s3 create ok
0.017 server:0 #5 created 0x5 /lock/c-2 s3
";
    let run = [HEAD, A_HOLDS, &B_WAITS.replace("child /lock/a-0", "child /lock"), third].concat();
    says(&run, "MX-13 pass");
    says(&[&run, "0.017 server:0 #5 fire s2 children_changed /lock 0x5"].concat(), "MX-13 fail, first MX-13");
}

#[test]
fn mx_13_requests_keep_to_the_budget() {
    let run = [HEAD, A_HOLDS].concat();
    let third = "0.001 a #1 send r9 exists /lock/a-0\n0.002 server:0 #1 txn";
    says(&edit(&run, "0.002 server:0 #1 txn", third), "MX-13 fail");
    says(
        &edit(&run, "0.002 server:0 #1 txn", &third.replace("send r9", "lost r2\n0.001 a #1 send r9")),
        "malformed",
    );
    let slow = edit(&run, "0.001 a #1 send r2 children /lock\n", "");
    let slow = edit(&slow, "0.003 a #1 reply r2", "0.003 a #1 send r2 children /lock\n0.003 a #1 reply r2");
    says(&slow, "MX-13 fail");
    let released = [HEAD, A_HOLDS, B_WAITS, A_RELEASES].concat();
    says(
        &edit(&released, "0.022 a #3 reply", "0.022 a #3 send r9 sync /lock\n0.022 a #3 reply"),
        "MX-13 fail",
    );
    says(
        &edit(&released, "0.022 a #3 reply", "0.022 a #3 send r9 sync /lock cleanup\n0.022 a #3 reply"),
        "MX-13 pass",
    );
}

#[test]
fn mx_13_who_waits_asks_only_when_woken() {
    let run = [HEAD, A_HOLDS, B_WAITS].concat();
    says(&[&run, "0.500 b #2 send r9 children /lock"].concat(), "MX-13 fail, first MX-13");
    says(&[&run, "0.500 b #2 sleep until 1.0"].concat(), "MX-13 fail, first MX-13");
    says(&[&run, "0.500 b #2 sleep until 1.0 deadline"].concat(), "MX-13 pass");
    let faulty = "0.400 world fault reply_late b\n0.500 b #2 send r9 children /lock";
    says(&[&run, faulty].concat(), "MX-13 pass");
}

#[test]
fn mx_13_in_a_capture_by_deliveries() {
    let run = "
run client clients a b c
lock /lock
0.000 b state s2 connected
0.000 c state s3 connected
0.000 b acquire#2 call /lock
0.000 c acquire#3 call /lock
0.001 b #2 send r1 children /lock/a watch
0.001 c #3 send r2 children /lock/a watch
0.002 b #2 reply r1 ok 0
0.002 c #3 reply r2 ok 0
0.003 a send r3 delete /lock/a
0.004 b notice s2 deleted /lock/a
";
    says(run, "MX-13 pass");
    says(&[run, "0.004 c notice s3 deleted /lock/a"].concat(), "MX-13 fail");
    // The expiry of a dead holder's session is not recorded.
    let holds = "
0.000 a state s1 connected
0.000 a acquire#1 call /lock
0.000 a #1 believe /lock s1 token 0x3
0.000 a #1 return done
0.000 b acquire";
    let died = run.replacen("\n0.000 b acquire", holds, 1);
    for ends in ["0.003 world crash a", "0.003 a #1 unbelieve crashed\n0.003 world crash a"] {
        let died = died.replace("0.003 a send r3 delete /lock/a", ends);
        says(&died, "MX-13 pass");
        says(&[&died, "0.004 c notice s3 deleted /lock/a"].concat(), "MX-13 fail");
    }
}
