//! Groups, configuration and names: GM-1 to GM-8, CF-1 to CF-8, NS-1 to NS-5.

use super::{Edit::*, Row, row};
use zk_checker::digest;

/// One client joins, another one watches, the first one leaves and joins again.
const GROUP: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
group /g stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.000 server:0 txn 0x3 s1 create ok
0.000 server:0 created 0x3 /g s0
0.010 a join#1 call /g
0.010 a #1 given m1 0x0
0.010 a #1 send r1 create /g/m1
0.011 server:0 #1 txn 0x4 s1 create ok
0.011 server:0 #1 created 0x4 /g/m1 s1
0.012 a #1 reply r1 ok 0x4
0.012 a #1 return done
0.020 b watch#2 call /g
0.020 b #2 send r2 children /g watch
0.021 server:0 arm s2 child /g
0.022 b #2 reply r2 ok 0x4
0.022 b #2 observed /g view m1 0x4
0.030 a release#3 call /g
0.030 a #3 send r3 delete /g/m1
0.031 server:0 #3 txn 0x5 s1 delete ok
0.031 server:0 #3 deleted 0x5 /g/m1 by s1
0.031 server:0 #3 fire s2 children_changed /g 0x5
0.032 a #3 reply r3 ok 0x5
0.032 a #3 return done
0.032 b #2 notice s2 children_changed /g
0.032 b #2 send r4 children /g watch
0.033 server:0 arm s2 child /g
0.034 b #2 reply r4 ok 0x5
0.034 b #2 observed /g view \"\" 0x5
0.040 a join#5 call /g
0.040 a #5 given m1 0x0
0.040 a #5 send r5 create /g/m1
0.041 server:0 #5 txn 0x6 s1 create ok
0.041 server:0 #5 created 0x6 /g/m1 s1
0.041 server:0 #5 fire s2 children_changed /g 0x6
0.042 a #5 reply r5 ok 0x6
0.042 a #5 return done
0.042 b #2 notice s2 children_changed /g
0.042 b #2 send r6 children /g watch
0.043 server:0 arm s2 child /g
0.044 b #2 reply r6 ok 0x6
0.044 b #2 observed /g view m1 0x6
0.050 world heal
30.000 b #2 return done
30.001 server:0 disarm s2 child /g
31.000 world quiesce
";

/// A member's session expires, and the member reports that it is out.
const EXPIRED: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
group /g stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 a state s1 connected
0.000 server:0 txn 0x3 s1 create ok
0.000 server:0 created 0x3 /g s0
0.010 a join#1 call /g
0.010 a #1 given m1 0x0
0.010 a #1 send r1 create /g/m1
0.011 server:0 #1 txn 0x4 s1 create ok
0.011 server:0 #1 created 0x4 /g/m1 s1
0.012 a #1 reply r1 ok 0x4
0.012 a #1 return done
0.100 a state s1 expired
0.100 a #1 observed /g missing \"\" 0x0
0.950 world quiesce
";

/// A value is written and followed, and written again with the expected version.
const VALUES: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
config /cfg
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected conn 1
0.000 b state s2 connected conn 2
0.010 b overwrite#5 call /cfg
0.010 b #5 given v1 0x0
0.010 b #5 send r50 set /cfg
0.011 server:0 #5 txn 0x10 s2 set ok
0.011 server:0 #5 created 0x10 /cfg s0
0.011 server:0 #5 DATA-v1
0.012 b #5 reply r50 ok 0x10
0.012 b #5 return done
0.020 a follow#1 call /cfg
0.020 a #1 send r1 get /cfg watch
0.021 server:0 arm s1 data /cfg conn 1
0.022 a #1 reply r1 ok 0x10 conn 1
0.022 a #1 observed /cfg value v1 0x10
0.030 b compare_and_set#6 call /cfg
0.030 b #6 given v2 0x10
0.030 b #6 send r60 set /cfg
0.031 server:0 #6 txn 0x20 s2 set ok
0.031 server:0 #6 written 0x20 /cfg
0.031 server:0 #6 DATA-v2
0.031 server:0 fire s1 data_changed /cfg 0x20 conn 1
0.032 b #6 reply r60 ok 0x20
0.032 b #6 return done
0.032 a #1 notice s1 data_changed /cfg conn 1
0.032 a #1 send r2 get /cfg watch
0.033 server:0 arm s1 data /cfg conn 1
0.033 server:0 served r2 0x20 conn 1
0.034 a #1 reply r2 ok 0x20 conn 1
0.034 a #1 observed /cfg value v2 0x20
0.050 world heal
30.000 a #1 return done
30.001 server:0 disarm s1 data /cfg conn 1
31.000 world quiesce
";

