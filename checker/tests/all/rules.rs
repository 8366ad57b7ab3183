//! Exclusion, grants, well-formedness and the report: a history and a verdict.

use crate::common::*;

const NOBODY_COMES: &str = "
run sim
lock /lock fenced
0.000 world start client:0
";

#[test]
fn a_calm_run_passes() {
    says(&calm(), "all pass, first nothing");
    says(&calm(), "MX-2 pass, MX-3 pass, MX-4 pass, MX-5 pass, MX-6 pass, MX-7 pass, MX-9 pass, MX-10 pass");
    says(&calm(), "MX-11 pass, MX-12 pass, MX-13 pass, W pass");
    says(&calm(), "MX-1 vacuous, MX-14 vacuous, MX-8 vacuous");
}

#[test]
fn a_run_without_operations_proves_nothing() {
    for rule in zk_checker::RuleId::ALL.iter().skip(1) {
        says(NOBODY_COMES, &format!("{rule} vacuous"));
    }
}

// ── MX-1 ──

const TWO_HOLDS: &str = "
run client clients a b
lock /lock until_deadline fenced
0.000 a acquire#1 call /lock
0.000 b acquire#2 call /lock
0.001 a #1 believe /lock s1 token 0x3
0.002 b #2 believe /lock s2 token 0x4
";

#[test]
fn mx_1_the_resource_follows_the_order_of_holds() {
    let first = "0.003 a #1 resource /lock token 0x3 accepted\n";
    let second = "0.004 b #2 resource /lock token 0x4 accepted\n";
    says(&[TWO_HOLDS, first, second].concat(), "MX-1 pass");
    let late = "0.005 a #1 resource /lock token 0x3 accepted";
    says(&[TWO_HOLDS, first, second, late].concat(), "MX-1 fail");
    says(&[TWO_HOLDS, first, second, &late.replace("accepted", "rejected")].concat(), "MX-1 pass");
    says(&[TWO_HOLDS, "0.003 a #1 resource /lock token 0x3 rejected"].concat(), "MX-1 fail");
    let unfenced = TWO_HOLDS.replace(" fenced", "");
    says(&[&unfenced, first, second, late].concat(), "MX-1 vacuous");
}

#[test]
fn mx_1_wrong_tokens_hide_nothing() {
    let late = "0.025 b #2 resource /lock token 0x1 accepted
                0.026 a #1 resource /lock token 0x9 accepted";
    says(&[HEAD, A_HOLDS, B_WAITS, A_RELEASES, B_HOLDS, late].concat(), "MX-1 fail, first MX-1");
}

// ── MX-2, MX-3, MX-14 ──

/// The session of the first holder expires, and the next one is granted.
const EXPIRY: &str = "
6.000 server:0 marked s1 heard 1.5
6.000 server:0 txn 0x5 s1 close_session ok
6.000 server:0 deleted 0x5 /lock/a-0 by s1
6.000 server:0 ended s1 0x5
6.000 server:0 fire s2 deleted /lock/a-0 0x5
6.001 b #2 notice s2 deleted /lock/a-0
6.001 b #2 send r7 children /lock
6.003 b #2 reply r7 ok 0x5
6.003 b #2 believe /lock s2 token 0x4
6.003 b #2 return done
";
const PAUSE: &str = "1.600 world fault client_pause a lasts 5\n";
const MENDED: &str = "6.600 world mended client_pause a\n";

#[test]
fn mx_2_a_pause_excuses_its_window() {
    let wakes = "6.600 a state s1 suspended\n6.600 a #1 unbelieve lost\n";
    let run = [HEAD, A_HOLDS, B_WAITS, PAUSE, EXPIRY, MENDED, wakes].concat();
    says(&run, "MX-2 unavoidable, MX-14 unavoidable, MX-3 pass, MX-5 pass, first nothing");
    let report = report(&run);
    assert_eq!((report.metrics.zombies, report.metrics.longest_zombie), (1, 597_000));
    says(&without(&without(&run, "mended"), "client_pause"), "MX-2 fail, first MX-2");
}

#[test]
fn mx_2_who_is_stopped_again_at_once_has_stood_still_all_along() {
    let again = "6.600 world fault client_pause a lasts 2\n8.600 world mended client_pause a\n";
    let wakes = "8.600 a state s1 suspended\n8.600 a #1 unbelieve lost\n";
    let run = [HEAD, A_HOLDS, B_WAITS, PAUSE, EXPIRY, MENDED, again, wakes].concat();
    says(&run, "MX-2 unavoidable, MX-14 unavoidable, first nothing");
    // A hundredth of a second is enough to act.
    says(&edit(&run, "6.600 world fault", "6.610 world fault"), "first MX-14, MX-2 fail");
}

