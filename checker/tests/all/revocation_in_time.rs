//! Requests to release: the time by which the owner must have learned of one, and the operations that it concerns.

use crate::common::ensemble::data;
use crate::common::{edit, report, says, without};
use crate::revocation::{A_HOLDS, B_WAITS, HEAD, asked};
use zk_checker::RuleId;
use zk_checker::digest::Stat;

/// Before the limit for a client without a notification.
const SOON: &str = "1.000 world stopped\n";

/// A server answers a read with the word, or with the data before it.
fn found(at: &str, op: u32, req: u32, zxid: &str, znode: &str, word: &str) -> String {
    let found = data(word.as_bytes(), &Stat::default());
    format!("{at} server:0 #{op} served r{req} {zxid}\n{at} server:0 #{op} found get ok {znode} {found}\n")
}

/// The first writer holds, and its arming read is in flight.
fn a_holds_and_reads() -> String {
    without(&without(A_HOLDS, "arm"), "reply r3")
}

/// The second client waits, and watches the data of the first.
fn b_watches_data() -> String {
    let waits = edit(B_WAITS, "send r6 children /r/a-0", "send r6 get /r/a-0");
    edit(&waits, "arm s2 child", "arm s2 data")
}

// ── RV-1 ──

#[test]
fn rv_1_the_word_in_a_lock_asks_nobody() {
    let head = edit(HEAD, "0.000 server:0 opened s1", "lock /lock\n0.000 server:0 opened s1");
    let holds = "
0.001 a acquire#1 call /lock
0.001 a #1 send r1 create /lock/a-
0.001 a #1 send r2 children /lock
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /lock/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 believe /lock s1 token 0x4
0.003 a #1 return done
";
    let asks = asked("/lock/a-0").replace("call /r", "call /lock");
    let ends = "1.000 world heal\n20.000 world stopped\n";
    says(&[&head, holds, &asks, ends].concat(), "RV-1 vacuous, first nothing");
}

#[test]
fn rv_1_a_read_of_an_old_state_does_not_bring_the_word() {
    let reads = |word: &str| {
        [
            HEAD,
            &a_holds_and_reads(),
            &asked("/r/a-0"),
            &found("0.0105", 1, 3, "0x5", "/r/a-0", word),
            "0.0105 server:0 #1 arm s1 data /r/a-0\n0.011 a #1 reply r3 ok 0x5\n",
            "0.020 a #1 notice s1 data_changed /r/a-0\n0.021 a #1 observed /r word \"\" 0\n",
            SOON,
        ]
        .concat()
    };
    says(&reads(""), "RV-1 pass");
    says(&reads("unlock"), "RV-1 fail");
}

#[test]
fn rv_1_each_answer_brings_its_own_word() {
    let run = [
        HEAD,
        &a_holds_and_reads(),
        B_WAITS,
        "0.005 b #2 send r7 get /r/b-1 watch\n",
        &asked("/r/a-0"),
        &asked("/r/b-1").replace("#3", "#4").replace("0x6", "0x7").replace("r10", "r11"),
        &found("0.015", 1, 3, "0x7", "/r/a-0", "unlock"),
        &found("0.015", 2, 7, "0x7", "/r/b-1", "unlock"),
        "0.016 a #1 reply r3 ok 0x7\n0.016 a #1 observed /r word \"\" 0\n0.016 b #2 reply r7 ok 0x7\n",
    ]
    .concat();
    says(&[&run, SOON].concat(), "RV-1 fail");
    says(&[&run, "0.016 b #2 observed /r word \"\" 0\n", SOON].concat(), "RV-1 pass");
}

#[test]
fn rv_1_only_a_change_of_its_own_znode_is_news() {
    let run = [HEAD, A_HOLDS, &b_watches_data(), &asked("/r/b-1")].concat();
    let notice = |znode: &str| format!("0.011 b #2 notice s2 data_changed {znode}\n");
    says(&[&run, &*notice("/r/b-1"), SOON].concat(), "RV-1 fail");
    says(&[&run, &*notice("/r/a-0"), SOON].concat(), "RV-1 pass");
}

#[test]
fn rv_1_who_stands_still_or_is_cut_off_hears_of_it_later() {
    let run = [HEAD, A_HOLDS, &asked("/r/a-0")].concat();
    let paused = "0.020 world fault client_pause a\n1.000 world heal\n";
    says(&[&run, paused, "9.000 world stopped\n"].concat(), "RV-1 pass");
    let cut_off = "0.020 a state s1 suspended\n0.020 a #1 unbelieve suspect\n1.000 world heal\n";
    says(&[&run, cut_off, "9.000 world stopped\n"].concat(), "RV-1 pass");
    // It has the whole bound again after the reconnect.
    let back = "9.000 a state s1 connected\n9.000 a #1 believe /r s1 token 0x4\n";
    says(&[&run, cut_off, back, "13.000 world stopped\n"].concat(), "RV-1 pass");
    says(&[&run, cut_off, back, "14.000 world stopped\n"].concat(), "RV-1 fail");
}

