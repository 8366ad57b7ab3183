//! Double barriers: DB-1 to DB-10.

use super::{Edit::*, Row, row};

/// Two participants register, the second one opens the barrier, both enter, and both leave.
const CALM: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
double_barrier /b size 2
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.001 a enter#1 call /b
0.001 a #1 given a 0
0.001 a #1 send r1 multi /b
0.002 server:0 #1 txn 0x4 s1 multi ok
0.002 server:0 #1 created 0x4 /b/0/a-member-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 send r2 get /b watch
0.003 server:0 #1 arm s1 data /b
0.004 a #1 reply r2 ok 0x4
0.010 b enter#2 call /b
0.010 b #2 given b 0
0.010 b #2 send r3 multi /b
0.011 server:0 #2 txn 0x5 s2 multi ok
0.011 server:0 #2 created 0x5 /b/0/b-member-1 s2
0.012 b #2 reply r3 ok 0x5
0.012 b #2 send r4 multi /b
0.013 server:0 #2 txn 0x6 s2 multi ok
0.013 server:0 #2 written 0x6 /b
0.013 server:0 #2 created 0x6 /b/0/ready s2
0.013 server:0 #2 fire s1 data_changed /b 0x6
0.014 b #2 reply r4 ok 0x6
0.014 b #2 observed /b opening a,b 0
0.014 b #2 return done
0.014 a #1 notice s1 data_changed /b
0.014 a #1 send r5 get /b/0/ready watch
0.014 server:0 #1 arm s1 data /b/0/ready
0.015 a #1 reply r5 ok 0x6
0.015 a #1 observed /b opening a,b 0
0.015 a #1 return done
0.020 a leave#3 call /b
0.020 a #3 send r6 multi /b/0/ready
0.021 server:0 #3 txn 0x7 s1 multi ok
0.021 server:0 #3 deleted 0x7 /b/0/a-member-0 by s1
0.022 a #3 reply r6 ok 0x7
0.030 b leave#4 call /b
0.030 b #4 send r7 multi /b/0
0.031 server:0 #4 txn 0x8 s2 multi ok
0.031 server:0 #4 deleted 0x8 /b/0/b-member-1 by s2
0.031 server:0 #4 deleted 0x8 /b/0/ready by s2
0.031 server:0 #4 fire s1 deleted /b/0/ready 0x8
0.032 b #4 reply r7 ok 0x8
0.032 b #4 return done
0.032 a #3 notice s1 deleted /b/0/ready
0.032 a #3 send r8 children /b/0
0.034 a #3 reply r8 ok 0x8
0.034 a #3 return done
0.040 world heal
20.000 world quiesce
";

/// By calls and returns alone.
const CAPTURE: &str = "
run client clients a b c
double_barrier /b size 2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a enter#1 call /b
0.001 a #1 given a 0
0.002 b enter#2 call /b
0.002 b #2 given b 0
0.003 a #1 observed /b opening a,b 0
0.003 a #1 return done
0.004 b #2 observed /b opening a,b 0
0.004 b #2 return done
0.005 a leave#3 call /b
0.006 b leave#4 call /b
0.007 a #3 return done
0.008 b #4 return done
";

/// One enter is refused, and then two enter: they are two without it.
const REFUSED: &str = "
run client clients a b c
double_barrier /b size 2
0.001 c enter#9 call /b
0.002 c #9 return refused
0.003 a enter#1 call /b
0.004 b enter#2 call /b
0.005 a #1 return done
0.006 b #2 return done
";

/// For one opening only: a third participant comes late, and learns that.
fn once() -> String {
    let late = "0.016 c enter#5 call /b
0.016 c #5 send r20 get /b watch
0.016 server:0 #5 arm s3 data /b
0.017 c #5 reply r20 ok 0x6
0.018 server:0 disarm s3 data /b
0.018 c #5 return refused
0.020 a leave";
    CALM.replace("size 2", "size 2 once").replace("0.020 a leave", late)
}

/// A third participant waits for the next opening.
fn next() -> String {
    let waits = "0.016 c enter#5 call /b
0.016 c #5 given c 0
0.016 c #5 send r20 multi /b
0.017 server:0 #5 txn 0x7 s3 multi ok
0.017 server:0 #5 created 0x7 /b/1/c-member-0 s3
0.018 c #5 reply r20 ok 0x7
0.018 c #5 send r21 get /b watch
0.018 server:0 #5 arm s3 data /b
0.019 c #5 reply r21 ok 0x7
";
    [CALM.split("0.020 a leave").next().expect("it begins"), waits].concat()
}

/// A participant registers, and gives up.
fn gives_up() -> String {
    let begins = CALM.split("0.010 b enter").next().expect("it begins");
    let goes = "0.005 server:0 txn 0x5 s1 delete ok
0.005 server:0 deleted 0x5 /b/0/a-member-0 by s1
0.005 server:0 disarm s1 data /b
0.005 a #1 return refused
";
    [begins, goes, "0.040 world heal\n20.000 world quiesce\n"].concat()
}

