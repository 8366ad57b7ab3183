//! Answers: the results of calls, compared with the commits and the replies to the client.
//!
//! Each history is short. The unchanged one passes; then one line is changed or missing.

use crate::common::*;
use zk_checker::digest;

/// Two clients and an object; both are connected.
pub(crate) fn head(object: &str) -> String {
    format!(
        "run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
{object}
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
"
    )
}

pub(crate) const END: &str = "9.000 world quiesce\n";

pub(crate) fn data(text: &str) -> String {
    format!("server:0 data {} {:#x}", text.len(), digest::data(Some(text.as_bytes())))
}

/// The barrier is raised by one client and lowered by the other.
fn raised_and_lowered() -> String {
    head("barrier /gate")
        + "
0.001 a raise#1 call /gate
0.001 a #1 send r1 create /gate
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /gate s0
0.003 a #1 reply r1 ok 0x3
0.003 a #1 return done
0.010 b lower#2 call /gate
0.010 b #2 send r2 delete /gate
0.011 server:0 #2 txn 0x4 s2 delete ok
0.011 server:0 #2 deleted 0x4 /gate by s2
0.012 b #2 reply r2 ok 0x4
0.012 b #2 return done
" + END
}

#[test]
fn an_1_a_barrier_that_was_raised_stood_and_one_that_was_lowered_was_down() {
    let right = raised_and_lowered();
    says(&right, "all pass, AN-1 pass, AN-2 vacuous, AN-3 vacuous");
    says(&without(&right, "created 0x3"), "AN-1 fail");
    says(&without(&right, "deleted 0x4"), "first AN-1");
    // A lower by another client in between is enough.
    let by_another =
        edit(&right, "0.011 server:0 #2 deleted 0x4 /gate by s2", "0.011 server:0 deleted 0x4 /gate by s1");
    says(&by_another, "AN-1 pass");
}

#[test]
fn an_1_a_barrier_lives_as_long_as_it_was_asked_for() {
    let raised = |word: &str, owner: &str| {
        let given = format!("0.001 a #1 given {word} 0x0\n0.001 a #1 send r1");
        let run = edit(&raised_and_lowered(), "0.001 a #1 send r1", &given);
        edit(&run, "created 0x3 /gate s0", &format!("created 0x3 /gate {owner}"))
    };
    says(&raised("permanent", "s0"), "AN-1 pass");
    says(&raised("session", "s1"), "AN-1 pass");
    says(&raised("permanent", "s1"), "AN-1 fail");
    says(&raised("session", "s0"), "AN-1 fail");
    // Another client had raised it.
    let other = edit(&raised("session", "s0"), "server:0 #1 created", "server:0 created");
    says(&other, "AN-1 pass");
}

#[test]
fn an_2_a_failure_has_met_its_reason() {
    let failing = |failure: &str| {
        let refused = without(&raised_and_lowered(), "deleted 0x4");
        edit(&refused, "b #2 return done", &format!("b #2 return refused {failure}"))
    };
    let reasons = [
        "timed_out",
        "session_over",
        "connection_loss",
        "server_refused",
        "denied",
        "bad_input",
        "no_node",
        "node_exists",
        "bad_version",
        "not_empty",
        "no_children_for_ephemerals",
        "unreachable",
        "unexpected",
    ];
    for reason in reasons {
        says(&failing(reason), "first AN-2, AN-3 pass");
    }
    // A failure without a reason is not judged.
    says(&failing(""), "AN-2 vacuous, AN-3 pass");
    for (reason, code) in [
        ("denied", "no_auth"),
        ("server_refused", "throttled"),
        ("server_refused", "other"),
        ("unexpected", "other"),
        ("no_node", "no_node"),
        ("not_empty", "not_empty"),
        ("bad_version", "bad_version"),
    ] {
        let answered = edit(&failing(reason), "b #2 reply r2 ok 0x4", &format!("b #2 reply r2 {code} 0x4"));
        says(&answered, "AN-2 pass");
    }
}