#[test]
fn mx_2_who_is_stopped_twice_goes_on_when_both_are_over() {
    let shorter = "1.700 world fault client_pause a lasts 1\n2.700 world mended client_pause a\n";
    let wakes = "6.600 a state s1 suspended\n6.600 a #1 unbelieve lost\n";
    let run = [HEAD, A_HOLDS, B_WAITS, PAUSE, shorter, EXPIRY, MENDED, wakes].concat();
    says(&run, "MX-2 unavoidable, MX-14 unavoidable, first nothing");
    assert_eq!(report(&run).metrics.longest_zombie, 597_000);
}

#[test]
fn mx_2_the_window_ends_when_a_correct_client_must_have_stopped() {
    let late = "6.602 a state s1 suspended\n6.602 a #1 unbelieve lost\n";
    says(
        &[HEAD, A_HOLDS, B_WAITS, PAUSE, EXPIRY, MENDED, late].concat(),
        "MX-2 fail, MX-14 fail, first MX-14",
    );
}

#[test]
fn mx_2_a_holder_that_heard_of_the_disconnect_is_not_excused() {
    let told = "2.000 a state s1 suspended\n";
    let run = [HEAD, A_HOLDS, B_WAITS, told, EXPIRY].concat();
    says(&run, "first MX-14, MX-2 fail");
    // If holders may go on, the deadline still stops them: 4 s less 0.4 s after the last answered request.
    says(&edit(&run, "lock /lock stop", "lock /lock until_deadline"), "first MX-14, MX-2 fail");
}

#[test]
fn mx_2_who_has_no_right_excuses_nobody() {
    let grant = "1.700 b #2 believe /lock s2 token 0x4\n";
    says(&[HEAD, A_HOLDS, B_WAITS, PAUSE, grant].concat(), "MX-2 fail, first MX-4");
}

#[test]
fn mx_2_a_foreign_delete_excuses_until_it_is_told() {
    let gone = "
0.100 world fault foreign_delete a
0.100 server:0 txn 0x5 s0 delete ok
0.100 server:0 deleted 0x5 /lock/a-0 by s0
0.100 server:0 fire s2 deleted /lock/a-0 0x5
0.101 b #2 notice s2 deleted /lock/a-0
0.101 b #2 send r7 children /lock
0.103 b #2 reply r7 ok 0x5
0.103 b #2 believe /lock s2 token 0x4
";
    let told = "0.110 a notice s1 deleted /lock/a-0\n";
    let run = [HEAD, A_HOLDS, B_WAITS, gone, told].concat();
    says(
        &[&run, "0.110 a #1 unbelieve lost"].concat(),
        "MX-2 unavoidable, MX-10 pass, MX-14 pass, all unavoidable",
    );
    says(&[&run, "0.112 a #1 unbelieve lost"].concat(), "MX-2 fail, MX-14 fail");
    says(&without(&run, "foreign_delete"), "MX-2 fail, MX-10 fail, first MX-10");
}

#[test]
fn mx_10_an_announcement_is_for_whoever_is_no_foreign_client() {
    let head = HEAD.replace("clients a b c", "clients a b c x");
    let x_opens = "0.000 server:0 opened s3 timeout 4000 0x2\n0.000 x state s3 connected\n";
    // A client announces a delete, and before it arrives a foreign client makes one of its own.
    let announced = "0.100 world fault foreign_delete c\n";
    let of_x = "
0.101 x fault foreign_delete x
0.101 server:0 txn 0x5 s3 delete ok
0.101 server:0 deleted 0x5 /lock/b-1 by s3
";
    let announced_delete = "
0.102 server:0 txn 0x6 s0 delete ok
0.102 server:0 deleted 0x6 /lock/a-0 by s0
";
    let run = [&head, x_opens, A_HOLDS, B_WAITS, announced, of_x, announced_delete].concat();
    says(&run, "MX-10 pass");
    says(&run.replace(announced, ""), "MX-10 fail, first MX-10");
}

#[test]
fn mx_2_in_a_capture_a_pause_excuses_no_longer_than_it_lasts() {
    let run = "
run client clients a b
lock /lock
0.000 a acquire#1 call /lock
0.000 b acquire#2 call /lock
0.000 b #2 send r1 children /lock
0.001 a #1 believe /lock s1 token 0x3
1.000 world fault client_pause a lasts 1
1.400 b #2 reply r1 ok 0x4
1.500 b #2 believe /lock s2 token 0x4
2.000 world mended client_pause a
2.001 a #1 unbelieve lost
";
    says(run, "MX-2 unavoidable, MX-3 pass");
    says(&edit(run, "2.001 a", "2.100 a"), "MX-2 fail");
}

