//! AN-4: the cost of an undisturbed call.

use crate::answers::{END, head};
use crate::common::*;

/// A raise that reads first: one request more than its budget.
fn raised_after_a_look() -> String {
    head("barrier /gate")
        + "
0.001 a raise#1 call /gate
0.001 a #1 send r1 exists /gate
0.003 a #1 reply r1 no_node 0x2
0.004 a #1 send r2 create /gate
0.005 server:0 #1 txn 0x3 s1 create ok
0.005 server:0 #1 created 0x3 /gate s0
0.006 a #1 reply r2 ok 0x3
0.006 a #1 return done
" + END
}

#[test]
fn a_raise_is_one_request() {
    let run = raised_after_a_look();
    says(&run, "AN-4 fail, first AN-4");
    let text = report(&run).to_string();
    assert!(text.contains("the raise of a sent 2 requests, and its budget is 1"), "{text}");
    assert!(text.contains("not excused: none of its replies was lost"), "{text}");
    let at_once = without(&without(&run, "send r1 exists"), "reply r1 no_node");
    says(&at_once, "all pass, AN-4 pass");
}

#[test]
fn who_was_disturbed_may_do_more() {
    let run = raised_after_a_look();
    // The first request was a create, and was refused: the directory was missing.
    let refused = edit(&run, "send r1 exists /gate", "send r1 create /gate");
    says(&refused, "AN-4 vacuous, first nothing");
    // Its reply was lost.
    let lost = edit(&run, "reply r1 no_node 0x2", "lost r1");
    says(&lost, "AN-4 vacuous");
    // The client was not connected for a while.
    let away = edit(
        &run,
        "0.004 a #1 send r2",
        "0.003 a state s1 suspended\n0.004 a state s1 connected\n0.004 a #1 send r2",
    );
    says(&away, "AN-4 vacuous");
    // It was disturbed before: this call may have to find out the effect of an earlier one.
    let before = "0.0002 a state s1 suspended\n0.0005 a state s1 connected\n0.001 a raise#1 call";
    says(&edit(&run, "0.001 a raise#1 call", before), "AN-4 vacuous");
    // It was cancelled.
    says(&edit(&run, "a #1 return done", "a #1 return cancelled"), "AN-4 vacuous");
}

#[test]
fn a_look_up_that_is_two_requests_is_one_round_trip() {
    let looks = |second: &str, reply: &str| {
        head("name_service /names stop margin 0.4")
            + "
0.001 a resolve#1 call /names
0.001 a #1 given x 0x0
0.001 a #1 send r1 sync /names/x
" + second + "0.003 a #1 reply r1 ok 0x2\n"
            + reply
            + "0.006 a #1 reply r2 no_node 0x2\n0.006 a #1 return done\n"
            + END
    };
    let sends = "0.001 a #1 send r2 get /names/x\n";
    says(&looks(sends, ""), "AN-4 pass");
    says(&looks("", &sends.replace("0.001", "0.004")), "AN-4 fail");
}

#[test]
fn calls_of_foreign_programs_have_no_budget() {
    let run = edit(&raised_after_a_look(), "run sim", "run sim foreign_clients");
    says(&run, "AN-4 vacuous");
}
