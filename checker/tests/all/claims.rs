//! The claims of foreign programs about counters and locks: a history and a verdict.

use crate::common::*;
use zk_checker::{RuleId, RuleSet, digest, judge};

#[test]
fn co_1_an_increment_that_has_not_returned_may_count() {
    let counted = |value: u32| {
        let adds = format!(
            "
1.000 a add#1 call /o
1.000 a #1 given 2 0x0
1.001 a #1 return done
1.100 b add#2 call /o
1.100 b #2 given 3 0x0
20.000 world stopped
20.001 a audit#3 call /o
20.001 a #3 observed /o value {value} 0x0
20.001 a #3 return done
"
        );
        reports("counter /o stop", &adds)
    };
    for value in [2, 5] {
        says(&counted(value), "CO-1 pass, first nothing");
    }
    says(&counted(1), "CO-1 fail, first CO-1");
    says(&counted(6), "CO-1 fail, first CO-1");
}

/// One program holds a shared lock, and another one waits to read.
fn reads_beside(holder: &str) -> String {
    let text = format!(
        "
1.000 a {holder}#1 call /o
1.001 a #1 believe /o s1 token 0x0
1.001 a #1 return done
1.100 b read#2 call /o
20.000 world stopped
"
    );
    reports("shared_lock /o stop", &text)
}

#[test]
fn pr_1_a_reader_waits_for_writers_alone() {
    says(&reads_beside("write"), "PR-1 pass, first nothing");
    says(&reads_beside("read"), "PR-1 fail, first PR-1");
    // A waiting writer is ahead.
    let queued = edit(&reads_beside("read"), "1.100 b", "1.050 c write#3 call /o\n1.100 b");
    says(&queued, "PR-1 pass, first nothing");
}

#[test]
fn pr_1_names_all_who_wait_for_what_is_free() {
    let waits = |other: &str| {
        let text = format!(
            "
1.000 a acquire#1 call /o
1.001 a #1 believe /o s1 token 0x0
1.001 a #1 return done
1.100 b acquire#2 call /o
{other}1.300 a #1 unbelieve released
20.000 world stopped
"
        );
        report(&reports("lock /o stop", &text))
    };
    let told = |other: &str, text: &str| {
        let report = waits(other);
        let first = report.first().expect("a finding");
        assert_eq!(first.rule, RuleId::Pr1);
        first.text.contains(text)
    };
    assert!(told("1.200 c acquire#3 call /o\n", "c waits as well"));
    assert!(!told("", "waits as well") && !told("1.200 c acquire#3 call /o\n", "b waits as well"));
}

#[test]
fn a_rule_about_claims_that_was_put_to_the_test_is_proved() {
    let unproved =
        |rule: RuleId| judge(&history(&reads_beside("write")), &RuleSet::all().requiring(rule)).unproved;
    assert_eq!(unproved(RuleId::Pr1), []);
    assert_eq!(unproved(RuleId::Sm1), [RuleId::Sm1]);
}

#[test]
fn pr_1_who_leaves_waits_for_those_inside_alone() {
    let leaves = |other: &str| {
        let text = format!(
            "
1.000 a enter#1 call /o
1.100 b enter#2 call /o
1.101 b #2 return done
1.102 a #1 return done
1.200 a leave#3 call /o
{other}20.000 world stopped
"
        );
        reports("double_barrier /o stop size 2", &text)
    };
    says(&leaves(""), "PR-1 pass, first nothing");
    says(&leaves("1.300 b leave#4 call /o\n1.301 b #4 return done\n"), "PR-1 fail, first PR-1");
    says(&leaves("1.300 b leave#4 call /o\n"), "PR-1 fail, first PR-1");
}

#[test]
fn pr_1_an_item_that_is_there_gets_to_who_looks() {
    let data = digest::data(Some(b"x"));
    let put = format!(
        "
1.000 a put#1 call /o
1.000 a #1 given x 0x0
1.000 server:0 txn 0x4 s1 create ok
1.000 server:0 created 0x4 /o/queue-0000000001 s0
1.000 server:0 data 1 {data:#x}
1.001 a #1 return done
"
    );
    let looks = |how: &str| reports("queue /o stop", &[&put, how, "20.000 world stopped\n"].concat());
    says(&looks("1.100 b take#2 call /o\n"), "PR-1 fail, first PR-1");
    says(&looks("1.100 b take#2 call /o\n1.101 b #2 return refused\n"), "PR-1 fail, first PR-1");
    says(&looks(""), "PR-1 vacuous, first nothing");
    let got = "1.100 b take#2 call /o\n1.101 b #2 observed /o item x 0x0\n1.101 b #2 return done\n";
    says(&looks(got), "QU-2 pass, first nothing");
    // The waiter is dead.
    says(&looks("1.100 b take#2 call /o\n2.000 world crash b\n"), "PR-1 vacuous");
}
