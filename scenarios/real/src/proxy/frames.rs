//! Parses the bytes that a link forwards: where a message ends, which requests of a client are writes, and how a server
//! introduces itself to another.
//!
//! * A client's request is its length, an xid and the number of an operation; a reply is its length, the xid, a zxid
//!   and an error. The first message in either direction is that of the connect, without an xid.
//! * A server that connects for an election sends the version of its protocol, its number, and its address for a
//!   callback: the member with the smaller number is called back (`QuorumCnxManager.InitialMessage`). That address has
//!   to be a link of ours as well, or members would bypass the link.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zk_protocol::wire::frame;

/// The longest message: ZooKeeper's own limit is a megabyte, and a transaction's reply may be several.
const LONGEST_BYTES: usize = 64 << 20;

/// create, delete, setData, multi, create2, createContainer, createTTL.
const WRITES: [i32; 7] = [1, 2, 5, 14, 15, 19, 21];

/// The versions of a server's introduction: without a list of addresses, and with one.
const INTRODUCTIONS: [i64; 2] = [-65536, -65535];

/// The longest address.
const LONGEST_ADDRESS_BYTES: u32 = 4096;

/// Reads one message, with its length in front. Returns false at the end of the input.
pub(crate) async fn message(
    from: &mut (impl AsyncReadExt + Unpin),
    message: &mut Vec<u8>,
) -> io::Result<bool> {
    message.resize(4, 0);
    match from.read_exact(message).await {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
        read => read?,
    };
    let length = frame::length(message, LONGEST_BYTES)?.unwrap_or_default();
    message.resize(4 + length, 0);
    from.read_exact(&mut message[4..]).await.map(|_| true)
}

fn int(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The writes of a connection without a reply so far, by their xids.
#[derive(Default)]
pub(super) struct Writes(Mutex<BTreeSet<i32>>);

impl Writes {
    /// Records a request, and returns whether it is a write.
    pub(super) fn asked(&self, request: &[u8]) -> bool {
        let (Some(xid), Some(operation)) = (int(request, 4), int(request, 8)) else { return false };
        WRITES.contains(&operation) && self.open().insert(xid)
    }

    /// Whether it is the reply to a write.
    pub(super) fn answered(&self, reply: &[u8]) -> bool {
        int(reply, 4).is_some_and(|xid| self.open().remove(&xid))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeSet<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forwards a server's introduction, with another callback address. Other bytes are forwarded unchanged.
pub(super) async fn introduce(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    call_back: SocketAddr,
) -> io::Result<()> {
    let (version, number, length) = (from.read_i64().await?, from.read_i64().await?, from.read_u32().await?);
    let mut words = [&version.to_be_bytes()[..], &number.to_be_bytes()].concat();
    if INTRODUCTIONS.contains(&version) && length <= LONGEST_ADDRESS_BYTES {
        let mut address = vec![0; length as usize];
        from.read_exact(&mut address).await?;
        let address = call_back.to_string();
        words.extend((address.len() as u32).to_be_bytes());
        words.extend(address.as_bytes());
    } else {
        words.extend(length.to_be_bytes());
    }
    to.write_all(&words).await
}
