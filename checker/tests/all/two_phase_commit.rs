//! Transactions in two phases: a history and a verdict.

use crate::common::{calm, edit, history, holds, without};
use zk_checker::{Layer, Report, RuleSet, digest, judge};

/// The report on the recipe: ZooKeeper itself is not judged here.
fn report(text: &str) -> Report {
    judge(&history(text), &RuleSet::all().without_layer(Layer::ZooKeeper))
}

#[track_caller]
fn says(text: &str, verdict: &str) {
    holds(&report(text), text, verdict);
}

/// Two sites of one transaction, and no coordinator.
const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
two_phase_commit /tx size 2
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a begin#1 call /tx
0.001 a #1 given \"\" 65535
0.002 server:0 #1 txn 0x3 s1 multi ok
0.002 server:0 #1 created 0x3 /tx s0
0.002 server:0 #1 created 0x3 /tx/s_0 s0
0.002 server:0 #1 created 0x3 /tx/s_1 s0
0.002 server:0 #1 created 0x3 /tx/tally s0
0.003 a #1 return done
";

/// Data as recorded from the servers.
fn data(text: &str) -> String {
    format!("data {} {:#x}", text.len(), digest::data(Some(text.as_bytes())))
}

/// A site casts its vote, and the call returns done; `also` are the znodes created in the same transaction.
fn votes(at: u32, who: &str, op: u32, site: u32, vote: &str, also: &str) -> String {
    let zxid = op + 0x10;
    let data = data(vote);
    format!(
        "0.{at:03} {who} vote#{op} call /tx
         0.{at:03} {who} #{op} given \"{vote}\" {site}
         0.{at:03} server:0 #{op} txn {zxid:#x} s1 multi ok
         0.{at:03} server:0 #{op} written {zxid:#x} /tx/s_{site}
         0.{at:03} server:0 #{op} {data}
         {also}0.{at:03} {who} #{op} return done\n"
    )
}

/// An operation records the decision.
fn record(at: u32, op: u32, word: &str) -> String {
    let (zxid, data) = (op + 0x10, data(word));
    format!(
        "0.{at:03} server:0 #{op} created {zxid:#x} /tx/decision s0
         0.{at:03} server:0 #{op} {data}\n"
    )
}

/// A site learns the decision.
fn told(at: u32, who: &str, op: u32, site: u32, word: &str) -> String {
    format!(
        "0.{at:03} {who} decide#{op} call /tx
         0.{at:03} {who} #{op} given \"\" {site}
         0.{at:03} {who} #{op} observed /tx decision \"{word}\" {site}
         0.{at:03} {who} #{op} return done\n"
    )
}

fn both_commit() -> String {
    let first = votes(10, "a", 2, 0, "commit", "");
    let second = votes(20, "b", 3, 1, "commit", &record(20, 3, "commit"));
    [HEAD, &first, &second].concat()
}

const QUIET: &str = "0.900 world heal\n0.900 world quiesce\n";

#[test]
fn a_calm_commit_passes() {
    let run =
        [&both_commit(), &*told(30, "a", 4, 0, "commit"), &told(31, "b", 5, 1, "commit"), QUIET].concat();
    says(&run, "all pass, first nothing, TC-1 pass, TC-3 pass, TC-4 pass, TC-5 pass, TC-6 pass, TC-7 pass");
    says(&run, "TC-9 pass, TC-10 pass, TC-2 vacuous, TC-8 vacuous, TC-11 vacuous, TC-13 vacuous");
}

#[test]
fn histories_without_a_transaction_prove_nothing() {
    for rule in zk_checker::RuleId::ALL.iter().filter(|rule| rule.name().starts_with("TC")) {
        says(&calm(), &format!("{rule} vacuous"));
    }
}

#[test]
fn tc_1_sites_that_disagree() {
    let run = [&both_commit(), &*told(30, "a", 4, 0, "commit"), &told(31, "b", 5, 1, "abort")].concat();
    says(&run, "TC-1 fail, TC-2 vacuous");
    says(&told_only(&run), "TC-1 fail, first TC-1");
}

