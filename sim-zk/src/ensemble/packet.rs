//! Packets between a leader and a follower (`org.apache.zookeeper.server.quorum.Leader`).
//!
//! Each direction is one FIFO stream. So the reply to REVALIDATE, and to SYNC, arrives behind every earlier COMMIT of
//! the leader.

use crate::acl::Identity;
use crate::message::{Ask, Tag};
use crate::txn::Txn;
use std::sync::Arc;
use zk_recipes::zk::SessionId;

/// From one server to another.
#[derive(Clone, Debug)]
pub(crate) enum Packet {
    // ── follower to leader ──
    /// REQUEST: a client's write.
    Write(Box<Write>),
    /// ACK: the follower has logged everything up to that zxid.
    Ack(i64),
    /// SYNC of a client, with the number that the follower gave it.
    Sync { session: SessionId, number: u64, req: u32 },
    /// REVALIDATE: a client reconnects with its session at this follower.
    Revalidate { session: SessionId, timeout: u64, number: u64 },
    /// The reply to a PING: the sessions touched since the last one, with their timeouts.
    Heard(Vec<(SessionId, u64)>),
    // ── leader to follower ──
    /// PROPOSAL.
    Proposal(Arc<Txn>),
    /// COMMIT.
    Commit(i64),
    /// The reply to SYNC.
    Synced { session: SessionId, number: u64 },
    /// The reply to REVALIDATE.
    Revalidated { number: u64, valid: bool },
    /// PING.
    Ping,
    // ── both ──
    /// The end of the connection.
    Fin,
}

/// A write in flight to the leader.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub session: SessionId,
    /// The number that the server of the client gave it.
    pub number: u64,
    pub what: WriteBody,
    pub ids: Arc<[Identity]>,
    pub tag: Tag,
    /// Whether the session had moved to another server when the write reached the leader.
    pub moved: bool,
}

/// The content of a write.
#[derive(Clone, Debug)]
pub(crate) enum WriteBody {
    /// A request of a client.
    Ask(Ask),
    /// Opens the session, with that timeout in microseconds.
    Open { timeout: u64 },
}
