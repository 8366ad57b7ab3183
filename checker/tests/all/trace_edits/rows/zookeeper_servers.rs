//! The promises of ZooKeeper's servers: ZK-1 and ZK-8 to ZK-13.

use super::zookeeper::{directory, held, read};
use super::{Edit::*, Row, row};
use crate::common::ensemble::*;

pub fn rows() -> Vec<Row> {
    let next = join(&[
        &held(),
        "0.005 server:0 txn 0x5 s0 other ok\n0.006 server:2 applied 0x5\n0.007 server:0 txn 0x6 s0 other ok\n0.008 server:2 applied 0x6\n",
    ]);
    let two = join(&[
        &held(),
        "0.005 server:0 txn 0x5 s0 multi ok
0.005 server:0 created 0x5 /lock/x s0
0.005 server:0 created 0x5 /lock/y s0
0.007 server:0 txn 0x6 s0 other ok
",
    ]);
    let elected = join(&[&held(), "1.000 server:2 elected 1\n1.001 server:2 txn 0x100000001 s0 other ok\n"]);
    vec![
        row("a server leaves a transaction out", &next, &[Cut("server:2 applied 0x5")], "ZK-1"),
        row(
            "a server applies what nobody committed",
            &next,
            &[Put("server:2 applied 0x5", "server:2 applied 0x9")],
            "ZK-1",
        ),
        row(
            "a suffix is not the number of children ever made",
            &lagging(),
            &[
                Put("created 0x5 /lock/b-0000000001", "created 0x5 /lock/b-0000000000"),
                Put("made /lock/b-0000000001", "made /lock/b-0000000000"),
            ],
            "ZK-8",
        ),
        row(
            "a znode is created that is there",
            &two,
            &[Put("created 0x5 /lock/x", "created 0x5 /lock")],
            "ZK-9",
        ),
        row(
            "an acknowledged write is none that was committed",
            &held(),
            &[Put("reply r1 ok 0x4", "reply r1 ok 0x9")],
            "ZK-10 (ZK-4 ZK-3)",
        ),
        row(
            "a new leader goes on without an acknowledged write",
            &elected,
            &[Cut("server:2 applied 0x4")],
            "ZK-10 (ZK-1)",
        ),
        row("a refused transaction has effects", &two, &[Put("multi ok", "multi no_node")], "ZK-11"),
        row(
            "an effect lies apart from its transaction",
            &two,
            &[Put("created 0x5 /lock/y", "created 0x6 /lock/y")],
            "ZK-11",
        ),
        after_a_sync(),
        cut_off(),
    ]
}

fn after_a_sync() -> Row {
    let stale = list(&[], &directory(0, 0, 0x1));
    let now = list(&["a-0000000000"], &directory(1, 1, 0x4));
    let sync = "0.006 b send r3 sync /\n0.006 server:0 barrier s2 r3 0x4\n0.008 b reply r3 ok 0x4 conn 2\n";
    let old = read("0.009", 4, "children", "0x3", &format!("ok /lock {stale}"));
    let new = read("0.009", 4, "children", "0x4", &format!("ok /lock {now}"));
    let run = join(&[&held(), sync, &new]);
    row("a read after a sync is old", &run, &[Cut("server:2 applied 0x4"), Put(&new, &old)], "ZK-12 (ZK-4)")
}

fn cut_off() -> Row {
    let now = list(&["a-0000000000"], &directory(1, 1, 0x4));
    let found = format!("ok /lock {now}");
    let cut = "1.000 world fault server_partition server:2 lasts 20\n";
    let run = join(&[&held(), cut, &read("3.900", 3, "children", "0x4", &found)]);
    let (early, late) =
        (read("3.900", 3, "children", "0x4", &found), read("4.100", 3, "children", "0x4", &found));
    row("a server that is cut off serves too long", &run, &[Put(&early, &late)], "ZK-13")
}
