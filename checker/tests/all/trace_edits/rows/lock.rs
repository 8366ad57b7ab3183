//! Locks: MX-1 to MX-17.

use super::{Edit::*, Row, row};
use crate::common::*;

/// Both clients hold, one after the other, and use a fenced resource.
const CAPTURE: &str = "
run client clients a b
lock /lock until_deadline fenced
0.000 a state s1 connected
0.000 b state s2 connected
0.000 a acquire#1 call /lock
0.000 a #1 send r1 create /lock/a-
0.000 a #1 send r2 children /lock
0.001 a #1 reply r1 ok 0x3
0.001 a #1 made /lock/a-0 0x3
0.001 a #1 reply r2 ok 0x3
0.001 a #1 believe /lock s1 token 0x3
0.001 a #1 return done
0.002 a #1 resource /lock token 0x3 accepted
0.003 a #1 unbelieve released
0.003 a release#3 call /lock
0.003 a #3 send r3 delete /lock/a-0
0.004 a #3 reply r3 ok 0x4
0.004 a #3 return done
0.005 b acquire#2 call /lock
0.005 b #2 send r4 create /lock/b-
0.005 b #2 send r5 children /lock
0.006 b #2 reply r4 ok 0x5
0.006 b #2 made /lock/b-1 0x5
0.006 b #2 reply r5 ok 0x5
0.006 b #2 believe /lock s2 token 0x5
0.006 b #2 return done
0.007 b #2 resource /lock token 0x5 accepted
0.008 b #2 unbelieve released
";

/// The session of the first holder expires in a pause, and the second one is granted.
const EXPIRY: &str = "
1.600 world fault client_pause a lasts 5
6.000 server:0 marked s1 heard 1.5
6.000 server:0 txn 0x5 s1 close_session ok
6.000 server:0 deleted 0x5 /lock/a-0 by s1
6.000 server:0 ended s1 0x5
6.000 server:0 fire s2 deleted /lock/a-0 0x5
6.001 b #2 notice s2 deleted /lock/a-0
6.001 b #2 send r7 children /lock
6.003 b #2 reply r7 ok 0x5
6.003 b #2 believe /lock s2 token 0x4
6.003 b #2 return done
6.600 world mended client_pause a
6.600 a state s1 suspended
6.600 a #1 unbelieve lost
";

/// A third client queues behind the second, and watches it.
const C_WAITS: &str = "
0.015 c acquire#5 call /lock
0.015 c #5 send r9 create /lock/c-
0.015 c #5 send r10 children /lock
0.016 server:0 #5 txn 0x5 s3 create ok
0.016 server:0 #5 created 0x5 /lock/c-2 s3
0.017 c #5 reply r9 ok 0x5
0.017 c #5 reply r10 ok 0x5
0.017 c #5 send r11 children /lock/b-1 watch
0.018 server:0 #5 arm s3 child /lock/b-1
0.019 c #5 reply r11 ok 0x5
";

fn expiry() -> String {
    [HEAD, A_HOLDS, B_WAITS, EXPIRY].concat()
}

/// Without the pause, and so without its excuse.
fn expiry_awake() -> String {
    without(&without(&expiry(), "fault client_pause"), "mended client_pause")
}

fn three() -> String {
    let head = edit(
        HEAD,
        "0.000 a state",
        "0.000 server:0 opened s3 timeout 4000 0x2\n0.000 c state s3 connected\n0.000 a state",
    );
    let later = [A_RELEASES, B_HOLDS].concat().replace("0x5", "0x6");
    [&head, A_HOLDS, B_WAITS, C_WAITS, &later, "0.050 world heal\n"].concat()
}

pub fn rows() -> Vec<Row> {
    [exclusion(), grants(), waiting(), line_and_cost(), priority()].into_iter().flatten().collect()
}

