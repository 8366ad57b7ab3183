//! The states of a hold, and the reasons for its end.

use crate::observe::Outcome;
use crate::zk::Time;
use std::fmt;

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

/// Until when [`Guard::run`](crate::Guard::run) drives the work of a holder that can be revoked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RunUntil {
    /// Until the holder is asked to release, or must stop.
    #[default]
    Revoked,
    /// Until the holder must stop: work that is asked to release may finish first.
    Lost,
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

impl fmt::Display for HoldState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HoldState::Held => f.write_str("held"),
            HoldState::Suspect { .. } => f.write_str("held, but not confirmed: the connection was lost"),
            HoldState::Lost(reason) => write!(f, "lost: {reason}"),
        }
    }
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LostReason::SessionOver => "the session has ended",
            LostReason::DeadlinePassed => {
                "no server answered before the deadline, so the session may have expired"
            }
            LostReason::Removed => "another client deleted the znode",
        })
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Suspect { .. } => f.write_str("the holder must stop: the connection was lost"),
            Stop::Lost(reason) => write!(f, "the hold is lost: {reason}"),
        }
    }
}

impl std::error::Error for Stop {}

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interrupt::Revoked => f.write_str("the holder was asked to release"),
            Interrupt::Stop(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Interrupt {}

impl From<Stop> for Interrupt {
    fn from(stop: Stop) -> Self {
        Interrupt::Stop(stop)
    }
}

impl fmt::Display for Released {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Released::Clean => f.write_str("released"),
            Released::WasLost(reason) => write!(f, "the hold had been lost before: {reason}"),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn through_question_mark(end: Result<(), Stop>) -> Result<(), Box<dyn std::error::Error>> {
        Ok(end?)
    }

    #[test]
    fn the_end_of_a_hold_says_why() {
        let until = Time::from_micros(7);
        let told = through_question_mark(Err(Stop::Lost(LostReason::SessionOver))).expect_err("it is lost");
        assert_eq!(told.to_string(), "the hold is lost: the session has ended");
        assert_eq!(Interrupt::Revoked.to_string(), "the holder was asked to release");
        let suspect = Interrupt::Stop(Stop::Suspect { until });
        assert_eq!(suspect.to_string(), "the holder must stop: the connection was lost");
        let late = Released::WasLost(LostReason::Removed);
        assert_eq!(late.to_string(), "the hold had been lost before: another client deleted the znode");
        assert_eq!(HoldState::Held.to_string(), "held");
    }
}
