//! Groups: a history and a verdict for each promise.

use crate::common::*;

pub const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
group /g stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.000 server:0 txn 0x3 s1 create ok
0.000 server:0 created 0x3 /g s0
";

pub const A_JOINS: &str = "
0.010 a join#1 call /g
0.010 a #1 given m1 0x0
0.010 a #1 send r1 create /g/m1
0.011 server:0 #1 txn 0x4 s1 create ok
0.011 server:0 #1 created 0x4 /g/m1 s1
0.012 a #1 reply r1 ok 0x4
0.012 a #1 return done
";

const B_WATCHES: &str = "
0.020 b watch#2 call /g
0.020 b #2 send r2 children /g watch
0.021 server:0 arm s2 child /g
0.022 b #2 reply r2 ok 0x4
0.022 b #2 observed /g view m1 0x4
";

const A_LEAVES: &str = "
0.030 a release#3 call /g
0.030 a #3 send r3 delete /g/m1
0.031 server:0 #3 txn 0x5 s1 delete ok
0.031 server:0 #3 deleted 0x5 /g/m1 by s1
0.031 server:0 #3 fire s2 children_changed /g 0x5
0.032 a #3 reply r3 ok 0x5
0.032 a #3 return done
";

const B_IS_TOLD: &str = "
0.032 b #2 notice s2 children_changed /g
0.032 b #2 send r4 children /g watch
0.033 server:0 arm s2 child /g
0.034 b #2 reply r4 ok 0x5
0.034 b #2 observed /g view \"\" 0x5
";

const ENDS: &str = "0.900 b #2 return done\n0.950 world quiesce\n";

fn run(parts: &[&str]) -> String {
    [&[HEAD], parts, &[ENDS]].concat().concat()
}

fn calm() -> String {
    run(&[A_JOINS, B_WATCHES, A_LEAVES, B_IS_TOLD])
}

#[test]
fn a_calm_run_passes_and_an_empty_one_proves_nothing() {
    says(&calm(), "all pass, GM-1 pass, GM-2 pass, GM-3 pass, GM-4 pass, GM-5 pass, GM-7 pass");
    for rule in ["GM-1", "GM-2", "GM-3", "GM-4", "GM-5", "GM-6", "GM-7"] {
        says(&[HEAD, "0.950 world quiesce\n"].concat(), &format!("{rule} vacuous"));
    }
}

#[test]
fn gm_1_a_view_is_what_the_members_were() {
    says(&edit(&calm(), "view m1 0x4", "view m1,m2 0x4"), "first GM-1");
    says(&edit(&calm(), "view m1 0x4", "view \"\" 0x4"), "first GM-1");
    // An empty view may show a directory that does not exist, but only in a state without the directory.
    says(&edit(&calm(), "view \"\" 0x5", "view \"\" 0x4"), "GM-1 pass");
    says(&edit(&calm(), "view \"\" 0x5", "view \"\" 0x3"), "first GM-1");
    says(&edit(&calm(), "view \"\" 0x5", "view \"\" 0x3").replace("run sim", "run client"), "GM-1 fail");
}

#[test]
fn gm_2_an_observer_without_a_watch_will_not_hear() {
    let told = without(&B_IS_TOLD.replace("send r4 children /g watch", "send r4 children /g"), "arm s2");
    says(&run(&[A_JOINS, B_WATCHES, A_LEAVES, &told]), "first GM-2, GM-2 fail");
    // A watch on data does not notify of members, only of a missing directory.
    let data = B_IS_TOLD.replace("arm s2 child", "arm s2 data");
    says(&run(&[A_JOINS, B_WATCHES, A_LEAVES, &data]), "GM-2 fail");
}

#[test]
fn gm_2_and_3_who_has_had_time_has_seen_it() {
    let late = |text: &str| text.replace("0.900", "30.000").replace("0.950", "31.000");
    let heal = "0.050 world heal\n";
    says(&late(&run(&[A_JOINS, B_WATCHES, A_LEAVES, B_IS_TOLD, heal])), "GM-2 pass, GM-3 pass");
    let blind = B_IS_TOLD.replace("view \"\" 0x5", "view m1 0x4");
    says(&late(&run(&[A_JOINS, B_WATCHES, A_LEAVES, &blind, heal])), "GM-3 fail");
    let joins_again = "
0.040 a join#5 call /g
0.040 a #5 given m1 0x0
0.041 server:0 #5 txn 0x6 s1 create ok
0.041 server:0 #5 created 0x6 /g/m1 s1
0.042 a #5 return done
";
    says(&late(&run(&[A_JOINS, B_WATCHES, A_LEAVES, B_IS_TOLD, joins_again, heal])), "GM-2 fail");
}

