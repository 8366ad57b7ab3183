//! Requests to release: RV-1 to RV-5.

use super::{Edit::*, Row, row};
use crate::common::ensemble::{data, fresh};
use crate::preemption::{asks, waits_with};
use crate::priority_lock::releases;
use zk_checker::digest::{self, Stat};

const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
revocable_lock /r stop margin 0.4 budget 3 2 1 2 grace 0.1 forced
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
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

const B_WAITS: &str = "
0.005 b write#2 call /r
0.005 b #2 send r4 create /r/b-
0.005 b #2 send r5 children /r
0.005 server:0 #2 txn 0x5 s2 create ok
0.005 server:0 #2 created 0x5 /r/b-1 s2
0.005 b #2 reply r4 ok 0x5
0.005 b #2 reply r5 ok 0x5
0.005 b #2 send r6 get /r/a-0 watch
0.005 server:0 #2 arm s2 data /r/a-0
0.005 b #2 reply r6 ok 0x5
";

/// The third client asks a contender to release.
fn asked(znode: &str) -> String {
    let word = digest::data(Some(b"unlock"));
    format!(
        "0.010 c force#3 call /r
0.010 c #3 given {znode} 0
0.010 c #3 send r10 set {znode}
0.010 server:0 #3 txn 0x6 s3 set ok
0.010 server:0 #3 written 0x6 {znode}
0.010 server:0 #3 data 6 {word:#x}
0.010 c #3 reply r10 ok 0x6
"
    )
}

/// The holder is notified, reads the word, and hands it to its caller.
fn heard() -> String {
    let stat = Stat { mzxid: 6, version: 1, data_length: 6, ..fresh(4, 1) };
    let found = data(b"unlock", &stat);
    format!(
        "0.010 server:0 #3 fire s1 data_changed /r/a-0 0x6
0.011 a #1 notice s1 data_changed /r/a-0
0.011 a #1 send r11 get /r/a-0 watch
0.012 server:0 #1 served r11 0x6
0.012 server:0 #1 found get ok /r/a-0 {found}
0.012 server:0 #1 arm s1 data /r/a-0
0.013 a #1 reply r11 ok 0x6
0.013 a #1 observed /r word \"\" 0
"
    )
}

/// The grace period is over, and the asking client deletes the holder's znode.
const FORCED: &str = "
0.111 c #3 send r13 delete /r/a-0
0.111 server:0 #3 txn 0x7 s3 delete ok
0.111 server:0 #3 deleted 0x7 /r/a-0 by s3
0.111 server:0 #3 fire s1 deleted /r/a-0 0x7
0.111 a notice s1 deleted /r/a-0
0.111 a #1 unbelieve lost
";

/// A waiter is notified, and leaves.
const LEAVES: &str = "
0.011 server:0 #3 fire s2 data_changed /r/b-1 0x6
0.012 b #2 notice s2 data_changed /r/b-1
0.012 b #2 observed /r word \"\" 0
0.012 b #2 return refused
0.012 b #2 send r15 delete /r/b-1 cleanup
0.013 server:0 #2 txn 0x7 s2 delete ok
0.013 server:0 #2 deleted 0x7 /r/b-1 by s2
0.014 b #2 reply r15 ok 0x7
1.000 world heal
9.000 world stopped
";

/// The waiter is notified of a change of the data ahead, lists again, and waits again.
const LOOKS_AGAIN: &str = "
0.010 server:0 #3 fire s2 data_changed /r/a-0 0x6
0.011 b #2 notice s2 data_changed /r/a-0
0.011 b #2 send r7 children /r
0.012 b #2 reply r7 ok 0x6
0.012 b #2 send r8 get /r/a-0 watch
0.012 server:0 #2 arm s2 data /r/a-0
0.012 b #2 reply r8 ok 0x6
0.020 world heal
";

pub fn rows() -> Vec<Row> {
    let asked_holder = asked("/r/a-0");
    let heard = heard();
    let hears = [HEAD, &asked_holder, &heard, "0.020 world heal\n"].concat();
    let forced = [HEAD, &asked_holder, &heard, FORCED].concat();
    let leaves = [HEAD, B_WAITS, &asked("/r/b-1"), LEAVES].concat();
    let looks = [HEAD, B_WAITS, &asked_holder, LOOKS_AGAIN].concat();
    let preempts = [&waits_with("ask"), &asks(), &releases("a", 1, 8, &[2]), "0.020 world heal\n"].concat();
    vec![
        row(
            "a waiter asks a holder although it should wait",
            &preempts,
            &[Put("given ask", "given never")],
            "RV-5",
        ),
        row("the caller is not handed the word", &hears, &[Cut("observed /r word")], "RV-1"),
        row("it is made to go before its grace is over", &forced, &[Put("grace 0.1", "grace 0.2")], "RV-2"),
        row("it is made to go where nobody may", &forced, &[Put(" forced", "")], "RV-2"),
        row(
            "a waiter that was asked stays",
            &leaves,
            &[Cut("return refused"), Cut("send r15"), Cut("txn 0x7"), Cut("deleted 0x7"), Cut("reply r15")],
            "RV-3 (MX-8)",
        ),
        row(
            "a word for another is taken for a grant",
            &looks,
            &[Before("0.012 b #2 send r8", "0.012 b #2 believe /r s2 token 0x5")],
            "RV-4 (RW-1 RW-2 MX-8)",
        ),
    ]
}
