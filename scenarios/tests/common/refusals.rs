//! What no well-behaved client sends, and what a server makes of it: one table, for real servers and for simulated ones.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::{frame, number};

/// How long a server may take to answer, or to hang up.
const LIMIT: Duration = Duration::from_secs(20);

/// A name, the frames that are sent, and what is answered.
pub type Row = (&'static str, Vec<Vec<u8>>, Vec<&'static str>);

/// What a client sends on a connection with a session, by name, and what comes back: xids, zxids where they are not that of the server's
/// last transaction, errors and bodies.
pub fn table() -> Vec<Row> {
    let auth = |scheme: Option<&str>| {
        request(number::AUTH_XID, number::AUTH, |out| {
            out.int(0).buffer(scheme.map(str::as_bytes)).buffer(Some(b"u:p"));
        })
    };
    let sasl = |token: Option<&[u8]>| request(1, number::SASL, |out| _ = out.buffer(token));
    let get = |xid| request(xid, number::GET_DATA, |out| _ = out.text("/zookeeper/quota").bool(false));
    let refused = vec!["-4: zxid 0, error -115, body ", "closed"];
    let no_token = "1: zxid 0, error 0, body ffffffff";
    vec![
        ("a SASL token", vec![sasl(Some(b"token"))], vec![no_token]),
        ("an empty SASL token", vec![sasl(Some(b""))], vec![no_token]),
        ("SASL again and again", vec![sasl(Some(b"a")), sasl(Some(b"b"))], vec![no_token, no_token]),
        ("no SASL token", vec![sasl(None)], vec!["closed"]),
        (
            "half of a SASL token",
            vec![request(1, number::SASL, |out| _ = out.int(9).bool(true))],
            vec!["closed"],
        ),
        ("SASL without a body", vec![request(1, number::SASL, |_| {})], vec!["closed"]),
        ("a scheme that nobody knows", vec![auth(Some("foo"))], refused.clone()),
        ("the scheme of SASL", vec![auth(Some("sasl"))], refused.clone()),
        ("the scheme of certificates", vec![auth(Some("x509"))], refused.clone()),
        ("the scheme of everybody", vec![auth(Some("world"))], refused.clone()),
        ("the scheme of the superuser", vec![auth(Some("super"))], refused.clone()),
        ("an empty scheme", vec![auth(Some(""))], refused.clone()),
        ("no scheme", vec![auth(None)], refused.clone()),
        ("a scheme in front of a read", vec![auth(Some("foo")), get(2)], refused),
        ("digest", vec![auth(Some("digest"))], vec!["-4: zxid 0, error 0, body "]),
        ("an address", vec![auth(Some("ip"))], vec!["-4: zxid 0, error 0, body "]),
    ]
}

/// What a server answers to these frames on a connection with a session, up to the answer of a ping behind them or to the end.
pub fn answers(address: &str, frames: &[Vec<u8>]) -> Vec<String> {
    let mut stream = open(address);
    send(&mut stream, &hello(Some(false)));
    assert!(receive(&mut stream).is_some_and(|welcome| welcome[4..8] != [0; 4]), "it grants a session");
    frames.iter().for_each(|frame| send(&mut stream, frame));
    send(&mut stream, &request(number::PING_XID, number::PING, |_| {}));
    let mut answers = Vec::new();
    while let Some(frame) = receive(&mut stream) {
        let (xid, zxid, error) = (&frame[..4], &frame[4..12], &frame[12..16]);
        let int = |bytes: &[u8]| i32::from_be_bytes(bytes.try_into().expect("four bytes"));
        if int(xid) == number::PING_XID {
            return answers;
        }
        let zxid = i64::from_be_bytes(zxid.try_into().expect("eight bytes"));
        let zxid = if zxid > 0 { "of a transaction".to_owned() } else { zxid.to_string() };
        let body: String = frame[16..].iter().map(|byte| format!("{byte:02x}")).collect();
        answers.push(format!("{}: zxid {zxid}, error {}, body {body}", int(xid), int(error)));
    }
    answers.push("closed".to_owned());
    answers
}

/// What a member answers to the first frame of a connection, of a client that accepts servers that only read, does not, or is too old to
/// know of them. `None`: it hangs up.
fn welcome(address: &str, read_only: Option<bool>) -> Option<Vec<u8>> {
    let mut stream = open(address);
    send(&mut stream, &hello(read_only));
    receive(&mut stream)
}

/// The answer to a four-letter word.
pub fn word(address: &str, word: &str) -> String {
    let mut stream = open(address);
    stream.write_all(word.as_bytes()).expect("it listens");
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        // A server that hangs up with bytes unread resets the connection.
        Err(e) if e.kind() != ErrorKind::ConnectionReset => panic!("{word}: {e}"),
        _ => String::from_utf8_lossy(&answer).into_owned(),
    }
}

/// What a member without a quorum does with clients and words.
pub fn does_not_serve(address: &str) {
    for read_only in [None, Some(false), Some(true)] {
        assert_eq!(welcome(address, read_only), None, "{read_only:?} at {address}");
    }
    for (asked, answer) in [
        ("ruok", "imok"),
        ("isro", "null"),
        ("srvr", "This ZooKeeper instance is not currently serving requests\n"),
        ("stat", "This ZooKeeper instance is not currently serving requests\n"),
        ("mntr", "This ZooKeeper instance is not currently serving requests\n"),
        ("cons", "This ZooKeeper instance is not currently serving requests\n"),
        ("wchs", "This ZooKeeper instance is not currently serving requests\n"),
        ("kill", ""),
    ] {
        assert_eq!(word(address, asked), answer, "{asked} at {address}");
    }
    assert!(word(address, "envi").starts_with("Environment:\nzookeeper.version=3.8."));
}

/// The data of a znode, and its stat but for the times.
pub fn data_and_stat(address: &str, path: &str) -> (String, zk_recipes::zk::Stat) {
    let mut stream = open(address);
    send(&mut stream, &hello(Some(false)));
    receive(&mut stream).expect("it grants a session");
    send(&mut stream, &request(1, number::GET_DATA, |out| _ = out.text(path).bool(false)));
    let frame = receive(&mut stream).expect("it answers");
    let mut from = zk_protocol::wire::jute::In::new(&frame[16..]);
    let data = from.text().flatten().map(|data| data.into_owned()).expect("it has data");
    let stat = from.stat().expect("it has a stat");
    (data, zk_recipes::zk::Stat { ctime: 0, mtime: 0, ..stat })
}

fn open(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a socket has a limit");
    stream
}

fn request(xid: i32, op: i32, body: impl FnOnce(&mut Out)) -> Vec<u8> {
    let mut out = Out::default();
    out.int(xid).int(op);
    body(&mut out);
    out.done()
}

fn hello(read_only: Option<bool>) -> Vec<u8> {
    let mut out = Out::default();
    out.int(0).long(0).int(4000).long(0).buffer(Some(&[0; 16]));
    if let Some(read_only) = read_only {
        out.bool(read_only);
    }
    out.done()
}

/// A server that has hung up already takes no more: what it answered is still there to read.
fn send(stream: &mut TcpStream, frame: &[u8]) {
    let _ = stream.write_all(&frame::of(frame));
}

/// The next frame. `None`: the server has hung up.
fn receive(stream: &mut TcpStream) -> Option<Vec<u8>> {
    match frame::read(stream) {
        Ok(frame) => Some(frame),
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
            ) =>
        {
            None
        }
        Err(e) => panic!("neither an answer nor an end: {e}"),
    }
}
