//! The remains of operations that are over: MX-11 and MX-12.

use crate::common::*;
use std::fmt::Write;

const LATER: &str = "0.100 world heal\n9.000 b state s2 connected\n";

#[test]
fn mx_12_a_dropped_hold_gives_its_znode_back() {
    let dropped = [HEAD, A_HOLDS, "0.020 a #1 unbelieve dropped\n"].concat();
    says(&[&dropped, LATER].concat(), "MX-12 fail, first MX-12");
    let gone = "0.021 server:0 txn 0x4 s1 delete ok\n0.021 server:0 deleted 0x4 /lock/a-0 by s1\n";
    says(&[&dropped, gone, LATER].concat(), "MX-12 pass");
}

#[test]
fn mx_12_of_many_that_are_over_the_first_one_is_not_forgotten() {
    let run = |all_go: bool| {
        let mut run = HEAD.to_owned();
        for number in 1..=40 {
            let (at, zxid) = (format!("0.{number:03}"), 2 * number + 0x10);
            write!(
                run,
                "
{at} a acquire#{number} call /lock
{at} a #{number} send r{number} create /lock/a-
{at} server:0 #{number} txn {zxid:#x} s1 create ok
{at} server:0 #{number} created {zxid:#x} /lock/a-{number} s1
{at} a #{number} reply r{number} ok {zxid:#x}
{at} a #{number} return cancelled
"
            )
            .expect("a string takes everything");
            if all_go || number != 1 {
                let zxid = zxid + 1;
                write!(
                    run,
                    "{at} server:0 #{number} txn {zxid:#x} s1 delete ok
{at} server:0 #{number} deleted {zxid:#x} /lock/a-{number} by s1
"
                )
                .expect("a string takes everything");
            }
        }
        [&run, LATER].concat()
    };
    says(&run(false), "MX-12 fail, first MX-12");
    says(&run(true), "MX-12 pass");
}

#[test]
fn mx_11_a_watch_of_a_former_connection_is_not_left() {
    let over = [HEAD, A_HOLDS, B_WAITS, "0.015 b #2 return cancelled\n"].concat();
    let moves = "0.015 b state s2 suspended\n0.016 b state s2 connected\n";
    let ends = "
0.016 server:0 #2 txn 0x5 s2 delete ok
0.016 server:0 #2 deleted 0x5 /lock/b-1 by s2
0.050 world quiesce
";
    says(&[&over, moves, ends].concat(), "MX-11 pass");
    says(&[&over, ends].concat(), "MX-11 fail");
}

#[test]
fn mx_11_in_a_simulation_nothing_is_taken_from_a_listing() {
    let listed = "0.020 world left /lock /lock/foreign s2\n0.050 world quiesce\n";
    says(&[HEAD, A_HOLDS, listed].concat(), "MX-11 pass");
}

#[test]
fn mx_11_in_a_capture_who_holds_has_a_znode_there_and_nowhere_else() {
    let listed = |object: &str| {
        format!(
            "
run client clients a
lock /lock
lock /other
0.000 a state s1 connected
0.000 a acquire#1 call /other
0.001 a #1 made /other/a-0 0x3
0.001 a #1 believe /other s1 token 0x3
0.002 a #1 return done
0.003 world left {object} {object}/lost s1
"
        )
    };
    says(&listed("/other"), "MX-11 pass");
    says(&listed("/lock"), "MX-11 fail");
    assert_eq!(report(&listed("/lock")).metrics.leaks, 1);
}

#[test]
fn mx_11_members_and_participants_are_meant_to_be_there_in_the_end() {
    let group = "
run client timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
group /g stop margin 0.4
0.000 a state s1 connected
0.010 a join#1 call /g
0.010 a #1 given m1 0x0
0.012 a #1 return done
0.100 world left /g /g/m1 s1
0.200 world quiesce
";
    says(group, "MX-11 vacuous, first nothing");
    assert_eq!(report(group).metrics.leaks, 0);
}