#[test]
fn gm_3_a_member_that_lives_does_not_flicker() {
    let gone = "0.040 b #2 observed /g view \"\" 0x4\n";
    says(&run(&[A_JOINS, B_WATCHES, gone]).replace("run sim", "run client"), "GM-3 fail, first GM-3");
    says(&run(&[A_JOINS, B_WATCHES, gone]), "GM-3 fail, first GM-1");
}

#[test]
fn gm_4_a_borrowed_znode_is_no_membership() {
    let borrowed = "
0.013 server:0 opened s3 timeout 4000 0x5
0.013 a state s3 connected
0.014 a join#6 call /g
0.014 a #6 given m1 0x0
0.014 a #6 send r6 create /g/m1
0.016 a #6 reply r6 node_exists 0x6
0.016 a #6 return done
";
    says(&[HEAD, A_JOINS, borrowed, "0.950 world quiesce\n"].concat(), "first GM-4, GM-4 fail");
    let refused = borrowed.replace("return done", "return refused");
    says(&[HEAD, A_JOINS, &refused, "0.950 world quiesce\n"].concat(), "GM-4 pass, all pass");
}

#[test]
fn gm_4_a_member_that_was_told_says_so() {
    let gone = "
0.100 server:0 txn 0x6 s0 delete ok
0.100 server:0 deleted 0x6 /g/m1 by s0
0.101 a notice s1 deleted /g/m1
";
    let says_so = "0.101 a #1 observed /g missing \"\" 0x0\n";
    says(&[HEAD, A_JOINS, gone, "0.950 world quiesce\n"].concat(), "first GM-4");
    says(&[HEAD, A_JOINS, gone, says_so, "0.950 world quiesce\n"].concat(), "GM-4 pass, GM-6 pass");
}

#[test]
fn gm_5_a_member_has_one_znode() {
    let twice = "
0.010 a join#1 call /g
0.010 a #1 given \"\" 0x0
0.011 server:0 #1 txn 0x4 s1 create ok
0.011 server:0 #1 created 0x4 /g/m-0000000000 s1
0.013 server:0 #1 txn 0x5 s1 create ok
0.013 server:0 #1 created 0x5 /g/m-0000000001 s1
0.014 a #1 return done
0.950 world quiesce
";
    says(&[HEAD, twice].concat(), "first GM-5, GM-5 fail");
    let given_up = A_JOINS.replace("return done", "return cancelled");
    says(&[HEAD, &given_up, "0.950 world quiesce\n"].concat(), "first GM-5");
    says(&[HEAD, A_JOINS, "0.950 world quiesce\n"].concat(), "GM-5 pass");
}

#[test]
fn gm_6_after_an_expiry_a_member_says_that_it_is_out_or_joins_again() {
    let expired = "0.100 a state s1 expired\n";
    let end = "0.950 world quiesce\n";
    says(&[HEAD, A_JOINS, expired, end].concat(), "first GM-6, GM-6 fail");
    let told = "0.100 a #1 observed /g missing \"\" 0x0\n";
    says(&[HEAD, A_JOINS, expired, told, end].concat(), "GM-6 pass");
    let again = "0.100 a join#7 call /g\n0.100 a #7 given m1 0x0\n";
    says(&[HEAD, A_JOINS, expired, again, end].concat(), "GM-6 vacuous");
    // A paused client cannot report anything, and a dead one need not.
    let pause = "0.050 world fault client_pause a lasts 2\n";
    let resumes = "2.050 world mended client_pause a\n2.050 a #1 observed /g missing \"\" 0x0\n";
    let end = "3.000 world quiesce\n";
    says(&[HEAD, A_JOINS, pause, expired, resumes, end].concat(), "GM-6 pass, first nothing");
    says(&[HEAD, A_JOINS, expired, "0.100 world crash a\n", end].concat(), "GM-6 vacuous");
}

