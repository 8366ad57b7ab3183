//! Answers about several things at once, about replaced data, and about the payload of a transaction.

use crate::answers::{END, data, head};
use crate::common::*;

/// Without all lines that contain this.
fn without_all(text: &str, part: &str) -> String {
    text.lines().filter(|line| !line.contains(part)).map(|line| format!("{line}\n")).collect()
}

/// One client claims two items and confirms them together with a write of the caller.
fn confirmed() -> String {
    let (one, two, result) = (data("one"), data("two"), data("done"));
    head("queue /q at_least_once")
        + &format!(
            "
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
0.010 a claim#2 call /q
0.010 a #2 send r2 multi /q/claims/queue-0000000000
0.011 server:0 #2 txn 0x4 s1 multi ok
0.011 server:0 #2 created 0x4 /q/claims/queue-0000000000 s1
0.011 server:0 #2 created 0x4 /q/claims/queue-0000000001 s1
0.012 a #2 reply r2 ok 0x4
0.012 a #2 observed /q item one 0x3
0.012 a #2 observed /q attempts one 0x1
0.012 a #2 observed /q item two 0x3
0.012 a #2 observed /q attempts two 0x1
0.012 a #2 return done
0.020 a confirm#3 call /q
0.020 a #3 given one 0x0
0.020 a #3 given two 0x0
0.020 a #3 given /results/both 0x0
0.020 a #3 send r3 multi /q/queue-0000000000
0.021 server:0 #3 txn 0x5 s1 multi ok
0.021 server:0 #3 deleted 0x5 /q/queue-0000000000 by s1
0.021 server:0 #3 deleted 0x5 /q/claims/queue-0000000000 by s1
0.021 server:0 #3 deleted 0x5 /q/queue-0000000001 by s1
0.021 server:0 #3 deleted 0x5 /q/claims/queue-0000000001 by s1
0.021 server:0 #3 created 0x5 /results/both s0
0.021 {result}
0.022 a #3 reply r3 ok 0x5
0.022 a #3 return done
{END}"
        )
}

#[test]
fn a_batch_is_confirmed_as_one_together_with_the_writes_of_its_caller() {
    says(&confirmed(), "AN-1 pass, QU-1 pass");
    let without_one = without(&confirmed(), "deleted 0x5 /q/queue-0000000001");
    says(&without(&without_one, "deleted 0x5 /q/claims/queue-0000000001"), "AN-1 fail");
    let without_write = without(&without(&confirmed(), "created 0x5 /results"), &data("done"));
    says(&without_write, "AN-1 fail");
    let apart = edit(
        &confirmed(),
        "0.021 server:0 #3 created 0x5 /results/both s0\n",
        "0.0215 server:0 #3 txn 0x6 s1 create ok\n0.0215 server:0 #3 created 0x6 /results/both s0\n",
    );
    says(&apart.replace("0.021 server:0 data 4", "0.0215 server:0 data 4"), "AN-1 fail");
}

#[test]
fn a_confirmation_that_failed_has_left_no_write_of_its_caller() {
    let nothing_confirmed = without_all(&confirmed(), "deleted 0x5");
    says(&edit(&nothing_confirmed, "a #3 return done", "a #3 return refused claim_lost"), "AN-3 fail");
}

#[test]
fn one_lost_claim_of_several_is_enough() {
    let nothing = without(&without(&without_all(&confirmed(), "deleted 0x5"), "created 0x5"), &data("done"));
    let lost = edit(&nothing, "a #3 return done", "a #3 return refused claim_lost");
    says(&lost, "AN-2 fail");
    let taken_away = edit(
        &lost,
        "0.020 a confirm#3",
        "0.015 server:0 txn 0x45 s2 delete ok\n0.015 server:0 deleted 0x45 /q/claims/queue-0000000001 by s2\n0.020 a confirm#3",
    );
    says(&taken_away, "AN-2 pass");
}

#[test]
fn what_is_put_or_confirmed_is_something() {
    says(&without_all(&confirmed(), "#3 given"), "AN-1 fail");
    let nothing_put =
        head("queue /q at_least_once") + "\n0.001 a put#1 call /q\n0.001 a #1 return done\n" + END;
    says(&nothing_put, "AN-1 fail");
}