fn exclusion() -> Vec<Row> {
    vec![
        row(
            "a belief is given up past the next one",
            &gives_up_in_time(),
            &[
                Behind("2.000 a #1 unbelieve", "6.003 b #2 return"),
                Put("2.000 a #1 unbelieve", "6.003 a #1 unbelieve"),
            ],
            "MX-14 (MX-2)",
        ),
        row(
            "the pause over an overlap goes",
            &expiry(),
            &[Cut("fault client_pause"), Cut("mended client_pause")],
            "MX-2 (MX-14)",
        ),
        row(
            "a pause comes over an overlap",
            &expiry_awake(),
            &[
                Before("6.000 server:0 marked", "1.600 world fault client_pause a lasts 5"),
                Before("6.600 a state", "6.600 world mended client_pause a"),
            ],
            "MX-2 unavoidable (MX-14)",
        ),
        row(
            "an operation of an older hold is accepted late",
            CAPTURE,
            &[End("0.009 a #1 resource /lock token 0x3 accepted")],
            "MX-1",
        ),
        row(
            "an operation of the only hold is refused",
            CAPTURE,
            &[Put("token 0x3 accepted", "token 0x3 rejected")],
            "MX-1",
        ),
        row(
            "two believe at once, and nothing in the run excuses it",
            CAPTURE,
            &[
                Cut("release#3"),
                Cut("send r3"),
                Cut("reply r3"),
                Cut("a #3 return"),
                Behind("a #1 unbelieve", "b #2 resource"),
                Put("0.003 a #1 unbelieve", "0.007 a #1 unbelieve"),
            ],
            "MX-3 after MX-2",
        ),
        row(
            "it stops two settling times after it was told to",
            &told_to_stop(),
            &[Put("0.101 a #1", "0.102 a #1")],
            "MX-14",
        ),
        row(
            "it stands still when it is told to stop",
            &told_to_stop(),
            &[
                Before(
                    "0.101 a #1",
                    "0.100 world fault client_pause a lasts 1\n1.100 world mended client_pause a",
                ),
                Put("0.101 a #1", "1.100 a #1"),
            ],
            "MX-14 unavoidable",
        ),
    ]
}

/// The first holder stops when its connection is lost; its session expires, and the second one is granted.
fn gives_up_in_time() -> String {
    let lost = "2.000 a state s1 suspended\n2.000 a #1 unbelieve lost\n";
    let run = without(&without(&expiry_awake(), "6.600 a state"), "6.600 a #1");
    edit(&run, "6.000 server:0 marked", &format!("{lost}6.000 server:0 marked"))
}

/// A holder loses its connection, and stops.
fn told_to_stop() -> String {
    [HEAD, A_HOLDS, "0.100 a state s1 suspended\n0.101 a #1 unbelieve lost\n"].concat()
}

fn grants() -> Vec<Row> {
    let calm = calm();
    let first = [HEAD, A_HOLDS].concat();
    vec![
        row(
            "the list before a belief goes",
            &calm,
            &[
                Cut("send r7"),
                Cut("reply r7"),
                Put("0.024 b #2 believe", "0.022 b #2 believe"),
                Put("0.024 b #2 return", "0.022 b #2 return"),
            ],
            "MX-4",
        ),
        row("the list is of the state before", &calm, &[Put("reply r7 ok 0x5", "reply r7 ok 0x4")], "MX-4"),
        row(
            "the connection was lost between the list and the grant",
            &FREE
                .replace("0.201 a #1 return", "0.901 a #1 return")
                .replace("0.201 a #1 bel", "0.901 a #1 bel"),
            &[After("reply r2", "0.301 a state s1 suspended\n0.401 a state s1 connected")],
            "MX-4",
        ),
        row("the winner's znode is another's", &first, &[Put("/lock/a-0 s1", "/lock/a-0 s2")], "MX-4"),
        row("a token is lower", &calm, &[Put("token 0x4", "token 0x2")], "MX-5"),
        row(
            "a token is that of the hold before",
            CAPTURE,
            &[Put("believe /lock s2 token 0x5", "believe /lock s2 token 0x3")],
            "MX-5",
        ),
        row(
            "the one ahead has not given up",
            &gives_up(),
            &[
                Cut("txn 0x5"),
                Cut("deleted 0x5"),
                Cut("fire s2"),
                Cut("a #1 return"),
                Cut("notice"),
                Cut("send r7"),
                Cut("reply r7"),
            ],
            "MX-6 after MX-4 (MX-8)",
        ),
    ]
}