#[test]
fn tc_2_a_site_that_changes_its_mind() {
    let run = [&both_commit(), &*told(30, "a", 4, 0, "commit"), &told(31, "b", 5, 0, "abort")].concat();
    says(&run, "TC-2 fail, TC-1 vacuous");
    says(&told_only(&run), "TC-2 fail");
    let run = [&both_commit(), &*told(30, "a", 4, 0, "commit"), &told(31, "b", 5, 0, "commit")].concat();
    says(&run, "TC-2 pass");
}

/// The same as a capture.
fn told_only(run: &str) -> String {
    let seen = |line: &&str| !line.contains("server:0");
    run.replace("run sim", "run client").lines().filter(seen).map(|line| format!("{line}\n")).collect()
}

#[test]
fn tc_3_commit_without_a_vote() {
    let first = votes(10, "a", 2, 0, "commit", "");
    let run = [HEAD, &first, &told(30, "a", 4, 0, "commit")].concat();
    says(&run, "TC-3 fail");
    says(&told_only(&run), "TC-3 fail, first TC-3");
    let refuses = votes(20, "b", 3, 1, "abort", "");
    says(&told_only(&[HEAD, &first, &refuses, &told(30, "a", 4, 0, "commit")].concat()), "TC-3 fail");
    // A vote whose reply was lost may have been cast.
    let lost = edit(&votes(20, "b", 3, 1, "commit", ""), "return done", "return unknown");
    says(&told_only(&[HEAD, &first, &lost, &told(30, "a", 4, 0, "commit")].concat()), "TC-3 pass");
}

#[test]
fn tc_3_the_vote_of_a_former_session_counts() {
    let first = votes(10, "a", 2, 0, "commit", "");
    let stands = "0.020 b vote#3 call /tx
0.020 b #3 given \"abort\" 1
0.020 b #3 observed /tx vote \"commit\" 1
0.020 b #3 return done
";
    says(
        &told_only(&[HEAD, &first, stands, &told(30, "a", 4, 0, "commit")].concat()),
        "TC-3 pass, TC-6 pass",
    );
}

#[test]
fn tc_4_abort_of_what_all_had_voted_for() {
    let votes = [votes(10, "a", 2, 0, "commit", ""), votes(20, "b", 3, 1, "commit", "")].concat();
    let run = [HEAD, &votes, &told(30, "a", 4, 0, "abort")].concat();
    says(&told_only(&run), "TC-4 fail, first TC-4");
    // The time limit of an operation ended before the last vote.
    let patience = "0.004 c decide#9 call /tx limit 0.010\n0.004 c #9 given \"\" 65535\n";
    says(&told_only(&[HEAD, patience, &votes, &told(30, "a", 4, 0, "abort")].concat()), "TC-4 vacuous");
    let patience = patience.replace("0.010", "0.100");
    says(&told_only(&[HEAD, &patience, &votes, &told(30, "a", 4, 0, "abort")].concat()), "TC-4 fail");
    let resumed = "0.004 c decide#9 call /tx\n0.004 c #9 given \"resume\" 65535\n";
    says(&told_only(&[HEAD, resumed, &votes, &told(30, "a", 4, 0, "abort")].concat()), "TC-4 vacuous");
    let fault = "0.004 world fault disconnect a\n";
    says(&told_only(&[HEAD, fault, &votes, &told(30, "a", 4, 0, "abort")].concat()), "TC-4 vacuous");
}

#[test]
fn tc_4_an_abort_over_a_complete_set_whatever_has_gone_wrong() {
    let both = [votes(10, "a", 2, 0, "commit", ""), votes(20, "b", 3, 1, "commit", "")].concat();
    let decides = ["0.025 a decide#4 call /tx limit 0.001\n", &record(26, 4, "abort")].concat();
    let fault = "0.004 world fault disconnect a\n";
    says(&[HEAD, fault, &both, &decides].concat(), "TC-4 fail, first TC-4");
    // Recorded before the last vote, the abort is a proposal like any other.
    let decides = ["0.015 a decide#4 call /tx limit 0.001\n", &record(16, 4, "abort")].concat();
    let first = votes(10, "a", 2, 0, "commit", "");
    let late = votes(20, "b", 3, 1, "commit", "");
    says(&[HEAD, &first, &decides, &late, &told(30, "b", 5, 1, "abort")].concat(), "TC-4 vacuous, TC-8 pass");
}