#[test]
fn an_2_bad_input_is_refused_before_anything_is_sent_and_good_input_never() {
    let refused = |between: &str| {
        head("barrier /gate")
            + &format!("0.010 b lower#2 call /gate\n{between}0.011 b #2 return refused bad_input\n")
            + END
    };
    says(&refused(""), "first AN-2");
    let mistaken = "0.010 b #2 mistaken\n";
    says(&refused(mistaken), "AN-2 pass, first nothing");
    let sends = "0.010 b #2 send r2 delete /gate\n0.011 b #2 reply r2 ok 0x2\n";
    says(&refused(&[mistaken, sends].concat()), "first AN-2");
    says(&edit(&refused(mistaken), "refused bad_input", "done"), "first AN-1");
    // A client learns of another configuration only from requests.
    let other = edit(&refused(&[mistaken, sends].concat()), "bad_input", "mismatch");
    says(&other, "AN-2 pass, first nothing");
    says(&without(&other, "mistaken"), "first AN-2");
}

#[test]
fn an_2_an_attempt_that_asks_nobody_knows_nothing() {
    let run = |between: &str| {
        head("lock /lock stop margin 0.4")
            + &format!("0.010 b try_acquire#2 call /lock\n{between}0.011 b #2 return refused nothing\n")
            + END
    };
    says(&run(""), "first AN-2");
    says(&run("0.010 b state s2 suspended\n"), "AN-2 pass, first nothing");
}

#[test]
fn an_2_a_loss_is_a_lost_reply_or_a_lost_connection() {
    let failing = without(&raised_and_lowered(), "deleted 0x4");
    let failing = edit(&failing, "b #2 return done", "b #2 return unknown connection_loss");
    says(&failing, "first AN-2");
    says(&edit(&failing, "b #2 reply r2 ok 0x4", "b #2 lost r2"), "AN-2 pass");
    let away = edit(&failing, "b #2 reply r2 ok 0x4", "b state s2 suspended");
    says(&away, "AN-2 pass");
    // A server that fails to process a request leaves the outcome unknown, too.
    says(&edit(&failing, "b #2 reply r2 ok 0x4", "b #2 reply r2 other 0x4"), "AN-2 pass");
    // A double barrier that a foreign client has deleted does not show whether it had opened.
    let entered = |between: &str| {
        head("double_barrier /b size 2 margin 0.4")
            + &format!(
                "0.010 b enter#2 call /b limit 1\n{between}1.011 b #2 return unknown connection_loss\n{END}"
            )
    };
    says(&entered(""), "AN-2 fail");
    let deletes = "0.011 a fault foreign_delete a\n0.012 server:0 txn 0x3 s1 delete ok\n0.012 server:0 deleted 0x3 /b by s1\n";
    says(&entered(deletes), "AN-2 pass");
}

#[test]
fn an_2_a_session_that_is_over_is_known_to_be_over() {
    let failing = edit(&raised_and_lowered(), "b #2 return done", "b #2 return unknown session_over");
    says(&failing, "first AN-2");
    let over = edit(&failing, "0.012 b #2 reply r2 ok 0x4", "0.012 b #2 lost r2\n0.012 b state s2 expired");
    says(&over, "AN-2 pass");
}

#[test]
fn an_2_a_time_limit_is_over_when_it_says_so() {
    let run = |limit: &str, at: &str| {
        head("barrier /gate")
            + &format!(
                "
0.001 a raise#1 call /gate
0.001 a #1 send r1 create /gate
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /gate s0
0.003 a #1 reply r1 ok 0x3
0.003 a #1 return done
0.010 b wait#2 call /gate {limit}
{at} b #2 return refused timed_out
"
            )
            + END
    };
    says(&run("limit 0.400", "0.410"), "AN-2 pass");
    // The clock of a client may run fast.
    says(&run("limit 0.400", "0.370"), "AN-2 pass");
    says(&run("limit 0.400", "0.200"), "AN-2 fail");
    says(&run("", "0.410"), "AN-2 fail");
}

#[test]
fn an_3_whoever_says_that_nothing_was_done_has_done_nothing() {
    let right = raised_and_lowered();
    let raise = edit(&right, "0.003 a #1 return done", "0.003 a #1 return refused");
    says(&raise, "first AN-3");
    // Another attempt may have been applied, and the caller learns that the outcome is unknown.
    says(&edit(&right, "0.003 a #1 return done", "0.003 a #1 return unknown"), "AN-3 vacuous, all pass");
    let lower = edit(&right, "0.012 b #2 return done", "0.012 b #2 return refused");
    says(&lower, "first AN-3");
    // A request that was still in flight is applied later.
    let late = edit(&raise, "0.003 a #1 reply r1 ok 0x3\n0.003 a #1 return refused", "");
    let late = edit(
        &late,
        "0.001 a #1 send r1 create /gate\n",
        "0.001 a #1 send r1 create /gate\n0.001 a #1 return refused\n",
    );
    says(&late, "first AN-3");
}