/// The first waiter gives up before its first list, and the second is granted.
fn gives_up() -> String {
    let first: String = A_HOLDS.lines().take(6).map(|line| format!("{line}\n")).collect();
    [
        HEAD,
        &first,
        B_WAITS,
        "0.015 server:0 #1 txn 0x5 s1 delete ok
0.015 server:0 #1 deleted 0x5 /lock/a-0 by s1
0.015 server:0 #1 fire s2 deleted /lock/a-0 0x5
0.016 a #1 return cancelled
0.016 b #2 notice s2 deleted /lock/a-0
0.016 b #2 send r7 children /lock
0.018 b #2 reply r7 ok 0x5
0.018 b #2 believe /lock s2 token 0x4
",
    ]
    .concat()
}

/// Long after all faults a free lock is granted.
const FREE: &str = "
run client clients a
lock /lock fenced
0.000 a state s1 connected
0.100 world heal
0.200 a acquire#1 call /lock
0.200 a #1 send r1 create /lock/a-
0.200 a #1 send r2 children /lock
0.201 a #1 reply r1 ok 0x3
0.201 a #1 made /lock/a-0 0x3
0.201 a #1 reply r2 ok 0x3
0.201 a #1 return done
0.201 a #1 believe /lock s1 token 0x3
200.000 world stopped
";

fn waiting() -> Vec<Row> {
    let waits = [HEAD, A_HOLDS, B_WAITS, "1.000 world heal\n"].concat();
    let granted =
        [HEAD, A_HOLDS, B_WAITS, A_RELEASES, B_HOLDS, "0.030 world heal\n9.000 world quiesce\n"].concat();
    let limited =
        [HEAD, A_HOLDS, &edit(B_WAITS, "call /lock", "call /lock limit 1"), "1.013 b #2 return refused\n"]
            .concat();
    vec![
        row("a waiter has no watch", &waits, &[Cut("arm s2")], "MX-7"),
        row(
            "a waiter watches nobody ahead",
            &waits,
            &[Put("arm s2 child /lock/a-0", "arm s2 child /lock/other")],
            "MX-7",
        ),
        row("a free lock is never granted", FREE, &[Cut("return done"), Cut("believe")], "MX-8"),
        row(
            "who is woken never looks",
            &granted,
            &[Cut("send r7"), Cut("reply r7"), Cut("believe /lock s2"), Cut("b #2 return")],
            "MX-7 (MX-8)",
        ),
        row("a limit is overrun", &limited, &[Put("1.013 b", "1.014 b")], "MX-12"),
        row("a release deletes nothing", &calm(), &[Cut("txn 0x6"), Cut("deleted 0x6")], "MX-12 (MX-11)"),
        row(
            "what was lost is believed again",
            &[HEAD, A_HOLDS, "0.030 a state s1 suspended\n0.030 a #1 unbelieve lost\n"].concat(),
            &[End("0.040 a state s1 connected\n0.040 a #1 believe /lock s1 token 0x3")],
            "MX-12",
        ),
        row(
            "a holder is told that it may have lost what it holds, and its connection stands",
            &[HEAD, A_HOLDS, "0.030 a state s1 suspended\n0.030 a #1 unbelieve suspect\n"].concat(),
            &[Cut("suspended")],
            "MX-16",
        ),
        row(
            "a write under a hold is applied when the hold is over",
            &crate::fenced::written("transact"),
            &[
                After(
                    "send r3",
                    "0.0105 server:0 txn 0x7 s1 delete ok\n0.0105 server:0 deleted 0x7 /lock/a-0 by s1",
                ),
                Cut("deleted 0x90"),
            ],
            "MX-17",
        ),
    ]
}

