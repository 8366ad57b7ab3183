//! What servers send each other: the leader's connection with a follower (`org.apache.zookeeper.server.quorum.Leader`).
//!
//! Everything of one direction travels in one FIFO stream. So the answer to REVALIDATE, and to SYNC, comes behind
//! every COMMIT that the leader had sent before.

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
    /// SYNC: a client's sync, by the follower's number for it.
    Sync { session: SessionId, number: u64, req: u32 },
    /// REVALIDATE: a client wants to go on with a session at this follower.
    Revalidate { session: SessionId, timeout: u64, number: u64 },
    /// The answer to a PING: who was heard of since the last one, with their timeouts.
    Heard(Vec<(SessionId, u64)>),
    // ── leader to follower ──
    /// PROPOSAL.
    Proposal(Arc<Txn>),
    /// COMMIT.
    Commit(i64),
    /// The answer to SYNC.
    Synced { session: SessionId, number: u64 },
    /// The answer to REVALIDATE.
    Revalidated { number: u64, valid: bool },
    /// PING.
    Ping,
    // ── both ──
    /// The end of the connection.
    Fin,
}

/// A write on its way to the leader.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub session: SessionId,
    /// The number that the client's server gave it.
    pub number: u64,
    pub what: WriteBody,
    pub ids: Arc<[Identity]>,
    pub tag: Tag,
    /// The session had moved to another server when it reached the leader.
    pub moved: bool,
}

/// What a write is to do.
#[derive(Clone, Debug)]
pub(crate) enum WriteBody {
    /// What a client asks for.
    Ask(Ask),
    /// Open the session, with that timeout in microseconds.
    Open { timeout: u64 },
}