#[test]
fn gm_7_one_notification_a_change() {
    let twice = A_LEAVES.replace(
        "fire s2 children_changed /g 0x5",
        "fire s2 children_changed /g 0x5\n0.031 server:0 #3 fire s2 children_changed /g 0x5",
    );
    says(&run(&[A_JOINS, B_WATCHES, &twice, B_IS_TOLD]), "GM-7 fail");
}

#[test]
fn mx_13_is_about_what_stands_in_line() {
    // A member that checks its znode before it leaves sends one more request than the budget of a lock.
    let looks = A_LEAVES.replace(
        "0.030 a #3 send r3",
        "0.030 a #3 send r9 exists /g/m1\n0.030 a #3 reply r9 ok 0x4\n0.030 a #3 send r3",
    );
    says(&run(&[A_JOINS, B_WATCHES, &looks, B_IS_TOLD]), "GM-3 pass, first nothing");
}

// ── views ──

#[test]
fn gm_1_a_view_shows_whole_transactions() {
    // One znode is deleted and another one created in the same transaction.
    let replaced = "
0.031 server:0 txn 0x5 s1 multi ok
0.031 server:0 deleted 0x5 /g/m1 by s1
0.031 server:0 #1 created 0x5 /g/m2 s1
0.031 server:0 fire s2 children_changed /g 0x5
0.032 b #2 notice s2 children_changed /g
0.032 b #2 send r4 children /g watch
0.033 server:0 arm s2 child /g
0.034 b #2 reply r4 ok 0x5
0.034 b #2 observed /g view m2 0x5
";
    says(&run(&[A_JOINS, B_WATCHES, replaced]), "GM-1 pass");
    says(&run(&[A_JOINS, B_WATCHES, &edit(replaced, "view m2", "view \"\"")]), "GM-1 fail");
}

#[test]
fn gm_2_each_group_has_its_own_directory() {
    // A watch on the data of a directory does not notify of members, even if another directory was created later.
    let two =
        edit(HEAD, "group /g stop margin 0.4\n", "group /g stop margin 0.4\ngroup /h stop margin 0.4\n");
    let other = "0.001 server:0 txn 0x3 s1 create ok\n0.001 server:0 created 0x3 /h s0\n";
    let data = edit(B_WATCHES, "arm s2 child", "arm s2 data");
    says(&[&two, other, A_JOINS, &data, ENDS].concat(), "GM-2 fail");
    says(&[&two, other, A_JOINS, B_WATCHES, ENDS].concat(), "GM-2 pass");
}

#[test]
fn gm_3_who_is_gone_is_gone_before_it_hears_of_it() {
    let b_joins = "
0.013 b join#4 call /g
0.013 b #4 given m2 0x0
0.014 server:0 #4 txn 0x5 s2 create ok
0.014 server:0 #4 created 0x5 /g/m2 s2
0.015 b #4 return done
";
    let watches = B_WATCHES.replace("0x4", "0x5").replace("view m1", "view m1,m2");
    let gone = "
0.030 server:0 txn 0x6 s0 delete ok
0.030 server:0 deleted 0x6 /g/m1 by s0
0.031 b #2 observed /g view m2 0x6
";
    says(&[HEAD, A_JOINS, b_joins, &watches, gone].concat(), "GM-3 pass, GM-1 pass");
}

#[test]
fn gm_1_an_observer_is_told_nothing_twice() {
    let again =
        "0.023 b #2 send r9 children /g watch\n0.024 server:0 arm s2 child /g\n0.025 b #2 reply r9 ok 0x4\n";
    let told =
        |between: &str| run(&[A_JOINS, B_WATCHES, between, again, "0.025 b #2 observed /g view m1 0x4\n"]);
    says(&told(""), "GM-1 fail, first GM-1");
    // Views may include the members' data.
    let data = "0.0221 server:0 txn 0x5 s1 set ok\n0.0221 server:0 written 0x5 /g/m1\n";
    says(&told(data), "GM-1 pass, first nothing");
    says(&told(&data.replace("/g/m1", "/other/m1")), "GM-1 fail");
}

