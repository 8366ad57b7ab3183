//! The excuses of a holder, and their limits: servers with faults, pauses, third parties, up to the exact must-stop
//! instant.

use crate::common::ensemble::{A_HOLDS as A_HOLDS_AT_1, B_WAITS as B_WAITS_AT_2, ENSEMBLE};
use crate::common::*;
use crate::revocation::FORCED;

/// The holder's session expires, with its last touch at five seconds, and the holder still believes.
const EXPIRES: &str = "
9.300 server:0 marked s1 heard 5
9.301 server:0 txn 0x6 s1 close_session ok
9.301 server:0 deleted 0x6 /lock/a-0000000000 by s1
9.301 server:0 ended s1 0x6
9.301 server:2 applied 0x6
9.301 server:2 fire s2 deleted /lock/a-0000000000 0x6 conn 2
9.302 b #2 notice s2 deleted /lock/a-0000000000 conn 2
9.302 b #2 send r7 children /lock
9.304 b #2 reply r7 ok 0x6 conn 2
9.304 b #2 believe /lock s2 token 0x5
9.304 b #2 return done
9.600 a state s1 suspended
9.600 a #1 unbelieve lost
";

#[test]
fn mx_2_a_server_excuses_as_long_as_it_is_in_trouble() {
    for (trouble, verdict) in [
        ("", "fail"),
        ("1.0 world fault server_partition server:1 lasts 9", "unavoidable"),
        // From half a second before the leader's last touch of the client.
        (
            "1.0 world fault server_partition server:1 lasts 9\n4.6 world mended server_partition server:1",
            "unavoidable",
        ),
        (
            "1.0 world fault server_partition server:1 lasts 9\n4.4 world mended server_partition server:1",
            "fail",
        ),
        // Until the last of its faults is over.
        (
            "1.0 world fault server_partition server:1 lasts 9\n1.1 world fault server_pause server:1 lasts 9\n\
             4.0 world mended server_partition server:1",
            "unavoidable",
        ),
        (
            "1.0 world fault server_partition server:1 lasts 9\n1.1 world fault server_pause server:1 lasts 9\n\
             4.0 world mended server_partition server:1\n4.1 world mended server_pause server:1",
            "fail",
        ),
        // A fault of an instant.
        ("4.4 world fault link_cut server:1", "fail"),
        ("4.6 world fault link_cut server:1", "unavoidable"),
        // A link has two ends.
        ("4.6 world fault link_cut link:1:2", "unavoidable"),
        ("4.6 world fault link_cut link:2:1", "unavoidable"),
        ("4.6 world fault link_cut link:2:3", "fail"),
        ("4.6 world fault link_cut server:2", "fail"),
        // A server that is not serving passes no touch on.
        ("4.0 server:1 ceased", "unavoidable"),
        ("4.0 server:1 ceased\n4.1 server:1 serving", "fail"),
        (
            "3.9 world fault server_pause server:1 lasts 9\n4.0 server:1 ceased\n\
             4.1 world mended server_pause server:1",
            "unavoidable",
        ),
    ] {
        let run = [ENSEMBLE, A_HOLDS_AT_1, B_WAITS_AT_2, trouble, EXPIRES].concat();
        says(&run, &format!("MX-2 {verdict}"));
    }
}

#[test]
fn mx_2_trouble_from_the_beginning_is_trouble() {
    let cut = "0.000 world fault server_partition server:1 lasts 20\n0.000 server:0 txn 0x1";
    let run = [&edit(ENSEMBLE, "0.000 server:0 txn 0x1", cut), A_HOLDS_AT_1, B_WAITS_AT_2, EXPIRES].concat();
    says(&run, "MX-2 unavoidable");
}

