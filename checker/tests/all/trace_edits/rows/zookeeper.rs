//! The promises of ZooKeeper to its clients: ZK-2 to ZK-7, and ZK-14.

use super::{Edit::*, Row, row};
use crate::common::ensemble::*;
use zk_checker::digest::Stat;

/// The first client holds; nothing else happens.
pub fn held() -> String {
    join(&[ENSEMBLE, A_HOLDS])
}

/// The lock's directory after so many creations below it.
pub fn directory(creations: i32, children: i32, pzxid: u64) -> Stat {
    Stat { pzxid, cversion: 2 * creations - children, num_children: children, ..fresh(0x1, 0) }
}

/// The client of session 2 reads at server 2, on connection 2.
pub fn read(at: &str, req: u32, kind: &str, state: &str, found: &str) -> String {
    format!(
        "{at} b send r{req} {kind} /lock
{at} server:2 served r{req} {state} conn 2
{at} server:2 found {kind} {found}
{at} b reply r{req} ok {state} conn 2
"
    )
}

/// Both clients write, one after the other.
const WRITES: &str = "
0.005 b send r3 set /lock
0.006 server:2 txn 0x5 s2 set ok
0.006 server:2 written 0x5 /lock
0.006 server:0 applied 0x5
0.006 server:1 applied 0x5
0.007 b reply r3 ok 0x5 conn 2
0.008 a send r4 set /lock
0.009 server:1 txn 0x6 s1 set ok
0.009 server:1 written 0x6 /lock
0.009 server:0 applied 0x6
0.009 server:2 applied 0x6
0.010 a reply r4 ok 0x6 conn 1
0.011 b send r5 sync /
0.012 b reply r5 ok 0x6 conn 2
0.013 b send r6 sync /
0.014 b reply r6 ok 0x6 conn 2
";

/// A session ends in time, and its ephemeral is deleted with it.
const EXPIRES: &str = "
5.000 server:0 marked s1 heard 0.9
5.001 server:0 txn 0x5 s1 close_session ok
5.001 server:0 deleted 0x5 /lock/a-0000000000 by s1
5.001 server:0 ended s1 0x5
5.002 server:0 txn 0x6 s0 other ok
";

const PERSISTENT: &str = "
0.005 server:2 arm s2 data /lock conn 2 persistent
0.005 server:2 arm s2 child /lock conn 2 persistent
0.006 server:2 txn 0x5 s2 create ok
0.006 server:2 created 0x5 /lock/x s0
0.006 server:2 fire s2 children_changed /lock 0x5 conn 2
0.007 server:2 txn 0x6 s2 set ok
0.007 server:2 written 0x6 /lock
0.007 server:2 fire s2 data_changed /lock 0x6 conn 2
0.009 world heal
";

const RECURSIVE: &str = "
0.005 server:2 arm s2 data / conn 2 recursive
0.005 server:2 arm s2 child / conn 2 recursive
0.006 server:2 txn 0x5 s2 create ok
0.006 server:2 created 0x5 /lock/x s0
0.006 server:2 fire s2 created /lock/x 0x5 conn 2
0.009 world heal
";

pub fn rows() -> Vec<Row> {
    [replies(), reads(), watches(), sessions()].into_iter().flatten().collect()
}

fn replies() -> Vec<Row> {
    let writes = join(&[&held(), WRITES]);
    let later = join(&[
        &held(),
        "0.020 b send r3 sync /\n0.021 b reply r3 ok 0x4 conn 2\n0.022 b send r4 sync /\n0.023 b reply r4 ok 0x4 conn 2\n",
    ]);
    vec![
        row(
            "a write comes before one that had been answered",
            &writes,
            &[Put("reply r4 ok 0x6", "reply r4 ok 0x5")],
            "ZK-2",
        ),
        row(
            "answers come in another order",
            &held(),
            &[Behind("reply r1", "reply r2"), Behind("#1 made", "reply r1")],
            "ZK-3",
        ),
        row(
            "the zxid of an answer is below the one before",
            &later,
            &[Put("reply r4 ok 0x4", "reply r4 ok 0x3")],
            "ZK-4",
        ),
        row(
            "a server that is behind takes a client in",
            &join(&[
                &held(),
                "0.030 a state s1 suspended\n0.030 a #1 unbelieve lost\n0.040 a state s1 connected conn 3 server 2\n",
            ]),
            &[Cut("server:2 applied 0x4")],
            "ZK-4",
        ),
    ]
}

