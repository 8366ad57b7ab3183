//! Third parties that announce their acts: the recipe is not responsible for an announced act. Unannounced, the same
//! act is a breach.

use crate::common::*;
use zk_checker::digest;

/// Three clients, of which the last follows no recipe.
fn head(object: &str) -> String {
    format!(
        "run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b x
{object}
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 x state s3 connected
"
    )
}

/// The foreign client announces an act, and performs it.
fn foreign(at: &str, kind: &str, zxid: &str, effect: &str) -> String {
    format!(
        "{at} x fault foreign_{kind} x
{at} server:0 txn {zxid} s3 other ok
{at} server:0 {effect}
"
    )
}

fn data(text: &str) -> String {
    format!("data {} {:#x}", text.len(), digest::data(Some(text.as_bytes())))
}

/// Checks the verdict with the announcement, and the one without it.
#[track_caller]
fn differs(run: &str, announced: &str, silent: &str) {
    says(run, announced);
    says(&without(run, "fault foreign"), silent);
}

const END: &str = "1.000 world heal\n2.000 world quiesce\n";

#[test]
fn a_name_that_a_foreign_client_deletes() {
    let registered = "
0.001 a register#1 call /names
0.001 a #1 given db 0x0
0.001 a #1 send r1 create /names/db
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /names/db s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 observed /names name db 0x4
0.003 a #1 return done
";
    let gone = foreign("0.010", "delete", "0x5", "deleted 0x5 /names/db by s3");
    let run = [&head("name_service /names stop margin 0.4"), registered, &gone, END].concat();
    differs(&run, "NS-4 vacuous, first nothing", "first NS-4");
}

/// The name is read, the foreign client deletes it, another client registers it, and the delete arrives.
#[test]
fn a_name_that_a_foreign_client_deletes_while_it_is_given_back() {
    let registered = |number: u32, at: &str, who: &str, session: &str, zxid: &str| {
        format!(
            "{at}1 {who} register#{number} call /names
{at}1 {who} #{number} given db 0x0
{at}1 {who} #{number} send r{number} create /names/db
{at}2 server:0 #{number} txn {zxid} {session} create ok
{at}2 server:0 #{number} created {zxid} /names/db {session}
{at}3 {who} #{number} reply r{number} ok {zxid}
{at}3 {who} #{number} observed /names name db {zxid}
{at}3 {who} #{number} return done
"
        )
    };
    let by_a = registered(1, "0.00", "a", "s1", "0x4");
    let gone = foreign("0.010", "delete", "0x5", "deleted 0x5 /names/db by s3");
    let by_b = registered(2, "0.02", "b", "s2", "0x6");
    let too_late = "
0.030 server:0 #1 txn 0x7 s1 delete ok
0.030 server:0 #1 deleted 0x7 /names/db by s1
";
    let run = [&head("name_service /names stop margin 0.4"), &*by_a, &gone, &by_b, too_late, END].concat();
    differs(&run, "NS-4 pass, first nothing", "first NS-4");
}

#[test]
fn a_set_that_a_foreign_client_writes_into() {
    let read = "
0.040 a snapshot#1 call /cfg
0.041 a #1 observed /cfg value x1,foreign 0x10
0.042 a #1 return done
";
    let written = foreign("0.030", "write", "0x11", "written 0x11 /cfg/v-1/key");
    let run = [&head("config /cfg"), &*written, read, END].concat();
    differs(&run, "CF-6 pass, first nothing", "CF-6 fail, first CF-6");
}

#[test]
fn a_value_that_a_foreign_client_takes_away_and_somebody_makes_again_has_its_versions_again() {
    let write = |number: u32, at: &str, verb: &str, expected: &str, zxid: &str, effect: &str| {
        let data = data("v");
        format!(
            "{at}0 a {verb}#{number} call /cfg
{at}0 a #{number} given v {expected}
{at}0 a #{number} send r{number} set /cfg
{at}1 server:0 #{number} txn {zxid} s1 set ok
{at}1 server:0 #{number} {effect} {zxid} /cfg{}
{at}1 server:0 #{number} {data}
{at}2 a #{number} reply r{number} ok {zxid}
{at}2 a #{number} return done
",
            if effect == "created" { " s0" } else { "" }
        )
    };
    let first = write(1, "0.01", "overwrite", "0x0", "0x10", "created");
    let gone = foreign("0.020", "delete", "0x11", "deleted 0x11 /cfg by s3");
    let again = write(2, "0.03", "overwrite", "0x0", "0x12", "created");
    let old = write(3, "0.04", "compare_and_set", "0x10", "0x13", "written");
    let run = [&head("config /cfg"), &*first, &gone, &again, &old, END].concat();
    differs(&run, "CF-7 pass, first nothing", "CF-7 fail, first CF-7");
    // The answer was lost, and the current value is another client's.
    let lost = without(&write(1, "0.01", "compare_and_set", "0x0", "0x10", "created"), "return");
    let run = [&head("config /cfg"), &*lost, &gone, &again, "0.050 a #1 return refused\n", END].concat();
    differs(&run, "CF-7 pass, first nothing", "CF-7 fail, first CF-7");
}

