//! Requests to release: RV-1 to RV-4.

use crate::common::ensemble::data;
use crate::common::{edit, says, without};
use zk_checker::digest::{self, Stat};

/// Two clients and a lock whose contenders can be forced out after a tenth of a second.
pub const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
revocable_lock /r stop margin 0.4 budget 3 2 1 2 grace 0.1 forced
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
";

/// The first writer holds; a read of its own znode arms its watch.
pub const A_HOLDS: &str = "
0.001 a write#1 call /r
0.001 a #1 send r1 create /r/a-
0.001 a #1 send r2 children /r
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /r/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 send r3 get /r/a-0 watch
0.003 a #1 return done
0.003 a #1 believe /r s1 token 0x4
0.003 server:0 #1 arm s1 data /r/a-0
0.003 a #1 reply r3 ok 0x4
";

/// The second client waits.
pub const B_WAITS: &str = "
0.005 b write#2 call /r
0.005 b #2 send r4 create /r/b-
0.005 b #2 send r5 children /r
0.005 server:0 #2 txn 0x5 s2 create ok
0.005 server:0 #2 created 0x5 /r/b-1 s2
0.005 b #2 reply r4 ok 0x5
0.005 b #2 reply r5 ok 0x5
0.005 b #2 send r6 children /r/a-0 watch
0.005 server:0 #2 arm s2 child /r/a-0
0.005 b #2 reply r6 ok 0x5
";

/// The third client asks a contender to release.
pub fn asked(znode: &str) -> String {
    let word = digest::data(Some(b"unlock"));
    format!(
        "
0.010 c force#3 call /r
0.010 c #3 given {znode} 0
0.010 c #3 send r10 set {znode}
0.010 server:0 #3 txn 0x6 s3 set ok
0.010 server:0 #3 written 0x6 {znode}
0.010 server:0 #3 data 6 {word:#x}
0.010 c #3 reply r10 ok 0x6
"
    )
}

/// The first client is notified, and reads the word.
fn a_hears() -> String {
    let stat = Stat { czxid: 4, mzxid: 6, pzxid: 4, version: 1, data_length: 6, ..Stat::default() };
    format!(
        "
0.010 server:0 #3 fire s1 data_changed /r/a-0 0x6
0.011 a #1 notice s1 data_changed /r/a-0
0.011 a #1 send r11 get /r/a-0 watch
0.012 server:0 #1 served r11 0x6
0.012 server:0 #1 found get ok /r/a-0 {}
0.012 server:0 #1 arm s1 data /r/a-0
0.013 a #1 reply r11 ok 0x6
",
        data(b"unlock", &stat)
    )
}

const A_GOES: &str = "
0.013 a #1 observed /r word \"\" 0
0.014 a #1 unbelieve released
0.014 a release#7 call /r
0.014 a #7 send r12 delete /r/a-0
0.015 server:0 #7 txn 0x7 s1 delete ok
0.015 server:0 #7 deleted 0x7 /r/a-0 by s1
0.015 server:0 #7 fire s2 deleted /r/a-0 0x7
0.015 server:0 #7 fire s1 deleted /r/a-0 0x7
0.016 a #7 reply r12 ok 0x7
0.016 a #7 return done
0.016 b #2 notice s2 deleted /r/a-0
";

#[test]
fn rv_1_the_word_reaches_a_holder() {
    let end = "1.0 world heal\n";
    let run = [
        HEAD,
        A_HOLDS,
        &asked("/r/a-0"),
        &a_hears(),
        A_GOES.replace("0.016 b #2 notice s2 deleted /r/a-0\n", "").as_str(),
        end,
    ]
    .concat();
    let run = without(&run, "fire s2");
    says(&run, "RV-1 pass, RV-2 vacuous, RV-3 vacuous");
    // It read the word, and still holds.
    let deaf = [HEAD, A_HOLDS, &asked("/r/a-0"), &a_hears(), "0.016 world heal\n"].concat();
    says(&deaf, "RV-1 fail");
    says(&edit(&deaf, "0.016 world", "0.014 world"), "RV-1 pass");
    // Without a read: the notification does not carry the word, but requires a read.
    let blind =
        [HEAD, A_HOLDS, &asked("/r/a-0"), "0.011 a #1 notice s1 data_changed /r/a-0\n", "1.0 world heal\n"];
    says(&blind.concat(), "RV-1 fail");
    says(&[HEAD, A_HOLDS, end].concat(), "RV-1 vacuous");
}

