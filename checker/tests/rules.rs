//! Each rule: a history and a verdict.

mod common;
use common::*;

const NOBODY_COMES: &str = "
run sim
lock /lock fenced
0.000 world start client:0
";

#[test]
fn a_calm_run_passes() {
    says(&calm(), "all pass, first nothing");
    says(&calm(), "MX-2 pass, MX-3 pass, MX-4 pass, MX-5 pass, MX-6 pass, MX-7 pass, MX-9 pass, MX-10 pass");
    says(&calm(), "MX-11 pass, MX-12 pass, MX-13 pass, W pass");
    says(&calm(), "MX-1 vacuous, MX-14 vacuous, MX-8 vacuous");
}

#[test]
fn a_run_without_operations_proves_nothing() {
    for rule in zk_checker::RuleId::ALL.iter().skip(1) {
        says(NOBODY_COMES, &format!("{rule} vacuous"));
    }
}

// ── MX-1 ──

const TWO_HOLDS: &str = "
run client clients a b
lock /lock until_deadline fenced
0.000 a acquire#1 call /lock
0.000 b acquire#2 call /lock
0.001 a #1 believe /lock s1 token 0x3
0.002 b #2 believe /lock s2 token 0x4
";

#[test]
fn mx_1_the_resource_follows_the_order_of_holds() {
    let first = "0.003 a #1 resource /lock token 0x3 accepted\n";
    let second = "0.004 b #2 resource /lock token 0x4 accepted\n";
    says(&[TWO_HOLDS, first, second].concat(), "MX-1 pass");
    let late = "0.005 a #1 resource /lock token 0x3 accepted";
    says(&[TWO_HOLDS, first, second, late].concat(), "MX-1 fail");
    says(&[TWO_HOLDS, first, second, &late.replace("accepted", "rejected")].concat(), "MX-1 pass");
    says(&[TWO_HOLDS, "0.003 a #1 resource /lock token 0x3 rejected"].concat(), "MX-1 fail");
    let unfenced = TWO_HOLDS.replace(" fenced", "");
    says(&[&unfenced, first, second, late].concat(), "MX-1 vacuous");
}

#[test]
fn mx_1_wrong_tokens_hide_nothing() {
    let late = "0.025 b #2 resource /lock token 0x1 accepted
                0.026 a #1 resource /lock token 0x9 accepted";
    says(&[HEAD, A_HOLDS, B_WAITS, A_RELEASES, B_HOLDS, late].concat(), "MX-1 fail, first MX-1");
}

// ── MX-2, MX-3, MX-14 ──

/// The session of the first holder expires, and the next one is granted.
const EXPIRY: &str = "
6.000 server:0 marked s1 heard 1.5
6.000 server:0 txn 0x5 s1 close_session ok
6.000 server:0 deleted 0x5 /lock/a-0 by s1
6.000 server:0 ended s1 0x5
6.000 server:0 fire s2 deleted /lock/a-0 0x5
6.001 b #2 notice s2 deleted /lock/a-0
6.001 b #2 send r7 children /lock
6.003 b #2 reply r7 ok 0x5
6.003 b #2 believe /lock s2 token 0x4
6.003 b #2 return done
";
const PAUSE: &str = "1.600 world fault client_pause a lasts 5\n";
const MENDED: &str = "6.600 world mended client_pause a\n";

#[test]
fn mx_2_a_pause_excuses_its_window() {
    let wakes = "6.600 a state s1 suspended\n6.600 a #1 unbelieve lost\n";
    let run = [HEAD, A_HOLDS, B_WAITS, PAUSE, EXPIRY, MENDED, wakes].concat();
    says(&run, "MX-2 inherent, MX-14 inherent, MX-3 pass, MX-5 pass, first nothing");
    let report = report(&run);
    assert_eq!((report.metrics.zombies, report.metrics.longest_zombie), (1, 597_000));
    says(&without(&without(&run, "mended"), "client_pause"), "MX-2 fail, first MX-2");
}

#[test]
fn mx_2_who_is_stopped_again_at_once_has_stood_still_all_along() {
    let again = "6.600 world fault client_pause a lasts 2\n8.600 world mended client_pause a\n";
    let wakes = "8.600 a state s1 suspended\n8.600 a #1 unbelieve lost\n";
    let run = [HEAD, A_HOLDS, B_WAITS, PAUSE, EXPIRY, MENDED, again, wakes].concat();
    says(&run, "MX-2 inherent, MX-14 inherent, first nothing");
    // A hundredth of a second is enough to act.
    says(&edit(&run, "6.600 world fault", "6.610 world fault"), "first MX-14, MX-2 fail");
}

