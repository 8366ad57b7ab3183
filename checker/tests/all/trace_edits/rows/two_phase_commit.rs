//! Transactions in two phases: TC-1 to TC-13.

use super::{Edit::*, Row, row};
use zk_checker::digest;

/// Two sites vote for commit, the second vote records the decision, and both learn of it.
const CALM: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
two_phase_commit /tx size 2
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a begin#1 call /tx
0.001 a #1 given \"\" 65535
0.002 server:0 #1 txn 0x3 s1 multi ok
0.002 server:0 #1 created 0x3 /tx s0
0.002 server:0 #1 created 0x3 /tx/s_0 s0
0.002 server:0 #1 created 0x3 /tx/s_1 s0
0.002 server:0 #1 created 0x3 /tx/tally s0
0.003 a #1 return done
0.010 a vote#2 call /tx
0.010 a #2 given \"commit\" 0
0.010 server:0 #2 txn 0x4 s1 multi ok
0.010 server:0 #2 written 0x4 /tx/s_0
0.010 server:0 #2 DATA-commit
0.010 a #2 return done
0.020 b vote#3 call /tx
0.020 b #3 given \"commit\" 1
0.020 server:0 #3 txn 0x5 s2 multi ok
0.020 server:0 #3 written 0x5 /tx/s_1
0.020 server:0 #3 DATA-commit
0.020 server:0 #3 created 0x5 /tx/decision s0
0.020 server:0 #3 DATA-commit
0.020 server:0 #3 fire s1 created /tx/decision 0x5
0.020 b #3 return done
0.030 a decide#4 call /tx
0.030 a #4 given \"\" 0
0.030 a #4 observed /tx decision \"commit\" 0
0.030 a #4 return done
0.031 b decide#5 call /tx
0.031 b #5 given \"\" 1
0.031 b #5 observed /tx decision \"commit\" 1
0.031 b #5 return done
";

const QUIET: &str = "0.900 world heal\n9.000 world quiesce\n";

/// Replaces the placeholders of data by their digests.
fn words(text: &str) -> String {
    ["commit", "abort"].iter().fold(text.to_owned(), |text, word| {
        let data = format!("data {} {:#x}", word.len(), digest::data(Some(word.as_bytes())));
        text.replace(&format!("DATA-{word}"), &data)
    })
}

/// The history as a capture.
fn capture(text: &str) -> String {
    let seen = |line: &&str| !line.contains("server:0");
    text.replace("run sim", "run client").lines().filter(seen).map(|line| format!("{line}\n")).collect()
}

/// The first site decides at last, and returns the decision.
fn waits() -> String {
    let begins = CALM.split("0.030 a decide").next().expect("it begins");
    words(&[begins, "0.030 a decide#4 call /tx\n0.030 a #4 given \"\" 0\n0.040 world heal\n0.041 a #4 observed /tx decision \"commit\" 0\n0.041 a #4 return done\n9.000 b state s2 connected\n"].concat())
}

/// Only one site has voted, and an impatient client records an abort.
fn aborts() -> String {
    let begins = CALM.split("0.020 b vote").next().expect("it begins");
    let decides = "0.015 c decide#9 call /tx limit 0.001
0.015 c #9 given \"\" 65535
0.016 server:0 #9 txn 0x5 s2 multi ok
0.016 server:0 #9 created 0x5 /tx/decision s0
0.016 server:0 #9 DATA-abort
0.016 c #9 return done
0.030 a decide#4 call /tx
0.030 a #4 given \"\" 0
0.030 a #4 observed /tx decision \"abort\" 0
0.030 a #4 return done
";
    words(&[begins, decides].concat())
}

/// Votes that are deleted with their sessions, and a record that decides nevertheless.
fn ephemeral() -> String {
    let votes =
        aborts().replace("0.010 server:0 #2 written 0x4 /tx/s_0", "0.010 server:0 #2 created 0x4 /tx/v_0 s1");
    [&votes, "5.000 server:0 txn 0x6 s1 delete ok\n5.000 server:0 deleted 0x6 /tx/v_0 by s1\n"].concat()
}

/// The record is removed after both sites have learned the decision.
fn finished() -> String {
    let removed = "0.040 a finish#6 call /tx
0.040 a #6 given \"\" 0
0.050 server:0 #6 txn 0x6 s1 delete ok
0.050 server:0 #6 deleted 0x6 /tx/decision by s1
";
    words(&[CALM, removed].concat())
}

/// The first site asks for the decision again.
const ONCE_MORE: &str = "
0.040 a decide#7 call /tx
0.040 a #7 given \"\" 0
0.040 a #7 observed /tx decision \"abort\" 0
0.040 a #7 return done
";

