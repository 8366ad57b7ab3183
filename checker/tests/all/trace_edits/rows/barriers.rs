//! Barriers: BA-1 to BA-5.

use super::{Edit::*, Row, row};

/// A barrier is raised, one client waits at it, it is lowered, and the waiter passes.
const CALM: &str = "
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
0.010 b wait#2 call /gate
0.010 b #2 send r2 children /gate watch
0.011 server:0 #2 arm s2 child /gate
0.012 b #2 reply r2 ok 0x3
0.020 a lower#3 call /gate
0.020 a #3 send r3 delete /gate
0.021 server:0 #3 txn 0x4 s1 delete ok
0.021 server:0 #3 deleted 0x4 /gate by s1
0.021 server:0 #3 fire s2 deleted /gate 0x4
0.022 a #3 reply r3 ok 0x4
0.022 a #3 return done
0.022 b #2 notice s2 deleted /gate
0.022 b #2 return done
0.030 world heal
20.000 world quiesce
";

/// The barrier's data change, and the waiter reads again and continues to wait.
fn changes() -> String {
    let written = "0.014 server:0 txn 0x5 s1 set ok
0.014 server:0 written 0x5 /gate
0.014 server:0 fire s2 data_changed /gate 0x5
0.015 b #2 notice s2 data_changed /gate
0.015 b #2 send r7 children /gate watch
0.016 b #2 reply r7 ok 0x5
";
    CALM.replace("0x4", "0x6")
        .replace("0.020 a lower", &format!("{written}0.020 a lower"))
        .replace("arm s2 child /gate", "arm s2 child /gate\n0.011 server:0 #2 arm s2 data /gate")
}

/// By calls alone.
const CAPTURE: &str = "
run client clients a b
barrier /gate
0.001 a raise#1 call /gate
0.003 a #1 return done
0.010 b wait#2 call /gate
0.015 a lower#3 call /gate
0.016 b #2 send r2 children /gate watch
0.020 b #2 reply r2 no_node 0
0.020 b #2 return done
0.021 a #3 return done
";

pub fn rows() -> Vec<Row> {
    vec![
        row(
            "it passes while the barrier stands",
            CALM,
            &[Behind("b #2 return", "b #2 reply r2"), Put("0.022 b #2 return", "0.013 b #2 return")],
            "BA-1",
        ),
        row(
            "it passes and has not read that the barrier is gone",
            CAPTURE,
            &[Put("reply r2 no_node", "reply r2 ok")],
            "BA-1",
        ),
        row(
            "a waiter has no watch",
            CALM,
            &[
                Cut("arm s2"),
                Cut("fire s2"),
                Cut("b #2 notice"),
                Put("0.022 b #2 return done", "0.025 b #2 return cancelled"),
            ],
            "BA-2",
        ),
        row("a waiter that was told stays", CALM, &[Cut("b #2 return")], "BA-2"),
        row(
            "it is told twice of one removal",
            CALM,
            &[After("fire s2", "0.021 server:0 #3 fire s2 deleted /gate 0x4")],
            "BA-3",
        ),
        row("it sleeps to look again", CALM, &[After("b #2 reply r2", "0.014 b #2 sleep until 1")], "BA-3"),
        row("a watch is left", CALM, &[After("b #2 return", "0.025 server:0 #2 arm s2 data /gate")], "BA-4"),
        row(
            "it passes because data changed",
            &changes(),
            &[
                Cut("b #2 send r7"),
                Cut("b #2 reply r7"),
                Behind("b #2 return", "b #2 notice s2 data_changed"),
                Put("0.022 b #2 return", "0.015 b #2 return"),
            ],
            "BA-5 (BA-1)",
        ),
    ]
}