#[test]
fn mx_2_the_window_ends_when_a_correct_client_must_have_stopped() {
    let late = "6.602 a state s1 suspended\n6.602 a #1 unbelieve lost\n";
    says(
        &[HEAD, A_HOLDS, B_WAITS, PAUSE, EXPIRY, MENDED, late].concat(),
        "MX-2 fail, MX-14 fail, first MX-14",
    );
}

#[test]
fn mx_2_a_holder_that_heard_of_the_disconnect_is_not_excused() {
    let told = "2.000 a state s1 suspended\n";
    let run = [HEAD, A_HOLDS, B_WAITS, told, EXPIRY].concat();
    says(&run, "first MX-14, MX-2 fail");
    // Where holders may go on, the deadline stops them all the same: 4 s less 0.4 s after it was last answered.
    says(&edit(&run, "lock /lock stop", "lock /lock until_deadline"), "first MX-14, MX-2 fail");
}

#[test]
fn mx_2_who_has_no_right_excuses_nobody() {
    let grant = "1.700 b #2 believe /lock s2 token 0x4\n";
    says(&[HEAD, A_HOLDS, B_WAITS, PAUSE, grant].concat(), "MX-2 fail, first MX-4");
}

#[test]
fn mx_2_a_foreign_delete_excuses_until_it_is_told() {
    let gone = "
0.100 world fault foreign_delete a
0.100 server:0 txn 0x5 s0 delete ok
0.100 server:0 deleted 0x5 /lock/a-0 by s0
0.100 server:0 fire s2 deleted /lock/a-0 0x5
0.101 b #2 notice s2 deleted /lock/a-0
0.101 b #2 send r7 children /lock
0.103 b #2 reply r7 ok 0x5
0.103 b #2 believe /lock s2 token 0x4
";
    let told = "0.110 a notice s1 deleted /lock/a-0\n";
    let run = [HEAD, A_HOLDS, B_WAITS, gone, told].concat();
    says(
        &[&run, "0.110 a #1 unbelieve lost"].concat(),
        "MX-2 inherent, MX-10 pass, MX-14 pass, all inherent",
    );
    says(&[&run, "0.112 a #1 unbelieve lost"].concat(), "MX-2 fail, MX-14 fail");
    says(&without(&run, "foreign_delete"), "MX-2 fail, MX-10 fail, first MX-10");
}

#[test]
fn mx_2_in_a_capture_a_pause_excuses_no_longer_than_it_lasts() {
    let run = "
run client clients a b
lock /lock
0.000 a acquire#1 call /lock
0.000 b acquire#2 call /lock
0.000 b #2 send r1 children /lock
0.001 a #1 believe /lock s1 token 0x3
1.000 world fault client_pause a lasts 1
1.400 b #2 reply r1 ok 0x4
1.500 b #2 believe /lock s2 token 0x4
2.000 world mended client_pause a
2.001 a #1 unbelieve lost
";
    says(run, "MX-2 inherent, MX-3 pass");
    says(&edit(run, "2.001 a", "2.100 a"), "MX-2 fail");
}

#[test]
fn mx_2_a_grant_may_reach_its_client_late() {
    let first = without(&without(A_HOLDS, "believe"), "return");
    let pause = "0.003 world fault client_pause a lasts 6.597\n";
    let late = "
6.600 world mended client_pause a
6.600 a #1 believe /lock s1 token 0x3
6.600 a #1 return done
6.600 a state s1 suspended
6.600 a #1 unbelieve lost
";
    let run = [HEAD, &first, pause, B_WAITS, EXPIRY, late].concat();
    says(&run, "MX-2 inherent, MX-5 pass, MX-6 pass, first nothing");
    says(&edit(&run, "6.600 a #1 unbelieve lost", "6.602 a #1 unbelieve lost"), "MX-2 fail, first MX-14");
}

#[test]
fn mx_3_holds_do_not_overlap_where_nothing_excuses_it() {
    let next = "0.030 b #2 believe /lock s2 token 0x4\n0.031 b #2 unbelieve released\n";
    says(&[TWO_HOLDS].concat(), "MX-3 fail");
    says(
        &[&edit(TWO_HOLDS, "0.002 b", "0.002 a #1 unbelieve released\n0.002 b"), next].concat(),
        "malformed",
    );
    says(&edit(TWO_HOLDS, "0.002 b", "0.002 a #1 unbelieve released\n0.002 b"), "MX-3 pass");
    says(&edit(TWO_HOLDS, "0.001 a", "0.001 world fault client_pause a lasts 1\n0.001 a"), "MX-3 vacuous");
}

