//! Elections: LE-1 to LE-10.

use super::{Edit::*, Row, row};

/// A leader is elected, recorded, and resigns, and the next one leads; a third client follows.
const CALM: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
election /e stop margin 0.4 budget 3 2 1 3
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.001 a stand#1 call /e
0.001 a #1 send r1 create /e/a-
0.001 a #1 send r2 children /e
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /e/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 send r3 children /e/a-0 watch
0.003 a #1 return done
0.003 a #1 believe /e s1 token 0x4
0.003 server:0 #1 arm s1 child /e/a-0
0.003 a #1 reply r3 ok 0x4
0.005 b stand#2 call /e
0.005 b #2 send r4 create /e/b-
0.005 b #2 send r5 children /e
0.005 server:0 #2 txn 0x5 s2 create ok
0.005 server:0 #2 created 0x5 /e/b-1 s2
0.005 b #2 reply r4 ok 0x5
0.005 b #2 reply r5 ok 0x5
0.005 b #2 send r6 children /e/a-0 watch
0.005 server:0 #2 arm s2 child /e/a-0
0.005 b #2 reply r6 ok 0x5
0.006 a acknowledge#3 call /e
0.006 a #3 given \"a:80\" 0x4
0.006 a #3 send r7 multi /e
0.007 server:0 #3 txn 0x6 s1 multi ok
0.007 server:0 #3 created 0x6 /e/leader s1
0.008 a #3 reply r7 ok 0x6
0.008 a #3 return done
0.009 c observe#4 call /e
0.009 c #4 send r8 get /e/leader watch
0.009 c #4 send r9 children /e
0.009 server:0 #4 arm s3 data /e/leader
0.010 c #4 reply r8 ok 0x6
0.010 c #4 reply r9 ok 0x6
0.010 c #4 observed /e leader \"a:80\" 0x4
0.020 a #1 unbelieve released
0.020 a release#7 call /e
0.020 a #7 send r10 multi /e
0.021 server:0 #7 txn 0x7 s1 multi ok
0.021 server:0 #7 deleted 0x7 /e/a-0 by s1
0.021 server:0 #7 fire s2 deleted /e/a-0 0x7
0.021 server:0 #7 fire s1 deleted /e/a-0 0x7
0.021 server:0 #7 deleted 0x7 /e/leader by s1
0.021 server:0 #7 fire s3 deleted /e/leader 0x7
0.022 a #7 reply r10 ok 0x7
0.022 a #7 return done
0.022 b #2 notice s2 deleted /e/a-0
0.022 c #4 notice s3 deleted /e/leader
0.022 c #4 observed /e vacant \"\" 0
0.022 b #2 send r11 children /e
0.024 b #2 reply r11 ok 0x7
0.024 b #2 send r12 children /e/b-1 watch
0.024 b #2 return done
0.024 b #2 believe /e s2 token 0x5
0.024 server:0 #2 arm s2 child /e/b-1
0.024 b #2 reply r12 ok 0x7
1.000 world heal
";

/// A foreign client deletes the candidate of a leader; the next one leads, and the first one is notified.
const DELETED: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
election /e stop margin 0.4 budget 3 2 1 3
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a stand#1 call /e
0.001 a #1 send r1 create /e/a-
0.001 a #1 send r2 children /e
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /e/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 send r3 children /e/a-0 watch
0.003 a #1 return done
0.003 a #1 believe /e s1 token 0x4
0.003 server:0 #1 arm s1 child /e/a-0
0.003 a #1 reply r3 ok 0x4
0.005 b stand#2 call /e
0.005 b #2 send r4 create /e/b-
0.005 b #2 send r5 children /e
0.005 server:0 #2 txn 0x5 s2 create ok
0.005 server:0 #2 created 0x5 /e/b-1 s2
0.005 b #2 reply r4 ok 0x5
0.005 b #2 reply r5 ok 0x5
0.005 b #2 send r6 children /e/a-0 watch
0.005 server:0 #2 arm s2 child /e/a-0
0.005 b #2 reply r6 ok 0x5
0.100 world fault foreign_delete a
0.100 server:0 txn 0x7 s0 delete ok
0.100 server:0 deleted 0x7 /e/a-0 by s0
0.100 server:0 fire s1 deleted /e/a-0 0x7
0.100 server:0 fire s2 deleted /e/a-0 0x7
0.101 b #2 notice s2 deleted /e/a-0
0.101 b #2 send r11 children /e
0.103 b #2 reply r11 ok 0x7
0.103 b #2 believe /e s2 token 0x5
0.110 a notice s1 deleted /e/a-0
0.110 a #1 unbelieve lost
0.120 world heal
";

