//! What can go wrong, where in the protocol it strikes, and what the real system excludes.
//!
//! A fault strikes at a *place*: when a request leaves, when an answer leaves, or when something reaches a client. At
//! each place the world asks its [`Chooser`](crate::choose::Chooser) which of the kinds that fit there strikes, if any.
//! A connection is two FIFO streams that can be cut: a prefix is delivered, the rest is lost. So a later reply never
//! arrives after an earlier one was lost, nothing is delivered twice, and nothing overtakes.

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
}

impl Fault {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Fault; 8] = [
        Fault::RequestLost,
        Fault::ReplyLost,
        Fault::ReplyLate,
        Fault::Disconnect,
        Fault::SessionExpiry,
        Fault::ClientCrash,
        Fault::ClientPause,
        Fault::Cancel,
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
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| fault.name() == name)
    }
}

/// Where in the protocol a fault can strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A request leaves a client.
    Request,
    /// An answer leaves a server.
    Reply,
    /// Something is about to reach a client.
    Arrival,
}

impl Place {
    /// The kinds that can strike here. Which is chosen is told as its index, plus one.
    pub fn faults(self) -> &'static [Fault] {
        match self {
            Place::Request => &[Fault::RequestLost, Fault::Disconnect],
            Place::Reply => &[Fault::ReplyLost, Fault::ReplyLate],
            Place::Arrival => &[Fault::ClientPause, Fault::Cancel, Fault::SessionExpiry, Fault::ClientCrash],
        }
    }
}