#[test]
fn the_number_of_deliveries_is_the_number_of_claims() {
    says(&confirmed().replace("attempts two 0x1", "attempts two 0x2"), "first QU-1");
}

#[test]
fn a_try_has_found_nothing_if_nothing_of_its_own_session_was_there() {
    let tries = confirmed().replace("a #2 observed", "a #9 observed");
    let until_claim = tries.split("0.011 server:0 #2").next().expect("there is a beginning").to_owned();
    let nothing =
        format!("{until_claim}0.012 a #2 reply r2 ok 0x3\n0.012 a #2 return refused nothing\n{END}");
    says(&nothing, "AN-2 fail");
    // Another session may not know of them yet.
    let another = nothing.replace("a claim#2", "b claim#2").replace(" a #2", " b #2");
    says(&another, "AN-2 pass");
}

#[test]
fn numbers_that_have_run_out_are_met_as_a_znode_that_exists() {
    let put = |code| {
        head("queue /q")
            + &format!(
                "
0.001 a put#1 call /q
0.001 a #1 given one 0x0
0.001 a #1 send r1 multi /q/receipts/r
0.003 a #1 reply r1 {code} 0x3
0.003 a #1 return refused exhausted
{END}"
            )
    };
    says(&put("node_exists"), "AN-2 pass");
    says(&put("ok"), "AN-2 fail");
}

/// A client is a member, and replaces its data; another one follows the group.
fn replaced() -> String {
    let (first, second) = (data("first"), data("second"));
    head("group /g stop margin 0.4")
        + &format!(
            "
0.001 server:0 txn 0x3 s1 create ok
0.001 server:0 created 0x3 /g s0
0.010 a join#1 call /g
0.010 a #1 given m1 0x0
0.010 a #1 send r1 create /g/m1
0.011 server:0 #1 txn 0x4 s1 create ok
0.011 server:0 #1 created 0x4 /g/m1 s1
0.011 {first}
0.012 a #1 reply r1 ok 0x4
0.012 a #1 observed /g name m1 0x4
0.012 a #1 return done
0.020 a replace#2 call /g
0.020 a #2 given second 0x0
0.020 a #2 given /g/m1 0x0
0.020 a #2 send r2 set /g/m1
0.021 server:0 #2 txn 0x5 s1 set ok
0.021 server:0 #2 written 0x5 /g/m1
0.021 {second}
0.022 a #2 reply r2 ok 0x5
0.022 a #2 return done
0.030 a watch#3 call /g
0.030 a #3 send r3 children /g watch
0.031 server:0 arm s1 child /g
0.032 a #3 reply r3 ok 0x5
0.032 a #3 observed /g view m1 0x4
0.032 a #3 observed /g member_data m1=second 0x4
{END}"
        )
}

#[test]
fn data_are_replaced_by_those_that_were_given() {
    says(&replaced(), "AN-1 pass, GM-1 pass, GM-4 pass");
    says(&without(&without(&replaced(), "written 0x5"), &data("second")), "AN-1 fail");
    says(&edit(&replaced(), &data("second"), &data("third")), "AN-1 fail");
    says(&edit(&replaced(), "a #2 return done", "a #2 return refused"), "AN-3 fail");
    let not_written = without(&without(&replaced(), "written 0x5"), &data("second"));
    says(&edit(&not_written, "a #2 return done", "a #2 return refused removed"), "AN-2 fail");
}

#[test]
fn a_view_shows_data_that_stand() {
    says(&replaced().replace("m1=second", "m1=third"), "GM-1 fail");
    // Data that its own session has replaced are outdated.
    says(&replaced().replace("m1=second", "m1=first"), "GM-1 fail");
    let another =
        replaced().replace(" a watch#3", " b watch#3").replace(" a #3", " b #3").replace("arm s1", "arm s2");
    says(&another.replace("m1=second", "m1=first"), "GM-1 pass");
    let back = another.replace(END, &format!("0.033 b #3 observed /g member_data m1=first 0x4\n{END}"));
    says(&back, "GM-1 fail");
    // It has asked for the data of all members.
    says(&another.replace("member_data m1=second", "member_data m1"), "GM-1 fail");
}

