//! The assignment of znodes, watches, requests and holds, tested through a rule that depends on it.

use crate::common::ensemble::{ENSEMBLE, fresh, stat};
use crate::common::*;
use crate::election;
use zk_checker::digest::Stat;
use zk_checker::history::Tables;
use zk_checker::{Judge, RuleId, RuleSet, Verdict, judge};

// ── watches ──

/// The second client waits; `told` are the events of its watch on the first client's znode, which stays.
fn waits(told: &str, verdict: &str) {
    says(&[HEAD, A_HOLDS, B_WAITS, told, "1.0 world heal\n"].concat(), verdict);
}

const FIRE: &str = "0.020 server:0 fire s2 children_changed /lock/a-0 0x5\n";
const ARM: &str = "0.021 server:0 #2 arm s2 child /lock/a-0\n";
const NOTICE: &str = "0.022 b #2 notice s2 children_changed /lock/a-0\n";
/// The server closes its connections. The client registers its watches again.
const CEASED: &str = "0.0215 server:0 ceased\n";

#[test]
fn a_watch_that_told_is_gone_unless_it_was_armed_again() {
    waits("", "MX-7 pass");
    waits(&[FIRE, NOTICE].concat(), "MX-7 fail");
    waits(&[FIRE, ARM, NOTICE].concat(), "MX-7 pass");
    // A notification from before the watch was armed again does not end it.
    waits(&[FIRE, ARM, CEASED, NOTICE].concat(), "MX-7 pass");
    // The next notification ends it.
    let again = [FIRE, NOTICE].concat().replace("0.02", "0.03");
    waits(&[FIRE, ARM, NOTICE, &again].concat(), "MX-7 fail");
}

#[test]
fn a_notification_without_a_connection_is_one_of_any() {
    waits(&[&FIRE.replace("0x5", "0x5 conn 2"), NOTICE].concat(), "MX-7 fail");
    let armed = ARM.replace("/a-0", "/a-0 conn 2").replace("0.021", "0.019");
    waits(&[&armed, FIRE, NOTICE].concat(), "MX-7 fail");
    let other = FIRE.replace("0x5", "0x5 conn 3");
    waits(&[&armed[..], &other].concat(), "MX-7 pass");
}

#[test]
fn a_watch_that_its_client_takes_away_is_not_registered_again() {
    let lost = "0.020 server:0 ceased\n";
    let removes = |path: &str| {
        format!(
            "{lost}0.030 b #2 send r9 remove_watches {path}\n0.031 b #2 reply r9 ok 0x4\n0.031 world fault reply_late b\n"
        )
    };
    waits(lost, "MX-7 pass");
    waits(&removes("/lock/a-0"), "MX-7 fail");
    waits(&removes("/lock/b-1"), "MX-7 pass");
}

/// The first candidate leads, and watches its own znode.
fn leads() -> String {
    [election::HEAD, election::A_LEADS].concat()
}

const DELETED: &str = "
1.000 world fault foreign_delete b
1.000 server:0 txn 0x7 s0 delete ok
1.000 server:0 deleted 0x7 /e/a-0 by s0
";

#[test]
fn le_9_a_watch_that_was_lost_is_registered_again_within_two_timeouts() {
    let lost = "0.500 server:0 ceased\n0.600 server:0 serving\n";
    let run = |times: [&str; 2]| {
        let later = times.map(|at| format!("{at} world mended disconnect a\n"));
        [&leads(), lost, DELETED, &later[0], &later[1]].concat()
    };
    says(&run(["8.3", "8.4"]), "LE-9 pass");
    says(&run(["8.6", "8.7"]), "LE-9 fail, first LE-9");
}

#[test]
fn le_9_who_stands_still_is_told_later() {
    let unwatched = without(&leads(), "#1 arm");
    let later = "2.0 world mended disconnect a\n";
    says(&[&unwatched, DELETED, later].concat(), "LE-9 fail");
    for away in
        ["0.9 world fault client_pause a lasts 9\n", "0.9 a state s1 suspended\n0.9 a #1 unbelieve suspect\n"]
    {
        says(&[&unwatched, away, DELETED, later].concat(), "first nothing");
    }
    says(&[&unwatched, "0.9 world fault client_pause a lasts 9\n", DELETED, later].concat(), "LE-9 pass");
}

#[test]
fn the_record_of_who_leads_is_no_candidate() {
    let record = "0.004 server:0 #1 txn 0x5 s1 create ok\n0.004 server:0 #1 created 0x5 /e/leader s1\n";
    says(&[&leads(), record].concat(), "MX-9 pass");
    says(&[&*leads(), &record.replace("leader", "a-1")].concat(), "MX-9 fail");
}

