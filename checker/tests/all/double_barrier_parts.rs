//! Double barriers: participants, counts, liveness, and remains.

use crate::common::*;
use crate::double_barrier::{A_IS_IN, A_JOINS, A_LEAVES, B_OPENS, CALLS, ENDS, HEAD};
use zk_checker::{RuleId, RuleSet, judge};

/// Time passes.
const LATER: &str = "20.000 c state s3 connected\n20.000 world quiesce\n";

/// b has opened the barrier, and has not yet returned.
fn b_has_opened() -> String {
    let returns = "0.014 b #2 observed /b opening a,b 0\n0.014 b #2 return done\n";
    [HEAD, A_JOINS, &edit(B_OPENS, returns, "")].concat()
}

// ── participants that were counted ──

/// The znode of a is deleted before the opening for b and c.
fn opens_without_a() -> String {
    let c_joins = "
0.005 server:0 txn 0x5 s1 delete ok
0.005 server:0 deleted 0x5 /b/0/a-member-0 by s1
0.006 c enter#9 call /b
0.006 c #9 given c 0
0.006 c #9 send r30 multi /b
0.007 server:0 #9 txn 0x6 s3 multi ok
0.007 server:0 #9 created 0x6 /b/0/c-member-1 s3
0.007 server:0 #9 arm s3 data /b
0.008 c #9 reply r30 ok 0x6
";
    let b_opens = B_OPENS.replace("0x6", "0x8").replace("0x5", "0x7").replace("b-member-1", "b-member-2");
    let c_is_in = "0.014 c #9 observed /b opening b,c 0\n0.014 c #9 return done\n";
    [HEAD, A_JOINS, c_joins, &b_opens.replace("a,b 0", "b,c 0"), c_is_in].concat()
}

#[test]
fn db_4_whose_znode_has_gone_was_not_counted() {
    let told = "0.014 a #1 notice s1 data_changed /b\n";
    says(&[&opens_without_a(), told, "0.015 a #1 return done\n"].concat(), "DB-4 fail, first DB-4");
    says(&[&opens_without_a(), "0.015 a #1 return refused\n"].concat(), "DB-7 pass");
    // It waits for the next round.
    let waits = "0.015 server:0 #1 arm s1 data /b\n";
    says(&[&opens_without_a(), told, waits, LATER].concat(), "DB-6 pass");
}

#[test]
fn db_4_and_7_what_opens_may_stand_beside_the_round() {
    let opens = B_OPENS.replace("/b/0/ready", "/b/ready");
    let is_in = A_IS_IN.replace("/b/0/ready", "/b/ready");
    says(&[HEAD, A_JOINS, &opens, &is_in].concat(), "DB-4 pass, DB-7 pass, first nothing");
    says(&[HEAD, A_JOINS, &opens, "0.020 a #1 return refused\n"].concat(), "DB-7 fail, first DB-7");
}

#[test]
fn db_4_an_earlier_opening_counts_until_it_is_gone() {
    let run = [HEAD, A_JOINS, B_OPENS, A_IS_IN].concat();
    let second = "
0.040 c enter#5 call /b
0.041 c #5 send r20 multi /b
0.042 server:0 #5 txn 0x8 s3 multi ok
0.042 server:0 #5 created 0x8 /b/1/c-member-2 s3
0.043 c #5 reply r20 ok 0x8
0.044 c #5 return done
";
    let gone = |at: &str| {
        format!("{at} server:0 txn 0x7 s2 delete ok\n{at} server:0 deleted 0x7 /b/0/ready by s2\n")
    };
    says(&[&run, second].concat(), "DB-4 fail");
    says(&[&run, &*gone("0.039"), second].concat(), "DB-4 pass");
    let during = edit(second, "0.041 c #5 send", &format!("{}0.041 c #5 send", gone("0.041")));
    says(&[&run, &*during].concat(), "DB-4 fail");
}

#[test]
fn db_7_a_foreign_client_may_take_as_many_znodes_as_it_announces() {
    let gone = |znode: &str, by: &str| format!("0.016 server:0 deleted 0x7 /b/0/{znode} by {by}\n");
    let announced = "0.015 world fault foreign_delete a\n";
    let (a_gone, b_gone) = (gone("a-member-0", "s3"), gone("b-member-1", "s3"));
    let own = gone("a-member-0", "s1");
    for (fault, gone, refused, verdict) in [
        (announced, a_gone.clone(), "a #1", "pass"),
        ("", a_gone.clone(), "a #1", "fail"),
        ("0.015 world fault disconnect a\n", a_gone.clone(), "a #1", "fail"),
        (announced, own, "a #1", "fail"),
        // Of two deletes the first is the announced one.
        (announced, [&*a_gone, &b_gone].concat(), "a #1", "pass"),
        (announced, [&*a_gone, &b_gone].concat(), "b #2", "fail"),
    ] {
        let run = [&b_has_opened(), fault, &gone, "0.020 ", refused, " return refused\n"].concat();
        says(&run, &format!("DB-7 {verdict}"));
    }
}

