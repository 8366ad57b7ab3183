//! Groups: a history and a verdict for each promise.

use crate::common::*;

const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
group /g stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.000 server:0 txn 0x3 s1 create ok
0.000 server:0 created 0x3 /g s0
";

const A_JOINS: &str = "
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
    // An empty view may be of a directory that is not there: but not before that was so.
    says(&edit(&calm(), "view \"\" 0x5", "view \"\" 0x4"), "GM-1 pass");
    says(&edit(&calm(), "view \"\" 0x5", "view \"\" 0x3"), "first GM-1");
    says(&edit(&calm(), "view \"\" 0x5", "view \"\" 0x3").replace("run sim", "run client"), "GM-1 fail");
}

#[test]
fn gm_2_an_observer_without_a_watch_will_not_hear() {
    let told = without(&B_IS_TOLD.replace("send r4 children /g watch", "send r4 children /g"), "arm s2");
    says(&run(&[A_JOINS, B_WATCHES, A_LEAVES, &told]), "first GM-2, GM-2 fail");
    // A watch on data tells nothing of members, but of a directory that is not there.
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
    // Who stands still cannot say anything, and who is dead need not.
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
    // A member that looks whether its znode is its own still before it leaves asks once more than a lock may.
    let looks = A_LEAVES.replace(
        "0.030 a #3 send r3",
        "0.030 a #3 send r9 exists /g/m1\n0.030 a #3 reply r9 ok 0x4\n0.030 a #3 send r3",
    );
    says(&run(&[A_JOINS, B_WATCHES, &looks, B_IS_TOLD]), "GM-3 pass, first nothing");
}