#[test]
fn rv_1_a_notification_counts_if_nothing_has_gone_wrong_since() {
    let run = [HEAD, A_HOLDS, &asked("/r/a-0")].concat();
    let noticed = "0.011 a #1 notice s1 data_changed /r/a-0\n";
    says(&[&run, noticed, SOON].concat(), "RV-1 fail");
    // The fault may have affected the read after the notification.
    says(&[&run, "0.011 world heal\n", noticed, SOON].concat(), "RV-1 pass");
    says(&[&run, "0.011 a state s1 connected\n", noticed, SOON].concat(), "RV-1 pass");
    let reconnects = "
0.012 a state s1 suspended
0.012 a #1 unbelieve suspect
0.500 a state s1 connected
0.500 a #1 believe /r s1 token 0x4
";
    says(&[&run, noticed, reconnects, SOON].concat(), "RV-1 pass");
}

// ── RV-4 ──

/// The second client is notified of the request to the first.
const B_IS_TOLD: &str = "
0.010 server:0 #3 fire s2 data_changed /r/a-0 0x6
0.011 b #2 notice s2 data_changed /r/a-0
";

/// Two locks of the kind; the third client is first at the other one.
fn two_locks() -> String {
    let head = edit(HEAD, "0.000 server:0 opened s1", "revocable_lock /s\n0.000 server:0 opened s1");
    let c_asks = "
0.004 c write#9 call /s
0.004 c #9 send r30 create /s/c-
0.004 c #9 send r31 children /s
0.004 server:0 #9 txn 0x5 s3 create ok
0.004 server:0 #9 created 0x5 /s/c-0 s3
0.005 c #9 reply r30 ok 0x5
";
    [&head, A_HOLDS, c_asks].concat()
}

/// The third client lists, and holds.
fn c_holds(at: &str) -> String {
    format!("{at} c #9 reply r31 ok 0x5\n{at} c #9 believe /s s3 token 0x5\n{at} c #9 return done\n")
}

/// The same events after one more create: one zxid later.
fn later(text: &str) -> String {
    text.replace("0x6", "0x7").replace("0x5", "0x6")
}

#[test]
fn rv_4_a_word_is_no_business_of_who_waits_elsewhere() {
    let waits = later(&b_watches_data())
        .replace("call /r", "call /s")
        .replace("/r/b-", "/s/b-")
        .replace("children /r\n", "children /s\n");
    let told = [later(&asked("/r/a-0")), later(B_IS_TOLD)].concat();
    let hasty = "0.012 b #2 believe /s s2 token 0x6\n";
    let run = [&two_locks(), &*c_holds("0.005"), &waits, &told, hasty].concat();
    says(&run, "RW-2 fail, RV-4 vacuous");
}

#[test]
fn rv_4_the_grant_of_another_one_does_not_make_it_forget() {
    // Its write is still unanswered.
    let told = [without(&later(&asked("/r/a-0")), "reply r10"), later(B_IS_TOLD)].concat();
    let hasty = "0.012 b #2 believe /r s2 token 0x6\n";
    let run = [&two_locks(), &*later(&b_watches_data()), &told, &c_holds("0.0115"), hasty].concat();
    says(&run, "RV-4 fail, first RV-4");
}

#[test]
fn rv_4_a_grant_is_told_of_once() {
    let hasty = "0.011 b #2 believe /r s2 token 0x5\n";
    let again = "
0.012 b state s2 suspended
0.012 b #2 unbelieve suspect
0.013 b state s2 connected
0.013 b #2 believe /r s2 token 0x5
";
    let run = [HEAD, A_HOLDS, &b_watches_data(), &asked("/r/a-0"), B_IS_TOLD, hasty, again].concat();
    let report = report(&run);
    let found = report.findings.iter().filter(|finding| finding.rule == RuleId::Rv4).count();
    assert_eq!(found, 1, "{report}");
}

#[test]
fn rv_4_who_passes_over_a_third_one_was_not_let_in_by_the_word() {
    let c_waits = "
0.004 c write#9 call /r
0.004 c #9 send r30 create /r/c-
0.004 server:0 #9 txn 0x5 s3 create ok
0.004 server:0 #9 created 0x5 /r/c-1 s3
0.005 c #9 reply r30 ok 0x5
";
    let b_waits = later(&b_watches_data()).replace("/r/b-1", "/r/b-2");
    let told = [later(&asked("/r/a-0")), later(B_IS_TOLD)].concat();
    let run = [HEAD, A_HOLDS, c_waits, &b_waits, &told].concat();
    let looks = |zxid: &str| {
        format!(
            "
0.017 b #2 send r40 children /r
0.018 b #2 reply r40 ok {zxid}
0.018 b #2 believe /r s2 token 0x6
"
        )
    };
    let a_goes = "
0.013 a #1 observed /r word \"\" 0
0.014 a #1 unbelieve released
0.014 a release#7 call /r
0.014 a #7 send r12 delete /r/a-0
0.015 server:0 #7 txn 0x8 s1 delete ok
0.015 server:0 #7 deleted 0x8 /r/a-0 by s1
0.016 a #7 reply r12 ok 0x8
0.016 a #7 return done
";
    says(&[&run, a_goes, &*looks("0x8")].concat(), "RW-2 fail, RV-4 pass");
    says(&[&run, &*looks("0x7")].concat(), "RW-2 fail, RV-4 fail");
}
