//! Old entries are forgotten unless they are alive: histories of some thousand operations.

use crate::common::*;
use crate::{config, double_barrier};
use zk_checker::{RuleId, Verdict};

/// More than the number of entries that are kept whether they are done or not.
const MANY: std::ops::Range<u32> = 1000..5300;

/// Many calls that return at once.
fn calls() -> String {
    MANY.map(|op| format!("0.1 b acquire#{op} call /lock\n0.1 b #{op} return refused\n")).collect()
}

/// Many requests that are answered.
fn requests() -> String {
    MANY.map(|req| format!("0.1 b send r{req} sync /\n0.1 b reply r{req} ok 0x4\n")).collect()
}

/// Many contenders that are created and deleted, two transactions each, from that zxid on.
fn contenders(zxid: u32) -> String {
    let one = |op: u32| {
        let at = zxid + 2 * (op - MANY.start);
        let gone = at + 1;
        format!(
            "0.1 b acquire#{op} call /lock\n0.1 server:0 #{op} txn {at:#x} s2 create ok\n\
             0.1 server:0 #{op} created {at:#x} /lock/b-{op} s2\n0.1 b #{op} return cancelled\n\
             0.1 server:0 txn {gone:#x} s2 delete ok\n0.1 server:0 deleted {gone:#x} /lock/b-{op} by s2\n"
        )
    };
    MANY.map(one).collect()
}

/// Checks the text of the first finding.
#[track_caller]
fn malformed(text: &str, why: &str) {
    let report = report(text);
    assert!(report.is_malformed() && report.findings[0].text.contains(why), "{why}\n{report}");
}

#[test]
fn a_number_of_long_ago_is_not_given_out_again() {
    let run = [HEAD, &calls()].concat();
    says(&run, "W pass");
    malformed(&[&run, "0.2 b acquire#1000 call /lock\n"].concat(), "operation #1000 is called a second time");
    malformed(&[&run, "0.2 b #1000 return done\n"].concat(), "#1000 returns a second time");
    let run = [HEAD, &requests()].concat();
    says(&run, "W pass");
    malformed(&[&run, "0.2 b send r1000 sync /\n"].concat(), "request r1000 is sent a second time");
    malformed(&[&run, "0.2 b reply r1000 ok 0x4\n"].concat(), "a second answer to r1000");
}

#[test]
fn what_is_open_is_not_forgotten() {
    // A waiter that has not sent anything yet.
    let waits = "0.05 c acquire#7 call /lock\n";
    says(&[HEAD, waits, &calls(), "0.2 c #7 return cancelled\n"].concat(), "W pass");
    // A hold, which was granted long ago.
    let releases = "0.2 a #1 unbelieve released\n0.2 a release#3 call /lock\n0.2 a #3 return done\n";
    says(&[HEAD, A_HOLDS, &calls(), releases].concat(), "W pass, MX-12 fail");
    // A request without an answer.
    says(&[HEAD, "0.05 c send r7 sync /\n", &requests(), "0.2 c reply r7 ok 0x4\n"].concat(), "W pass");
}

#[test]
fn who_stands_ahead_stays_ahead_however_many_come_and_go() {
    let asks = "
0.2 c acquire#7 call /lock
0.2 c #7 send r7 create /lock/c-
0.2 c #7 send r8 children /lock
0.2 server:0 #7 txn 0x9000 s3 create ok
0.2 server:0 #7 created 0x9000 /lock/c-9 s3
0.2 c #7 reply r7 ok 0x9000
0.2 c #7 reply r8 ok 0x9000
0.2 c #7 believe /lock s3 token 0x9000
";
    let run = [HEAD, "0.000 c state s3 connected\n", A_HOLDS, &contenders(0x10), asks].concat();
    let report = report(&run);
    let first = report.first().expect("it was granted too early");
    assert_eq!((first.rule, report.of(RuleId::Mx2)), (RuleId::Mx4, Verdict::Fail), "{report}");
    assert!(first.text.contains("in that list a-0 (0x3) of a is ahead of its own c-9"), "{report}");
    // Without it there is no contender ahead.
    let run = [HEAD, "0.000 c state s3 connected\n", &contenders(0x10), asks].concat();
    says(&run, "MX-4 pass, MX-2 pass");
}