/// One client writes a value; the other compares and sets it.
fn written_twice() -> String {
    let head = head("config /value");
    let (one, two) = (data("one"), data("two"));
    format!(
        "{head}
0.001 a overwrite#1 call /value
0.001 a #1 given one 0x0
0.001 a #1 send r1 create /value
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /value s0
0.002 {one}
0.003 a #1 reply r1 ok 0x3
0.003 a #1 return done
0.010 b compare_and_set#2 call /value
0.010 b #2 given two 0x3
0.010 b #2 send r2 set /value
0.011 server:0 #2 txn 0x4 s2 set ok
0.011 server:0 #2 written 0x4 /value
0.011 {two}
0.012 b #2 reply r2 ok 0x4
0.012 b #2 return done
{END}"
    )
}

#[test]
fn a_write_has_written_its_value() {
    let right = written_twice();
    says(&right, "AN-1 pass");
    says(&without(&right, "written 0x4"), "AN-1 fail");
    says(&edit(&right, &data("two"), &data("too")), "AN-1 fail");
}

#[test]
fn a_conflict_has_another_writer() {
    let conflict = edit(&written_twice(), "b #2 return done", "b #2 return refused conflict");
    says(&conflict, "AN-3 fail");
    let nothing = without(&without(&conflict, "written 0x4"), &data("two"));
    says(&nothing, "AN-2 fail, AN-3 pass");
    // It expected a state other than the current one.
    says(&edit(&nothing, "given two 0x3", "given two 0x2"), "AN-2 pass");
    let removed = edit(
        &nothing,
        "0.011 server:0 #2 txn 0x4 s2 set ok",
        "0.011 server:0 txn 0x4 s1 delete ok\n0.011 server:0 deleted 0x4 /value by s1",
    );
    says(&removed, "AN-2 pass");
}

/// The same run with a third client, which is connected as well.
fn with_a_third(run: &str) -> String {
    let named = edit(run, "clients a b", "clients a b c");
    let opened = edit(&named, "0.000 a state", "0.000 server:0 opened s3 timeout 4000 0x3\n0.000 a state");
    edit(&opened, "0.000 b state s2", "0.000 c state s3 connected\n0.000 b state s2")
}

#[test]
fn a_conflict_may_have_written_over_what_took_the_place_of_the_value() {
    // A third client deletes the value, and the first one creates it again with the same version.
    let conflict = edit(&written_twice(), "b #2 return done", "b #2 return refused conflict");
    let again = "\
0.004 c fault foreign_delete c
0.004 server:0 txn 0x4 s3 delete ok
0.004 server:0 deleted 0x4 /value by s3
0.005 a overwrite#3 call /value
0.005 a #3 given one 0x0
0.005 a #3 send r3 create /value
0.006 server:0 #3 txn 0x5 s1 create ok
0.006 server:0 #3 created 0x5 /value s0
";
    let anew = format!("{again}0.006 {}\n0.007 a #3 reply r3 ok 0x5\n0.007 a #3 return done\n", data("one"));
    let taken = edit(
        &with_a_third(&conflict),
        "0.010 b compare_and_set#2",
        &format!("{anew}0.010 b compare_and_set#2"),
    );
    let taken = taken.replace("0x4 s2 set", "0x6 s2 set").replace("written 0x4", "written 0x6");
    let taken = taken.replace("r2 ok 0x4", "r2 ok 0x6");
    says(&taken, "AN-3 vacuous, CF-7 pass");
    // It expected the value that it has overwritten.
    says(&edit(&taken, "given two 0x3", "given two 0x5"), "AN-3 fail");
    // It is replaced only after the write, and the writer has not learned of that write.
    let after = edit(&written_twice(), "0.012 b #2 reply r2 ok 0x4\n", "");
    let after = with_a_third(&after);
    let anew = anew.replace("0.00", "0.01").replace("0x5", "0x6").replace("0x4 ", "0x5 ");
    let after = edit(&after, "0.012 b #2 return done", &format!("{anew}0.019 b #2 return refused conflict"));
    says(&after, "AN-3 vacuous, CF-7 pass");
    says(&without(&after, "created 0x6"), "AN-3 fail");
    // No foreign client has touched the value.
    says(&without(&taken, "foreign_delete"), "AN-3 fail");
}