#[test]
fn rv_1_the_arming_read_may_bring_the_word() {
    let stat = Stat { czxid: 4, mzxid: 6, pzxid: 4, version: 1, data_length: 6, ..Stat::default() };
    let found = format!(
        "0.015 server:0 #1 served r3 0x6\n0.015 server:0 #1 found get ok /r/a-0 {}\n",
        data(b"unlock", &stat)
    );
    let late =
        [found.as_str(), "0.015 server:0 #1 arm s1 data /r/a-0\n0.016 a #1 reply r3 ok 0x6\n"].concat();
    let holds = without(&without(A_HOLDS, "arm"), "reply r3");
    let run = [HEAD, &holds, &asked("/r/a-0"), &late].concat();
    says(&[&run, "0.016 a #1 observed /r word \"\" 0\n1.0 world heal\n"].concat(), "RV-1 pass");
    says(&[&run, "0.020 world heal\n"].concat(), "RV-1 fail");
}

#[test]
fn rv_1_a_word_that_never_arrives() {
    let run = [HEAD, A_HOLDS, &asked("/r/a-0"), "1.0 world heal\n"].concat();
    says(&[&run, "5.0 world stopped"].concat(), "RV-1 pass");
    says(&[&run, "6.0 world stopped"].concat(), "RV-1 fail");
    // A paused client learns of it later.
    let pause = "0.020 world fault client_pause a lasts 9\n";
    says(
        &edit(&[&run, "6.0 world stopped"].concat(), "1.0 world heal", &format!("{pause}1.0 world heal")),
        "RV-1 pass",
    );
}

#[test]
fn rv_1_in_a_capture() {
    let run = "
run client timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a c
revocable_lock /r
0.000 a state s1 connected
0.001 a write#1 call /r
0.001 a #1 send r1 create /r/a-
0.001 a #1 send r2 children /r
0.003 a #1 reply r1 ok 0x4
0.003 a #1 made /r/a-0 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 believe /r s1 token 0x4
0.010 c ask#2 call /r
0.010 c #2 given /r/a-0 0
0.012 c #2 observed /r fate \"asked\" 0
0.012 c #2 return done
0.013 a #1 observed /r word \"\" 0
0.100 world heal
9.000 world stopped
";
    says(run, "RV-1 pass, RV-2 pass");
    says(&without(run, "word"), "RV-1 fail, first RV-1");
}

/// A capture of two writers, of which the first is forced out.
pub const FORCED: &str = "
run client timeout 4 tick 0.5 round_trip 0.002 settle 0.250 clients a b
revocable_lock /r forced
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a write#1 call /r
0.001 a #1 send r1 create /r/a-
0.001 a #1 send r2 children /r
0.003 a #1 reply r1 ok 0x4
0.003 a #1 made /r/a-0 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 believe /r s1 token 0x4
0.010 b force#2 call /r
0.010 b #2 given /r/a-0 0
0.012 b #2 send r3 delete /r/a-0
0.013 b #2 reply r3 ok 0x5
0.013 b #2 return done
0.014 b write#3 call /r
0.014 b #3 send r4 create /r/b-
0.014 b #3 send r5 children /r
0.015 b #3 reply r4 ok 0x6
0.015 b #3 made /r/b-1 0x6
0.015 b #3 reply r5 ok 0x6
0.015 b #3 believe /r s2 token 0x6
0.020 a notice s1 deleted /r/a-0
0.020 a #1 unbelieve lost
";

/// The events before the force of the first writer, and from then on.
fn around_the_force() -> (&'static str, &'static str) {
    FORCED.split_at(FORCED.find("0.010 b force").expect("the force"))
}

