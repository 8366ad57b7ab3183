//! Recipes on several servers, which apply the same transactions at different times: a lagging server breaks no
//! promise.

use crate::common::ensemble::*;
use crate::common::{edit, says, without};

#[test]
fn a_run_with_a_lagging_server_passes() {
    says(&lagging(), "first nothing, MX-3 pass, MX-4 pass, MX-7 pass, MX-10 pass, MX-13 pass");
    says(
        &lagging(),
        "ZK-1 pass, ZK-2 pass, ZK-3 pass, ZK-4 pass, ZK-6 pass, ZK-8 pass, ZK-10 pass, ZK-11 pass",
    );
}

#[test]
fn mx_7_a_watch_on_what_is_gone_elsewhere_will_fire() {
    let waits = [ENSEMBLE, A_HOLDS, B_WAITS, A_RELEASES, "9.000 world mended disconnect a\n"].concat();
    says(&waits, "MX-7 pass, first nothing");
    // The znode is deleted there too, and no notification was sent.
    let silent = edit(&waits, "9.000 world", "1.021 server:2 applied 0x6\n9.000 world");
    says(&silent, "ZK-6 fail, first ZK-6");
}

#[test]
fn mx_7_a_watch_armed_where_its_znode_is_gone_wakes_nobody() {
    let run = [ENSEMBLE, A_HOLDS, B_WAITS, A_RELEASES].concat();
    // Server 2 has applied the deletion before the watch is armed.
    let run = edit(&run, "0.013 server:2 #2 arm", "0.030 server:2 #2 arm");
    let arm = run.lines().find(|line| line.contains("#2 arm")).expect("it is armed").to_owned();
    let reply = run.lines().find(|line| line.contains("reply r5")).expect("it is answered").to_owned();
    let run = without(&without(&run, "#2 arm"), "reply r5");
    let late = format!("0.025 server:2 applied 0x6\n{arm}\n{}\n", reply.replace("0.014", "0.031"));
    says(&[&run, &late, "0.500 world heal\n"].concat(), "MX-7 fail");
    let lags = late.replace("0.025 server:2 applied 0x6\n", "");
    says(&[&run, &lags, "0.500 world heal\n"].concat(), "MX-7 pass, first nothing");
}

const MOVES: &str = "
0.100 b state s2 suspended
0.200 b state s2 connected conn 3 server 1
";

#[test]
fn mx_7_a_watch_on_a_connection_that_was_left_counts_for_nothing() {
    let run = [ENSEMBLE, A_HOLDS, B_WAITS, MOVES].concat();
    let later = "20.000 world heal\n";
    says(&[&run, later].concat(), "MX-7 fail, first MX-7");
    let again = "0.201 server:1 arm s2 child /lock/a-0000000000 conn 3\n";
    says(&[&run, again, later].concat(), "MX-7 pass, first nothing");
    // Nor does a watch that a late request arms there.
    let late = "0.201 server:2 #2 arm s2 child /lock/a-0000000000 conn 2\n";
    says(&[&run, late, later].concat(), "MX-7 fail");
    // If its server dies, the watch must be armed again, too.
    says(&[&run, again, "0.300 server:1 ceased\n", later].concat(), "MX-7 fail");
}

#[test]
fn mx_4_a_list_counts_by_the_state_it_was_served_in() {
    let run = [ENSEMBLE, A_HOLDS, B_WAITS, A_RELEASES].concat();
    let hasty = "
0.030 b #2 send r7 children /lock
0.032 b #2 reply r7 ok 0x5 conn 2
0.032 b #2 believe /lock s2 token 0x5
";
    // The contender ahead is deleted by then, but not in the list.
    says(&[&run, hasty].concat(), "MX-4 fail, MX-2 pass");
    // The server's record of the state counts, not the zxid of the reply.
    let served = "0.031 server:2 served r7 0x5 conn 2\n0.032 b #2 reply r7 ok 0x6";
    says(&[&run, &edit(hasty, "0.032 b #2 reply r7 ok 0x5", served)[..]].concat(), "MX-4 fail, ZK-5 fail");
    // Its own znode is deleted by then, and still in the list.
    let expired = "
0.025 world fault foreign_delete b
0.025 server:0 txn 0x7 s0 delete ok
0.025 server:0 deleted 0x7 /lock/b-0000000001 by s0
0.026 server:2 applied 0x6
0.026 server:2 #3 fire s2 deleted /lock/a-0000000000 0x6 conn 2
0.027 b #2 notice s2 deleted /lock/a-0000000000 conn 2
";
    let stale = hasty.replace("ok 0x5", "ok 0x6").replace("0.030", "0.027");
    says(&[&run, expired, &stale].concat(), "MX-4 pass, MX-10 pass, first nothing");
    says(&[&run, expired, &stale.replace("ok 0x6", "ok 0x7")].concat(), "MX-4 fail");
}

