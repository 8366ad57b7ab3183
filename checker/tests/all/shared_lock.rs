//! Shared locks: RW-1 to RW-5, and the promises of every lock, with readers and writers.

use crate::common::{edit, report, says, without};

/// Three clients and a shared lock.
const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
shared_lock /s stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
";

/// A writer holds.
const A_WRITES: &str = "
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

/// A reader holds.
const A_READS: &str = "
0.001 a read#1 call /s
0.001 a #1 send r1 create /s/a-
0.001 a #1 send r2 children /s
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /s/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 return done
0.003 a #1 believe /s s1 token 0x4
";

/// Another client asks, behind it.
fn asks(who: &str, verb: &str, op: u32, session: u32, zxid: u32) -> String {
    let (create, list) = (10 * op, 10 * op + 1);
    format!(
        "
0.010 {who} {verb}#{op} call /s
0.010 {who} #{op} send r{create} create /s/{who}-
0.010 {who} #{op} send r{list} children /s
0.010 server:0 #{op} txn {zxid:#x} s{session} create ok
0.010 server:0 #{op} created {zxid:#x} /s/{who}-1 s{session}
0.010 {who} #{op} reply r{create} ok {zxid:#x}
0.010 {who} #{op} reply r{list} ok {zxid:#x}
"
    )
}

/// The client waits for this znode.
fn waits(who: &str, op: u32, session: u32, znode: &str) -> String {
    let req = 10 * op + 2;
    format!(
        "
0.010 {who} #{op} send r{req} children {znode} watch
0.010 server:0 #{op} arm s{session} child {znode}
0.010 {who} #{op} reply r{req} ok 0x0
"
    )
}

/// The client is granted the hold, by its last list.
fn granted(at: &str, who: &str, op: u32, session: u32, token: u32) -> String {
    format!("{at} {who} #{op} return done\n{at} {who} #{op} believe /s s{session} token {token:#x}\n")
}

/// The first client releases at zxid 0x10, and these sessions are notified.
fn a_releases(told: &[u32]) -> String {
    let mut text = "
0.020 a #1 unbelieve released
0.020 a release#7 call /s
0.020 a #7 send r70 delete /s/a-0
0.021 server:0 #7 txn 0x10 s1 delete ok
0.021 server:0 #7 deleted 0x10 /s/a-0 by s1
"
    .to_owned();
    for session in told {
        text += &format!("0.021 server:0 fire s{session} deleted /s/a-0 0x10\n");
    }
    text + "0.022 a #7 reply r70 ok 0x10\n0.022 a #7 return done\n"
}

/// The client lists again.
fn looks(who: &str, op: u32, session: u32) -> String {
    let req = 10 * op + 3;
    format!(
        "0.022 {who} notice s{session} deleted /s/a-0\n0.022 {who} #{op} send r{req} children /s\n\
         0.024 {who} #{op} reply r{req} ok 0x10\n"
    )
}

#[test]
fn rw_1_readers_hold_together() {
    let b = [asks("b", "read", 2, 2, 5), granted("0.010", "b", 2, 2, 5)].concat();
    let run = [HEAD, A_READS, &b].concat();
    says(&run, "RW-1 pass, RW-2 pass, RW-3 pass, RW-4 pass, MX-5 pass, first nothing");
    says(&run, "MX-2 vacuous, MX-3 vacuous, MX-4 vacuous");
}

#[test]
fn rw_1_a_writer_holds_alone() {
    for (first, verb) in [(A_READS, "write"), (A_WRITES, "read"), (A_WRITES, "write")] {
        let b = [asks("b", verb, 2, 2, 5), granted("0.010", "b", 2, 2, 5)].concat();
        says(&[HEAD, first, &b].concat(), "RW-1 fail, RW-2 fail, first RW-2");
    }
}

#[test]
fn rw_1_is_judged_by_calls_and_returns_alone() {
    let run = "
run client clients a b
shared_lock /s
0.000 a read#1 call /s
0.000 b write#2 call /s
0.001 a #1 return done
0.002 a release#3 call /s
0.003 b #2 return done
";
    says(run, "RW-1 pass");
    says(&without(run, "release"), "RW-1 fail");
    says(&edit(&without(run, "release"), "b write", "b read"), "RW-1 pass");
}

#[test]
fn rw_1_a_pause_excuses_its_window() {
    let b = [asks("b", "write", 2, 2, 5), waits("b", 2, 2, "/s/a-0")].concat();
    let expiry = "
1.600 world fault client_pause a lasts 5
6.000 server:0 marked s1 heard 1.5
6.000 server:0 txn 0x10 s1 close_session ok
6.000 server:0 deleted 0x10 /s/a-0 by s1
6.000 server:0 ended s1 0x10
6.000 server:0 fire s2 deleted /s/a-0 0x10
6.001 b #2 notice s2 deleted /s/a-0
6.001 b #2 send r23 children /s
6.003 b #2 reply r23 ok 0x10
6.003 b #2 return done
6.003 b #2 believe /s s2 token 0x5
6.600 world mended client_pause a
6.600 a state s1 suspended
6.600 a #1 unbelieve lost
";
    for first in [A_READS, A_WRITES] {
        says(&[HEAD, first, &b, expiry].concat(), "RW-1 unavoidable, MX-14 unavoidable, first nothing");
    }
}

