//! The states that a registration and a place inside a double barrier report: a history with one line changed.

use crate::common::*;
use crate::group;

/// A client registers a name, and its registration reports a state.
fn registered(before: &str, state: &str) -> String {
    format!(
        "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
name_service /names stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 a state s1 connected
0.001 a register#1 call /names
0.001 a #1 given db 0x0
0.001 a #1 send r1 create /names/db
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/db s1
0.003 a #1 reply r1 ok 0x3
0.003 a #1 observed /names name db 0x3
0.003 a #1 return done
{before}
0.500 a #1 observed /names state {state} 0x0
"
    )
}

const AWAY: &str = "0.400 world fault disconnect a\n0.400 a state s1 suspended\n";
const GONE: &str = "0.400 world txn 0x7 s0 delete ok\n0.400 world deleted 0x7 /names/db by s0\n";

#[test]
fn an_1_no_registration_says_that_it_is_held_when_it_must_not() {
    says(&registered("", "held"), "AN-1 pass, first nothing");
    says(&registered(AWAY, "held"), "AN-1 fail, first AN-1");
    says(&registered(AWAY, "suspect"), "first nothing");
    let back = format!("{AWAY}0.450 a state s1 connected\n");
    says(&registered(&back, "held"), "AN-1 pass, first nothing");
    let over = format!("{AWAY}0.450 a state s1 expired\n");
    says(&registered(&over, "held"), "AN-1 fail, first AN-1");
}

#[test]
fn an_1_what_is_lost_is_not_held_again() {
    let lost = format!("{AWAY}0.420 a #1 observed /names state lost 0x0\n0.450 a state s1 connected\n");
    says(&registered(&lost, "held"), "AN-1 fail, first AN-1");
    says(&registered(&lost, "lost"), "first nothing");
}

#[test]
fn an_2_no_registration_says_that_it_is_lost_for_nothing() {
    for state in ["lost", "suspect"] {
        says(&registered("", state), "AN-2 fail, first AN-2");
        says(&registered(AWAY, state), "AN-2 pass, first nothing");
    }
    says(&registered(GONE, "lost"), "AN-2 pass, first nothing");
}

#[test]
fn a_state_is_that_of_the_call_that_gave_it() {
    // A refused call returns no handle, so there is no state.
    let refused = registered(AWAY, "held").replace("return done", "return refused taken");
    says(&refused, "AN-1 vacuous");
}

/// A single participant enters, and its place reports a state.
fn inside(before: &str, state: &str) -> String {
    format!(
        "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a
double_barrier /b size 1 margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 a state s1 connected
0.001 a enter#1 call /b
0.001 a #1 send r1 multi /b/g/a
0.002 server:0 #1 txn 0x3 s1 multi ok
0.002 server:0 #1 created 0x3 /b/g/a s1
0.003 a #1 reply r1 ok 0x3
0.003 a #1 observed /b opening a 0x3
0.003 a #1 observed /b name /b/g/a 0x0
0.003 a #1 return done
{before}
0.500 a #1 observed /b state {state} 0x0
"
    )
}

#[test]
fn an_1_no_place_says_that_it_is_held_when_it_must_not() {
    says(&inside("", "held"), "AN-1 pass");
    says(&inside(AWAY, "held"), "AN-1 fail");
    says(&inside(AWAY, "suspect"), "AN-1 pass");
}

#[test]
fn an_2_no_place_says_that_it_is_lost_for_nothing() {
    says(&inside("", "lost"), "AN-2 fail");
    says(&inside(AWAY, "lost"), "AN-2 pass");
}

#[test]
fn an_1_a_loss_is_told_for_the_reason_that_there_is() {
    let over = format!("{AWAY}0.450 a state s1 expired\n");
    says(&registered(&over, "lost_session_over"), "AN-1 pass, first nothing");
    says(&registered(AWAY, "lost_session_over"), "AN-1 fail, first AN-1");
    says(&registered(GONE, "lost_removed"), "first nothing");
    says(&registered(AWAY, "lost_removed"), "AN-1 fail, first AN-1");
    says(&registered(AWAY, "lost_deadline_passed"), "first nothing");
    // A loss that was reported once is reported again.
    let again = AWAY.replace("0.400", "0.430");
    let before = format!("{GONE}0.420 a #1 observed /names state lost_removed 0x0\n{again}");
    says(&registered(&before, "lost_session_over"), "first nothing");
    // A capture does not show who deletes.
    says(&registered(AWAY, "lost_removed").replace("run sim", "run client"), "AN-1 vacuous");
}