#[test]
fn tc_5_a_site_that_is_never_told() {
    let run = [&both_commit(), &*told(30, "a", 4, 0, "commit"), QUIET].concat();
    says(&run, "TC-5 fail, first TC-5");
    says(&told_only(&run), "TC-5 fail");
    let crash = [&both_commit(), &*told(30, "a", 4, 0, "commit"), "0.500 world crash b\n", QUIET].concat();
    says(&crash, "TC-5 pass");
    let open = [&both_commit(), "0.030 b decide#5 call /tx\n0.030 b #5 given \"\" 1\n"].concat();
    says(&open, "TC-5 unknown");
}

#[test]
fn tc_6_a_vote_that_is_written_over() {
    let first = votes(10, "a", 2, 0, "commit", "");
    says(&[HEAD, &first, &votes(20, "b", 3, 0, "abort", "")].concat(), "TC-6 fail, first TC-6");
    says(&[HEAD, &first, &votes(20, "b", 3, 0, "commit", "")].concat(), "TC-6 fail, first TC-6");
    let foreign = format!("0.020 server:0 written 0x20 /tx/s_0\n0.020 server:0 {}\n", data("abort"));
    says(&[HEAD, &first, &foreign].concat(), "TC-6 pass");
    let told =
        "0.030 b decide#5 call /tx\n0.030 b #5 given \"\" 1\n0.030 b #5 observed /tx vote \"commit\" 0\n";
    says(&[HEAD, &first, told].concat(), "TC-6 pass");
    let other = "0.031 b #5 observed /tx vote \"abort\" 0\n";
    says(&told_only(&[HEAD, &first, told, other].concat()), "TC-6 fail");
}

#[test]
fn tc_7_a_decision_on_a_part_of_the_sites() {
    let half = without(HEAD, "/tx/s_1");
    let first = votes(10, "a", 2, 0, "commit", &record(10, 2, "commit"));
    says(&[half, first].concat(), "TC-7 fail, first TC-7");
    // The other site's znode was created between its list and its decision.
    let late = "0.010 server:0 created 0x12 /tx/s_1 s0\n";
    let decides = [late, &record(11, 2, "commit")].concat();
    let first = votes(10, "a", 2, 0, "commit", "");
    says(&[without(HEAD, "/tx/s_1"), first, decides].concat(), "TC-7 fail, first TC-7");
}

#[test]
fn tc_8_a_site_that_aborts_by_itself_after_yes() {
    let first = votes(10, "a", 2, 0, "commit", "");
    let run = [HEAD, &first, &told(30, "a", 4, 0, "abort")].concat();
    says(&run, "TC-8 fail, first TC-8");
    let on_record = ["0.015 b decide#9 call /tx limit 0.001\n", &record(16, 9, "abort")].concat();
    says(&[HEAD, &first, &on_record, &told(30, "a", 4, 0, "abort")].concat(), "TC-8 pass, first nothing");
    // The decision on record is another one, and the site has not read it.
    says(&[&both_commit(), &*told(30, "a", 4, 0, "abort")].concat(), "TC-8 fail, first TC-8");
}

#[test]
fn tc_9_a_record_that_is_not_obeyed_or_not_founded() {
    let looked = "0.029 a decide#4 call /tx
0.029 a #4 given \"\" 0
0.029 a #4 send r1 multi /tx/s_0
0.029 a #4 reply r1 node_exists 0x30
0.030 a #4 observed /tx decision \"abort\" 0
";
    says(&[&both_commit(), looked].concat(), "TC-9 fail, first TC-9");
    let half = votes(10, "a", 2, 0, "commit", &record(10, 2, "commit"));
    says(&[HEAD, &half].concat(), "TC-9 fail, first TC-9");
    let again = ["0.029 a decide#4 call /tx\n", &record(30, 4, "commit")].concat();
    says(&[&both_commit(), &*again].concat(), "TC-9 fail, first TC-9");
    let nowhere = [votes(10, "a", 2, 0, "commit", ""), votes(20, "b", 3, 1, "commit", "")].concat();
    says(&[HEAD, &nowhere, &told(30, "c", 5, 65535, "commit")].concat(), "TC-9 fail, first TC-9");
}