#[test]
fn rw_1_in_a_capture_who_is_made_to_go_may_believe_until_it_is_told() {
    says(FORCED, "RW-1 unavoidable");
    // A delete by a client that has not asked is no excuse.
    says(&FORCED.replace("force#2", "ask#2"), "RW-1 fail");
}

/// Other clients list a znode before its own client gets the reply to the create.
#[test]
fn rw_1_in_a_capture_somebody_may_be_made_to_go_before_it_is_told_that_its_znode_exists() {
    let (told, sent) = ("0.003 a #1 reply r1", "0.012 b #2 send r3");
    let (granted, rest) = around_the_force();
    let (begun, granted) = granted.split_at(granted.find(told).expect("the reply to the create"));
    let late = granted.replace("0.003 a", "0.0125 a");
    let (force, rest) = rest.split_at(rest.find("0.013 b #2 reply r3").expect("the reply to the delete"));
    assert!(force.contains(sent));
    let run = [begun, force, &late, rest].concat();
    says(&run, "RW-1 unavoidable");
    says(&run.replace("force#2", "ask#2"), "RW-1 fail");
    says(&edit(&run, "send r3 delete /r/a-0", "send r3 delete /r/c-9"), "RW-1 fail");
}

/// The reply to a transaction does not name the znode that it created.
#[test]
fn rw_1_in_a_capture_who_was_made_to_go_may_have_downgraded_before() {
    let downgrade = "
0.004 a downgrade#8 call /r
0.004 a #1 unbelieve released
0.004 a #8 send r8 multi /r/a-reader
0.006 a #8 reply r8 ok 0x0
0.006 a #8 believe /r s1 token 0x4
0.006 a #8 return done
";
    let (granted, rest) = around_the_force();
    let rest = rest.replace("/r/a-0", "/r/a-reader").replace("a #1 unbelieve", "a #8 unbelieve");
    let run = [granted, downgrade, &rest].concat();
    says(&run, "RW-1 unavoidable");
    says(&edit(&run, "send r3 delete /r/a-reader", "send r3 delete /r/a-0"), "RW-1 fail");
    // After a lost reply, a read shows the znode.
    let read = "0.005 a #8 lost r8\n0.005 a #8 send r9 get /r/a-reader\n0.006 a #8 reply r9 ok 0x5\n";
    says(&edit(&run, "0.006 a #8 reply r8 ok 0x0\n", read), "RW-1 unavoidable");
    says(&edit(&run, "0.006 a #8 reply r8 ok 0x0\n", &read.replace("ok 0x5", "no_node 0x0")), "RW-1 fail");
}

/// A read shows the znode whose create got no answer.
#[test]
fn rw_1_in_a_capture_who_was_made_to_go_may_have_lost_the_reply_to_its_create() {
    let told = "0.003 a #1 reply r1 ok 0x4\n0.003 a #1 made /r/a-0 0x4\n";
    let lost = |found: &str| {
        let reads = format!("0.003 a #1 send r9 exists {found}\n0.003 a #1 reply r9 ok 0x4\n");
        edit(FORCED, told, &["0.003 a #1 lost r1\n", &reads].concat())
    };
    says(&lost("/r/a-0"), "RW-1 unavoidable");
    says(&lost("/r/c-0"), "RW-1 fail");
}

