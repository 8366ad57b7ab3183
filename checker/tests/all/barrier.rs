//! Barriers: a history and a verdict.

use crate::common::*;

/// A barrier that a has raised; b waits at it.
const WAITS: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
barrier /gate
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a raise#1 call /gate
0.001 a #1 send r1 create /gate
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /gate s0
0.003 a #1 reply r1 ok 0x3
0.003 a #1 return done
0.010 b wait#2 call /gate
0.010 b #2 send r2 children /gate watch
0.011 server:0 #2 arm s2 child /gate
0.012 b #2 reply r2 ok 0x3
";

const LOWERED: &str = "
0.020 a lower#3 call /gate
0.020 a #3 send r3 delete /gate
0.021 server:0 #3 txn 0x4 s1 delete ok
0.021 server:0 #3 deleted 0x4 /gate by s1
0.021 server:0 #3 fire s2 deleted /gate 0x4
0.022 a #3 reply r3 ok 0x4
0.022 a #3 return done
0.022 b #2 notice s2 deleted /gate
";

const PASSES: &str = "0.022 b #2 return done\n";
const ENDS: &str = "0.030 world heal\n0.040 world quiesce\n";

#[test]
fn a_calm_run_passes() {
    let run = [WAITS, LOWERED, PASSES, ENDS].concat();
    says(&run, "all pass, BA-1 pass, BA-2 pass, BA-3 pass, BA-4 pass, BA-5 vacuous, first nothing");
}

#[test]
fn nothing_is_proved_where_nobody_waits() {
    let run = "run sim clients a\nbarrier /gate\n0.001 a raise#1 call /gate\n0.002 a #1 return done\n";
    says(run, "BA-1 vacuous, BA-2 vacuous, BA-3 vacuous, BA-4 vacuous, BA-5 vacuous");
}

#[test]
fn ba_1_who_was_told_that_it_stands_does_not_pass() {
    says(&[WAITS, "0.013 b #2 return done\n", ENDS].concat(), "BA-1 fail, BA-5 vacuous, first BA-1");
    let before = WAITS.split("0.010 b #2 send").next().expect("it is there");
    says(&[before, "0.013 b #2 return done\n"].concat(), "BA-1 fail, first BA-1");
}

#[test]
fn ba_1_what_is_missing_elsewhere_is_no_reason() {
    for asks in ["exists /other", "children /gate/below", "delete /gate"] {
        let asks = format!("0.013 b #2 send r7 {asks}\n0.014 b #2 reply r7 no_node 0x0\n");
        says(&[WAITS, &asks, "0.014 b #2 return done\n"].concat(), "BA-1 fail, first BA-1");
    }
}

#[test]
fn ba_1_an_old_state_is_a_reason() {
    let run = without(WAITS, "arm s2").replace("reply r2 ok", "reply r2 no_node");
    says(&[&run, "0.013 b #2 return done\n", ENDS].concat(), "BA-1 pass, first nothing");
}

#[test]
fn ba_1_is_judged_by_calls_where_servers_are_not_seen() {
    let run = "
run client clients a b
barrier /gate
0.001 a raise#1 call /gate
0.003 a #1 return done
0.010 b wait#2 call /gate
0.012 b #2 return done
";
    says(run, "BA-1 fail");
    says(&edit(run, "0.010 b", "0.005 a lower#3 call /gate\n0.010 b"), "BA-1 fail");
    let read = "0.010 b #2 send r1 children /gate watch\n0.011 b #2 reply r1 no_node 0\n0.012 b";
    says(&edit(run, "0.012 b", read), "BA-1 pass");
}

#[test]
fn ba_5_other_events_open_nothing() {
    let written = "
0.020 server:0 txn 0x4 s1 set ok
0.020 server:0 written 0x4 /gate
0.020 server:0 fire s2 data_changed /gate 0x4
0.021 b #2 notice s2 data_changed /gate
0.021 b #2 return done
";
    says(&[WAITS, written].concat(), "BA-5 fail, BA-1 fail, first BA-5");
    let lost = "0.020 b state s2 suspended\n0.020 b #2 return done\n";
    says(&[WAITS, lost].concat(), "BA-5 fail, first BA-5");
}

#[test]
fn ba_5_the_session_of_another_is_no_event() {
    let other = "0.013 a state s1 suspended\n";
    says(&[WAITS, other, LOWERED, PASSES, ENDS].concat(), "BA-5 vacuous, BA-1 pass, first nothing");
    says(&[WAITS, &other.replace("a state s1", "b state s2")].concat(), "BA-5 pass");
}

