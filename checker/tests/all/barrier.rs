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
