//! The results of calls: AN-1 to AN-4.

use super::{Edit::*, Row, row};

/// One client raises a barrier, and the other lowers it without waiters; a third call is refused.
const BARRIER: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
barrier /gate
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a raise#1 call /gate
0.001 a #1 send r1 create /gate
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /gate s0
0.003 a #1 reply r1 ok 0x3
0.003 a #1 return done
0.010 b lower#2 call /gate
0.010 b #2 send r2 delete /gate
0.011 server:0 #2 txn 0x4 s2 delete ok
0.011 server:0 #2 deleted 0x4 /gate by s2
0.012 b #2 reply r2 ok 0x4
0.012 b #2 return done
0.020 b raise#3 call /gate
0.020 b #3 send r3 create /gate
0.021 server:0 #3 txn 0x5 s2 create no_auth
0.022 b #3 reply r3 no_auth 0x5
0.022 b #3 return refused denied
1.000 world heal
9.000 world quiesce
";

pub fn rows() -> Vec<Row> {
    vec![
        row(
            "a barrier that was raised never stood",
            BARRIER,
            &[Cut("created 0x3"), Cut("deleted 0x4"), Cut("txn 0x4")],
            "AN-1 (ZK-11)",
        ),
        row("a barrier that was lowered stands", BARRIER, &[Cut("deleted 0x4")], "AN-1 (ZK-11)"),
        row("nothing was denied", BARRIER, &[Put("b #3 reply r3 no_auth", "b #3 reply r3 ok")], "AN-2"),
        row(
            "another reason than the one that was met",
            BARRIER,
            &[Put("refused denied", "refused not_empty")],
            "AN-2",
        ),
        row(
            "what was denied was done",
            BARRIER,
            &[After("txn 0x5", "0.021 server:0 #3 created 0x5 /gate s0")],
            "AN-3 after ZK-11",
        ),
        row(
            "a delete that was done is said to be none",
            BARRIER,
            &[Put("b #2 return done", "b #2 return refused")],
            "AN-3",
        ),
        row(
            "a raise makes sure first that its server is up to date",
            BARRIER,
            &[
                After("a raise#1 call", "0.001 a #1 send r9 sync /gate"),
                After("created 0x3", "0.002 a #1 reply r9 ok 0x2"),
            ],
            "AN-4",
        ),
    ]
}
