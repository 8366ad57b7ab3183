//! The clients' view, compared with the findings of rules.

use crate::common::*;
use zk_checker::monitor::Certificate;
use zk_checker::{BlackBox, Report, RuleSet, Verdict, judge};

pub const QUEUE: &str = "run client clients a b c\nqueue /q\n";
pub const URGENT: &str = "run client clients a b c\npriority_queue /q strict\n";
pub const END: &str = "9.000 world heal\n9.100 world quiesce\n";

/// A put that lasts from one millisecond to the next.
pub fn put(op: u32, at: u32, item: &str, priority: u32) -> String {
    format!(
        "0.{at:03} a put#{op} call /q\n0.{at:03} a #{op} given {item} {priority:#x}\n0.{:03} a #{op} return done\n",
        at + 1
    )
}

/// A take with a request of its own.
pub fn take(op: u32, at: u32, who: &str, item: &str) -> String {
    format!(
        "0.{at:03} {who} take#{op} call /q\n0.{at:03} {who} #{op} send r{op} multi /q\n0.{end:03} {who} #{op} reply r{op} ok 0x0\n\
         0.{end:03} {who} #{op} observed /q item {item} 0x0\n0.{end:03} {who} #{op} return done\n",
        end = at + 1
    )
}

/// A take without a request: its item was in hand.
pub fn from_hand(op: u32, at: u32, who: &str, item: &str) -> String {
    let take = take(op, at, who, item);
    take.lines()
        .filter(|line| !line.contains("send") && !line.contains("reply"))
        .map(|l| format!("{l}\n"))
        .collect()
}

/// The only object's black box, with a valid certificate.
#[track_caller]
pub fn black_box(report: &Report) -> BlackBox {
    let [black_box] = &report.black_boxes[..] else { panic!("one object is seen\n{report}") };
    black_box.verify(&black_box.certificate()).unwrap_or_else(|why| panic!("{why}\n{report}"));
    black_box.clone()
}

#[test]
fn a_capture_of_a_queue_is_judged_by_what_clients_saw() {
    let puts = [put(1, 10, "one", 0), put(2, 20, "two", 0)].concat();
    let (first, second) = (take(3, 30, "b", "one"), take(4, 40, "c", "two"));
    let good = [QUEUE, &puts, &first, &second, END].concat();
    says(&good, "all pass, QU-1 pass, QU-2 pass, QU-4 pass");
    assert!(matches!(black_box(&report(&good)).certificate(), Certificate::Order(order) if order.len() == 4));

    // The take of the first item is called after the other item has been handed out.
    let passed = [QUEUE, &puts, &take(3, 30, "b", "two"), &take(4, 40, "c", "one"), END].concat();
    says(&passed, "QU-4 fail, first QU-4, QU-1 pass, QU-2 pass");
    assert_eq!(black_box(&report(&passed)).verdict, Verdict::Fail);

    // The order is unknown if both takes, or both puts, are open at once.
    let together = passed
        .replace("0.040 c take#4 call", "0.030 c take#4 call")
        .replace("0.040 c #4 send", "0.030 c #4 send");
    let mut lines: Vec<&str> = together.lines().collect();
    lines[2..].sort_by_key(|line| line.split(' ').next());
    says(&lines.join("\n"), "QU-4 pass");
}

#[test]
fn what_was_in_hand_may_have_been_taken_long_ago() {
    let puts = [put(1, 10, "one", 0), put(2, 20, "two", 0), put(3, 25, "three", 0)].concat();
    let took = [take(4, 30, "b", "one"), take(5, 40, "c", "three")].concat();
    says(&[QUEUE, &puts, &took, &from_hand(6, 50, "b", "two"), END].concat(), "QU-4 pass, all pass");
    says(&[QUEUE, &puts, &took, &take(6, 50, "b", "two"), END].concat(), "QU-4 fail");
    // After a call with an unknown end, any item may be in hand.
    let doubt = "0.031 b take#7 call /q\n0.032 b #7 send r7 multi /q\n0.033 b #7 lost r7\n0.034 b #7 return unknown\n";
    let parts =
        [&puts[..], &take(4, 30, "b", "one"), doubt, &take(5, 40, "c", "three"), &take(6, 50, "b", "two")];
    says(&[QUEUE, &parts.concat(), END].concat(), "QU-4 pass");
    // A refused call takes none.
    let refused =
        doubt.replace("0.033 b #7 lost r7", "0.033 b #7 reply r7 ok 0x0").replace("unknown", "done");
    says(&[QUEUE, &parts.concat().replace(doubt, &refused), END].concat(), "QU-4 fail");
    // Without any recorded request, the times of the calls count.
    let bare = [from_hand(5, 40, "c", "three"), from_hand(6, 50, "b", "two")].concat();
    says(&[QUEUE, &puts, &bare, END].concat(), "QU-4 fail");
}

#[test]
fn what_never_came_out_counts_for_nothing() {
    let puts = [put(1, 10, "one", 0), put(2, 20, "two", 0)].concat();
    let left = "8.000 world left /q /q/queue-0000000000 s0\n";
    says(&[QUEUE, &puts, &take(3, 30, "b", "two"), left, END].concat(), "QU-4 pass, QU-2 pass");
    says(&[QUEUE, &puts, left, &left.replace("0000 s0", "0001 s0"), END].concat(), "QU-4 vacuous, QU-2 pass");
    let claims = QUEUE.replace("/q\n", "/q at_least_once\n");
    says(&[&claims, &puts, END].concat(), "QU-4 vacuous");
}