#[test]
fn mx_3_is_judged_by_calls_and_returns_alone() {
    let run = "
run client clients a b
lock /lock
0.000 a acquire#1 call /lock
0.000 b acquire#2 call /lock
0.001 a #1 return done
0.002 a release#3 call /lock
0.003 b #2 return done
";
    says(run, "MX-3 pass");
    says(&without(run, "release"), "MX-3 fail");
}

#[test]
fn mx_14_belief_ends_when_it_must() {
    let run = [HEAD, A_HOLDS, "2.000 a state s1 suspended\n"].concat();
    says(&[&run, "2.001 a #1 unbelieve suspect"].concat(), "MX-14 pass");
    says(&[&run, "2.002 a #1 unbelieve suspect"].concat(), "MX-14 fail, first MX-14");
    let deadline = edit(&run, "lock /lock stop", "lock /lock until_deadline");
    says(&[&deadline, "5.601 a #1 unbelieve suspect"].concat(), "MX-14 pass");
    says(&[&deadline, "5.602 a #1 unbelieve suspect"].concat(), "MX-14 fail");
    says(&[&deadline, "5.5 a state s1 connected\n9.000 a #1 unbelieve released"].concat(), "MX-14 vacuous");
}

#[test]
fn mx_14_who_stands_still_stops_when_it_runs_again() {
    let pause = "2.0005 world fault client_pause a lasts 1\n3.000 b state s2 connected\n3.0005 world mended client_pause a\n";
    let run = [HEAD, A_HOLDS, "2.000 a state s1 suspended\n", pause].concat();
    says(&[&run, "3.001 a #1 unbelieve suspect"].concat(), "MX-14 inherent, first nothing");
    says(&[&run, "3.002 a #1 unbelieve suspect"].concat(), "MX-14 fail");
}

#[test]
fn mx_14_who_deletes_its_znode_no_longer_holds() {
    let run = [HEAD, A_HOLDS, "0.020 a #1 send r6 delete /lock/a-0 cleanup\n"].concat();
    says(&[&run, "0.020 a #1 unbelieve dropped"].concat(), "MX-14 pass");
    says(&[&run, "0.021 a #1 unbelieve dropped"].concat(), "MX-14 fail");
}

// ── MX-4, MX-5, MX-6 ──

#[test]
fn mx_4_an_event_alone_grants_nothing() {
    let hasty = "0.022 b #2 believe /lock s2 token 0x4\n";
    says(&[HEAD, A_HOLDS, B_WAITS, A_RELEASES, hasty].concat(), "MX-4 fail, first MX-4, MX-2 pass");
    says(&[HEAD, A_HOLDS, B_WAITS, hasty].concat(), "first MX-4, MX-2 fail, MX-3 fail");
}

#[test]
fn mx_4_the_znode_belongs_to_the_session_that_believes() {
    let run = [HEAD, A_HOLDS].concat();
    says(&edit(&run, "/lock/a-0 s1", "/lock/a-0 s0"), "first MX-4");
    says(&edit(&run, "/lock/a-0 s1", "/lock/a-0 s2"), "first MX-4");
    let none = without(&without(&run, "created"), "txn");
    says(&none, "first MX-4");
}

#[test]
fn mx_4_the_own_znode_is_in_the_list() {
    let gone = "
0.005 world fault foreign_delete b
0.015 server:0 txn 0x5 s0 delete ok
0.015 server:0 deleted 0x5 /lock/b-1 by s0
";
    let release = A_RELEASES.replace("0x5", "0x6");
    let grant = B_HOLDS.replace("0x5", "0x6");
    says(
        &[HEAD, A_HOLDS, B_WAITS, "", gone.trim_start()].concat().replace("0.005 world", "0.015 world"),
        "MX-10 pass",
    );
    let gone = gone.replace("0.005", "0.015");
    says(&[HEAD, A_HOLDS, B_WAITS, &gone, &release, &grant].concat(), "first MX-4");
}