#[test]
fn mx_2_a_grant_may_reach_its_client_late() {
    let first = without(&without(A_HOLDS, "believe"), "return");
    let pause = "0.003 world fault client_pause a lasts 6.597\n";
    let late = "
6.600 world mended client_pause a
6.600 a #1 believe /lock s1 token 0x3
6.600 a #1 return done
6.600 a state s1 suspended
6.600 a #1 unbelieve lost
";
    let run = [HEAD, &first, pause, B_WAITS, EXPIRY, late].concat();
    says(&run, "MX-2 unavoidable, MX-5 pass, MX-6 pass, first nothing");
    says(&edit(&run, "6.600 a #1 unbelieve lost", "6.602 a #1 unbelieve lost"), "MX-2 fail, first MX-14");
}

#[test]
fn mx_3_holds_do_not_overlap_where_nothing_excuses_it() {
    let next = "0.030 b #2 believe /lock s2 token 0x4\n0.031 b #2 unbelieve released\n";
    says(&[TWO_HOLDS].concat(), "MX-3 fail");
    says(
        &[&edit(TWO_HOLDS, "0.002 b", "0.002 a #1 unbelieve released\n0.002 b"), next].concat(),
        "malformed",
    );
    says(&edit(TWO_HOLDS, "0.002 b", "0.002 a #1 unbelieve released\n0.002 b"), "MX-3 pass");
    says(&edit(TWO_HOLDS, "0.001 a", "0.001 world fault client_pause a lasts 1\n0.001 a"), "MX-3 vacuous");
}

#[test]
fn mx_3_is_judged_by_calls_and_returns_alone() {
    let run = "
run client clients a b
lock /lock
0.000 a acquire#1 call /lock
0.000 b acquire#2 call /lock
0.001 a #1 return done
0.002 a release#3 call /lock
0.003 b #2 return done
";
    says(run, "MX-3 pass");
    says(&without(run, "release"), "MX-3 fail");
}

#[test]
fn mx_14_belief_ends_when_it_must() {
    let run = [HEAD, A_HOLDS, "2.000 a state s1 suspended\n"].concat();
    says(&[&run, "2.001 a #1 unbelieve suspect"].concat(), "MX-14 pass");
    says(&[&run, "2.002 a #1 unbelieve suspect"].concat(), "MX-14 fail, first MX-14");
    let deadline = edit(&run, "lock /lock stop", "lock /lock until_deadline");
    says(&[&deadline, "5.601 a #1 unbelieve suspect"].concat(), "MX-14 pass");
    says(&[&deadline, "5.602 a #1 unbelieve suspect"].concat(), "MX-14 fail");
    says(&[&deadline, "5.5 a state s1 connected\n9.000 a #1 unbelieve released"].concat(), "MX-14 vacuous");
}

#[test]
fn mx_14_who_stands_still_stops_when_it_runs_again() {
    let pause = "2.0005 world fault client_pause a lasts 1\n3.000 b state s2 connected\n3.0005 world mended client_pause a\n";
    let run = [HEAD, A_HOLDS, "2.000 a state s1 suspended\n", pause].concat();
    says(&[&run, "3.001 a #1 unbelieve suspect"].concat(), "MX-14 unavoidable, first nothing");
    says(&[&run, "3.002 a #1 unbelieve suspect"].concat(), "MX-14 fail");
}

#[test]
fn mx_14_who_deletes_its_znode_no_longer_holds() {
    let run = [HEAD, A_HOLDS, "0.020 a #1 send r6 delete /lock/a-0 cleanup\n"].concat();
    says(&[&run, "0.020 a #1 unbelieve dropped"].concat(), "MX-14 pass");
    says(&[&run, "0.021 a #1 unbelieve dropped"].concat(), "MX-14 fail");
}

// ── MX-4, MX-5, MX-6 ──

#[test]
fn mx_4_an_event_alone_grants_nothing() {
    let hasty = "0.022 b #2 believe /lock s2 token 0x4\n";
    says(&[HEAD, A_HOLDS, B_WAITS, A_RELEASES, hasty].concat(), "MX-4 fail, first MX-4, MX-2 pass");
    says(&[HEAD, A_HOLDS, B_WAITS, hasty].concat(), "first MX-4, MX-2 fail, MX-3 fail");
}

