//! A server that grants whatever is asked for, and notes how many requests arrive together.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const CREATE: i32 = 15;
const LIST: i32 = 12;
const EXISTS: i32 = 3;
const GET: i32 = 4;
const SET: i32 = 5;
const SYNC: i32 = 9;
const CHECK: i32 = 13;
const MULTI: i32 = 14;
const MULTI_READ: i32 = 22;

/// The end of the results of several operations.
const END: i32 = -1;

const SESSION: i64 = 0x1_0000_0001;

/// The server, which ends with its connection.
pub struct Stub {
    address: String,
    packets: Arc<Mutex<Vec<usize>>>,
}

impl Stub {
    pub fn start() -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound").to_string();
        let packets = Arc::new(Mutex::new(Vec::new()));
        let noted = packets.clone();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            serve(stream, &noted)
        });
        Stub { address, packets }
    }

    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// The number of requests in each packet since the last call.
    pub fn take_packets(&self) -> Vec<usize> {
        std::mem::take(&mut *self.packets.lock().expect("nobody panics"))
    }
}

fn serve(mut stream: TcpStream, packets: &Mutex<Vec<usize>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut received = vec![0; 1 << 16];
    let mut filled = 0;
    let mut server =
        Server { zxid: 1, czxid: 1, standing: String::new(), out: Vec::new(), is_greeted: false };
    loop {
        let read = stream.read(&mut received[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let (mut at, mut requests) = (0, 0);
        while let Some(frame) = frame(&received[at..filled]) {
            at += 4 + frame.len();
            requests += 1;
            server.answer(frame);
        }
        received.copy_within(at..filled, 0);
        filled -= at;
        packets.lock().expect("nobody panics").push(requests);
        stream.write_all(&server.out)?;
        server.out.clear();
    }
}

/// The first frame, if it is complete.
fn frame(bytes: &[u8]) -> Option<&[u8]> {
    let length = usize::try_from(number(bytes.get(..4)?)).ok()?;
    bytes.get(4..4 + length)
}

fn number(bytes: &[u8]) -> i32 {
    i32::from_be_bytes(bytes.try_into().expect("four bytes"))
}

struct Server {
    zxid: i64,
    /// That of the last create: every znode has it.
    czxid: i64,
    /// The name of the only contender.
    standing: String,
    out: Vec<u8>,
    is_greeted: bool,
}

impl Server {
    fn answer(&mut self, frame: &[u8]) {
        let mut body = Vec::new();
        if !self.is_greeted {
            self.is_greeted = true;
            body.extend(0_i32.to_be_bytes());
            body.extend(30_000_i32.to_be_bytes());
            body.extend(SESSION.to_be_bytes());
            text(&mut body, "0123456789abcdef");
            body.push(0);
            return self.send(&body);
        }
        let (xid, kind) = (number(&frame[..4]), number(&frame[4..8]));
        self.zxid += 1;
        body.extend(xid.to_be_bytes());
        body.extend(self.zxid.to_be_bytes());
        body.extend(0_i32.to_be_bytes());
        match kind {
            CREATE => {
                self.czxid = self.zxid;
                let length = usize::try_from(number(&frame[8..12])).expect("a length");
                let prefix = std::str::from_utf8(&frame[12..12 + length]).expect("a path");
                let path = format!("{prefix}{:010}", self.zxid);
                path.rsplit_once('/').expect("it is absolute").1.clone_into(&mut self.standing);
                text(&mut body, &path);
                self.stat(&mut body);
            }
            LIST => {
                body.extend(1_i32.to_be_bytes());
                text(&mut body, &self.standing);
                self.stat(&mut body);
            }
            EXISTS | SET => self.stat(&mut body),
            GET => {
                text(&mut body, "data");
                self.stat(&mut body);
            }
            SYNC => text(&mut body, "/lock"),
            MULTI => {
                result(&mut body, CHECK);
                result(&mut body, END);
            }
            MULTI_READ => {
                result(&mut body, GET);
                text(&mut body, "data");
                self.stat(&mut body);
                result(&mut body, END);
            }
            _ => {}
        }
        self.send(&body);
    }

    fn stat(&self, body: &mut Vec<u8>) {
        // czxid, mzxid, ctime, mtime; version, cversion, aversion; owner; data length, children; pzxid.
        for long in [self.czxid, self.zxid, 0, 0] {
            body.extend(long.to_be_bytes());
        }
        body.extend([0; 12]);
        body.extend(SESSION.to_be_bytes());
        body.extend([0; 8]);
        body.extend(self.zxid.to_be_bytes());
    }

    fn send(&mut self, body: &[u8]) {
        let length = i32::try_from(body.len()).expect("a frame is short");
        self.out.extend(length.to_be_bytes());
        self.out.extend(body);
    }
}

/// The header of the result of one of several operations (`MultiHeader`).
fn result(out: &mut Vec<u8>, op: i32) {
    out.extend(op.to_be_bytes());
    out.push(u8::from(op == END));
    out.extend(if op == END { -1_i32 } else { 0 }.to_be_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(i32::try_from(text.len()).expect("a text is short").to_be_bytes());
    out.extend(text.as_bytes());
}