#[test]
fn ba_2_who_was_let_go_does_not_wait_for_the_next() {
    let again = "
0.022 b #2 send r4 children /gate watch
0.023 server:0 txn 0x5 s1 create ok
0.023 server:0 created 0x5 /gate s0
0.024 server:0 #2 arm s2 child /gate
0.025 b #2 reply r4 ok 0x5
0.100 a state s1 connected
";
    says(&[WAITS, LOWERED, again].concat(), "BA-2 fail, first BA-2");
    let level = WAITS.replace("wait#2", "wait_down#2");
    says(&[&level, LOWERED, again, "0.110 world quiesce\n"].concat(), "BA-2 pass, first nothing");
    says(&[&level, LOWERED, PASSES].concat(), "BA-5 fail, BA-1 pass");
}

#[test]
fn ba_2_who_waits_has_a_watch() {
    let run = [&without(WAITS, "arm s2"), "0.100 a state s1 connected\n"].concat();
    says(&run, "BA-2 fail, first BA-2");
    says(&[WAITS, "0.100 a state s1 connected\n"].concat(), "BA-2 pass");
}

#[test]
fn ba_2_the_end_of_the_session_ends_the_wait() {
    let over = "
1.000 b state s2 expired
20.000 a state s1 connected
";
    says(&[WAITS, over].concat(), "BA-2 fail, first BA-2");
    says(&[WAITS, &edit(over, "20.000 a", "1.001 b #2 return unknown\n20.000 a")].concat(), "BA-2 pass");
}

#[test]
fn ba_2_a_history_that_ends_too_early_proves_nothing() {
    says(&[WAITS, LOWERED].concat(), "BA-2 unknown");
}

#[test]
fn ba_3_one_notification_a_waiter_and_no_polls() {
    let twice =
        LOWERED.replace("0.022 a #3 reply", "0.021 server:0 #3 fire s2 deleted /gate 0x4\n0.022 a #3 reply");
    says(&[WAITS, &twice, PASSES, ENDS].concat(), "BA-3 fail, first BA-3");
    let mut polls = String::new();
    for number in 10..14 {
        polls += &format!("0.014 b #2 send r{number} exists /gate\n0.014 b #2 reply r{number} ok 0x3\n");
    }
    says(&[WAITS, &polls].concat(), "BA-3 fail");
    says(&[WAITS, "0.014 b #2 sleep until 1\n"].concat(), "BA-3 fail");
}

#[test]
fn ba_4_no_watch_is_left() {
    let run = [WAITS, "0.013 b #2 return cancelled\n", ENDS].concat();
    says(&run, "BA-4 fail, first BA-4");
    says(&edit(&run, "0.030 world", "0.014 server:0 disarm s2 child /gate\n0.030 world"), "BA-4 pass");
}

// ── what a read says, and of which barrier ──

/// The raised barrier, without waiters.
fn raised() -> &'static str {
    WAITS.split("0.010 b wait").next().expect("it is there")
}

#[test]
fn ba_1_a_read_shows_the_incarnation_of_its_state() {
    // It was lowered and raised again, and the server of the first read lags.
    let again = "
0.004 a lower#3 call /gate
0.005 server:0 #3 txn 0x4 s1 delete ok
0.005 server:0 #3 deleted 0x4 /gate by s1
0.006 a #3 return done
0.007 a raise#4 call /gate
0.008 server:0 #4 txn 0x5 s1 create ok
0.008 server:0 #4 created 0x5 /gate s0
0.009 a #4 return done
0.010 b wait#2 call /gate
0.010 b #2 send r2 children /gate watch
0.012 b #2 reply r2 ok 0x3
0.013 b #2 send r3 children /gate
0.014 b #2 reply r3 ok 0x5
0.014 b #2 return done
";
    says(&[raised(), again].concat(), "BA-1 pass, first nothing");
    says(&[raised(), &edit(again, "reply r2 ok 0x3", "reply r2 ok 0x5")].concat(), "BA-1 fail, first BA-1");
}

#[test]
fn ba_1_in_a_capture_a_later_zxid_shows_another_one() {
    let reads = |first: &str, second: &str| {
        format!(
            "
run client clients a b
barrier /gate
0.000 b state s2 connected
0.010 b wait#2 call /gate
0.010 b #2 send r1 exists /gate watch
0.011 b #2 reply r1 ok {first}
0.012 b #2 send r2 exists /gate
0.013 b #2 reply r2 ok {second}
0.013 b #2 return done
"
        )
    };
    says(&reads("0x3", "0x4"), "BA-1 pass");
    says(&reads("0x3", "0x3"), "BA-1 fail");
}