#[test]
fn mx_1_in_a_capture_a_hold_keeps_its_rank_over_a_lost_create_and_a_downgrade() {
    let head = "
run client timeout 4 tick 0.5 round_trip 0.002 settle 0.250 clients a b
revocable_lock /r fenced
0.000 a state s1 connected
0.000 b state s2 connected
0.001 b write#2 call /r
0.001 b #2 send r1 create /r/b-
0.002 b #2 reply r1 ok 0x3
0.002 b #2 made /r/b-0 0x3
0.002 b #2 send r2 children /r
0.003 b #2 reply r2 ok 0x3
0.003 b #2 believe /r s2 token 0x3
0.003 b #2 return done
0.004 b #2 resource /r token 0x3 accepted
0.005 b #2 unbelieve released
0.006 a write#1 call /r
0.006 a #1 send r3 create /r/a-
0.007 a #1 lost r3
0.007 a #1 send r4 exists /r/a-1
0.007 a #1 send r5 children /r
0.008 a #1 reply r4 ok 0x9
0.008 a #1 reply r5 ok 0x4
0.008 a #1 believe /r s1 token 0x4
0.008 a #1 return done
0.009 a downgrade#3 call /r
0.009 a #1 unbelieve released
0.009 a #3 send r6 multi /r/a-reader
0.010 a #3 reply r6 ok 0x0
0.010 a #3 believe /r s1 token 0x4
0.010 a #3 return done
0.011 a #3 resource /r token 0x4 accepted
";
    says(head, "MX-1 pass");
    says(&head.replace("0x4", "0x2"), "MX-1 fail");
}

#[test]
fn rv_1_in_a_capture_a_busy_machine_takes_its_time() {
    let noticed = |at: &str| {
        format!(
            "
run client timeout 4 tick 0.5 round_trip 0.002 settle 0.250 clients a c
revocable_lock /r
0.000 a state s1 connected
0.001 a write#1 call /r
0.001 a #1 send r1 create /r/a-
0.003 a #1 reply r1 ok 0x4
0.003 a #1 made /r/a-0 0x4
0.003 a #1 believe /r s1 token 0x4
0.010 c ask#2 call /r
0.010 c #2 given /r/a-0 0
0.012 c #2 observed /r fate \"asked\" 0
0.012 c #2 return done
0.013 a notice s1 data_changed /r/a-0
{at} a #1 observed /r word \"\" 0
9.000 world stopped
"
        )
    };
    says(&noticed("0.200"), "RV-1 pass");
    says(&noticed("0.300"), "RV-1 fail");
}

#[test]
fn rv_2_nobody_is_removed_before_the_grace() {
    let gone = |at: &str| {
        format!(
            "
{at} c #3 send r13 delete /r/a-0
{at} server:0 #3 txn 0x8 s3 delete ok
{at} server:0 #3 deleted 0x8 /r/a-0 by s3
{at} server:0 #3 fire s1 deleted /r/a-0 0x8
{at} a notice s1 deleted /r/a-0
{at} a #1 unbelieve lost
"
        )
    };
    let heard =
        [HEAD, A_HOLDS, &asked("/r/a-0"), &a_hears(), "0.013 a #1 observed /r word \"\" 0\n"].concat();
    says(&[heard.as_str(), &gone("0.111")].concat(), "RV-2 pass, MX-10 pass");
    says(&[heard.as_str(), &gone("0.109")].concat(), "RV-2 fail, MX-10 pass");
    // If force is not allowed.
    let gentle = edit(&[heard.as_str(), &gone("0.111")].concat(), " forced", "");
    says(&gentle, "RV-2 fail");
    // Without the word.
    let rude = without(&asked("/r/a-0"), "data 6");
    says(&[HEAD, A_HOLDS, &rude, &gone("0.111")].concat(), "RV-2 fail, first RV-2");
    // By a client that did not ask.
    let foreign = gone("0.111").replace("#3 ", "#9 ");
    says(&[HEAD, A_HOLDS, "0.100 c write#9 call /r\n", &foreign].concat(), "MX-10 fail, first MX-10");
}

