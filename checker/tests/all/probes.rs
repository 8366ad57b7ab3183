//! Reachable states: a history for each probe, and one edit that does not reach it.

use crate::common::ensemble::*;
use crate::common::{edit, report, without};
use zk_checker::Probe;

#[track_caller]
fn reaches(text: &str, probe: Probe, times: u32) {
    let report = report(text);
    assert_eq!(report.metrics.reached(probe), times, "{}\n{report}\n{text}", probe.name());
}

fn held() -> String {
    join(&[ENSEMBLE, A_HOLDS])
}

#[test]
fn every_probe_has_a_name() {
    for probe in Probe::ALL {
        assert_eq!(Probe::from_name(probe.name()), Some(*probe));
        assert!(probe.about().ends_with('.'), "{}", probe.about());
    }
    assert_eq!(Probe::ALL.len(), 9);
}

const STALE: &str = "
0.005 b send r3 children /lock
0.006 server:2 served r3 0x3 conn 2
0.006 server:2 found children ok /lock 0x0 0x0
";

#[test]
fn a_stale_read() {
    let behind = without(&held(), "server:2 applied 0x4");
    reaches(&join(&[&behind, STALE]), Probe::StaleRead, 1);
    reaches(&join(&[&behind, &STALE.replace("/lock", "/zookeeper")]), Probe::StaleRead, 0);
    let early = STALE.replace("0.005", "0.0035").replace("0.006", "0.0035");
    reaches(
        &edit(&behind, "0.004 a #1 reply r1", &format!("{}0.004 a #1 reply r1", early.trim_start())),
        Probe::StaleRead,
        0,
    );
}

const AWAY: &str = "
0.005 b send r3 sync /
0.006 b reply r3 ok 0x4 conn 2
0.010 b state s2 suspended
0.011 server:1 txn 0x5 s1 create ok
0.011 server:1 created 0x5 /x s0
0.012 server:1 txn 0x6 s1 delete ok
0.012 server:1 deleted 0x6 /x by s1
0.020 b state s2 connected conn 3 server 1
0.021 server:1 arm s2 data /x conn 3
";

#[test]
fn created_and_deleted_while_away() {
    reaches(&join(&[&held(), AWAY]), Probe::CreatedAndDeletedUnseen, 1);
    let seen = AWAY.replace("r3 ok 0x4", "r3 ok 0x6");
    reaches(&join(&[&held(), &seen]), Probe::CreatedAndDeletedUnseen, 0);
}

#[test]
fn deleted_and_created_while_away() {
    let again = AWAY
        .replace("txn 0x5 s1 create", "txn 0x5 s1 delete")
        .replace("created 0x5 /x s0", "deleted 0x5 /lock/a-0000000000 by s1")
        .replace("txn 0x6 s1 delete", "txn 0x6 s1 create")
        .replace("deleted 0x6 /x by s1", "created 0x6 /lock/a-0000000000 s0")
        .replace("arm s2 data /x conn 3", "fire s2 data_changed /lock/a-0000000000 0x0 conn 3");
    reaches(&join(&[&held(), &again]), Probe::RecreatedToldAsChanged, 1);
    reaches(&join(&[&held(), &again.replace("r3 ok 0x4", "r3 ok 0x6")]), Probe::RecreatedToldAsChanged, 0);
}

const LOST: &str = "
0.005 b send r3 create /lock/b-
0.006 b lost r3
0.006 b state s2 suspended
0.008 b state s2 connected conn 3 server 0
";
const READS: &str = "
0.009 b send r4 children /lock
0.009 server:0 served r4 0x4 conn 3
0.009 server:0 found children ok /lock 0x0 0x0
";
const APPLIED: &str =
    "0.010 server:2 txn 0x5 s2 create ok\n0.010 server:2 created 0x5 /lock/b-0000000001 s2\n";

#[test]
fn a_write_without_a_reply() {
    reaches(&join(&[&held(), LOST, APPLIED]), Probe::AppliedWithoutReply, 1);
    let before = format!("{}0.006 b lost", APPLIED.replace("0.010", "0.0055"));
    reaches(&join(&[&held(), &edit(LOST, "0.006 b lost", &before)]), Probe::AppliedWithoutReply, 1);
    reaches(&join(&[&held(), LOST]), Probe::AppliedWithoutReply, 0);
    reaches(
        &join(&[&held(), LOST, "0.010 server:2 txn 0x5 s2 create node_exists\n"]),
        Probe::AppliedWithoutReply,
        0,
    );
}

#[test]
fn a_write_after_the_first_reads_elsewhere() {
    reaches(&join(&[&held(), LOST, READS, APPLIED]), Probe::WriteAfterReads, 1);
    reaches(&join(&[&held(), LOST, APPLIED, &READS.replace("0.009", "0.011")]), Probe::WriteAfterReads, 1);
    let exact = READS.replace("0.009", "0.011").replace("0x4", "0x5");
    reaches(&join(&[&held(), LOST, APPLIED, &exact]), Probe::WriteAfterReads, 0);
}

