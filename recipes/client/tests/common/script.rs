//! Servers that follow a script, on loopback sockets: packets are those of ZooKeeper, and which ones come is the script's.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};

/// The session that is granted.
pub const SESSION: i64 = 0x1234;

/// The zxid of every answer of a [`Peer`].
pub const ZXID: i64 = 5;

/// A server whose connections follow a script, one after the other. Returns its address.
///
/// Which connection is the client's is nothing to count on: while a server is slow, a client opens further ones beside the
/// first, and leaves all but one.
pub fn serves(mut script: impl FnMut(Peer) + Send + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let address = listener.local_addr().expect("it is bound").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            script(Peer { stream });
        }
    });
    address
}

/// A server whose script begins with the request for a session.
pub fn greets(mut script: impl FnMut(Peer, Hello) + Send + 'static) -> String {
    serves(move |mut peer| {
        if let Some(hello) = peer.hello() {
            script(peer, hello);
        }
    })
}

/// A grant of the session for so many milliseconds; zero means that the session is unknown.
pub fn welcome(millis: i32, only_reads: bool) -> Vec<u8> {
    let mut out = Out::default();
    out.int(0).int(millis).long(SESSION).buffer(Some(&[1; 16])).bool(only_reads);
    out.done()
}

/// An answer to a request.
pub fn answer(xid: i32, zxid: i64, error: i32, body: &[u8]) -> Vec<u8> {
    [Out::default().int(xid).long(zxid).int(error).as_bytes(), body].concat()
}

/// Xid and operation of a request.
pub fn asked(request: &mut In<'_>) -> (i32, i32) {
    let mut int = || request.int().expect("a request has a header");
    (int(), int())
}

/// The request for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub last_zxid: i64,
    pub session: i64,
}

impl Hello {
    /// Whether it asks for a new session.
    pub fn is_new(self) -> bool {
        self.session == 0
    }
}

/// One connection.
pub struct Peer {
    pub stream: TcpStream,
}

impl Peer {
    /// The next packet; none at the end.
    pub fn hears(&mut self) -> Option<Vec<u8>> {
        frame::read(&mut self.stream).ok()
    }

    /// None if the client has gone.
    pub fn says(&mut self, packet: &[u8]) -> Option<()> {
        self.stream.write_all(&frame::of(packet)).ok()
    }

    pub fn hello(&mut self) -> Option<Hello> {
        let packet = self.hears()?;
        let mut from = In::new(&packet);
        let (_, last_zxid, _, session) = (from.int()?, from.long()?, from.int()?, from.long()?);
        Some(Hello { last_zxid, session })
    }

    pub fn grants(&mut self, millis: i32) {
        self.says(&welcome(millis, false));
    }

    /// Grants the session when it is asked for.
    pub fn welcomes(&mut self, millis: i32) {
        if self.hello().is_some() {
            self.grants(millis);
        }
    }

    /// Xid and operation of the next request; none at the end.
    pub fn request(&mut self) -> Option<(i32, i32)> {
        self.hears().map(|request| asked(&mut In::new(&request)))
    }

    /// Waits for a request of that operation; others get no answer. Its xid; none if the client goes without one.
    pub fn expects(&mut self, operation: i32) -> Option<i32> {
        loop {
            let (xid, of) = self.request()?;
            if of == operation {
                return Some(xid);
            }
        }
    }

    /// None if the client has gone.
    pub fn answers(&mut self, xid: i32, error: i32, body: &[u8]) -> Option<()> {
        self.says(&answer(xid, ZXID, error, body))
    }

    /// Answers everything with an empty body, until the client goes, or closes its session.
    pub fn goes_on(&mut self) {
        while let Some((xid, operation)) = self.request() {
            self.answers(xid, 0, &[]);
            if operation == number::CLOSE_SESSION {
                return;
            }
        }
    }

    /// Stays until the client goes.
    pub fn stays(mut self) {
        while self.request().is_some() {}
    }
}
