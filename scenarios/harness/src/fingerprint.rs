//! The fingerprint of a failure: two failures with the same rule and fingerprint most likely have one cause.
//!
//! It consists of the structure of the first finding, without names, numbers, times or texts: the kinds of its witness
//! events, each with its operation, and the kinds of fault that had affected those clients or servers before.

use crate::journal::fault_kind;
use crate::run::Run;
use serde::{Deserialize, Serialize};
use sim_zk::fault::Fault;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use zk_checker::history::{Event, FaultKind, OpId, Verb, Victim, What, Who};

/// The fingerprint of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// The kinds of the witness events in order, each once.
    pub events: Vec<String>,
    /// The kinds of fault before it.
    pub faults: BTreeSet<String>,
}

impl Fingerprint {
    /// The fingerprint of a failed run.
    pub fn of(run: &Run) -> Fingerprint {
        let events = &run.history.events;
        if let Some(panicked) = &run.panic {
            return Fingerprint { events: vec![panicked.panic.words()], faults: faults(events, |_| true) };
        }
        let Some(first) = run.report.first() else {
            // Without a finding every fault counts.
            return Fingerprint { events: Vec::new(), faults: faults(events, |_| true) };
        };
        let cited = || first.witnesses.iter().filter_map(|index| events.get(*index));
        let verbs = verbs(events);
        let mut kinds: Vec<String> = Vec::new();
        for kind in cited().map(|event| kind_of(event, &verbs)) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let parties: BTreeSet<u16> = cited().filter_map(client).collect();
        let until = events.len().min(first.position + 1);
        let concerns = |victim: Victim| match victim {
            Victim::Process { client } => parties.is_empty() || parties.contains(&client),
            Victim::Server { .. } | Victim::Link { .. } => true,
        };
        // Acts of foreign clients concern every client.
        let faults = faults(&events[..until], concerns).into_iter().chain(foreign(&events[..until]));
        Fingerprint { events: kinds, faults: faults.collect() }
    }
}

fn client(event: &Event) -> Option<u16> {
    match event.who {
        Who::Client(client) => Some(client),
        Who::Server(_) | Who::World => None,
    }
}

fn verbs(events: &[Event]) -> BTreeMap<OpId, Verb> {
    let call = |event: &Event| match event.what {
        What::Call { verb, .. } => Some((event.op, verb)),
        _ => None,
    };
    events.iter().filter_map(call).collect()
}

/// `believe in acquire`
fn kind_of(event: &Event, verbs: &BTreeMap<OpId, Verb>) -> String {
    let kind = match event.what {
        What::Call { verb, .. } => return format!("call of {}", dashed(verb.name())),
        What::Fault { kind, .. } | What::Mended { kind, .. } => return fault(kind),
        What::Send { kind, .. } => format!("send {}", dashed(kind.name())),
        what => dashed(what.name()),
    };
    match verbs.get(&event.op) {
        Some(verb) => format!("{kind} in {}", dashed(verb.name())),
        None => kind,
    }
}

/// The name of a word of the history.
fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

fn fault(kind: FaultKind) -> String {
    let ours = Fault::ALL.into_iter().find(|fault| fault_kind(*fault) == kind);
    ours.map_or_else(|| dashed(kind.name()), |fault| fault.name().to_owned())
}

fn faults(events: &[Event], concerns: impl Fn(Victim) -> bool) -> BTreeSet<String> {
    let struck = |event: &Event| match event.what {
        What::Fault { kind, victim, .. } if concerns(victim) => Some(fault(kind)),
        _ => None,
    };
    events.iter().filter_map(struck).collect()
}

fn foreign(events: &[Event]) -> impl Iterator<Item = String> {
    let acted = |event: &Event| match event.what {
        What::Fault { kind, .. } if crate::interference::is_foreign(kind) => Some(fault(kind)),
        _ => None,
    };
    events.iter().filter_map(acted)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<&str> = self.faults.iter().map(String::as_str).collect();
        let after = if faults.is_empty() {
            "without faults".to_owned()
        } else {
            format!("after {}", faults.join(", "))
        };
        match self.events.as_slice() {
            [] => f.write_str(&after),
            events => write!(f, "{}; {after}", events.join(", ")),
        }
    }
}