#[test]
fn db_1_who_died_inside_may_be_counted_while_its_znode_lasts() {
    let run = "
run client clients a b c d e
double_barrier /b size 3
0.001 a enter#1 call /b
0.001 b enter#2 call /b
0.001 d enter#4 call /b
0.002 b #2 return refused
0.002 d #4 return refused
0.003 c enter#3 call /b
0.004 a #1 return done
0.005 world crash a
0.006 e enter#5 call /b
0.007 c #3 return done
";
    says(run, "DB-1 unavoidable, first nothing");
    says(&without(run, "crash"), "DB-1 pass");
    let much_later = edit(run, "0.006 e", "0.005 world heal\n9.000 e").replace("0.007 c", "9.001 c");
    says(&much_later, "DB-1 fail, first DB-1");
}

// ── participants that remain ──

#[test]
fn db_2_whose_session_is_over_is_out() {
    let gone = "
0.023 server:0 txn 0x8 s2 close_session ok
0.023 server:0 deleted 0x8 /b/0/b-member-1 by s2
";
    let leaves = "
0.024 a #3 send r8 children /b/0
0.025 a #3 reply r8 ok 0x8
0.026 a #3 return done
";
    let run = [HEAD, A_JOINS, B_OPENS, A_IS_IN, A_LEAVES, gone].concat();
    says(&[&run, leaves].concat(), "DB-2 fail");
    says(&[&run, "0.023 server:0 ended s2 0x8\n", leaves].concat(), "DB-2 pass");
    says(&[&run, "0.023 b state s2 expired\n", leaves].concat(), "DB-2 pass");
}

#[test]
fn db_6_a_leave_waits_no_longer_than_the_bound_for_the_dead() {
    let dies = "0.018 world crash b\n";
    let run = [HEAD, A_JOINS, B_OPENS, A_IS_IN, dies, A_LEAVES, "0.030 world heal\n"].concat();
    says(&[&run, "4.530 c state s3 connected\n4.530 world quiesce\n"].concat(), "DB-6 pass");
    says(&[&run, LATER].concat(), "DB-6 fail, first DB-6");
}

// ── progress ──

#[test]
fn db_6_who_stands_still_need_not_enter() {
    let later = "
0.0141 world fault client_pause a
0.015 world heal
20.000 c state s3 connected
20.100 world mended client_pause a
20.100 a #1 notice s1 data_changed /b
20.100 a #1 observed /b opening a,b 0
20.100 a #1 return done
20.200 world quiesce
";
    says(&[HEAD, A_JOINS, B_OPENS, later].concat(), "DB-6 pass");
}

#[test]
fn db_6_who_is_in_a_roster_enters_with_those_who_have_it() {
    let inside = CALLS.split("0.005 a leave").next().expect("it is there");
    let c_calls = "0.002 c enter#9 call /b\n0.002 c #9 given c 0\n";
    let later = "20.000 a state s1 connected\n20.000 world quiesce\n";
    let before =
        [&*edit(inside, "0.003 a #1 observed", &format!("{c_calls}0.003 a #1 observed")), later].concat();
    says(&before, "DB-6 pass");
    says(&before.replace("a,b 0", "a,b,c 0"), "DB-6 fail, first DB-6");
    // A call after their entry is not counted, even if the roster names the client.
    let after = [inside, &c_calls.replace("0.002", "0.006"), later].concat();
    says(&after.replace("a,b 0", "a,b,c 0"), "DB-6 pass");
}

#[test]
fn db_6_who_counts_for_itself_counts_whose_znodes_are_there() {
    // The znode of c is deleted before b registers: b and a are the two.
    let run = "
0.001 c enter#9 call /b
0.001 c #9 send r30 multi /b
0.001 server:0 #9 txn 0x4 s3 multi ok
0.001 server:0 #9 created 0x4 /b/0/c-member-0 s3
0.002 server:0 #9 txn 0x5 s3 delete ok
0.002 server:0 #9 deleted 0x5 /b/0/c-member-0 by s3
0.003 c #9 return cancelled
0.004 b enter#2 call /b
0.004 b #2 send r3 multi /b
0.005 server:0 #2 txn 0x6 s2 multi ok
0.005 server:0 #2 created 0x6 /b/0/b-member-1 s2
0.006 server:0 #2 arm s2 child /b/0
0.006 b #2 reply r3 ok 0x6
0.007 a enter#1 call /b
0.007 a #1 send r1 multi /b
0.008 server:0 #1 txn 0x7 s1 multi ok
0.008 server:0 #1 created 0x7 /b/0/a-member-2 s1
0.008 server:0 #1 arm s1 child /b/0
0.009 a #1 reply r1 ok 0x7
0.010 b #2 return done
";
    let report = report(&[HEAD, run, LATER].concat());
    assert!(report.to_string().contains("because  b of its generation entered"), "{report}");
}