fn line_and_cost() -> Vec<Row> {
    let queued = [HEAD, A_HOLDS, B_WAITS].concat();
    let released = [HEAD, A_HOLDS, B_WAITS, A_RELEASES].concat();
    vec![
        row(
            "an acquire makes a second znode",
            &queued,
            &[End("0.015 server:0 #2 txn 0x5 s2 create ok\n0.015 server:0 #2 created 0x5 /lock/b-2 s2")],
            "MX-9",
        ),
        row(
            "a contender deletes another's znode",
            &queued,
            &[End("0.015 server:0 txn 0x5 s1 delete ok\n0.015 server:0 deleted 0x5 /lock/b-1 by s1")],
            "MX-10",
        ),
        row(
            "an armed watch is left",
            &calm(),
            &[Before("world quiesce", "0.045 server:0 #2 arm s2 child /lock/a-0")],
            "MX-11",
        ),
        row(
            "a waiter that is not enabled is woken",
            &three(),
            &[
                After("arm s3", "0.018 server:0 #5 arm s3 child /lock/a-0"),
                After("fire s2", "0.021 server:0 #3 fire s3 deleted /lock/a-0 0x6"),
            ],
            "MX-13",
        ),
        row(
            "a request without a reason while waiting",
            &queued,
            &[End("0.500 b #2 send r9 children /lock")],
            "MX-13",
        ),
        row("a waiter sleeps to look again", &queued, &[End("0.500 b #2 sleep until 1.0")], "MX-13"),
        row(
            "a release asks once more",
            &released,
            &[Before("a #3 reply r6", "0.022 a #3 send r9 sync /lock")],
            "MX-13",
        ),
    ]
}

/// A less urgent client holds a priority lock, two wait, and the more urgent one is granted.
const URGENT: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
priority_lock /p stop margin 0.4 budget 6 2 1 4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.010 a write#1 call /p
0.010 a #1 given \"\" 5
0.010 a #1 send r1 create /p/line/a-
0.010 a #1 send r2 exists /p
0.010 a #1 send r3 children /p/line
0.010 a #1 send r4 children /p/held
0.010 server:0 #1 txn 0x4 s1 create ok
0.010 server:0 #1 created 0x4 /p/line/a-1 s1
0.011 b write#2 call /p
0.011 b #2 given \"\" 1
0.011 b #2 send r11 create /p/line/b-
0.011 b #2 send r12 exists /p
0.011 b #2 send r13 children /p/line
0.011 b #2 send r14 children /p/held
0.011 server:0 #2 txn 0x5 s2 create ok
0.011 server:0 #2 created 0x5 /p/line/b-2 s2
0.012 b #2 reply r11 ok 0x5
0.012 b #2 reply r12 ok 0x5
0.012 b #2 reply r13 ok 0x5
0.012 b #2 reply r14 ok 0x5
0.013 b #2 send r15 multi /p
0.014 server:0 #2 txn 0x6 s2 multi ok
0.014 server:0 #2 deleted 0x6 /p/line/b-2 by s2
0.014 server:0 #2 created 0x6 /p/held/b s2
0.015 b #2 reply r15 ok 0x6
0.015 b #2 send r16 get /p/held/b watch
0.015 b #2 return done
0.015 b #2 believe /p s2 token 0x6
0.015 server:0 #2 arm s2 data /p/held/b
0.016 b #2 reply r16 ok 0x6
";

fn priority() -> Vec<Row> {
    vec![row(
        "the one who is granted is the less urgent",
        URGENT,
        &[Put("given \"\" 1", "given \"\" 9")],
        "MX-15",
    )]
}