#[test]
fn an_old_ephemeral_of_its_own() {
    let anew = "
0.005 a state s1 closed
0.006 a state s3 connected conn 4 server 2
0.007 a send r3 children /lock
0.007 server:2 served r3 0x4 conn 4
0.007 server:2 found children ok /lock 0x0 0x0
";
    reaches(&join(&[&held(), anew]), Probe::OwnOldEphemeral, 1);
    reaches(&join(&[&held(), &anew.replace("0.007 a send", "0.007 b send")]), Probe::OwnOldEphemeral, 0);
    let exists = anew.replace("children", "exists").replace("ok /lock", "ok /lock/a-0000000000");
    reaches(&join(&[&held(), &exists]), Probe::OwnOldEphemeral, 1);
}

#[test]
fn a_read_that_is_older_than_a_notification() {
    let moves = "
1.030 b state s2 suspended
1.040 b state s2 connected conn 3 server 0
1.041 b send r7 children /lock
1.042 server:0 served r7 0x5 conn 3
";
    let run = join(&[
        ENSEMBLE,
        A_HOLDS,
        B_WAITS,
        &without(A_RELEASES, "server:0 applied 0x6"),
        THE_LAGGARD_APPLIES_IT,
    ]);
    reaches(&join(&[&run, moves]), Probe::OlderThanNotified, 1);
    reaches(&join(&[&run, &moves.replace("r7 0x5", "r7 0x6")]), Probe::OlderThanNotified, 0);
    let stays = "1.030 b send r7 children /lock\n1.031 server:2 served r7 0x5 conn 2\n";
    reaches(&join(&[&run, stays]), Probe::OlderThanNotified, 0);
}

#[test]
fn answered_and_already_expired() {
    let marked = "4.500 server:0 marked s1 heard 0.4\n";
    let asks = "4.600 a send r3 children /lock\n4.601 a reply r3 ok 0x4 conn 1\n";
    reaches(&join(&[&held(), marked, asks]), Probe::AnsweredThoughExpired, 1);
    reaches(&join(&[&held(), &asks.replace("4.60", "4.40"), marked]), Probe::AnsweredThoughExpired, 0);
    let elected = "4.550 server:2 elected 1\n";
    reaches(&join(&[&held(), marked, elected, asks]), Probe::AnsweredThoughExpired, 0);
}

#[test]
fn expired_earlier_than_its_timeout_after_the_last_answer() {
    let marked = "4.500 server:0 marked s1 heard 0.4\n";
    let asks = "2.600 a send r3 children /lock\n2.601 a reply r3 ok 0x4 conn 1\n";
    reaches(&join(&[&held(), asks, marked]), Probe::ExpiredEarly, 1);
    reaches(&join(&[&held(), marked]), Probe::ExpiredEarly, 0);
    // Connected throughout, through a server that is cut off: its pings were answered.
    let cut = "1.000 world fault server_partition server:1 lasts 20\n";
    reaches(&join(&[&held(), cut, marked]), Probe::ExpiredEarly, 1);
    let heard = "2.000 a state s1 suspended\n";
    reaches(&join(&[&held(), cut, heard, marked]), Probe::ExpiredEarly, 0);
}

#[test]
fn what_was_seen_or_is_just_a_timeout_old_shows_nothing() {
    // It was answered in the state of the znode's creation.
    let seen = AWAY.replace("r3 ok 0x4", "r3 ok 0x5");
    reaches(&join(&[&held(), &seen]), Probe::CreatedAndDeletedUnseen, 0);
    // The request of its last answer was sent exactly a timeout ago.
    let asks = "2.600 a send r3 children /lock\n2.601 a reply r3 ok 0x4 conn 1\n";
    let marked = |at: &str| format!("{at} server:0 marked s1 heard 0.4\n");
    reaches(&join(&[&held(), asks, &marked("6.600")]), Probe::ExpiredEarly, 0);
    reaches(&join(&[&held(), asks, &marked("6.599")]), Probe::ExpiredEarly, 1);
    // It has been connected, or running again, for that long.
    let cut = "0.050 world fault server_partition server:1 lasts 20\n";
    let again = "0.200 a state s1 suspended\n0.300 a state s1 connected conn 3 server 1\n";
    reaches(&join(&[&held(), cut, again, &marked("4.300")]), Probe::ExpiredEarly, 0);
    reaches(&join(&[&held(), cut, again, &marked("4.301")]), Probe::ExpiredEarly, 1);
    let paused = "0.100 world fault client_pause a lasts 0.2\n0.300 world mended client_pause a\n";
    reaches(&join(&[&held(), cut, paused, &marked("4.299")]), Probe::ExpiredEarly, 0);
    reaches(&join(&[&held(), cut, paused, &marked("4.300")]), Probe::ExpiredEarly, 1);
}

#[test]
fn without_connections_nobody_knows_what_registering_again_tells() {
    let again = "
0.010 b state s2 suspended
0.011 server:1 txn 0x5 s1 delete ok
0.011 server:1 deleted 0x5 /lock/a-0000000000 by s1
0.012 server:1 txn 0x6 s1 create ok
0.012 server:1 created 0x6 /lock/a-0000000000 s0
0.020 b state s2 connected
0.021 server:1 fire s2 data_changed /lock/a-0000000000 0x0
";
    reaches(&join(&[&held(), again]), Probe::RecreatedToldAsChanged, 0);
    let told = again.replace("connected\n", "connected conn 3 server 1\n").replace("0x0\n", "0x0 conn 3\n");
    reaches(&join(&[&held(), &told]), Probe::RecreatedToldAsChanged, 1);
}