/// An item is put.
fn put() -> String {
    format!(
        "0.001 a put#1 call /q
0.001 a #1 given one 0x0
0.001 a #1 send r1 multi /q/receipts/r
0.001 server:0 #1 txn 0x11 s1 multi ok
0.001 server:0 #1 created 0x11 /q/queue-0000000001 s0
0.001 server:0 {}
0.001 a #1 reply r1 ok 0x11
0.001 a #1 return done
",
        data("one")
    )
}

#[test]
fn an_item_that_a_foreign_client_writes_into_comes_out_as_what_is_written() {
    let effect = format!("written 0x12 /q/queue-0000000001\n0.010 server:0 {}", data("foreign"));
    let written = foreign("0.010", "write", "0x12", &effect);
    let took = "
0.020 b take#2 call /q
0.020 b #2 send r2 multi /q/receipts/r
0.020 server:0 #2 txn 0x13 s2 multi ok
0.020 server:0 #2 deleted 0x13 /q/queue-0000000001 by s2
0.020 b #2 reply r2 ok 0x13
0.020 b #2 observed /q item foreign 0x0
0.020 b #2 return done
";
    let run = [&head("queue /q"), &*put(), &written, took, END].concat();
    differs(&run, "first nothing", "QU-1 fail, first QU-1");
}

#[test]
fn a_claim_whose_mark_a_foreign_client_writes_over_is_not_known_again() {
    let claimed = "
0.010 b claim#2 call /q
0.010 b #2 send r2 multi /q/receipts/r
0.010 server:0 #2 txn 0x12 s2 multi ok
0.010 server:0 #2 created 0x12 /q/claims/queue-0000000001 s2
0.010 server:0 #2 written 0x12 /q/queue-0000000001
0.010 b #2 reply r2 ok 0x12
0.010 b #2 return cancelled
";
    let written = foreign("0.020", "write", "0x13", "written 0x13 /q/claims/queue-0000000001");
    let run = [&head("queue /q at_least_once"), &*put(), claimed, &written, END].concat();
    differs(&run, "QU-9 pass", "QU-9 fail, first QU-9");
}

const LEADS: &str = "
0.001 a stand#1 call /e
0.001 a #1 send r1 create /e/a-
0.001 a #1 send r2 children /e
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /e/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 return done
0.003 a #1 believe /e s1 token 0x4
0.006 a acknowledge#3 call /e
0.006 a #3 given \"a:80\" 0x4
0.006 a #3 send r7 multi /e
0.007 server:0 #3 txn 0x6 s1 multi ok
0.007 server:0 #3 created 0x6 /e/leader s1
";

/// The reply was lost, so the leader records itself once more.
const AGAIN: &str = "
0.012 a #3 send r8 multi /e
0.013 server:0 #3 txn 0x8 s1 multi ok
0.013 server:0 #3 created 0x8 /e/leader s1
0.014 a #3 reply r8 ok 0x8
0.014 a #3 return done
";

#[test]
fn a_record_that_a_foreign_client_deletes_may_be_written_again() {
    let gone = foreign("0.010", "delete", "0x7", "deleted 0x7 /e/leader by s3");
    let run = [&head("election /e stop margin 0.4"), LEADS, &gone, AGAIN].concat();
    differs(&run, "LE-4 pass, first nothing", "LE-4 fail, first LE-4");
}

/// A client observes the leader, and reports that the record has no content any more.
const FOLLOWS: &str = "
0.008 b observe#2 call /e
0.008 b #2 send r4 get /e/leader watch
0.008 b #2 send r5 children /e
0.008 server:0 #2 arm s2 data /e/leader
0.009 b #2 reply r4 ok 0x6
0.009 b #2 reply r5 ok 0x6
0.009 b #2 observed /e leader \"a:80\" 0x4
";
const SEES_NOTHING: &str = "
0.010 server:0 fire s2 data_changed /e/leader 0x7
0.011 b #2 notice s2 data_changed /e/leader
0.011 b #2 send r6 get /e/leader watch
0.012 server:0 #2 arm s2 data /e/leader
0.013 b #2 reply r6 ok 0x7
0.013 b #2 observed /e vacant \"\" 0
0.030 world heal
9.0 world stopped
";