#[test]
fn rw_2_a_reader_waits_for_writers_only() {
    let b = asks("b", "read", 2, 2, 5);
    let c = [asks("c", "write", 3, 3, 6), granted("0.010", "c", 3, 3, 6)].concat();
    // Behind two readers, on an event of the nearest.
    says(&[HEAD, A_READS, &b, &granted("0.010", "b", 2, 2, 5), &c].concat(), "RW-2 fail, first RW-2");
}

#[test]
fn rw_2_a_downgrade_is_one_transaction() {
    let whole = "
0.020 a downgrade#4 call /s
0.020 a #4 send r40 multi /s
0.021 server:0 #4 txn 0x7 s1 multi ok
0.021 server:0 #4 created 0x7 /s/a2-0 s1
0.021 server:0 #4 deleted 0x7 /s/a-0 by s1
0.022 a #4 reply r40 ok 0x7
0.022 a #1 unbelieve released
0.022 a #4 return done
0.022 a #4 believe /s s1 token 0x4
";
    let b = [asks("b", "read", 2, 2, 5), waits("b", 2, 2, "/s/a-0")].concat();
    let run = [HEAD, A_WRITES, &b, whole].concat();
    says(&run, "RW-1 pass, RW-2 pass, MX-5 pass, MX-9 pass, MX-12 pass, first nothing");
    // A writer behind it does not get in between: the reader's znode has the rank of the writer's.
    let c = asks("c", "write", 3, 3, 6);
    let slips =
        "0.023 c #3 send r33 children /s\n0.023 c #3 reply r33 ok 0x7\n0.023 c #3 believe /s s3 token 0x6\n";
    let c = c.replace("0.010", "0.023").replace("0x6", "0x8");
    let slips = slips.replace("0x6", "0x8").replace("0x7", "0x8");
    says(&[run.as_str(), &c, &slips].concat(), "first RW-2, RW-1 fail");
    // In two steps another client may.
    let two = edit(
        whole,
        "0.021 server:0 #4 deleted 0x7",
        "0.021 server:0 #4 txn 0x8 s1 delete ok\n0.021 server:0 #4 deleted 0x8",
    );
    says(&[HEAD, A_WRITES, &two].concat(), "first RW-2");
    says(&[HEAD, A_WRITES, &edit(whole, "token 0x4", "token 0x7")].concat(), "first MX-5");
    // The writer's znode that it leaves has no holder.
    let stays = [&without(whole, "deleted"), "1.0 world heal\n1.0 world quiesce\n"].concat();
    says(&[HEAD, A_WRITES, &stays].concat(), "MX-12 fail");
}

#[test]
fn rw_1_a_writer_is_a_reader_from_the_call_of_its_downgrade() {
    let early = "
0.020 a downgrade#4 call /s
0.020 a #4 send r40 multi /s
0.021 server:0 #4 txn 0x10 s1 multi ok
0.021 server:0 #4 created 0x10 /s/a2-0 s1
0.021 server:0 #4 deleted 0x10 /s/a-0 by s1
0.021 server:0 #4 fire s2 deleted /s/a-0 0x10
";
    let b = [asks("b", "read", 2, 2, 5), waits("b", 2, 2, "/s/a-0")].concat();
    let reads = [looks("b", 2, 2), granted("0.024", "b", 2, 2, 5)].concat();
    let late = "0.025 a #4 reply r40 ok 0x10\n0.025 a #1 unbelieve released\n0.025 a #4 return done\n0.025 a #4 believe /s s1 token 0x4\n";
    says(&[HEAD, A_WRITES, &b, early, &reads, late].concat(), "RW-1 pass, first nothing");
    // A refused downgrade leaves a writer.
    let refused = "0.020 a downgrade#4 call /s\n0.020 a #4 return refused\n";
    let b = [asks("b", "read", 2, 2, 5), granted("0.010", "b", 2, 2, 5)].concat().replace("0.010", "0.021");
    says(&[HEAD, A_WRITES, refused, &b].concat(), "RW-1 fail, first RW-2");
}

#[test]
fn rw_3_no_reader_overtakes_a_writer() {
    let b = [asks("b", "write", 2, 2, 5), waits("b", 2, 2, "/s/a-0")].concat();
    let c = [asks("c", "read", 3, 3, 6), granted("0.015", "c", 3, 3, 6)].concat();
    let run = [HEAD, A_READS, &b, &c]
        .concat()
        .replace("0.010 c", "0.015 c")
        .replace("0.010 server:0 #3", "0.015 server:0 #3");
    says(&run, "RW-3 fail, first RW-2");
    says(&edit(&run, "0.015 c read", "0.015 b #2 return cancelled\n0.015 c read"), "RW-3 pass");
}