fn reads() -> Vec<Row> {
    let bytes = zk_checker::digest::data(Some(b"one"));
    let write = format!(
        "0.005 server:2 txn 0x5 s2 set ok\n0.005 server:2 written 0x5 /lock\n0.005 server:2 data 3 {bytes:#x}\n"
    );
    let after = Stat { mzxid: 0x5, version: 1, data_length: 3, ..directory(1, 1, 0x4) };
    let right = data(b"one", &after);
    let get = read("0.006", 3, "get", "0x5", &format!("ok /lock {right}"));
    let run = join(&[&held(), &write, &get]);
    let before = data(b"", &directory(1, 1, 0x4));
    vec![
        row("a result is that of the state before", &run, &[Put(&right, &before)], "ZK-5 (ZK-9)"),
        row("a result is of data that nobody wrote", &run, &[Put(&right, &data(b"two", &after))], "ZK-5"),
        row(
            "a stat is older than its data",
            &run,
            &[Put(&right, &data(b"one", &Stat { version: 0, ..after }))],
            "ZK-9",
        ),
    ]
}

fn watches() -> Vec<Row> {
    let run = lagging();
    // No client reads again at the end.
    let told = join(&[
        ENSEMBLE,
        A_HOLDS,
        B_WAITS,
        A_RELEASES,
        THE_LAGGARD_APPLIES_IT,
        "1.022 b #2 send r7 children /lock\n1.023 b #2 reply r7 ok 0x6 conn 2\n1.023 b #2 believe /lock s2 token 0x5\n9.000 world heal\n",
    ]);
    let synced = crate::common::edit(
        &run,
        "1.022 b #2 send r7",
        "1.022 b send r9 sync /\n1.023 b reply r9 ok 0x6 conn 2\n1.023 b #2 send r7",
    );
    let (persistent, recursive) = (join(&[&held(), PERSISTENT]), join(&[&held(), RECURSIVE]));
    vec![
        row(
            "a notification is neither sent nor delivered",
            &told,
            &[Cut("fire s2"), Cut("notice s2"), Cut("send r7"), Cut("reply r7"), Cut("believe /lock s2")],
            "ZK-6 (MX-8)",
        ),
        row(
            "a notification is delivered twice",
            &run,
            &[After("notice s2", "1.022 b #2 notice s2 deleted /lock/a-0000000000 conn 2")],
            "ZK-6",
        ),
        row(
            "a notification comes behind a later answer",
            &synced,
            &[Behind("notice s2", "reply r9"), Put("1.022 b #2 notice", "1.023 b #2 notice")],
            "ZK-6",
        ),
        row(
            "a watch fires for another change",
            &run,
            &[
                Put("fire s2 deleted", "fire s2 children_changed"),
                Put("notice s2 deleted", "notice s2 children_changed"),
            ],
            "ZK-6",
        ),
        row(
            "a persistent watch is silent at the second change",
            &persistent,
            &[Cut("fire s2 data_changed")],
            "ZK-14",
        ),
        row(
            "a recursive watch is silent about what is below",
            &recursive,
            &[Cut("fire s2 created")],
            "ZK-14",
        ),
    ]
}

fn sessions() -> Vec<Row> {
    let run = join(&[&held(), "4.000 a state s1 expired\n4.000 a #1 unbelieve lost\n", EXPIRES]);
    vec![
        row(
            "an ephemeral goes one zxid after its session",
            &run,
            &[
                Behind("deleted 0x5", "txn 0x6"),
                Put("5.001 server:0 deleted 0x5", "5.002 server:0 deleted 0x6"),
            ],
            "ZK-7",
        ),
        row("a session expires before its timeout", &run, &[Put("heard 0.9", "heard 1.1")], "ZK-7"),
        row("a session writes after its end", &run, &[Put("txn 0x6 s0 other", "txn 0x6 s1 other")], "ZK-7"),
    ]
}
