//! Losses that are reported without a reason, MX-16, LE-10 and GM-8: a history and a verdict.

use crate::common::*;

/// The first client holds, and its hold is later reported lost.
fn told(before: &str, unbelieve: &str) -> String {
    [HEAD, A_HOLDS, before, unbelieve].concat()
}

#[test]
fn mx_16_who_keeps_it_for_longer_than_a_client_may_hear_nothing_puts_it_to_the_test() {
    says(&calm(), "MX-16 vacuous, first nothing");
    says(&told("", "3.603 a #1 unbelieve released\n"), "MX-16 vacuous");
    says(&told("", "3.604 a #1 unbelieve released\n"), "MX-16 pass");
    says(&told("", "40.000 a #1 unbelieve dropped\n"), "MX-16 pass, first nothing");
}

#[test]
fn mx_16_a_lost_connection_is_a_reason() {
    let lost = "0.500 world fault disconnect a\n0.500 a state s1 suspended\n";
    says(&told(lost, "0.500 a #1 unbelieve suspect\n"), "MX-16 pass, first nothing");
    says(&told("", "0.500 a #1 unbelieve suspect\n"), "MX-16 fail, first MX-16");
    // Connected again, it has yet to learn whether its znode exists.
    let back = [lost, "0.5001 a state s1 connected\n"].concat();
    says(&told(&back, "0.5001 a #1 unbelieve suspect\n"), "MX-16 pass");
    // A disconnect before the grant is no reason.
    let early =
        edit(HEAD, "0.000 a state s1 connected", "0.000 a state s1 suspended\n0.0001 a state s1 connected");
    let early = early.replace("0.000 b state s2 connected", "0.0001 b state s2 connected");
    says(&[&early, A_HOLDS, "0.500 a #1 unbelieve suspect\n"].concat(), "MX-16 fail");
}

#[test]
fn mx_16_the_end_of_the_session_is_a_reason() {
    let over = "0.500 server:0 marked s1 heard 0.1\n0.500 a state s1 expired\n";
    says(&told(over, "0.500 a #1 unbelieve lost\n"), "MX-16 pass");
    says(&told("", "0.500 a #1 unbelieve lost\n"), "MX-16 fail, first MX-16");
}

#[test]
fn mx_16_a_znode_that_somebody_deleted_is_a_reason() {
    let gone = "
0.500 world fault foreign_delete c
0.500 server:0 txn 0x5 s0 delete ok
0.500 server:0 deleted 0x5 /lock/a-0 by s0
0.501 a notice s1 deleted /lock/a-0
";
    says(&told(gone, "0.501 a #1 unbelieve lost\n"), "MX-16 pass, first nothing");
    says(&told(&gone.replace("/lock/a-0", "/lock/other"), "0.501 a #1 unbelieve lost\n"), "MX-16 fail");
}

#[test]
fn mx_16_no_request_answered_for_a_patience_is_no_reason_where_nothing_kept_pings_from_being_answered() {
    // Ten timeouts without a request.
    says(&told("", "40.000 a #1 unbelieve lost\n"), "MX-16 fail, first MX-16");
    says(&told("", "3.700 a #1 unbelieve lost\n"), "MX-16 fail, first MX-16");
    // A fault of long ago is no reason either, but a recent one may be.
    let muted = "1.000 world fault client_muted a lasts 1\n2.000 world mended client_muted a\n";
    says(&told(muted, "5.600 a #1 unbelieve lost\n"), "MX-16 pass, first nothing");
    says(&told(muted, "5.700 a #1 unbelieve lost\n"), "MX-16 fail");
    // Not even a recent one, if a later request was answered in time.
    let asked = "2.100 a send r7 exists /lock\n2.101 a reply r7 ok 0x3\n";
    says(&told(&[muted, asked].concat(), "5.600 a #1 unbelieve lost\n"), "MX-16 fail");
    says(&told(&[muted, asked].concat(), "5.700 a #1 unbelieve lost\n"), "MX-16 fail");
}

#[test]
fn mx_16_a_client_that_stood_still_has_heard_nothing() {
    let paused = "1.000 world fault client_pause a lasts 5\n6.000 world mended client_pause a\n";
    says(&told(paused, "6.000 a #1 unbelieve lost\n"), "MX-16 pass");
}

/// The same as a capture, with all faults recorded.
fn captured(before: &str, unbelieve: &str) -> String {
    let run = told(before, unbelieve).replace("run sim", "run client faults_recorded");
    let made = "0.003 a #1 reply r1 ok 0x3\n0.003 a #1 made /lock/a-0 0x3\n";
    edit(&run, "0.003 a #1 reply r1 ok 0x3\n", made)
}

#[test]
fn mx_16_in_a_capture_without_a_fault_every_loss_is_one_too_many() {
    says(&captured("", "9.000 a #1 unbelieve lost\n"), "MX-16 fail, first MX-16");
    let broke = "8.000 a state s1 suspended\n";
    says(&captured(broke, "8.000 a #1 unbelieve suspect\n"), "MX-16 fail, first MX-16");
    let expired = "8.000 a state s1 expired\n";
    says(&captured(expired, "8.000 a #1 unbelieve lost\n"), "MX-16 fail, first MX-16");
    // A dropped call does not break a connection.
    let cancelled = ["7.999 world fault cancel a\n", broke].concat();
    says(&captured(&cancelled, "8.000 a #1 unbelieve suspect\n"), "MX-16 fail");
    says(&captured("", "9.000 a #1 unbelieve released\n"), "MX-16 pass, first nothing");
}