/// A set of values is published twice, and read as a whole.
const SETS: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
config /cfg
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.010 b publish#5 call /cfg
0.010 b #5 given x1,x2 0x0
0.010 b #5 send r50 multi /cfg
0.011 server:0 #5 txn 0x10 s2 multi ok
0.011 server:0 #5 created 0x10 /cfg s0
0.011 server:0 #5 DATA-x1,x2
0.012 b #5 reply r50 ok 0x10
0.012 b #5 return done
0.030 b publish#6 call /cfg
0.030 b #6 given y1,y2 0x10
0.030 b #6 send r60 multi /cfg
0.031 server:0 #6 txn 0x20 s2 multi ok
0.031 server:0 #6 written 0x20 /cfg
0.031 server:0 #6 DATA-y1,y2
0.032 b #6 reply r60 ok 0x20
0.032 b #6 return done
0.040 a snapshot#1 call /cfg
0.041 a #1 observed /cfg value y1,y2 0x20
0.042 a #1 return done
31.000 world quiesce
";

/// A name is registered, looked up, refused to another client and released; unique names are created.
const NAMES: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
name_service /names stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a register#1 call /names
0.001 a #1 given db 0x0
0.001 a #1 send r1 create /names/db
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/db s1
0.002 server:0 #1 DATA-here
0.003 a #1 reply r1 ok 0x3
0.003 a #1 observed /names name db 0x3
0.003 a #1 return done
0.010 b register#2 call /names
0.010 b #2 given db 0x0
0.010 b #2 send r2 create /names/db
0.011 server:0 #2 txn 0x4 s2 create node_exists
0.012 b #2 reply r2 node_exists 0x4
0.012 b #2 return refused
0.030 b resolve#4 call /names
0.030 b #4 given db 0x2
0.033 b #4 observed /names value here 0x3
0.033 b #4 return done
0.040 a unregister#3 call /names
0.040 a #3 given db 0x0
0.040 a #3 send r3 delete /names/db
0.041 server:0 #3 txn 0x5 s1 delete ok
0.041 server:0 #3 deleted 0x5 /names/db by s1
0.042 a #3 reply r3 ok 0x5
0.042 a #3 return done
0.050 a unique#5 call /names
0.050 a #5 given job 0x0
0.051 server:0 #5 txn 0x6 s1 create ok
0.051 server:0 #5 created 0x6 /names/g-job-0000000001 s0
0.052 a #5 observed /names name g-job-0000000001 0x6
0.052 a #5 return done
0.060 b unique#6 call /names
0.060 b #6 given job 0x0
0.061 server:0 #6 txn 0x7 s2 create ok
0.061 server:0 #6 created 0x7 /names/h-job-0000000002 s0
0.062 b #6 observed /names name h-job-0000000002 0x7
0.062 b #6 return done
9.000 world quiesce
";

/// The reply to a registration is lost, and its client reads the znode.
const ASKS: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
name_service /names stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 a state s1 connected
0.001 a register#1 call /names
0.001 a #1 given db 0x0
0.001 a #1 send r1 create /names/db
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/db s1
0.003 a #1 lost r1
0.003 a state s1 suspended
0.100 a state s1 connected
0.100 a #1 send r2 exists /names/db
0.102 a #1 reply r2 ok 0x4
0.102 a #1 observed /names name db 0x3
0.102 a #1 return done
9.000 world quiesce
";

/// Replaces the placeholders of data by their digests.
pub fn words(text: &str) -> String {
    ["v1", "v2", "x1,x2", "y1,y2", "here", "5", "9"].iter().fold(text.to_owned(), |text, word| {
        let data = format!("data {} {:#x}", word.len(), digest::data(Some(word.as_bytes())));
        text.replace(&format!("DATA-{word}\n"), &format!("{data}\n"))
    })
}

/// The history as a capture.
fn capture(text: &str) -> String {
    let seen = |line: &&str| !line.contains("server:0");
    text.replace("run sim", "run client").lines().filter(seen).map(|line| format!("{line}\n")).collect()
}

pub fn rows() -> Vec<Row> {
    [groups(), values(), names()].into_iter().flatten().collect()
}

fn groups() -> Vec<Row> {
    vec![
        row("an older view comes after a newer one", GROUP, &[Put("view m1 0x6", "view m1 0x4")], "GM-1"),
        row(
            "a view shows a member that is none",
            GROUP,
            &[Put("view m1 0x6", "view m1,m2 0x6")],
            "GM-1 (GM-3)",
        ),
        row("a member never comes into view", GROUP, &[Cut("view m1 0x6")], "GM-2"),
        row("a view is told again", GROUP, &[Put("view m1 0x6", "view \"\" 0x5")], "GM-1 (GM-2)"),
        row(
            "who watches is deaf after the last view",
            GROUP,
            &[
                Cut("fire s2 children_changed /g 0x6"),
                Put("0.042 b #2 notice s2 children_changed /g\n", ""),
                Cut("send r6"),
                Put("0.043 server:0 arm s2 child /g\n", ""),
                Cut("reply r6"),
                Cut("view m1 0x6"),
                Put("0.033 server:0 arm s2 child /g\n", ""),
                Put("send r4 children /g watch", "send r4 children /g"),
                Cut("disarm"),
            ],
            "GM-2",
        ),
        row(
            "a member that lives flickers",
            &capture(GROUP),
            &[Before("0.030 a release", "0.025 b #2 observed /g view \"\" 0x4")],
            "GM-3",
        ),
        row("a member's znode is of another session", EXPIRED, &[Put("/g/m1 s1", "/g/m1 s2")], "GM-4"),
        row(
            "a member has two znodes",
            EXPIRED,
            &[After(
                "created 0x4",
                "0.011 server:0 txn 0x5 s1 create ok\n0.011 server:0 #1 created 0x5 /g/m2 s1",
            )],
            "GM-5",
        ),
        row("a member that has expired does not say so", EXPIRED, &[Cut("observed")], "GM-6"),
        row("a member says that it is out, and its session goes on", EXPIRED, &[Cut("expired")], "GM-8"),
        row(
            "it is told twice of one change",
            GROUP,
            &[After("fire s2 children_changed /g 0x6", "0.041 server:0 #5 fire s2 children_changed /g 0x6")],
            "GM-7",
        ),
    ]
}

