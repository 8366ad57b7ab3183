//! Double barriers: a history and a verdict.

use crate::common::*;

pub const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
double_barrier /b size 2
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
";

/// a registers, and waits.
pub const A_JOINS: &str = "
0.001 a enter#1 call /b
0.001 a #1 given a 0
0.001 a #1 send r1 multi /b
0.002 server:0 #1 txn 0x4 s1 multi ok
0.002 server:0 #1 created 0x4 /b/0/a-member-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 send r2 get /b watch
0.003 server:0 #1 arm s1 data /b
0.004 a #1 reply r2 ok 0x4
";

/// b registers, opens the barrier, and enters.
pub const B_OPENS: &str = "
0.010 b enter#2 call /b
0.010 b #2 given b 0
0.010 b #2 send r3 multi /b
0.011 server:0 #2 txn 0x5 s2 multi ok
0.011 server:0 #2 created 0x5 /b/0/b-member-1 s2
0.012 b #2 reply r3 ok 0x5
0.012 b #2 send r4 multi /b
0.013 server:0 #2 txn 0x6 s2 multi ok
0.013 server:0 #2 written 0x6 /b
0.013 server:0 #2 created 0x6 /b/0/ready s2
0.013 server:0 #2 fire s1 data_changed /b 0x6
0.014 b #2 reply r4 ok 0x6
0.014 b #2 observed /b opening a,b 0
0.014 b #2 return done
";

/// a is notified, reads, and enters.
pub const A_IS_IN: &str = "
0.014 a #1 notice s1 data_changed /b
0.014 a #1 send r5 get /b/0/ready watch
0.014 server:0 #1 arm s1 data /b/0/ready
0.015 a #1 reply r5 ok 0x6
0.015 a #1 observed /b opening a,b 0
0.015 a #1 return done
";

/// a leaves, and waits.
pub const A_LEAVES: &str = "
0.020 a leave#3 call /b
0.020 a #3 send r6 multi /b/0/ready
0.021 server:0 #3 txn 0x7 s1 multi ok
0.021 server:0 #3 deleted 0x7 /b/0/a-member-0 by s1
0.022 a #3 reply r6 ok 0x7
";

/// b leaves as the last one, so a has left, too.
const B_LEAVES: &str = "
0.030 b leave#4 call /b
0.030 b #4 send r7 multi /b/0
0.031 server:0 #4 txn 0x8 s2 multi ok
0.031 server:0 #4 deleted 0x8 /b/0/b-member-1 by s2
0.031 server:0 #4 deleted 0x8 /b/0/ready by s2
0.031 server:0 #4 fire s1 deleted /b/0/ready 0x8
0.032 b #4 reply r7 ok 0x8
0.032 b #4 return done
0.032 a #3 notice s1 deleted /b/0/ready
0.032 a #3 send r8 children /b/0
0.034 a #3 reply r8 ok 0x8
0.034 a #3 return done
";

pub const ENDS: &str = "0.040 world heal\n0.050 world quiesce\n";

fn calm() -> String {
    [HEAD, A_JOINS, B_OPENS, A_IS_IN, A_LEAVES, B_LEAVES, ENDS].concat()
}

/// By calls and returns alone.
pub const CALLS: &str = "
run client clients a b c
double_barrier /b size 2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a enter#1 call /b
0.001 a #1 given a 0
0.002 b enter#2 call /b
0.002 b #2 given b 0
0.003 a #1 observed /b opening a,b 0
0.003 a #1 return done
0.004 b #2 observed /b opening a,b 0
0.004 b #2 return done
0.005 a leave#3 call /b
0.006 b leave#4 call /b
0.007 a #3 return done
0.008 b #4 return done
";

#[test]
fn a_calm_run_passes() {
    let run = calm();
    says(
        &run,
        "DB-1 pass, DB-2 pass, DB-3 pass, DB-4 pass, DB-6 pass, DB-7 pass, DB-8 pass, DB-9 pass, DB-10 pass",
    );
    says(&run, "all pass, DB-5 vacuous, first nothing");
    says(CALLS, "DB-1 pass, DB-2 pass, first nothing");
}