// ── requests ──

#[test]
fn mx_13_who_has_lost_an_answer_may_ask_again() {
    let run = |first: &str| {
        let again = format!("0.0015 a #1 {first}\n0.0015 a #1 send r9 children /lock\n0.002 server:0 #1 txn");
        let run = edit(&[HEAD, A_HOLDS].concat(), "0.002 server:0 #1 txn", &again);
        edit(&run, "0.003 a #1 reply r2", "0.003 a #1 reply r9")
    };
    says(&run("lost r2"), "MX-13 pass");
    says(&run("reply r2 ok 0x2"), "MX-13 fail");
}

/// A client that has forced a holder out lists again: a waiter of a priority lock may.
#[test]
fn mx_13_who_has_made_somebody_go_may_look_again() {
    let head = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a
priority_lock /p stop margin 0.4 budget 2 2 1 2
0.000 server:0 opened s1 timeout 4000 0x1
0.000 a state s1 connected
0.001 a acquire#1 call /p
0.001 a #1 send r1 create /p/line/a-
0.001 a #1 send r2 children /p/line
0.001 a #1 send r3 children /p/held
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /p/line/a-0 s1
0.002 a #1 reply r1 ok 0x4
0.002 a #1 reply r2 ok 0x4
0.002 a #1 reply r3 ok 0x4
";
    let goes = "0.100 a #1 send r4 delete /p/held/b\n0.101 a #1 reply r4 ok 0x5\n";
    let looks = "0.102 a #1 send r5 children /p/line\n0.102 a #1 send r6 children /p/held\n";
    says(&[head, goes, looks].concat(), "MX-13 pass");
    says(&[head, looks].concat(), "MX-13 fail");
    says(&[head, &goes.replace("reply r4 ok", "reply r4 bad_version"), looks].concat(), "MX-13 pass");
    let more = "0.103 a #1 send r7 children /p/line\n";
    says(&[head, goes, looks, more].concat(), "MX-13 fail");
}

/// If there was no hold yet, or the directory was deleted since, there is no list of holds.
#[test]
fn mx_4_a_room_that_is_not_there_holds_nobody() {
    let holds = |who: &str, op: u32, zxid: u32, held: &str| {
        let (line, taken, r) = (zxid, zxid + 1, 10 * op);
        format!(
            "
0.0{r} {who} acquire#{op} call /p
0.0{r} {who} #{op} given \"\" 5
0.0{r} {who} #{op} send r{r} create /p/line/{who}-
0.0{r} {who} #{op} send r{r}1 children /p/line
0.0{r} {who} #{op} send r{r}2 children /p/held
0.0{r} server:0 #{op} txn {line:#x} s{op} create ok
0.0{r} server:0 #{op} created {line:#x} /p/line/{who}-{op} s{op}
0.0{r} {who} #{op} reply r{r} ok {line:#x}
0.0{r} {who} #{op} reply r{r}1 ok {line:#x}
0.0{r} {who} #{op} reply r{r}2 {held} {line:#x}
0.0{r} {who} #{op} send r{r}3 multi /p
0.0{r} server:0 #{op} txn {taken:#x} s{op} multi ok
0.0{r} server:0 #{op} deleted {taken:#x} /p/line/{who}-{op} by s{op}
0.0{r} server:0 #{op} created {taken:#x} /p/held/{who} s{op}
0.0{r} {who} #{op} reply r{r}3 ok {taken:#x}
0.0{r} {who} #{op} return done
0.0{r} {who} #{op} believe /p s{op} token {taken:#x}
"
        )
    };
    let head = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
priority_lock /p stop margin 0.4 budget 6 2 1 4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
";
    let released = "
0.015 a #1 unbelieve released
0.015 a release#7 call /p
0.015 a #7 send r70 delete /p/held/a
0.015 server:0 #7 txn 0x7 s1 delete ok
0.015 server:0 #7 deleted 0x7 /p/held/a by s1
0.015 a #7 reply r70 ok 0x7
0.015 a #7 return done
";
    let (one, other) = (holds("a", 1, 5, "no_node"), holds("b", 2, 8, "no_node"));
    says(&[head, &one, released, &other].concat(), "MX-4 pass, first nothing");
    says(&[head, &one, &other].concat(), "MX-4 fail, MX-2 fail");
}

// ── holds ──