#[test]
fn mx_11_what_is_armed_on_a_connection_that_was_left_is_no_leak() {
    let gives_up = "0.150 b #2 return cancelled\n0.300 world heal\n";
    let cleanup = "
0.310 b #2 send r7 delete /lock/b-0000000001 cleanup
0.311 server:1 txn 0x6 s2 delete ok
0.311 server:1 deleted 0x6 /lock/b-0000000001 by s2
0.312 b #2 reply r7 ok 0x6 conn 3
0.400 world quiesce
";
    let run = [ENSEMBLE, A_HOLDS, B_WAITS, MOVES.trim_end(), "\n"].concat();
    let run = edit(&run, "0.200 b state", &format!("{}0.300 b state", gives_up));
    says(&[&run, cleanup].concat(), "MX-11 pass, MX-12 pass, first nothing");
    let again = "0.305 server:1 arm s2 child /lock/a-0000000000 conn 3\n";
    says(&[&run, again, cleanup].concat(), "MX-11 fail, first MX-11");
}

#[test]
fn mx_13_a_late_notification_belongs_to_its_transaction() {
    // Two epochs later the same low half is another transaction.
    let second = "0.500 server:0 elected 1\n0.501 server:0 txn 0x100000006 s0 other ok\n";
    let late = "
1.021 server:2 applied 0x6
1.021 server:2 #3 fire s2 deleted /lock/a-0000000000 0x6 conn 2
1.022 b #2 notice s2 deleted /lock/a-0000000000 conn 2
";
    says(&[ENSEMBLE, A_HOLDS, B_WAITS, A_RELEASES, second, late].concat(), "MX-13 pass, first nothing");
}

#[test]
fn mx_2_a_server_that_is_cut_off_excuses_who_believes_through_it() {
    let cut = "0.100 world fault server_partition server:1 lasts 6\n";
    let expiry = "
4.300 server:0 marked s1 heard 0.02
4.301 server:0 txn 0x6 s1 close_session ok
4.301 server:0 deleted 0x6 /lock/a-0000000000 by s1
4.301 server:0 ended s1 0x6
4.301 server:2 applied 0x6
4.301 server:2 fire s2 deleted /lock/a-0000000000 0x6 conn 2
4.302 b #2 notice s2 deleted /lock/a-0000000000 conn 2
4.302 b #2 send r7 children /lock
4.304 b #2 reply r7 ok 0x6 conn 2
4.304 b #2 believe /lock s2 token 0x5
4.304 b #2 return done
4.600 a state s1 suspended
4.600 a #1 unbelieve lost
";
    says(&[ENSEMBLE, A_HOLDS, B_WAITS, cut, expiry].concat(), "MX-2 unavoidable, MX-14 pass, first nothing");
    says(&[ENSEMBLE, A_HOLDS, B_WAITS, expiry].concat(), "MX-2 fail, first MX-2");
}

#[test]
fn mx_14_a_clock_that_drifts_stretches_the_deadline() {
    let run = [&edit(ENSEMBLE, "lock /lock stop", "lock /lock until_deadline"), A_HOLDS].concat();
    let run = [&run, "1.000 world fault clock_drift a lasts 0\n2.000 a state s1 suspended\n"].concat();
    says(&[&run, "5.900 a #1 unbelieve suspect"].concat(), "MX-14 pass, MX-3 pass");
    says(&[&run, "6.100 a #1 unbelieve suspect"].concat(), "MX-14 fail");
    says(&[&without(&run, "clock_drift"), "5.900 a #1 unbelieve suspect"].concat(), "MX-14 fail");
}

#[test]
fn two_sessions_of_one_client_are_two() {
    let second = "
0.005 a state s3 connected conn 4 server 2
0.006 a send r8 sync /
0.007 a reply r8 ok 0x3 conn 4
0.008 a send r9 sync /
0.009 a reply r9 ok 0x4 conn 1
";
    let run = without(&[ENSEMBLE, A_HOLDS].concat(), "server:2 applied 0x4");
    says(&[&run, second].concat(), "ZK-4 pass, ZK-3 pass, first nothing");
    says(&join(&[&run, &second.replace("ok 0x3 conn 4", "ok 0x3 conn 1")]), "ZK-4 fail");
}