// ── cost ──

#[test]
fn db_8_what_is_written_to_a_participant_wakes_one() {
    let c_waits = "0.005 c enter#9 call /b\n0.005 c #9 send r30 get /b\n0.006 c #9 reply r30 ok 0x4\n";
    let written = |path: &str| {
        format!(
            "
0.007 server:0 txn 0x5 s2 set ok
0.007 server:0 written 0x5 {path}
0.007 server:0 fire s1 data_changed {path} 0x5
0.007 server:0 fire s3 data_changed {path} 0x5
"
        )
    };
    says(&[HEAD, A_JOINS, c_waits, &written("/b/0/a-member-0")].concat(), "DB-8 fail");
    // A write of the barrier itself opens a round, or closes it.
    says(&[HEAD, A_JOINS, c_waits, &written("/b")].concat(), "DB-8 pass");
}

#[test]
fn db_8_eight_requests_and_four_more_a_wake_up() {
    let reads = |times: u32| -> String {
        let read = |number| format!("0.005 a #1 send r{number} get /b\n0.005 a #1 reply r{number} ok 0x4\n");
        (50..50 + times).map(read).collect()
    };
    // It has sent two requests.
    let run = [HEAD, A_JOINS].concat();
    says(&[&run, &*reads(6)].concat(), "DB-8 pass");
    says(&[&run, &*reads(7)].concat(), "DB-8 fail");
    let woken = "0.004 server:0 fire s1 data_changed /b 0x4\n0.004 a #1 notice s1 data_changed /b\n";
    says(&[&run, woken, &*reads(10)].concat(), "DB-8 pass");
    says(&[&run, woken, &*reads(11)].concat(), "DB-8 fail");
}

// ── what is left ──

#[test]
fn db_10_a_znode_goes_within_the_bound_or_with_its_session() {
    let gives_up = [HEAD, &without(A_JOINS, "arm s1"), "0.005 a #1 return refused\n"].concat();
    says(&[&gives_up, "4.514 c state s3 connected\n"].concat(), "DB-10 vacuous");
    says(&[&gives_up, "4.515 c state s3 connected\n"].concat(), "DB-10 fail");
    says(&[&gives_up, "0.006 a state s1 expired\n", ENDS].concat(), "DB-10 pass");
}

#[test]
fn db_10_a_watch_of_a_former_connection_is_not_left() {
    let gives_up = "
0.005 server:0 txn 0x5 s1 delete ok
0.005 server:0 deleted 0x5 /b/0/a-member-0 by s1
0.005 a #1 return refused
";
    let moves = "0.006 a state s1 suspended\n0.007 a state s1 connected\n";
    says(&[HEAD, A_JOINS, gives_up, moves, ENDS].concat(), "DB-10 pass");
    says(&[HEAD, A_JOINS, gives_up, ENDS].concat(), "DB-10 fail");
}

#[test]
fn db_10_in_a_capture_a_last_listing_tells_what_is_left() {
    let head = "
run client clients a b
double_barrier /b size 2
0.000 a state s1 connected
0.000 b state s2 connected
";
    let enters = "0.001 a enter#1 call /b\n0.002 b enter#2 call /b\n";
    let inside = "0.003 a #1 return done\n0.003 b #2 return done\n";
    let leaves = "0.005 a leave#3 call /b\n";
    let over = "0.006 a #3 return unknown\n";
    let left = "0.010 world left /b /b/0/a-member-0 s1\n";
    // A client that enters, is inside or leaves may have a znode there.
    for parts in [&[enters][..], &[enters, inside], &[enters, inside, leaves]] {
        says(&[head, &parts.concat(), left].concat(), "DB-10 pass");
    }
    for parts in [&[][..], &[enters, inside, leaves, over]] {
        // It is reported once, however often it is listed.
        let run = [head, &parts.concat(), left, left].concat();
        says(&run, "DB-10 fail, first DB-10");
        assert_eq!(judge(&history(&run), &RuleSet::only(&[RuleId::Db10])).metrics.leaks, 1);
    }
    // It is deleted with its session, or its owner is unknown.
    says(&[head, "0.009 a state s1 expired\n", left].concat(), "DB-10 vacuous");
    says(&[head, &edit(left, "s1", "s0")].concat(), "DB-10 vacuous");
    // Only the world lists.
    says(&[head, &edit(left, "world left", "a left")].concat(), "DB-10 vacuous");
}
