//! Guards that were dropped instead of released: the holder stopped, and never called a release.
//!
//! A harness drops some guards to test their clean-up. The drop is an event if the hold might have been acted under again
//! ([`Why::Dropped`]); of other holds it is inferred from the absence of a release.

use std::collections::{BTreeMap, BTreeSet};
use zk_checker::history::{Event, History, ObjectId, OpId, Outcome, Verb, What, Who, Why};

/// The text for such a stop.
pub(super) const DROPPED: &str = "its guard is dropped, not released";

/// The events at which a holder stopped and then dropped its guard. Empty for histories of foreign programs, whose
/// guards are not known.
pub(super) fn dropped(history: &History) -> BTreeSet<u32> {
    let mut holders = Holders::default();
    if !history.header.foreign_clients {
        history.events.iter().enumerate().for_each(|(index, event)| holders.event(index as u32, event));
    }
    holders.dropped.extend(holders.stopped.into_values().map(|(stop, _)| stop));
    holders.dropped
}

/// Holds, by client and the operation that was granted.
#[derive(Default)]
struct Holders {
    held: BTreeMap<(u16, OpId), ObjectId>,
    /// Holds that have stopped: the event, and the object.
    stopped: BTreeMap<(u16, OpId), (u32, ObjectId)>,
    /// Releasing calls that have not returned.
    giving_back: BTreeMap<(u16, OpId), ObjectId>,
    dropped: BTreeSet<u32>,
}

impl Holders {
    fn event(&mut self, index: u32, event: &Event) {
        let Who::Client(client) = event.who else {
            if let What::Crash { client } = event.what {
                self.stopped.retain(|(of, _), _| *of != client);
            }
            return;
        };
        let hold = (client, event.op);
        match event.what {
            What::Believe { object, .. } => {
                self.held.insert(hold, object);
                self.stopped.remove(&hold);
            }
            What::Unbelieve { why } => self.stops(index, hold, why),
            What::Call { object, verb, .. } if gives_back(verb) => {
                self.giving_back.insert(hold, object);
                self.stopped.retain(|(of, _), (_, what)| (*of, *what) != (client, object));
            }
            What::Call { object, verb, .. } if verb.asks_for().is_some() => {
                let gone =
                    |(of, _): &(u16, OpId), (_, what): &mut (u32, ObjectId)| (*of, *what) == (client, object);
                self.dropped.extend(self.stopped.extract_if(.., gone).map(|(_, (stop, _))| stop));
            }
            What::Return { outcome, .. } if outcome != Outcome::Unknown => _ = self.giving_back.remove(&hold),
            _ => {}
        }
    }

    fn stops(&mut self, index: u32, hold: (u16, OpId), why: Why) {
        if why == Why::Dropped {
            // Its own event tells it.
            self.stopped.remove(&hold);
        }
        let Some(object) = self.held.remove(&hold) else { return };
        let is_given_back = self.giving_back.iter().any(|((of, _), what)| (*of, *what) == (hold.0, object));
        if !is_given_back && matches!(why, Why::Released | Why::Suspect | Why::Lost) {
            self.stopped.insert(hold, (index, object));
        }
    }
}

/// The calls that end a hold, or convert it into another.
fn gives_back(verb: Verb) -> bool {
    matches!(verb, Verb::Release | Verb::Yield | Verb::Downgrade | Verb::Leave | Verb::Unregister)
}