#[test]
fn mx_4_the_connection_was_not_lost_since_the_list() {
    let blink = "0.0035 a state s1 suspended\n0.0036 a state s1 connected\n";
    let run = [HEAD, A_HOLDS].concat().replace("0.003 a #1 believe", "0.006 a #1 believe");
    let run = run.replace("0.003 a #1 return", "0.006 a #1 return");
    says(&run, "MX-4 pass");
    says(&edit(&run, "0.006 a #1 believe", &format!("{blink}0.006 a #1 believe")), "MX-4 fail");
    // In the very instant of the grant it may have come after the decision.
    says(
        &edit(
            &[HEAD, A_HOLDS].concat(),
            "0.003 a #1 believe",
            "0.003 a state s1 suspended\n0.003 a #1 believe",
        ),
        "MX-4 pass",
    );
}

#[test]
fn mx_4_in_a_capture_there_was_a_list() {
    let run = "
run client clients a
lock /lock
0.000 a state s1 connected
0.000 a acquire#1 call /lock
0.000 a #1 send r1 create /lock/a-
0.000 a #1 send r2 children /lock
0.001 a #1 reply r1 ok 0x3
0.001 a #1 made /lock/a-0 0x3
0.001 a #1 reply r2 ok 0
0.001 a #1 believe /lock s1 token 0x3
";
    says(run, "MX-4 pass, MX-5 pass");
    says(&without(run, "reply r2"), "first MX-4");
    says(&edit(run, "token 0x3", "token 0x4"), "first MX-5");
    says(&edit(run, "believe /lock s1", "believe /lock s2"), "first MX-4");
}

#[test]
fn mx_5_the_token_is_the_czxid() {
    says(&edit(&calm(), "token 0x3", "token 0x0"), "first MX-5, MX-5 fail");
}

#[test]
fn mx_5_tokens_grow() {
    let run = edit(TWO_HOLDS, "0.002 b", "0.002 a #1 unbelieve released\n0.002 b");
    says(&run, "MX-5 pass");
    says(&edit(&run, "token 0x4", "token 0x3"), "MX-5 fail");
}

