//! Coverage: pairs of consecutive steps of a client, while faults were possible and afterwards.
//!
//! The *state* of a client is the kind of its last event with a word that distinguishes it: the verb of a call, the
//! outcome of a return, the kind of a request, the code of its answer, the kind of a notification, the state of its
//! session, the kind of a fault that affected it. A *transition* is a pair of consecutive states of one client, and the
//! phase of the run at the second one: hostile or healed. A search that has met no new transition for a long time is
//! unlikely to meet one soon. It may still meet a new run, so this is a reason to stop, not a proof.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use xxhash_rust::xxh3::Xxh3;
use zk_checker::history::{Event, History, Victim, What, Who};

/// A transition, as its hash.
pub type Transition = u64;

/// The transitions of a run.
pub fn transitions(history: &History) -> BTreeSet<Transition> {
    let mut met = BTreeSet::new();
    let mut last: BTreeMap<u16, u64> = BTreeMap::new();
    let mut is_healed = false;
    for event in &history.events {
        is_healed |= matches!(event.what, What::Heal);
        let Some((client, state)) = state(event) else { continue };
        let before = last.insert(client, state).unwrap_or(0);
        met.insert(hashed(&(before, state, is_healed)));
    }
    met
}

/// The client of an event, and the state that the event leads to. Numbers, paths and times are left out: they differ
/// from run to run.
fn state(event: &Event) -> Option<(u16, u64)> {
    let state = match event.what {
        What::Call { verb, .. } => hashed(&(0u8, verb)),
        What::Return { outcome, failure } => hashed(&(1u8, outcome, failure)),
        What::Believe { .. } => hashed(&2u8),
        What::Unbelieve { why } => hashed(&(3u8, why)),
        What::Resource { accepted, .. } => hashed(&(4u8, accepted)),
        What::Observed { seen, .. } => hashed(&(5u8, seen)),
        What::Send { kind, watch, cleanup, .. } => hashed(&(6u8, kind, watch, cleanup)),
        What::Reply { code, .. } => hashed(&(7u8, code)),
        What::Lost { .. } => hashed(&8u8),
        What::Notice { kind, .. } => hashed(&(9u8, kind)),
        What::State { state, .. } => hashed(&(10u8, state)),
        What::Fault { kind, victim: Victim::Process { client }, .. } => {
            return Some((client, hashed(&(11u8, kind))));
        }
        _ => return None,
    };
    match event.who {
        Who::Client(client) => Some((client, state)),
        _ => None,
    }
}

fn hashed(what: &impl Hash) -> u64 {
    let mut hash = Xxh3::new();
    what.hash(&mut hash);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::run;
    use crate::sample::SAMPLE;

    #[test]
    fn a_run_with_a_fault_meets_what_a_calm_one_does_not_and_a_run_again_nothing_new() {
        let calm = transitions(&run::seed(&SAMPLE, &Plan::calm(), 1).history);
        let again = transitions(&run::seed(&SAMPLE, &Plan::calm(), 1).history);
        assert_eq!(calm, again);
        let hostile = transitions(&run::seed(&SAMPLE, &Plan::drawn(7), 7).history);
        assert!(!hostile.is_subset(&calm), "{} and {}", calm.len(), hostile.len());
    }
}