#[test]
fn ba_1_for_an_edge_it_is_enough_that_there_was_none() {
    let head = WAITS.split("0.001 a raise").next().expect("it is there");
    let run = "
0.001 b wait#2 call /gate
0.001 b #2 send r2 exists /gate watch
0.002 b #2 reply r2 no_node 0x2
0.003 a raise#1 call /gate
0.004 server:0 #1 txn 0x3 s1 create ok
0.004 server:0 #1 created 0x3 /gate s0
0.005 a #1 return done
0.006 b #2 send r3 exists /gate watch
0.007 b #2 reply r3 ok 0x3
0.007 b #2 return done
";
    says(&[head, run].concat(), "BA-1 pass");
    // A level-triggered wait ends only when there is no barrier.
    says(&[head, &edit(run, "wait#2", "wait_down#2")].concat(), "BA-1 fail");
}

#[test]
fn ba_1_what_was_found_counts_for_its_own_barrier() {
    let two = edit(WAITS, "barrier /gate\n", "barrier /gate\nbarrier /other\n");
    let reads = |path: &str| {
        format!(
            "
0.013 b #2 send r7 exists {path}
0.013 server:0 #2 served r7 0x3
0.013 server:0 #2 found exists no_node {path} 0 0
0.014 b #2 reply r7 no_node 0x3
0.014 b #2 return done
"
        )
    };
    says(&[&two, &*reads("/other")].concat(), "BA-1 fail, first BA-1");
    says(&[&two, &*reads("/gate")].concat(), "BA-1 pass");
}

/// The barrier is lowered, and no notification is sent.
const LOWERED_IN_SECRET: &str = "
0.020 a lower#3 call /gate
0.020 a #3 send r3 delete /gate
0.021 server:0 #3 txn 0x4 s1 delete ok
0.021 server:0 #3 deleted 0x4 /gate by s1
0.022 a #3 reply r3 ok 0x4
0.022 a #3 return done
";

#[test]
fn ba_1_an_answer_to_several_reads_tells_of_each() {
    let reads = "
0.023 b #2 send r9 multi_read /gate
0.024 server:0 #2 served r9 0x4
0.024 server:0 #2 found exists no_node /elsewhere 0 0
0.024 server:0 #2 found exists no_node /gate 0 0
0.025 b #2 reply r9 ok 0x4
0.025 b #2 return done
";
    says(&[WAITS, LOWERED_IN_SECRET, reads].concat(), "BA-1 pass, first nothing");
    // Another answer was lost meanwhile.
    let lost = "
0.023 b #2 send r8 exists /gate
0.023 server:0 #2 served r8 0x4
0.023 server:0 #2 found exists no_node /gate 0 0
";
    let reads = edit(reads, "0.025 b #2 reply", "0.025 b #2 lost r8\n0.025 b #2 reply");
    says(&[WAITS, LOWERED_IN_SECRET, lost, &reads].concat(), "BA-1 pass");
}

#[test]
fn ba_1_in_a_capture_a_barrier_stood_if_it_was_raised_before_and_nobody_called_for_its_removal() {
    let run = "
run client clients a b c
barrier /gate
barrier /other
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a raise#1 call /gate
0.003 a #1 return done
0.010 b wait#2 call /gate
0.010 b #2 send r1 children /gate watch
0.011 b #2 reply r1 ok 0x3
0.012 b notice s2 data_changed /gate
0.013 b #2 return done
";
    says(run, "BA-5 fail, BA-1 fail");
    // An event of another kind lets it pass, and it is not certain that the barrier existed.
    let meanwhile = |what: &str| edit(run, "0.010 b wait", &format!("0.009 {what}\n0.010 b wait"));
    for uncertain in [
        edit(run, "raise#1 call /gate", "raise#1 call /other"),
        edit(run, "#1 return done", "#1 return unknown"),
        without(run, "#1 return").replace("0.010 b #2 send", "0.010 a #1 return done\n0.010 b #2 send"),
        meanwhile("a state s1 suspended"),
        meanwhile("a state s1 expired"),
        meanwhile("world crash a"),
        meanwhile("c lower#3 call /gate"),
    ] {
        says(&uncertain, "BA-5 fail, BA-1 pass");
    }
    says(&meanwhile("c lower#3 call /other"), "BA-5 fail, BA-1 fail");
    let before = "0.001 c lower#3 call /gate\n0.001 c #3 return done\n0.001 a raise";
    says(&edit(run, "0.001 a raise", before), "BA-5 fail, BA-1 fail");
}

// ── what wakes a waiter ──

#[test]
fn ba_2_a_server_that_lags_tells_of_the_end_later() {
    let waits = edit(WAITS, "0.011 server:0 #2 arm", "0.011 server:1 applied 0x3\n0.011 server:1 #2 arm");
    let reads = "0.030 b #2 send r9 exists /gate\n0.031 b #2 reply r9 ok 0x3\n";
    let told = "
1.021 server:1 applied 0x4
1.021 server:1 fire s2 deleted /gate 0x4
1.022 b #2 notice s2 deleted /gate
1.022 b #2 return done
";
    says(&[&waits, LOWERED_IN_SECRET, reads, told].concat(), "BA-2 pass, BA-1 pass");
    // The server has applied it, and sent no notification.
    let mute = edit(&waits, "server:1 applied 0x3", "server:1 applied 0x4");
    says(&[&mute, LOWERED_IN_SECRET, reads, told].concat(), "BA-2 fail");
}