#[test]
fn nothing_is_proved_where_nobody_enters() {
    for rule in 1..=10 {
        says(HEAD, &format!("DB-{rule} vacuous"));
    }
}

// ── enter ──

#[test]
fn db_1_enough_took_part_at_one_time() {
    let alone = "
run client clients a b
double_barrier /b size 2
0.001 a enter#1 call /b
0.002 b enter#2 call /b
0.003 b #2 return refused
0.004 a #1 return done
";
    // They were two for a while.
    says(alone, "DB-1 pass");
    let after = "
run client clients a b
double_barrier /b size 2
0.002 b enter#2 call /b
0.003 b #2 return refused
0.004 a enter#1 call /b
0.005 a #1 return done
";
    says(after, "DB-1 fail, first DB-1");
    says(
        &edit(after, "0.003 b #2 return refused", "0.003 b #2 return cancelled"),
        "DB-1 unavoidable, first nothing",
    );
    says(&edit(after, "0.003 b #2 return refused", "0.003 world crash b"), "DB-1 unavoidable");
    // An earlier entry belongs to another round.
    says(&edit(after, "0.003 b #2 return refused", "0.003 b #2 return done"), "DB-1 fail");
}

#[test]
fn db_1_who_enters_was_registered() {
    let unregistered = without(&without(&calm(), "created 0x5"), "deleted 0x8 /b/0/b-member-1");
    says(&unregistered, "DB-1 fail, first DB-1");
}

#[test]
fn db_1_one_participant_counts_once() {
    let twice = "
run client clients a b
double_barrier /b size 2
0.001 a enter#1 call /b
0.001 a #1 given x 0
0.002 b enter#2 call /b
0.002 b #2 given x 0
0.004 a #1 return done
";
    says(twice, "DB-1 fail, first DB-1");
    says(&edit(twice, "#2 given x", "#2 given y"), "DB-1 pass");
}

#[test]
fn db_3_the_roster_is_of_those_who_take_part() {
    says(&CALLS.replace("a,b 0", "a,b,c 0"), "DB-3 pass");
    says(
        &CALLS.replace("0.003 a #1 observed /b opening a,b 0", "0.003 a #1 observed /b opening a 0"),
        "DB-3 fail",
    );
    let failed = "0.000 c enter#9 call /b\n0.000 c #9 given c 0\n0.000 c #9 return refused\n0.001 a enter#1";
    says(&edit(CALLS, "0.001 a enter#1", failed).replace("a,b 0", "a,b,c 0"), "DB-3 fail, first DB-3");
}

#[test]
fn db_3_whoever_opens_has_seen_enough_registered() {
    let run = [HEAD, B_OPENS].concat();
    says(&run, "DB-3 fail, DB-1 fail, first DB-3");
    let counts_wrong = "0.005 a #1 send r9 create /b/0/ready\n0.006 a #1 reply r9 node_exists 0x4\n";
    says(&[HEAD, A_JOINS, counts_wrong].concat(), "DB-3 fail, first DB-3");
}

#[test]
fn db_4_an_earlier_opening_lets_nobody_in() {
    let second = "
0.040 c enter#5 call /b
0.040 c #5 send r20 multi /b
0.041 server:0 #5 txn 0x7 s3 multi ok
0.041 server:0 #5 created 0x7 /b/0/c-member-2 s3
0.042 c #5 reply r20 ok 0x7
0.042 c #5 send r21 get /b/0/ready
0.043 c #5 reply r21 ok 0x7
0.043 c #5 return done
";
    says(&[HEAD, A_JOINS, B_OPENS, A_IS_IN, second].concat(), "DB-4 fail, DB-1 fail, first DB-4");
    says(
        &CALLS.replace("0.003 a #1 observed /b opening a,b 0", "0.003 a #1 observed /b opening b,c 0"),
        "DB-4 fail",
    );
}

