//! Corner cases of the clients' view: items in hand, ends of holds, and the finding that explains a breach.

use crate::black_box::*;
use crate::common::*;
use zk_checker::history::ObjectId;
use zk_checker::monitor::Certificate;
use zk_checker::{RuleId, RuleSet, Verdict, judge};

fn puts() -> String {
    [put(1, 10, "one", 0), put(2, 20, "two", 0), put(3, 25, "three", 0)].concat()
}

#[test]
fn a_finding_names_the_items_and_the_calls() {
    let puts = [put(1, 10, "one", 0), put(2, 20, "two", 0)].concat();
    let fifo = report(&[QUEUE, &puts, &take(3, 30, "b", "two"), &take(4, 40, "c", "one"), END].concat());
    let first = fifo.first().expect("a finding");
    assert_eq!((first.rule, first.position), (RuleId::Qu4, 9));
    assert_eq!(first.witnesses, [0, 2, 6, 9], "both ends of the put, and of the take");
    assert_eq!(
        first.text,
        "item two was taken before one\nbecause  one had been put before the other item\n\
         and      it was taken later, by a call that began later\n"
    );
    let puts = [put(1, 10, "low", 9), put(2, 20, "high", 1)].concat();
    let urgent = report(&[URGENT, &puts, &take(3, 30, "b", "low"), &take(4, 40, "c", "high"), END].concat());
    let first = urgent.first().expect("a finding");
    assert_eq!((first.rule, first.position, &first.witnesses[..]), (RuleId::Qu5, 9, &[6, 9][..]));
    assert!(first.text.starts_with("item low was taken too early\n"), "{}", first.text);
    // The proof of another verdict is refused.
    for told in [&fifo, &urgent] {
        assert!(black_box(told).verify(&Certificate::Nothing).is_err());
    }
    assert!(black_box(&report(&calm())).verify(&Certificate::Nothing).is_err());
}

#[test]
fn what_is_claimed_comes_in_no_order() {
    let wrong = [&puts()[..], &take(4, 30, "b", "two"), &take(5, 40, "c", "one"), END].concat();
    says(&[QUEUE, &wrong].concat(), "QU-4 fail");
    says(&[&QUEUE.replace("/q\n", "/q at_least_once\n")[..], &wrong].concat(), "QU-4 vacuous");
}

#[test]
fn who_asks_for_two_things_at_once_may_have_either_in_hand() {
    let first = "0.030 b take#4 call /q\n0.030 b #4 send r4 multi /q\n";
    let run = |first: &str| {
        [QUEUE, &puts(), first, &take(5, 32, "c", "two"), &take(6, 40, "b", "one"), END].concat()
    };
    says(&run(""), "QU-4 fail");
    says(&run(first), "QU-4 pass");
    // One after the other.
    let ends = [first, "0.031 b #4 reply r4 ok 0x0\n0.031 b #4 return done\n"].concat();
    says(&run(&ends), "QU-4 fail");
}

#[test]
fn who_puts_may_still_have_something_in_hand() {
    let took = [take(4, 30, "b", "one"), take(5, 40, "c", "three")].concat();
    let puts_too = "0.045 b put#7 call /q\n0.045 b #7 given four 0x0\n0.045 b #7 send r7 multi /q\n\
                    0.046 b #7 reply r7 ok 0x0\n0.046 b #7 return done\n";
    says(&[QUEUE, &puts(), &took, puts_too, &from_hand(6, 50, "b", "two"), END].concat(), "QU-4 pass");
}

#[test]
fn who_starts_again_has_nothing_in_hand() {
    let took = [take(4, 30, "b", "one"), take(5, 40, "c", "three")].concat();
    let run = |between: &str| [QUEUE, &puts(), &took, between, &from_hand(6, 50, "b", "two"), END].concat();
    says(&run(""), "QU-4 pass");
    says(&run("0.045 world crash b\n0.046 world start b\n"), "QU-4 fail");
}

#[test]
fn what_others_tell_of_an_item_is_no_take() {
    let two = QUEUE.replace("queue /q\n", "queue /q\nqueue /p\n");
    let took = [take(4, 30, "b", "one"), take(5, 40, "c", "three"), take(6, 50, "c", "two")].concat();
    // By a take from another queue, and by an operation that takes nothing.
    let other = take(7, 42, "b", "two").replace("call /q", "call /p");
    let puts_too = "0.042 b put#7 call /q\n0.042 b #7 observed /q item two 0x0\n0.043 b #7 return refused\n";
    for strange in [&other[..], puts_too] {
        let text = [&two, &puts()[..], &took.replace("0.05", "0.06"), END].concat();
        let at = text.find("0.060").expect("the last take");
        let report = report(&format!("{}{strange}{}", &text[..at], &text[at..]));
        let seen = report.black_boxes.iter().find(|seen| seen.object == ObjectId(0)).expect("it was used");
        let Certificate::Breach { .. } = seen.certificate() else { panic!("{report}") };
        let zk_checker::ClientView::Fifo(operations) = &seen.seen else { panic!("{report}") };
        assert_eq!(operations.len(), 6, "three puts and three takes\n{report}");
    }
}