#[test]
fn ba_2_a_lost_answer_leaves_a_waiter_with_what_it_has() {
    let asks = edit(
        &without(WAITS, "arm s2"),
        "0.012 b #2 reply",
        "0.012 b #2 send r9 exists /gate\n0.012 b #2 reply",
    );
    let later = "0.100 a state s1 connected\n";
    says(&[&asks, later].concat(), "BA-2 pass");
    says(&[&asks, "0.013 b #2 lost r9\n", later].concat(), "BA-2 fail, first BA-2");
}

#[test]
fn ba_2_each_waiter_has_its_own_time_to_arm_a_watch() {
    // Both have read without a watch; the first arms one before the second is due.
    let arms = |at: &str| {
        format!(
            "
0.0122 c wait#4 call /gate
0.0122 c #4 send r5 exists /gate
0.0125 c #4 reply r5 ok 0x3
0.0128 server:0 #2 arm s2 child /gate
{at} server:0 #4 arm s3 child /gate
1.000 a state s1 connected
"
        )
    };
    let three = edit(WAITS, "clients a b", "clients a b c");
    let three = edit(&three, "0.001 a raise", "0.000 c state s3 connected\n0.001 a raise");
    let blind = without(&three, "arm s2");
    says(&[&blind, &*arms("0.0135")].concat(), "BA-2 pass");
    says(&[&blind, &*arms("0.0136")].concat(), "BA-2 fail");
}

#[test]
fn ba_2_who_stands_still_or_is_dead_need_not_pass() {
    let pause = "0.015 world fault client_pause b\n";
    let later = "
0.030 world heal
20.000 a state s1 connected
20.100 world mended client_pause b
20.100 b #2 notice s2 deleted /gate
20.100 b #2 return done
";
    says(&[WAITS, pause, LOWERED_IN_SECRET, later].concat(), "BA-2 pass");
    says(&[WAITS, "0.015 world crash b\n", LOWERED_IN_SECRET].concat(), "BA-2 pass");
}

// ── what it costs, and what is left ──

#[test]
fn ba_3_two_requests_and_two_more_a_wake_up() {
    let reads = |numbers: std::ops::Range<u32>| -> String {
        let read =
            |number| format!("0.014 b #2 send r{number} exists /gate\n0.014 b #2 reply r{number} ok 0x3\n");
        numbers.map(read).collect()
    };
    says(&[WAITS, &*reads(10..11)].concat(), "BA-3 pass");
    says(&[WAITS, &*reads(10..12)].concat(), "BA-3 fail");
    let woken = [WAITS, "0.013 b #2 notice s2 data_changed /gate\n"].concat();
    says(&[&woken, &*reads(10..13)].concat(), "BA-3 pass");
    says(&[&woken, &*reads(10..14)].concat(), "BA-3 fail");
}

#[test]
fn ba_3_only_who_waits_must_not_sleep() {
    let sleeps = edit(WAITS, "0.003 a #1 reply", "0.003 a #1 sleep until 1\n0.003 a #1 reply");
    says(&sleeps, "BA-3 pass");
}

#[test]
fn ba_4_a_watch_of_a_former_connection_is_not_left() {
    let over = [WAITS, "0.013 b #2 return cancelled\n"].concat();
    let moves = "0.014 b state s2 suspended\n0.015 b state s2 connected\n";
    says(&[&over, moves, ENDS].concat(), "BA-4 pass");
    says(&[&over, ENDS].concat(), "BA-4 fail");
}

#[test]
fn ba_4_is_put_to_the_test_where_somebody_has_waited() {
    says(&[raised(), ENDS].concat(), "BA-4 vacuous");
}

#[test]
fn ba_1_one_answer_may_tell_of_several_barriers() {
    let two = edit(WAITS, "barrier /gate\n", "barrier /gate\nbarrier /other\n");
    let reads = "
0.023 b #2 send r9 multi_read /
0.024 server:0 #2 served r9 0x4
0.024 server:0 #2 found exists no_node /other 0 0
0.024 server:0 #2 found exists no_node /gate 0 0
0.025 b #2 reply r9 ok 0x4
0.025 b #2 return done
";
    let lowered = without(LOWERED, "notice s2");
    says(&[&two, &lowered, reads].concat(), "BA-1 pass");
    let stands = edit(reads, "no_node /gate", "ok /gate");
    says(&[&*two, &lowered, &stands].concat(), "BA-1 fail");
}
