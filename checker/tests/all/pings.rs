//! The time without an answer, with recorded pings: MX-14 and MX-16, a history and a verdict.
//!
//! A session lasts for 4 s, and a holder stops 0.4 s before its end: 3.6 s after the sending of the last answered
//! request.

use crate::common::*;

/// The first client holds, with an answer to a request sent at 0.001 s.
fn run(before: &str, unbelieve: &str) -> String {
    [HEAD, A_HOLDS, before, unbelieve].concat().replace("run sim", "run sim pings_recorded")
}

/// The answer to a ping.
const PING: &str = "1.500 a heard s1 sent 1.000\n";

#[test]
fn mx_14_a_connected_holder_stops_when_nothing_that_it_sent_was_answered_for_too_long() {
    let until = |before: &str, at: &str| run(before, &format!("{at} a #1 unbelieve suspect\n"));
    says(&until("", "3.601"), "MX-14 vacuous, first nothing");
    says(&until("", "3.602"), "MX-14 pass, first nothing");
    says(&until("", "3.603"), "MX-14 fail, first MX-14");
    says(&until(PING, "4.600"), "MX-14 vacuous, first nothing");
    says(&until(PING, "4.603"), "MX-14 fail, first MX-14");
    // A request counts from its sending, however late its answer; an answer to an earlier request does not count.
    let late = [PING, "3.500 a heard s1 sent 0.500\n"].concat();
    says(&until(&late, "4.600"), "MX-14 vacuous, first nothing");
    says(&until(&late, "4.603"), "MX-14 fail");
    // Too late for a hold that had to end before it.
    says(&until("3.700 a heard s1 sent 3.500\n", "3.900"), "MX-14 fail");
    // Another client's answers prove nothing.
    says(&until("1.500 b heard s2 sent 1.000\n", "3.603"), "MX-14 fail");
    // Without recorded pings, the last answer is unknown.
    says(&until("", "3.603").replace(" pings_recorded", ""), "MX-14 vacuous");
}

#[test]
fn mx_14_a_refusal_of_a_server_is_an_answer_and_one_of_the_library_is_none() {
    let asked = |reply: &str| {
        let asked = format!("1.000 a send r7 exists /other\n1.500 a reply r7 {reply}\n");
        run(&asked, "4.000 a #1 unbelieve released\n")
    };
    says(&asked("no_node 0x3 conn 1"), "MX-14 vacuous, first nothing");
    says(&asked("no_node 0x3"), "MX-14 fail");
}

#[test]
fn mx_14_a_request_that_waited_for_the_connection_left_when_that_was_there() {
    let waited = "0.400 a state s1 suspended\n0.500 a send r7 exists /other\n0.900 a heard s1 sent 0.800\n\
                  0.900 a state s1 connected\n0.950 a reply r7 no_node 0x3 conn 1\n";
    let until = |at: &str| {
        run(waited, &format!("{at} a #1 unbelieve lost\n")).replace("/lock stop", "/lock until_deadline")
    };
    says(&until("4.501"), "MX-14 pass, first nothing");
    says(&until("4.502"), "MX-14 fail, first MX-14");
}

#[test]
fn mx_14_a_holder_that_goes_on_without_its_connection_counts_from_the_last_answer() {
    let until = |at: &str| {
        let away = "2.000 a state s1 suspended\n";
        run(away, &format!("{at} a #1 unbelieve lost\n")).replace("/lock stop", "/lock until_deadline")
    };
    says(&until("3.602"), "MX-14 pass, first nothing");
    says(&until("3.603"), "MX-14 fail, first MX-14");
}

#[test]
fn mx_16_who_goes_on_until_the_deadline_is_not_told_to_stop_by_a_loss_of_the_connection() {
    let stops = run("2.000 a state s1 suspended\n", "2.001 a #1 unbelieve suspect\n");
    says(&stops, "MX-16 pass, first nothing");
    says(&stops.replace("/lock stop", "/lock until_deadline"), "first MX-16");
}

#[test]
fn mx_14_a_pause_ends_with_a_look_at_what_has_arrived_meanwhile() {
    let paused = |ends: &str, then: &str, at: &str| {
        let pause =
            format!("1.000 world fault client_pause a lasts 9\n{ends} world mended client_pause a\n{then}");
        run(&pause, &format!("{at} a #1 unbelieve suspect\n"))
    };
    // Within 3.6 s of the last answer.
    says(&paused("3.000", "", "3.601"), "MX-14 vacuous, first nothing");
    says(&paused("3.000", "", "3.603"), "MX-14 fail");
    // After that: at once, or after an answer that had already arrived.
    says(&paused("3.700", "", "3.7005"), "MX-14 vacuous");
    says(&paused("3.700", "", "3.703"), "MX-14 fail, first MX-14");
    let waiting = "3.700 a heard s1 sent 0.900\n";
    says(&paused("3.700", waiting, "4.500"), "MX-14 vacuous, first nothing");
    says(&paused("3.700", waiting, "4.503"), "MX-14 fail");
}

#[test]
fn mx_16_who_was_answered_in_time_has_nothing_to_fear() {
    let told = |before: &str, at: &str| run(before, &format!("{at} a #1 unbelieve suspect\n"));
    says(&told("", "3.599"), "MX-16 fail, first MX-16");
    says(&told("", "3.601"), "MX-16 pass, first nothing");
    says(&told(PING, "3.601"), "MX-16 fail");
    says(&told(PING, "4.601"), "MX-16 pass, first nothing");
    // Not even a recent fault is a reason if the answer came nevertheless.
    let muted = "1.100 world fault client_muted a lasts 1\n2.100 world mended client_muted a\n";
    says(&told(&[muted, "2.200 a heard s1 sent 2.150\n"].concat(), "4.000"), "MX-16 fail, first MX-16");
}