/// Two items are put as one, and one of them is claimed and confirmed.
fn put_and_confirmed() -> String {
    let head = head("queue /q at_least_once");
    let (one, two) = (data("one"), data("two"));
    format!(
        "{head}
0.001 a put#1 call /q
0.001 a #1 given one 0x0
0.001 a #1 given two 0x0
0.001 a #1 send r1 multi /q/receipts/r
0.002 server:0 #1 txn 0x3 s1 multi ok
0.002 server:0 #1 created 0x3 /q/queue-0000000000 s0
0.002 {one}
0.002 server:0 #1 created 0x3 /q/queue-0000000001 s0
0.002 {two}
0.003 a #1 reply r1 ok 0x3
0.003 a #1 return done
0.010 b claim#2 call /q
0.010 b #2 send r2 multi /q/claims/queue-0000000000
0.011 server:0 #2 txn 0x4 s2 multi ok
0.011 server:0 #2 created 0x4 /q/claims/queue-0000000000 s2
0.012 b #2 reply r2 ok 0x4
0.012 b #2 observed /q item one 0x3
0.012 b #2 return done
0.020 b confirm#3 call /q
0.020 b #3 given one 0x0
0.020 b #3 send r3 multi /q/queue-0000000000
0.021 server:0 #3 txn 0x5 s2 multi ok
0.021 server:0 #3 deleted 0x5 /q/queue-0000000000 by s2
0.021 server:0 #3 deleted 0x5 /q/claims/queue-0000000000 by s2
0.022 b #3 reply r3 ok 0x5
0.022 b #3 return done
{END}"
    )
}

#[test]
fn a_put_has_put_all_its_items_in_their_order_as_one() {
    let right = put_and_confirmed();
    says(&right, "AN-1 pass");
    let short = without(&without(&right, "queue-0000000001"), &data("two"));
    says(&short, "AN-1 fail");
    let turned =
        right.replace(&data("one"), "ONE").replace(&data("two"), &data("one")).replace("ONE", &data("two"));
    says(&turned, "AN-1 fail");
    let apart = edit(
        &right,
        "0.002 server:0 #1 created 0x3 /q/queue-0000000001 s0\n0.002 ",
        "0.0025 server:0 #1 txn 0x13 s1 multi ok\n0.0025 server:0 #1 created 0x13 /q/queue-0000000001 s0\n0.0025 ",
    );
    says(&apart, "AN-1 fail");
}

#[test]
fn a_confirmation_has_deleted_the_item_and_a_lost_claim_was_lost() {
    let right = put_and_confirmed();
    let kept = without(&without(&right, "deleted 0x5 /q/queue"), "deleted 0x5 /q/claims");
    says(&kept, "AN-1 fail");
    let lost = edit(&kept, "b #3 return done", "b #3 return refused claim_lost");
    says(&lost, "AN-2 fail");
    let taken_away = edit(
        &lost,
        "0.020 b confirm#3",
        "0.015 server:0 txn 0x45 s1 delete ok\n0.015 server:0 deleted 0x45 /q/claims/queue-0000000000 by s1\n0.020 b confirm#3",
    );
    says(&taken_away, "AN-2 pass");
    // It gave its claim back before, or got it while it was confirming.
    let back = "0.015 b give_back#4 call /q\n0.015 b #4 given one 0x0\n0.015 server:0 #4 txn 0x45 s2 multi ok\n\
                0.015 server:0 #4 deleted 0x45 /q/claims/queue-0000000000 by s2\n0.015 b #4 return done\n";
    let given_back = edit(&lost, "0.020 b confirm#3", &format!("{back}0.020 b confirm#3"));
    says(&given_back, "AN-2 pass");
    let again = "0.021 b claim#5 call /q\n0.021 server:0 #5 txn 0x46 s2 multi ok\n\
                 0.021 server:0 #5 created 0x46 /q/claims/queue-0000000000 s2\n0.021 b #5 return done\n";
    says(&edit(&given_back, "0.022 b #3 reply", &format!("{again}0.022 b #3 reply")), "AN-2 pass");
}

