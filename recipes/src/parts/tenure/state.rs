//! The states of a hold, and the reasons for its end.

use crate::observe::Outcome;
use crate::zk::Time;

/// The policy of a holder that can no longer be sure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnSuspect {
    /// Stop as soon as the connection is lost.
    #[default]
    Stop,
    /// Continue until the session may have expired. Sound only if an answering server is in touch with its leader: with the
    /// usual settings, for session timeouts of at least 16.5 seconds.
    UntilDeadline,
}

/// The state of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HoldState {
    /// Held and confirmed.
    Held,
    /// Disconnected, or reconnected and not confirmed yet: no other client can hold it before `until`.
    Suspect {
        /// The deadline, from which the hold counts as lost.
        until: Time,
    },
    /// Lost, finally.
    Lost(LostReason),
}

/// The reason why a hold is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LostReason {
    /// The session has ended.
    SessionOver,
    /// The session may have expired: no answer came before the deadline.
    DeadlinePassed,
    /// Another client deleted the znode; or this client closes the session, which deletes it, too, and the notification came
    /// before the end of the session.
    Removed,
}

/// The reason why a holder must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The policy is [`OnSuspect::Stop`], and the connection was lost.
    Suspect {
        /// The deadline, from which the hold counts as lost.
        until: Time,
    },
    /// The hold is lost.
    Lost(LostReason),
}

/// The reason why the work of a revocable holder was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interrupt {
    /// The holder was asked to release, and holds until it does.
    Revoked,
    /// The holder must stop.
    Stop(Stop),
}

/// The outcome of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Released {
    /// The hold lasted until its release.
    Clean,
    /// The hold had been lost before.
    WasLost(LostReason),
}

impl Outcome for LostReason {
    fn outcome(&self) -> &'static str {
        match self {
            LostReason::SessionOver => "session_over",
            LostReason::DeadlinePassed => "deadline_passed",
            LostReason::Removed => "removed",
        }
    }
}

impl Outcome for Released {
    fn outcome(&self) -> &'static str {
        match self {
            Released::Clean => "done",
            Released::WasLost(_) => "was_lost",
        }
    }
}
