//! Shared parts of the tests of rules: a test is a history and a verdict.

pub mod ensemble;
pub mod wire;

use zk_checker::history::History;
use zk_checker::{Report, RuleId, RuleSet, judge, text};

/// Two clients and a lock; both are connected.
pub const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
lock /lock stop margin 0.4 fenced
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
";

/// The first holder.
pub const A_HOLDS: &str = "
0.001 a acquire#1 call /lock
0.001 a #1 send r1 create /lock/a-
0.001 a #1 send r2 children /lock
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /lock/a-0 s1
0.003 a #1 reply r1 ok 0x3
0.003 a #1 reply r2 ok 0x3
0.003 a #1 believe /lock s1 token 0x3
0.003 a #1 return done
";

/// The next client queues behind it.
pub const B_WAITS: &str = "
0.010 b acquire#2 call /lock
0.010 b #2 send r3 create /lock/b-
0.010 b #2 send r4 children /lock
0.011 server:0 #2 txn 0x4 s2 create ok
0.011 server:0 #2 created 0x4 /lock/b-1 s2
0.012 b #2 reply r3 ok 0x4
0.012 b #2 reply r4 ok 0x4
0.012 b #2 send r5 children /lock/a-0 watch
0.013 server:0 #2 arm s2 child /lock/a-0
0.014 b #2 reply r5 ok 0x4
";

/// The first client releases, and the next one is woken.
pub const A_RELEASES: &str = "
0.020 a #1 unbelieve released
0.020 a release#3 call /lock
0.020 a #3 send r6 delete /lock/a-0
0.021 server:0 #3 txn 0x5 s1 delete ok
0.021 server:0 #3 deleted 0x5 /lock/a-0 by s1
0.021 server:0 #3 fire s2 deleted /lock/a-0 0x5
0.022 a #3 reply r6 ok 0x5
0.022 a #3 return done
0.022 b #2 notice s2 deleted /lock/a-0
";

/// The next client lists, and holds.
pub const B_HOLDS: &str = "
0.022 b #2 send r7 children /lock
0.024 b #2 reply r7 ok 0x5
0.024 b #2 believe /lock s2 token 0x4
0.024 b #2 return done
";

/// The next client releases, too.
pub const B_RELEASES: &str = "
0.030 b #2 unbelieve released
0.030 b release#4 call /lock
0.030 b #4 send r8 delete /lock/b-1
0.031 server:0 #4 txn 0x6 s2 delete ok
0.031 server:0 #4 deleted 0x6 /lock/b-1 by s2
0.032 b #4 reply r8 ok 0x6
0.032 b #4 return done
";

/// A whole run without a breach.
pub fn calm() -> String {
    [HEAD, A_HOLDS, B_WAITS, A_RELEASES, B_HOLDS, B_RELEASES, "0.040 world heal\n0.050 world quiesce\n"]
        .concat()
}

/// Three programs, and their reports about an object of that kind.
pub fn reports(object: &str, lines: &str) -> String {
    format!(
        "
run sim foreign_clients timeout 2 tick 0.2 round_trip 0.1 settle 0.1 clients a b c
{object} reported
0.000 server:0 opened s1 timeout 2000 0x1
0.000 server:0 opened s2 timeout 2000 0x2
0.000 server:0 opened s3 timeout 2000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
{}
",
        lines.trim()
    )
}

pub fn history(text: &str) -> History {
    text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

pub fn report(text: &str) -> Report {
    judge(&history(text), &RuleSet::all())
}

/// Judges a history by `verdict`: a rule and its verdict, as in `MX-4 fail`; several with commas. After `first` comes
/// the rule of the first finding.
#[track_caller]
pub fn says(text: &str, verdict: &str) {
    holds(&report(text), text, verdict);
}

/// The same for an existing report.
#[track_caller]
pub fn holds(report: &Report, text: &str, verdict: &str) {
    let is_about_the_form =
        verdict.contains("malformed") || verdict.split([' ', ',']).any(|word| word == "W");
    assert!(
        is_about_the_form || !report.is_malformed(),
        "nothing is judged of a malformed history\n{report}\n{text}"
    );
    for part in verdict.split(',') {
        let words: Vec<&str> = part.split_whitespace().collect();
        let told = match words[..] {
            ["first", rule] => report.first().map_or("nothing", |first| first.rule.name()) == rule,
            ["malformed"] => report.is_malformed() && report.exit_status() == 3,
            ["all", verdict] => report.verdict().to_string() == verdict,
            [rule, verdict] => {
                let rule = RuleId::from_name(rule).unwrap_or_else(|| panic!("no rule {rule}"));
                report.of(rule).to_string() == verdict
            }
            _ => panic!("what does {part:?} mean?"),
        };
        assert!(told, "{part} was expected\n{report}\n{text}");
    }
}

/// One edit of a text, which must match exactly once.
#[track_caller]
pub fn edit(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?} must stand once in\n{text}");
    text.replace(from, to)
}

/// Without the only line that contains this.
#[track_caller]
pub fn without(text: &str, part: &str) -> String {
    let line = text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part:?} in\n{text}"));
    edit(text, &format!("\n{line}\n"), "\n")
}
