//! Queues: QU-1 to QU-10.

use super::{Edit::*, Row, row};
use zk_checker::digest;

const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
queue /q
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
";

const END: &str = "1.000 world heal\n2.000 world quiesce\n";

/// An item is put: `op` is the number of the operation and of the request, and with 0x10 added, the zxid.
fn put(op: u32, item: &str, priority: u32, znode: &str) -> String {
    let (zxid, length, digest) = (0x10 + op, item.len(), digest::data(Some(item.as_bytes())));
    format!(
        "0.0{op:02} a put#{op} call /q
0.0{op:02} a #{op} given {item} {priority:#x}
0.0{op:02} a #{op} send r{op} multi /q/receipts/r
0.0{op:02} server:0 #{op} txn {zxid:#x} s1 multi ok
0.0{op:02} server:0 #{op} created {zxid:#x} /q/{znode} s0
0.0{op:02} server:0 data {length} {digest:#x}
0.0{op:02} a #{op} reply r{op} ok {zxid:#x}
0.0{op:02} a #{op} return done
"
    )
}

/// A client takes an item, or confirms the one that it has claimed.
fn take(op: u32, item: &str, znode: &str) -> String {
    let zxid = 0x10 + op;
    format!(
        "0.0{op:02} b take#{op} call /q
0.0{op:02} b #{op} send r{op} multi /q/receipts/r
0.0{op:02} server:0 #{op} txn {zxid:#x} s2 multi ok
0.0{op:02} server:0 #{op} deleted {zxid:#x} /q/{znode} by s2
0.0{op:02} b #{op} reply r{op} ok {zxid:#x}
0.0{op:02} b #{op} observed /q item {item} 0x0
0.0{op:02} b #{op} return done
"
    )
}

fn claim(op: u32, item: &str, znode: &str) -> String {
    let zxid = 0x10 + op;
    let claimed = format!(
        "server:0 #{op} created {zxid:#x} /q/claims/{znode} s2\n0.0{op:02} server:0 #{op} written {zxid:#x} /q/{znode}"
    );
    take(op, item, znode)
        .replace("take#", "claim#")
        .replace(&format!("server:0 #{op} deleted {zxid:#x} /q/{znode} by s2"), &claimed)
}

fn confirm(op: u32, item: &str, znode: &str) -> String {
    let zxid = 0x10 + op;
    take(op, item, znode)
        .replace("take#", "confirm#")
        .replace(
            &format!("b #{op} observed /q item {item} 0x0"),
            &format!("server:0 #{op} deleted {zxid:#x} /q/claims/{znode} by s2"),
        )
        .replace(
            &format!("confirm#{op} call /q"),
            &format!("confirm#{op} call /q\n0.0{op:02} b #{op} given {item} 0x0"),
        )
}

fn fifo() -> String {
    [
        HEAD,
        &put(1, "one", 0, "queue-0000000001"),
        &put(2, "two", 0, "queue-0000000002"),
        &take(3, "one", "queue-0000000001"),
        &take(4, "two", "queue-0000000002"),
        END,
    ]
    .concat()
}

fn claimed() -> String {
    [
        &HEAD.replace("queue /q\n", "queue /q at_least_once\n"),
        &*put(1, "one", 0, "queue-0000000001"),
        &claim(3, "one", "queue-0000000001"),
        &confirm(5, "one", "queue-0000000001"),
        END,
    ]
    .concat()
}

fn urgent() -> String {
    [
        &HEAD.replace("queue /q\n", "priority_queue /q strict\n"),
        &*put(1, "one", 9, "queue-00009-0000000001"),
        &put(2, "two", 10, "queue-00010-0000000002"),
        &take(3, "one", "queue-00009-0000000001"),
        END,
    ]
    .concat()
}

/// Priorities of different lengths.
fn numbers() -> String {
    urgent().replace("queue-00009-", "queue-9-").replace("queue-00010-", "queue-10-")
}

/// Two consumers wait, an item is put and wakes one of them; both give up at the end.
fn waits() -> String {
    let arrives = put(30, "one", 0, "queue-0000000001")
        .replace("0.030 a #30 reply", "0.030 server:0 fire s2 children_changed /q 0x2e\n0.030 a #30 reply");
    [
        HEAD,
        "0.020 b take#9 call /q
0.020 b #9 send r9 children /q watch
0.021 server:0 #9 arm s2 child /q
0.022 b #9 reply r9 ok 0x2
0.023 c take#8 call /q
0.023 c #8 send r8 children /q/next watch
0.023 server:0 #8 arm s3 child /q
0.023 c #8 reply r8 ok 0x2
",
        &arrives,
        "0.031 b #9 notice s2 children_changed /q\n",
    ]
    .concat()
}

/// A consumer waits at an empty queue, and gives up.
const IDLE: &str = "0.020 b take#9 call /q
0.020 b #9 send r9 children /q watch
0.021 server:0 #9 arm s2 child /q
0.022 b #9 reply r9 ok 0x2
0.900 b #9 return cancelled
0.901 server:0 disarm s2 child /q
";

/// By calls alone.
const CAPTURE: &str = "
run client clients a b
queue /q
0.001 a put#1 call /q
0.001 a #1 given one 0x0
0.002 a #1 return done
0.003 b take#2 call /q
0.003 b #2 observed /q item one 0x5
0.004 b #2 return done
1.000 world heal
2.000 world quiesce
";

pub fn rows() -> Vec<Row> {
    let idle = [HEAD, IDLE, END].concat();
    let two = format!("data 3 {:#x}", digest::data(Some(b"two")));
    let again = "0.010 a take#6 call /q\n0.010 a #6 observed /q item one 0x0\n0.010 a #6 return done";
    vec![
        row("an item is delivered twice", &fifo(), &[Before("world heal", again)], "QU-1"),
        row(
            "an item is delivered twice, as a capture sees it",
            CAPTURE,
            &[After("b #2 return", &again.replace("0x0", "0x5"))],
            "QU-1",
        ),
        row(
            "what is confirmed was not removed",
            &claimed(),
            &[Cut("deleted 0x15 /q/queue"), Cut("deleted 0x15 /q/claims")],
            "QU-1 (QU-9 AN-1)",
        ),
        row("a delivery goes", &fifo(), &[Cut("observed /q item one")], "QU-2"),
        row(
            "a delivery goes, and its operation was cancelled",
            &fifo(),
            &[Cut("observed /q item one"), Put("b #3 return done", "b #3 return cancelled")],
            "QU-2 unavoidable",
        ),
        row(
            "a delivery goes, as a capture sees it",
            CAPTURE,
            &[Cut("b take"), Cut("observed"), Cut("b #2 return")],
            "QU-2",
        ),
        row(
            "a put that was done has made nothing",
            &fifo(),
            &[
                Cut("created 0x12"),
                Cut(&two),
                Cut("b take#4"),
                Cut("b #4 send"),
                Cut("txn 0x14"),
                Cut("deleted 0x14"),
                Cut("b #4 reply"),
                Cut("b #4 observed"),
                Cut("b #4 return"),
            ],
            "QU-3 (AN-1)",
        ),
        row(
            "the two deletes change places",
            &fifo(),
            &[
                Put("deleted 0x13 /q/queue-0000000001", "deleted 0x13 /q/NEXT"),
                Put("deleted 0x14 /q/queue-0000000002", "deleted 0x14 /q/queue-0000000001"),
                Put("/q/NEXT", "/q/queue-0000000002"),
                Put("item one", "item OTHER"),
                Put("item two", "item one"),
                Put("item OTHER", "item two"),
            ],
            "QU-4",
        ),
        row(
            "the less urgent goes first",
            &urgent(),
            &[
                Put("given one 0x9", "given one 0xb"),
                Put("created 0x11 /q/queue-00009-0000000001", "created 0x11 /q/queue-00011-0000000001"),
                Put("deleted 0x13 /q/queue-00009-0000000001", "deleted 0x13 /q/queue-00011-0000000001"),
            ],
            "QU-5",
        ),
        row(
            "urgency is compared as text",
            &numbers(),
            &[
                Put("given one 0x9", "given one 0x63"),
                Put("created 0x11 /q/queue-9-0000000001", "created 0x11 /q/queue-99-0000000001"),
                Put("deleted 0x13 /q/queue-9-0000000001", "deleted 0x13 /q/queue-99-0000000001"),
            ],
            "QU-5",
        ),
        row(
            "numbers are compared as text",
            &numbers(),
            &[
                Put("deleted 0x13 /q/queue-9-0000000001", "deleted 0x13 /q/queue-10-0000000002"),
                Put("item one", "item two"),
            ],
            "QU-10 (QU-5)",
        ),
        row("who waits has no watch", &idle, &[Cut("arm s2"), Cut("disarm s2")], "QU-6"),
        row(
            "a put wakes two",
            &waits(),
            &[After("fire s2", "0.030 server:0 fire s3 children_changed /q 0x2e")],
            "QU-7",
        ),
        row(
            "an item belongs to its producer's session",
            &fifo(),
            &[Put("/q/queue-0000000001 s0", "/q/queue-0000000001 s1")],
            "QU-8",
        ),
        row("a watch of nobody is left", &idle, &[Cut("disarm")], "QU-9"),
        row(
            "a claim that nobody was told of is left",
            &claimed(),
            &[
                Cut("observed"),
                Put("b #3 return done", "b #3 return cancelled"),
                Cut("confirm#5"),
                Cut("b #5 given"),
                Cut("b #5 send"),
                Cut("txn 0x15"),
                Cut("deleted 0x15 /q/queue"),
                Cut("deleted 0x15 /q/claims"),
                Cut("b #5 reply"),
                Cut("b #5 return"),
            ],
            "QU-9",
        ),
    ]
}