/// By calls and returns alone: two clients lead one after the other.
const CAPTURE: &str = "
run client clients a b
election /e
0.000 a stand#1 call /e
0.000 b stand#2 call /e
0.001 a #1 return done
0.002 a release#3 call /e
0.003 b #2 return done
";

/// A leader, and a candidate behind it.
fn stands() -> String {
    CALM.split("0.006 a acknowledge").next().expect("it begins").to_owned()
}

/// A leader, its record, and a follower, until long after all faults.
fn settled() -> String {
    let head = CALM.split("0.020 a #1 unbelieve").next().expect("it begins");
    let head = head.replace("0.001 a stand#1", "0.001 world heal\n0.001 a stand#1");
    [&head, "9.000 world quiesce\n"].concat()
}

/// A leader whose session expires in a pause.
fn expires() -> String {
    let head = DELETED.split("0.100 world fault").next().expect("it begins");
    [
        head,
        "1.600 world fault client_pause a lasts 5
6.000 server:0 marked s1 heard 1.5
6.000 server:0 txn 0x6 s1 close_session ok
6.000 server:0 deleted 0x6 /e/a-0 by s1
6.000 server:0 ended s1 0x6
6.000 server:0 fire s2 deleted /e/a-0 0x6
6.001 b #2 notice s2 deleted /e/a-0
6.001 b #2 send r11 children /e
6.003 b #2 reply r11 ok 0x6
6.003 b #2 believe /e s2 token 0x5
6.600 world mended client_pause a
6.600 a state s1 suspended
6.600 a #1 unbelieve lost
",
    ]
    .concat()
}