#[test]
fn mx_4_the_znode_belongs_to_the_session_that_believes() {
    let run = [HEAD, A_HOLDS].concat();
    says(&edit(&run, "/lock/a-0 s1", "/lock/a-0 s0"), "first MX-4");
    says(&edit(&run, "/lock/a-0 s1", "/lock/a-0 s2"), "first MX-4");
    let none = without(&without(&run, "created"), "txn");
    says(&none, "first MX-4");
}

#[test]
fn mx_4_the_own_znode_is_in_the_list() {
    let gone = "
0.005 world fault foreign_delete b
0.015 server:0 txn 0x5 s0 delete ok
0.015 server:0 deleted 0x5 /lock/b-1 by s0
";
    let release = A_RELEASES.replace("0x5", "0x6");
    let grant = B_HOLDS.replace("0x5", "0x6");
    says(
        &[HEAD, A_HOLDS, B_WAITS, "", gone.trim_start()].concat().replace("0.005 world", "0.015 world"),
        "MX-10 pass",
    );
    let gone = gone.replace("0.005", "0.015");
    says(&[HEAD, A_HOLDS, B_WAITS, &gone, &release, &grant].concat(), "first MX-4");
}

#[test]
fn mx_4_the_connection_was_not_lost_since_the_list() {
    let blink = "0.0035 a state s1 suspended\n0.0036 a state s1 connected\n";
    let run = [HEAD, A_HOLDS].concat().replace("0.003 a #1 believe", "0.006 a #1 believe");
    let run = run.replace("0.003 a #1 return", "0.006 a #1 return");
    says(&run, "MX-4 pass");
    says(&edit(&run, "0.006 a #1 believe", &format!("{blink}0.006 a #1 believe")), "MX-4 fail");
    // At the instant of the grant it may have come after the decision.
    says(
        &edit(
            &[HEAD, A_HOLDS].concat(),
            "0.003 a #1 believe",
            "0.003 a state s1 suspended\n0.003 a #1 believe",
        ),
        "MX-4 pass",
    );
}

#[test]
fn mx_4_in_a_capture_there_was_a_list() {
    let run = "
run client clients a
lock /lock
0.000 a state s1 connected
0.000 a acquire#1 call /lock
0.000 a #1 send r1 create /lock/a-
0.000 a #1 send r2 children /lock
0.001 a #1 reply r1 ok 0x3
0.001 a #1 made /lock/a-0 0x3
0.001 a #1 reply r2 ok 0
0.001 a #1 believe /lock s1 token 0x3
";
    says(run, "MX-4 pass, MX-5 pass");
    says(&without(run, "reply r2"), "first MX-4");
    says(&edit(run, "token 0x3", "token 0x4"), "first MX-5");
    says(&edit(run, "believe /lock s1", "believe /lock s2"), "first MX-4");
}

#[test]
fn mx_5_the_token_is_the_czxid() {
    says(&edit(&calm(), "token 0x3", "token 0x0"), "first MX-5, MX-5 fail");
}

#[test]
fn mx_5_tokens_grow() {
    let run = edit(TWO_HOLDS, "0.002 b", "0.002 a #1 unbelieve released\n0.002 b");
    says(&run, "MX-5 pass");
    says(&edit(&run, "token 0x4", "token 0x3"), "MX-5 fail");
}