#[test]
fn a_record_that_a_foreign_client_writes_over_is_known_to_nobody() {
    let over = foreign("0.010", "write", "0x7", "written 0x7 /e/leader");
    let run = [&head("election /e stop margin 0.4"), LEADS, FOLLOWS, &over, SEES_NOTHING].concat();
    differs(&run, "LE-5 vacuous, first nothing", "LE-4 fail, LE-5 fail");
}

/// A consumer waits behind another one, and watches its znode; it has an older receipt.
const IN_LINE: &str = "
0.002 b take#3 call /q
0.002 server:0 #3 txn 0x12 s2 create ok
0.002 server:0 #3 created 0x12 /q/receipts/b s2
0.003 a take#2 call /q
0.003 a #2 send r2 children /q watch
0.003 server:0 #2 txn 0x13 s1 create ok
0.003 server:0 #2 created 0x13 /q/takers/a-taker-0000000000 s1
0.003 server:0 #2 arm s1 child /q
0.003 a #2 reply r2 ok 0x13
0.004 b #3 send r3 children /q/takers/a-taker-0000000000 watch
0.004 server:0 #3 txn 0x14 s2 create ok
0.004 server:0 #3 created 0x14 /q/takers/b-taker-0000000001 s2
0.004 server:0 #3 arm s2 child /q/takers/a-taker-0000000000
0.004 b #3 reply r3 ok 0x14
";

const GIVE_UP: &str = "
0.900 a #2 return cancelled
0.900 b #3 return cancelled
0.901 server:0 disarm s1 child /q
0.901 server:0 disarm s2 child /q/takers/a-taker-0000000000
0.902 server:0 txn 0x30 s1 delete ok
0.902 server:0 deleted 0x30 /q/takers/a-taker-0000000000 by s1
";

#[test]
fn who_waits_in_line_without_a_place_is_woken_by_whoever_stood_ahead() {
    let gone = foreign("0.010", "delete", "0x20", "deleted 0x20 /q/takers/b-taker-0000000001 by s3");
    let run = [&head("queue /q"), IN_LINE, &gone, GIVE_UP, END].concat();
    says(&run, "QU-6 pass, first nothing");
    let waits_for_nobody = run.replace("arm s2 child /q/takers/a-taker", "arm s2 child /q/takers/b-taker");
    says(&waits_for_nobody, "QU-6 fail, first QU-6");
}

const DECIDED: &str = "
0.005 a begin#1 call /tx
0.005 a #1 given \"\" 65535
0.006 server:0 #1 txn 0x4 s1 multi ok
0.006 server:0 #1 created 0x4 /tx s0
0.006 server:0 #1 created 0x4 /tx/s_0 s0
0.006 server:0 #1 created 0x4 /tx/s_1 s0
0.006 server:0 #1 created 0x4 /tx/tally s0
0.007 a #1 return done
";

#[test]
fn a_transaction_that_a_foreign_client_has_had_its_hands_on_need_not_be_decided() {
    let votes = format!(
        "0.010 a vote#2 call /tx
0.010 a #2 given commit 0
0.010 server:0 #2 txn 0x10 s1 multi ok
0.010 server:0 #2 written 0x10 /tx/s_0
0.010 server:0 #2 {}
0.010 a #2 return done
",
        data("commit")
    );
    let gone = foreign("0.020", "delete", "0x20", "deleted 0x20 /tx/s_1 by s3");
    let asks = "
0.030 a decide#3 call /tx limit 0.1
0.030 a #3 given \"\" 0
0.200 a #3 return refused
";
    let run = [&head("two_phase_commit /tx size 2"), DECIDED, &votes, &gone, asks, END].concat();
    differs(&run, "TC-5 vacuous, first nothing", "TC-5 fail, first TC-5");
}

#[test]
fn whoever_takes_part_is_excused_by_nothing_that_it_does_not_announce() {
    let gone = foreign("0.015", "delete", "0x5", "deleted 0x5 /lock/a-0 by s3");
    let told = "
0.015 server:0 fire s2 deleted /lock/a-0 0x5
0.016 b #2 notice s2 deleted /lock/a-0
0.016 b #2 send r7 children /lock
0.017 b #2 reply r7 ok 0x5
0.017 b #2 believe /lock s2 token 0x4
0.018 a notice s1 deleted /lock/a-0
0.018 a #1 unbelieve lost
";
    let head = HEAD.replace("clients a b c", "clients a b x")
        + "0.000 server:0 opened s3 timeout 4000 0x2\n0.000 x state s3 connected\n";
    let run = [&head, A_HOLDS, B_WAITS, &gone, told].concat();
    differs(&run, "MX-2 unavoidable, MX-10 pass", "MX-10 fail, first MX-10");
}