const EPHEMERAL: &str = "0.009 server:0 #2 created 0x11 /tx/v_0 s1\n";

#[test]
fn tc_10_votes_that_go_with_their_session() {
    let vote = votes(10, "a", 2, 0, "commit", "").replace("/tx/s_0", "/tx/v_0");
    let gone = "5.000 server:0 deleted 0x40 /tx/v_0 by s1\n";
    let decided = ["0.015 b decide#9 call /tx limit 0.001\n", &record(16, 9, "abort")].concat();
    says(&[HEAD, EPHEMERAL, &vote, gone].concat(), "TC-10 fail, first TC-10");
    says(&[HEAD, EPHEMERAL, &vote, &told(30, "a", 4, 0, "commit")].concat(), "TC-10 fail, first TC-10");
    says(&[HEAD, EPHEMERAL, &vote, &decided, gone].concat(), "TC-10 pass, first nothing");
}

#[test]
fn tc_11_a_record_that_is_removed_too_early() {
    let finish = |at: u32, who: &str, op: u32, site: u32| {
        format!("0.{at:03} {who} finish#{op} call /tx\n0.{at:03} {who} #{op} given \"\" {site}\n")
    };
    let removed = "0.050 server:0 #6 deleted 0x40 /tx/decision by s1\n";
    let one = [both_commit(), told(30, "a", 4, 0, "commit"), finish(40, "a", 6, 0)].concat();
    says(&[&one, removed].concat(), "TC-11 fail, first TC-11");
    let both =
        [both_commit(), told(30, "a", 4, 0, "commit"), told(31, "b", 5, 1, "commit"), finish(40, "a", 6, 0)];
    says(&[&both.concat(), removed].concat(), "TC-11 pass");
    let operator = [both_commit(), finish(40, "a", 6, 65535)].concat();
    says(&[&operator, removed].concat(), "TC-11 vacuous");
    says(&[&one, "0.050 server:0 deleted 0x40 /tx/decision by s0\n"].concat(), "TC-11 vacuous");
}

#[test]
fn tc_12_a_change_tells_each_session_once() {
    let fire = |at: u32, kind: &str, path: &str| format!("0.{at:03} server:0 fire s1 {kind} {path} 0x13\n");
    let run = [both_commit(), fire(20, "created", "/tx/decision")].concat();
    says(&run, "TC-12 pass");
    says(&[&run, &*fire(21, "children_changed", "/tx")].concat(), "TC-12 fail, first TC-12");
    // A watch registered again at a lagging server notifies of the same change again.
    says(&[&run, &*fire(21, "created", "/tx/decision")].concat(), "TC-12 pass");
    // An operation that waits for the begin may be notified in any way.
    says(
        &[&both_commit(), &*fire(21, "created", "/tx"), &fire(22, "created", "/tx/decision")].concat(),
        "TC-12 pass",
    );
    // A notification from re-registration belongs to no change.
    let again = fire(21, "created", "/tx/decision").replace("0x13", "0x0");
    says(&[&run, &*again].concat(), "TC-12 pass");
    let follows = edit(&run, "size 2", "size 2 textbook");
    says(&[&follows, &*fire(21, "data_changed", "/tx/s_1")].concat(), "TC-12 pass");
}

#[test]
fn tc_13_a_live_site_ends_or_is_blocked_by_somebody_who_is_named() {
    let first = votes(10, "a", 2, 0, "commit", "");
    let waits = "0.030 a decide#4 call /tx\n0.030 a #4 given \"\" 0\n0.040 world heal\n";
    let later = "9.000 b state s2 connected\n";
    says(&[HEAD, &first, waits, later].concat(), "TC-13 unavoidable, all unavoidable");
    let limited = waits.replace("call /tx", "call /tx limit 0.1");
    says(&[HEAD, &first, &limited, later].concat(), "TC-13 fail, first TC-13");
    says(&[&both_commit(), waits, later].concat(), "TC-13 fail, first TC-13");
    says(&[&both_commit(), waits, "3.000 b state s2 connected\n"].concat(), "TC-13 pass");
    let report = report(&[HEAD, &first, waits, later].concat());
    assert!(report.to_string().contains("by the vote of site 1"), "{report}");
}