#[test]
fn mx_16_in_a_capture_a_fault_is_a_reason_for_those_whom_it_may_concern() {
    let of = |fault: &str| {
        let broke = format!("{fault}\n20.000 a state s1 suspended\n");
        captured(&broke, "20.000 a #1 unbelieve suspect\n")
    };
    says(&of("20.000 world fault disconnect a"), "MX-16 pass, first nothing");
    says(&of("20.000 world fault disconnect b"), "MX-16 fail");
    says(&of("19.000 world fault slow_server server:0 lasts 0.1"), "MX-16 pass");
    says(&of("19.000 world fault link_held link:0:1 lasts 0.1"), "MX-16 pass");
    // For two timeouts after its end, in which leaders are elected and sessions expire.
    let killed = "1.000 world fault server_crash server:0 lasts 1\n";
    says(&of(killed), "MX-16 pass");
    let back = |at: &str| format!("{killed}{at} world mended server_crash server:0");
    says(&of(&back("11.9995")), "MX-16 pass");
    says(&of(&back("11.9985")), "MX-16 fail");
}

#[test]
fn mx_16_in_a_capture_only_a_pause_in_which_pings_were_missed_is_a_reason() {
    let stood_still = |until: &str| {
        let pause = "8.000 world fault client_pause a lasts 5\n";
        let paused = format!("{pause}{until} world mended client_pause a\n");
        captured(&paused, "9.500 a #1 unbelieve lost\n")
    };
    // A third of a timeout of 4 s, less the time of a ping and its answer.
    says(&stood_still("9.329"), "MX-16 fail");
    says(&stood_still("9.333"), "MX-16 pass");
}

#[test]
fn mx_14_in_a_capture_pings_are_answered_between_two_stalls() {
    // Ten in a row, a millisecond apart: longer than the longest time without an answer.
    let stalls = |length: &str, ends: &str| {
        let stall = |at: u32| {
            let end = if ends.is_empty() { format!("{at}.999") } else { ends.to_owned() };
            format!("{at}.000 world fault slow_process a lasts {length}\n{end} world mended slow_process a\n")
        };
        let run = if ends.is_empty() { (1..=10).map(stall).collect() } else { stall(1) };
        captured(&run, "12.000 a #1 unbelieve released\n").replace("settle 0.001", "settle 0.25")
    };
    says(&stalls("0.999", ""), "MX-14 vacuous, first nothing");
    says(&stalls("9.999", "10.999"), "MX-14 fail, first MX-14");
}

#[test]
fn mx_16_in_a_capture_a_znode_goes_because_some_client_deletes_it() {
    let told_gone = "8.001 a notice s1 deleted /lock/a-0\n";
    says(&captured(told_gone, "8.001 a #1 unbelieve lost\n"), "MX-16 fail");
    let deleted = ["8.000 b send r9 delete /lock/a-0\n", told_gone].concat();
    says(&captured(&deleted, "8.001 a #1 unbelieve lost\n"), "MX-16 pass");
}

#[test]
fn mx_16_in_a_capture_without_its_faults_only_what_was_answered_tells() {
    let says_of = |before: &str, unbelieve: &str, verdict: &str| {
        says(&captured(before, unbelieve).replace(" faults_recorded", ""), verdict);
    };
    says_of("8.000 a state s1 suspended\n", "8.000 a #1 unbelieve suspect\n", "MX-16 pass");
    says_of("", "9.000 a #1 unbelieve lost\n", "MX-16 pass");
    let asked = "8.000 a send r7 exists /lock\n8.001 a reply r7 ok 0x3\n";
    says_of(asked, "9.000 a #1 unbelieve lost\n", "MX-16 fail");
}

#[test]
fn gm_8_in_a_capture_a_member_is_told_that_it_is_out_for_a_reason() {
    let run = |before: &str, after: &str| {
        let joins = "
run client faults_recorded timeout 4 round_trip 0.002 clients a b
group /group margin 0.4
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a join#1 call /group
0.001 a #1 send r1 create /group/m
0.002 a #1 reply r1 ok 0x2
0.002 a #1 made /group/m 0x2
0.002 a #1 return done
";
        [joins, before, after].concat()
    };
    let out = "9.000 a #1 observed /group missing \"\" 0x0\n";
    says(&run("", out), "GM-8 fail, first GM-8");
    says(&run("8.999 a state s1 suspended\n", out), "GM-8 fail, first GM-8");
    let cut_off = "8.000 world fault client_partition a lasts 3\n8.999 a state s1 suspended\n";
    says(&run(cut_off, out), "GM-8 pass, first nothing");
    says(&run("8.999 a notice s1 deleted /group/m\n", out), "GM-8 fail, first GM-8");
    let deleted = "8.998 b send r2 delete /group/m\n8.999 a notice s1 deleted /group/m\n";
    says(&run(deleted, out), "GM-8 pass");
    says(&run("", "9.000 a release#2 call /group\n"), "GM-8 pass, first nothing");
    // Another client lists the member, and evicts it, before the reply to its create arrives.
    let told = "8.999 a notice s1 deleted /group/m\n";
    let early =
        edit(&run(told, out), "0.002 a #1 reply r1", "0.0015 b send r2 delete /group/m\n0.002 a #1 reply r1");
    says(&early, "GM-8 pass");
    says(&edit(&early, "delete /group/m", "delete /group/n"), "GM-8 fail, first GM-8");
}
