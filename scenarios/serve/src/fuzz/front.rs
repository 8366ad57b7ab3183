//! Fuzzes several clients, some of which behave as no client library does.

use super::input::Input;
use super::sane::{Bench, Sane, TICK};
use crate::command::Command;
use serde_json::json;
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::{frame, number};

/// The operations, indexed by a byte of the input.
const OPS: [i32; 26] = [
    number::CREATE,
    number::DELETE,
    number::EXISTS,
    number::GET_DATA,
    number::SET_DATA,
    number::GET_ACL,
    number::SET_ACL,
    number::GET_CHILDREN,
    number::SYNC,
    number::PING,
    number::GET_CHILDREN_2,
    number::CHECK,
    number::MULTI,
    number::CREATE_2,
    number::CHECK_WATCHES,
    number::REMOVE_WATCHES,
    number::CREATE_CONTAINER,
    number::CREATE_TTL,
    number::MULTI_READ,
    number::AUTH,
    number::SET_WATCHES,
    number::SASL,
    number::GET_EPHEMERALS,
    number::ADD_WATCH,
    number::WHO_AM_I,
    number::CLOSE_SESSION,
];

/// Network faults that affect a misbehaving client.
const FAULTS: [&str; 8] = [
    "lose-reply",
    "lose-request",
    "lose-notification",
    "disconnect",
    "mute",
    "deafen",
    "partition",
    "expire",
];

/// The maximal number of steps of one input, so that a run takes milliseconds.
const MOST_STEPS: usize = 200;

/// The first byte selects one or three servers; the rest encodes the steps of clients. A well-behaved client is
/// answered before, in the middle and at the end, and keeps its session.
pub fn front(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut bench = Bench::new(if input.byte() & 1 == 0 { 1 } else { 3 });
    let mut sane = Sane::default();
    sane.expect_answer(&mut bench);
    let mut open = Vec::new();
    for _ in 0..MOST_STEPS {
        if input.is_empty() {
            break;
        }
        step(&mut input, &mut bench, &mut open);
        bench.pass(1);
        // The well-behaved client may get the number of a closed connection.
        open.retain(|number| bench.front.connection(*number).is_some());
        sane.pings(&mut bench);
    }
    sane.expect_answer(&mut bench);
}

fn step(input: &mut Input<'_>, bench: &mut Bench, open: &mut Vec<usize>) {
    let what = input.below(8);
    if what == 0 || open.is_empty() {
        let server = input.byte() % bench.servers;
        let Some(number) = bench.connect(server) else { return };
        open.push(number);
        if input.byte() & 1 == 0 {
            bench.send(number, &frame::of(&hello(input)));
        }
        return;
    }
    let at = input.below(open.len());
    let number = open[at];
    match what {
        // Raw bytes.
        1 => bench.send(number, input.sized()),
        // A frame around arbitrary bytes.
        2 => bench.send(number, &frame::of(input.sized())),
        // A request, in one piece or in two.
        3 | 4 => {
            let op = OPS[input.below(OPS.len())];
            let mut out = Out::default();
            out.int(i32::from(input.byte())).int(op);
            let frame = frame::of(&[out.as_bytes(), &body(input)].concat());
            let cut = if what == 3 { frame.len() } else { input.below(frame.len()) };
            bench.send(number, &frame[..cut]);
            bench.pass(1);
            bench.send(number, &frame[cut..]);
        }
        5 => {
            bench.hang_up(number);
            open.swap_remove(at);
        }
        6 => bench.pass(u64::from(input.byte()) * TICK / 64),
        _ => fault(input, bench),
    }
}

/// A connect request, for a new session or for a guessed session id; never with the password of the well-behaved
/// client, whose session it could end.
fn hello(input: &mut Input<'_>) -> Vec<u8> {
    let (zxid, session) = (i64::from(input.byte() as i8), input.byte());
    let session = if session < 200 { 0 } else { 1 << 56 | i64::from(session - 200) };
    let mut out = Out::default();
    let password = sim_zk::wire::password(zk_recipes::zk::SessionId(session));
    // The first session is that of the well-behaved client.
    let password = if session == 1 << 56 | 1 { [0; 16] } else { password };
    out.int(0).long(zxid).int(i32::from(input.byte()) * 100).long(session).buffer(Some(&password));
    out.done()
}

/// The body of a request: valid pieces and arbitrary bytes.
fn body(input: &mut Input<'_>) -> Vec<u8> {
    const TEXTS: [&str; 12] = [
        "/",
        "/a",
        "/a/b",
        "/a/b/c",
        "/zookeeper/config",
        "/zookeeper/quota/a",
        "",
        "world",
        "anyone",
        "digest",
        "u:p",
        "/a-",
    ];
    let mut out = Out::default();
    for _ in 0..input.below(12) {
        match input.below(7) {
            0 | 1 => _ = out.text(TEXTS[input.below(TEXTS.len())]),
            2 => _ = out.int(i32::from(input.byte() as i8)),
            3 => _ = out.bool(input.byte() & 1 == 1),
            4 => _ = out.long(i64::from(input.byte() as i8)),
            5 => _ = out.int(OPS[input.below(OPS.len())]).bool(false).int(-1),
            _ => return [out.as_bytes(), input.sized()].concat(),
        }
    }
    out.done()
}

/// A fault of a client other than the first, which is the well-behaved one.
fn fault(input: &mut Input<'_>, bench: &mut Bench) {
    let verb = FAULTS[input.below(FAULTS.len())];
    let client = format!("client-{}", 2 + input.below(4));
    let fields = match verb {
        "mute" | "deafen" | "partition" => {
            json!({ "client": client, "for": format!("{}ms", u32::from(input.byte()) * 20) })
        }
        _ => json!({ "client": client }),
    };
    let command = Command::read(verb, fields).expect("it has the fields of its verb");
    let done = bench.front.perform(&command);
    // A refusal is an answer.
    let _ = bench.front.conclude(done, None);
    bench.pass(0);
}