#[test]
fn zk_9_a_znode_that_was_made_again_is_remembered_however_many_come_and_go() {
    let made =
        |zxid: &str| format!("0.05 server:0 txn {zxid} s1 create ok\n0.05 server:0 created {zxid} /x s0\n");
    let gone = "0.05 server:0 txn 0x4 s1 delete ok\n0.05 server:0 deleted 0x4 /x by s1\n";
    let run = [HEAD, &made("0x3"), gone, &made("0x5"), &contenders(0x10)].concat();
    let again = made("0x9000").replace("0.05", "0.2");
    says(&run, "ZK-9 pass");
    says(&[&run, &again[..]].concat(), "ZK-9 fail");
    says(&[&run[..], &gone.replace("0.05", "0.2").replace("0x4", "0x8fff"), &again].concat(), "ZK-9 pass");
}

/// Three servers and many transactions; the last server applies none of them.
fn lagging() -> String {
    use crate::common::ensemble::ENSEMBLE;
    let one = |number: u32| {
        let zxid = number - MANY.start + 4;
        format!("0.1 server:0 txn {zxid:#x} s0 other ok\n0.1 server:1 applied {zxid:#x}\n")
    };
    [ENSEMBLE, &MANY.map(one).collect::<String>()].concat()
}

#[test]
fn zk_1_a_server_that_is_far_behind_may_catch_up() {
    let applies = |zxid: u32| format!("0.2 server:2 applied {:#x}\n", zxid);
    let catches_up: String = (4..4 + MANY.len() as u32).map(applies).collect();
    says(&[&lagging()[..], &catches_up].concat(), "ZK-1 pass, first nothing");
    // It must apply all of them in order, however old.
    says(&[&lagging()[..], &applies(4), &applies(6)].concat(), "ZK-1 fail, first ZK-1");
    // It must not go back, and neither must the first one.
    says(&[&lagging()[..], &applies(4), &applies(4)].concat(), "ZK-1 fail");
    let back = "0.2 server:1 applied 0x5\n";
    says(&[&lagging()[..], back].concat(), "ZK-1 fail");
}

/// A notification of a configuration's follower, and the change behind it.
fn change(zxid: u32) -> String {
    format!(
        "0.1 server:0 txn {zxid:#x} s2 set ok\n0.1 server:0 written {zxid:#x} /cfg\n\
         0.1 server:0 fire s1 data_changed /cfg {zxid:#x} conn 1\n"
    )
}

#[test]
fn a_follower_that_is_notified_again_of_the_last_64_changes_pays_twice() {
    let begins = "
0.001 server:0 txn 0x10 s2 create ok
0.001 server:0 created 0x10 /cfg s0
0.020 a follow#1 call /cfg
";
    let twice = "0.2 server:0 fire s1 data_changed /cfg 0x100 conn 1\n";
    let after = |changes: u32| {
        let changes: String = (0..changes).map(|n| change(0x100 + n)).collect();
        [config::HEAD, begins, &changes, twice].concat()
    };
    says(&after(64), "CF-8 fail");
    says(&after(65), "CF-8 pass");
    says(&after(64).replace(twice, ""), "CF-8 pass");
}

#[test]
fn of_a_double_barrier_the_last_transactions_are_known_when_a_server_lags() {
    let head = double_barrier::HEAD.replace("size 2", "size 4 margin 0.4");
    let joins = |op: u32, who: &str| {
        let zxid = 3 + op;
        format!(
            "0.00{op} {who} enter#{op} call /b\n0.00{op} {who} #{op} given {who} 0\n0.00{op} {who} #{op} send r{op} multi /b\n\
             0.00{op} server:0 #{op} txn {zxid:#x} s{op} multi ok\n\
             0.00{op} server:0 #{op} created {zxid:#x} /b/0/{who}-member-{op} s{op}\n\
             0.00{op} {who} #{op} reply r{op} ok {zxid:#x}\n"
        )
    };
    let run = [head, joins(1, "a"), joins(2, "b"), joins(3, "c")].concat();
    let told = |session: u32, at: &str| format!("{at} server:0 fire s{session} children_changed /b/0 0x10\n");
    let comes = "0.1 server:0 txn 0x10 s2 create ok\n0.1 server:0 created 0x10 /b/0/d-member-4 s2\n";
    let written = |zxid: u32| {
        format!("0.1 server:0 txn {zxid:#x} s2 set ok\n0.1 server:0 written {zxid:#x} /b/0/d-member-4\n")
    };
    let behind = |others: u32| {
        let others: String = (0..others).map(|n| written(0x20 + n)).collect();
        [&run, comes, &told(1, "0.1"), &others, &told(3, "0.2")].concat()
    };
    says(&behind(31), "DB-8 fail");
    says(&behind(32), "DB-8 pass");
}