#[test]
fn mx_14_to_the_instant() {
    for (manner, run, verdict) in [
        // It could not act before the pause: the settle time was not over.
        (
            "stop",
            "2.0 a state s1 suspended\n2.001 world fault client_pause a lasts 1\n3.0 world mended client_pause a\n3.0 a #1 unbelieve lost",
            "unavoidable",
        ),
        (
            "stop",
            "2.0 a state s1 suspended\n2.0011 world fault client_pause a lasts 1\n3.0 world mended client_pause a\n3.0 a #1 unbelieve lost",
            "fail",
        ),
        // An event less than the settle time before the end of a pause was not delayed by it.
        (
            "stop",
            "2.0 world fault client_pause a lasts 1\n3.0 a state s1 suspended\n3.0 world mended client_pause a\n3.0 a #1 unbelieve lost",
            "pass",
        ),
        (
            "stop",
            "2.0 world fault client_pause a lasts 1\n2.999 a state s1 suspended\n3.0 world mended client_pause a\n3.0 a #1 unbelieve lost",
            "pass",
        ),
        (
            "stop",
            "2.0 world fault client_pause a lasts 1\n2.9989 a state s1 suspended\n3.0 world mended client_pause a\n3.0 a #1 unbelieve lost",
            "unavoidable",
        ),
        // Its deadline passes in the pause.
        (
            "until_deadline",
            "2.0 a state s1 suspended\n5.0 world fault client_pause a lasts 2\n7.0 world mended client_pause a\n7.0 a #1 unbelieve lost",
            "unavoidable",
        ),
        (
            "until_deadline",
            "2.0 a state s1 suspended\n5.0 world fault client_pause a lasts 2\n7.0 world mended client_pause a\n7.0011 a #1 unbelieve lost",
            "fail",
        ),
        // Its own delete leaves no settle time, not even at its deadline.
        ("until_deadline", "2.0 a state s1 suspended\n5.6005 a #1 unbelieve lost", "pass"),
        (
            "until_deadline",
            "2.0 a state s1 suspended\n5.6 a #1 send r9 delete /lock/a-0 cleanup\n5.6005 a #1 unbelieve lost",
            "fail",
        ),
        // The leader may have heard of it a tick after the request of the last answer was sent.
        (
            "stop",
            "3.0 world fault client_pause a lasts 3\n5.51 server:0 marked s1 heard 1.5\n5.59 world mended client_pause a\n5.595 a #1 unbelieve lost",
            "vacuous",
        ),
        (
            "stop",
            "3.0 world fault client_pause a lasts 3\n5.51 server:0 marked s1 heard 1.5\n5.61 world mended client_pause a\n5.61 a #1 unbelieve lost",
            "unavoidable",
        ),
        (
            "stop",
            "3.0 world fault client_pause a lasts 3\n5.51 server:0 marked s1 heard 1.5\n5.61 world mended client_pause a\n5.62 a #1 unbelieve lost",
            "fail",
        ),
    ] {
        let run = [&HEAD.replace("/lock stop", &format!("/lock {manner}")), A_HOLDS, run].concat();
        says(&run, &format!("MX-14 {verdict}"));
    }
}

#[test]
fn mx_4_a_disconnect_within_the_time_to_settle_may_have_come_after_the_decision() {
    for (at, verdict) in [("0.0045", "pass"), ("0.0046", "fail")] {
        let suspended = format!("0.0035 a state s1 suspended\n{at} a #1 believe");
        let run = edit(&[HEAD, A_HOLDS].concat(), "0.003 a #1 believe", &suspended);
        let run = edit(&run, "0.003 a #1 return", &format!("{at} a #1 return"));
        says(&run, &format!("MX-4 {verdict}"));
    }
}

#[test]
fn mx_8_what_is_suspended_ends_with_its_session() {
    let suspended = "1.0 a state s1 suspended\n1.0 a #1 unbelieve suspect\n";
    let later = "2.1 world heal\n9.0 world mended disconnect a\n";
    let run = |ends: &str| [HEAD, A_HOLDS, B_WAITS, suspended, ends, later].concat();
    says(&run("2.0 a state s1 expired\n"), "MX-8 fail");
    says(&run(""), "MX-8 unknown");
}

/// The second client, which waits, deletes the contender ahead of it, and is granted.
const B_REMOVES: &str = "
0.021 server:0 #2 txn 0x5 s2 delete ok
0.021 server:0 #2 deleted 0x5 /lock/a-0 by s2
0.021 server:0 #2 fire s2 deleted /lock/a-0 0x5
0.022 b #2 notice s2 deleted /lock/a-0
";

#[test]
fn who_removes_another_one_has_no_excuse() {
    let run = [HEAD, A_HOLDS, B_WAITS, B_REMOVES, B_HOLDS].concat();
    says(&run, "MX-10 fail, first MX-10, MX-2 fail, MX-3 fail");
}

#[test]
fn mx_10_a_third_party_acts_in_the_name_of_no_operation() {
    let announced = "0.015 world fault foreign_delete b\n";
    let sends = |op: &str| format!("0.020 b {op}send r9 delete /lock/a-0\n");
    let removes = B_REMOVES.replace("server:0 #2 txn", "server:0 txn").replace("#2 deleted", "deleted");
    let run = |op: &str| [HEAD, A_HOLDS, B_WAITS, announced, &sends(op), &removes].concat();
    says(&run(""), "MX-10 pass");
    says(&run("#2 "), "MX-10 fail");
}