#[test]
fn rw_1_who_was_made_to_go_may_believe_until_it_is_told() {
    let force = "
0.111 c #3 send r13 delete /r/a-0
0.111 server:0 #3 txn 0x8 s3 delete ok
0.111 server:0 #3 deleted 0x8 /r/a-0 by s3
0.111 server:0 #3 fire s1 deleted /r/a-0 0x8
0.111 server:0 #3 fire s2 deleted /r/a-0 0x8
0.112 b #2 notice s2 deleted /r/a-0
0.112 b #2 send r14 children /r
0.113 b #2 reply r14 ok 0x8
0.113 b #2 believe /r s2 token 0x5
";
    let heard =
        [HEAD, A_HOLDS, B_WAITS, &asked("/r/a-0"), &a_hears(), "0.013 a #1 observed /r word \"\" 0\n"]
            .concat();
    let run = [&heard, force, "0.120 a notice s1 deleted /r/a-0\n"].concat();
    says(&[&run, "0.120 a #1 unbelieve lost\n"].concat(), "RW-1 unavoidable, MX-14 pass");
    says(&[&run, "0.130 a #1 unbelieve lost\n"].concat(), "RW-1 fail, MX-14 fail");
    // It does not watch its znode, so it is not notified.
    let blind = without(&without(&heard, "0.003 server:0 #1 arm"), "0.012 server:0 #1 arm");
    let force = without(force, "fire s1");
    says(&[&blind, force.as_str(), "0.120 world heal\n"].concat(), "MX-14 fail, RW-1 fail");
}

#[test]
fn rv_3_a_waiter_that_was_asked_leaves() {
    let hears = "
0.011 server:0 #3 fire s2 data_changed /r/b-1 0x6
0.012 b #2 notice s2 data_changed /r/b-1
0.012 b #2 observed /r word \"\" 0
";
    let leaves = "
0.012 b #2 return refused
0.012 b #2 send r15 delete /r/b-1 cleanup
0.013 server:0 #2 txn 0x7 s2 delete ok
0.013 server:0 #2 deleted 0x7 /r/b-1 by s2
0.014 b #2 reply r15 ok 0x7
";
    let run = [HEAD, A_HOLDS, B_WAITS, &asked("/r/b-1"), hears].concat();
    says(&[&run, leaves, "1.0 world heal\n9.0 world stopped\n"].concat(), "RV-3 pass, RV-1 pass");
    says(&[&run, "1.0 world heal\n9.0 world stopped\n"].concat(), "RV-3 fail");
    // It tells its caller, and holds.
    let holds = [
        without(&without(A_GOES, "observed"), "fire s1").as_str(),
        "0.016 b #2 send r16 children /r\n0.017 b #2 reply r16 ok 0x7\n0.017 b #2 believe /r s2 token 0x5\n",
    ]
    .concat();
    says(&[run.as_str(), &holds].concat(), "RV-3 fail");
}

#[test]
fn rv_4_a_word_for_another_one_is_no_grant() {
    // It watches the data of the contender ahead, and takes the hold when they change.
    let b = B_WAITS
        .replace("send r6 children /r/a-0", "send r6 get /r/a-0")
        .replace("arm s2 child", "arm s2 data");
    let woken = "
0.010 server:0 #3 fire s2 data_changed /r/a-0 0x6
0.011 b #2 notice s2 data_changed /r/a-0
";
    let run = [HEAD, A_HOLDS, &b, &asked("/r/a-0"), woken].concat();
    says(
        &[&run, "0.011 b #2 believe /r s2 token 0x5\n"].concat(),
        "RV-4 fail, RW-2 fail, RW-1 fail, first RV-4",
    );
    // It lists, and passes over a contender that it takes for deleted.
    let looks =
        "0.011 b #2 send r7 children /r\n0.012 b #2 reply r7 ok 0x6\n0.012 b #2 believe /r s2 token 0x5\n";
    says(&[&run, looks].concat(), "RV-4 fail, RW-2 fail, first RV-4");
    // It lists again, and waits again.
    let again = "0.011 b #2 send r7 children /r\n0.012 b #2 reply r7 ok 0x6\n0.012 b #2 send r8 get /r/a-0 watch\n0.012 server:0 #2 arm s2 data /r/a-0\n0.012 b #2 reply r8 ok 0x6\n0.020 world heal\n";
    says(&[&run, again].concat(), "RV-4 pass, RW-5 pass");
}