/// Two wait at a barrier that opens by each participant's own count, and a third one registers.
fn two_wait() -> String {
    let waits = "0.005 c enter#9 call /b
0.005 c #9 send r30 children /b/0 watch
0.005 server:0 #9 arm s3 child /b/0
0.006 c #9 reply r30 ok 0x4
0.007 a #1 send r31 children /b/0 watch
0.007 server:0 #1 arm s1 child /b/0
0.007 a #1 reply r31 ok 0x4
0.010 b enter";
    let begins = CALM.split("0.012 b #2 send").next().expect("it begins");
    let begins = begins.replace("0.010 b enter", waits);
    [&begins, "0.012 server:0 #2 fire s1 children_changed /b/0 0x5\n0.012 b #2 send r4 multi /b\n"].concat()
}

pub fn rows() -> Vec<Row> {
    vec![
        row(
            "one is in before the second has called",
            CAPTURE,
            &[
                Behind("a #1 observed", "a #1 given"),
                Behind("a #1 return", "a #1 observed"),
                Put("0.003 a #1 obs", "0.001 a #1 obs"),
                Put("0.003 a #1 return", "0.001 a #1 return"),
            ],
            "DB-1",
        ),
        row(
            "the second one calls when the first is in",
            REFUSED,
            &[Behind("b enter", "a #1 return"), Put("0.004 b", "0.005 b")],
            "DB-1",
        ),
        row(
            "of two that are counted one had been cancelled",
            REFUSED,
            &[
                Behind("b enter", "a #1 return"),
                Put("0.004 b", "0.005 b"),
                Put("c #9 return refused", "c #9 return cancelled"),
            ],
            "DB-1 unavoidable",
        ),
        row(
            "one is out before the other has called",
            CAPTURE,
            &[Behind("a #3 return", "a leave"), Put("0.007 a #3", "0.005 a #3")],
            "DB-2 after DB-9",
        ),
        row(
            "one is out while the other's znode is there",
            CALM,
            &[Behind("a #3 return", "a #3 reply r6"), Put("0.034 a #3 return", "0.022 a #3 return")],
            "DB-2",
        ),
        row(
            "a roster names one that had been refused",
            &REFUSED
                .replace("0.001 c enter#9 call /b", "0.001 c enter#9 call /b\n0.001 c #9 given c 0")
                .replace("0.003 a enter#1 call /b", "0.003 a enter#1 call /b\n0.003 a #1 given a 0")
                .replace("0.004 b enter#2 call /b", "0.004 b enter#2 call /b\n0.004 b #2 given b 0")
                .replace("0.005 a", "0.005 a #1 observed /b opening a,b 0\n0.005 a"),
            &[Put("opening a,b", "opening a,c")],
            "DB-3",
        ),
        row(
            "one that is in was never registered",
            CALM,
            &[Cut("created 0x5 /b/0/b-member-1"), Cut("deleted 0x8 /b/0/b-member-1")],
            "DB-1",
        ),
        row(
            "an old opening lets the next one in",
            &next(),
            &[End("0.020 c #5 send r22 get /b/0/ready\n0.021 c #5 reply r22 ok 0x7\n0.021 c #5 return done")],
            "DB-4 (DB-1 DB-6)",
        ),
        row("who comes late hangs", &once(), &[Cut("disarm s3"), Cut("c #5 return")], "DB-5"),
        row("who waits has no watch", &next(), &[Cut("arm s3"), End("0.100 b state s2 connected")], "DB-6"),
        row(
            "who was counted is refused",
            CALM,
            &[Put("0.015 a #1 return done", "0.015 a #1 return refused"), Cut("a #1 observed")],
            "DB-7",
        ),
        row(
            "one registration wakes everybody",
            &two_wait(),
            &[After("fire s1 children", "0.012 server:0 #2 fire s3 children_changed /b/0 0x5")],
            "DB-8",
        ),
        row(
            "a lost connection lets in",
            CALM,
            &[
                Before("0.010 b enter", "0.008 a state s1 suspended\n0.008 a #1 return done"),
                Cut("0.015 a #1 return"),
                Cut("a #1 observed"),
            ],
            "DB-9 (DB-1 DB-3)",
        ),
        row(
            "the opening is made when nobody else is registered",
            CALM,
            &[
                Put("created 0x4 /b/0/a-member-0", "created 0x4 /b/1/a-member-0"),
                Put("deleted 0x7 /b/0/a-member-0", "deleted 0x7 /b/1/a-member-0"),
            ],
            "DB-3 (DB-9)",
        ),
        row("its znode is left", &gives_up(), &[Cut("txn 0x5"), Cut("deleted 0x5")], "DB-10"),
        row("its watch is left", CALM, &[Cut("fire s1 deleted")], "DB-10"),
    ]
}
