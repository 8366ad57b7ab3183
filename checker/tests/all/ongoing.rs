//! Histories that are judged while they grow.

use crate::common::*;
use zk_checker::history::{Names, Sym};
use zk_checker::{Ongoing, RuleId, RuleSet, Verdict, judge};

/// A lock whose holders report their holds: the session of the first one ends, and the second one gets the lock.
const TAKEN_OVER: &str =
    "run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.250 foreign_clients clients a b
lock /lock until_deadline reported
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
1.000 a acquire#1 call /lock
1.000 a #1 believe /lock s1 token 0x0
1.000 a #1 return done
4.899 world fault session_expiry a
4.900 server:0 txn 0x6 s1 close_session ok
4.900 server:0 ended s1 0x6
5.000 b acquire#2 call /lock
5.000 b #2 believe /lock s2 token 0x0
5.000 b #2 return done
";

fn ongoing(text: &str) -> (zk_checker::history::History, Ongoing) {
    let history = history(text);
    let mut ongoing = Ongoing::new(history.tables(), &RuleSet::all());
    history.events.iter().for_each(|event| ongoing.push(history.tables(), event));
    (history, ongoing)
}

#[test]
fn a_copy_tells_at_any_time_what_the_history_so_far_is_worth() {
    let whole = history(&[TAKEN_OVER, "5.100 a state s1 expired\n6.000 world elapsed\n"].concat());
    let mut ongoing = Ongoing::new(whole.tables(), &RuleSet::all());
    for (index, event) in whole.events.iter().enumerate() {
        ongoing.push(whole.tables(), event);
        let mut so_far = whole.clone();
        so_far.events.truncate(index + 1);
        assert_eq!(ongoing.clone().finish(whole.tables()), judge(&so_far, &RuleSet::all()), "e{index}");
    }
    assert_eq!(ongoing.finish(whole.tables()).of(RuleId::Mx14), Verdict::Fail);
}

#[test]
fn what_a_client_owes_that_is_told_of_its_expiry_is_known_before() {
    let (history, now) = ongoing(TAKEN_OVER);
    let mut later = now.clone();
    assert_eq!(now.finish(history.tables()).of(RuleId::Mx2), Verdict::Unavoidable);
    later.wait_for_programs(history.tables(), 252_001);
    let later = later.finish(history.tables());
    assert_eq!([RuleId::Mx2, RuleId::Mx14].map(|rule| later.of(rule)), [Verdict::Fail; 2], "{later}");
}

#[test]
fn who_has_given_up_owes_nothing() {
    let (history, mut later) = ongoing(&[TAKEN_OVER, "5.010 a #1 unbelieve released\n"].concat());
    later.wait_for_programs(history.tables(), 252_001);
    assert_ne!(later.finish(history.tables()).verdict(), Verdict::Fail);
}

#[test]
fn names_that_nothing_mentions_are_not_needed() {
    let history = history(&calm());
    let mut names = history.names.clone();
    let unused = names.intern("/unused");
    let mut copy: Names = names.clone();
    copy.forget(unused.0 as usize + 1, |sym| sym != unused);
    assert_eq!((copy.get(unused), copy.get(Sym(0))), (None, names.get(Sym(0))));
    let with = |names| judge(&zk_checker::history::History { names, ..history.clone() }, &RuleSet::all());
    assert_eq!(with(copy), with(names));
}