#[test]
fn rw_4_a_reader_with_no_writer_ahead_does_not_wait() {
    // kazoo#649: it waits for a writer that came later.
    let c = asks("c", "read", 3, 3, 5);
    let b = [asks("b", "write", 2, 2, 6), waits("b", 2, 2, "/s/c-1")].concat();
    let run = [HEAD, &c, &b, &waits("c", 3, 3, "/s/b-1"), "1.0 world heal\n"].concat();
    says(&run, "RW-4 fail, first RW-4");
    // It waits for another reader.
    let run = [HEAD, A_READS, &c, &waits("c", 3, 3, "/s/a-0"), "1.0 world heal\n"].concat();
    says(&run, "RW-4 fail, first RW-4");
    let run = [HEAD, A_WRITES, &c, &waits("c", 3, 3, "/s/a-0"), "1.0 world heal\n"].concat();
    says(&run, "RW-4 pass, MX-7 pass, first nothing");
    says(&[HEAD, A_WRITES].concat(), "RW-4 vacuous");
}

#[test]
fn rw_4_in_a_capture_a_reader_among_readers_is_granted() {
    let run = "
run client clients a b timeout 4 tick 0.5 round_trip 0.002 settle 0.001
shared_lock /s
0.000 a read#1 call /s
0.001 a #1 return done
0.001 a #1 believe /s s1 token 0x4
0.002 world heal
0.010 b read#2 call /s
9.000 world stopped
";
    let run = edit(
        run,
        "clients a b timeout 4 tick 0.5 round_trip 0.002 settle 0.001",
        "timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b",
    );
    says(&run, "RW-4 fail, first RW-2");
    says(&edit(&run, "9.000", "4.000"), "RW-4 pass");
    says(&edit(&run, "a read", "a write"), "RW-4 pass");
}

#[test]
fn rw_5_a_writer_that_goes_wakes_the_readers_that_it_lets_in() {
    let b = [asks("b", "read", 2, 2, 5), waits("b", 2, 2, "/s/a-0")].concat();
    let c = [asks("c", "read", 3, 3, 6), waits("c", 3, 3, "/s/a-0")].concat();
    let run = [HEAD, A_WRITES, &b, &c, &a_releases(&[2, 3]), "1.0 world heal\n"].concat();
    says(&run, "RW-5 pass");
    // A writer is in between, and is the one to wake.
    let b = [asks("b", "write", 2, 2, 5), waits("b", 2, 2, "/s/a-0")].concat();
    let run = [HEAD, A_WRITES, &b, &c, &a_releases(&[2, 3]), "1.0 world heal\n"].concat();
    says(&run, "RW-5 fail");
    // The release of a reader wakes at most one writer.
    let c = [asks("c", "write", 3, 3, 6), waits("c", 3, 3, "/s/a-0")].concat();
    let run = [HEAD, A_READS, &b, &c, &a_releases(&[2, 3]), "1.0 world heal\n"].concat();
    says(&run, "RW-5 fail");
}

#[test]
fn rw_5_a_writer_that_gives_up_may_wake_all_readers_behind_it() {
    let c = asks("c", "write", 3, 3, 5);
    let b = [asks("b", "read", 2, 2, 6), waits("b", 2, 2, "/s/c-1")].concat();
    let gives_up = "
0.020 c #3 return cancelled
0.021 server:0 #3 txn 0x10 s3 delete ok
0.021 server:0 #3 deleted 0x10 /s/c-1 by s3
0.021 server:0 fire s2 deleted /s/c-1 0x10
1.0 world heal
";
    says(&[HEAD, A_WRITES, &c, &b, gives_up].concat(), "RW-5 pass");
}

#[test]
fn mx_1_readers_are_not_compared_with_readers() {
    let run = "
run client clients a b c
shared_lock /s until_deadline fenced
0.000 a read#1 call /s
0.000 b read#2 call /s
0.001 a #1 believe /s s1 token 0x3
0.002 b #2 believe /s s2 token 0x4
0.003 b #2 resource /s token 0x4 accepted
0.004 a #1 resource /s token 0x3 accepted
";
    says(run, "MX-1 pass");
    says(&run.replace("b read", "b write"), "MX-1 fail");
}

#[test]
fn what_a_finding_says() {
    let b = [asks("b", "write", 2, 2, 5), granted("0.010", "b", 2, 2, 5)].concat();
    let told = report(&[HEAD, A_READS, &b].concat()).to_string();
    assert!(told.starts_with("fail\n\nRW-2  shared lock, unjustified grant  /s\n"), "{told}");
    assert!(told.contains("in that list a-0 (0x4) of a is ahead of its own b-1 (0x5)"), "{told}");
}
