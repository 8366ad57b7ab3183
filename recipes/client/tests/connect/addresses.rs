//! Addresses of servers that live, and of servers that do not.

use super::script::serves;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use tokio::net::TcpSocket;

/// A server that grants a session, and answers pings and reads.
pub fn lives() -> String {
    serves(|mut peer| {
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
