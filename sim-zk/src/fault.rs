//! What can go wrong, where in the protocol it strikes, and what the real system excludes.
//!
//! A fault strikes at a *place*: when a request leaves, when an answer leaves, when something reaches a client, or when
//! one server's packet reaches another. At each place the world asks its [`Chooser`](crate::choose::Chooser) which of the
//! kinds that fit there strikes, if any. A connection is two FIFO streams that can be cut: a prefix is delivered, the
//! rest is lost. So a later reply never arrives after an earlier one was lost, nothing is delivered twice, and nothing
//! overtakes.

use crate::message::Code;

/// The kinds of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The connection breaks before a request reaches the server.
    RequestLost,
    /// The connection breaks after the server took a request in, and before its answer reached the client.
    ReplyLost,
    /// An answer is slow, and what is behind it waits.
    ReplyLate,
    /// The connection breaks; what was on its way to the server still arrives.
    Disconnect,
    /// The client is cut off until the ensemble has ended its session.
    SessionExpiry,
    /// The client process dies.
    ClientCrash,
    /// The client process stands still.
    ClientPause,
    /// The client's user drops the future it is waiting for.
    Cancel,
    /// What a client sends does not arrive for a while, although it hears its server.
    ClientMuted,
    /// What a server sends does not reach a client for a while, although the server hears it.
    ClientDeafened,
    /// A client and its server do not hear each other for a while.
    ClientPartition,
    /// The connection breaks just as a notification is about to arrive.
    WatchLost,
    /// A client's clock runs fast or slow by up to a tenth.
    ClockDrift,
    /// A server dies, with what it had not yet written to its disk, and comes back later.
    ServerCrash,
    /// A server stands still.
    ServerPause,
    /// What one server sends to another is held up for a while, and arrives afterwards.
    LinkHeld,
    /// Two servers do not hear each other for a while; what is sent meanwhile is lost.
    LinkCut,
    /// A server is cut off from all others for a while, and not from its clients.
    ServerPartition,
    /// A server does not get to write its log for a while.
    DiskStall,
    /// A server does not get to apply what is committed for a while, nor to answer reads.
    ApplyStall,
    /// The leader does not get to apply what it has just declared committed.
    CommitStall,
    /// The leader dies.
    LeaderCrash,
    /// The wall clock of the leader jumps.
    ClockJump,
    /// An overloaded server refuses a request, whatever it asks: `ThrottledOp`.
    Throttled,
    /// A quota forbids a write: `QuotaExceeded`.
    QuotaExceeded,
    /// An access list forbids a request: `NoAuth`.
    AccessDenied,
    /// A server fails to process a request: `SystemError`, which leaves open whether a write was applied.
    ServerError,
}

impl Fault {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Fault; 27] = [
        Fault::RequestLost,
        Fault::ReplyLost,
        Fault::ReplyLate,
        Fault::Disconnect,
        Fault::SessionExpiry,
        Fault::ClientCrash,
        Fault::ClientPause,
        Fault::Cancel,
        Fault::ClientMuted,
        Fault::ClientDeafened,
        Fault::ClientPartition,
        Fault::WatchLost,
        Fault::ClockDrift,
        Fault::ServerCrash,
        Fault::ServerPause,
        Fault::LinkHeld,
        Fault::LinkCut,
        Fault::ServerPartition,
        Fault::DiskStall,
        Fault::ApplyStall,
        Fault::CommitStall,
        Fault::LeaderCrash,
        Fault::ClockJump,
        Fault::Throttled,
        Fault::QuotaExceeded,
        Fault::AccessDenied,
        Fault::ServerError,
    ];

    /// The kind's name, as the command line and plan files have it.
    pub fn name(self) -> &'static str {
        match self {
            Fault::RequestLost => "request-lost",
            Fault::ReplyLost => "reply-lost",
            Fault::ReplyLate => "reply-late",
            Fault::Disconnect => "disconnect",
            Fault::SessionExpiry => "session-expiry",
            Fault::ClientCrash => "client-crash",
            Fault::ClientPause => "client-pause",
            Fault::Cancel => "cancel",
            Fault::ClientMuted => "client-muted",
            Fault::ClientDeafened => "client-deafened",
            Fault::ClientPartition => "client-partition",
            Fault::WatchLost => "watch-lost",
            Fault::ClockDrift => "clock-drift",
            Fault::ServerCrash => "server-crash",
            Fault::ServerPause => "server-pause",
            Fault::LinkHeld => "link-held",
            Fault::LinkCut => "link-cut",
            Fault::ServerPartition => "server-partition",
            Fault::DiskStall => "disk-stall",
            Fault::ApplyStall => "apply-stall",
            Fault::CommitStall => "commit-stall",
            Fault::LeaderCrash => "leader-crash",
            Fault::ClockJump => "clock-jump",
            Fault::Throttled => "throttled",
            Fault::QuotaExceeded => "quota-exceeded",
            Fault::AccessDenied => "access-denied",
            Fault::ServerError => "server-error",
        }
    }

    /// Whether it strikes servers or the links between them, and so needs more than one.
    pub fn strikes_servers(self) -> bool {
        InjectionPoint::Packet.faults().contains(&self)
            || InjectionPoint::LeaderPacket.faults().contains(&self)
    }

    /// The code with which a server refuses a request instead of processing it, for the kinds that are a refusal.
    pub fn refusal(self) -> Option<Code> {
        match self {
            Fault::Throttled => Some(Code::ThrottledOp),
            Fault::QuotaExceeded => Some(Code::QuotaExceeded),
            Fault::AccessDenied => Some(Code::NoAuth),
            Fault::ServerError => Some(Code::SystemError),
            _ => None,
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| fault.name() == name)
    }
}

/// Whom a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Victim {
    /// A client process.
    Process(u8),
    /// A server.
    Server(u8),
    /// What the first server sends to the second.
    Link(u8, u8),
}

/// Where in the protocol a fault can strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InjectionPoint {
    /// A request leaves a client.
    Request,
    /// An answer leaves a server.
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
    /// The kinds that can strike here. Which is chosen is told as its index, plus one.
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