#[test]
fn what_is_given_back_is_claimed_no_more() {
    let right = put_and_confirmed()
        .replace("confirm#3", "give_back#3")
        .replace("0.021 server:0 #3 deleted 0x5 /q/queue-0000000000 by s2\n", "");
    says(&right, "AN-1 pass");
    says(&without(&right, "deleted 0x5 /q/claims"), "AN-1 fail");
    // Another client overwrote the other item, so both have the same data; the client has claimed both, and gives one
    // back.
    let written = format!(
        "0.005 server:0 txn 0x35 s9 set ok\n0.005 server:0 written 0x35 /q/queue-0000000001\n0.005 {}\n0.010 b claim#2",
        data("one")
    );
    let both = edit(
        &edit(&right, "0.010 b claim#2", &written).replace("0x4", "0x44").replace("0x5 ", "0x55 "),
        "0.012 b #2 reply",
        "0.011 server:0 #2 created 0x44 /q/claims/queue-0000000001 s2\n0.012 b #2 reply",
    );
    says(&both, "AN-1 pass");
    says(&without(&both, "deleted 0x55 /q/claims"), "AN-1 fail");
}

/// Two sites of a transaction: one begins it and votes.
pub(crate) fn voted() -> String {
    let head = head("two_phase_commit /tx size 2");
    let (nothing, vote) = (data(""), data("commit"));
    format!(
        "{head}
0.001 a begin#1 call /tx
0.001 a #1 given begin 0xffff
0.001 a #1 send r1 multi /tx
0.002 server:0 #1 txn 0x3 s1 multi ok
0.002 server:0 #1 created 0x3 /tx s0
0.002 server:0 #1 created 0x3 /tx/s_a s0
0.002 {nothing}
0.002 server:0 #1 created 0x3 /tx/s_b s0
0.002 {nothing}
0.003 a #1 reply r1 ok 0x3
0.003 a #1 return done
0.010 a vote#2 call /tx
0.010 a #2 given commit 0x0
0.010 a #2 send r2 multi /tx/s_a
0.011 server:0 #2 txn 0x4 s1 multi ok
0.011 server:0 #2 written 0x4 /tx/s_a
0.011 {vote}
0.012 a #2 reply r2 ok 0x4
0.012 a #2 return done
{END}"
    )
}

#[test]
fn a_vote_is_cast_unless_the_transaction_was_decided_without_it() {
    let right = voted();
    says(&right, "AN-1 pass");
    let not_cast = without(&without(&right, "written 0x4"), &data("commit"));
    says(&not_cast, "AN-1 fail");
    says(&edit(&right, &data("commit"), &data("abort")), "AN-1 fail");
    let decided = edit(
        &not_cast,
        "0.010 a vote#2",
        "0.005 server:0 txn 0x34 s2 create ok\n0.005 server:0 created 0x34 /tx/decision s0\n0.010 a vote#2",
    );
    says(&decided, "AN-1 pass");
}

#[test]
fn a_name_that_was_given_back_is_gone_and_one_that_is_taken_is_somebodys() {
    let right = head("name_service /names stop margin 0.4")
        + "
0.001 a register#1 call /names
0.001 a #1 given db 0x0
0.001 a #1 send r1 create /names/db
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/db s1
0.003 a #1 reply r1 ok 0x3
0.003 a #1 observed /names name db 0x3
0.003 a #1 return done
0.010 b register#2 call /names
0.010 b #2 given db 0x0
0.010 b #2 send r2 create /names/db
0.011 server:0 #2 txn 0x4 s2 create node_exists
0.012 b #2 reply r2 node_exists 0x4
0.012 b #2 return refused taken
0.020 a unregister#3 call /names
0.020 a #3 given db 0x0
0.020 a #3 send r3 delete /names/db
0.021 server:0 #3 txn 0x5 s1 delete ok
0.021 server:0 #3 deleted 0x5 /names/db by s1
0.022 a #3 reply r3 ok 0x5
0.022 a #3 return done
" + END;
    says(&right, "all pass, AN-1 pass, AN-2 pass");
    says(&without(&right, "deleted 0x5"), "AN-1 fail");
    says(&edit(&right, "b #2 given db", "b #2 given web"), "first AN-2");
    // The end of a session that is known to be over deletes its name.
    let over = edit(
        &without(&right, "deleted 0x5"),
        "0.022 a #3 reply r3 ok 0x5",
        "0.022 a #3 lost r3\n0.022 a state s1 expired",
    );
    says(&over, "AN-1 pass");
}

