//! The reported state of a hold, a registration, a membership or a place, as the journal records it.

use crate::prelude::*;
use std::time::Duration;
use zk_harness::holding::lost_because;
use zk_recipes::zk::Time;
use zk_recipes::{HoldState, LostReason, Stop};

/// The reported state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Held,
    /// With the instant from which it counts as lost.
    Suspect(Time),
    Lost(LostReason),
    /// The caller begins to wait for a loss, until the next state is reported.
    Watched,
}

impl State {
    /// The state that `resumed` returns.
    pub(crate) fn of(resumed: &Result<(), LostReason>) -> State {
        match resumed {
            Ok(()) => State::Held,
            Err(reason) => State::Lost(*reason),
        }
    }

    fn text(self) -> String {
        match self {
            State::Held => "held".to_owned(),
            State::Suspect(_) => "suspect".to_owned(),
            State::Lost(reason) => format!("lost_{}", lost_because(reason)),
            State::Watched => "watched".to_owned(),
        }
    }
}

impl From<HoldState> for State {
    fn from(state: HoldState) -> State {
        match state {
            HoldState::Held => State::Held,
            HoldState::Suspect { until } => State::Suspect(until),
            HoldState::Lost(reason) => State::Lost(reason),
        }
    }
}

impl From<Stop> for State {
    fn from(stop: Stop) -> State {
        match stop {
            Stop::Suspect { until } => State::Suspect(until),
            Stop::Lost(reason) => State::Lost(reason),
        }
    }
}

/// Records the state that was reported to the caller of the operation.
pub(crate) fn tells<C: Client>(client: &C, object: ObjectId, op: OpId, state: State) {
    let (me, text) = (client.number(), state.text());
    // By the client's own clock, in microseconds.
    let until = if let State::Suspect(until) = state { until.as_micros() } else { 0 };
    client.journal(|journal, at| journal.observed(at, me, op, object, Seen::State, &text, until));
}

/// Faults that break connections, and end sessions while their clients live.
pub(crate) const BREAKS: &[Fault] = &[Fault::Disconnect, Fault::SessionExpiry, Fault::ClientPartition];

/// A `resumed` that waits for a short time instead of the session; mutants call it.
pub(crate) async fn early<Z: ZooKeeper>(zk: &Z) -> Result<(), LostReason> {
    zk.sleep_until(zk.now() + Duration::from_millis(10)).await;
    Ok(())
}