pub fn rows() -> Vec<Row> {
    vec![
        row("the first one has not resigned", CAPTURE, &[Cut("release")], "LE-1"),
        row(
            "the pause over two leaders goes",
            &expires(),
            &[Cut("fault client_pause"), Cut("mended client_pause")],
            "LE-1 (LE-9)",
        ),
        row(
            "an epoch is not the candidate's",
            CALM,
            &[Put("believe /e s2 token 0x5", "believe /e s2 token 0x9")],
            "LE-2",
        ),
        row(
            "a leader's candidate is of its former session",
            CAPTURE_OF_ONE,
            &[Put("believe /e s1", "believe /e s2")],
            "LE-3",
        ),
        row(
            "it takes office on a list from before the leader went",
            CALM,
            &[Put("reply r11 ok 0x7", "reply r11 ok 0x6")],
            "LE-3",
        ),
        row(
            "the record is made without a check",
            CALM,
            &[Put("txn 0x6 s1 multi", "txn 0x6 s1 create")],
            "LE-4",
        ),
        row(
            "the record stays when its session goes",
            CALM,
            &[Put("/e/leader s1\n", "/e/leader s0\n")],
            "LE-4",
        ),
        row(
            "one who follows obeys another record",
            CALM,
            &[Put("leader \"a:80\" 0x4", "leader \"b:80\" 0x4")],
            "LE-4",
        ),
        row("one who follows never learns who leads", &settled(), &[Cut("observed")], "LE-5"),
        row(
            "a candidate is made a second time",
            &stands(),
            &[End("0.010 b #2 send r13 create /e/b-
0.010 server:0 #2 txn 0x6 s2 create ok
0.010 server:0 #2 created 0x6 /e/b-2 s2")],
            "LE-6 (MX-9)",
        ),
        row(
            "the resignation of a leader wakes a candidate that is not next",
            &three(),
            &[After("fire s2", "0.021 server:0 #7 fire s3 deleted /e/a-0 0x7")],
            "LE-7",
        ),
        row(
            "who resigns leaves its candidate",
            CALM,
            &[
                Cut("deleted 0x7 /e/a-0"),
                Cut("fire s2 deleted"),
                Cut("fire s1 deleted"),
                Cut("b #2 notice"),
                Cut("b #2 send r11"),
                Cut("b #2 reply r11"),
                Cut("b #2 send r12"),
                Cut("b #2 return"),
                Cut("b #2 believe"),
                Cut("arm s2 child /e/b-1"),
                Cut("b #2 reply r12"),
            ],
            "LE-8 (LE-5)",
        ),
        row(
            "a leader is told to stop before anybody has deleted its candidate",
            DELETED,
            &[Cut("0.110 a #1 unbelieve"), Before("0.100 world fault", "0.090 a #1 unbelieve lost")],
            "LE-10 (LE-1)",
        ),
        row(
            "a leader that was told stays",
            DELETED,
            &[Put("0.110 a #1 unbelieve", "0.119 a #1 unbelieve")],
            "LE-9 (LE-1)",
        ),
        row(
            "a leader does not watch its candidate",
            DELETED,
            &[
                Cut("arm s1"),
                Cut("fire s1"),
                Cut("0.110 a notice"),
                Put("0.110 a #1 unbelieve", "0.119 a #1 unbelieve"),
            ],
            "LE-9 (LE-1)",
        ),
    ]
}

/// A leader as a capture sees it.
const CAPTURE_OF_ONE: &str = "
run client clients a
election /e
0.000 a state s1 connected
0.000 a stand#1 call /e
0.000 a #1 send r1 create /e/a-
0.000 a #1 send r2 children /e
0.001 a #1 reply r1 ok 0x3
0.001 a #1 made /e/a-0 0x3
0.001 a #1 reply r2 ok 0x3
0.001 a #1 believe /e s1 token 0x3
";

/// A leader resigns while two candidates wait; the second of them watches the first.
fn three() -> String {
    let head = DELETED.split("0.100 world fault").next().expect("it begins");
    let head = head.replace("clients a b", "clients a b c").replace(
        "0.000 a state",
        "0.000 server:0 opened s3 timeout 4000 0x3\n0.000 c state s3 connected\n0.000 a state",
    );
    [
        &head,
        "0.006 c stand#5 call /e
0.006 c #5 send r24 create /e/c-
0.006 c #5 send r25 children /e
0.006 server:0 #5 txn 0x6 s3 create ok
0.006 server:0 #5 created 0x6 /e/c-2 s3
0.006 c #5 reply r24 ok 0x6
0.006 c #5 reply r25 ok 0x6
0.006 c #5 send r26 children /e/b-1 watch
0.006 server:0 #5 arm s3 child /e/b-1
0.006 server:0 #5 arm s3 child /e/a-0
0.006 c #5 reply r26 ok 0x6
0.020 a #1 unbelieve released
0.020 a release#7 call /e
0.020 a #7 send r10 multi /e
0.021 server:0 #7 txn 0x7 s1 multi ok
0.021 server:0 #7 deleted 0x7 /e/a-0 by s1
0.021 server:0 #7 fire s2 deleted /e/a-0 0x7
0.021 server:0 #7 fire s1 deleted /e/a-0 0x7
0.022 a #7 reply r10 ok 0x7
0.022 a #7 return done
0.022 b #2 notice s2 deleted /e/a-0
0.022 b #2 send r11 children /e
0.024 b #2 reply r11 ok 0x7
0.024 b #2 return done
0.024 b #2 believe /e s2 token 0x5
0.024 server:0 #2 arm s2 child /e/b-1
1.000 world heal
",
    ]
    .concat()
}