#[test]
fn what_belongs_to_another_layer_or_was_not_said_is_not_judged() {
    // A directory that a refused call has made, and a receipt.
    let run = head("queue /q")
        + "
0.001 a put#1 call /q
0.001 a #1 given one 0x0
0.001 a #1 send r1 create /q
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /q s0
0.002 server:0 #1 created 0x3 /q/receipts s0
0.002 server:0 #1 created 0x3 /q/receipts/r s1
0.003 a #1 reply r1 no_auth 0x3
0.003 a #1 return refused denied
" + END;
    says(&run, "AN-2 pass, AN-3 pass");
}

#[test]
fn an_1_who_gives_a_hold_back_is_told_how_it_ended() {
    let releases = |told: &str| {
        let told = format!("0.022 a #3 observed /lock ending {told} 0x0\n0.022 a #3 return done");
        edit(A_RELEASES, "0.022 a #3 return done", &told)
    };
    let run = |told: &str| [HEAD, A_HOLDS, B_WAITS, &releases(told), B_HOLDS].concat();
    says(&run("clean"), "AN-1 pass, first nothing");
    for reason in ["removed", "session_over", "deadline_passed"] {
        says(&run(reason), "AN-1 fail");
    }
    // The hold had been reported lost.
    let lost = edit(&run("clean"), "a #1 unbelieve released", "a #1 unbelieve lost");
    says(&lost, "AN-1 fail");
    let asked = "0.019 a #1 observed /lock state lost 0x0\n0.020 a #1 unbelieve released";
    says(&edit(&run("clean"), "0.020 a #1 unbelieve released", asked), "AN-1 fail");
    // A foreign client had deleted it.
    let gone = "0.015 world fault foreign_delete a\n0.015 server:0 txn 0x5 s0 delete ok\n\
                0.015 server:0 deleted 0x5 /lock/a-0 by s0\n";
    let late = "0.020 a #1 unbelieve released\n0.020 a release#3 call /lock\n0.020 a #3 send r6 delete /lock/a-0\n\
                0.021 server:0 #3 txn 0x6 s1 delete no_node\n0.022 a #3 reply r6 no_node 0x6\n\
                0.022 a #3 observed /lock ending clean 0x0\n0.022 a #3 return done\n";
    let late = [HEAD, A_HOLDS, gone, late].concat();
    says(&late, "AN-1 fail");
    says(&edit(&late, "ending clean", "ending removed"), "AN-1 pass");
    // Its own request deleted it, and its session ended at the same time.
    let own = "0.021 server:0 #3 deleted 0x5 /lock/a-0 by s1";
    let ends = format!("{own}\n0.021 server:0 txn 0x6 s1 close_session ok\n0.021 server:0 ended s1 0x6");
    let a_goes = edit(&releases("clean"), own, &ends);
    says(&[HEAD, A_HOLDS, B_WAITS, &a_goes].concat(), "AN-1 pass");
    // It was deleted with its session, whose requests are not served any more.
    let over = "0.015 server:0 txn 0x5 s1 close_session ok\n0.015 server:0 deleted 0x5 /lock/a-0 by s1\n\
                0.015 server:0 ended s1 0x5\n0.020 a #1 unbelieve released\n0.020 a release#3 call /lock\n\
                0.020 a #3 send r6 delete /lock/a-0\n0.021 a #3 lost r6\n0.021 a state s1 suspended\n\
                0.022 a state s1 expired\n0.022 a #3 observed /lock ending clean 0x0\n0.022 a #3 return done\n";
    let over = [HEAD, A_HOLDS, over].concat();
    says(&over, "AN-1 fail");
    says(&edit(&over, "ending clean", "ending session_over"), "AN-1 pass");
}

#[test]
fn a_client_that_dies_takes_none_of_the_calls_of_others_along() {
    let right = raised_and_lowered();
    let dies =
        |who: &str| edit(&right, "0.003 a #1 reply", &format!("0.0025 world crash {who}\n0.003 a #1 reply"));
    let (_, later) = right.split_once("0.010 b").expect("b lowers it");
    let alone = edit(&dies("b"), &format!("0.010 b{later}"), "");
    says(&alone, "AN-1 pass");
    says(&without(&alone, "created 0x3"), "AN-1 fail");
    // A dead client returns nothing.
    let told_nothing = without(&without(&dies("a"), "a #1 reply"), "a #1 return");
    says(&told_nothing, "AN-1 pass");
}