/// Two clients ask for a lock.
const BOTH_ASK: &str = "run client\nlock /lock\n0.000 a acquire#1 call /lock\n0.000 b acquire#2 call /lock\n";

#[test]
fn a_hold_of_which_no_belief_is_told_begins_with_the_return() {
    let run = |rest: &str| report(&[BOTH_ASK, rest].concat());
    let b_believes = "0.002 b #2 believe /lock s2 token 0x0\n0.003 b #2 return done\n";
    let together = run(&["0.001 a #1 return done\n", b_believes].concat());
    assert_eq!(black_box(&together).verdict, Verdict::Fail, "{together}");
    let alone = run(&["0.001 a #1 return refused\n", b_believes].concat());
    assert_eq!(black_box(&alone).verdict, Verdict::Pass, "{alone}");
}

#[test]
fn a_hold_ends_with_its_client() {
    let run = |between: &str| {
        report(&[BOTH_ASK, "0.001 a #1 return done\n", between, "0.003 b #2 return done\n"].concat())
    };
    assert_eq!(black_box(&run("")).verdict, Verdict::Fail);
    assert_eq!(black_box(&run("0.002 world crash a\n")).verdict, Verdict::Pass);
}

#[test]
fn a_second_opinion_needs_the_first_one() {
    let rules = || RuleSet::all().without(RuleId::Qu1);
    // No rule judges the order of a capture's queue besides the monitor.
    let passed = [QUEUE, &puts(), &take(4, 30, "b", "two"), &take(5, 40, "c", "one"), END].concat();
    assert_eq!(judge(&history(&passed), &rules()).of(RuleId::Qu4), Verdict::Fail);
    assert_eq!(judge(&history(&passed_unseen()), &rules()).black_boxes, []);
    // Other objects are not affected.
    assert_eq!(judge(&history(&calm()), &rules()).black_boxes.len(), 1);
}

/// Inserts lines before the only line that contains this.
fn insert(text: &str, before: &str, lines: &str) -> String {
    edit(text, before, &format!("{lines}{before}"))
}

#[test]
fn an_earlier_finding_explains_a_breach_and_a_later_one_does_not() {
    let text = passed_unseen();
    says(&text, "QU-4 unknown");
    // An item that was never put comes out, before the breach and after it.
    let zero = |at: &str| {
        format!(
            "{at} a take#9 call /q\n         {at} a #9 observed /q item zero 0x0\n         {at} a #9 return done\n         "
        )
    };
    let before = insert(&text, "0.004 a take#3 call", &zero("0.0035"));
    says(&before, "QU-1 fail, QU-4 pass");
    let after = insert(&text, "0.006 world heal", &zero("0.0055"));
    says(&after, "QU-1 fail, QU-4 unknown");
}

#[test]
fn what_is_found_elsewhere_explains_nothing() {
    let others: String = (20..40)
        .map(|op| {
            format!(
                "0.0055 a acquire#{op} call /lock\n0.0055 a #{op} believe /lock s1 token 0x{op}\n\
                 0.0055 a #{op} unbelieve released\n0.0055 a #{op} return done\n"
            )
        })
        .collect();
    let text = passed_unseen().replace("queue /q\n", "queue /q\n         lock /lock\n");
    says(&insert(&text, "0.006 world heal", &others), "MX-4 fail, QU-4 unknown");
}

#[test]
fn more_breaches_than_are_told_are_no_riddle() {
    // Each lock is held by two clients at once, except the one before the last.
    let locks = 20;
    let mut text = String::from("run client\n");
    (0..locks).for_each(|lock| text += &format!("lock /lock{lock}\n"));
    for lock in 0..locks {
        let (one, other) = (2 * lock + 1, 2 * lock + 2);
        let release = format!("0.{lock:03} a release#{} call /lock{lock}\n", 100 + lock);
        text += &format!(
            "0.{lock:03} a acquire#{one} call /lock{lock}\n0.{lock:03} a #{one} return done\n{}\
             0.{lock:03} b acquire#{other} call /lock{lock}\n0.{lock:03} b #{other} return done\n",
            if lock == locks - 2 { &release } else { "" },
        );
    }
    let report = report(&text);
    assert_eq!(report.findings.iter().filter(|finding| finding.rule == RuleId::Mx3).count(), 16, "{report}");
    let verdicts: Vec<Verdict> = report.black_boxes.iter().map(|seen| seen.verdict).collect();
    let mut expected = vec![Verdict::Fail; locks];
    expected[locks - 2] = Verdict::Pass;
    assert_eq!(verdicts, expected, "{report}");
}