#[test]
fn tc_8_who_was_served_the_record_has_looked() {
    let reads = |read: &str, code: &str| {
        format!(
            "0.029 a decide#4 call /tx
             0.029 a #4 given \"\" 0
             0.029 a #4 send r1 {read} /tx/decision
             0.030 server:0 #4 served r1 0x13
             0.030 server:0 #4 found {read} {code} /tx/decision 0 0
             0.030 a #4 reply r1 {code} 0x13
             0.030 a #4 observed /tx decision \"abort\" 0\n"
        )
    };
    says(&[both_commit(), reads("get", "ok")].concat(), "TC-9 fail, TC-8 pass, first TC-9");
    // It saw that the record exists, or did not find it.
    says(&[both_commit(), reads("exists", "ok")].concat(), "TC-8 fail, first TC-8");
    says(&[both_commit(), reads("get", "no_node")].concat(), "TC-8 fail, first TC-8");
}

#[test]
fn tc_6_a_vote_may_be_told_to_many() {
    let told = |at: u32, who: &str, op: u32, site: u32, vote: &str| {
        format!(
            "0.{at:03} {who} decide#{op} call /tx
             0.{at:03} {who} #{op} given \"\" {site}
             0.{at:03} {who} #{op} observed /tx vote \"{vote}\" 0\n"
        )
    };
    let first = votes(10, "a", 2, 0, "commit", "");
    let run = [HEAD, &first, &told(30, "b", 5, 1, "commit")].concat();
    says(&[&run, &*told(31, "a", 6, 0, "commit")].concat(), "TC-6 pass");
    says(&[&run, &*told(31, "a", 6, 0, "abort")].concat(), "TC-6 fail");
}

#[test]
fn an_1_a_vote_that_is_told_was_cast_and_no_more_come_when_all_are_told() {
    let told = |what: &str| {
        format!(
            "0.030 b decide#5 call /tx\n0.030 b #5 given \"\" 1\n0.030 b #5 send r90 get /tx/s_0\n\
             0.031 b #5 reply r90 ok 0x20\n{what}"
        )
    };
    let vote = |word: &str, site: u32| format!("0.032 b #5 observed /tx vote \"{word}\" {site}\n");
    let none = "0.033 b #5 observed /tx missing \"\" 1\n";
    let run = |what: &str| {
        let first = votes(10, "a", 2, 0, "commit", "");
        [HEAD, &first, &votes(20, "b", 3, 1, "commit", ""), &told(what)].concat()
    };
    says(&run(&[&*vote("commit", 0), none].concat()), "AN-1 pass");
    says(&run(&vote("abort", 0)), "AN-1 fail");
    says(&run(&vote("commit", 7)), "AN-1 fail");
    // There is no decision, and the other site's vote has not been observed yet.
    says(&run(none), "AN-1 fail");
    let heir = "0.032 b #5 observed /tx name /tx 65535\n";
    says(&run(heir), "AN-1 fail");
    let decided = "0.025 server:0 created 0x25 /tx/decision s0\n0.030 b decide#5 call";
    for what in [none, heir] {
        says(&edit(&run(what), "0.030 b decide#5 call", decided), "AN-1 pass");
    }
}

#[test]
fn tc_10_a_vote_that_somebody_takes_away_did_not_go_with_its_session() {
    let lasting = votes(10, "a", 2, 0, "commit", "");
    let ephemeral = [EPHEMERAL, &lasting.replace("/tx/s_0", "/tx/v_0")].concat();
    let operator = "4.000 a finish#8 call /tx\n4.000 a #8 given \"\" 65535\n";
    for (vote, gone, verdict) in [
        (&ephemeral, "server:0 deleted 0x40 /tx/v_0 by s1", "fail"),
        (&ephemeral, "server:0 deleted 0x40 /tx/v_0 by s2", "pass"),
        (&ephemeral, "server:0 #8 deleted 0x40 /tx/v_0 by s1", "pass"),
        (&lasting, "server:0 deleted 0x40 /tx/s_0 by s2", "pass"),
    ] {
        let run = [HEAD, vote, operator, "5.000 ", gone, "\n"].concat();
        says(&run, &format!("TC-10 {verdict}"));
    }
}