#[test]
fn a_capture_of_a_strict_priority_queue() {
    let puts = [put(1, 10, "low", 9), put(2, 20, "high", 1), put(3, 25, "peer", 9)].concat();
    let good = [take(4, 30, "b", "high"), take(5, 40, "c", "peer"), take(6, 50, "c", "low")].concat();
    says(&[URGENT, &puts, &good, END].concat(), "QU-5 pass, all pass");
    let bad = [take(4, 30, "b", "low"), take(5, 40, "c", "high"), take(6, 50, "c", "peer")].concat();
    let bad = [URGENT, &puts, &bad, END].concat();
    says(&bad, "QU-5 fail, first QU-5");
    assert_eq!(black_box(&report(&bad)).verdict, Verdict::Fail);
    // Another kind promises less.
    says(&bad.replace(" strict", ""), "QU-5 vacuous");
}

#[test]
fn holds_are_seen_as_the_rules_see_them() {
    let calm = black_box(&report(&calm()));
    assert_eq!((calm.verdict, calm.rule.name()), (Verdict::Pass, "MX-2"));
    let hasty = [HEAD, A_HOLDS, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat();
    assert_eq!(black_box(&report(&hasty)).verdict, Verdict::Fail);
    says(&hasty, "MX-2 fail");
    let capture = "run client\nlock /lock\n0.000 a acquire#1 call /lock\n0.001 a #1 return done\n\
                   0.002 b acquire#2 call /lock\n0.003 b #2 return done\n";
    says(capture, "MX-3 fail");
    assert_eq!(black_box(&report(capture)).verdict, Verdict::Fail);
    let one_by_one = edit(capture, "0.002 b acquire#2", "0.001 a release#3 call /lock\n0.002 b acquire#2");
    assert_eq!(black_box(&report(&one_by_one)).verdict, Verdict::Pass);
}

#[test]
fn what_is_excused_is_inherent_to_the_clients_view_too() {
    let paused = "0.020 world fault client_pause a lasts 5
                  1.000 server:1 marked s1 heard 0.019
                  1.001 server:0 txn 0x5 s1 close_session ok
                  1.001 server:0 ended s1 0x5
                  1.001 server:0 deleted 0x5 /lock/a-0 by s1
                  1.001 server:0 fire s2 deleted /lock/a-0 0x5
                  1.002 b #2 notice s2 deleted /lock/a-0
                  1.002 b #2 send r7 children /lock
                  1.003 b #2 reply r7 ok 0x5
                  1.003 b #2 believe /lock s2 token 0x4\n";
    let text = [HEAD, A_HOLDS, B_WAITS, paused].concat();
    let report = report(&text);
    assert_eq!(report.of(zk_checker::RuleId::Mx2), Verdict::Unavoidable, "{report}");
    assert_eq!(black_box(&report).verdict, Verdict::Unavoidable);
}

/// Item "one" is removed first, but by no operation; its consumer asks for it long after "two" was handed out. No rule
/// finds that wrong.
pub fn passed_unseen() -> String {
    let text = "run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
         queue /q
         0.000 server:0 opened s1 timeout 4000 0x1
         0.000 server:0 opened s2 timeout 4000 0x2
         0.000 a state s1 connected
         0.000 b state s2 connected
         0.001 a put#1 call /q
         0.001 a #1 given one 0x0
         0.001 server:0 #1 txn 0x11 s1 multi ok
         0.001 server:0 #1 created 0x11 /q/queue-0000000001 s0
         0.001 server:0 data 3 ONE
         0.001 a #1 return done
         0.002 a put#2 call /q
         0.002 a #2 given two 0x0
         0.002 server:0 #2 txn 0x12 s1 multi ok
         0.002 server:0 #2 created 0x12 /q/queue-0000000002 s0
         0.002 server:0 data 3 TWO
         0.002 a #2 return done
         0.003 server:0 txn 0x13 s2 multi ok
         0.003 server:0 deleted 0x13 /q/queue-0000000001 by s2
         0.004 a take#3 call /q
         0.004 a #3 send r3 multi /q
         0.004 server:0 #3 txn 0x14 s1 multi ok
         0.004 server:0 #3 deleted 0x14 /q/queue-0000000002 by s1
         0.004 a #3 reply r3 ok 0x14
         0.004 a #3 observed /q item two 0x0
         0.004 a #3 return done
         0.005 b take#4 call /q
         0.005 b #4 send r4 children /q
         0.005 b #4 reply r4 ok 0x14
         0.005 b #4 observed /q item one 0x0
         0.005 b #4 return done
         0.006 world heal
         0.007 world quiesce\n";
    let digest = |item: &str| format!("{:#x}", zk_checker::digest::data(Some(item.as_bytes())));
    text.replace("ONE", &digest("one")).replace("TWO", &digest("two"))
}

#[test]
fn a_breach_that_no_rule_has_found_is_not_passed_over() {
    let text = passed_unseen();
    says(&text, "QU-4 unknown, all unknown, first nothing");
    let report = judge(&history(&text), &RuleSet::all().without(zk_checker::RuleId::Qu1));
    assert_eq!(report.of(zk_checker::RuleId::Qu4), Verdict::Pass, "without its witnesses it says nothing");
}
