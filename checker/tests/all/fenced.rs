//! Writes under a hold, MX-17, and the state that a guard reports, MX-14 and MX-16: a history with one line changed.

use crate::common::*;
use zk_checker::digest;

/// The first holder writes under its hold.
pub(crate) fn written(verb: &str) -> String {
    let data = format!("server:0 data 1 {:#x}", digest::data(Some(b"x")));
    format!(
        "{HEAD}{A_HOLDS}
0.010 a #1 unbelieve released
0.010 a {verb}#2 call /lock
0.010 a #2 given /lock/a-0 0x0
0.010 a #2 given x 0x0
0.010 a #2 send r3 multi /lock/a-0
0.011 server:0 #2 txn 0x8 s1 multi ok
0.011 server:0 #2 written 0x8 /guarded
0.011 {data}
0.012 a #2 reply r3 ok 0x8
0.012 a #2 return done
0.020 a release#3 call /lock
0.020 a #3 send r4 delete /lock/a-0
0.021 server:0 #3 txn 0x90 s1 delete ok
0.021 server:0 #3 deleted 0x90 /lock/a-0 by s1
0.022 a #3 reply r4 ok 0x90
0.022 a #3 return done
9.000 world quiesce
"
    )
}

#[test]
fn mx_17_a_write_is_applied_while_the_hold_lasts() {
    let right = written("transact");
    says(&right, "all pass, MX-17 pass, AN-1 pass");
    let gone = "0.0105 server:0 txn 0x7 s1 delete ok\n0.0105 server:0 deleted 0x7 /lock/a-0 by s1\n";
    let write = "0.011 server:0 #2 txn 0x8";
    says(&without(&edit(&right, write, &format!("{gone}{write}")), "deleted 0x90"), "MX-17 fail");
}

#[test]
fn mx_17_what_is_to_be_applied_once_is_not_applied_twice() {
    let again = "0.0115 server:0 #2 txn 0x8a s1 multi ok\n0.0115 server:0 #2 written 0x8a /guarded\n";
    let twice = |verb| edit(&written(verb), "0.012 a #2 reply r3", &format!("{again}0.012 a #2 reply r3"));
    says(&written("transact_once"), "all pass, MX-17 pass");
    says(&twice("transact_once"), "MX-17 fail, first MX-17");
    // A `transact` may be sent again within one operation.
    says(&twice("transact"), "MX-17 pass");
    // One transaction may write several znodes.
    let wide = "0.011 server:0 #2 written 0x8 /guarded\n";
    says(&edit(&written("transact_once"), wide.trim_end(), &wide.repeat(2)), "MX-17 pass");
}

#[test]
fn an_1_a_write_that_is_done_was_applied_with_its_data() {
    for verb in ["transact", "transact_once"] {
        let nothing = without(&without(&written(verb), "written 0x8"), "data 1");
        says(&nothing, "AN-1 fail");
        says(&edit(&written(verb), "given x", "given y"), "AN-1 fail");
        says(&edit(&written(verb), "a #2 return done", "a #2 return refused denied"), "AN-3 fail");
    }
}

/// The first holder reads the state of its guard.
fn told(before: &str, state: &str) -> String {
    format!(
        "{HEAD}{A_HOLDS}{before}0.500 a #1 observed /lock state {state} 0x0\n0.501 a #1 unbelieve dropped\n"
    )
}

#[test]
fn mx_14_no_guard_says_that_it_holds_when_it_must_not() {
    says(&told("", "held"), "MX-14 pass, first nothing");
    let away = "0.400 world fault disconnect a\n0.400 a state s1 suspended\n0.400 a #1 unbelieve suspect\n";
    says(&told(away, "held"), "MX-14 fail, first MX-14");
    says(&told(away, "suspect"), "MX-14 pass, first nothing");
}

#[test]
fn mx_16_no_guard_says_that_it_is_lost_for_nothing() {
    says(&told("", "lost"), "MX-16 fail, first MX-16");
    says(&told("", "suspect"), "MX-16 fail, first MX-16");
}

#[test]
fn mx_14_a_holder_that_has_stopped_goes_on_when_its_hold_is_confirmed() {
    let away = "0.400 world fault disconnect a\n0.400 a state s1 suspended\n0.400 a #1 unbelieve suspect\n";
    let back = "0.450 a state s1 connected\n";
    let goes_on = |connected: &str| {
        let on = "0.500 a #1 believe /lock s1 token 0x3\n0.500 a #1 unbelieve suspect\n";
        [HEAD, A_HOLDS, away, connected, on].concat()
    };
    says(&goes_on(back), "MX-14 pass");
    says(&goes_on(""), "MX-14 fail, first MX-14");
}

/// The second client lists the contenders, and evicts the first one.
fn evicted() -> String {
    format!(
        "{HEAD}{A_HOLDS}
0.010 b contenders#2 call /lock
0.010 b #2 send r3 children /lock
0.012 b #2 reply r3 ok 0x3
0.012 b #2 observed /lock line /lock/a-0 0x0
0.012 b #2 return done
0.020 b evict#3 call /lock
0.020 b #3 given /lock/a-0 0x0
0.020 b #3 send r4 delete /lock/a-0
0.021 server:0 #3 txn 0x4 s2 delete ok
0.021 server:0 #3 deleted 0x4 /lock/a-0 by s2
0.022 b #3 reply r4 ok 0x4
0.022 b #3 return done
0.030 a #1 unbelieve lost
9.000 world quiesce
"
    )
}

#[test]
fn an_1_an_eviction_deletes_its_contender_and_no_other() {
    says(&evicted(), "AN-1 pass, MX-10 pass");
    says(&without(&evicted(), "deleted 0x4"), "AN-1 fail");
    says(&edit(&evicted(), "#3 given /lock/a-0", "#3 given /lock/b-1"), "AN-1 fail");
    says(&edit(&evicted(), "b #3 return done", "b #3 return refused nothing"), "AN-3 fail");
}

#[test]
fn an_1_contenders_are_listed_in_the_order_in_which_they_came() {
    let listed = |line: &str| {
        let waits = [HEAD, A_HOLDS, B_WAITS].concat();
        format!(
            "{waits}0.050 c contenders#9 call /lock\n0.050 c #9 send r9 children /lock\n0.052 c #9 reply r9 ok 0x4\n\
             0.052 c #9 observed /lock line {line} 0x0\n0.052 c #9 return done\n"
        )
    };
    says(&listed("/lock/a-0,/lock/b-1"), "AN-1 pass");
    says(&listed("/lock/b-1,/lock/a-0"), "AN-1 fail");
    // It has read them all.
    says(&listed("/lock/a-0"), "AN-1 fail");
    says(&listed("/lock/b-1"), "AN-1 fail");
    says(&listed("/lock/a-0").replace("reply r9 ok 0x4", "reply r9 ok 0x3"), "AN-1 pass");
}

#[test]
fn an_1_the_results_of_a_transaction_are_those_of_its_operations() {
    let given = "0.010 a #2 given x 0x0";
    let right = edit(&written("transact"), given, &format!("{given}\n0.010 a #2 given set,check 0x0"));
    let told = |results: &str| {
        let observed = format!("0.012 a #2 observed /lock results {results} 0x0\n0.012 a #2 return done");
        edit(&right, "0.012 a #2 return done", &observed)
    };
    says(&told("set,check"), "AN-1 pass");
    for wrong in ["check,set", "set", "set,check,check"] {
        says(&told(wrong), "AN-1 fail");
    }
}
