//! Servers that follow a script.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use tokio::net::TcpSocket;

pub const PING_XID: i32 = -2;

/// A server whose connections follow a script, which is told how many came before. Returns its address.
pub fn serves(script: impl Fn(Peer, usize) + Send + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let address = listener.local_addr().expect("it is bound").to_string();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            script(Peer { stream }, number);
        }
    });
    address
}

/// A server that grants a session, and answers pings and reads.
pub fn lives() -> String {
    serves(|mut peer, _| {
        thread::spawn(move || {
            peer.welcomes(10_000);
            peer.goes_on();
        });
    })
}

/// A server that accepts connections, and says nothing.
pub fn mute() -> (TcpListener, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let address = listener.local_addr().expect("it is bound").to_string();
    (listener, address)
}

/// An address that answers to no connect at all: its queue is full.
pub struct BlackHole {
    _listener: tokio::net::TcpListener,
    _queued: Vec<TcpStream>,
    pub address: String,
}

impl BlackHole {
    /// Within a runtime.
    pub fn new() -> BlackHole {
        let socket = TcpSocket::new_v4().expect("a socket can be had");
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port is free");
        let listener = socket.listen(0).expect("it is bound");
        let address = listener.local_addr().expect("it is bound");
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(50));
        let queued: Vec<_> = std::iter::repeat_with(connect).map_while(Result::ok).collect();
        BlackHole { _listener: listener, _queued: queued, address: address.to_string() }
    }
}

/// An address at which nobody listens, and which no other test gets.
pub fn closed() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().expect("a socket can be had");
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port is free");
    let address = socket.local_addr().expect("it is bound").to_string();
    (socket, address)
}

/// One connection.
pub struct Peer {
    pub stream: TcpStream,
}

impl Peer {
    /// The next frame; none at the end.
    pub fn hears(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).ok()?;
        let mut frame = vec![0; usize::try_from(i32::from_be_bytes(length)).ok()?];
        self.stream.read_exact(&mut frame).ok()?;
        Some(frame)
    }

    /// Xid and operation of the next request.
    pub fn request(&mut self) -> Option<(i32, i32)> {
        let frame = self.hears()?;
        let int = |at: usize| i32::from_be_bytes(frame[at..at + 4].try_into().expect("four bytes"));
        Some((int(0), int(4)))
    }

    pub fn says(&mut self, frame: &[u8]) {
        let length = i32::try_from(frame.len()).expect("it is short").to_be_bytes();
        // The client may have gone.
        let _ = self.stream.write_all(&[&length[..], frame].concat());
    }

    /// Answers the request for a session. Returns the session that the client has asked for.
    pub fn grants(&mut self, millis: i32, only_reads: bool) -> Option<i64> {
        let hello = self.hears()?;
        self.says_granted(millis, only_reads);
        Some(i64::from_be_bytes(hello[16..24].try_into().expect("eight bytes")))
    }

    pub fn says_granted(&mut self, millis: i32, only_reads: bool) {
        let session = 0x1234_i64.to_be_bytes();
        let ints = [0, millis].map(i32::to_be_bytes).concat();
        self.says(&[&ints[..], &session, &16_i32.to_be_bytes(), &[1; 16], &[u8::from(only_reads)]].concat());
    }

    pub fn welcomes(&mut self, millis: i32) -> Option<i64> {
        self.grants(millis, false)
    }

    pub fn answers(&mut self, xid: i32, body: &[u8]) {
        self.says(&[&xid.to_be_bytes()[..], &1_i64.to_be_bytes(), &0_i32.to_be_bytes(), body].concat());
    }

    /// Answers everything with an empty body, until the client goes, or closes its session.
    pub fn goes_on(&mut self) {
        const CLOSE_SESSION: i32 = -11;
        while let Some((xid, kind)) = self.request() {
            self.answers(xid, &[]);
            if kind == CLOSE_SESSION {
                return;
            }
        }
    }
}
