//! A proxy between a peer and the server: it counts requests by kind, notifications and bytes, and can delay what it forwards.
//!
//! Each frame is forwarded a fixed time after its arrival, however many are on the way: a latency divided by the round-trip
//! time is then the number of round trips in turn.
//!
//! The fault proxy of `zk-real` holds lines, and each piece keeps back those behind it: it has no delay of that kind.

use crate::clock::{now, sleep_until};
use anyhow::Context;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zk_protocol::wire::jute::In;
use zk_protocol::wire::number;

/// No frame is longer.
const LONGEST_BYTES: usize = 64 << 20;

/// What passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests by kind, without pings, credentials and the end of sessions.
    pub requests: BTreeMap<&'static str, u64>,
    /// Error replies.
    pub refused: u64,
    /// Notifications of watches.
    pub notifications: u64,
    /// Bytes to the server.
    pub bytes_up: u64,
    /// Bytes from the server.
    pub bytes_down: u64,
}

impl Counts {
    /// All requests.
    pub fn total(&self) -> u64 {
        self.requests.values().sum()
    }

    /// Adds what passed later.
    pub fn add(&mut self, more: &Counts) {
        for (kind, count) in &more.requests {
            *self.requests.entry(kind).or_default() += count;
        }
        self.refused += more.refused;
        self.notifications += more.notifications;
        self.bytes_up += more.bytes_up;
        self.bytes_down += more.bytes_down;
    }
}

/// A running proxy. It ends with its runtime.
pub struct Proxy {
    address: SocketAddr,
    counts: Arc<Mutex<Counts>>,
}

