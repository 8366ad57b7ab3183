//! The port of a member: it refuses connections while the member is down, and stays its own.

use mio::net::TcpListener;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::SocketAddr;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 4096;

/// The port of a member.
pub(crate) struct Listener {
    address: SocketAddr,
    token: Token,
    /// Has the port, and never listens, so that nobody else gets it.
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

    /// Where it listens.
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

    /// Accepts a connection, if one waits.
    pub fn accept(&self) -> Option<mio::net::TcpStream> {
        // Nobody waits, or the client has gone already, or there are too many files: the others go on.
        self.live.as_ref()?.accept().ok().map(|(stream, _)| stream)
    }
}

fn bound(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}