#[test]
fn mx_6_who_came_first_is_served_first() {
    let first = without(&without(A_HOLDS, "believe"), "return");
    let run = [HEAD, &first, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat();
    says(&run, "MX-6 fail, MX-4 fail, MX-3 pass");
    let gives_up = "0.015 a #1 return cancelled\n0.015 b #2 believe";
    says(&edit(&run, "0.015 b #2 believe", gives_up), "MX-6 pass");
}

// ── well-formed ──

#[test]
fn a_history_that_contradicts_itself_is_malformed() {
    let head = "run sim clients a\nlock /lock\n0.001 a acquire#1 call /lock\n";
    for (wrong, why) in [
        ("0.000 a #1 return done", "time goes back"),
        ("0.002 a #2 return done", "returns without a call"),
        ("0.002 a #1 return done\n0.002 a #1 return done", "returns a second time"),
        ("0.002 a #1 reply r1 ok 0x1", "never sent"),
        ("0.002 a #1 lost r1", "never sent"),
        ("0.002 a #1 send r1 sync /\n0.002 a #1 lost r1\n0.002 a #1 lost r1", "a second answer"),
        ("0.002 a #1 unbelieve lost", "that it never had"),
        ("0.002 a #2 believe /lock s1 token 0x1", "which is not an acquire"),
        ("0.002 world crash a\n0.003 a #1 send r1 sync /", "a dead client acts"),
        ("0.002 a acquire#1 call /lock", "a second time"),
        ("0.002 a acquire#9 call object:7", "never declared"),
        ("0.002 a acquire#4000000000 call /lock", "out of range"),
        ("0.002 a #1 send r4000000000 sync /", "out of range"),
    ] {
        let run = [head, wrong].concat();
        says(&run, "malformed");
        let report = report(&run);
        assert!(report.findings[0].text.contains(why), "{why} was expected in\n{report}");
    }
    says(&[head, "0.002 world crash a\n0.002 a #1 return cancelled\n0.003 world start a"].concat(), "W pass");
}

#[test]
fn what_breaks_before_the_contradiction_counts() {
    says(&[TWO_HOLDS, "0.001 a #1 return done"].concat(), "all fail, malformed");
    says(&["run sim clients a\nlock /lock\n", "0.001 a #1 return done"].concat(), "all unknown, malformed");
}

// ── the report ──

#[test]
fn the_deepest_cause_comes_first() {
    let told = "2.000 a state s1 suspended\n";
    let report = report(&[HEAD, A_HOLDS, B_WAITS, told, EXPIRY].concat());
    let rules: Vec<_> = report.findings.iter().map(|f| (f.rule.name(), f.secondary)).collect();
    assert_eq!(rules, [("MX-14", false), ("MX-2", false)]);
    let told = report.to_string();
    assert!(
        told.starts_with(
            "fail

MX-14 belief kept too long  /lock
  a believed that it holds (token 0x3) since e11 (0.003), and still did at e24 (6.000)
  because  at e23 (2.000) it had to stop: it was disconnected, and its options say that it stops
           then
  not excused: it was not paused

and with it

MX-2  mutual exclusion (guarded)  /lock
"
        ),
        "{told}"
    );
}

#[test]
fn costs_after_a_breach_are_secondary() {
    let hasty = "0.022 b #2 believe /lock s2 token 0x4\n";
    let polls = "0.030 c acquire#7 call /lock\n0.031 c #7 sleep until 1\n";
    let early = polls.replace("0.03", "0.01").replace("#7", "#8");
    let before = report(&[HEAD, A_HOLDS, &early.replace("0.01", "0.009"), B_WAITS, hasty].concat());
    assert_eq!(before.first().map(|first| (first.rule.name(), first.secondary)), Some(("MX-13", false)));
    let report = report(&[HEAD, A_HOLDS, B_WAITS, hasty, polls].concat());
    let poll = report.findings.iter().find(|f| f.rule.name() == "MX-13").expect("a poll");
    assert!(poll.secondary);
}

#[test]
fn what_is_required_must_be_put_to_the_test() {
    use zk_checker::{RuleId, RuleSet, judge};
    let run = history(&calm());
    assert_eq!(judge(&run, &RuleSet::all()).exit_status(), 0);
    let report = judge(&run, &RuleSet::all().requiring(RuleId::Mx4).requiring(RuleId::Mx1));
    assert_eq!((report.unproved.clone(), report.exit_status()), (vec![RuleId::Mx1], 2));
    assert!(report.to_string().contains("never tested: MX-1"));
}

#[test]
fn the_four_promises_are_found_without_looking_inside() {
    use zk_checker::{RuleId, RuleSet, judge};
    let hasty = [HEAD, A_HOLDS, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat();
    let report = judge(&history(&hasty), &RuleSet::black_box());
    assert_eq!(report.first().map(|first| first.rule), Some(RuleId::Mx2));
    assert_eq!(report.of(RuleId::Mx3).to_string(), "fail");
    assert_eq!(report.of(RuleId::Mx4).to_string(), "vacuous");
}

#[test]
fn many_findings_are_counted_and_few_are_kept() {
    let polls = "0.030 c #7 sleep until 1\n".repeat(40);
    let report = report(&[HEAD, "0.030 c acquire#7 call /lock\n", &polls].concat());
    assert_eq!(report.findings.len(), 16);
    assert_eq!(report.rows.iter().find(|row| row.rule.name() == "MX-13").map(|row| row.findings), Some(40));
}

#[test]
fn a_judge_tells_at_once() {
    use zk_checker::{Judge, RuleSet, judge};
    let run = history(&[HEAD, A_HOLDS, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat());
    let mut online = Judge::new(run.tables(), &RuleSet::all());
    let told: Vec<bool> = run.events.iter().map(|event| online.push(run.tables(), event)).collect();
    assert_eq!(told.iter().position(|told| *told), Some(run.events.len() - 1));
    // The clients' view is reported only for complete histories.
    let mut whole = judge(&run, &RuleSet::all());
    assert_eq!(whole.black_boxes.drain(..).count(), 1);
    assert_eq!(online.finish(run.tables()), whole);
}
