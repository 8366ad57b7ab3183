//! Servers that follow a script.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

/// The session timeout that servers grant, in milliseconds.
pub const TIMEOUT: i32 = 600;

/// A server whose connections follow a script, which is told how many came before. Returns its address.
pub fn serves(mut script: impl FnMut(Peer, usize) + Send + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let address = listener.local_addr().expect("it is bound").to_string();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            script(Peer { stream }, number);
        }
    });
    address
}

/// The request for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub last_zxid: i64,
    pub session: i64,
}

/// One connection.
pub struct Peer {
    stream: TcpStream,
}

impl Peer {
    /// The next frame; none at the end.
    fn hears(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).ok()?;
        let mut frame = vec![0; usize::try_from(i32::from_be_bytes(length)).ok()?];
        self.stream.read_exact(&mut frame).ok()?;
        Some(frame)
    }

    fn says(&mut self, parts: &[&[u8]]) {
        let frame = parts.concat();
        let length = i32::try_from(frame.len()).expect("it is short").to_be_bytes();
        // The client may have gone.
        let _ = self.stream.write_all(&[&length[..], &frame].concat());
    }

    pub fn hello(&mut self) -> Hello {
        let frame = self.hears().expect("a client begins with a request for a session");
        let long = |at: usize| i64::from_be_bytes(frame[at..at + 8].try_into().expect("eight bytes"));
        Hello { last_zxid: long(4), session: long(16) }
    }

    /// Grants session 7 for so many milliseconds; zero means that the session is unknown.
    pub fn grants(&mut self, millis: i32) {
        let ints = [0, millis].map(i32::to_be_bytes).concat();
        self.says(&[&ints, &7_i64.to_be_bytes(), &16_i32.to_be_bytes(), &[1; 16], &[0]]);
    }

    /// Hears the request for a session, and grants it.
    pub fn welcomes(&mut self) -> Hello {
        let hello = self.hello();
        self.grants(TIMEOUT);
        hello
    }

    /// Xid and operation of the next request; none at the end.
    pub fn request(&mut self) -> Option<(i32, i32)> {
        let frame = self.hears()?;
        let int = |at: usize| i32::from_be_bytes(frame[at..at + 4].try_into().expect("four bytes"));
        Some((int(0), int(4)))
    }

    /// Waits for a request of that operation; others get no answer. Returns its xid.
    pub fn expects(&mut self, operation: i32) -> i32 {
        loop {
            match self.request() {
                Some((xid, of)) if of == operation => return xid,
                Some(_) => {}
                None => panic!("the client has gone without operation {operation}"),
            }
        }
    }

    pub fn answers(&mut self, xid: i32, error: i32, body: &[u8]) {
        self.says(&[&xid.to_be_bytes(), &ZXID.to_be_bytes(), &error.to_be_bytes(), body]);
    }

    /// Answers everything with an empty body, until the client goes.
    pub fn goes_on(&mut self) {
        while let Some((xid, _)) = self.request() {
            self.answers(xid, 0, b"");
        }
    }

    /// Stays until the client goes.
    pub fn stays(mut self) {
        while self.request().is_some() {}
    }
}

/// The zxid of every answer.
pub const ZXID: i64 = 5;
