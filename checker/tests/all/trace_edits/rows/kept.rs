//! What outlasts a session: SV-1, SV-2, PN-1 to PN-4.

use super::memberships::words;
use super::{Edit::*, Row, row};

/// A client keeps a node, sets its data, creates it again after an eviction, and ends.
const NODE: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
persistent_node /n/x
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.010 a keep#1 call /n/x
0.010 a #1 given v1 0x0
0.010 a #1 send r1 create /n/x
0.011 server:0 #1 txn 0x4 s1 create ok
0.011 server:0 #1 created 0x4 /n/x s1
0.011 server:0 #1 DATA-v1
0.012 a #1 reply r1 ok 0x4
0.020 a replace#2 call /n/x
0.020 a #2 given v2 0x0
0.020 a #2 send r2 set /n/x
0.021 server:0 #2 txn 0x5 s1 set ok
0.021 server:0 #2 written 0x5 /n/x
0.021 server:0 #2 DATA-v2
0.022 a #2 reply r2 ok 0x5
0.022 a #2 return done
0.030 b evict#3 call /n/x
0.030 b #3 send r3 delete /n/x
0.031 server:0 #3 txn 0x6 s2 delete ok
0.031 server:0 #3 deleted 0x6 /n/x by s2
0.032 b #3 reply r3 ok 0x6
0.032 b #3 return done
0.040 a #1 send r4 create /n/x
0.041 server:0 #1 txn 0x7 s1 create ok
0.041 server:0 #1 created 0x7 /n/x s1
0.041 server:0 #1 DATA-v2
0.042 a #1 reply r4 ok 0x7
20.000 a #1 return done
20.010 a send r5 delete /n/x
20.011 server:0 txn 0x8 s1 delete ok
20.011 server:0 deleted 0x8 /n/x by s1
20.012 a reply r5 ok 0x8
40.000 world quiesce
";

/// A client is to hold a lock: it works under one hold after the other.
const KEPT: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a
lock /lock stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 a state s1 connected
0.010 a keep#1 call /lock
0.020 a acquire#2 call /lock
0.020 a #2 send r1 create /lock/a-
0.020 a #2 send r2 children /lock
0.021 server:0 #2 txn 0x4 s1 create ok
0.021 server:0 #2 created 0x4 /lock/a-0000000000 s1
0.022 a #2 reply r1 ok 0x4
0.022 a #2 made /lock/a-0000000000 0x4
0.022 a #2 reply r2 ok 0x4
0.022 a #2 return done
0.022 a #2 believe /lock s1 token 0x4
0.022 a work#3 call /lock
0.030 a state s1 suspended
0.030 a #3 return cancelled
0.030 a #2 unbelieve suspect
0.060 a state s1 connected
0.060 a #2 send r6 exists /lock/a-0000000000
0.062 a #2 reply r6 ok 0x4
0.062 a #2 believe /lock s1 token 0x4
0.062 a work#4 call /lock
0.070 a #4 return done
0.070 a #2 unbelieve released
0.071 a release#5 call /lock
0.071 a #5 send r3 delete /lock/a-0000000000
0.072 server:0 #5 txn 0x5 s1 delete ok
0.072 server:0 #5 deleted 0x5 /lock/a-0000000000 by s1
0.073 a #5 reply r3 ok 0x5
0.073 a #5 return done
0.080 a #1 return done
40.000 world quiesce
";

pub fn rows() -> Vec<Row> {
    let node = words(NODE);
    let data = |value| words(&format!("0.041 server:0 #1 DATA-{value}\n"));
    vec![
        row(
            "work begins beside the work before",
            KEPT,
            &[Cut("#3 return cancelled"), After("a work#4 call", "0.062 a #3 return cancelled")],
            "SV-1",
        ),
        row(
            "a client that is to hold a lock does nothing for it",
            KEPT,
            &[Put("0.080 a #1 return done", "30.000 a #1 return done")],
            "SV-2",
        ),
        row(
            "a node that was evicted is not created again",
            &node,
            &[
                Cut("txn 0x7"),
                Cut("created 0x7"),
                Put("r4 ok 0x7", "r4 node_exists 0x7"),
                Cut("txn 0x8"),
                Cut("deleted 0x8"),
            ],
            "PN-1",
        ),
        row(
            "somebody else deletes a node",
            &node,
            &[Put("deleted 0x8 /n/x by s1", "deleted 0x8 /n/x by s2"), Put("txn 0x8 s1", "txn 0x8 s2")],
            "PN-2",
        ),
        row(
            "a node is created again with its first data",
            &node,
            &[Put(data("v2").trim_end(), data("v1").trim_end())],
            "PN-3",
        ),
        row("a node stays when nobody keeps it", &node, &[Cut("txn 0x8"), Cut("deleted 0x8")], "PN-4"),
    ]
}