pub fn rows() -> Vec<Row> {
    let calm = words(&[CALM, QUIET].concat());
    let seen = capture(&calm);
    let finished = finished();
    vec![
        row(
            "a site's decision is flipped",
            &seen,
            &[Put("decision \"commit\" 1", "decision \"abort\" 1")],
            "TC-1 (TC-4)",
        ),
        row(
            "a site is told another decision later",
            &capture(&[&aborts(), ONCE_MORE].concat()),
            &[Put(
                "0.040 a #7 observed /tx decision \"abort\"",
                "0.040 a #7 observed /tx decision \"commit\"",
            )],
            "TC-2 (TC-3)",
        ),
        row(
            "a vote under a commit is a no",
            &seen,
            &[Put("#3 given \"commit\" 1", "#3 given \"abort\" 1")],
            "TC-3",
        ),
        row(
            "a vote under a commit was never cast",
            &seen,
            &[Cut("vote#3"), Cut("#3 given"), Cut("#3 return")],
            "TC-3",
        ),
        row(
            "all have voted for it, and they abort",
            &seen,
            &[
                Put("decision \"commit\" 0", "decision \"abort\" 0"),
                Put("decision \"commit\" 1", "decision \"abort\" 1"),
            ],
            "TC-4",
        ),
        row(
            "a site is never told",
            &calm,
            &[Cut("decide#5"), Cut("#5 given"), Cut("#5 observed"), Cut("#5 return")],
            "TC-5",
        ),
        row(
            "a vote is written over",
            &calm,
            &[Before(
                "0.030 a decide",
                &words(
                    "0.025 b vote#7 call /tx\n0.025 b #7 given \"commit\" 0\n0.025 server:0 #7 txn 0x6 s2 multi ok\n0.025 server:0 #7 written 0x6 /tx/s_0\n0.025 server:0 #7 DATA-commit\n0.025 b #7 return done",
                ),
            )],
            "TC-6",
        ),
        row(
            "a site's znode is missing when they decide",
            &calm,
            &[Cut("created 0x3 /tx/s_1"), Put("0.020 server:0 #3 written 0x5 /tx/s_1\n", "")],
            "TC-7",
        ),
        row(
            "a site aborts by itself after its yes",
            &aborts(),
            &[Cut("txn 0x5"), Cut("created 0x5"), Cut("server:0 #9 data")],
            "TC-8",
        ),
        row(
            "the record comes before the last vote",
            &calm,
            &[Cut("written 0x5 /tx/s_1"), Cut("b #3 given"), Cut("vote#3"), Cut("b #3 return")],
            "TC-9 (TC-3)",
        ),
        row(
            "the record of a decision is written twice",
            &calm,
            &[Before(
                "0.031 b decide",
                &words("0.030 server:0 #4 created 0x6 /tx/decision s0\n0.030 server:0 #4 DATA-commit"),
            )],
            "TC-9 after ZK-9 (ZK-11)",
        ),
        row(
            "votes go with a session, and nothing is on record",
            &ephemeral(),
            &[
                Cut("txn 0x5"),
                Cut("created 0x5"),
                Cut("server:0 #9 data"),
                Cut("decide#4"),
                Cut("#4 given"),
                Cut("#4 observed"),
                Cut("#4 return"),
            ],
            "TC-10",
        ),
        row(
            "the record goes before the second site knows",
            &finished,
            &[Cut("decide#5"), Cut("#5 given"), Cut("#5 observed"), Cut("#5 return")],
            "TC-11",
        ),
        row(
            "a decision tells a session of every vote, too",
            &calm,
            &[After(
                "fire s1",
                "0.020 server:0 #3 fire s1 data_changed /tx/s_1 0x5\n0.020 server:0 #3 fire s1 children_changed /tx 0x5",
            )],
            "TC-12",
        ),
        row(
            "a site that could read the record does not end",
            &waits(),
            &[Cut("#4 observed"), Cut("#4 return")],
            "TC-13",
        ),
        row(
            "a site that waits is blocked by the other's vote",
            &waits(),
            &[
                Cut("#4 observed"),
                Cut("#4 return"),
                Cut("txn 0x5"),
                Cut("written 0x5"),
                Cut("created 0x5"),
                Cut("fire s1"),
                Cut("vote#3"),
                Cut("#3 given"),
                Cut("b #3 return"),
                Put(&words("0.020 server:0 #3 DATA-commit\n0.020 server:0 #3 DATA-commit\n"), ""),
            ],
            "TC-13 unavoidable",
        ),
    ]
}