#[test]
fn mx_6_who_came_first_is_served_first() {
    let first = without(&without(A_HOLDS, "believe"), "return");
    let run = [HEAD, &first, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat();
    says(&run, "MX-6 fail, MX-4 fail, MX-3 pass");
    let gives_up = "0.015 a #1 return cancelled\n0.015 b #2 believe";
    says(&edit(&run, "0.015 b #2 believe", gives_up), "MX-6 pass");
}

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
fn mx_7_a_notification_on_its_way_wakes() {
    let release = without(A_RELEASES, "b #2 notice");
    let run = [HEAD, A_HOLDS, B_WAITS, &release].concat();
    says(
        &[&run, "3.000 b state s2 connected\n3.100 b state s2 connected"].concat(),
        "MX-7 pass, first nothing",
    );
    // It went down with the connection, and nothing came after it.
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
    // Nothing is promised to a release of what was lost.
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
    // A create that was still on its way.
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
    let again = "0.040 a #1 believe /lock s1 token 0x3";
    says(&[HEAD, A_HOLDS, "0.030 a #1 unbelieve suspect\n", again].concat(), "MX-12 vacuous, first nothing");
    says(&[HEAD, A_HOLDS, "0.030 a #1 unbelieve lost\n", again].concat(), "MX-12 fail, first MX-12");
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
    // Somebody who no longer waits is not woken.
    let over = edit(&herd, "0.020 a release", "0.020 c #5 return cancelled\n0.020 a release");
    says(&over, "MX-13 pass");
    // Neither is somebody who waits by another acquire, though its old watch was armed again after a reconnect.
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
}

// ── well-formed ──

#[test]
fn a_history_that_contradicts_itself_is_malformed() {
    let head = "run sim clients a\nlock /lock\n0.001 a acquire#1 call /lock\n";
    for (wrong, why) in [
        ("0.000 a #1 return done", "time goes back"),
        ("0.002 a #2 return done", "returns and was never called"),
        ("0.002 a #1 return done\n0.002 a #1 return done", "returns a second time"),
        ("0.002 a #1 reply r1 ok 0x1", "never sent"),
        ("0.002 a #1 lost r1", "never sent"),
        ("0.002 a #1 send r1 sync /\n0.002 a #1 lost r1\n0.002 a #1 lost r1", "a second answer"),
        ("0.002 a #1 unbelieve lost", "never did"),
        ("0.002 a #2 believe /lock s1 token 0x1", "which is no acquire"),
        ("0.002 world crash a\n0.003 a #1 send r1 sync /", "a dead client acts"),
        ("0.002 a acquire#1 call /lock", "a second time"),
        ("0.002 a acquire#9 call object:7", "never declared"),
        ("0.002 a acquire#4000000000 call /lock", "out of range"),
        ("0.002 a #1 send r4000000000 sync /", "out of range"),
    ] {
        let run = [head, wrong].concat();
        says(&run, "malformed");
        let report = report(&run);
        assert!(report.findings[0].text.contains(why), "{why} was expected in\n{report}");
    }
    says(&[head, "0.002 world crash a\n0.002 a #1 return cancelled\n0.003 world start a"].concat(), "W pass");
}

#[test]
fn what_breaks_before_the_contradiction_counts() {
    says(&[TWO_HOLDS, "0.001 a #1 return done"].concat(), "all fail, malformed");
    says(&["run sim clients a\nlock /lock\n", "0.001 a #1 return done"].concat(), "all unknown, malformed");
}

// ── the report ──

#[test]
fn the_deepest_cause_comes_first() {
    let told = "2.000 a state s1 suspended\n";
    let report = report(&[HEAD, A_HOLDS, B_WAITS, told, EXPIRY].concat());
    let rules: Vec<_> = report.findings.iter().map(|f| (f.rule.name(), f.secondary)).collect();
    assert_eq!(rules, [("MX-14", false), ("MX-2", false)]);
    let told = report.to_string();
    assert!(
        told.starts_with(
            "fail

MX-14 belief kept too long  /lock
  a believed to hold it (token 0x3) since e11 (0.003), and still did at e24 (6.000)
  because  e23 (2.000) it had to stop: it was disconnected, and is declared to stop then
  not excused: it was not standing still

and with it

MX-2  mutual exclusion (guarded)  /lock
"
        ),
        "{told}"
    );
}

#[test]
fn costs_after_a_breach_are_secondary() {
    let hasty = "0.022 b #2 believe /lock s2 token 0x4\n";
    let polls = "0.030 c acquire#7 call /lock\n0.031 c #7 sleep until 1\n";
    let early = polls.replace("0.03", "0.01").replace("#7", "#8");
    let before = report(&[HEAD, A_HOLDS, &early.replace("0.01", "0.009"), B_WAITS, hasty].concat());
    assert_eq!(before.first().map(|first| (first.rule.name(), first.secondary)), Some(("MX-13", false)));
    let report = report(&[HEAD, A_HOLDS, B_WAITS, hasty, polls].concat());
    let poll = report.findings.iter().find(|f| f.rule.name() == "MX-13").expect("a poll");
    assert!(poll.secondary);
}

#[test]
fn what_is_required_must_be_put_to_the_test() {
    use zk_checker::{RuleId, RuleSet, judge};
    let run = history(&calm());
    assert_eq!(judge(&run, &RuleSet::all()).exit_status(), 0);
    let report = judge(&run, &RuleSet::all().requiring(RuleId::Mx4).requiring(RuleId::Mx1));
    assert_eq!((report.unproved.clone(), report.exit_status()), (vec![RuleId::Mx1], 2));
    assert!(report.to_string().contains("never put to the test: MX-1"));
}

#[test]
fn the_four_promises_are_found_without_looking_inside() {
    use zk_checker::{RuleId, RuleSet, judge};
    let hasty = [HEAD, A_HOLDS, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat();
    let report = judge(&history(&hasty), &RuleSet::black_box());
    assert_eq!(report.first().map(|first| first.rule), Some(RuleId::Mx2));
    assert_eq!(report.of(RuleId::Mx3).to_string(), "fail");
    assert_eq!(report.of(RuleId::Mx4).to_string(), "vacuous");
}

#[test]
fn many_findings_are_counted_and_few_are_kept() {
    let polls = "0.030 c #7 sleep until 1\n".repeat(40);
    let report = report(&[HEAD, "0.030 c acquire#7 call /lock\n", &polls].concat());
    assert_eq!(report.findings.len(), 16);
    assert_eq!(report.rows.iter().find(|row| row.rule.name() == "MX-13").map(|row| row.findings), Some(40));
}

#[test]
fn a_judge_tells_at_once() {
    use zk_checker::{Judge, RuleSet, judge};
    let run = history(&[HEAD, A_HOLDS, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat());
    let mut online = Judge::new(run.tables(), &RuleSet::all());
    let told: Vec<bool> = run.events.iter().map(|event| online.push(run.tables(), event)).collect();
    assert_eq!(told.iter().position(|told| *told), Some(run.events.len() - 1));
    assert_eq!(online.finish(run.tables()), judge(&run, &RuleSet::all()));
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
