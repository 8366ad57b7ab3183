//! The excuses for two simultaneous beliefs, and their windows: MX-2.

use crate::common::*;

/// A foreign client deletes the first holder's znode, and the next one is granted.
const GONE: &str = "
0.100 world fault foreign_delete a
0.100 server:0 txn 0x5 s0 delete ok
0.100 server:0 deleted 0x5 /lock/a-0 by s0
0.100 server:0 fire s2 deleted /lock/a-0 0x5
0.101 b #2 notice s2 deleted /lock/a-0
0.101 b #2 send r7 children /lock
0.103 b #2 reply r7 ok 0x5
0.103 b #2 believe /lock s2 token 0x4
";

#[test]
fn a_pause_that_comes_later_is_not_the_cause() {
    let later = "
0.104 world fault client_pause a lasts 0.006
0.110 world mended client_pause a
0.110 a notice s1 deleted /lock/a-0
0.110 a #1 unbelieve lost
";
    let text = [HEAD, A_HOLDS, B_WAITS, GONE, later].concat();
    says(&text, "MX-2 unavoidable, first nothing");
    let report = report(&text);
    let told = |what: &str| report.findings.iter().any(|found| found.text.contains(what));
    assert!(told("excused: a foreign client deleted its znode at"), "{report}");
    assert!(!told("was paused"), "{report}");
}

/// In a capture the first client still believes when the second one is granted.
const CAPTURE: &str = "
run client clients a b
lock /lock
0.000 a acquire#1 call /lock
0.000 b acquire#2 call /lock
0.000 b #2 send r1 children /lock
0.001 a #1 believe /lock s1 token 0x3
1.400 b #2 reply r1 ok 0x4
1.500 b #2 believe /lock s2 token 0x4
2.000 a #1 unbelieve lost
";

#[test]
fn in_a_capture_a_foreign_delete_that_was_announced_excuses() {
    says(CAPTURE, "MX-2 fail");
    let announced = edit(CAPTURE, "1.400 b", "1.000 world fault foreign_delete a\n1.400 b");
    says(&announced, "MX-2 unavoidable");
}

#[test]
fn where_nothing_takes_time_to_settle_a_pause_excuses_until_its_end() {
    let paused = edit(CAPTURE, "1.400 b", "1.000 world fault client_pause a lasts 1\n1.400 b");
    let mended = edit(&paused, "2.000 a", "2.000 world mended client_pause a\n2.000 a");
    let sharp = edit(&mended, "run client", "run client settle 0");
    says(&sharp, "MX-2 unavoidable");
    says(&edit(&sharp, "2.000 a", "2.001 a"), "MX-2 fail");
}

#[test]
fn who_was_answered_what_the_leader_has_heard_is_not_excused() {
    let expires = "
1.500 a send r9 sync /lock
1.501 a reply r9 ok 0x4
5.000 server:0 marked s1 heard 1.5
5.000 server:0 txn 0x5 s1 close_session ok
5.000 server:0 deleted 0x5 /lock/a-0 by s1
5.000 server:0 ended s1 0x5
5.000 server:0 fire s2 deleted /lock/a-0 0x5
5.001 b #2 notice s2 deleted /lock/a-0
5.001 b #2 send r7 children /lock
5.003 b #2 reply r7 ok 0x5
5.003 b #2 believe /lock s2 token 0x4
5.010 a #1 unbelieve lost
";
    let run = [HEAD, A_HOLDS, B_WAITS, expires].concat();
    says(&run, "MX-2 fail");
    says(&edit(&run, "heard 1.5", "heard 1.499"), "MX-2 unavoidable");
}

#[test]
fn mx_5_a_downgrade_of_what_is_not_known_to_be_held_has_no_token_to_keep() {
    let run = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a
shared_lock /s stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 a state s1 connected
0.001 a downgrade#1 call /s
0.001 a #1 send r1 multi /s
0.002 server:0 #1 txn 0x3 s1 multi ok
0.002 server:0 #1 created 0x3 /s/a-0 s1
0.003 a #1 reply r1 ok 0x3
0.003 a #1 believe /s s1 token 0x3
";
    says(run, "MX-5 pass");
}