/// The same as a capture.
fn captured(parts: &[&str]) -> String {
    let run = [&[HEAD], parts].concat().concat().replace("run sim", "run client");
    run.lines().filter(|line| !line.contains("server:")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn gm_3_a_view_of_before_a_member_joined_again_is_no_flicker() {
    let again = "
0.030 a release#3 call /g
0.031 a #3 return done
0.040 a join#4 call /g
0.040 a #4 given m1 0x0
0.040 a #4 send r5 create /g/m1
0.042 a #4 reply r5 ok 0x6
0.042 a #4 return done
0.050 b #2 observed /g view m1 0x4
0.051 b #2 observed /g view \"\" 0x5
";
    says(&captured(&[A_JOINS, B_WATCHES, again]), "GM-3 pass");
    says(&captured(&[A_JOINS, B_WATCHES, &edit(again, "view \"\" 0x5", "view \"\" 0x6")]), "GM-3 fail");
}

#[test]
fn gm_3_who_has_died_is_no_member() {
    let gone = "0.031 b #2 observed /g view \"\" 0x5\n";
    says(&captured(&[A_JOINS, B_WATCHES, "0.030 world crash a\n", gone]), "GM-3 pass");
    let another = captured(&[A_JOINS, B_WATCHES, "0.030 world crash c\n", gone]);
    says(&edit(&another, "clients a b", "clients a b c"), "GM-3 fail");
}

// ── members that are out ──

#[test]
fn gm_4_a_read_that_finds_its_znode_gone_tells_a_member() {
    let deleted = "0.099 server:0 txn 0x6 s0 delete ok\n0.099 server:0 deleted 0x6 /g/m1 by s0\n";
    let reads = "0.100 a #1 send r9 exists /g/m1\n0.101 a #1 reply r9 no_node 0x6\n";
    let says_so = "0.102 a #1 observed /g missing \"\" 0x0\n";
    let end = "0.950 world quiesce\n";
    says(&[HEAD, A_JOINS, deleted, reads, end].concat(), "GM-4 fail, first GM-4");
    says(&[HEAD, A_JOINS, deleted, reads, says_so, end].concat(), "GM-4 pass");
    says(&[HEAD, A_JOINS, deleted, &reads.replace("/g/m1", "/g/m2"), end].concat(), "GM-4 pass");
}

#[test]
fn gm_4_a_member_whose_replace_is_refused_as_removed_says_so() {
    let deleted = "0.099 server:0 txn 0x6 s0 delete ok\n0.099 server:0 deleted 0x6 /g/m1 by s0\n";
    let replaces = "0.099 a replace#7 call /g\n";
    let reads = "0.100 a #7 send r9 exists /g/m1\n0.101 a #7 reply r9 no_node 0x6\n";
    let refused = "0.101 a #7 return refused removed\n";
    let end = "0.950 world quiesce\n";
    says(&[HEAD, A_JOINS, replaces, deleted, reads, refused, end].concat(), "GM-4 pass, GM-8 pass");
    let otherwise = refused.replace("removed", "bad_input");
    says(&[HEAD, A_JOINS, replaces, deleted, reads, &otherwise, end].concat(), "GM-4 fail");
    says(&[HEAD, A_JOINS, replaces, refused, end].concat(), "GM-8 fail");
}

#[test]
fn gm_6_who_is_out_has_time_to_say_so() {
    let expired = "0.100 a state s1 expired\n";
    let says_so = |at: &str| format!("{at} a #1 observed /g missing \"\" 0x0\n");
    says(&[HEAD, A_JOINS, expired, &says_so("0.101")].concat(), "GM-6 pass");
    says(&[HEAD, A_JOINS, expired, &says_so("0.102")].concat(), "GM-6 fail");
}

#[test]
fn gm_5_only_a_release_that_is_done_promises_that_the_znode_is_gone() {
    for (outcome, verdict) in [("done", "fail"), ("unknown", "pass"), ("refused", "pass")] {
        let back = format!("0.030 a release#3 call /g\n0.031 a #3 return {outcome}\n");
        says(&[HEAD, A_JOINS, &back, "0.950 world quiesce\n"].concat(), &format!("GM-5 {verdict}"));
    }
}