#[test]
fn a_membership_knows_its_znode() {
    says(&replaced().replace("name m1 0x4", "name m1 0x3"), "GM-4 fail");
    says(&replaced().replace("name m1 0x4", "name m2 0x4"), "GM-4 fail");
}

#[test]
fn whoever_joins_again_is_told_before_its_time_limit_is_over() {
    let again = |id: &str, ends: &str| {
        let join = format!(
            "0.025 a join#4 call /g limit 1\n0.025 a #4 given {id} 0x0\n1.026 a #4 return refused {ends}\n1.030 a watch#3"
        );
        edit(&replaced(), "0.030 a watch#3", &join).replace(" 0.03", " 1.03").replace("\n0.03", "\n1.03")
    };
    says(&again("m1", "already_joined"), "AN-2 pass");
    says(&again("m1", "timed_out"), "AN-2 fail");
    says(&again("m2", "timed_out"), "AN-2 pass");
    // A client that has abandoned its membership may still wait for its clean-up.
    let given_up = "0.024 a release#5 call /g\n0.024 a #5 return cancelled\n0.025 a join#4";
    says(&edit(&again("m1", "timed_out"), "0.025 a join#4", given_up), "AN-2 pass");
}

#[test]
fn a_consumer_gets_no_more_than_it_asked_for() {
    let asked = |count: u32| {
        let given = format!("0.010 a #2 given \"\" {count}\n0.010 a #2 send r2");
        edit(&confirmed(), "0.010 a #2 send r2", &given)
    };
    says(&asked(2), "AN-1 pass");
    says(&asked(3), "AN-1 pass");
    says(&asked(1), "AN-1 fail");
}

#[test]
fn whoever_has_joined_already_has_a_znode() {
    let again = |id: &str| {
        let join = format!(
            "0.025 a join#4 call /g\n0.025 a #4 given {id} 0x0\n0.025 a #4 return refused already_joined\n0.030 a watch#3"
        );
        edit(&replaced(), "0.030 a watch#3", &join)
    };
    says(&again("m1"), "AN-2 pass");
    says(&again("m2"), "AN-2 fail");

    // Its session has ended, and it has not learned of that.
    let ends = "0.024 server:0 txn 0x6 s1 close_session ok\n0.024 server:0 deleted 0x6 /g/m1 by s1\n0.024 server:0 ended s1 0x6\n";
    let unheard = |heard: &str| edit(&again("m1"), "0.025 a join#4", &format!("{ends}{heard}0.025 a join#4"));
    says(&unheard(""), "AN-2 pass");
    says(&unheard("0.024 a state s1 expired\n"), "AN-2 fail");
    // Another client has had the name since.
    let taken = "0.024 server:0 txn 0x8 s2 create ok\n0.024 server:0 created 0x8 /g/m1 s2\n";
    says(&unheard(taken), "AN-2 pass");
    says(&unheard(&["0.024 a state s1 expired\n", taken].concat()), "AN-2 fail");
    // Its clean-up has deleted the znode before.
    let cleaned = "0.023 server:0 txn 0x6 s1 delete ok\n0.023 server:0 deleted 0x6 /g/m1 by s1\n0.024 server:0 txn 0x7 s1 close_session ok\n0.024 server:0 ended s1 0x7\n";
    says(&edit(&unheard(""), ends, cleaned), "AN-2 fail");
}

/// A transaction of two sites is begun, and one of them opens it and votes.
fn opened() -> String {
    let (nothing, vote) = (data(""), data("commit"));
    head("two_phase_commit /tx size 2")
        + &format!(
            "
0.001 a begin#1 call /tx
0.001 a #1 given work 0xffff
0.001 a #1 given a,b 0xffff
0.001 a #1 send r1 multi /tx
0.002 server:0 #1 txn 0x3 s1 multi ok
0.002 server:0 #1 created 0x3 /tx s0
0.002 server:0 #1 created 0x3 /tx/s_a s0
0.002 {nothing}
0.002 server:0 #1 created 0x3 /tx/s_b s0
0.002 {nothing}
0.003 a #1 reply r1 ok 0x3
0.003 a #1 observed /tx view a,b 0x0
0.003 a #1 observed /tx name /tx 0x0
0.003 a #1 return done
0.010 a open#2 call /tx
0.010 a #2 given a 0x0
0.010 a #2 send r2 get /tx
0.011 a #2 reply r2 ok 0x3
0.011 a #2 observed /tx value work 0x0
0.011 a #2 observed /tx view a,b 0x0
0.011 a #2 return done
0.020 a vote#3 call /tx
0.020 a #3 given commit 0x0
0.020 a #3 send r3 multi /tx/s_a
0.021 server:0 #3 txn 0x4 s1 multi ok
0.021 server:0 #3 written 0x4 /tx/s_a
0.021 {vote}
0.022 a #3 reply r3 ok 0x4
0.022 a #3 return done
0.030 a vote#4 call /tx
0.030 a #4 given abort 0x0
0.030 a #4 send r4 multi /tx/s_a
0.032 a #4 reply r4 bad_version 0x4
0.032 a #4 return refused already_voted
{END}"
        )
}

