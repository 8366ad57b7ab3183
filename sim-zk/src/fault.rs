//! Fault injection: the kinds of fault, the injection points in the protocol, and what real networks exclude.
//!
//! An injection point is a step of the protocol: a request leaves, a reply leaves, a packet reaches a client, or a
//! packet of one server reaches another. At each the world asks its [`Chooser`](crate::choose::Chooser) which of the
//! possible faults to inject, if any. A connection is two FIFO streams that can be cut: a prefix is delivered, the
//! rest is lost. So a later reply never arrives after an earlier one was lost, nothing is delivered twice, and
//! nothing overtakes.

use crate::message::Code;
use crate::named;

named! {
    /// The kinds of fault.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Fault {
        /// Lost request: the connection breaks before a request reaches the server.
        RequestLost = "request-lost",
        /// Lost reply: the connection breaks after the server accepted a request, and before the reply reached the
        /// client.
        ReplyLost = "reply-lost",
        /// Delayed reply: everything behind it waits too.
        ReplyLate = "reply-late",
        /// Connection loss: packets in flight to the server still arrive.
        Disconnect = "disconnect",
        /// Session expiry: the client is partitioned until the ensemble has expired its session.
        SessionExpiry = "session-expiry",
        /// Crash of the client process.
        ClientCrash = "client-crash",
        /// Pause of the client process.
        ClientPause = "client-pause",
        /// Cancellation: client code drops the future that it awaits.
        Cancel = "cancel",
        /// One-way partition: packets of the client do not arrive for a while; those of the server do.
        ClientMuted = "client-muted",
        /// One-way partition: packets of the server do not arrive for a while; those of the client do.
        ClientDeafened = "client-deafened",
        /// Partition between a client and its server.
        ClientPartition = "client-partition",
        /// Lost notification: the connection breaks just before a notification arrives.
        WatchLost = "watch-lost",
        /// Clock drift: the clock of a client runs up to a tenth fast or slow.
        ClockDrift = "clock-drift",
        /// Crash of a server: transactions that are not on its disk are lost; the server restarts later.
        ServerCrash = "server-crash",
        /// Pause of a server.
        ServerPause = "server-pause",
        /// Delay of one direction of a server link: packets are held, and arrive afterwards.
        LinkHeld = "link-held",
        /// Cut of a server link: packets sent during the cut are lost, and retransmitted.
        LinkCut = "link-cut",
        /// Partition of a server from all other servers, but not from its clients.
        ServerPartition = "server-partition",
        /// Disk stall: a server does not write its log for a while.
        DiskStall = "disk-stall",
        /// Apply stall: a server neither applies committed transactions nor answers reads for a while.
        ApplyStall = "apply-stall",
        /// Commit stall: the leader does not apply a transaction that it has just committed.
        CommitStall = "commit-stall",
        /// Crash of the leader.
        LeaderCrash = "leader-crash",
        /// Jump of the wall clock of the leader.
        ClockJump = "clock-jump",
        /// Refusal by an overloaded server, for any request: `ThrottledOp`.
        Throttled = "throttled",
        /// Refusal of a write by a quota: `QuotaExceeded`.
        QuotaExceeded = "quota-exceeded",
        /// Refusal of a request by an access control list: `NoAuth`.
        AccessDenied = "access-denied",
        /// Internal error of a server: `SystemError`, after which the outcome of a write is unknown.
        ServerError = "server-error",
        /// Loss of packets on one direction of a server link: the sender retransmits them after the fault, if the
        /// connection survives. Injected on command only: drawing it would change the choices of existing seeds.
        PacketsLost = "packets-lost",
    }
}

impl Fault {
    /// The kinds that injection points can draw: all but those that are injected on command only, which come last.
    pub const DRAWN: &'static [Fault] = Fault::ALL.split_at(Fault::PacketsLost as usize).0;

    /// Returns whether it affects servers or server links, and so needs more than one server.
    pub fn strikes_servers(self) -> bool {
        self == Fault::PacketsLost
            || InjectionPoint::Packet.faults().contains(&self)
            || InjectionPoint::LeaderPacket.faults().contains(&self)
    }

    /// Returns the code with which a server refuses a request, for the kinds that are a refusal.
    pub fn refusal(self) -> Option<Code> {
        match self {
            Fault::Throttled => Some(Code::ThrottledOp),
            Fault::QuotaExceeded => Some(Code::QuotaExceeded),
            Fault::AccessDenied => Some(Code::NoAuth),
            Fault::ServerError => Some(Code::SystemError),
            _ => None,
        }
    }
}

/// The victim of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Victim {
    /// A client process.
    Process(u8),
    /// A server.
    Server(u8),
    /// One direction of a server link: sender and receiver.
    Link(u8, u8),
}

/// A step of the protocol at which faults can be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InjectionPoint {
    /// A request leaves a client.
    Request,
    /// A reply leaves a server.
    Reply,
    /// A reply, or an alarm, is about to reach a client.
    Arrival,
    /// A notification is about to reach a client.
    Notice,
    /// A packet of one server is about to reach another.
    Packet,
    /// A packet of one server is about to reach the leader.
    LeaderPacket,
}

impl InjectionPoint {
    /// Returns the kinds that can be injected here. A choice encodes a kind as its index plus one.
    pub fn faults(self) -> &'static [Fault] {
        match self {
            InjectionPoint::Request => &[
                Fault::RequestLost,
                Fault::Disconnect,
                Fault::ClientMuted,
                Fault::ClientDeafened,
                Fault::ClientPartition,
                Fault::Throttled,
                Fault::QuotaExceeded,
                Fault::AccessDenied,
                Fault::ServerError,
            ],
            InjectionPoint::Reply => &[Fault::ReplyLost, Fault::ReplyLate],
            InjectionPoint::Arrival => &[
                Fault::ClientPause,
                Fault::Cancel,
                Fault::SessionExpiry,
                Fault::ClientCrash,
                Fault::ClockDrift,
            ],
            InjectionPoint::Notice => &[
                Fault::ClientPause,
                Fault::Cancel,
                Fault::SessionExpiry,
                Fault::ClientCrash,
                Fault::WatchLost,
            ],
            InjectionPoint::Packet => &[
                Fault::ServerCrash,
                Fault::ServerPause,
                Fault::LinkHeld,
                Fault::LinkCut,
                Fault::ServerPartition,
                Fault::DiskStall,
                Fault::ApplyStall,
            ],
            InjectionPoint::LeaderPacket => &[
                Fault::LeaderCrash,
                Fault::ServerPause,
                Fault::LinkHeld,
                Fault::LinkCut,
                Fault::ServerPartition,
                Fault::DiskStall,
                Fault::CommitStall,
                Fault::ClockJump,
            ],
        }
    }
}