const SHARED: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
shared_lock /s stop margin 0.4
shared_lock /t stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a write#1 call /s
0.001 a #1 send r1 create /s/a-
0.001 a #1 send r2 children /s
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /s/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 return done
0.003 a #1 believe /s s1 token 0x4
";

#[test]
fn rw_1_a_downgrade_elsewhere_makes_no_reader() {
    let reads = "0.030 b read#2 call /s\n0.030 b #2 believe /s s2 token 0x5\n";
    let run = |path: &str| [SHARED, "0.020 a downgrade#4 call ", path, "\n", reads].concat();
    says(&run("/t"), "RW-1 fail");
    says(&run("/s"), "RW-1 pass");
}

#[test]
fn mx_14_who_was_refused_to_become_a_reader_is_a_writer_as_before() {
    let call = "0.020 a downgrade#4 call /s\n";
    let refused = "0.021 a #4 return refused\n";
    let goes = "0.0205 world fault foreign_delete b\n0.0205 server:0 txn 0x7 s0 delete ok\n0.0205 server:0 deleted 0x7 /s/a-0 by s0\n";
    let ends = |at: &str| format!("{at} a #1 unbelieve lost\n");
    let drops = "0.030 a #1 unbelieve dropped\n";
    says(&[SHARED, call, refused, drops].concat(), "MX-14 vacuous, first nothing");
    // The refusal shows it that its znode is gone.
    says(&[SHARED, call, goes, refused, &ends("0.022")].concat(), "MX-14 pass");
    says(&[SHARED, call, goes, refused, &ends("0.0221")].concat(), "MX-14 fail");
}

#[test]
fn mx_14_a_downgrade_that_is_over_excuses_nobody() {
    let suspended = "1.0 a state s1 suspended\n1.1 world mended disconnect a\n";
    let call = "0.020 a downgrade#4 call /s\n";
    says(&[SHARED, call, suspended].concat(), "MX-14 vacuous");
    says(&[SHARED, call, "0.021 a #4 return done\n", suspended].concat(), "MX-14 fail");
}

#[test]
fn mx_12_a_downgrade_without_an_answer_has_given_nothing_back() {
    let run = |outcome: &str| {
        let over = format!("0.022 a #4 return {outcome}\n");
        let release = "0.030 a release#5 call /s\n0.030 a #5 return done\n";
        [SHARED, "0.020 a downgrade#4 call /s\n0.021 a #1 unbelieve suspect\n", &over, release].concat()
    };
    says(&run("done"), "MX-12 fail");
    assert_ne!(report(&run("unknown")).of(RuleId::Mx12), Verdict::Fail);
}

// ── other events ──

#[test]
fn zk_9_an_access_list_counts_in_the_stat() {
    let run = |stat: &str| {
        format!(
            "{ENSEMBLE}0.005 server:0 txn 0x4 s1 set_acl ok\n0.005 server:0 restricted 0x4 /lock\n0.005 server:1 applied 0x4\n\
             0.006 a send r3 exists /lock\n0.006 server:1 served r3 0x4 conn 1\n\
             0.006 server:1 found exists ok /lock {stat}\n0.007 a reply r3 ok 0x4 conn 1\n"
        )
    };
    says(&run(&stat(&Stat { aversion: 1, ..fresh(1, 0) })), "ZK-9 pass");
    says(&run(&stat(&fresh(1, 0))), "ZK-9 fail");
}

#[test]
fn rv_2_a_clock_that_runs_fast_ends_the_grace_early() {
    let word = zk_checker::digest::data(Some(b"unlock"));
    let run = |drift: &str, at: &str| {
        format!(
            "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a c
revocable_lock /r stop margin 0.4 budget 3 2 1 2 grace 0.9 forced
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 c state s3 connected
0.001 a write#1 call /r
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /r/a-0 s1
{drift}
0.010 c force#3 call /r
0.010 c #3 given /r/a-0 0
0.010 server:0 #3 txn 0x6 s3 set ok
0.010 server:0 #3 written 0x6 /r/a-0
0.010 server:0 #3 data 6 {word:#x}
{at} server:0 #3 txn 0x8 s3 delete ok
{at} server:0 #3 deleted 0x8 /r/a-0 by s3
"
        )
    };
    for (drift, at, verdict) in [
        ("", "0.909999", "fail"),
        ("", "0.91", "pass"),
        // By a tenth of the duration, and a microsecond.
        ("0.009 world fault clock_drift c", "0.809998", "fail"),
        ("0.009 world fault clock_drift c", "0.809999", "pass"),
        ("0.009 world fault clock_drift a", "0.909999", "fail"),
    ] {
        says(&run(drift, at), &format!("RV-2 {verdict}"));
    }
}