fn values() -> Vec<Row> {
    let (values, sets) = (words(VALUES), words(SETS));
    vec![
        row(
            "an older value comes after a newer one",
            &values,
            &[Before("0.050 world heal", "0.040 a #1 observed /cfg value v1 0x10")],
            "CF-1 (CF-3)",
        ),
        row("a value is none that was written", &values, &[Put("value v2 0x20", "value v9 0x20")], "CF-2"),
        row(
            "a follower's last notice and value go",
            &values,
            &[
                Cut("fire s1"),
                Cut("a #1 notice"),
                Cut("send r2"),
                Put("0.033 server:0 arm s1 data /cfg conn 1\n", ""),
                Cut("served r2"),
                Cut("reply r2"),
                Cut("value v2"),
            ],
            "CF-3 after ZK-6",
        ),
        row(
            "the read after a notification is served too early a state",
            &values,
            &[
                Put("served r2 0x20", "served r2 0x10"),
                Put("reply r2 ok 0x20", "reply r2 ok 0x10"),
                Cut("value v2"),
                Before(
                    "0.050 world heal",
                    "0.035 a #1 send r3 get /cfg watch\n0.036 a #1 reply r3 ok 0x20 conn 1\n0.036 a #1 observed /cfg value v2 0x20",
                ),
            ],
            "CF-4 after ZK-5",
        ),
        row(
            "reading and arming are two",
            &values,
            &[
                Put("send r2 get /cfg watch", "send r2 get /cfg"),
                After("a #1 send r2", "0.032 a #1 send r3 exists /cfg watch"),
                After("a #1 reply r2", "0.034 a #1 reply r3 ok 0x20 conn 1"),
            ],
            "CF-5",
        ),
        row("a set is of two publications", &sets, &[Put("value y1,y2", "value x1,y2")], "CF-6"),
        row(
            "an update that was acknowledged is undone",
            &values,
            &[
                Cut("txn 0x20"),
                Cut("written 0x20"),
                Put(&words("0.031 server:0 #6 DATA-v2\n"), ""),
                Cut("fire s1"),
                Cut("a #1 notice"),
                Cut("send r2"),
                Put("0.033 server:0 arm s1 data /cfg conn 1\n", ""),
                Cut("served r2"),
                Cut("reply r2"),
                Cut("value v2"),
            ],
            "CF-7 after AN-1",
        ),
        row(
            "an update goes over one that it has not seen",
            &values,
            &[Put("given v2 0x10", "given v2 0xf")],
            "CF-7",
        ),
        row(
            "it is told twice of one change",
            &values,
            &[After("fire s1", "0.031 server:0 fire s1 data_changed /cfg 0x20 conn 1")],
            "CF-8 (ZK-6)",
        ),
    ]
}

fn names() -> Vec<Row> {
    let names = words(NAMES);
    vec![
        row(
            "a second one is told that it has the name",
            &names,
            &[Put("b #2 return refused", "b #2 observed /names name db 0x3\n0.012 b #2 return done")],
            "NS-1",
        ),
        row(
            "a numbered name is given out twice",
            &capture(&names),
            &[Put("name h-job-0000000002", "name g-job-0000000001")],
            "NS-2",
        ),
        row(
            "a lost reply is taken for a refusal",
            ASKS,
            &[Cut("send r2"), Cut("reply r2"), Cut("observed"), Put("return done", "return refused")],
            "NS-3 (NS-4)",
        ),
        row(
            "a name that was given back is left",
            &names,
            &[Cut("txn 0x5"), Cut("deleted 0x5")],
            "NS-4 after AN-1",
        ),
        row(
            "a lookup shows what never stood there",
            &names,
            &[Put("value here 0x3", "value there 0x3")],
            "NS-5",
        ),
        row(
            "a lookup finds nothing where something stands",
            &names,
            &[Put("value here 0x3", "missing db 0x0")],
            "NS-5",
        ),
    ]
}