impl Proxy {
    /// Listens on a free port, and forwards to `server`, each frame after that delay.
    ///
    /// # Errors
    ///
    /// There is no free port.
    pub fn start(runtime: &Runtime, server: &str, delay: Duration) -> anyhow::Result<Proxy> {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).context("cannot listen")?;
        let address = listener.local_addr().context("cannot listen")?;
        let counts = Arc::<Mutex<Counts>>::default();
        runtime.spawn(serve(listener, server.to_owned(), delay, counts.clone()));
        Ok(Proxy { address, counts })
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// What passed since the last call.
    pub fn take(&self) -> Counts {
        std::mem::take(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A direction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

async fn serve(listener: TcpListener, server: String, delay: Duration, counts: Arc<Mutex<Counts>>) {
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        let (server, counts) = (server.clone(), counts.clone());
        tokio::spawn(async move {
            let Ok(server) = TcpStream::connect(server).await else { return };
            let _ = (client.set_nodelay(true), server.set_nodelay(true));
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            carry(from_client, to_server, delay, Way::Up, counts.clone());
            carry(from_server, to_client, delay, Way::Down, counts);
        });
    }
}

/// Forwards one direction of a connection. Its end passes with the frames before it.
fn carry(from: OwnedReadHalf, to: OwnedWriteHalf, delay: Duration, way: Way, counts: Arc<Mutex<Counts>>) {
    let (send, sent) = unbounded_channel();
    // Both end with the connection, which is all that can go wrong.
    tokio::spawn(async move {
        let _ = receive(from, send, delay, way, &counts).await;
    });
    tokio::spawn(async move {
        let _ = forward(sent, to).await;
    });
}

type Frame = (Instant, Vec<u8>);

async fn receive(
    from: OwnedReadHalf,
    send: UnboundedSender<Frame>,
    delay: Duration,
    way: Way,
    counts: &Mutex<Counts>,
) -> io::Result<()> {
    let mut from = BufReader::with_capacity(1 << 16, from);
    let mut is_first = true;
    loop {
        let length = from.read_u32().await? as usize;
        if length > LONGEST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut frame = vec![0; 4 + length];
        frame[..4].copy_from_slice(&(length as u32).to_be_bytes());
        from.read_exact(&mut frame[4..]).await?;
        {
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            // The messages of the connect have no header.
            count(&mut counts, &frame, way, is_first);
        }
        is_first = false;
        if send.send((now() + delay, frame)).is_err() {
            return Ok(());
        }
    }
}

async fn forward(mut sent: UnboundedReceiver<Frame>, mut to: OwnedWriteHalf) -> io::Result<()> {
    let mut due = Vec::new();
    while let Some((then, frame)) = sent.recv().await {
        if then > now() {
            sleep_until(then).await;
        }
        due.extend(frame);
        // What is due by now leaves together.
        while let Ok((then, frame)) = sent.try_recv() {
            if then > now() {
                to.write_all(&due).await?;
                due.clear();
                sleep_until(then).await;
            }
            due.extend(frame);
        }
        to.write_all(&due).await?;
        due.clear();
    }
    to.shutdown().await
}

fn count(counts: &mut Counts, frame: &[u8], way: Way, is_first: bool) {
    let bytes = frame.len() as u64;
    match way {
        Way::Up => counts.bytes_up += bytes,
        Way::Down => counts.bytes_down += bytes,
    }
    if is_first {
        return;
    }
    let mut header = In::new(&frame[4..]);
    match way {
        Way::Up => {
            let (_, Some(operation)) = (header.int(), header.int()) else { return };
            if let Some(kind) = kind(operation) {
                *counts.requests.entry(kind).or_default() += 1;
            }
        }
        Way::Down => {
            let (Some(xid), Some(_), Some(error)) = (header.int(), header.long(), header.int()) else {
                return;
            };
            counts.notifications += u64::from(xid == number::NOTIFICATION_XID);
            counts.refused += u64::from(xid >= 0 && error != 0);
        }
    }
}

/// The name of a kind of request; `None` for what serves the session alone.
fn kind(operation: i32) -> Option<&'static str> {
    Some(match operation {
        number::CREATE | number::CREATE_2 => "create",
        number::CREATE_CONTAINER => "createContainer",
        number::CREATE_TTL => "createTTL",
        number::DELETE => "delete",
        number::EXISTS => "exists",
        number::GET_DATA => "getData",
        number::SET_DATA => "setData",
        number::GET_CHILDREN | number::GET_CHILDREN_2 => "getChildren",
        number::SYNC => "sync",
        number::MULTI => "multi",
        number::MULTI_READ => "multiRead",
        number::CHECK_WATCHES | number::REMOVE_WATCHES => "removeWatches",
        number::SET_WATCHES | number::SET_WATCHES_2 => "setWatches",
        number::ADD_WATCH => "addWatch",
        number::PING | number::AUTH | number::SASL | number::CLOSE_SESSION => return None,
        _ => "other",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_protocol::wire::frame;
    use zk_protocol::wire::jute::Out;

    #[test]
    fn requests_and_notifications_are_counted_and_pings_are_not() {
        let mut counts = Counts::default();
        let mut up = |xid, operation, is_first| {
            let mut out = Out::default();
            out.int(xid).int(operation);
            count(&mut counts, &frame::of(out.as_bytes()), Way::Up, is_first);
        };
        // The connect's second word would be a create.
        up(0, number::CREATE, true);
        up(1, number::CREATE_2, false);
        up(2, number::MULTI, false);
        up(number::PING_XID, number::PING, false);
        up(3, number::CLOSE_SESSION, false);
        let mut down = |xid, error| {
            let mut out = Out::default();
            out.int(xid).long(7).int(error);
            count(&mut counts, &frame::of(out.as_bytes()), Way::Down, false);
        };
        down(1, 0);
        down(2, -101);
        down(number::NOTIFICATION_XID, 0);
        down(number::PING_XID, 0);
        let requests = BTreeMap::from([("create", 1), ("multi", 1)]);
        let wanted = Counts { requests, refused: 1, notifications: 1, bytes_up: 5 * 12, bytes_down: 4 * 20 };
        assert_eq!((counts.total(), counts), (2, wanted));
    }
}