#[test]
fn in_a_capture_what_servers_would_tell_counts_for_nothing() {
    let run = "
run client clients a b
lock /lock
0.000 a state s1 connected
0.000 b state s2 connected
0.000 a acquire#1 call /lock
0.000 a #1 send r1 create /lock/a-
0.000 a #1 send r2 children /lock
0.001 a #1 reply r1 ok 0x3
0.001 a #1 made /lock/a-0 0x3
0.001 a #1 reply r2 ok 0x3
0.001 a #1 believe /lock s1 token 0x3
0.001 a #1 return done
0.100 a #1 unbelieve released
0.100 a release#2 call /lock
0.101 a #2 return done
9.000 world heal
9.100 world left /lock /lock/a-0 s1
9.200 world quiesce
";
    let plain = report(run);
    for told in [
        "server:0 #1 created 0x3 /lock/a-0 s1",
        "server:0 #1 created 0x4 /lock/a-1 s1",
        "server:0 deleted 0x5 /lock/a-0 by s1",
    ] {
        let text = edit(run, "0.100 a #1", &format!("0.050 {told}\n0.100 a #1"));
        let report = report(&text);
        assert_eq!(report.rows, plain.rows, "{told}\n{report}");
        let texts = |report: &zk_checker::Report| -> Vec<RuleId> {
            report.findings.iter().map(|finding| finding.rule).collect()
        };
        assert_eq!(texts(&report), texts(&plain), "{told}");
    }
}

#[test]
fn objects_may_be_declared_while_the_run_goes_on() {
    let hasty = [HEAD, A_HOLDS, B_WAITS, "0.015 b #2 believe /lock s2 token 0x4\n"].concat();
    for text in [calm(), hasty] {
        let whole = history(&text);
        let none = Tables { objects: &[], ..whole.tables() };
        let mut later = Judge::new(none, &RuleSet::all());
        for event in &whole.events {
            later.push(whole.tables(), event);
        }
        let (later, known) = (later.finish(whole.tables()), judge(&whole, &RuleSet::all()));
        assert_eq!(later.findings, known.findings);
        assert_eq!(later.rows, known.rows);
    }
}

#[test]
fn what_no_history_holds_is_malformed() {
    let head = "run sim clients a b\nlock /lock\nlock /other\n0.001 a acquire#1 call /lock\n";
    let latest = "1152921504606.846976 world heal";
    for (wrong, why) in [
        ("0.002 b acquire#2 call object:2", "object 2 was never declared"),
        (
            "0.002 a release#3 call /lock\n0.002 a #3 believe /lock s1 token 0x1",
            "a belief by #3, which is not an acquire of that client",
        ),
        ("0.002 a #1 believe /other s1 token 0x1", "a belief by #1, which is not an acquire of that client"),
        ("0.002 b #1 believe /lock s1 token 0x1", "a belief by #1, which is not an acquire of that client"),
        ("1152921504606.846977 world heal", "the time is later than any run can last"),
        // The first number that is too far from the last one.
        ("0.002 b acquire#65539 call /lock", "operation #65539 is out of range"),
        ("0.002 b send r65537 sync /", "request r65537 is out of range"),
    ] {
        let run = [head, wrong].concat();
        says(&run, "malformed");
        let report = report(&run);
        assert!(report.findings[0].text.contains(why), "{why} was expected in\n{report}");
    }
    for right in [latest, "0.002 b acquire#65538 call /lock", "0.002 b send r65536 sync /"] {
        says(&[head, right].concat(), "W pass");
    }
}

/// Only a waiter of a lock that has forced a holder out has a new reason to list.
#[test]
fn db_8_who_deletes_a_znode_is_not_woken_by_that() {
    let head = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a
double_barrier /b size 2
0.000 server:0 opened s1 timeout 4000 0x1
0.000 a state s1 connected
0.001 a enter#1 call /b
0.001 a #1 given a 0
0.001 a #1 send r1 multi /b
0.002 server:0 #1 txn 0x4 s1 multi ok
0.002 server:0 #1 created 0x4 /b/0/a-member-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 send r2 delete /b/0/ready
0.003 a #1 reply r2 ok 0x4
";
    let looks = |times: u32| -> String {
        let requests = 3..3 + times;
        requests.map(|r| format!("0.004 a #1 send r{r} get /b\n0.004 a #1 reply r{r} ok 0x4\n")).collect()
    };
    says(&[head, &looks(6)].concat(), "DB-8 pass");
    says(&[head, &looks(7)].concat(), "DB-8 fail");
}
