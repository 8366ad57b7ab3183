//! The port of a member: it refuses connections while the member is down. Meanwhile the system gives it to no socket that asks for
//! any port; a program that asks for this one gets it, and the member listens again when that program has ended.

use mio::net::TcpListener;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::SocketAddr;

/// The maximal number of connections that wait to be accepted.
const BACKLOG: i32 = 4096;

/// The port of a member.
pub(crate) struct Listener {
    address: SocketAddr,
    token: Token,
    /// Keeps the port from sockets that ask for any, without listening.
    _keeper: Socket,
    live: Option<TcpListener>,
}

impl Listener {
    /// Takes a port and listens.
    pub fn bind(address: SocketAddr, registry: &Registry, token: Token) -> io::Result<Listener> {
        let keeper = bound(address)?;
        let address = keeper.local_addr()?.as_socket().unwrap_or(address);
        let mut listener = Listener { address, token, _keeper: keeper, live: None };
        listener.open(registry)?;
        Ok(listener)
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it listens.
    pub fn is_open(&self) -> bool {
        self.live.is_some()
    }

    /// Listens again.
    pub fn open(&mut self, registry: &Registry) -> io::Result<()> {
        let socket = bound(self.address)?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let mut live = TcpListener::from_std(socket.into());
        registry.register(&mut live, self.token, Interest::READABLE)?;
        self.live = Some(live);
        Ok(())
    }

    /// Refuses connections from now on.
    pub fn close(&mut self) {
        self.live = None;
    }

    /// Accepts a pending connection, if there is one.
    pub fn accept(&self) -> Option<mio::net::TcpStream> {
        // An error means: no connection is pending, the client has gone, or too many files are open. Other sockets are
        // not affected.
        self.live.as_ref()?.accept().ok().map(|(stream, _)| stream)
    }
}

fn bound(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}