#[test]
fn tc_12_a_site_that_was_not_answered_may_arm_again_and_be_told_again() {
    let asks = [both_commit().as_str(), "0.021 a decide#4 call /tx\n0.021 a #4 given \"\" 0\n"].concat();
    let arms = |at: u32| format!("0.{at:03} server:0 #4 arm s1 child /tx\n");
    let fires = |at: u32, zxid: u32| {
        format!(
            "0.{at:03} server:0 fire s1 children_changed /tx {zxid:#x}
             0.{at:03} a notice s1 children_changed /tx\n"
        )
    };
    let decided = "0.022 server:0 fire s1 created /tx/decision 0x13\n";
    let (first, again) = ([arms(23), fires(24, 0x14)].concat(), [arms(26), fires(27, 0x15)].concat());
    // Notifications of a finish, before the operation knows the decision.
    says(&[&asks, decided, &first].concat(), "TC-12 pass");
    says(&[&asks, decided, &first, &again].concat(), "TC-12 pass");
    // The operation knows.
    let answer = "0.025 a #4 send r1 children /tx watch\n0.025 a #4 reply r1 ok 0x13\n";
    says(&[&asks, decided, &first, answer, &again].concat(), "TC-12 fail, first TC-12");
    // Each refused request is sent again, and arms its watch again.
    let refused = "0.022 a #4 send r2 get /tx\n0.022 a #4 reply r2 throttled 0x13\n";
    says(&[&asks, decided, refused, &first, answer, &again].concat(), "TC-12 pass");
    let thrice = [arms(29), fires(30, 0x16)].concat();
    says(&[&asks, decided, refused, &first, answer, &again, &thrice].concat(), "TC-12 fail");
}

#[test]
fn tc_12_what_is_sent_to_the_dead_tells_nobody() {
    let fire = |at: u32| format!("0.{at:03} server:0 fire s1 children_changed /tx 0x{at}\n");
    let run = |meanwhile: &str| [&both_commit(), &*fire(21), meanwhile, &fire(24)].concat();
    says(&run(""), "TC-12 fail, first TC-12");
    says(&run("0.022 world crash a\n"), "TC-12 pass");
    says(&run("0.022 server:0 ended s1 0x14\n"), "TC-12 pass");
}

#[test]
fn tc_12_a_coordinator_is_told_of_each_vote_and_of_the_decision() {
    let coordinated = edit(&both_commit(), "size 2", "size 2 coordinated");
    let coordinator = "0.021 a decide#7 call /tx\n0.021 a #7 given \"\" 65535\n";
    let told = "
0.022 server:0 fire s1 data_changed /tx/tally 0x12
0.023 server:0 fire s1 data_changed /tx/tally 0x13
0.024 server:0 fire s1 created /tx/decision 0x13
";
    says(&[&coordinated, coordinator, told].concat(), "TC-12 pass");
    let more = "0.025 server:0 fire s1 children_changed /tx 0x14\n";
    says(&[&coordinated, coordinator, told, more].concat(), "TC-12 fail, first TC-12");
}

#[test]
fn tc_13_a_site_may_wait_for_a_coordinator_if_there_is_one() {
    let all = [HEAD, &votes(10, "a", 2, 0, "commit", ""), &votes(20, "b", 3, 1, "commit", "")].concat();
    let waits = "0.030 a decide#4 call /tx\n0.030 a #4 given \"\" 0\n0.040 world heal\n";
    let later = "9.000 b state s2 connected\n";
    let coordinated = |run: &str| edit(run, "size 2", "size 2 coordinated");
    let blocked = [&coordinated(&all), waits, later].concat();
    says(&blocked, "TC-13 unavoidable, all unavoidable");
    let report = report(&blocked);
    assert!(report.to_string().contains("blocked, as allowed, by the coordinator"), "{report}");
    // There is no coordinator; the wait has a time limit; the transaction is decided.
    says(&[&all, waits, later].concat(), "TC-13 fail, first TC-13");
    let limited = edit(waits, "call /tx", "call /tx limit 0.1");
    says(&[&coordinated(&all), &*limited, later].concat(), "TC-13 fail");
    says(&[&coordinated(&both_commit()), waits, later].concat(), "TC-13 fail");
}
