//! A fault proxy between programs on this machine: links that forward every byte, and lines that can be delayed, cut and healed.
//!
//! 1. A link listens at an address of its own.
//! 2. It connects each client to its target, and all bytes pass the link's [`Line`].
//! 3. A held line delays bytes; a cut line drops its connections. All links of one line share its state.
//!
//! A link understands only its [`Speech`]. It does not know the fault plan.

mod frames;
mod line;

pub use line::{Line, Loss, Passage, Way};

use crate::process::Process;
use crate::time::sleep;
use frames::Writes;
pub(super) use frames::message;
use futures_util::future::select;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The most bytes that are forwarded at once.
const PIECE_BYTES: usize = 16 << 10;

/// The number of retries, and their interval, when a member does not listen: three seconds in all, less than the others
/// wait for it.
const TRIES: u32 = 150;
const AGAIN: Duration = Duration::from_millis(20);

/// The protocol of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// Uninterpreted bytes.
    Bytes,
    /// A client's requests and a server's replies: writes can be lost.
    Client,
    /// Votes. The accepting server calls the connecting one back at this address.
    Votes(SocketAddr),
}

/// The network that owns links. Dropping it closes them.
pub struct Network {
    process: Process,
}

/// The address of a link that is not created yet.
#[derive(Debug)]
pub struct PendingLink {
    listener: std::net::TcpListener,
    address: SocketAddr,
}

impl PendingLink {
    /// The address at which the link will listen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Network {
    /// A network without any link.
    ///
    /// # Errors
    ///
    /// The error of the operating system, if it cannot start a thread.
    pub fn start() -> io::Result<Network> {
        Ok(Network { process: Process::start("network")? })
    }

    /// A free port for a link.
    ///
    /// # Errors
    ///
    /// The error of the operating system, if there is none.
    pub fn place(&self) -> io::Result<PendingLink> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        Ok(PendingLink { address: listener.local_addr()?, listener })
    }

    /// Forwards connections at that place to `host:port`, over that line.
    ///
    /// # Errors
    ///
    /// The error of the operating system.
    pub fn link(&self, place: PendingLink, to: &str, line: &Line, speech: Speech) -> io::Result<()> {
        let entered = self.process.runtime().enter();
        let listener = TcpListener::from_std(place.listener)?;
        drop(entered);
        let link = Link { to: to.to_owned(), line: line.clone(), speech };
        self.process.spawn(link.serve(listener));
        Ok(())
    }

    /// The number of tasks: one for each link, and one for each connection.
    pub fn tasks(&self) -> usize {
        self.process.tasks()
    }
}

/// One link.
#[derive(Clone)]
struct Link {
    to: String,
    line: Line,
    speech: Speech,
}

impl Link {
    async fn serve(self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        // A connection that closes before the accept does not end the link.
        loop {
            if let Ok((client, _)) = listener.accept().await {
                connections.spawn(self.clone().carry(client));
            }
            while connections.try_join_next().is_some() {}
        }
    }

    /// Step 2, for one connection, from its begin to its end.
    async fn carry(self, client: TcpStream) {
        let ended = self.line.ended();
        if self.line.is_cut() {
            return;
        }
        if self.line.is_held() {
            // Like a lost packet: no reply, so the client eventually retries.
            self.line.is_open().await;
            return;
        }
        let over = pin!(self.line.ends(ended));
        // Both sides see only that the connection is closed.
        let _ = select(over, pin!(self.connect(client))).await;
    }

    async fn connect(&self, client: TcpStream) -> io::Result<()> {
        let server = self.reach().await?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let (writes, passage) = (Writes::default(), Mutex::new(self.line.passage()));
        let there = self.hand_on(from_client, to_server, Way::There, &writes, &passage);
        let back = self.hand_on(from_server, to_client, Way::Back, &writes, &passage);
        select(pin!(there), pin!(back)).await.factor_first().0
    }

    /// Connects to the target. A new leader listens a little later than its followers connect. If refused, a follower
    /// would try again, but behind the link it sees no refusal; so the link retries in its place. A client moves to
    /// another server at once.
    async fn reach(&self) -> io::Result<TcpStream> {
        let mut tried = 0;
        loop {
            match TcpStream::connect(&self.to).await {
                Err(_) if self.speech != Speech::Client && tried < TRIES => tried += 1,
                reached => return reached,
            }
            sleep(AGAIN).await;
        }
    }

    /// Forwards the bytes of one direction. A held line delays the end of the connection, too.
    async fn hand_on(
        &self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        way: Way,
        writes: &Writes,
        passage: &Mutex<Option<Passage>>,
    ) -> io::Result<()> {
        if let (Speech::Votes(call_back), Way::There) = (self.speech, way) {
            frames::introduce(&mut from, &mut to, call_back).await?;
        }
        let mut piece = Vec::new();
        let mut connects = true;
        loop {
            let more = self.next(&mut from, &mut piece).await;
            self.line.passes(way).await;
            // The messages of the connect have no xid: their zxid would be mistaken for an operation.
            if !more? || !connects && self.is_lost(&piece, way, writes) {
                return Ok(());
            }
            connects = false;
            let goes_on = match &mut *passage.lock().unwrap_or_else(PoisonError::into_inner) {
                Some(passage) => passage(way, &mut piece),
                None => true,
            };
            to.write_all(&piece).await?;
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// Forwards one chunk. Returns false at the end.
    async fn next(&self, from: &mut OwnedReadHalf, piece: &mut Vec<u8>) -> io::Result<bool> {
        if self.speech == Speech::Client {
            return frames::message(from, piece).await;
        }
        piece.resize(PIECE_BYTES, 0);
        let length = from.read(piece).await?;
        piece.truncate(length);
        Ok(length > 0)
    }

    fn is_lost(&self, piece: &[u8], way: Way, writes: &Writes) -> bool {
        match (self.speech, way) {
            (Speech::Client, Way::There) => writes.asked(piece) && self.line.loses(Loss::Request),
            (Speech::Client, Way::Back) => writes.answered(piece) && self.line.loses(Loss::Reply),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
