//! Who is told to stop without a reason, MX-16, LE-10 and GM-8: a history and a verdict.

use crate::common::*;

/// The first one holds, and is told at some time that it may not hold any more.
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
    // Connected again, it has still to learn whether its znode is there.
    let back = [lost, "0.5001 a state s1 connected\n"].concat();
    says(&told(&back, "0.5001 a #1 unbelieve suspect\n"), "MX-16 pass");
    // Of before the grant it is none.
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
    // A fault of long ago is none either, but one of just before may be.
    let muted = "1.000 world fault client_muted a lasts 1\n2.000 world mended client_muted a\n";
    says(&told(muted, "5.600 a #1 unbelieve lost\n"), "MX-16 pass, first nothing");
    says(&told(muted, "5.700 a #1 unbelieve lost\n"), "MX-16 fail");
    // Not even that one, if what it sent was answered in time.
    let asked = "2.100 a send r7 exists /lock\n2.101 a reply r7 ok 0x3\n";
    says(&told(&[muted, asked].concat(), "5.600 a #1 unbelieve lost\n"), "MX-16 fail");
    says(&told(&[muted, asked].concat(), "5.700 a #1 unbelieve lost\n"), "MX-16 fail");
}

#[test]
fn mx_16_a_client_that_stood_still_has_heard_nothing() {
    let paused = "1.000 world fault client_pause a lasts 5\n6.000 world mended client_pause a\n";
    says(&told(paused, "6.000 a #1 unbelieve lost\n"), "MX-16 pass");
}

#[test]
fn mx_16_a_capture_does_not_show_pings() {
    let run = told("", "9.000 a #1 unbelieve lost\n").replace("run sim", "run client");
    says(&run, "MX-16 vacuous");
}
