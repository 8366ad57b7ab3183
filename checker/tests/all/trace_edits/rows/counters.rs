//! Counters: CT-1 to CT-4.

use super::memberships::words;
use super::{Edit::*, Row, row};

/// A client adds to a counter that another one follows, sets and reads.
const COUNTER: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
shared_counter /n
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected conn 1
0.000 b state s2 connected conn 2
0.010 a add#1 call /n
0.010 a #1 given 5 0x0
0.010 a #1 send r1 multi /n/value
0.011 server:0 #1 txn 0x10 s1 multi ok
0.011 server:0 #1 created 0x10 /n/value s0
0.011 server:0 #1 DATA-5
0.012 a #1 reply r1 ok 0x10
0.012 a #1 observed /n value 5 0x0
0.012 a #1 return done
0.020 b follow#2 call /n
0.020 b #2 send r2 get /n/value watch
0.021 server:0 arm s2 data /n/value conn 2
0.022 b #2 reply r2 ok 0x10 conn 2
0.022 b #2 observed /n value 5 0x10
0.030 a add#3 call /n
0.030 a #3 given 1 0x0
0.030 a #3 send r3 multi /n/value
0.031 server:0 #3 txn 0x11 s1 multi ok
0.031 server:0 #3 written 0x11 /n/value
0.031 server:0 #3 DATA-5
0.031 server:0 fire s2 data_changed /n/value 0x11 conn 2
0.032 a #3 reply r3 ok 0x11
0.032 a #3 observed /n value 6 0x0
0.032 a #3 return done
0.032 b #2 notice s2 data_changed /n/value conn 2
0.032 b #2 send r4 get /n/value watch
0.033 server:0 arm s2 data /n/value conn 2
0.034 b #2 reply r4 ok 0x11 conn 2
0.034 b #2 observed /n value 6 0x11
0.040 a compare_and_set#4 call /n
0.040 a #4 given 9 0x6
0.040 a #4 send r5 multi /n/value
0.041 server:0 #4 txn 0x12 s1 multi ok
0.041 server:0 #4 deleted 0x12 /n/value by s1
0.041 server:0 #4 created 0x12 /n/value s0
0.041 server:0 #4 DATA-9
0.041 server:0 fire s2 deleted /n/value 0x12 conn 2
0.042 a #4 reply r5 ok 0x12
0.042 a #4 return done
0.042 b #2 notice s2 deleted /n/value conn 2
0.042 b #2 send r6 get /n/value watch
0.043 server:0 arm s2 data /n/value conn 2
0.044 b #2 reply r6 ok 0x12 conn 2
0.044 b #2 observed /n value 9 0x12
0.050 a compare_and_set#5 call /n
0.050 a #5 given 7 0x6
0.050 a #5 send r7 get /n/value
0.052 a #5 reply r7 ok 0x12
0.052 a #5 return refused conflict
0.060 a get#6 call /n
0.060 a #6 given latest 0x0
0.060 a #6 send r8 get /n/value
0.062 a #6 reply r8 ok 0x12
0.062 a #6 observed /n value 9 0x0
0.062 a #6 return done
0.070 world heal
30.000 b #2 return done
30.001 server:0 disarm s2 data /n/value conn 2
31.000 world quiesce
";

pub fn rows() -> Vec<Row> {
    let counter = words(COUNTER);
    let of = |what, edits: &[_], rule| row(what, &counter, edits, rule);
    vec![
        of(
            "an addition that was acknowledged is not applied",
            &[Cut("txn 0x10"), Cut("created 0x10"), Cut(words("0.011 server:0 #1 DATA-5\n").trim_end())],
            "CT-1 after CT-2 (CT-3)",
        ),
        of(
            "an addition is applied, and its caller is told that it was not",
            &[Put("0.032 a #3 return done", "0.032 a #3 return refused"), Cut("a #3 observed")],
            "CT-1 (AN-3)",
        ),
        of("an addition adds another number", &[Put("#3 given 1 0x0", "#3 given 2 0x0")], "CT-1"),
        of(
            "an addition tells another count",
            &[Put("#3 observed /n value 6", "#3 observed /n value 7")],
            "CT-2",
        ),
        of(
            "a read tells a count of before its call",
            &[Put("#6 observed /n value 9", "#6 observed /n value 6")],
            "CT-2",
        ),
        of("a follower is told another count", &[Put("value 6 0x11", "value 7 0x11")], "CT-2"),
        of(
            "a count is set although another one was expected",
            &[Put("#4 given 9 0x6", "#4 given 9 0x5")],
            "CT-3",
        ),
        of("a conflict where there was none", &[Put("#5 given 7 0x6", "#5 given 7 0x9")], "CT-3"),
        of("a follower does not have the last count", &[Cut("value 9 0x12")], "CT-4"),
    ]
}