#[test]
fn a_site_and_a_coordinator_are_told_what_the_transaction_was_begun_with() {
    says(&opened(), "AN-1 pass, AN-2 pass");
    says(&opened().replace("value work", "value play"), "AN-1 fail");
    says(&edit(&opened(), "a #2 observed /tx view a,b", "a #2 observed /tx view a"), "AN-1 fail");
    says(&edit(&opened(), "a #1 observed /tx view a,b", "a #1 observed /tx view b"), "AN-1 fail");
    says(&opened().replace("name /tx 0x0", "name /ty 0x0"), "AN-1 fail");
}

#[test]
fn a_second_vote_is_the_other_one() {
    says(&edit(&opened(), "a #4 given abort", "a #4 given commit"), "AN-2 fail");
    let first = without(&without_all(&without_all(&opened(), "vote#3"), "#3"), &data("commit"));
    says(&first, "AN-2 fail");
    // A foreign client may have cast the vote, and a capture does not show the vote.
    let touched = "0.025 b fault foreign_write b\n0.025 server:0 txn 0x5 s2 other ok\n\
                   0.025 server:0 written 0x5 /tx/s_a\n";
    says(&edit(&first, "0.030 a vote", &format!("{touched}0.030 a vote")), "AN-2 pass");
    says(&first.replace("run sim", "run client"), "AN-2 pass");
}

#[test]
fn a_site_that_is_no_participant_is_not_named() {
    let refused = without_all(&opened(), "a #2 observed")
        .replace("a #2 return done", "a #2 return refused not_a_participant");
    says(&refused, "AN-2 fail");
    says(&refused.replace("a #2 given a", "a #2 given z"), "AN-2 pass");
}

/// A name is registered and its value replaced, while another client follows it.
fn followed() -> String {
    let (first, second) = (data("first"), data("second"));
    head("name_service /names stop margin 0.4")
        + &format!(
            "
0.001 b follow#1 call /names
0.001 b #1 given db 0x0
0.010 a register#2 call /names
0.010 a #2 given db 0x0
0.010 a #2 send r2 create /names/db
0.011 server:0 #2 txn 0x3 s1 create ok
0.011 server:0 #2 created 0x3 /names/db s1
0.011 {first}
0.012 a #2 reply r2 ok 0x3
0.012 a #2 observed /names name db 0x3
0.012 a #2 return done
0.013 b #1 observed /names value first 0x3
0.020 a replace#3 call /names
0.020 a #3 given second 0x0
0.020 a #3 given /names/db 0x0
0.020 a #3 send r3 set /names/db
0.021 server:0 #3 txn 0x4 s1 set ok
0.021 server:0 #3 written 0x4 /names/db
0.021 {second}
0.022 a #3 reply r3 ok 0x4
0.022 a #3 return done
0.023 b #1 observed /names value second 0x4
0.050 world heal
8.000 b #1 return done
{END}"
        )
}

#[test]
fn a_follower_of_a_name_is_told_its_values_in_their_order_to_the_last() {
    says(&followed(), "NS-5 pass, AN-1 pass");
    says(&followed().replace("value second 0x4", "value third 0x4"), "NS-5 fail");
    says(&without(&followed(), "value second"), "NS-5 fail");
    let back = followed()
        .replace("0.050 world heal", "0.024 b #1 observed /names value first 0x3\n0.050 world heal");
    says(&back, "NS-5 fail");
}
