//! Shared locks: RW-1 to RW-5.

use super::{Edit::*, Row, row};

/// A reader holds, another reader joins it, and a writer waits for the second.
const READERS: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
shared_lock /s stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.001 a read#1 call /s
0.001 a #1 send r1 create /s/a-
0.001 a #1 send r2 children /s
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /s/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 return done
0.003 a #1 believe /s s1 token 0x4
0.010 b read#2 call /s
0.010 b #2 send r3 create /s/b-
0.010 b #2 send r4 children /s
0.011 server:0 #2 txn 0x5 s2 create ok
0.011 server:0 #2 created 0x5 /s/b-1 s2
0.012 b #2 reply r3 ok 0x5
0.012 b #2 reply r4 ok 0x5
0.012 b #2 return done
0.012 b #2 believe /s s2 token 0x5
0.020 c write#3 call /s
0.020 c #3 send r5 create /s/c-
0.020 c #3 send r6 children /s
0.021 server:0 #3 txn 0x6 s3 create ok
0.021 server:0 #3 created 0x6 /s/c-2 s3
0.022 c #3 reply r5 ok 0x6
0.022 c #3 reply r6 ok 0x6
0.022 c #3 send r7 children /s/b-1 watch
0.023 server:0 #3 arm s3 child /s/b-1
0.024 c #3 reply r7 ok 0x6
0.030 a #1 unbelieve released
0.030 a release#4 call /s
0.030 a #4 send r8 delete /s/a-0
0.031 server:0 #4 txn 0x7 s1 delete ok
0.031 server:0 #4 deleted 0x7 /s/a-0 by s1
0.032 a #4 reply r8 ok 0x7
0.032 a #4 return done
1.000 world heal
";

/// A writer holds, and a second writer and a reader wait.
const WRITERS: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
shared_lock /s stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.001 a write#1 call /s
0.001 a #1 send r1 create /s/a-
0.001 a #1 send r2 children /s
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /s/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 return done
0.003 a #1 believe /s s1 token 0x4
0.010 b write#2 call /s
0.010 b #2 send r3 create /s/b-
0.010 b #2 send r4 children /s
0.011 server:0 #2 txn 0x5 s2 create ok
0.011 server:0 #2 created 0x5 /s/b-1 s2
0.012 b #2 reply r3 ok 0x5
0.012 b #2 reply r4 ok 0x5
0.012 b #2 send r5 children /s/a-0 watch
0.013 server:0 #2 arm s2 child /s/a-0
0.014 b #2 reply r5 ok 0x5
0.020 c read#3 call /s
0.020 c #3 send r6 create /s/c-
0.020 c #3 send r7 children /s
0.021 server:0 #3 txn 0x6 s3 create ok
0.021 server:0 #3 created 0x6 /s/c-2 s3
0.022 c #3 reply r6 ok 0x6
0.022 c #3 reply r7 ok 0x6
0.022 c #3 send r8 children /s/b-1 watch
0.023 server:0 #3 arm s3 child /s/b-1
0.024 c #3 reply r8 ok 0x6
0.030 a #1 unbelieve released
0.030 a release#4 call /s
0.030 a #4 send r9 delete /s/a-0
0.031 server:0 #4 txn 0x7 s1 delete ok
0.031 server:0 #4 deleted 0x7 /s/a-0 by s1
0.031 server:0 #4 fire s2 deleted /s/a-0 0x7
0.032 a #4 reply r9 ok 0x7
0.032 a #4 return done
1.000 world heal
";

/// By calls and returns alone: a reader, and then a writer.
const CAPTURE: &str = "
run client clients a b
shared_lock /s
0.000 a read#1 call /s
0.000 b write#2 call /s
0.001 a #1 return done
0.002 a release#3 call /s
0.003 b #2 return done
";