#[test]
fn mx_10_who_takes_its_own_is_no_third_party() {
    // A znode that is not ephemeral belongs to its creator, and the announced delete is still due.
    let stays = A_HOLDS.replace("created 0x3 /lock/a-0 s1", "created 0x3 /lock/a-0 s0");
    let stays = &stays[..stays.find("0.003 a #1 believe").expect("a belief")];
    let own = "
0.015 a #1 return cancelled
0.016 world fault foreign_delete b
0.017 server:0 txn 0x5 s1 delete ok
0.017 server:0 deleted 0x5 /lock/a-0 by s1
";
    let other = "0.018 server:0 txn 0x6 s9 delete ok\n0.018 server:0 deleted 0x6 /lock/b-1 by s9\n";
    says(&[HEAD, stays, B_WAITS, own, other].concat(), "MX-10 pass");
    let again = [HEAD, stays, B_WAITS, &without(own, "foreign_delete"), other].concat();
    says(&again, "MX-10 fail");
}

#[test]
fn a_hold_of_one_object_is_not_given_back_at_another() {
    let two = HEAD.replace("fenced\n", "fenced\nlock /other stop\n");
    let hasty = "0.016 b #2 believe /lock s2 token 0x4\n";
    let run =
        |path: &str| [&two, A_HOLDS, B_WAITS, &format!("0.015 a release#9 call {path}\n"), hasty].concat();
    says(&run("/other"), "MX-2 fail, MX-3 fail");
    says(&run("/lock"), "MX-2 pass, MX-3 pass");
}

#[test]
fn what_is_believed_and_ends_twice_is_malformed() {
    let run = |ends: &str| [HEAD, A_HOLDS, "1.0 a state s1 suspended\n", ends].concat();
    says(&run("1.0 a #1 unbelieve suspect\n1.1 a #1 unbelieve suspect\n1.2 a #1 unbelieve lost\n"), "W pass");
    let twice = run("1.0 a #1 unbelieve suspect\n1.1 a #1 unbelieve lost\n1.2 a #1 unbelieve lost\n");
    says(&twice, "malformed");
    assert!(report(&twice).findings[0].text.contains("#1 ends its belief a second time"));
}

#[test]
fn zk_7_while_a_server_stands_still_nobody_need_expire() {
    let attached = edit(ENSEMBLE, "0.001 b state s2", "0.001 server:2 attached s2 conn 2\n0.001 b state s2");
    let gone = "1.000 world crash b\n";
    let run = |fault: &str| [&attached, gone, fault, "7.600 world mended disconnect a\n"].concat();
    says(&run(""), "ZK-7 fail");
    let paused = "1.001 world fault server_pause server:0 lasts 1\n";
    says(&run(paused), "ZK-7 pass, first nothing");
    says(&run(&[paused, "2.001 world mended server_pause server:0\n"].concat()), "ZK-7 fail");
}

#[test]
fn rw_1_in_a_capture_who_is_made_to_go_by_a_transaction_may_believe_until_it_is_told() {
    let forced = &edit(FORCED, "send r3 delete /r/a-0", "send r3 multi /r/a-0");
    says(forced, "RW-1 unavoidable");
    says(&edit(forced, "send r3 multi /r/a-0", "send r3 multi /r"), "RW-1 fail");
}

/// A client that deletes the remains of its own earlier operation forces no other client.
#[test]
fn mx_3_who_forces_its_own_is_no_excuse() {
    let word = zk_checker::digest::data(Some(b"unlock"));
    let run = |by: &str| {
        format!(
            "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
priority_lock /p stop margin 0.4 budget 6 2 1 4 grace 0.1 forced
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.001 c acquire#5 call /p
0.002 server:0 #5 txn 0x4 s3 create ok
0.002 server:0 #5 created 0x4 /p/line/c-0 s3
0.003 c #5 return cancelled
0.010 c force#3 call /p
0.010 c #3 given /p/line/c-0 0
0.010 server:0 #3 txn 0x5 {by} set ok
0.010 server:0 #3 written 0x5 /p/line/c-0
0.010 server:0 #3 data 6 {word:#x}
0.500 server:0 #3 txn 0x6 {by} delete ok
0.500 server:0 #3 deleted 0x6 /p/line/c-0 by {by}
0.600 a acquire#1 call /p
0.600 a #1 believe /p s1 token 0x7
0.600 b acquire#2 call /p
0.600 b #2 believe /p s2 token 0x8
"
        )
    };
    says(&run("s3"), "MX-3 fail");
    says(&run("s2"), "MX-3 vacuous");
}