#[test]
fn db_7_who_was_counted_is_not_refused() {
    let run = [HEAD, A_JOINS, B_OPENS].concat();
    says(&[&run, "0.020 a #1 return refused\n"].concat(), "DB-7 fail, first DB-7");
    says(&[&run, "0.020 a #1 return unknown\n"].concat(), "DB-7 pass");
    // A foreign client writes the record, or a znode beside it.
    let written = |path: &str| {
        format!(
            "0.016 c fault foreign_write c\n0.016 server:0 txn 0x9 s3 set ok\n0.016 server:0 written 0x9 {path}\n"
        )
    };
    for (path, verdict) in [("/b", "pass"), ("/b/0", "pass"), ("/b/0/ready", "pass"), ("/b/1", "fail")] {
        let run = [&run, &*written(path), "0.020 a #1 return refused\n"].concat();
        says(&run, &format!("DB-7 {verdict}"));
    }
}

#[test]
fn db_9_no_other_event_lets_in() {
    let lost = "0.008 a state s1 suspended\n0.008 a #1 return done\n";
    says(&[HEAD, A_JOINS, lost].concat(), "DB-9 fail, DB-1 fail, first DB-9");
}

// ── leave ──

#[test]
fn db_2_nobody_is_out_while_another_is_inside() {
    says(
        &without(CALLS, "leave#4").replace("0.008 b #4 return done\n", ""),
        "DB-2 fail, DB-9 fail, first DB-9",
    );
    let dies = without(CALLS, "leave#4").replace("0.008 b #4 return done\n", "");
    says(&edit(&dies, "0.007 a #3", "0.006 world crash b\n0.007 a #3"), "DB-2 pass");
    says(&edit(&dies, "0.007 a #3", "0.006 b state s2 expired\n0.007 a #3"), "DB-2 pass");
    let early = [HEAD, A_JOINS, B_OPENS, A_IS_IN, A_LEAVES, "0.022 a #3 return done\n"].concat();
    says(&early, "DB-2 fail, DB-9 pass, first DB-2");
}

#[test]
fn db_9_an_event_alone_lets_nobody_out() {
    let early = "0.023 a #3 notice s1 created /b/0/ready\n0.023 a #3 return done\n";
    says(&[HEAD, A_JOINS, B_OPENS, A_IS_IN, A_LEAVES, early].concat(), "DB-9 fail, DB-2 fail, first DB-9");
}

// ── progress, cost, leaks ──

#[test]
fn db_6_who_waits_has_something_to_wake_it() {
    let run = [HEAD, &without(A_JOINS, "arm s1"), "0.100 b state s2 connected\n"].concat();
    says(&run, "DB-6 fail, first DB-6");
    let leaves = A_IS_IN.replace("0.014 server:0 #1 arm s1 data /b/0/ready\n", "");
    let run = [HEAD, A_JOINS, B_OPENS, &leaves, A_LEAVES, "0.100 b state s2 connected\n"].concat();
    says(&run, "DB-6 fail, first DB-6");
}

#[test]
fn db_6_enough_who_wait_enter() {
    let b_joins = B_OPENS.split("0.012 b #2 send").next().unwrap_or_default();
    let watches =
        "0.012 b #2 send r4 get /b watch\n0.012 server:0 #2 arm s2 data /b\n0.013 b #2 reply r4 ok 0x5\n";
    let run = [HEAD, A_JOINS, b_joins, watches, "20.000 c state s3 connected\n"].concat();
    says(&run, "DB-6 fail, first DB-6");
    says(&[HEAD, A_JOINS, "20.000 c state s3 connected\n20.001 world quiesce\n"].concat(), "DB-6 pass");
}