#[test]
fn rv_2_somebody_may_force_what_an_operation_of_his_own_has_left() {
    let left = "
0.004 c write#5 call /r
0.004 c #5 send r20 create /r/c-
0.004 server:0 #5 txn 0x5 s3 create ok
0.004 server:0 #5 created 0x5 /r/c-1 s3
0.005 c #5 return cancelled
";
    let gone = "
0.111 server:0 #3 txn 0x8 s2 delete ok
0.111 server:0 #3 deleted 0x8 /r/c-1 by s2
";
    says(&[HEAD, A_HOLDS, left, &asked("/r/c-1"), gone].concat(), "RV-2 pass, MX-10 pass");
}

#[test]
fn rw_1_who_is_made_to_go_while_it_becomes_a_reader_learns_it_by_the_answer() {
    let downgrades = "
0.006 a downgrade#6 call /r
0.006 a #6 send r30 multi /r
0.007 server:0 #6 txn 0x6 s1 multi ok
0.007 server:0 #6 created 0x6 /r/a2-0 s1
0.007 server:0 #6 deleted 0x6 /r/a-0 by s1
0.007 server:0 #6 fire s2 deleted /r/a-0 0x6
0.008 b #2 notice s2 deleted /r/a-0
0.008 b #2 send r31 children /r
0.009 b #2 reply r31 ok 0x6
0.009 b #2 send r32 children /r/a2-0 watch
0.009 server:0 #2 arm s2 child /r/a2-0
0.009 b #2 reply r32 ok 0x6
";
    let forced = "
0.111 c #3 send r13 delete /r/a2-0
0.111 server:0 #3 txn 0x8 s3 delete ok
0.111 server:0 #3 deleted 0x8 /r/a2-0 by s3
0.111 server:0 #3 fire s2 deleted /r/a2-0 0x8
0.112 b #2 notice s2 deleted /r/a2-0
0.112 b #2 send r14 children /r
0.113 b #2 reply r14 ok 0x8
0.113 b #2 believe /r s2 token 0x5
0.120 a #6 reply r30 ok 0x6
0.120 a #1 unbelieve released
";
    let asks = asked("/r/a2-0").replace("0x6", "0x7");
    let run = [HEAD, A_HOLDS, B_WAITS, downgrades, &asks, forced].concat();
    says(&run, "RW-1 unavoidable, MX-14 vacuous, RV-2 pass, RW-2 pass");
}

#[test]
fn rw_5_who_is_out_of_line_counts_for_nobody() {
    // The second client was forced out and has not learned of it; both it and the reader behind it watch the first.
    let c = "
0.006 c read#5 call /r
0.006 c #5 send r20 create /r/c-
0.006 c #5 send r21 children /r
0.006 server:0 #5 txn 0x6 s3 create ok
0.006 server:0 #5 created 0x6 /r/c-2 s3
0.006 c #5 reply r20 ok 0x6
0.006 c #5 reply r21 ok 0x6
0.006 c #5 send r22 children /r/b-1 watch
0.006 server:0 #5 arm s3 child /r/b-1
0.006 c #5 reply r22 ok 0x6
0.007 world fault foreign_delete b
0.007 server:0 txn 0x7 s0 delete ok
0.007 server:0 deleted 0x7 /r/b-1 by s0
0.007 server:0 fire s3 deleted /r/b-1 0x7
0.007 c #5 notice s3 deleted /r/b-1
0.007 c #5 send r23 children /r
0.007 c #5 reply r23 ok 0x7
0.007 c #5 send r24 children /r/a-0 watch
0.007 server:0 #5 arm s3 child /r/a-0
0.007 c #5 reply r24 ok 0x7
0.010 a #1 unbelieve released
0.010 a release#7 call /r
0.010 a #7 send r12 delete /r/a-0
0.011 server:0 #7 txn 0x8 s1 delete ok
0.011 server:0 #7 deleted 0x8 /r/a-0 by s1
0.011 server:0 #7 fire s2 deleted /r/a-0 0x8
0.011 server:0 #7 fire s3 deleted /r/a-0 0x8
0.020 world heal
";
    let run = [HEAD, A_HOLDS, B_WAITS, c].concat();
    says(&run, "RW-5 pass");
    says(&without(&run, "deleted 0x7 /r/b-1 by"), "RW-5 fail");
}