/// A writer is first and gives up before its first list, and the reader behind it is granted.
const GIVES_UP: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
shared_lock /s stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a write#1 call /s
0.001 a #1 send r1 create /s/a-
0.001 a #1 send r2 children /s
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /s/a-0 s1
0.010 b read#2 call /s
0.010 b #2 send r3 create /s/b-
0.010 b #2 send r4 children /s
0.011 server:0 #2 txn 0x5 s2 create ok
0.011 server:0 #2 created 0x5 /s/b-1 s2
0.012 b #2 reply r3 ok 0x5
0.012 b #2 reply r4 ok 0x5
0.012 b #2 send r5 children /s/a-0 watch
0.013 server:0 #2 arm s2 child /s/a-0
0.014 b #2 reply r5 ok 0x5
0.015 server:0 #1 txn 0x6 s1 delete ok
0.015 server:0 #1 deleted 0x6 /s/a-0 by s1
0.015 server:0 #1 fire s2 deleted /s/a-0 0x6
0.016 a #1 return cancelled
0.016 b #2 notice s2 deleted /s/a-0
0.016 b #2 send r7 children /s
0.018 b #2 reply r7 ok 0x6
0.018 b #2 return done
0.018 b #2 believe /s s2 token 0x5
";

/// A writer's session expires in a pause, and the next writer is granted.
const EXPIRY: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
shared_lock /s stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a write#1 call /s
0.001 a #1 send r1 create /s/a-
0.001 a #1 send r2 children /s
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /s/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 return done
0.003 a #1 believe /s s1 token 0x4
0.010 b write#2 call /s
0.010 b #2 send r3 create /s/b-
0.010 b #2 send r4 children /s
0.011 server:0 #2 txn 0x5 s2 create ok
0.011 server:0 #2 created 0x5 /s/b-1 s2
0.012 b #2 reply r3 ok 0x5
0.012 b #2 reply r4 ok 0x5
0.012 b #2 send r5 children /s/a-0 watch
0.013 server:0 #2 arm s2 child /s/a-0
0.014 b #2 reply r5 ok 0x5
1.600 world fault client_pause a lasts 5
6.000 server:0 marked s1 heard 1.5
6.000 server:0 txn 0x6 s1 close_session ok
6.000 server:0 deleted 0x6 /s/a-0 by s1
6.000 server:0 ended s1 0x6
6.000 server:0 fire s2 deleted /s/a-0 0x6
6.001 b #2 notice s2 deleted /s/a-0
6.001 b #2 send r7 children /s
6.003 b #2 reply r7 ok 0x6
6.003 b #2 return done
6.003 b #2 believe /s s2 token 0x5
6.600 world mended client_pause a
6.600 a state s1 suspended
6.600 a #1 unbelieve lost
";

pub fn rows() -> Vec<Row> {
    vec![
        row("the reader has not released", CAPTURE, &[Cut("release")], "RW-1"),
        row(
            "the pause over an overlap goes",
            EXPIRY,
            &[Cut("fault client_pause"), Cut("mended client_pause")],
            "RW-1 (MX-14)",
        ),
        row(
            "one that holds among readers is a writer",
            READERS,
            &[Put("b read#2", "b write#2")],
            "RW-2 (RW-1)",
        ),
        row(
            "a writer that waits holds all the same",
            READERS,
            &[After("c #3 reply r7", "0.024 c #3 believe /s s3 token 0x6")],
            "RW-2 (RW-1 MX-8)",
        ),
        row(
            "the writer ahead of a reader has not given up",
            GIVES_UP,
            &[
                Cut("txn 0x6"),
                Cut("deleted 0x6"),
                Cut("fire s2"),
                Cut("a #1 return"),
                Cut("notice"),
                Cut("send r7"),
                Cut("reply r7"),
            ],
            "RW-3 after RW-2 (MX-8)",
        ),
        row("a reader waits for a reader", READERS, &[Put("c write#3", "c read#3")], "RW-4"),
        row(
            "a writer that goes wakes a writer and the reader behind it",
            WRITERS,
            &[
                After("arm s3", "0.023 server:0 #3 arm s3 child /s/a-0"),
                After("fire s2", "0.031 server:0 #4 fire s3 deleted /s/a-0 0x7"),
            ],
            "RW-5",
        ),
    ]
}