#[test]
fn db_6_who_was_counted_enters() {
    let told = "20.000 c state s3 connected\n";
    let deaf = [
        HEAD,
        A_JOINS,
        B_OPENS,
        "0.014 a #1 notice s1 data_changed /b\n",
        "0.015 server:0 #1 arm s1 data /b\n",
        told,
    ]
    .concat();
    says(&deaf, "DB-6 fail, first DB-6");
    // All znodes were deleted before a has read them, and a waits in the next round.
    let taken_away = [
        HEAD,
        A_JOINS,
        B_OPENS,
        "0.016 c fault foreign_delete c\n",
        "0.016 server:0 txn 0x7 s3 multi ok\n",
        "0.016 server:0 deleted 0x7 /b/0/ready by s3\n",
        "0.016 server:0 deleted 0x7 /b/0/a-member-0 by s3\n",
        "0.017 a #1 send r9 multi /b\n",
        "0.018 server:0 #1 txn 0x8 s1 multi ok\n",
        "0.018 server:0 #1 created 0x8 /b/1/a-member-0 s1\n",
        "0.018 server:0 #1 arm s1 data /b\n",
        "0.019 a #1 reply r9 ok 0x8\n",
        told,
    ]
    .concat();
    says(&[&taken_away, "20.001 world quiesce\n"].concat(), "DB-6 pass");
    says(&without(&taken_away, "fault"), "DB-6 fail");
}

#[test]
fn db_5_who_comes_late_is_told() {
    let once = edit(HEAD, "size 2", "size 2 once");
    let late = "
0.040 c enter#5 call /b
0.041 c #5 send r20 get /b watch
0.042 server:0 #5 arm s3 data /b
0.043 c #5 reply r20 ok 0x6
20.000 a state s1 connected
";
    let run = [&once, A_JOINS, B_OPENS, A_IS_IN, late].concat();
    says(&run, "DB-5 fail");
    says(&edit(&run, "20.000 a", "0.044 c #5 return refused\n20.000 a"), "DB-5 pass");
    // A znode created at the barrier's path is another barrier.
    let gone = |at: &str| format!("{at} server:0 txn 0x7 s9 multi ok\n{at} server:0 deleted 0x7 /b by s9\n");
    says(&edit(&run, "0.040 c", &format!("{}0.040 c", gone("0.039"))), "DB-5 pass");
    let before = [&once, A_JOINS, &gone("0.007"), B_OPENS, A_IS_IN, late].concat();
    says(&before, "DB-5 fail");
}

#[test]
fn db_8_who_comes_or_goes_wakes_one() {
    let two = "0.013 server:0 #2 fire s3 data_changed /b 0x6\n";
    says(&edit(&calm(), "0.014 b #2 reply", &format!("{two}0.014 b #2 reply")), "DB-8 pass");
    let waits = "0.005 c enter#9 call /b\n0.005 c #9 send r30 get /b\n0.006 c #9 reply r30 ok 0x4\n";
    let all = "0.011 server:0 #2 fire s1 children_changed /b/0 0x5\n0.011 server:0 #2 fire s3 children_changed /b/0 0x5\n";
    let run = [HEAD, A_JOINS, waits, &edit(B_OPENS, "0.012 b #2 reply", &format!("{all}0.012 b #2 reply"))]
        .concat();
    says(&run, "DB-8 fail");
}

#[test]
fn db_10_nothing_is_left() {
    says(&without(&calm(), "deleted 0x7"), "DB-10 fail");
    let gives_up = [HEAD, A_JOINS, "0.005 a #1 return refused\n", ENDS].concat();
    says(&gives_up, "DB-10 fail, first DB-10");
    let run = edit(
        &gives_up,
        "0.005 a",
        "0.005 server:0 txn 0x5 s1 delete ok\n0.005 server:0 deleted 0x5 /b/0/a-member-0 by s1\n0.005 a",
    );
    says(&run, "DB-10 fail, first DB-10");
    says(&edit(&run, "0.005 a", "0.005 server:0 disarm s1 data /b\n0.005 a"), "DB-10 pass, first nothing");
}