#[test]
fn an_1_a_hold_is_lost_for_the_reason_that_there_is() {
    let told = |before: &str, state: &str| {
        format!("{HEAD}{A_HOLDS}{before}0.500 a #1 observed /lock state {state} 0x0\n")
    };
    let gone = "0.400 world txn 0x7 s0 delete ok\n0.400 world deleted 0x7 /lock/a-0 by s0\n";
    let away = "0.400 world fault disconnect a\n0.400 a state s1 suspended\n";
    says(&told(gone, "lost_removed"), "AN-1 pass");
    says(&told(away, "lost_removed"), "AN-1 fail");
    says(&told(gone, "lost_session_over"), "AN-1 fail");
}

/// The registration reports that it lasts until then: in microseconds, in hexadecimal digits.
fn suspect_until(micros: u64) -> String {
    registered(AWAY, "suspect")
        .replace("run sim", "run sim pings_recorded")
        .replace("state suspect 0x0", &format!("state suspect {micros:#x}"))
}

#[test]
fn an_1_the_end_of_a_suspicion_is_told_with_its_margin() {
    // The last answered request was sent at 0.001; the session lasts 4 s, and the margin is 0.4 s.
    says(&suspect_until(3_601_000), "AN-1 pass, first nothing");
    for wrong in [3_602_001, 3_599_999, 4_001_000] {
        says(&suspect_until(wrong), "AN-1 fail, first AN-1");
    }
    // If pings are not recorded, or the clock drifts, the instant is unknown.
    says(&suspect_until(4_001_000).replace(" pings_recorded", ""), "first nothing");
    says(&suspect_until(4_001_000).replace("disconnect a", "clock_drift a"), "first nothing");
}

#[test]
fn an_1_who_waits_to_be_told_of_a_loss_is_told_at_once() {
    let watched = "0.300 a #1 observed /names state watched 0x0\n";
    let told = |before: &str, state: &str| registered(&format!("{watched}{before}"), state);
    says(&told(AWAY, "lost"), "AN-1 fail, first AN-1");
    says(&told(&AWAY.replace("0.400 a", "0.500 a"), "lost"), "AN-1 pass, first nothing");
    says(&told("", "held"), "AN-1 pass, first nothing");
    let over = AWAY.replace("suspended", "expired");
    says(&told(&over, "lost"), "AN-1 fail, first AN-1");
    // A paused client is notified when it resumes.
    let paused = format!("0.399 world fault client_pause a lasts 0.2\n{AWAY}");
    says(&told(&paused, "lost"), "AN-1 pass, first nothing");
    // The report may be delayed by the settle time.
    let on_its_way = format!("{AWAY}0.4005 b state s2 connected\n");
    says(&told(&on_its_way, "lost"), "AN-1 fail, first AN-1");
    says(
        &told(&format!("{on_its_way}0.4006 a #1 observed /names state lost 0x0\n"), "lost"),
        "first nothing",
    );
    let dead = format!("{AWAY}0.4003 world crash a\n0.4005 b state s2 connected\n0.5 b state s2 suspended\n");
    says(&without(&told(&dead, "lost"), "state lost"), "AN-1 pass, first nothing");
    // A caller that no longer waits is not notified.
    let given_up = format!("0.350 a #1 observed /names state held 0x0\n{AWAY}");
    says(&told(&given_up, "lost"), "AN-1 pass, first nothing");
}

#[test]
fn gm_8_no_membership_says_that_it_is_lost_for_nothing() {
    let member = |before: &str, state: &str| {
        let told = format!("0.500 a #1 observed /g state {state} 0x0\n");
        [group::HEAD, group::A_JOINS, before, &told].concat()
    };
    for state in ["lost", "suspect"] {
        says(&member("", state), "GM-8 fail, first GM-8");
        says(&member(AWAY, state), "GM-8 pass, first nothing");
    }
    says(&member(AWAY, "held"), "AN-1 fail, first AN-1");
}
